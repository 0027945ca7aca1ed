/* SPDX-License-Identifier: MIT */
/* Fourier transforms of 2^15 points: `fft PASSES`. By halves, in place, the points put into the order of their turned
 * numbers first; 512 KiB and roots of 256 KiB, walked by strides of powers of two, which share sets of a cache. */
#include <math.h>

#include "chance.h"

enum { BITS = 15, N = 1 << BITS };

struct complex { double re, im; };

static void turn(struct complex *x)
{
	for (uint32_t i = 0, turned = 0; i < N; i++) {
		uint32_t bit = N / 2;

		if (i < turned) {
			struct complex t = x[i];

			x[i] = x[turned];
			x[turned] = t;
		}
		for (; turned & bit; bit /= 2)
			turned ^= bit;
		turned |= bit;
	}
}

static void transform(struct complex *x, const struct complex *root)
{
	turn(x);
	for (uint32_t half = 1; half < N; half *= 2)
		for (uint32_t from = 0; from < N; from += 2 * half)
			for (uint32_t k = 0; k < half; k++) {
				struct complex w = root[k * (N / 2 / half)], *low = &x[from + k], *high = low + half;
				struct complex t = { w.re * high->re - w.im * high->im,
						     w.re * high->im + w.im * high->re };

				*high = (struct complex){ low->re - t.re, low->im - t.im };
				*low = (struct complex){ low->re + t.re, low->im + t.im };
			}
}

int main(int argc, char **argv)
{
	struct complex *x = chance_room(N, sizeof(*x)), *root = chance_room(N / 2, sizeof(*root));
	double scale = 1 / sqrt(N), power = 0;

	for (uint32_t i = 0; i < N; i++)
		x[i].re = chance_real() - 0.5;
	for (uint32_t i = 0; i < N / 2; i++)
		root[i] = (struct complex){ cos(2 * M_PI * i / N), -sin(2 * M_PI * i / N) };
	for (unsigned left = chance_passes(argc, argv); left; left--) {
		transform(x, root);
		for (uint32_t i = 0; i < N; i++) {
			x[i].re *= scale;
			x[i].im *= scale;
		}
	}
	for (uint32_t i = 0; i < N; i++)
		power += x[i].re * x[i].re + x[i].im * x[i].im;
	printf("fft %.9g %.9g\n", power, x[1].re);
	free(x);
	free(root);
	return 0;
}
