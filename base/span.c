/* SPDX-License-Identifier: MIT */
#include "base/span.h"

#include <string.h>

struct gus_span gus_span_cut(struct gus_span *rest, char mark)
{
	const char *at = rest->size ? memchr(rest->text, mark, rest->size) : NULL;
	struct gus_span first = { rest->text, at ? (size_t)(at - rest->text) : rest->size };

	rest->text += first.size + (at != NULL);
	rest->size -= first.size + (at != NULL);
	return first;
}

bool gus_span_is(struct gus_span s, const char *word)
{
	return s.text && s.size == strlen(word) && memcmp(s.text, word, s.size) == 0;
}
