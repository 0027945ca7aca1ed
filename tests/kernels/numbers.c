/* SPDX-License-Identifier: MIT */
/* Numbers: chains of arithmetic, divisions, bits, hashes. */
#include "kernels.h"

enum { N = KERNEL_N };

static uint64_t bits(double v)
{
	return (uint64_t)(int64_t)v;
}

KERNEL(horner)
{
	double sum = 0;

	for (int i = 0; i < N; i++) {
		double x = room->x[i], v = 1. / 5040;

		v = v * x + 1. / 720;
		v = v * x + 1. / 120;
		v = v * x + 1. / 24;
		v = v * x + 1. / 6;
		v = v * x + 1. / 2;
		v = v * x + 1;
		v = v * x + 1;
		sum += v;
	}
	return bits(sum);
}

/* Each waits for the last one, through eight products. */
KERNEL(power)
{
	double v = 1.0000001;

	for (int i = 0; i < N; i++)
		v = v * room->x[i] * 0.5 + 0.5;
	return bits(v);
}

KERNEL(mandelbrot)
{
	uint64_t turns = 0;

	(void)room;
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++) {
			double cr = -2 + i * 0.35, ci = -1 + k * 0.25, r = 0, m = 0;

			for (int t = 0; t < 50 && r * r + m * m < 4; t++) {
				double next = r * r - m * m + cr;

				m = 2 * r * m + ci;
				r = next;
				turns++;
			}
		}
	return turns;
}

KERNEL(quotients)
{
	for (int i = 0; i < N; i++)
		room->z[i] = room->x[i] / room->y[i];
	return 0;
}

KERNEL(roots)
{
	double sum = 0;

	for (int i = 0; i < N; i++)
		sum += __builtin_sqrt(room->x[i]);
	return bits(sum);
}

/* A root by Newton: a chain of divisions. */
KERNEL(newton)
{
	double v = 1;

	for (int i = 0; i < 256; i++)
		v = 0.5 * (v + room->x[i] / v);
	return bits(v);
}

KERNEL(common_divisor)
{
	uint64_t sum = 0;

	for (int i = 0; i < 64; i++) {
		uint32_t a = room->words[i], b = room->words[i + 1];

		while (b) {
			uint32_t t = a % b;

			a = b;
			b = t;
		}
		sum += a;
	}
	return sum;
}

KERNEL(modular_power)
{
	uint64_t v = 1, base = 123456789;

	(void)room;
	for (int i = 0; i < 256; i++)
		v = v * base % 1000000007;
	KERNEL_HIDE(v);
	return v;
}

KERNEL(modulo)
{
	uint32_t by = 97, sum = 0;

	KERNEL_HIDE(by);
	for (int i = 0; i < N; i++)
		sum += room->words[i] % by;
	return sum;
}

KERNEL(congruential)
{
	uint64_t v = room->words[0];

	for (int i = 0; i < N; i++)
		v = v * 6364136223846793005 + 1442695040888963407;
	return v;
}

KERNEL(shift_register)
{
	uint64_t v = room->words[0] | 1;

	for (int i = 0; i < N; i++) {
		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
	}
	return v;
}

KERNEL(count_bits)
{
	uint64_t sum = 0;

	for (int i = 0; i < N; i++) {
		uint64_t v = room->longs[i];

		v -= v >> 1 & 0x5555555555555555;
		v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
		v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
		sum += v * 0x0101010101010101 >> 56;
	}
	return sum;
}

KERNEL(reverse_bits)
{
	for (int i = 0; i < N; i++) {
		uint32_t v = room->words[i];

		v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
		v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
		v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
		room->work[i] = __builtin_bswap32(v);
		KERNEL_HIDE(room);
	}
	return 0;
}

/* A block cipher of 32 rounds, one number after the other. */
KERNEL(cipher)
{
	uint64_t sum = 0;

	for (int i = 0; i < 32; i++) {
		uint32_t v = room->words[i], w = room->words[i + 32], s = 0;

		for (int k = 0; k < 32; k++) {
			s += 0x9e3779b9;
			v += ((w << 4) + 0xa341316c) ^ (w + s) ^ ((w >> 5) + 0xc8013ea4);
			w += ((v << 4) + 0xad90777d) ^ (v + s) ^ ((v >> 5) + 0x7e95761e);
		}
		sum += v ^ w;
	}
	return sum;
}

static uint64_t turned(uint64_t v, int by)
{
	return v << by | v >> (64 - by);
}

KERNEL(sip_rounds)
{
	uint64_t a = 1, b = 2, c = 3, d = 4;

	for (int i = 0; i < N; i++) {
		d ^= room->longs[i];
		a += b, b = turned(b, 13), b ^= a, a = turned(a, 32);
		c += d, d = turned(d, 16), d ^= c;
		a += d, d = turned(d, 21), d ^= a;
		c += b, b = turned(b, 17), b ^= c, c = turned(c, 32);
		a ^= room->longs[i];
	}
	return a ^ b ^ c ^ d;
}

KERNEL(long_products)
{
	uint64_t carry = 0;

	for (int i = 0; i < N; i++) {
		unsigned __int128 v = (unsigned __int128)room->longs[i] * 0x9e3779b97f4a7c15 + carry;

		carry = (uint64_t)(v >> 64);
	}
	return carry;
}

/* Eight bodies that attract each other; positions stay as they are. */
KERNEL(bodies)
{
	double force = 0;

	for (int i = 0; i < 32; i++)
		for (int k = 0; k < 8; k++) {
			double dx = room->x[i] - room->y[k], dy = room->x[i + 32] - room->y[k + 8],
			       square = dx * dx + dy * dy + 0.01;

			force += dx / (square * __builtin_sqrt(square));
		}
	return bits(force * 1000);
}

KERNEL(integers_of)
{
	uint64_t sum = 0;

	for (int i = 0; i < N; i++) {
		sum += (uint64_t)(int64_t)(room->x[i] * 1000);
		KERNEL_HIDE(sum);
	}
	return sum;
}

const struct kernel kernels_numbers[] = {
	KERNEL_ROW(horner, N, "element"),
	KERNEL_ROW(power, N, "element"),
	KERNEL_ROW(mandelbrot, 1, "pass"),
	KERNEL_ROW(quotients, N, "element"),
	KERNEL_ROW(roots, N, "element"),
	KERNEL_ROW(newton, 256, "step"),
	KERNEL_ROW(common_divisor, 64, "pair"),
	KERNEL_ROW(modular_power, 256, "step"),
	KERNEL_ROW(modulo, N, "word"),
	KERNEL_ROW(congruential, N, "step"),
	KERNEL_ROW(shift_register, N, "step"),
	KERNEL_ROW(count_bits, N, "long"),
	KERNEL_ROW(reverse_bits, N, "word"),
	KERNEL_ROW(cipher, 32 * 32, "round"),
	KERNEL_ROW(sip_rounds, N, "long"),
	KERNEL_ROW(long_products, N, "long"),
	KERNEL_ROW(bodies, 32 * 8, "pair"),
	KERNEL_ROW(integers_of, N, "element"),
	{ NULL },
};
