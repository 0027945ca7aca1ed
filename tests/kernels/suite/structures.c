/* SPDX-License-Identifier: MIT */
/* Data structures, sorting, an interpreter, and a matrix turned over. */
#include "suite.h"

/* A table of n places, five eighths of them taken, asked for a key in each step; a key that is not at its place is at
 * one of the next. 0 is no key. */
SUITE(hash)
{
	const uint64_t *restrict keys = room->array[0], *restrict values = room->array[1];
	const uint64_t *restrict asked = room->array[2];
	uint64_t *restrict answers = room->array[3];
	uint64_t n = (uint64_t)room->n;

	for (long i = room->from; i < room->to; i++) {
		uint64_t key = asked[i], at = (key * 0x9e3779b97f4a7c15 >> 32) * n >> 32;

		while (keys[at] && keys[at] != key)
			at = at + 1 < n ? at + 1 : 0;
		answers[i] = keys[at] ? values[at] : 0;
	}
	return 0;
}

enum { NODE_KEYS = 15, NODE_CHILDREN = 16, NOBODY = 0xffffffff };

/* From the root of a B-tree of n nodes to a key, in each step; the answer is its place, 0 where there is none. */
SUITE(btree)
{
	const uint64_t *restrict keys = room->array[0], *restrict asked = room->array[2];
	const uint32_t *restrict children = room->array[1];
	uint64_t *restrict places = room->array[3];

	for (long i = room->from; i < room->to; i++) {
		uint64_t key = asked[i], place = 0;
		uint32_t node = 0;

		while (node != NOBODY) {
			const uint64_t *of = keys + (uint64_t)node * NODE_KEYS;
			uint32_t k = 0;

			while (k < NODE_KEYS && of[k] < key)
				k++;
			if (k < NODE_KEYS && of[k] == key) {
				place = (uint64_t)node * NODE_KEYS + k + 1;
				break;
			}
			node = children[(uint64_t)node * NODE_CHILDREN + k];
		}
		places[i] = place;
	}
	return 0;
}

SUITE_PART void insert_each(uint32_t *w, long low, long high)
{
	for (long i = low + 1; i <= high; i++) {
		uint32_t v = w[i];
		long k = i;

		for (; k > low && w[k - 1] > v; k--)
			w[k] = w[k - 1];
		w[k] = v;
	}
}

/* Hoare's partition by the middle of three: behind it what is in [low, j] is not above what is in [j + 1, high]. */
SUITE_PART long partition(uint32_t *w, long low, long high)
{
	uint32_t a = w[low], b = w[low + (high - low) / 2], c = w[high];
	uint32_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
	long i = low - 1, j = high + 1;

	for (;;) {
		uint32_t t;

		do
			i++;
		while (w[i] < pivot);
		do
			j--;
		while (w[j] > pivot);
		if (i >= j)
			return j;
		t = w[i];
		w[i] = w[j];
		w[j] = t;
	}
}

/* A step is a word to be sorted among those of the pass. The longer part waits, so there are never many. */
SUITE(quicksort)
{
	enum { SHORT = 16, WAITING = 64 };
	const uint32_t *in = room->array[0];
	uint32_t *out = room->array[1];
	long waiting[WAITING][2], low = room->from, high = room->to - 1;
	int n = 0;

	for (long i = low; i <= high; i++)
		out[i] = in[i];
	for (;;) {
		while (high - low >= SHORT) {
			long at = partition(out, low, high);
			int right_waits = at - low < high - at;

			waiting[n][0] = right_waits ? at + 1 : low;
			waiting[n++][1] = right_waits ? high : at;
			low = right_waits ? low : at + 1;
			high = right_waits ? at : high;
		}
		insert_each(out, low, high);
		if (n == 0)
			return 0;
		low = waiting[--n][0];
		high = waiting[n][1];
	}
}

/* A machine of sixteen registers and n words of memory. An instruction is a word: operation, three registers, a
 * number. A step is an instruction or one that is passed over. */
SUITE(interpreter)
{
	const uint32_t *code = room->array[0];
	uint32_t *memory = room->array[1], *registers = room->array[2], r[16];
	uint64_t n = (uint64_t)room->n;

	for (int i = 0; i < 16; i++)
		r[i] = (uint32_t)i * 0x9e3779b1;
	for (long at = room->from; at < room->to; at++) {
		uint32_t word = code[at], a = r[word >> 8 & 15], b = r[word >> 12 & 15], number = word >> 16;
		uint32_t *to = &r[word >> 4 & 15];

		switch (word & 7) {
		case 0:
			*to = a + b;
			break;
		case 1:
			*to = a - b + number;
			break;
		case 2:
			*to = a * (b | 1);
			break;
		case 3:
			*to = a ^ number;
			break;
		case 4:
			*to = a << (number & 31) | a >> (-number & 31);
			break;
		case 5:
			*to = memory[(a + number) * n >> 32];
			break;
		case 6:
			memory[(a + number) * n >> 32] = b;
			break;
		default:
			at += a < b;
		}
	}
	for (int i = 0; i < 16; i++)
		registers[i] = r[i];
	return 0;
}

/* A step is a row of the result, which is a column of what is there. */
SUITE(transpose)
{
	const double *restrict a = room->array[0];
	double *restrict b = room->array[1];
	long n = room->n;

	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			b[i * n + j] = a[j * n + i];
	return 0;
}
