/* SPDX-License-Identifier: MIT */
/* A piece of text that is not its own string: what is read is cut, and nothing is copied. */
#ifndef GUS_BASE_SPAN_H
#define GUS_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

struct gus_span {
	const char *text;       /* borrowed; may be NULL where there is none */
	size_t size;
};

/* What is before the first mark, which is taken with it; the rest if there is none. */
struct gus_span gus_span_cut(struct gus_span *rest, char mark);
/* Whether it is that word; where there is no text it is none. */
bool gus_span_is(struct gus_span s, const char *word);

#endif
