/* SPDX-License-Identifier: MIT */
/* Keys by looking through what is sorted, sorting by the library, a machine by functions. */
#include <stdlib.h>

#include "base/ascending.h"
#include "../suite.h"

struct pair {
	uint64_t key, value;
};

static int by_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* The value of each key that is asked, 0 where it is not among the pairs. */
static void answer(uint64_t *answers, const uint64_t *asked, long n, struct pair *pairs, size_t count)
{
	qsort(pairs, count, sizeof(*pairs), by_key);
	for (long i = 0; i < n; i++) {
		struct pair wanted = { asked[i], 0 }, *found = bsearch(&wanted, pairs, count, sizeof(*pairs), by_key);

		answers[i] = found ? found->value : 0;
	}
}

static struct pair *pairs_of(size_t n)
{
	struct pair *pairs = malloc(n * sizeof(*pairs));

	if (!pairs)
		abort();
	return pairs;
}

SUITE(hash)
{
	const uint64_t *keys = room->array[0], *values = room->array[1];
	struct pair *pairs = pairs_of((size_t)room->n);
	size_t count = 0;

	for (long i = 0; i < room->n; i++)
		if (keys[i])
			pairs[count++] = (struct pair){ keys[i], values[i] };
	answer(room->array[3], room->array[2], room->n, pairs, count);
	free(pairs);
	return 0;
}

SUITE(btree)
{
	const uint64_t *keys = room->array[0];
	long n = 15 * room->n;
	struct pair *pairs = pairs_of((size_t)n);

	for (long i = 0; i < n; i++)
		pairs[i] = (struct pair){ keys[i], (uint64_t)i + 1 };
	answer(room->array[3], room->array[2], room->n, pairs, (size_t)n);
	free(pairs);
	return 0;
}

SUITE(quicksort)
{
	const uint32_t *in = room->array[0];
	uint32_t *out = room->array[1];

	for (long i = 0; i < room->n; i++)
		out[i] = in[i];
	qsort(out, (size_t)room->n, sizeof(*out), gus_ascending_u32);
	return 0;
}

struct machine {
	uint32_t *memory, *r;
	uint64_t words;
	long at;
};

static uint32_t *place(struct machine *m, uint32_t a, uint32_t number)
{
	return m->memory + ((uint64_t)(uint32_t)(a + number) * m->words >> 32);
}

static void add(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number)
{
	(void)number;
	m->r[to] = a + b;
}

static void subtract(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number)
{
	m->r[to] = a + number - b;
}

static void times(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number)
{
	(void)number;
	m->r[to] = a * (b | 1);
}

static void differ(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number)
{
	(void)b;
	m->r[to] = a ^ number;
}

static void rotate(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number)
{
	uint64_t twice = (uint64_t)a << 32 | a;

	(void)b;
	m->r[to] = (uint32_t)(twice << number % 32 >> 32);
}

static void load(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number)
{
	(void)b;
	m->r[to] = *place(m, a, number);
}

static void store(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number)
{
	(void)to;
	*place(m, a, number) = b;
}

static void pass_over(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number)
{
	(void)to, (void)number;
	if (a < b)
		m->at++;
}

typedef void operation(struct machine *m, int to, uint32_t a, uint32_t b, uint32_t number);

SUITE(interpreter)
{
	static operation *const operations[] = { add, subtract, times, differ, rotate, load, store, pass_over };
	const uint32_t *code = room->array[0];
	struct machine m = { room->array[1], room->array[2], (uint64_t)room->n, 0 };

	for (uint32_t i = 0; i < 16; i++)
		m.r[i] = i * 0x9e3779b1;
	for (; m.at < room->n; m.at++) {
		uint32_t word = code[m.at];

		operations[word % 8](&m, word / 16 % 16, m.r[word / 256 % 16], m.r[word / 4096 % 16], word / 65536);
	}
	return 0;
}

SUITE(transpose)
{
	const double *a = room->array[0];
	double *b = room->array[1];

	for (long i = 0; i < room->n * room->n; i++)
		b[i % room->n * room->n + i / room->n] = a[i];
	return 0;
}
