/* SPDX-License-Identifier: MIT */
/* What stacks are made of, without frame pointers: calls of every shape that tables describe in their own way. Executed
 * instruction by instruction by tests/accuracy/stack_steps.c, so it does little of each. */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sum;
static volatile int zero;
static sigjmp_buf away;

APART static unsigned leaf(unsigned n)
{
	return n * 2654435761u >> 7;
}

APART static unsigned deep(unsigned n)
{
	unsigned below = n ? deep(n - 1) : leaf(3);

	sum += below;
	return below + n;
}

/* A frame whose size is known only when it runs: addressed by the frame pointer. */
APART static unsigned variable(unsigned n)
{
	char *room = alloca(n);

	memset(room, (int)n, n);
	return leaf((unsigned char)room[n / 2]) + deep(2);
}

APART static unsigned large(void)
{
	volatile char room[5000];

	room[4999] = 7;
	room[0] = (char)leaf(1);
	return (unsigned)room[4999] + deep(1);
}

/* Its frame is aligned to more than the stack is, so it is found by an expression. */
APART static unsigned aligned(void)
{
	volatile char room[128] __attribute__((aligned(64)));

	room[5] = (char)deep(1);
	return (unsigned)room[5];
}

/* More values alive over a call than registers that are saved by the caller. */
APART static unsigned saving(unsigned a, unsigned b, unsigned c, unsigned d)
{
	unsigned e = leaf(a), f = leaf(b), g = leaf(c), h = leaf(d);

	return leaf(a + e) * e + leaf(b + f) * f + leaf(c + g) * g + leaf(d + h) * h + a + b + c + d;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
	sum += leaf((unsigned)number) + deep(2);
}

static void on_fault(int number)
{
	sum += deep((unsigned)number % 3);
	siglongjmp(away, 1);
}

APART static void with_signals(void)
{
	static char other[65536];
	stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	sum += leaf(5);
}

APART static void call_nothing(void (*nothing)(void))
{
	struct sigaction action = { .sa_handler = on_fault };

	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(away, 1))
		nothing();
	sum += leaf(6);
}

/* The call is its last instruction. */
__attribute__((noreturn)) APART static void leave(int status)
{
	sum += leaf(7);
	exit(status);
}

int main(int argc, char **argv)
{
	int numbers[] = { 5, 3, 9, 1, 7, 2, 8 };
	struct timespec now;
	char text[64];

	(void)argv;
	sum += deep((unsigned)argc * 20) + variable((unsigned)argc * 100) + large() + aligned();
	sum += saving(1, 2, 3, (unsigned)argc);
	qsort(numbers, sizeof(numbers) / sizeof(*numbers), sizeof(*numbers), compare);
	snprintf(text, sizeof(text), "%d %s %.3f", numbers[0], "text", 1.5);
	sum += strtoul(text, NULL, 10) + strlen(getenv("PATH") ? getenv("PATH") : "");
	clock_gettime(CLOCK_MONOTONIC, &now);
	with_signals();
	call_nothing((void (*)(void))(size_t)zero);
	puts("done");
	leave(0);
}
