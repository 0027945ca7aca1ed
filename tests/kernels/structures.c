/* SPDX-License-Identifier: MIT */
/* Data structures: searches, lists, tables, sorting, trees. */
#include "kernels.h"

enum { N = KERNEL_WORDS };

/* Which half is by chance, so half of the branches go wrong. */
KERNEL(search_by_branches)
{
	uint64_t sum = 0;

	for (int i = 0; i < 256; i++) {
		uint32_t key = room->words[i];
		int low = 0, high = N;

		while (high - low > 1) {
			int middle = (low + high) / 2;

			if (room->sorted[middle] <= key) {
				low = middle;
				KERNEL_HIDE(low);
			} else {
				high = middle;
				KERNEL_HIDE(high);
			}
		}
		sum += (uint64_t)low;
	}
	return sum;
}

/* The same without branches that depend on what is found. */
KERNEL(search_by_moves)
{
	uint64_t sum = 0;

	for (int i = 0; i < 256; i++) {
		const uint32_t *low = room->sorted, *next;
		uint32_t key = room->words[i];

		for (int half = N / 2; half; half /= 2) {
			next = low + half;
			low = *next <= key ? next : low;
		}
		sum += (uint64_t)(low - room->sorted);
	}
	return sum;
}

KERNEL(list)
{
	const struct kernel_node *node = room->nodes;
	uint64_t sum = 0;

	for (int i = 0; i < 1024; i++) {
		sum += node->value;
		node = node->next;
	}
	return sum;
}

/* Lines of 256 KiB, in an order by chance. */
KERNEL(list_far)
{
	void *at = room->far;

	for (int i = 0; i < 2048; i++)
		at = *(void **)at;
	return (uint64_t)(uintptr_t)at;
}

KERNEL(table_look_up)
{
	uint64_t found = 0;

	for (int i = 0; i < N; i++) {
		uint32_t key = room->words[i], at = key * 2654435761U >> 22;

		found += room->sorted[at] == key;
	}
	return found;
}

KERNEL(histogram)
{
	for (int i = 0; i < 256; i++)
		room->work[i] = 0;
	for (int i = 0; i < KERNEL_TEXT; i++)
		room->work[room->text[i]]++;
	return room->work[' '];
}

KERNEL(histogram_same)
{
	for (int i = 0; i < 2048; i++)
		room->work[room->out[3 * KERNEL_TEXT + (i & 1)]]++;
	return 0;
}

KERNEL(gather)
{
	uint64_t sum = 0;

	for (int i = 0; i < N; i++)
		sum += room->words[room->order[i]];
	return sum;
}

KERNEL(scatter)
{
	for (int i = 0; i < N; i++)
		room->work[room->order[i]] = room->words[i];
	return 0;
}

/* Eight bits of each word: where it goes, and then there. */
KERNEL(radix_step)
{
	uint32_t at[256] = { 0 }, sum = 0;

	for (int i = 0; i < N; i++)
		at[room->words[i] & 255]++;
	for (int i = 0; i < 256; i++) {
		uint32_t n = at[i];

		at[i] = sum;
		sum += n;
	}
	for (int i = 0; i < N; i++)
		room->work[at[room->words[i] & 255]++] = room->words[i];
	return 0;
}

KERNEL(insertion_sort)
{
	uint32_t *w = room->work;

	for (int i = 0; i < 64; i++) {
		uint32_t v = room->words[i];
		int k = i;

		for (; k && w[k - 1] > v; k--)
			w[k] = w[k - 1];
		w[k] = v;
	}
	return 0;
}

/* What is less than the first goes in front, without a branch. */
KERNEL(partition)
{
	uint32_t pivot = room->words[0], n = 0;

	for (int i = 0; i < N; i++) {
		room->work[n] = room->words[i];
		n += room->words[i] < pivot;
	}
	return n;
}

KERNEL(merge)
{
	const uint32_t *a = room->sorted, *b = room->sorted + N / 2, *a_end = b, *b_end = a + N;
	uint32_t *out = room->work;

	/* Both halves are ascending; by every second number they are mixed well. */
	while (a < a_end && b < b_end)
		*out++ = (*a * 2654435761U) <= (*b * 2246822519U) ? *a++ : *b++;
	return (uint64_t)(out - room->work);
}

/* From the root of a tree in an array to a leaf. */
KERNEL(descent)
{
	uint64_t sum = 0;

	for (int i = 0; i < 256; i++) {
		uint32_t key = room->words[i], at = 1;

		while (at < N)
			at = 2 * at + (room->order[at] * 2097152U < key);
		sum += at;
	}
	return sum;
}

KERNEL(sum_of_fields)
{
	uint64_t sum = 0;

	for (int k = 0; k < 4; k++)
		for (int i = 0; i < 256; i++)
			sum += room->nodes[i].value;
	return sum;
}

KERNEL(union_find)
{
	uint32_t *parent = room->work;
	uint64_t sum = 0;

	for (int i = 0; i < N; i++)
		parent[i] = (uint32_t)i;
	for (int i = 0; i + 1 < N; i += 2) {
		uint32_t a = room->order[i], b = room->order[i + 1];

		while (parent[a] != a)
			a = parent[a];
		while (parent[b] != b)
			b = parent[b];
		parent[a > b ? a : b] = a > b ? b : a;
		sum += a;
	}
	return sum;
}

KERNEL(sieve)
{
	uint8_t *out = room->out;

	for (int i = 0; i < 4096; i++)
		out[i] = 1;
	for (int i = 2; i < 64; i++)
		if (out[i])
			for (int k = i * i; k < 4096; k += i)
				out[k] = 0;
	return 0;
}

const struct kernel kernels_structures[] = {
	KERNEL_ROW(search_by_branches, 256 * 11, "step"),
	KERNEL_ROW(search_by_moves, 256 * 11, "step"),
	KERNEL_ROW(list, 1024, "node"),
	KERNEL_ROW(list_far, 2048, "node"),
	KERNEL_ROW(table_look_up, N, "look-up"),
	KERNEL_ROW(histogram, KERNEL_TEXT, "byte"),
	KERNEL_ROW(histogram_same, 2048, "count"),
	KERNEL_ROW(gather, N, "word"),
	KERNEL_ROW(scatter, N, "word"),
	KERNEL_ROW(radix_step, N, "word"),
	KERNEL_ROW(insertion_sort, 64, "word"),
	KERNEL_ROW(partition, N, "word"),
	KERNEL_ROW(merge, N, "word"),
	KERNEL_ROW(descent, 256 * 11, "level"),
	KERNEL_ROW(sum_of_fields, 1024, "node"),
	KERNEL_ROW(union_find, N / 2, "pair"),
	KERNEL_ROW(sieve, 4096, "number"),
	{ NULL },
};
