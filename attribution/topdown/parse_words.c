/* SPDX-License-Identifier: MIT */
/* What lines of a table are made of: words, texts in quotes, numbers, and the message that says where one is wrong. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/topdown/parse.h"
#include "base/error.h"

enum { NUMBER_MOST = 32 };

int gus_topdown_wrong(struct gus_topdown_reader *r, const char *format, ...)
{
	char text[300];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return gus_fail(r->err, GUS_E_CORRUPT, "cannot read the top-down table %s, line %u: %s", r->name, r->line,
			text);
}

void gus_topdown_skip_blanks(struct gus_piece *s)
{
	while (s->size && (*s->text == ' ' || *s->text == '\t')) {
		s->text++;
		s->size--;
	}
}

struct gus_piece gus_topdown_word(struct gus_topdown_reader *r)
{
	struct gus_piece word;

	gus_topdown_skip_blanks(&r->rest);
	word = (struct gus_piece){ r->rest.text, 0 };
	while (r->rest.size && *r->rest.text != ' ' && *r->rest.text != '\t') {
		r->rest.text++;
		r->rest.size--;
		word.size++;
	}
	return word;
}

/* "Text", which the caller frees, or NULL with an error. */
char *gus_topdown_text(struct gus_topdown_reader *r)
{
	const char *close;
	struct gus_piece text;

	gus_topdown_skip_blanks(&r->rest);
	close = r->rest.size > 1 && *r->rest.text == '"' ? memchr(r->rest.text + 1, '"', r->rest.size - 1) : NULL;
	if (!close) {
		gus_topdown_wrong(r, "a text in quotes is missing");
		return NULL;
	}
	text = (struct gus_piece){ r->rest.text + 1, (size_t)(close - r->rest.text) - 1 };
	r->rest = (struct gus_piece){ close + 1, (size_t)(r->rest.text + r->rest.size - close) - 1 };
	return gus_strndup(text.text, text.size);
}

int gus_topdown_number_of(struct gus_topdown_reader *r, struct gus_piece word, double *number)
{
	char text[NUMBER_MOST], *end;

	if (!word.size || word.size >= sizeof(text) || strchr("0123456789", *word.text) == NULL)
		return gus_topdown_wrong(r, "a number is missing");
	memcpy(text, word.text, word.size);
	text[word.size] = '\0';
	*number = strncmp(text, "0x", 2) == 0 ? (double)strtoul(text, &end, 16) : strtod(text, &end);
	return *end || !isfinite(*number) ? gus_topdown_wrong(r, "'%s' is no number", text) : 0;
}

int gus_topdown_number(struct gus_topdown_reader *r, double most, double *number)
{
	if (gus_topdown_number_of(r, gus_topdown_word(r), number) != 0)
		return -1;
	return *number > most ? gus_topdown_wrong(r, "%g is more than %g", *number, most) : 0;
}

int gus_topdown_whole(struct gus_topdown_reader *r, uint32_t most, uint32_t *number)
{
	double value;

	if (gus_topdown_number(r, most, &value) != 0)
		return -1;
	*number = (uint32_t)value;
	return 0;
}

bool gus_topdown_is_name(struct gus_piece word)
{
	for (size_t i = 0; i < word.size; i++)
		if (!((word.text[i] >= 'a' && word.text[i] <= 'z') || word.text[i] == '_' ||
		      (i && word.text[i] >= '0' && word.text[i] <= '9')))
			return false;
	return word.size > 0 && word.size < 64;
}
