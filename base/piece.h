/* SPDX-License-Identifier: MIT */
/* A piece of text that is not its own string: what is read is cut, and nothing is copied. */
#ifndef GUS_BASE_PIECE_H
#define GUS_BASE_PIECE_H

#include <stdbool.h>
#include <stddef.h>

struct gus_piece {
	const char *text;       /* borrowed; may be NULL where there is none */
	size_t size;
};

/* What is before the first mark, which is taken with it; the rest if there is none. */
struct gus_piece gus_piece_cut(struct gus_piece *rest, char mark);
/* Whether it is that word; where there is no text it is none. */
bool gus_piece_is(struct gus_piece s, const char *word);

#endif
