/* SPDX-License-Identifier: MIT */
/* What lines of a table are made of: words, names, texts and numbers, the keys that are defined with them, and the
 * message that says where a line goes wrong. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/tables/uarch.h"
#include "model/tables/uarch_parse.h"
#include "model/tables/uarch_private.h"

int gus_parse_wrong(struct gus_uarch_parser *p, const char *format, ...)
{
	char text[400];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return gus_fail(p->err, GUS_E_CORRUPT, "cannot read the table %s, line %u: %s", p->file_list.v[p->file],
			p->line, text);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct gus_token gus_parse_next(struct gus_uarch_parser *p)
{
	struct gus_token t = { NULL, 0, false };

	while (p->at < p->end && blank(*p->at))
		p->at++;
	if (p->at == p->end || *p->at == '#') {
		p->at = p->end;
		return t;
	}
	if (*p->at == '"') {
		const char *close = memchr(p->at + 1, '"', (size_t)(p->end - p->at - 1));

		t.text = p->at + 1;
		t.quoted = true;
		t.size = (size_t)((close ? close : p->end) - t.text);
		p->at = close ? close + 1 : p->end;
		return t;
	}
	t.text = p->at;
	while (p->at < p->end && !blank(*p->at))
		p->at++;
	t.size = (size_t)(p->at - t.text);
	return t;
}

bool gus_token_is(struct gus_token t, const char *word)
{
	return t.text && !t.quoted && t.size == strlen(word) && memcmp(t.text, word, t.size) == 0;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.-+", c));
}

const char *gus_parse_string(const struct gus_uarch_parser *p, uint32_t string)
{
	return gus_strings_get(&p->u->own->strings, string);
}

uint32_t gus_parse_intern(struct gus_uarch_parser *p, struct gus_token t)
{
	return gus_strings_add_n(&p->u->own->strings, t.text, t.size);
}

uint32_t gus_parse_name(struct gus_uarch_parser *p, struct gus_token t, const char *what)
{
	bool good = t.text && !t.quoted && t.size > 0;

	for (size_t i = 0; good && i < t.size; i++)
		good = name_char(t.text[i]);
	if (good)
		return gus_parse_intern(p, t);
	gus_parse_wrong(p, "expected %s, found '%.*s'", what, GUS_SHOW(t));
	return 0;
}

uint32_t gus_parse_quoted(struct gus_uarch_parser *p, const char *what, int *status)
{
	struct gus_token t = gus_parse_next(p);

	if (t.quoted && t.size) {
		*status = 0;
		return gus_parse_intern(p, t);
	}
	*status = gus_parse_wrong(p, "expected %s in quotes, found '%.*s'", what, GUS_SHOW(t));
	return 0;
}

int gus_parse_end(struct gus_uarch_parser *p)
{
	struct gus_token t = gus_parse_next(p);

	return t.text ? gus_parse_wrong(p, "'%.*s' is too much", GUS_SHOW(t)) : 0;
}

bool gus_parse_digits(const char **at, const char *end, uint32_t *value)
{
	const char *start = *at;

	*value = 0;
	while (*at < end && **at >= '0' && **at <= '9' && *at - start < 9)
		*value = *value * 10 + (uint32_t)(*(*at)++ - '0');
	return *at > start;
}

bool gus_parse_centi(const char **at, const char *end, uint32_t most, uint32_t *value)
{
	uint32_t whole;
	unsigned scale = GUS_UARCH_CENTI;

	if (!gus_parse_digits(at, end, &whole) || whole > most)
		return false;
	*value = whole * GUS_UARCH_CENTI;
	if (*at < end && **at == '.')
		for ((*at)++; *at < end && **at >= '0' && **at <= '9' && scale > 1; (*at)++)
			*value += (uint32_t)(**at - '0') * (scale /= 10);
	return true;
}

int gus_parse_count(struct gus_uarch_parser *p, const char *what, uint32_t *value)
{
	struct gus_token t = gus_parse_next(p);
	const char *at = t.text;

	if (!t.text || !gus_parse_digits(&at, t.text + t.size, value) || at != t.text + t.size)
		return gus_parse_wrong(p, "expected a number of %s, found '%.*s'", what, GUS_SHOW(t));
	return *value <= GUS_UARCH_UOPS_MAX ? 0 :
		gus_parse_wrong(p, "'%.*s' are more %s than any instruction has", GUS_SHOW(t), what);
}

int gus_parse_cycles(struct gus_uarch_parser *p, const char *what, uint32_t *value)
{
	struct gus_token t = gus_parse_next(p);
	const char *at = t.text;

	if (t.text && gus_parse_centi(&at, t.text + t.size, GUS_UARCH_CYCLES_MAX, value) && at == t.text + t.size)
		return 0;
	return gus_parse_wrong(p, "expected the %s in cycles, found '%.*s'", what, GUS_SHOW(t));
}

/* Keys. */

void gus_keys_init(struct gus_keys *k, size_t size)
{
	gus_index_init(&k->ix, size);
}

void gus_keys_free(struct gus_keys *k)
{
	gus_index_free(&k->ix);
	gus_vec_free(&k->layer);
}

uint32_t gus_parse_define(struct gus_uarch_parser *p, struct gus_keys *k, const void *key, bool *fresh,
			  const char *what, const char *shown)
{
	uint32_t n = gus_index_add(&k->ix, key, fresh);

	if (*fresh) {
		gus_vec_push(&k->layer, p->layer);
		return n;
	}
	if (k->layer.v[n] == p->layer) {
		gus_parse_wrong(p, "the %s %s is there twice", what, shown);
		return GUS_UARCH_NONE;
	}
	k->layer.v[n] = p->layer;
	return n;
}

uint32_t gus_keys_find(const struct gus_keys *k, uint32_t string)
{
	return gus_index_find(&k->ix, &string);
}

int gus_parse_source(struct gus_uarch_parser *p, struct gus_token t, uint32_t *number)
{
	uint32_t id = gus_parse_name(p, t, "the ID of a source");

	if (!id)
		return -1;
	*number = gus_keys_find(&p->sources, id);
	return *number == GUS_INDEX_NONE ? gus_parse_wrong(p, "there is no source %s", gus_parse_string(p, id)) : 0;
}
