/* SPDX-License-Identifier: MIT */
/* One slow instruction in a loop and a line of quick ones behind it: where an interrupt lands that comes while the slow
 * one is waited for. skid SLOW BEHIND ROUNDS; the slow instruction stands at the symbol slow_SLOW_BEHIND, the loop ends
 * at end_SLOW_BEHIND. See tests/accuracy/skid. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; uint64_t rest[7]; };

struct state {
	struct node *node;      /* of the ring */
	uint64_t *scratch;
	uint8_t *bits;          /* drawn by chance: what branches go by */
};

enum { BITS = 1 << 20 };

static uint64_t chance(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A ring through all of n nodes in an order drawn by chance. */
static struct node *ring(uint32_t n)
{
	struct node *nodes = aligned_alloc(4096, n * sizeof(*nodes));
	uint32_t *order = malloc(n * sizeof(*order));
	uint64_t seed = 88172645463325252ull;

	if (!nodes || !order)
		exit(1);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = (uint32_t)(chance(&seed) % (i + 1)), kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
	for (uint32_t i = 0; i < n; i++)
		nodes[order[i]].next = &nodes[order[(i + 1) % n]];
	free(order);
	return nodes;
}

/* What is in registers: rax the chain of loads, rbx the rounds left, rsi scratch memory, rdi the next byte of chance,
 * r8 a divisor, r9 a factor, xmm0 a chain of roots. Quick ones may write rcx, rdx, r10 and r11. */
#define SLOW_MEMORY "mov (%%rax), %%rax\n"
#define SLOW_ROOT "sqrtsd %%xmm0, %%xmm0\n"
#define SLOW_DIVIDE "div %%r8\n"
#define SLOW_LOCK "lock addq $1, (%%rsi)\n"
#define SLOW_FENCE "lfence\n"
#define SLOW_BRANCH "jne 77f\n77:\n"
#define BEFORE_BRANCH "inc %%rdi\ntestb $1, (%%rdi)\n"
/* The same, with the load apart, and then so that no core makes one of what decides and what branches. */
#define BEFORE_FUSED "inc %%rdi\nmovzbl (%%rdi), %%r10d\ntest %%r10d, %%r10d\n"
#define BEFORE_APART "inc %%rdi\nmovzbl (%%rdi), %%r10d\nbt $0, %%r10d\n"
#define SLOW_APART "jc 77f\n77:\n"
/* A load that what decides is a part of, at addresses drawn by chance. */
#define BEFORE_PAIR "imul %%r9, %%rdi\ninc %%rdi\nmov %%rdi, %%r10\nshr $40, %%r10\nshl $4, %%r10\nadd %%rax, %%r10\n"
#define SLOW_PAIR "cmp %%rcx, (%%r10)\njc 77f\n77:\n"
#define SLOW_TAKEN "jc 77f\n.rept 32\nnop\n.endr\n77:\n"
#define BEFORE_DIVIDE "xor %%edx, %%edx\nor %%r9, %%rax\n"
#define BEFORE_NONE ""

#define BEHIND_NOPS ".rept 48\nnopl 0(%%rcx,%%rcx,1)\n.endr\n"
#define BEHIND_ADDS ".rept 12\nadd $1, %%ecx\nadd $1, %%edx\nadd $1, %%r10d\nadd $1, %%r11d\n.endr\n"
#define BEHIND_CHAIN ".rept 48\nadd $1, %%ecx\n.endr\n"
#define BEHIND_MOVES ".rept 24\nmov %%rcx, %%r10\nmov %%rdx, %%r11\n.endr\n"
#define BEHIND_STORES ".rept 4\nmov %%rcx, 64(%%rsi)\n.endr\n.rept 44\nnopl 0(%%rcx,%%rcx,1)\n.endr\n"
#define BEHIND_JUMP "jmp 78f\n78:\n.rept 47\nnopl 0(%%rcx,%%rcx,1)\n.endr\n"
#define BEHIND_USER "lea (%%rax,%%rcx), %%r10\n.rept 47\nnopl 0(%%rcx,%%rcx,1)\n.endr\n"
#define BEHIND_PAIRS ".rept 24\ncmp %%rcx, %%rcx\njne 79f\n.endr\n79:\n"
#define BEHIND_FEW ".rept 8\nnopl 0(%%rcx,%%rcx,1)\n.endr\n"

#define LINE(slow, behind, prelude, before, code, line)								\
static __attribute__((noipa)) void slow##_##behind(struct state *s, uint64_t rounds)				\
{														\
	register uint64_t divisor __asm__("r8") = 3, high __asm__("r9") = 1ull << 62;				\
	struct node *node = s->node;										\
	uint8_t *bits = s->bits;										\
														\
	__asm__ volatile(prelude "loop_" #slow "_" #behind ":\n88:\n" before					\
			 ".globl slow_" #slow "_" #behind "\nslow_" #slow "_" #behind ":\n" code line		\
			 "dec %%rbx\njne 88b\n.globl end_" #slow "_" #behind "\nend_" #slow "_" #behind ":\n"	\
			 : "+a"(node), "+b"(rounds), "+D"(bits), "+r"(high) : "S"(s->scratch), "r"(divisor)	\
			 : "rcx", "rdx", "r10", "r11", "xmm0", "memory", "cc");				\
}

#define PRELUDE "mov $3, %%ecx\nmov $5, %%edx\nmovq %%r9, %%xmm0\n"
#define LINES(x)												\
	x(memory, nops, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_NOPS)						\
	x(memory, few, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_FEW)						\
	x(memory, adds, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_ADDS)						\
	x(memory, chain, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_CHAIN)					\
	x(memory, moves, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_MOVES)					\
	x(memory, stores, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_STORES)					\
	x(memory, jump, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_JUMP)						\
	x(memory, user, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_USER)						\
	x(memory, pairs, PRELUDE, BEFORE_NONE, SLOW_MEMORY, BEHIND_PAIRS)					\
	x(root, nops, PRELUDE, BEFORE_NONE, SLOW_ROOT, BEHIND_NOPS)						\
	x(root, few, PRELUDE, BEFORE_NONE, SLOW_ROOT, BEHIND_FEW)						\
	x(root, adds, PRELUDE, BEFORE_NONE, SLOW_ROOT, BEHIND_ADDS)						\
	x(root, moves, PRELUDE, BEFORE_NONE, SLOW_ROOT, BEHIND_MOVES)						\
	x(root, jump, PRELUDE, BEFORE_NONE, SLOW_ROOT, BEHIND_JUMP)						\
	x(divide, few, PRELUDE, BEFORE_DIVIDE, SLOW_DIVIDE, BEHIND_FEW)						\
	x(lock, nops, PRELUDE, BEFORE_NONE, SLOW_LOCK, BEHIND_NOPS)						\
	x(lock, few, PRELUDE, BEFORE_NONE, SLOW_LOCK, BEHIND_FEW)						\
	x(fence, nops, PRELUDE, BEFORE_NONE, SLOW_FENCE, BEHIND_NOPS)						\
	x(fence, few, PRELUDE, BEFORE_NONE, SLOW_FENCE, BEHIND_FEW)						\
	x(branch, few, PRELUDE, BEFORE_BRANCH, SLOW_BRANCH, BEHIND_FEW)						\
	x(fused, few, PRELUDE, BEFORE_FUSED, SLOW_BRANCH, BEHIND_FEW)						\
	x(pair, few, "movabs $6364136223846793005, %%r9\nmov $0, %%ecx\n", BEFORE_PAIR, SLOW_PAIR, BEHIND_FEW)	\
	x(apart, few, PRELUDE, BEFORE_APART, SLOW_APART, BEHIND_FEW)						\
	x(fused, jump, PRELUDE, BEFORE_FUSED, SLOW_BRANCH, BEHIND_JUMP)						\
	x(apart, jump, PRELUDE, BEFORE_APART, SLOW_APART, BEHIND_JUMP)						\
	x(taken, few, PRELUDE, BEFORE_APART, SLOW_TAKEN, BEHIND_FEW)						\
	x(branch, adds, PRELUDE, BEFORE_BRANCH, SLOW_BRANCH, BEHIND_ADDS)

#define DEFINE(...) LINE(__VA_ARGS__)
LINES(DEFINE)

#define ROW(slow, behind, ...) { #slow, #behind, slow##_##behind },
static const struct line { const char *slow, *behind; void (*run)(struct state *s, uint64_t rounds); } lines[] = {
	LINES(ROW)
};

static struct state made(const char *slow)
{
	struct state s = { .bits = malloc(BITS), .scratch = aligned_alloc(4096, 4096) };
	uint64_t seed = 88172645463325252ull;

	if (!s.bits || !s.scratch)
		exit(1);
	memset(s.scratch, 0, 4096);
	for (size_t i = 0; i < BITS; i++)
		s.bits[i] = chance(&seed) >> 32 & 1;
	s.node = ring(strcmp(slow, "memory") == 0 || strcmp(slow, "pair") == 0 ? 1 << 22 : 1 << 4);
	return s;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 4 && i < sizeof(lines) / sizeof(*lines); i++) {
		struct state s;

		if (strcmp(lines[i].slow, argv[1]) != 0 || strcmp(lines[i].behind, argv[2]) != 0)
			continue;
		s = made(argv[1]);
		for (uint64_t left = strtoull(argv[3], NULL, 10); left; ) {
			uint64_t n = left < BITS - 1 ? left : BITS - 1;

			lines[i].run(&s, n);
			left -= n;
		}
		return 0;
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		printf("%s %s\n", lines[i].slow, lines[i].behind);
	return argc == 2 && strcmp(argv[1], "list") == 0 ? 0 : 2;
}
