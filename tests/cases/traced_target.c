/* SPDX-License-Identifier: MIT */
/* What is modelled while it runs: `traced-target HOW N STATUS [TIMES]` says "before", calls the function HOW once, or
 * so many times on the same memory, says "after" and ends with that status, or dies of a signal if HOW is "die". The
 * functions are in assembly, so that their instructions are known:
 *
 *	spin	3 N + 1: a chain of multiplications
 *	carry	6 N + 1: each turn loads what the one before it stored
 *	stride	4 N + 1: loads that are 24 bytes apart
 *	nest	30,003 N + 1: a loop of 10,000 turns in another one, which falls into it */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION(name, body) \
	__asm__(".text\n.p2align 6\n.globl " name "\n.type " name ", @function\n" name ":\n" \
		body "\tret\n.size " name ", . - " name "\n")

void spin(uint64_t n), carry(uint64_t n, uint64_t *at), stride(uint64_t n, uint64_t *at), nest(uint64_t n);
FUNCTION("spin",
	 "1:	imul	%rax, %rax\n"
	 "	dec	%rdi\n"
	 "	jnz	1b\n");
FUNCTION("carry",
	 "1:	mov	(%rsi), %rax\n"
	 "	add	$3, %rax\n"
	 "	mov	%rax, 8(%rsi)\n"
	 "	add	$8, %rsi\n"
	 "	dec	%rdi\n"
	 "	jnz	1b\n");
FUNCTION("stride",
	 "1:	add	(%rsi), %rax\n"
	 "	add	$24, %rsi\n"
	 "	dec	%rdi\n"
	 "	jnz	1b\n");
FUNCTION("nest",
	 "1:	mov	$10000, %esi\n"
	 "2:	imul	%rax, %rax\n"
	 "	dec	%rsi\n"
	 "	jnz	2b\n"
	 "	dec	%rdi\n"
	 "	jnz	1b\n");

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*call)(uint64_t n, uint64_t *at); } functions[] = {
		{ "carry", carry }, { "stride", stride },
	};
	uint64_t n = argc >= 4 ? strtoull(argv[2], NULL, 10) : 0, *at = calloc(3 * n + 2, sizeof(*at));
	int times = argc == 5 ? atoi(argv[4]) : 1;
	/* Where in its page a function's return address lies must not depend on the environment: lines near the end of
	 * a page have fewer behind them to be prefetched. */
	volatile char of_page[4096] __attribute__((aligned(4096))) = { 0 };

	(void)of_page[0];
	if (!n || !at)
		return 99;
	puts("before");
	fflush(stdout);
	fputs("trouble\n", stderr);
	if (strcmp(argv[1], "die") == 0)
		raise(SIGTERM);
	if (strcmp(argv[1], "spin") == 0)
		spin(n);
	if (strcmp(argv[1], "nest") == 0)
		nest(n);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		for (int k = 0; k < times && strcmp(argv[1], functions[i].name) == 0; k++)
			functions[i].call(n, at);
	puts("after");
	return atoi(argv[3]);
}
