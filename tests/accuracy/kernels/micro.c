/* SPDX-License-Identifier: MIT */
/* Programs of one loop each, of which it is known by argument which instruction the time belongs to, and to which of
 * TEA's components. micro WORD SECONDS runs one; micro list says all: word, component, least share of the loop's time
 * that the instruction has by the argument, and the argument. The instruction stands from the symbol here_WORD to
 * past_WORD, in a loop from loop_WORD to end_WORD; where it is one of many alike, these lie stride_WORD bytes apart. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* What the loops have in registers: rax a chain of loads, rbx the rounds left, rsi memory, rdi its end. */
struct state { char *chain, *memory, *end; };

#define AT(word) ".globl here_" #word "\nhere_" #word ":\n"
#define PAST(word) ".globl past_" #word "\npast_" #word ":\n"
#define LOOP(word, before, code)										\
static __attribute__((noipa)) void micro_##word(struct state *s, uint64_t rounds)				\
{														\
	char *memory = s->memory;										\
														\
	__asm__ volatile(before ".p2align 6\n.globl loop_" #word "\nloop_" #word ":\n88:\n" code		\
			 "dec %%rbx\njne 88b\n.globl end_" #word "\nend_" #word ":\n"				\
			 : "+a"(s->chain), "+b"(rounds), "+S"(memory) : "D"(s->end)				\
			 : "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "memory", "cc");	\
	s->memory = memory;											\
}

LOOP(chase, "", AT(chase) "mov (%%rax), %%rax\n" PAST(chase) "nop\nnop\nnop\nnop\n")
LOOP(tlb, "", AT(tlb) "mov (%%rax), %%rax\n" PAST(tlb) "nop\nnop\nnop\nnop\n")
LOOP(walk, "", AT(walk) "mov (%%rax), %%rax\n" PAST(walk) "nop\nnop\nnop\nnop\n")

/* crc32 makes bits in three cycles that no predictor knows. The ways of the branch differ by one instruction: of a
 * branch to the next one a trace does not tell which way it went. */
LOOP(mispredict, "mov $0x9e3779b9, %%ecx\nmov $1, %%edx\n",
     "crc32q %%rcx, %%rdx\ntest $1, %%dl\n" AT(mispredict) "jne 77f\n" PAST(mispredict)
     "nop\n77:\nnop\nnop\nnop\nnop\n")

/* The quotient is the next divisor, so they take turns. */
LOOP(divider, "mov $3, %%ecx\ncvtsi2sdq %%rcx, %%xmm0\nmov $7, %%ecx\ncvtsi2sdq %%rcx, %%xmm1\n",
     "movapd %%xmm1, %%xmm2\n" AT(divider) "divsd %%xmm0, %%xmm2\n" PAST(divider) "movapd %%xmm2, %%xmm0\n")

/* To the memory's end and from its beginning again: rdi - rsi is a power of two. */
LOOP(stores, "mov %%rsi, %%r8\nmov %%rdi, %%r9\nsub %%rsi, %%r9\ndec %%r9\nxor %%r10d, %%r10d\n",
     "lea (%%r8,%%r10), %%r11\nadd $512, %%r10\nand %%r9, %%r10\n" AT(stores)
     "mov %%rcx, (%%r11)\nmov %%rcx, 64(%%r11)\nmov %%rcx, 128(%%r11)\nmov %%rcx, 192(%%r11)\n"
     "mov %%rcx, 256(%%r11)\nmov %%rcx, 320(%%r11)\nmov %%rcx, 384(%%r11)\nmov %%rcx, 448(%%r11)\n" PAST(stores))

LOOP(compute, "xor %%ecx, %%ecx\nxor %%edx, %%edx\n",
     AT(compute) ".rept 16\nadd $1, %%ecx\nadd $1, %%edx\nadd $1, %%r10d\nadd $1, %%r11d\n.endr\n" PAST(compute))

LOOP(forward, "xor %%ecx, %%ecx\n",
     "mov %%cl, 3(%%rsi)\n" AT(forward) "mov (%%rsi), %%rcx\n" PAST(forward) "nop\nnop\n")

LOOP(lock, "", AT(lock) "lock addq $1, (%%rsi)\n" PAST(lock) "nop\nnop\nnop\nnop\n")

LOOP(serialise, "mov $3, %%ecx\n", "imul %%rcx, %%rcx\nimul %%rcx, %%rcx\n" AT(serialise) "lfence\n" PAST(serialise)
     "nop\nnop\nnop\nnop\n")

/* 24 cycles of products beside 24 of sums, of one beginning; what waits for both has none of it. */
LOOP(chains, "mov $3, %%ecx\nmov $5, %%edx\n",
     AT(chains) ".rept 8\nimul %%rcx, %%rcx\nadd $1, %%edx\nadd $1, %%edx\nadd $1, %%edx\n.endr\n" PAST(chains))

/* 8,192 pieces of code, 64 bytes each, in an order that no prefetcher follows: 512 KiB. The counter is looked at once a
 * walk, in the first of them. */
#define PIECES 8192
static __attribute__((noipa)) void micro_icache(struct state *s, uint64_t rounds)
{
	(void)s;
	__asm__ volatile(".p2align 6\n.globl loop_icache\nloop_icache:\n.globl here_icache\nhere_icache:\n"
			 "nop\ndec %0\njz 99f\njmp here_icache + 64\n"
			 ".p2align 6\n.set piece_icache, 1\n.rept 8191\nnop\nnop\nnop\n"
			 "jmp here_icache + 64 * ((piece_icache * 1629 + 1) %% 8192)\n.p2align 6\n"
			 ".set piece_icache, piece_icache + 1\n.endr\n"
			 ".globl past_icache\npast_icache:\n.globl end_icache\nend_icache:\n99:\n"
			 : "+r"(rounds) : : "cc");
}

static char *memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED || madvise(at, size, MADV_NOHUGEPAGE) != 0)
		exit(77);
	return at;
}

/* A ring through n places, `stride` apart, in an order that looks like chance: x -> 1629 x + 1 modulo a power of two.
 * Each is on another line of its page, so that sets of the caches are used alike. */
static char *ring(size_t n, size_t stride)
{
	char *at = memory(n * stride);

	for (size_t i = 0; i < n; i++) {
		size_t next = (1629 * i + 1) % n;
		char *to = at + next * stride + (stride >= 4096 ? next % 64 * 64 : 0);

		memcpy(at + i * stride + (stride >= 4096 ? i % 64 * 64 : 0), &to, sizeof(to));
	}
	return at;
}

static const struct program {
	const char *word, *component;
	double least;
	void (*run)(struct state *s, uint64_t rounds);
	uint64_t rounds;        /* of a look at the clock: some ms */
	size_t places, stride;  /* of the ring that its loads go round; else of its memory */
	const char *argument;
} programs[] = {
	{ "chase", "ST-LLC", 0.95, micro_chase, 10000, 1 << 22, 64,
	  "each load needs the address that the one before brings from memory; nothing else takes a cycle" },
	{ "mispredict", "FL-MB", 0.5, micro_mispredict, 100000, 1, 4096,
	  "half of the branches go the way that was not fetched, and 13 cycles or more are lost for 4 of work" },
	{ "divider", "base", 0.95, micro_divider, 100000, 1, 4096,
	  "each quotient needs the one before; moves take no time" },
	{ "stores", "DR-SQ", 0.8, micro_stores, 10000, 1 << 22, 64,
	  "stores retire at once and leave the store queue as fast as memory takes lines: dispatch waits for it" },
	{ "icache", "DR-L1", 0.8, micro_icache, 3, 1, 4096,
	  "512 KiB of code, a line at a time in no order: each piece waits for its line, its first instruction does" },
	{ "tlb", "ST-TLB", 0.95, micro_tlb, 10000, 16384, 4096,
	  "a line in each of 16,384 pages: more pages than TLBs hold, fewer bytes than the caches" },
	{ "compute", "base", 0.95, micro_compute, 100000, 1, 4096,
	  "four independent chains of additions: the core does what it can, evenly" },
	{ "forward", "base", 0.9, micro_forward, 100000, 1, 4096,
	  "the load takes more bytes than the store before it wrote, so it waits until that is in the cache" },
	{ "lock", "base", 0.9, micro_lock, 100000, 1, 4096,
	  "a locked addition waits for itself: the next one may not begin before" },
	{ "walk", "ST-TLB", 0.95, micro_walk, 10000, 4096, 2 << 20,
	  "a page in each of 4,096 stretches of 2 MiB: page tables of their own, a walk for each load" },
	{ "chains", "base", 0.95, micro_chains, 100000, 1, 4096,
	  "two chains of the same length: the loop has all the time, neither chain more than two thirds of it" },
	{ "serialise", "FL-EX", 0.5, micro_serialise, 100000, 1, 4096,
	  "nothing behind a fence is dispatched before it retires; that is its time" },
};
#define PROGRAMS (sizeof(programs) / sizeof(*programs))

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run(const struct program *p, double most)
{
	char *at = ring(p->places, p->stride);
	struct state s = { .chain = at, .memory = at, .end = at + p->places * p->stride };
	double start = seconds();

	while (seconds() - start < most)
		p->run(&s, p->rounds);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < PROGRAMS; i++)
		if (argc == 3 && strcmp(programs[i].word, argv[1]) == 0) {
			run(&programs[i], atof(argv[2]));
			return 0;
		}
	for (size_t i = 0; i < PROGRAMS; i++)
		printf("%s\t%s\t%g\t%s\n", programs[i].word, programs[i].component, programs[i].least,
		       programs[i].argument);
	return argc == 2 && strcmp(argv[1], "list") == 0 ? 0 : 2;
}
