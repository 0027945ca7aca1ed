/* SPDX-License-Identifier: MIT */
/* Twenty loops that a compiler can vectorise. tests/accuracy/vectorised builds this file twice, without and with its
 * vectoriser, times both, and asks gusprof of the first what the second would gain.
 *
 *	vectorised_loops --list             each loop's name
 *	vectorised_loops --time NAME        the least cycles of the time stamp counter of a pass, of many
 *	vectorised_loops --run NAME SECONDS passes again and again, for that long
 *	vectorised_loops --bandwidth        the most bytes that memory delivers in a cycle of the core
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define LOOP __attribute__((noinline, noclone)) static void

/* In L1: 1000 words of 8 bytes, or so; in L2: 256 KiB; in memory: more than the last level holds of each array. */
enum { SMALL = 1000, BYTES = 8000, TABLE = 1 << 15, LARGE = 1 << 23, ROW = 13, ROWS = 64 };

static int row; /* ROW, which the compiler does not know: a loop of few turns stays one */

static double *xd, *yd, *zd, *large_x, *large_y, *table;
static float *xf, *yf, *zf;
static int32_t *xi, *yi, *zi, *order;
static uint8_t *xb, *yb, *zb;
static volatile double sink_d;
static volatile float sink_f;
static volatile int32_t sink_i;

LOOP dot_f64(void)
{
	double s = 0;

	for (int i = 0; i < SMALL; i++)
		s += xd[i] * yd[i];
	sink_d = s;
}

LOOP sum_f32(void)
{
	float s = 0;

	for (int i = 0; i < 2 * SMALL; i++)
		s += xf[i];
	sink_f = s;
}

LOOP axpy_f64(void)
{
	double *restrict y = yd;
	const double *restrict x = xd;

	for (int i = 0; i < SMALL; i++)
		y[i] += 0.001 * x[i];
}

LOOP stencil_f64(void)
{
	double *restrict y = yd;
	const double *restrict x = xd;

	for (int i = 1; i < SMALL - 1; i++)
		y[i] = 0.33 * (x[i - 1] + x[i] + x[i + 1]);
}

LOOP stencil_f32(void)
{
	float *restrict y = yf;
	const float *restrict x = xf;

	for (int i = 2; i < 2 * SMALL - 2; i++)
		y[i] = 0.1f * (x[i - 2] + x[i + 2]) + 0.2f * (x[i - 1] + x[i + 1]) + 0.4f * x[i];
}

LOOP poly_f32(void)
{
	float *restrict y = yf;
	const float *restrict x = xf;

	for (int i = 0; i < 2 * SMALL; i++) {
		float v = x[i];

		y[i] = 1.0f + v * (0.5f + v * (0.25f + v * (0.125f + v * (0.0625f + v * (0.03f + v * 0.015f)))));
	}
}

LOOP sqrt_f64(void)
{
	double *restrict y = yd;
	const double *restrict x = xd;

	for (int i = 0; i < SMALL; i++)
		y[i] = sqrt(x[i]);
}

LOOP div_f64(void)
{
	double *restrict y = yd;
	const double *restrict x = xd, *restrict z = zd;

	for (int i = 0; i < SMALL; i++)
		y[i] = x[i] / z[i];
}

LOOP i32_to_f64(void)
{
	double *restrict y = yd;
	const int32_t *restrict x = xi;

	for (int i = 0; i < SMALL; i++)
		y[i] = 0.5 * (double)x[i];
}

LOOP f64_to_f32(void)
{
	float *restrict y = yf;
	const double *restrict x = xd, *restrict z = zd;

	for (int i = 0; i < SMALL; i++)
		y[i] = (float)(x[i] * z[i]);
}

LOOP dot_i32(void)
{
	int32_t s = 0;

	for (int i = 0; i < 2 * SMALL; i++)
		s += xi[i] * yi[i];
	sink_i = s;
}

LOOP add_u8(void)
{
	uint8_t *restrict z = zb;
	const uint8_t *restrict x = xb, *restrict y = yb;

	for (int i = 0; i < BYTES; i++)
		z[i] = (uint8_t)(x[i] + y[i]);
}

LOOP most_f32(void)
{
	float m = -1e30f;

	for (int i = 0; i < 2 * SMALL; i++)
		m = xf[i] > m ? xf[i] : m;
	sink_f = m;
}

LOOP choose_i32(void)
{
	int32_t *restrict z = zi;
	const int32_t *restrict x = xi, *restrict y = yi;

	for (int i = 0; i < 2 * SMALL; i++)
		z[i] = x[i] > 50 ? y[i] : x[i];
}

LOOP pairs_f32(void)
{
	float *restrict y = yf;
	const float *restrict x = xf;

	for (int i = 0; i < SMALL; i++)
		y[i] = x[2 * i] * x[2 * i + 1];
}

LOOP gather_f64(void)
{
	double s = 0;

	for (int i = 0; i < TABLE; i++)
		s += table[order[i]];
	sink_d = s;
}

LOOP norm_memory(void)
{
	double s = 0;

	for (int i = 0; i < LARGE; i++)
		s += large_x[i] * large_x[i];
	sink_d = s;
}

LOOP axpy_memory(void)
{
	double *restrict y = large_y;
	const double *restrict x = large_x;

	for (int i = 0; i < LARGE; i++)
		y[i] += 0.001 * x[i];
}

LOOP rows_f64(void)
{
	for (int r = 0; r < ROWS; r++) {
		double *restrict y = yd + r * ROW;
		const double *restrict x = xd + r * ROW;

		for (int i = 0; i < row; i++)
			y[i] += 0.001 * x[i];
	}
}

LOOP fill_f32(void)
{
	float *restrict y = yf;

	for (int i = 0; i < 2 * SMALL; i++)
		y[i] = 1.5f;
}

static const struct { const char *name; void (*pass)(void); } loops[] = {
	{ "dot_f64", dot_f64 }, { "sum_f32", sum_f32 }, { "axpy_f64", axpy_f64 }, { "stencil_f64", stencil_f64 },
	{ "stencil_f32", stencil_f32 }, { "poly_f32", poly_f32 }, { "sqrt_f64", sqrt_f64 }, { "div_f64", div_f64 },
	{ "i32_to_f64", i32_to_f64 }, { "f64_to_f32", f64_to_f32 }, { "dot_i32", dot_i32 }, { "add_u8", add_u8 },
	{ "most_f32", most_f32 }, { "choose_i32", choose_i32 }, { "pairs_f32", pairs_f32 },
	{ "gather_f64", gather_f64 }, { "norm_memory", norm_memory }, { "axpy_memory", axpy_memory },
	{ "rows_f64", rows_f64 }, { "fill_f32", fill_f32 },
};

/* Each array begins at another place in its page: loads and stores whose addresses agree in their low 12 bits get in
 * each other's way, more or less so as they are placed, and that is not what is asked here. */
static void *words(size_t n, size_t size)
{
	static size_t arrays;
	size_t offset = arrays++ * 320;
	char *p = aligned_alloc(4096, (n * size + offset + 4095) / 4096 * 4096);

	if (!p)
		exit(1);
	memset(p + offset, 0, n * size);
	return p + offset;
}

static void prepare(bool large)
{
	uint32_t state = 1;

	row = ROW + (int)(time(NULL) == 0);
	xd = words(SMALL + ROW, 8), yd = words(SMALL + ROW, 8), zd = words(SMALL + ROW, 8);
	xf = words(2 * SMALL, 4), yf = words(2 * SMALL, 4), zf = words(2 * SMALL, 4);
	xi = words(2 * SMALL, 4), yi = words(2 * SMALL, 4), zi = words(2 * SMALL, 4);
	xb = words(BYTES, 1), yb = words(BYTES, 1), zb = words(BYTES, 1);
	table = words(TABLE, 8), order = words(TABLE, 4);
	large_x = words(large ? LARGE : 1, 8), large_y = words(large ? LARGE : 1, 8);
	for (int i = 0; i < SMALL; i++)
		xd[i] = yd[i] = zd[i] = 1 + i % 10 / 10.0;
	for (int i = 0; i < 2 * SMALL; i++) {
		xf[i] = yf[i] = zf[i] = (float)(i % 7) / 8;
		state = state * 1664525 + 1013904223;
		xi[i] = yi[i] = (int32_t)(state >> 25);
	}
	for (int i = 0; i < BYTES; i++)
		xb[i] = yb[i] = (uint8_t)i;
	for (int i = 0; i < TABLE; i++) {
		state = state * 1664525 + 1013904223;
		table[i] = i;
		order[i] = (int32_t)(state >> 17);
	}
	for (int i = 0; large && i < LARGE; i++)
		large_x[i] = large_y[i] = i % 10;
}

/* Cycles of the core by a chain of additions, as the time stamp counter has its own. */
static double bandwidth(void)
{
	uint64_t least_read = UINT64_MAX, least_chain = UINT64_MAX;

	for (int pass = 0; pass < 40; pass++) {
		uint64_t begin = __rdtsc(), chain = begin, s = 0, read;

		for (int i = 0; i < LARGE; i += 2)
			s += *(volatile uint64_t *)&large_x[i];
		read = __rdtsc() - begin;
		begin = __rdtsc();
		for (int i = 0; i < 100000; i++)
			__asm__ volatile("add %0, %0" : "+r"(chain));
		begin = __rdtsc() - begin;
		sink_i = (int32_t)(chain + s);
		least_read = read < least_read ? read : least_read;
		least_chain = begin < least_chain ? begin : least_chain;
	}
	return 8.0 * LARGE / (double)least_read * (double)least_chain / 100000;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	void (*pass)(void) = NULL;
	uint64_t least = UINT64_MAX;
	int often;
	double end;

	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		if (argc == 2 && !strcmp(argv[1], "--list"))
			puts(loops[i].name);
		if (argc > 2 && !strcmp(argv[2], loops[i].name))
			pass = loops[i].pass;
	}
	if (argc == 2 && !strcmp(argv[1], "--bandwidth")) {
		prepare(true);
		printf("%.1f\n", bandwidth());
	}
	if (!pass)
		return argc == 2 ? 0 : 1;
	prepare(pass == axpy_memory || pass == norm_memory);
	often = pass == axpy_memory || pass == norm_memory || pass == gather_f64 ? 1 : 16;
	end = now() + (argc > 3 ? atof(argv[3]) : 0.05);
	for (int passes = 0; (passes < 20 && !strcmp(argv[1], "--time")) || now() < end; passes++) {
		uint64_t begin = __rdtsc(), cycles;

		for (int i = 0; i < often; i++)
			pass();
		cycles = (__rdtsc() - begin) / (unsigned)often;
		if (passes > 2 && cycles < least)
			least = cycles;
	}
	if (!strcmp(argv[1], "--time"))
		printf("%llu\n", (unsigned long long)least);
	return 0;
}
