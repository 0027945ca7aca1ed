/* SPDX-License-Identifier: MIT */
#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64 /* letters; longer words are no words of ours */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Damerau's and Levenshtein's distance, but that no place is changed twice (optimal string alignment): row i has the
 * distances of the first i letters of a to all beginnings of b, and needs the two rows before it. */
static unsigned distance(const char *a, size_t a_n, const char *b, size_t b_n)
{
	unsigned rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= b_n; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_n; i++) {
		unsigned *row = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_n; j++) {
			row[j] = least(before[j - 1] + !same(a[i - 1], b[j - 1]), least(before[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = least(row[j], earlier[j - 2] + 1);
		}
	}
	return rows[a_n % 3][b_n];
}

struct best { const char *word; size_t length; unsigned mistakes; };

static void consider(struct best *best, const char *word, size_t word_n, const char *other, size_t n)
{
	unsigned most = (unsigned)(word_n + 2) / 3, mistakes;

	if (!n || n > WORD_MAX || word_n > WORD_MAX || n > word_n + most || word_n > n + most)
		return;
	mistakes = distance(word, word_n, other, n);
	/* As many mistakes as letters is another word, however short both are. */
	if (mistakes <= most && mistakes < n && mistakes < word_n && (!best->word || mistakes < best->mistakes))
		*best = (struct best){ other, n, mistakes };
}

const char *gus_suggest(const char *word, const char *const *list, size_t n)
{
	struct best best = { 0 };
	size_t length = strlen(word);

	for (size_t i = 0; i < n; i++)
		if (list[i])
			consider(&best, word, length, list[i], strlen(list[i]));
	return best.word;
}

void gus_suggest_among(const char *word, const char *words, char *out, size_t room)
{
	struct best best = { 0 };
	size_t length = strlen(word);

	for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
		size_t n = strcspn(words, " ");

		consider(&best, word, length, words, n);
		words += n;
	}
	snprintf(out, room, "%.*s", (int)best.length, best.word ? best.word : "");
}

void gus_suggest_format(const char *word, char *out, size_t room)
{
	if (word && *word)
		snprintf(out, room, "; did you mean '%s'?", word);
	else
		*out = '\0';
}
