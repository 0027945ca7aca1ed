/* SPDX-License-Identifier: MIT */
/* Tables from text: the grammar of uarch.h. Each statement is a row of a table here; what is replaced by what is decided
 * by layers: a table, each table that it is like, and each overlay is one, and a key may be said once a layer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/index.h"
#include "model/uarch.h"
#include "model/uarch_private.h"

#define DEPTH_MAX 8            /* of likes and includes: deeper is a circle */
#define GROUP_BASE GUS_UARCH_PORTS_MAX /* while parsing, numbers of groups start here and ports are below */

struct token {
	const char *text;
	size_t size;
	bool quoted;
};

/* A key's number, and the layer that defined it last. */
struct keys {
	struct gus_index ix;
	struct gus_vec(uint32_t) layer;
};

struct parser {
	struct gus_uarch *u;
	const struct gus_uarch_texts *texts;
	struct gus_error *err;
	unsigned flags, depth;
	uint32_t layer, file, line;
	bool derived;          /* in a table that the one asked for is like */
	const char *at, *end;  /* the rest of the line */

	struct keys sources, units, groups, params, rows, opcodes, classes, forms;
	struct gus_index named; /* strings that forms go by, or went by before they were replaced */
	struct gus_vec(const char *) alias_list, like_list, file_list, unit_list;
	struct gus_vec(struct gus_uarch_source) source_list;
	struct gus_vec(struct gus_uarch_param) param_list;
	struct gus_vec(struct gus_uarch_group) port_list, group_list;
	struct gus_vec(uint32_t) group_ids;      /* by number of the key: a port's bit, or GROUP_BASE and up */
	struct gus_vec(struct gus_uarch_row) row_list;
	struct gus_vec(uint32_t) opcode_rows;    /* by number of the key */
	struct gus_vec(const char *) opcode_names;
	struct gus_vec(struct gus_uarch_class) class_list;
	struct gus_vec(struct gus_uarch_form) form_list;
	struct gus_vec(uint32_t) form_names;     /* string of what a form goes by, or 0 if it has its row */
	struct gus_vec(struct gus_uarch_use) use_list;
};

static int wrong(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int wrong(struct parser *p, const char *format, ...)
{
	char text[400];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return gus_fail(p->err, GUS_E_CORRUPT, "cannot read the table %s, line %u: %s", p->file_list.v[p->file], p->line, text);
}

/* Words. */

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; its text is NULL at the end. */
static struct token next(struct parser *p)
{
	struct token t = { NULL, 0, false };

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

static bool is(struct token t, const char *word)
{
	return t.text && !t.quoted && t.size == strlen(word) && memcmp(t.text, word, t.size) == 0;
}

#define SHOW(t) (int)((t).text ? ((t).size < 80 ? (t).size : 80) : 0), (t).text ? (t).text : ""

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.-+", c));
}

static const char *text_of(struct parser *p, uint32_t string)
{
	return gus_strings_get(&p->u->own->strings, string);
}

static uint32_t intern(struct parser *p, struct token t)
{
	return gus_strings_add_n(&p->u->own->strings, t.text, t.size);
}

/* A name, interned; 0 if there is none, and that was said. */
static uint32_t name(struct parser *p, struct token t, const char *what)
{
	bool good = t.text && !t.quoted && t.size > 0;

	for (size_t i = 0; good && i < t.size; i++)
		good = name_char(t.text[i]);
	if (good)
		return intern(p, t);
	wrong(p, "expected %s, found '%.*s'", what, SHOW(t));
	return 0;
}

static uint32_t quoted(struct parser *p, const char *what, int *status)
{
	struct token t = next(p);

	if (t.quoted && t.size) {
		*status = 0;
		return intern(p, t);
	}
	*status = wrong(p, "expected %s in quotes, found '%.*s'", what, SHOW(t));
	return 0;
}

static int at_end(struct parser *p)
{
	struct token t = next(p);

	return t.text ? wrong(p, "'%.*s' is too much", SHOW(t)) : 0;
}

/* Digits, at most nine, from *at. */
static bool digits(const char **at, const char *end, uint32_t *value)
{
	const char *start = *at;

	*value = 0;
	while (*at < end && **at >= '0' && **at <= '9' && *at - start < 9)
		*value = *value * 10 + (uint32_t)(*(*at)++ - '0');
	return *at > start;
}

/* A number with at most two decimals, in hundredths; false if it is none or too large. */
static bool centi(const char **at, const char *end, uint32_t *value)
{
	uint32_t whole;
	unsigned scale = GUS_UARCH_CENTI;

	if (!digits(at, end, &whole) || whole > 10000000)
		return false;
	*value = whole * GUS_UARCH_CENTI;
	if (*at < end && **at == '.')
		for ((*at)++; *at < end && **at >= '0' && **at <= '9' && scale > 1; (*at)++)
			*value += (uint32_t)(**at - '0') * (scale /= 10);
	return true;
}

static int count(struct parser *p, const char *what, uint32_t *value)
{
	struct token t = next(p);
	const char *at = t.text;

	if (t.text && digits(&at, t.text + t.size, value) && at == t.text + t.size)
		return 0;
	return wrong(p, "expected a number of %s, found '%.*s'", what, SHOW(t));
}

static int cycles(struct parser *p, const char *what, uint32_t *value)
{
	struct token t = next(p);
	const char *at = t.text;

	if (t.text && centi(&at, t.text + t.size, value) && at == t.text + t.size)
		return 0;
	return wrong(p, "expected the %s in cycles, found '%.*s'", what, SHOW(t));
}

/* Keys. */

static void keys_init(struct keys *k, size_t size)
{
	gus_index_init(&k->ix, size);
}

static void keys_free(struct keys *k)
{
	gus_index_free(&k->ix);
	gus_vec_free(&k->layer);
}

/* The number of a key that is defined now; *fresh if it had none. NONE if this layer had it already: that was said. */
static uint32_t define(struct parser *p, struct keys *k, const void *key, bool *fresh, const char *what, const char *shown)
{
	uint32_t n = gus_index_add(&k->ix, key, fresh);

	if (*fresh) {
		gus_vec_push(&k->layer, p->layer);
		return n;
	}
	if (k->layer.v[n] == p->layer) {
		wrong(p, "the %s %s is there twice", what, shown);
		return GUS_UARCH_NONE;
	}
	k->layer.v[n] = p->layer;
	return n;
}

static uint32_t find(const struct keys *k, uint32_t string)
{
	return gus_index_find(&k->ix, &string);
}

static int source(struct parser *p, struct token t, uint32_t *number)
{
	uint32_t id = name(p, t, "the ID of a source");

	if (!id)
		return -1;
	*number = find(&p->sources, id);
	return *number == GUS_INDEX_NONE ? wrong(p, "there is no source %s", text_of(p, id)) : 0;
}

/* Figures. */

/* "GROUP:CYCLES" as a use of what is among keys, whose numbers are ids (NULL: the key's own). */
static int use(struct parser *p, struct token t, const struct keys *k, const uint32_t *ids, const char *what,
	       struct gus_uarch_use *out)
{
	const char *colon = t.text ? memchr(t.text, ':', t.size) : NULL, *at, *end;
	struct token before = { t.text, colon ? (size_t)(colon - t.text) : 0, false };
	uint32_t string, number;

	if (!colon)
		return wrong(p, "expected %s:CYCLES, found '%.*s'", what, SHOW(t));
	string = name(p, before, what);
	if (!string)
		return -1;
	number = find(k, string);
	if (number == GUS_INDEX_NONE)
		return wrong(p, "there is no %s %s", what, text_of(p, string));
	out->group = ids ? ids[number] : number;
	at = colon + 1;
	end = t.text + t.size;
	if (!centi(&at, end, &out->cycles) || at != end)
		return wrong(p, "'%.*s' has no number of cycles", SHOW(t));
	return 0;
}

/* The words after `uses` or `exclusive`, up to one without a colon, which is left to be read. */
static int use_words(struct parser *p, const struct keys *k, const uint32_t *ids, const char *what, uint32_t *first,
		     uint32_t *n)
{
	*first = (uint32_t)p->use_list.n;
	*n = 0;
	for (;;) {
		const char *before = p->at;
		struct gus_uarch_use one;
		struct token t = next(p);

		if (!t.text || !memchr(t.text, ':', t.size)) {
			p->at = before;
			return *n ? 0 : wrong(p, "expected %s:CYCLES, found '%.*s'", what, SHOW(t));
		}
		if (use(p, t, k, ids, what, &one) != 0)
			return -1;
		gus_vec_push(&p->use_list, one);
		(*n)++;
	}
}

static int use_groups(struct parser *p, uint32_t *first, uint32_t *n)
{
	return use_words(p, &p->groups, p->group_ids.v, "group", first, n);
}

/* FIGURES; `uops` was read. */
static int figures(struct parser *p, struct gus_uarch_row *row)
{
	struct token t;

	if (count(p, "uops", &row->uops) != 0)
		return -1;
	t = next(p);
	if (!is(t, "latency"))
		return wrong(p, "expected latency, found '%.*s'", SHOW(t));
	if (cycles(p, "latency", &row->latency) != 0)
		return -1;
	for (;;) {
		int status = 0;

		t = next(p);
		if (is(t, "fused"))
			status = count(p, "uops", &row->fused);
		else if (is(t, "loadlat"))
			status = cycles(p, "latency from the address", &row->loadlat);
		else if (is(t, "uses"))
			status = use_groups(p, &row->uses, &row->uses_n);
		else if (is(t, "exclusive"))
			status = use_words(p, &p->units, NULL, "unit", &row->units, &row->units_n);
		else if (is(t, "guessed"))
			row->guessed = true;
		else
			break;
		if (status != 0)
			return -1;
	}
	if (!is(t, "source"))
		return wrong(p, "expected source, found '%.*s'", SHOW(t));
	return source(p, next(p), &row->source) == 0 ? at_end(p) : -1;
}

/* The row of a key that is defined now. */
static uint32_t define_row(struct parser *p, uint32_t key, const char *what)
{
	struct gus_uarch_row empty = { .id = text_of(p, key), .file = p->file, .line = p->line };
	bool fresh;
	uint32_t n = define(p, &p->rows, &key, &fresh, what, text_of(p, key));

	if (n == GUS_UARCH_NONE)
		return n;
	if (fresh)
		gus_vec_push(&p->row_list, empty);
	else
		p->row_list.v[n] = empty;
	return n;
}

/* Statements: each reads the rest of its line. */

static int say_uarch(struct parser *p)
{
	struct gus_uarch *u = p->u;
	uint32_t id = name(p, next(p), "the name of a CPU");
	enum gus_isa isa;
	struct token t;
	uint32_t title;
	int status;

	if (!id)
		return -1;
	t = next(p);
	if (!is(t, "isa"))
		return wrong(p, "expected isa, found '%.*s'", SHOW(t));
	t = next(p);
	isa = is(t, "x86-64") ? GUS_ISA_X86_64 : is(t, "arm64") ? GUS_ISA_ARM64 : GUS_ISA_UNKNOWN;
	if (isa == GUS_ISA_UNKNOWN)
		return wrong(p, "'%.*s' is not an ISA; there are x86-64 and arm64", SHOW(t));
	title = quoted(p, "a title", &status);
	if (status != 0)
		return -1;
	if (p->derived)
		return isa == u->isa ? at_end(p) : wrong(p, "%s is of another ISA than %s", text_of(p, id), u->name);
	if (u->name)
		return wrong(p, "a second uarch");
	u->name = text_of(p, id);
	u->isa = isa;
	u->title = text_of(p, title);
	return at_end(p);
}

static int say_alias(struct parser *p)
{
	for (;;) {
		struct token t = next(p);
		uint32_t id;

		if (!t.text)
			return 0;
		id = name(p, t, "a name");
		if (!id)
			return -1;
		if (!p->derived)
			gus_vec_push(&p->alias_list, text_of(p, id));
	}
}

static int parse_table(struct parser *p, const char *called, const char *text, size_t size);
static int parse_text(struct parser *p, const char *file, const char *text, size_t size);

static int say_like(struct parser *p)
{
	uint32_t id = name(p, next(p), "the name of a CPU");
	bool derived = p->derived;
	int status;

	if (!id || at_end(p) != 0)
		return -1;
	gus_vec_push(&p->like_list, text_of(p, id));
	p->derived = true;
	status = parse_table(p, text_of(p, id), NULL, 0);
	p->derived = derived;
	p->layer++;
	return status;
}

static int say_include(struct parser *p)
{
	uint32_t id = name(p, next(p), "the name of a file");
	const char *text;
	size_t size;

	if (!id || at_end(p) != 0)
		return -1;
	text = p->texts ? p->texts->get(p->texts->context, text_of(p, id), &size) : NULL;
	if (!text)
		return wrong(p, "there is no %s to include", text_of(p, id));
	return parse_text(p, text_of(p, id), text, size);
}

static int say_source(struct parser *p)
{
	uint32_t id = name(p, next(p), "an ID"), text, n;
	struct gus_uarch_source one;
	bool fresh;
	int status;

	if (!id)
		return -1;
	text = quoted(p, "what it is", &status);
	if (status != 0)
		return -1;
	n = define(p, &p->sources, &id, &fresh, "source", text_of(p, id));
	if (n == GUS_UARCH_NONE)
		return -1;
	one = (struct gus_uarch_source){ text_of(p, id), text_of(p, text) };
	if (fresh)
		gus_vec_push(&p->source_list, one);
	else
		p->source_list.v[n] = one;
	return at_end(p);
}

/* The number of a word in a list of words separated by blanks, or -1. */
static int word_number(const char *words, struct token t)
{
	int n = 0;

	for (const char *w = words; *w; n++) {
		size_t size = strcspn(w, " ");

		if (size == t.size && memcmp(w, t.text, size) == 0)
			return n;
		w += size + (w[size] == ' ');
	}
	return -1;
}

static int param_value(struct parser *p, const struct gus_uarch_param_kind *kind, struct gus_uarch_param *one)
{
	const char *words = kind->unit == GUS_UNIT_FLAG ? "no yes" : kind->words;
	struct token t = next(p);
	const char *at = t.text;
	uint32_t value;
	int number;

	if (!t.text)
		return wrong(p, "%s has no value", kind->name);
	if (words) {
		number = word_number(words, t);
		if (number < 0)
			return wrong(p, "%s is one of %s, not '%.*s'", kind->name, words, SHOW(t));
		one->value = number;
		one->word = text_of(p, intern(p, t));
		return 0;
	}
	if (!centi(&at, t.text + t.size, &value) || at != t.text + t.size)
		return wrong(p, "'%.*s' is not a number", SHOW(t));
	one->value = (double)value / GUS_UARCH_CENTI;
	return 0;
}

static int say_param(struct parser *p)
{
	struct token t = next(p);
	struct gus_uarch_param one = { 0 };
	const struct gus_uarch_param_kind *kind;
	bool fresh;
	uint32_t n;

	for (kind = gus_uarch_params; kind->name && !is(t, kind->name); kind++)
		one.kind++;
	if (!kind->name)
		return wrong(p, "there is no parameter '%.*s'", SHOW(t));
	if (param_value(p, kind, &one) != 0)
		return -1;
	t = next(p);
	if (!is(t, gus_uarch_unit_name(kind->unit)))
		return wrong(p, "%s is in %s, not in '%.*s'", kind->name, gus_uarch_unit_name(kind->unit), SHOW(t));
	if (source(p, next(p), &one.source) != 0)
		return -1;
	n = define(p, &p->params, &one.kind, &fresh, "parameter", kind->name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh)
		gus_vec_push(&p->param_list, one);
	else
		p->param_list.v[n] = one;
	return at_end(p);
}

static int say_port(struct parser *p)
{
	uint32_t id = name(p, next(p), "the name of a port"), n;
	struct gus_uarch_group one = { .size = 1 };
	bool fresh;

	if (!id || source(p, next(p), &one.source) != 0)
		return -1;
	one.name = text_of(p, id);
	n = define(p, &p->groups, &id, &fresh, "port", one.name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (!fresh)
		return p->group_ids.v[n] < GROUP_BASE ? at_end(p) : wrong(p, "%s is a group already", one.name);
	if (p->port_list.n == GUS_UARCH_PORTS_MAX)
		return wrong(p, "more than %d ports", GUS_UARCH_PORTS_MAX);
	gus_vec_push(&p->group_ids, (uint32_t)p->port_list.n);
	one.ports = UINT64_C(1) << p->port_list.n;
	gus_vec_push(&p->port_list, one);
	return at_end(p);
}

static int say_unit(struct parser *p)
{
	uint32_t id = name(p, next(p), "the name of a unit"), from;
	bool fresh;

	if (!id || source(p, next(p), &from) != 0)
		return -1;
	if (define(p, &p->units, &id, &fresh, "unit", text_of(p, id)) == GUS_UARCH_NONE)
		return -1;
	if (fresh)
		gus_vec_push(&p->unit_list, text_of(p, id));
	return at_end(p);
}

/* "p0+p1+p5" as a mask of ports. */
static int ports(struct parser *p, struct token t, uint64_t *mask)
{
	const char *end = t.text + t.size;

	*mask = 0;
	for (const char *at = t.text; at && at <= end;) {
		const char *plus = at < end ? memchr(at, '+', (size_t)(end - at)) : NULL;
		struct token one = { at, (size_t)((plus ? plus : end) - at), false };
		uint32_t id = name(p, one, "the name of a port"), n;

		if (!id)
			return -1;
		n = find(&p->groups, id);
		if (n == GUS_INDEX_NONE || p->group_ids.v[n] >= GROUP_BASE)
			return wrong(p, "there is no port %s", text_of(p, id));
		if (*mask >> p->group_ids.v[n] & 1)
			return wrong(p, "the port %s is there twice", text_of(p, id));
		*mask |= UINT64_C(1) << p->group_ids.v[n];
		at = plus ? plus + 1 : NULL;
	}
	return 0;
}

static int say_group(struct parser *p)
{
	uint32_t id = name(p, next(p), "the name of a group"), n;
	struct gus_uarch_group one = { .source = GUS_UARCH_NONE };
	struct token t;
	bool fresh;

	if (!id)
		return -1;
	t = next(p);
	if (!is(t, "="))
		return wrong(p, "expected =, found '%.*s'", SHOW(t));
	t = next(p);
	if (!t.text)
		return wrong(p, "the group %s has no ports", text_of(p, id));
	if (ports(p, t, &one.ports) != 0)
		return -1;
	one.name = text_of(p, id);
	one.size = (uint32_t)__builtin_popcountll(one.ports);
	n = define(p, &p->groups, &id, &fresh, "group", one.name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh) {
		gus_vec_push(&p->group_ids, (uint32_t)(GROUP_BASE + p->group_list.n));
		gus_vec_push(&p->group_list, one);
	} else if (p->group_ids.v[n] < GROUP_BASE) {
		return wrong(p, "%s is a port already", one.name);
	} else {
		p->group_list.v[p->group_ids.v[n] - GROUP_BASE] = one;
	}
	return at_end(p);
}

static int say_row(struct parser *p)
{
	uint32_t id = name(p, next(p), "the ID of a row"), n;
	struct token t;

	if (!id)
		return -1;
	n = define_row(p, id, "row");
	if (n == GUS_UARCH_NONE)
		return -1;
	t = next(p);
	if (!is(t, "uops"))
		return wrong(p, "expected uops, found '%.*s'", SHOW(t));
	return figures(p, &p->row_list.v[n]);
}

static int say_opcode(struct parser *p)
{
	struct token t = next(p);
	uint32_t row = GUS_UARCH_NONE, id, n;

	if (!is(t, "-")) {
		id = name(p, t, "the ID of a row");
		row = id ? find(&p->rows, id) : 0;
		if (!id)
			return -1;
		if (row == GUS_INDEX_NONE)
			return wrong(p, "there is no row %s", text_of(p, id));
	}
	for (t = next(p); t.text; t = next(p)) {
		bool fresh;

		id = name(p, t, "an opcode class");
		if (!id)
			return -1;
		n = define(p, &p->opcodes, &id, &fresh, "opcode class", text_of(p, id));
		if (n == GUS_UARCH_NONE)
			return -1;
		if (fresh) {
			gus_vec_push(&p->opcode_rows, row);
			gus_vec_push(&p->opcode_names, text_of(p, id));
		} else {
			p->opcode_rows.v[n] = row;
		}
	}
	return 0;
}

/* A form that goes by a name (a string), or by a row of its own if that is 0. */
static int define_form(struct parser *p, uint32_t text, uint32_t by, uint32_t row)
{
	const char *shown = text_of(p, text);
	struct gus_uarch_form one = { .text = shown, .row = row, .file = p->file, .line = p->line };
	bool fresh;
	uint32_t n;

	if (by)
		gus_index_add(&p->named, &by, &fresh);
	one.hash = gus_insn_form_hash(shown, strlen(shown));
	n = define(p, &p->forms, &one.hash, &fresh, "form", shown);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh) {
		gus_vec_push(&p->form_list, one);
		gus_vec_push(&p->form_names, by);
		return 0;
	}
	if (p->form_list.v[n].text != shown)
		return wrong(p, "the forms %s and %s have the same hash", shown, p->form_list.v[n].text);
	p->form_list.v[n] = one;
	p->form_names.v[n] = by;
	return 0;
}

/* The rest of a form with figures of its own: all its texts share the row, which has the first one's text as its key. */
static int own_row(struct parser *p, const uint32_t *texts, size_t n)
{
	uint32_t row = define_row(p, texts[0], "form");

	if (row == GUS_UARCH_NONE || figures(p, &p->row_list.v[row]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (define_form(p, texts[i], 0, row) != 0)
			return -1;
	return 0;
}

static int form_words(struct parser *p, uint32_t *texts, size_t room)
{
	struct token t = next(p);
	uint32_t by;
	size_t n = 0;

	for (; t.quoted; t = next(p)) {
		if (t.size == 0 || t.size >= GUS_INSN_FORM_MAX)
			return wrong(p, "a form has 1 to %d characters", GUS_INSN_FORM_MAX - 1);
		if (n == room)
			return wrong(p, "more than %zu forms in a line", room);
		texts[n++] = intern(p, t);
	}
	if (n == 0)
		return wrong(p, "expected a form in quotes, found '%.*s'", SHOW(t));
	if (is(t, "uops"))
		return own_row(p, texts, n);
	by = name(p, t, "a row or an opcode class");
	if (!by || at_end(p) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (define_form(p, texts[i], by, GUS_UARCH_NONE) != 0)
			return -1;
	return 0;
}

static int say_form(struct parser *p)
{
	uint32_t texts[64];

	return form_words(p, texts, sizeof(texts) / sizeof(*texts));
}

/* "LO-HI" or one number for both. */
static int range(struct parser *p, const char *word, uint32_t *lo, uint32_t *hi)
{
	struct token t = next(p);
	const char *at, *end;

	if (!is(t, word))
		return wrong(p, "expected %s, found '%.*s'", word, SHOW(t));
	t = next(p);
	at = t.text;
	end = t.text ? t.text + t.size : NULL;
	if (!t.text || !centi(&at, end, lo))
		return wrong(p, "expected the %s as LO-HI, found '%.*s'", word, SHOW(t));
	*hi = *lo;
	if (at < end && *at == '-') {
		at++;
		if (!centi(&at, end, hi))
			at = NULL;
	}
	return at == end && *lo <= *hi ? 0 : wrong(p, "'%.*s' is not LO-HI", SHOW(t));
}

static int say_class(struct parser *p)
{
	struct gus_uarch_class one = { 0 };
	uint32_t id = name(p, next(p), "the name of a class"), n;
	struct token t;
	bool fresh;

	if (!id)
		return -1;
	one.name = text_of(p, id);
	if (range(p, "uops", &one.uops_lo, &one.uops_hi) != 0 || range(p, "latency", &one.latency_lo, &one.latency_hi) != 0)
		return -1;
	one.uops_lo /= GUS_UARCH_CENTI;
	one.uops_hi /= GUS_UARCH_CENTI;
	t = next(p);
	if (is(t, "uses")) {
		if (use_groups(p, &one.uses, &one.uses_n) != 0)
			return -1;
		t = next(p);
	}
	if (!is(t, "source"))
		return wrong(p, "expected source, found '%.*s'", SHOW(t));
	if (source(p, next(p), &one.source) != 0)
		return -1;
	n = define(p, &p->classes, &id, &fresh, "class", one.name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh)
		gus_vec_push(&p->class_list, one);
	else
		p->class_list.v[n] = one;
	return at_end(p);
}

static const struct {
	const char *word;
	int (*say)(struct parser *p);
} statements[] = {
	{ "form", say_form },   { "opcode", say_opcode }, { "row", say_row },       { "param", say_param },
	{ "group", say_group }, { "port", say_port },     { "class", say_class },   { "unit", say_unit },
	{ "alias", say_alias }, { "source", say_source }, { "include", say_include }, { "like", say_like },
	{ "uarch", say_uarch },
};

/* Texts. */

static int parse_line(struct parser *p)
{
	struct token t = next(p);

	if (!t.text)
		return 0;
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
		if (is(t, statements[i].word))
			return statements[i].say(p);
	return wrong(p, "'%.*s' begins no statement", SHOW(t));
}

static int parse_text(struct parser *p, const char *file, const char *text, size_t size)
{
	const char *end = text + size, *at = p->at, *line_end = p->end;
	uint32_t old_file = p->file, old_line = p->line;

	if (p->depth == DEPTH_MAX)
		return wrong(p, "%s is more than %d deep: a table includes or is like itself", file, DEPTH_MAX);
	p->depth++;
	p->file = (uint32_t)p->file_list.n;
	p->line = 0;
	gus_vec_push(&p->file_list, file);
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		p->line++;
		p->at = text;
		p->end = stop ? stop : end;
		if (parse_line(p) != 0)
			return -1;
		text = stop ? stop + 1 : end;
	}
	p->depth--;
	p->file = old_file;
	p->line = old_line;
	p->at = at;
	p->end = line_end;
	return 0;
}

static const char *with_suffix(struct parser *p, const char *called, const char *suffix)
{
	char *whole = gus_format("%s%s", called, suffix);
	uint32_t kept = gus_strings_add(&p->u->own->strings, whole);

	free(whole);
	return text_of(p, kept);
}

/* The table in text, or that of the name with, unless left out, its overlay. */
static int parse_table(struct parser *p, const char *called, const char *text, size_t size)
{
	const char *overlay;

	if (text)
		return parse_text(p, called, text, size);
	text = p->texts ? p->texts->get(p->texts->context, called, &size) : NULL;
	if (!text)
		return gus_fail(p->err, GUS_E_NOT_FOUND, "there is no table of a CPU called %s; see gusprof uarch list", called);
	if (parse_text(p, with_suffix(p, called, ".uarch"), text, size) != 0)
		return -1;
	if (p->flags & GUS_UARCH_PLAIN)
		return 0;
	overlay = with_suffix(p, called, ".overlay");
	text = p->texts->get(p->texts->context, overlay, &size);
	if (!text)
		return 0;
	p->layer++;
	return parse_text(p, overlay, text, size);
}

/* When all is read. */

static int by_mask(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static char *port_names(const struct parser *p, uint64_t mask)
{
	char *list = gus_strdup("");

	for (size_t i = 0; i < p->port_list.n; i++)
		if (mask >> i & 1) {
			char *longer = gus_format("%s%s%s", list, *list ? "+" : "", p->port_list.v[i].name);

			free(list);
			list = longer;
		}
	return list;
}

/* Two groups that overlap need their union: else the conjunctive bound is too low. */
static int check_closed(struct parser *p)
{
	size_t n = p->group_list.n;
	uint64_t *masks = gus_alloc((n + 1) * sizeof(*masks));
	int status = 0;

	for (size_t i = 0; i < n; i++)
		masks[i] = p->group_list.v[i].ports;
	qsort(masks, n, sizeof(*masks), by_mask);
	for (size_t i = 0; i < n && status == 0; i++)
		for (size_t k = 0; k < i && status == 0; k++) {
			const struct gus_uarch_group *a = &p->group_list.v[k], *b = &p->group_list.v[i];
			uint64_t both = a->ports | b->ports;
			char *names;

			if (!(a->ports & b->ports) || bsearch(&both, masks, n, sizeof(*masks), by_mask))
				continue;
			names = port_names(p, both);
			status = gus_fail(p->err, GUS_E_CORRUPT, "cannot use the table %s: the groups %s and %s overlap, so "
					  "their union must be a group: add `group NAME = %s`", p->u->name, a->name, b->name, names);
			free(names);
		}
	free(masks);
	return status;
}

/* An opcode class that no form goes by is a name that was mistyped, or is from before the forms were made anew. */
static int check_opcodes(struct parser *p)
{
	for (uint32_t i = 0; i < p->opcode_names.n; i++)
		if (gus_index_find(&p->named, gus_index_key(&p->opcodes.ix, i)) == GUS_INDEX_NONE)
			return gus_fail(p->err, GUS_E_CORRUPT, "cannot use the table %s: no form goes by the opcode class %s, which "
					"has the row %s", p->u->name, p->opcode_names.v[i],
					p->opcode_rows.v[i] == GUS_UARCH_NONE ? "-" : p->row_list.v[p->opcode_rows.v[i]].id);
	return 0;
}

/* A form that goes by a name gets the row of that name, or of that opcode class. */
static int resolve_forms(struct parser *p)
{
	for (size_t i = 0; i < p->form_list.n; i++) {
		struct gus_uarch_form *form = &p->form_list.v[i];
		uint32_t by = p->form_names.v[i], n;

		if (!by)
			continue;
		form->row = find(&p->rows, by);
		if (form->row != GUS_INDEX_NONE)
			continue;
		n = find(&p->opcodes, by);
		if (n == GUS_INDEX_NONE)
			return gus_fail(p->err, GUS_E_CORRUPT, "cannot use the table %s, line %u: the form %s has neither a row "
					"nor an opcode class called %s", p->file_list.v[form->file], form->line, form->text,
					text_of(p, by));
		form->opcode = p->opcode_names.v[n];
		form->row = p->opcode_rows.v[n];
	}
	return check_opcodes(p);
}

/* Groups get their final numbers, behind the ports. */
static void number_groups(struct parser *p, bool *is_unit)
{
	uint32_t shift = GROUP_BASE - (uint32_t)p->port_list.n;

	for (size_t i = 0; i < p->row_list.n; i++)
		for (uint32_t k = 0; k < p->row_list.v[i].units_n; k++)
			is_unit[p->row_list.v[i].units + k] = true;
	for (size_t i = 0; i < p->use_list.n; i++)
		if (!is_unit[i] && p->use_list.v[i].group >= GROUP_BASE)
			p->use_list.v[i].group -= shift;
	for (size_t i = 0; i < p->group_ids.n; i++)
		if (p->group_ids.v[i] >= GROUP_BASE)
			p->group_ids.v[i] -= shift;
	gus_vec_append(&p->port_list, p->group_list.v, p->group_list.n);
}

static int finish(struct parser *p)
{
	bool *is_unit;

	if (!p->u->name)
		return gus_fail(p->err, GUS_E_CORRUPT, "cannot use the table %s: it does not begin with `uarch NAME isa ISA "
				"\"TITLE\"`", p->file_list.v[0]);
	if (p->port_list.n == 0 || p->row_list.n == 0)
		return gus_fail(p->err, GUS_E_CORRUPT, "cannot use the table %s: it has no %s", p->u->name,
				p->port_list.n ? "rows" : "ports");
	if (check_closed(p) != 0 || resolve_forms(p) != 0)
		return -1;
	is_unit = gus_zalloc(p->use_list.n + 1);
	p->u->ports_n = (uint32_t)p->port_list.n;
	number_groups(p, is_unit);
	free(is_unit);
	return 0;
}

#define HAND_OVER(field, list) (u->field = (list).v, u->field##_n = (uint32_t)(list).n)

static void hand_over(struct parser *p)
{
	struct gus_uarch *u = p->u;

	HAND_OVER(aliases, p->alias_list);
	HAND_OVER(likes, p->like_list);
	HAND_OVER(files, p->file_list);
	HAND_OVER(units, p->unit_list);
	HAND_OVER(sources, p->source_list);
	HAND_OVER(params, p->param_list);
	HAND_OVER(groups, p->port_list);
	HAND_OVER(rows, p->row_list);
	HAND_OVER(forms, p->form_list);
	HAND_OVER(classes, p->class_list);
	HAND_OVER(uses, p->use_list);
	u->own->forms = p->forms.ix;
	gus_vec_free(&p->forms.layer);
}

static void drop_rest(struct parser *p)
{
	keys_free(&p->sources);
	gus_index_free(&p->named);
	keys_free(&p->units);
	keys_free(&p->groups);
	keys_free(&p->params);
	keys_free(&p->rows);
	keys_free(&p->opcodes);
	keys_free(&p->classes);
	gus_vec_free(&p->group_list);
	gus_vec_free(&p->group_ids);
	gus_vec_free(&p->opcode_rows);
	gus_vec_free(&p->opcode_names);
	gus_vec_free(&p->form_names);
}

struct gus_uarch *gus_uarch_parse(const char *called, const char *text, size_t size, const struct gus_uarch_texts *texts,
				  unsigned flags, struct gus_error *err)
{
	struct gus_uarch *u = gus_zalloc(sizeof(*u));
	struct parser p = { .u = u, .texts = texts, .err = err, .flags = flags };
	struct keys *by_string[] = { &p.sources, &p.units, &p.groups, &p.params, &p.rows, &p.opcodes, &p.classes };
	uint32_t kept;
	int status;

	u->own = gus_zalloc(sizeof(*u->own));
	gus_strings_init(&u->own->strings);
	for (size_t i = 0; i < sizeof(by_string) / sizeof(*by_string); i++)
		keys_init(by_string[i], sizeof(uint32_t));
	keys_init(&p.forms, sizeof(uint64_t));
	gus_index_init(&p.named, sizeof(uint32_t));
	kept = gus_strings_add(&u->own->strings, called);
	status = parse_table(&p, text_of(&p, kept), text, size);
	if (status == 0)
		status = finish(&p);
	hand_over(&p);
	drop_rest(&p);
	if (status == 0)
		return u;
	gus_uarch_free(u);
	return NULL;
}
