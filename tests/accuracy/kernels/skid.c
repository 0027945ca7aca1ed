/* SPDX-License-Identifier: MIT */
/* One slow instruction in a loop, a load past the caches whose address the one before has brought, and 48 quick ones
 * behind it: where an interrupt lands that comes while the load is waited for. skid nops|adds ROUNDS; the slow
 * instruction stands at the symbol `slow`. See tests/accuracy/skid. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 1 << 22 };
struct node { struct node *next; uint64_t rest[7]; };

/* A ring through all nodes in an order drawn by chance. */
static struct node *ring(void)
{
	struct node *nodes = aligned_alloc(64, NODES * sizeof(*nodes));
	uint32_t *order = malloc(NODES * sizeof(*order));
	uint64_t chance = 88172645463325252ull;

	if (!nodes || !order)
		exit(1);
	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) {
		uint32_t j, kept = order[i];

		chance ^= chance << 13;
		chance ^= chance >> 7;
		chance ^= chance << 17;
		j = (uint32_t)(chance % (i + 1));
		order[i] = order[j];
		order[j] = kept;
	}
	for (uint32_t i = 0; i < NODES; i++)
		nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
	free(order);
	return nodes;
}

static __attribute__((noinline)) struct node *nops(struct node *n, long rounds)
{
	for (; rounds; rounds--)
		__asm__ volatile(".globl slow_nops\nslow_nops: mov (%0), %0\n.rept 48\nnopl 0(%%rax,%%rax,1)\n.endr"
				 : "+r"(n));
	return n;
}

static __attribute__((noinline)) struct node *adds(struct node *n, long rounds)
{
	for (; rounds; rounds--)
		__asm__ volatile(".globl slow_adds\nslow_adds: mov (%0), %0\n.rept 48\nadd $1, %%ecx\n.endr"
				 : "+r"(n) : : "ecx");
	return n;
}

int main(int argc, char **argv)
{
	struct node *n;

	if (argc != 3)
		return 2;
	n = ring();
	n = strcmp(argv[1], "nops") == 0 ? nops(n, atol(argv[2])) : adds(n, atol(argv[2]));
	return n ? 0 : 1;
}
