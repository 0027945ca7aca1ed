/* SPDX-License-Identifier: MIT */
/* The figures of rows and classes: numbers behind keywords, up to the source that they are from. */
#include "model/tables/uarch.h"
#include "model/tables/uarch_parse.h"

#include <stddef.h>
#include <string.h>

/* "GROUP:CYCLES" as a use of what is among keys, whose numbers are ids (NULL: the key's own). */
static int use(struct gus_uarch_parser *p, struct gus_token t, const struct gus_keys *k, const uint32_t *ids,
	       const char *what, struct gus_uarch_use *out)
{
	const char *colon = t.text ? memchr(t.text, ':', t.size) : NULL, *at, *end;
	struct gus_token before = { t.text, colon ? (size_t)(colon - t.text) : 0, false };
	uint32_t string, number;

	if (!colon)
		return gus_parse_wrong(p, "expected %s:CYCLES, found '%.*s'", what, GUS_SHOW(t));
	string = gus_parse_name(p, before, what);
	if (!string)
		return -1;
	number = gus_keys_find(k, string);
	if (number == GUS_INDEX_NONE)
		return gus_parse_wrong(p, "there is no %s %s", what, gus_parse_string(p, string));
	out->group = ids ? ids[number] : number;
	at = colon + 1;
	end = t.text + t.size;
	if (!gus_parse_centi(&at, end, GUS_UARCH_COUNT_MAX, &out->cycles) || at != end)
		return gus_parse_wrong(p, "'%.*s' has no number of cycles", GUS_SHOW(t));
	return 0;
}

/* The words after `uses` or `exclusive`, up to one without a colon, which is left to be read. */
static int use_words(struct gus_uarch_parser *p, const struct gus_keys *k, const uint32_t *ids, const char *what,
		     uint32_t *first, uint32_t *n)
{
	*first = (uint32_t)p->use_list.n;
	*n = 0;
	for (;;) {
		const char *before = p->at;
		struct gus_uarch_use one;
		struct gus_token t = gus_parse_next(p);

		if (!t.text || !memchr(t.text, ':', t.size)) {
			p->at = before;
			return *n ? 0 : gus_parse_wrong(p, "expected %s:CYCLES, found '%.*s'", what, GUS_SHOW(t));
		}
		if (use(p, t, k, ids, what, &one) != 0)
			return -1;
		gus_vec_push(&p->use_list, one);
		(*n)++;
	}
}

int gus_parse_groups(struct gus_uarch_parser *p, uint32_t *first, uint32_t *n)
{
	return use_words(p, &p->groups, p->group_ids.v, "group", first, n);
}

/* A use without uops of the row is as many as it has cycles; and there may be many uses. */
int gus_parse_check_uses(struct gus_uarch_parser *p, uint32_t first, uint32_t n, uint32_t uops)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all += gus_uarch_use_uops(&p->use_list.v[first + i], uops);
	return all <= GUS_UARCH_UOPS_MAX ? 0 :
		gus_parse_wrong(p, "its uses are %llu uops, which are more than any instruction has",
				(unsigned long long)all);
}

/* "0", "m0" or "a0" from *at. */
static bool operand(const char **at, const char *end, uint8_t *kind, uint8_t *number)
{
	uint32_t value;
	char first = *at < end ? **at : '\0';

	*kind = first == 'm' ? GUS_UARCH_MEMORY : first == 'a' ? GUS_UARCH_ADDRESS : GUS_UARCH_REGISTER;
	*at += *kind != GUS_UARCH_REGISTER;
	if (!gus_parse_digits(at, end, &value) || value >= GUS_UARCH_OPERANDS)
		return false;
	*number = (uint8_t)value;
	return true;
}

static bool mark(const char **at, const char *end, char c)
{
	return *at < end && *(*at)++ == c;
}

static int pair(struct gus_uarch_parser *p, struct gus_token t, struct gus_uarch_pair *out)
{
	const char *at = t.text, *end = t.text + t.size;

	if (operand(&at, end, &out->from_kind, &out->from) && mark(&at, end, '>') &&
	    operand(&at, end, &out->to_kind, &out->to) && out->to_kind != GUS_UARCH_ADDRESS && mark(&at, end, ':') &&
	    gus_parse_centi(&at, end, GUS_UARCH_CYCLES_MAX, &out->cycles) && at == end)
		return 0;
	return gus_parse_wrong(p, "expected FROM>TO:CYCLES such as 0>1:3 or m0>0:5, found '%.*s'", GUS_SHOW(t));
}

/* The words after `pairs`, up to one that has no mark of a pair. */
static int pair_words(struct gus_uarch_parser *p, struct gus_uarch_row *row)
{
	/* a bit for each target: there are 2 * 32 */
	uint64_t seen[GUS_UARCH_OPERAND_KINDS * GUS_UARCH_OPERANDS] = { 0 };

	if (row->pairs_n)
		return gus_parse_wrong(p, "pairs is there twice");
	row->pairs = (uint32_t)p->pair_list.n;
	for (;;) {
		const char *before = p->at;
		struct gus_token t = gus_parse_next(p);
		struct gus_uarch_pair one;
		uint64_t *from, to;

		if (!t.text || t.quoted || !(memchr(t.text, '>', t.size) || memchr(t.text, ':', t.size))) {
			p->at = before;
			return row->pairs_n ? 0 : gus_parse_wrong(p, "expected FROM>TO:CYCLES, found '%.*s'",
								  GUS_SHOW(t));
		}
		if (pair(p, t, &one) != 0)
			return -1;
		from = &seen[one.from_kind * GUS_UARCH_OPERANDS + one.from];
		to = UINT64_C(1) << (one.to_kind * GUS_UARCH_OPERANDS + one.to);
		if (*from & to)
			return gus_parse_wrong(p, "the pair of '%.*s' is there twice", GUS_SHOW(t));
		*from |= to;
		gus_vec_push(&p->pair_list, one);
		row->pairs_n++;
	}
}

/* What a row may say behind its latency, in any order. */
#define AT(field) offsetof(struct gus_uarch_row, field)
static const struct figure {
	const char *word;
	enum { COUNT, CYCLES, FLAG, GROUPS, UNITS, PAIRS, RANGE } kind;
	size_t at;
	const char *what;
} optional[] = {
	{ "uses", GROUPS, 0, NULL },
	{ "fused", COUNT, AT(fused), "uops" },
	{ "loadlat", CYCLES, AT(loadlat), "latency from the address" },
	{ "decoded", COUNT, AT(decoded), "uops" },
	{ "microcoded", COUNT, AT(microcoded), "uops" },
	{ "complex", FLAG, AT(complex), NULL },
	{ "pairs", PAIRS, 0, NULL },
	{ "exclusive", UNITS, 0, NULL },
	{ "range", RANGE, 0, "range" },
	{ "guessed", FLAG, AT(guessed), NULL },
};

static int lo_hi(struct gus_uarch_parser *p, const char *what, uint32_t *lo, uint32_t *hi)
{
	struct gus_token t = gus_parse_next(p);
	const char *at = t.text, *end = t.text ? t.text + t.size : NULL;

	if (!t.text || !gus_parse_centi(&at, end, GUS_UARCH_CYCLES_MAX, lo))
		return gus_parse_wrong(p, "expected the %s as LO-HI, found '%.*s'", what, GUS_SHOW(t));
	*hi = *lo;
	if (at < end && *at == '-') {
		at++;
		if (!gus_parse_centi(&at, end, GUS_UARCH_CYCLES_MAX, hi))
			at = NULL;
	}
	return at == end && *lo <= *hi ? 0 : gus_parse_wrong(p, "'%.*s' is not LO-HI", GUS_SHOW(t));
}

/* The latency that stands before it is one of them. */
static int latency_range(struct gus_uarch_parser *p, struct gus_uarch_row *row)
{
	if (lo_hi(p, "range", &row->least, &row->most) != 0)
		return -1;
	if (!row->least || row->latency < row->least || row->latency > row->most)
		return gus_parse_wrong(p, "the latency does not lie in the range that it has");
	return 0;
}

static int figure(struct gus_uarch_parser *p, const struct figure *f, struct gus_uarch_row *row)
{
	void *field = (char *)row + f->at;

	switch (f->kind) {
	case COUNT:
		return gus_parse_count(p, f->what, field);
	case CYCLES:
		return gus_parse_cycles(p, f->what, field);
	case FLAG:
		*(bool *)field = true;
		return 0;
	case GROUPS:
		return gus_parse_groups(p, &row->uses, &row->uses_n);
	case UNITS:
		return use_words(p, &p->units, NULL, "unit", &row->units, &row->units_n);
	case RANGE:
		return latency_range(p, row);
	case PAIRS:
		break;
	}
	return pair_words(p, row);
}

static const struct figure *find_figure(struct gus_token t)
{
	for (size_t i = 0; i < sizeof(optional) / sizeof(*optional); i++)
		if (gus_token_is(t, optional[i].word))
			return &optional[i];
	return NULL;
}

int gus_parse_figures(struct gus_uarch_parser *p, struct gus_uarch_row *row)
{
	const struct figure *f;
	struct gus_token t;

	if (gus_parse_count(p, "uops", &row->uops) != 0)
		return -1;
	t = gus_parse_next(p);
	if (!gus_token_is(t, "latency"))
		return gus_parse_wrong(p, "expected latency, found '%.*s'", GUS_SHOW(t));
	if (gus_parse_cycles(p, "latency", &row->latency) != 0)
		return -1;
	for (t = gus_parse_next(p); (f = find_figure(t)); t = gus_parse_next(p))
		if (figure(p, f, row) != 0)
			return -1;
	if (gus_parse_check_uses(p, row->uses, row->uses_n, row->uops) != 0)
		return -1;
	if (!gus_token_is(t, "source"))
		return gus_parse_wrong(p, "expected source, found '%.*s'", GUS_SHOW(t));
	return gus_parse_source(p, gus_parse_next(p), &row->source) == 0 ? gus_parse_end(p) : -1;
}

int gus_parse_range(struct gus_uarch_parser *p, const char *word, uint32_t *lo, uint32_t *hi)
{
	struct gus_token t = gus_parse_next(p);

	if (!gus_token_is(t, word))
		return gus_parse_wrong(p, "expected %s, found '%.*s'", word, GUS_SHOW(t));
	return lo_hi(p, word, lo, hi);
}
