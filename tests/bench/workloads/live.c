/* SPDX-License-Identifier: MIT */
/* What tests/bench/attach-snapshots attaches to: `live gemm ROUNDS` multiplies matrices of 512 by 512 (6 MB), `live
 * threads ROUNDS` has eight threads that compute and never meet. Each prints a sum at its end, the same in every
 * run. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 512
#define THREADS 8
#define WORDS 4096

static double a[N][N], b[N][N], c[N][N], sums[THREADS];
static long rounds;

static void multiply(void)
{
	memset(c, 0, sizeof(c));
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i][j] += a[i][k] * b[k][j];
}

static double gemm(void)
{
	double sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = i * 0.5 + j;
			b[i][j] = i - j * 0.25;
		}
	for (long r = 0; r < rounds; r++) {
		multiply();
		a[r % N][0] += c[0][0] > 0 ? 1 : -1;
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += c[i][j] * (i ^ j);
	return sum;
}

static void *compute(void *context)
{
	unsigned long id = (unsigned long)context, x = id + 1;
	static __thread double words[WORDS];

	for (long r = 0; r < rounds; r++) {
		for (int i = 0; i < WORDS; i++) {
			x = x * 6364136223846793005ul + 1442695040888963407ul;
			words[i] = words[i] * 0.5 + (double)(x >> 40);
		}
		for (int i = 0; i < WORDS; i++)
			sums[id] += words[i];
	}
	return NULL;
}

static double threads(void)
{
	pthread_t t[THREADS];
	double sum = 0;

	for (unsigned long i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, compute, (void *)i) != 0)
			exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++)
		sum += sums[i];
	return sum;
}

int main(int argc, char **argv)
{
	rounds = argc > 2 ? atol(argv[2]) : 1;
	printf("%.17g\n", argc > 1 && strcmp(argv[1], "threads") == 0 ? threads() : gemm());
	return 0;
}
