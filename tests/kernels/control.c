/* SPDX-License-Identifier: MIT */
/* Control: interpreters, calls, recursion, branches. */
#include "kernels.h"

enum { N = KERNEL_WORDS };

/* A machine with an accumulator: what the next word's lowest bits say is done. */
KERNEL(interpreter)
{
	uint64_t a = 1;

	for (int i = 0; i < N; i++) {
		uint32_t w = room->words[i & 63];

		switch (w & 7) {
		case 0: a += w; break;
		case 1: a -= w; break;
		case 2: a ^= w; break;
		case 3: a = a << 1 | a >> 63; break;
		case 4: a |= w >> 8; break;
		case 5: a *= 3; break;
		case 6: a &= ~(uint64_t)w; break;
		default: a = ~a;
		}
	}
	return a;
}

typedef uint64_t step(uint64_t a, uint64_t b);
static __attribute__((noinline)) uint64_t kernel_calls__add(uint64_t a, uint64_t b) { return a + b; }
static __attribute__((noinline)) uint64_t kernel_calls__exclusive(uint64_t a, uint64_t b) { return a ^ b; }
static __attribute__((noinline)) uint64_t kernel_calls__shift(uint64_t a, uint64_t b) { return a << 1 ^ b; }
static __attribute__((noinline)) uint64_t kernel_calls__less(uint64_t a, uint64_t b) { return a - b; }
static step *const steps[] = { kernel_calls__add, kernel_calls__exclusive, kernel_calls__shift, kernel_calls__less };

/* Through a table, in an order that repeats itself. */
KERNEL(calls)
{
	uint64_t a = 1;

	(void)room;
	for (int i = 0; i < N; i++)
		a = steps[i & 3](a, (uint64_t)i);
	return a;
}

static __attribute__((noinline)) uint64_t kernel_fibonacci__of(uint64_t n)
{
	uint64_t less = n;

	if (n < 2)
		return n;
	KERNEL_HIDE(less);
	return kernel_fibonacci__of(less - 1) + kernel_fibonacci__of(n - 2);
}

KERNEL(fibonacci)
{
	(void)room;
	return kernel_fibonacci__of(14);
}

/* Odd or even is by chance for the predictor, at least at first. */
KERNEL(collatz)
{
	uint64_t steps_n = 0;

	for (uint64_t i = 1; i <= 64; i++)
		for (uint64_t v = i; v != 1; steps_n++)
			v = v & 1 ? 3 * v + 1 : v / 2;
	(void)room;
	return steps_n;
}

KERNEL(coin)
{
	uint64_t a = 0;

	for (int i = 0; i < N; i++)
		if (kernel_chance(room->chance) & 4) {
			a += 3;
			KERNEL_HIDE(a);
		}
	return a;
}

/* The same way each time, but for one of sixteen. */
KERNEL(rarely)
{
	uint64_t a = 0;

	for (int i = 0; i < N; i++)
		if ((i & 15) == 0) {
			a += room->words[i];
			KERNEL_HIDE(a);
		}
	return a;
}

/* Loops of one to eight turns, by chance. */
KERNEL(short_loops)
{
	uint64_t a = 0;

	for (int i = 0; i < N / 2; i++)
		for (uint64_t k = kernel_chance(room->chance) & 7; k; k--) {
			a += k;
			KERNEL_HIDE(a);
		}
	return a;
}

/* Clamped by comparisons that compilers make moves of. */
KERNEL(clamp)
{
	for (int i = 0; i < N; i++) {
		int32_t v = (int32_t)room->words[i];

		v = v < -1000 ? -1000 : v;
		v = v > 1000 ? 1000 : v;
		room->work[i] = (uint32_t)v;
		KERNEL_HIDE(room);
	}
	return 0;
}

static __attribute__((noinline)) void kernel_queens__place(uint32_t all, uint32_t down, uint32_t left, uint32_t right,
							   uint64_t *found)
{
	if (down == all) {
		++*found;
		return;
	}
	for (uint32_t free = all & ~(down | left | right); free; free &= free - 1) {
		uint32_t bit = free & -free;

		kernel_queens__place(all, down | bit, (left | bit) << 1, (right | bit) >> 1, found);
	}
}

KERNEL(queens)
{
	uint64_t found = 0;

	(void)room;
	kernel_queens__place(63, 0, 0, 0, &found);
	return found;
}

const struct kernel kernels_control[] = {
	KERNEL_ROW(interpreter, N, "operation"),
	KERNEL_ROW(calls, N, "call"),
	KERNEL_ROW(fibonacci, 1219, "call"),
	KERNEL_ROW(collatz, 1, "pass"),
	KERNEL_ROW(coin, N, "word"),
	KERNEL_ROW(rarely, N, "word"),
	KERNEL_ROW(short_loops, N / 2, "loop"),
	KERNEL_ROW(clamp, N, "word"),
	KERNEL_ROW(queens, 1, "pass"),
	{ NULL },
};
