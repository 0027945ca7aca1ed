/* SPDX-License-Identifier: MIT */
#include "cli/common/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

void gus_lines_bytes(struct gus_lines *l, const char *bytes, size_t n)
{
	gus_vec_append(l, bytes, n);
}

void gus_lines_word(struct gus_lines *l, const char *word)
{
	gus_lines_bytes(l, word, strlen(word));
}

static void fill(struct gus_lines *l, size_t n, size_t width, char with)
{
	for (; n < width; n++)
		gus_vec_push(l, with);
}

void gus_lines_text(struct gus_lines *l, const char *text, size_t width)
{
	char *clean = gus_strdup(text);

	gus_text_clean(clean);
	fill(l, strlen(clean), width, ' ');
	gus_lines_word(l, clean);
	free(clean);
}

static size_t digits_of(uint64_t number, unsigned base, char digits[20])
{
	size_t n = 0;

	do
		digits[19 - n++] = "0123456789abcdef"[number % base];
	while (number /= base);
	return n;
}

void gus_lines_hex(struct gus_lines *l, uint64_t number, size_t width)
{
	char digits[20];
	size_t n = digits_of(number, 16, digits);

	fill(l, n, width, ' ');
	gus_lines_bytes(l, digits + 20 - n, n);
}

void gus_lines_number(struct gus_lines *l, uint64_t number, size_t width, char with)
{
	char digits[20];
	size_t n = digits_of(number, 10, digits);

	fill(l, n, width, with);
	gus_lines_bytes(l, digits + 20 - n, n);
}

void gus_lines_padded(struct gus_lines *l, uint64_t number, int width)
{
	size_t before = l->n;

	gus_lines_number(l, number, width > 0 ? (size_t)width : 0, ' ');
	if (width < 0)
		fill(l, l->n - before, (size_t)-width, ' ');
}

void gus_lines_flush(struct gus_lines *l)
{
	if (l->n)
		fwrite(l->v, 1, l->n, stdout);
	l->n = 0;
}
