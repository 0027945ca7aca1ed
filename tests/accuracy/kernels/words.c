/* SPDX-License-Identifier: MIT */
/* Branchy code with the C library in it: words are made up, counted in a table with chains, sorted, and searched
 * for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1024, WORDS = 20000 };

struct word { struct word *next; unsigned count; char text[12]; };

static struct word pool[WORDS], *table[SLOTS], *sorted[WORDS];
static unsigned used, seed = 1;

static unsigned draw(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static void make(char *text)
{
	unsigned n = 2 + draw(4);

	for (unsigned i = 0; i < n; i++)
		text[i] = (char)('a' + draw(i % 2 ? 5 : 20));
	text[n] = '\0';
}

static unsigned hash(const char *text)
{
	unsigned h = 5381;

	while (*text)
		h = h * 33 ^ (unsigned char)*text++;
	return h % SLOTS;
}

static void count(const char *text)
{
	struct word **at = &table[hash(text)];

	for (; *at; at = &(*at)->next)
		if (strcmp((*at)->text, text) == 0) {
			(*at)->count++;
			return;
		}
	*at = &pool[used++];
	(*at)->count = 1;
	strcpy((*at)->text, text);
}

static int by_count(const void *a, const void *b)
{
	const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;

	return x->count != y->count ? x->count < y->count ? 1 : -1 : strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp((*(struct word *const *)a)->text, (*(struct word *const *)b)->text);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1, found = 0;
	char text[12];

	for (unsigned round = 0; round < rounds; round++) {
		memset(table, 0, sizeof(table));
		used = 0;
		for (unsigned i = 0; i < WORDS; i++) {
			make(text);
			count(text);
		}
		for (unsigned i = 0; i < used; i++)
			sorted[i] = &pool[i];
		qsort(sorted, used, sizeof(*sorted), by_count);
		found += sorted[0]->count;
		qsort(sorted, used, sizeof(*sorted), by_text);
		for (unsigned i = 0; i < WORDS / 4; i++) {
			struct word key, *pointer = &key;

			make(key.text);
			found += bsearch(&pointer, sorted, used, sizeof(*sorted), by_text) != NULL;
		}
	}
	printf("%u\n", found);
	return 0;
}
