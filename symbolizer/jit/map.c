/* SPDX-License-Identifier: MIT */
/* A perf map: lines of "ADDRESS SIZE NAME", both numbers in hex, with or without 0x, and the name up to the end of the
 * line. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "symbolizer/jit/jit.h"

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A number and the blank behind it; false if there is none, or it does not fit. */
static bool take_number(struct gus_piece *rest, uint64_t *value)
{
	struct gus_piece word = gus_piece_cut(rest, ' ');
	size_t at = word.size > 2 && word.text[0] == '0' && (word.text[1] | 0x20) == 'x' ? 2 : 0;

	*value = 0;
	if (at == word.size || word.size - at > 16)
		return false;
	for (; at < word.size; at++) {
		int digit = digit_of(word.text[at]);

		if (digit < 0)
			return false;
		*value = *value << 4 | (uint64_t)digit;
	}
	return true;
}

static void take_line(struct gus_jit *j, struct gus_piece line, uint64_t told)
{
	struct gus_jit_piece p = { .told = told, .origin = (uint32_t)j->pieces.n };
	uint64_t end;

	if (!line.size)
		return;
	if (line.text[line.size - 1] == '\r')
		line.size--;
	if (!take_number(&line, &p.address) || !take_number(&line, &p.size) || !line.size ||
	    line.size > GUS_LIMIT_NAME || memchr(line.text, '\0', line.size) ||
	    p.size > GUS_LIMIT_FUNCTION || __builtin_add_overflow(p.address, p.size, &end)) {
		j->bad++;
		return;
	}
	if (!p.size) /* a place rather than code */
		return;
	if (j->pieces.n >= GUS_LIMIT_JIT_PIECES) {
		j->left_out++;
		return;
	}
	p.name = line;
	gus_vec_push(&j->pieces, p);
}

void gus_jit_read_map(struct gus_jit *j, const void *bytes, size_t size)
{
	const char *text = bytes, *at = text, *end = text + size;

	/* A last line without its end is still being written. */
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			break;
		take_line(j, (struct gus_piece){ at, (size_t)(stop - at) }, (uint64_t)(at - text));
		at = stop + 1;
	}
}

void gus_jit_free(struct gus_jit *j)
{
	gus_vec_free(&j->pieces);
	gus_vec_free(&j->lines);
}
