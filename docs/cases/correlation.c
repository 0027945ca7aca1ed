/* SPDX-License-Identifier: MIT */
/* The hot loop nest of a correlation matrix, seven times: as it is written down at first, and after each step that the
 * page correlation.md takes. `correlation VERSION [ROUNDS]` runs one and says how near it is to what this CPU can do
 * with multiplications and additions alone; `correlation check` holds all of them against the first.
 *
 *	cc -O3 -mavx2 -mfma -g correlation.c -o correlation -lm
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* N observations of M variables; a row is an observation. Columns have been normalised, so dots are correlations. */
enum { M = 240, N = 256, BLOCK = 64 };

typedef double vector __attribute__((vector_size(32)));
typedef double unaligned __attribute__((vector_size(32), aligned(8)));
enum { WIDTH = sizeof(vector) / sizeof(double) };

static double data[N][M] __attribute__((aligned(64)));
static double corr[M][M] __attribute__((aligned(64)));

#define NEST static void __attribute__((noinline))

static inline vector all(double x)
{
	return (vector){ x, x, x, x };
}

static inline vector load(const double *at)
{
	return *(const unaligned *)at;
}

static inline void store(double *at, vector v)
{
	*(unaligned *)at = v;
}

/* The nest as one writes it. Each access goes to another line. */
NEST v0(void)
{
	for (int j = 0; j < M; j++)
		for (int i = j; i < M; i++)
			for (int k = 0; k < N; k++)
				corr[j][i] += data[k][i] * data[k][j];
}

/* Keeps the compiler from taking the next step by itself. */
static inline void stop(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Vectors of i, and the loops in the order that lets them be. */
NEST v1(void)
{
	for (int j = 0; j < M; j++)
		for (int k = 0; k < N; k++) {
			vector b = all(data[k][j]);

			for (int i = j / WIDTH * WIDTH; i < M; i += WIDTH)
				store(&corr[j][i], load(&corr[j][i]) + load(&data[k][i]) * b);
			stop();
		}
}

/* A tile of 2 rows by 16 columns for each k: what is loaded of data serves both rows. */
NEST v2(void)
{
	for (int j = 0; j < M; j += 2)
		for (int i = j / 16 * 16; i < M; i += 16)
			for (int k = 0; k < N; k++) {
				vector b[2] = { all(data[k][j]), all(data[k][j + 1]) };

				for (int c = i; c < i + 16; c += WIDTH) {
					vector d = load(&data[k][c]);

					store(&corr[j][c], load(&corr[j][c]) + d * b[0]);
					store(&corr[j + 1][c], load(&corr[j + 1][c]) + d * b[1]);
				}
				stop();
			}
}

/* A tile of ROWS by COLUMNS that stays in registers while k goes from its first to its last. */
#define TILE(ROWS, COLUMNS, FIRST, LAST) \
	do { \
		vector sum[ROWS][(COLUMNS) / WIDTH]; \
		_Pragma("GCC unroll 16") for (int r = 0; r < (ROWS); r++) \
			_Pragma("GCC unroll 16") for (int c = 0; c < (COLUMNS) / WIDTH; c++) \
				sum[r][c] = load(&corr[j + r][i + c * WIDTH]); \
		for (int k = (FIRST); k < (LAST); k++) \
			_Pragma("GCC unroll 16") for (int r = 0; r < (ROWS); r++) \
				_Pragma("GCC unroll 16") for (int c = 0; c < (COLUMNS) / WIDTH; c++) \
					sum[r][c] += load(&data[k][i + c * WIDTH]) * all(data[k][j + r]); \
		_Pragma("GCC unroll 16") for (int r = 0; r < (ROWS); r++) \
			_Pragma("GCC unroll 16") for (int c = 0; c < (COLUMNS) / WIDTH; c++) \
				store(&corr[j + r][i + c * WIDTH], sum[r][c]); \
	} while (0)

/* Loads and stores of the result are hoisted out of the innermost loop. */
NEST v3(void)
{
	for (int j = 0; j < M; j += 2)
		for (int i = j / 16 * 16; i < M; i += 16)
			TILE(2, 16, 0, N);
}

/* k in blocks, so that the columns of data that a row of tiles reads stay in the first-level cache. */
#define BLOCKED(ROWS, COLUMNS) \
	do { \
		for (int first = 0; first < N; first += BLOCK) \
			for (int i = 0; i < M; i += (COLUMNS)) \
				for (int j = 0; j < i + (COLUMNS) && j < M; j += (ROWS)) \
					TILE(ROWS, COLUMNS, first, first + BLOCK); \
	} while (0)

NEST v4(void)
{
	BLOCKED(2, 16);
}

/* A squarer tile does more for each load; this one has more sums than there are registers. */
NEST v5(void)
{
	BLOCKED(4, 16);
}

/* And this one has not. */
NEST v6(void)
{
	BLOCKED(3, 12);
}

static void (*const versions[])(void) = { v0, v1, v2, v3, v4, v5, v6 };
enum { VERSIONS = sizeof(versions) / sizeof(*versions) };

/* What there is at most: as many sums as the CPU needs to be kept busy, and nothing else. */
NEST peak(void)
{
	vector sum[10], x = all(data[0][0]);

	for (int s = 0; s < 10; s++)
		sum[s] = all(s);
	for (long n = 0; n < 200000; n++)
		_Pragma("GCC unroll 10") for (int s = 0; s < 10; s++) {
			sum[s] += x * x;
			__asm__ volatile("" : "+x"(sum[s]));
		}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the quickest of some rounds. */
static double least(void (*f)(void), int rounds)
{
	double best = INFINITY;

	for (int i = 0; i < rounds; i++) {
		double begun = now();

		f();
		best = fmin(best, now() - begun);
	}
	return best;
}

static void fill(void)
{
	unsigned state = 1;

	for (int k = 0; k < N; k++)
		for (int i = 0; i < M; i++) {
			state = state * 1664525 + 1013904223;
			data[k][i] = (double)(state >> 8) / (1 << 24) - 0.5;
		}
}

static int check(void)
{
	static double right[M][M];
	int wrong = 0;

	v0();
	memcpy(right, corr, sizeof(corr));
	for (int v = 1; v < VERSIONS; v++) {
		memset(corr, 0, sizeof(corr));
		versions[v]();
		for (int j = 0; j < M; j++)
			for (int i = j; i < M; i++)
				wrong += fabs(corr[j][i] - right[j][i]) > 1e-9;
	}
	printf("%d of %d results differ\n", wrong, (VERSIONS - 1) * M * (M + 1) / 2);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	int v = argc > 1 ? argv[1][strspn(argv[1], "v")] - '0' : -1, rounds = argc > 2 ? atoi(argv[2]) : 200;
	double work = 0.5 * M * (M + 1) * N, time, top;

	fill();
	if (argc > 1 && strcmp(argv[1], "check") == 0)
		return check();
	if (v < 0 || v >= VERSIONS) {
		fprintf(stderr, "usage: correlation v0..v%d|check [ROUNDS]\n", VERSIONS - 1);
		return 2;
	}
	if (rounds == 0) { /* a few times and nothing else, to be traced */
		for (int i = 0; i < 4; i++)
			versions[v]();
		return 0;
	}
	time = least(versions[v], rounds);
	top = least(peak, 20) / (200000.0 * 10 * WIDTH);
	printf("v%d: %.3f ms, %.1f %% of peak\n", v, 1e3 * time, 100 * top * work / time);
	return 0;
}
