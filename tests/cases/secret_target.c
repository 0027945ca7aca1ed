/* SPDX-License-Identifier: MIT */
/* Reads 16 bytes from its standard input, which are its secret, and computes for a while with it in its heap, on its
 * stack, in general and in vector registers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The secret in registers; its address is used now and then, so that windows touch it. */
static void work(const uint64_t *secret)
{
	__asm__ volatile("movdqu (%0), %%xmm7\n"
			 "mov (%0), %%r12\n"
			 "mov 8(%0), %%r13\n"
			 "mov $1000000, %%ecx\n"
			 "1: mov (%0), %%rax\n"
			 "imul %%r12, %%rax\n"
			 "add %%r13, %%rax\n"
			 "dec %%ecx\n"
			 "jnz 1b\n"
			 : : "r"(secret) : "rax", "rcx", "r12", "r13", "xmm7", "memory", "cc");
}

int main(void)
{
	uint64_t stack[2], *heap = malloc(sizeof(stack));
	double until = now() + 1.5;

	if (!heap || fread(stack, sizeof(stack), 1, stdin) != 1)
		return 1;
	memcpy(heap, stack, sizeof(stack));
	while (now() < until) {
		work(heap);
		work(stack);
	}
	free(heap);
	return 0;
}
