/* SPDX-License-Identifier: MIT */
/* Distances of points: a square root each, which nothing waits for but the sum. With "fence" something in the loop lets
 * nothing begin before it is done, as a time stamp that is taken carefully, or an access to a control register. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1 << 10 };
static double x[POINTS], y[POINTS], d[POINTS];

static __attribute__((noinline)) void distances(void)
{
	for (int i = 0; i < POINTS; i++)
		d[i] = sqrt(x[i] * x[i] + y[i] * y[i]);
}

static __attribute__((noinline)) void fenced_distances(void)
{
	for (int i = 0; i < POINTS; i++) {
		d[i] = sqrt(x[i] * x[i] + y[i] * y[i]);
		__asm__ volatile("lfence" : : : "memory");
	}
}

int main(int argc, char **argv)
{
	int fenced = argc > 1 && strcmp(argv[1], "fenced") == 0, rounds = argc > 2 ? atoi(argv[2]) : 100000;

	for (int i = 0; i < POINTS; i++) {
		x[i] = i + 0.25;
		y[i] = POINTS - i;
	}
	for (int r = 0; r < rounds; r++)
		if (fenced)
			fenced_distances();
		else
			distances();
	printf("%g\n", d[17]);
}
