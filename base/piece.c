/* SPDX-License-Identifier: MIT */
#include "base/piece.h"

#include <string.h>

struct gus_piece gus_piece_cut(struct gus_piece *rest, char mark)
{
	const char *at = rest->size ? memchr(rest->text, mark, rest->size) : NULL;
	struct gus_piece first = { rest->text, at ? (size_t)(at - rest->text) : rest->size };

	rest->text += first.size + (at != NULL);
	rest->size -= first.size + (at != NULL);
	return first;
}

bool gus_piece_is(struct gus_piece s, const char *word)
{
	return s.text && s.size == strlen(word) && memcmp(s.text, word, s.size) == 0;
}
