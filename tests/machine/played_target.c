/* SPDX-License-Identifier: MIT */
/* What is recorded on machines that are played: a loop whose instructions have names. It goes on for so many
 * milliseconds. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

void work(void **cell, uint64_t passes);

__asm__(".text\n"
	".globl work, played_load, played_next, played_branch, played_loop\n"
	".type work, @function\n"
	"work:\n"
	"played_loop:\n"
	"played_load: mov (%rdi), %rdi\n"
	"played_next: add $3, %rax\n"
	"	sub $1, %rsi\n"
	"played_branch: jnz played_loop\n"
	"	ret\n"
	".size work, . - work\n");

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	int64_t until = now_ms() + (argc > 1 ? atoi(argv[1]) : 500);
	void *cell = &cell;

	while (now_ms() < until)
		work(cell, 100000);
	return 0;
}
