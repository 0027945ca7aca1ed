/* SPDX-License-Identifier: MIT */
/* A join of two tables by hashing: `hashjoin PASSES`. 2^17 rows are put into chains, 2^19 look for theirs, of which a
 * half is there; 5 MiB of rows and heads, so that most steps miss a cache. */
#include <string.h>

#include "chance.h"

enum { BUILD = 1 << 17, PROBE = 1 << 19, HEADS = 1 << 17 };

struct row { uint64_t key; uint32_t value, next; };
struct table { uint32_t *heads; struct row *rows; };

static uint32_t head_of(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15 >> 47);
}

/* Numbers of rows count from 1: 0 is the end of a chain. */
static void build(struct table *t)
{
	memset(t->heads, 0, HEADS * sizeof(*t->heads));
	for (uint32_t i = 1; i <= BUILD; i++) {
		uint32_t *head = &t->heads[head_of(t->rows[i].key)];

		t->rows[i].next = *head;
		*head = i;
	}
}

static uint64_t probe(const struct table *t, const uint64_t *keys)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < PROBE; i++)
		for (uint32_t r = t->heads[head_of(keys[i])]; r; r = t->rows[r].next)
			if (t->rows[r].key == keys[i])
				sum += t->rows[r].value;
	return sum;
}

int main(int argc, char **argv)
{
	struct table t = { chance_room(HEADS, sizeof(*t.heads)), chance_room(BUILD + 1, sizeof(*t.rows)) };
	uint64_t *keys = chance_room(PROBE, sizeof(*keys)), sum = 0;

	for (uint32_t i = 1; i <= BUILD; i++) {
		t.rows[i].key = chance();
		t.rows[i].value = i;
	}
	for (uint32_t i = 0; i < PROBE; i++)
		keys[i] = chance() & 1 ? t.rows[1 + chance_below(BUILD)].key : chance();
	for (unsigned left = chance_passes(argc, argv); left; left--) {
		build(&t);
		sum = sum * 31 + probe(&t, keys);
	}
	printf("hashjoin %llu\n", (unsigned long long)sum);
	free(t.heads);
	free(t.rows);
	free(keys);
	return 0;
}
