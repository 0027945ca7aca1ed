/* SPDX-License-Identifier: MIT */
/* What a line of a table can say: one function for each statement of uarch.h's grammar, and the table of them. */
#include "model/tables/uarch.h"
#include "model/tables/uarch_parse.h"
#include "symbolizer/insn/insn.h"

#include <string.h>

/* The row of a key that is defined now. */
static uint32_t define_row(struct gus_uarch_parser *p, uint32_t key, const char *what)
{
	struct gus_uarch_row empty = { .id = gus_parse_string(p, key), .file = p->file, .line = p->line };
	bool fresh;
	uint32_t n = gus_parse_define(p, &p->rows, &key, &fresh, what, gus_parse_string(p, key));

	if (n == GUS_UARCH_NONE)
		return n;
	if (fresh)
		gus_vec_push(&p->row_list, empty);
	else
		p->row_list.v[n] = empty;
	return n;
}

/* Each statement reads the rest of its line. */

static int say_uarch(struct gus_uarch_parser *p)
{
	struct gus_uarch *u = p->u;
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "the name of a CPU");
	enum gus_isa isa;
	struct gus_token t;
	uint32_t title;
	int status;

	if (!id)
		return -1;
	t = gus_parse_next(p);
	if (!gus_token_is(t, "isa"))
		return gus_parse_wrong(p, "expected isa, found '%.*s'", GUS_SHOW(t));
	t = gus_parse_next(p);
	isa = gus_token_is(t, "x86-64") ? GUS_ISA_X86_64 : gus_token_is(t, "arm64") ? GUS_ISA_ARM64 : GUS_ISA_UNKNOWN;
	if (isa == GUS_ISA_UNKNOWN)
		return gus_parse_wrong(p, "'%.*s' is not an ISA; there are x86-64 and arm64", GUS_SHOW(t));
	title = gus_parse_quoted(p, "a title", &status);
	if (status != 0)
		return -1;
	if (p->derived)
		return isa == u->isa ? gus_parse_end(p) : gus_parse_wrong(p, "%s is of another ISA than %s",
									  gus_parse_string(p, id), u->name);
	if (u->name)
		return gus_parse_wrong(p, "a second uarch");
	u->name = gus_parse_string(p, id);
	u->isa = isa;
	u->title = gus_parse_string(p, title);
	return gus_parse_end(p);
}

static int say_alias(struct gus_uarch_parser *p)
{
	for (;;) {
		struct gus_token t = gus_parse_next(p);
		uint32_t id;

		if (!t.text)
			return 0;
		id = gus_parse_name(p, t, "a name");
		if (!id)
			return -1;
		if (!p->derived)
			gus_vec_push(&p->alias_list, gus_parse_string(p, id));
	}
}

static int say_like(struct gus_uarch_parser *p)
{
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "the name of a CPU");
	bool derived = p->derived;
	int status;

	if (!id || gus_parse_end(p) != 0)
		return -1;
	gus_vec_push(&p->like_list, gus_parse_string(p, id));
	p->derived = true;
	status = gus_parse_table(p, gus_parse_string(p, id), NULL, 0);
	p->derived = derived;
	p->layer++;
	return status;
}

static int say_include(struct gus_uarch_parser *p)
{
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "the name of a file");
	const char *text;
	size_t size;

	if (!id || gus_parse_end(p) != 0)
		return -1;
	text = p->texts ? p->texts->get(p->texts->context, gus_parse_string(p, id), &size) : NULL;
	if (!text)
		return gus_parse_wrong(p, "there is no %s to include", gus_parse_string(p, id));
	return gus_parse_text(p, gus_parse_string(p, id), text, size);
}

static int say_source(struct gus_uarch_parser *p)
{
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "an ID"), text, n;
	struct gus_uarch_source one;
	bool fresh;
	int status;

	if (!id)
		return -1;
	text = gus_parse_quoted(p, "what it is", &status);
	if (status != 0)
		return -1;
	n = gus_parse_define(p, &p->sources, &id, &fresh, "source", gus_parse_string(p, id));
	if (n == GUS_UARCH_NONE)
		return -1;
	one = (struct gus_uarch_source){ gus_parse_string(p, id), gus_parse_string(p, text) };
	if (fresh)
		gus_vec_push(&p->source_list, one);
	else
		p->source_list.v[n] = one;
	return gus_parse_end(p);
}

/* The number of a word in a list of words separated by blanks, or -1. */
static int word_number(const char *words, struct gus_token t)
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

static int param_value(struct gus_uarch_parser *p, const struct gus_uarch_param_kind *kind, struct gus_uarch_param *one)
{
	const char *words = kind->unit == GUS_UNIT_FLAG ? "no yes" : kind->words;
	struct gus_token t = gus_parse_next(p);
	const char *at = t.text;
	uint32_t value;
	int number;

	if (!t.text)
		return gus_parse_wrong(p, "%s has no value", kind->name);
	if (words) {
		number = word_number(words, t);
		if (number < 0)
			return gus_parse_wrong(p, "%s is one of %s, not '%.*s'", kind->name, words, GUS_SHOW(t));
		one->value = number;
		one->word = gus_parse_string(p, gus_parse_intern(p, t));
		return 0;
	}
	if (!gus_parse_centi(&at, t.text + t.size, GUS_UARCH_VALUE_MAX, &value) || at != t.text + t.size)
		return gus_parse_wrong(p, "'%.*s' is not a number from 0 to %d", GUS_SHOW(t), GUS_UARCH_VALUE_MAX);
	one->value = (double)value / GUS_UARCH_CENTI;
	return 0;
}

static int say_param(struct gus_uarch_parser *p)
{
	struct gus_token t = gus_parse_next(p);
	struct gus_uarch_param one = { 0 };
	const struct gus_uarch_param_kind *kind;
	bool fresh;
	uint32_t n;

	for (kind = gus_uarch_params; kind->name && !gus_token_is(t, kind->name); kind++)
		one.kind++;
	if (!kind->name)
		return gus_parse_wrong(p, "there is no parameter '%.*s'", GUS_SHOW(t));
	if (param_value(p, kind, &one) != 0)
		return -1;
	t = gus_parse_next(p);
	if (!gus_token_is(t, gus_uarch_unit_name(kind->unit)))
		return gus_parse_wrong(p, "%s is in %s, not in '%.*s'", kind->name, gus_uarch_unit_name(kind->unit),
				       GUS_SHOW(t));
	if (gus_parse_source(p, gus_parse_next(p), &one.source) != 0)
		return -1;
	n = gus_parse_define(p, &p->params, &one.kind, &fresh, "parameter", kind->name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh)
		gus_vec_push(&p->param_list, one);
	else
		p->param_list.v[n] = one;
	return gus_parse_end(p);
}

static int say_port(struct gus_uarch_parser *p)
{
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "the name of a port"), n;
	struct gus_uarch_group one = { .size = 1 };
	bool fresh;

	if (!id || gus_parse_source(p, gus_parse_next(p), &one.source) != 0)
		return -1;
	one.name = gus_parse_string(p, id);
	n = gus_parse_define(p, &p->groups, &id, &fresh, "port", one.name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (!fresh)
		return p->group_ids.v[n] < GUS_GROUP_BASE ? gus_parse_end(p) :
			gus_parse_wrong(p, "%s is a group already", one.name);
	if (p->port_list.n == GUS_UARCH_PORTS_MAX)
		return gus_parse_wrong(p, "more than %d ports", GUS_UARCH_PORTS_MAX);
	gus_vec_push(&p->group_ids, (uint32_t)p->port_list.n);
	one.ports = UINT64_C(1) << p->port_list.n;
	gus_vec_push(&p->port_list, one);
	return gus_parse_end(p);
}

static int say_unit(struct gus_uarch_parser *p)
{
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "the name of a unit"), from;
	bool fresh;

	if (!id || gus_parse_source(p, gus_parse_next(p), &from) != 0)
		return -1;
	if (gus_parse_define(p, &p->units, &id, &fresh, "unit", gus_parse_string(p, id)) == GUS_UARCH_NONE)
		return -1;
	if (fresh && p->unit_list.n == GUS_UARCH_UNITS_MAX)
		return gus_parse_wrong(p, "more than %d units", GUS_UARCH_UNITS_MAX);
	if (fresh)
		gus_vec_push(&p->unit_list, gus_parse_string(p, id));
	return gus_parse_end(p);
}

/* "p0+p1+p5" as a mask of ports. */
static int ports(struct gus_uarch_parser *p, struct gus_token t, uint64_t *mask)
{
	const char *end = t.text + t.size;

	*mask = 0;
	for (const char *at = t.text; at && at <= end;) {
		const char *plus = at < end ? memchr(at, '+', (size_t)(end - at)) : NULL;
		struct gus_token one = { at, (size_t)((plus ? plus : end) - at), false };
		uint32_t id = gus_parse_name(p, one, "the name of a port"), n;

		if (!id)
			return -1;
		n = gus_keys_find(&p->groups, id);
		if (n == GUS_INDEX_NONE || p->group_ids.v[n] >= GUS_GROUP_BASE)
			return gus_parse_wrong(p, "there is no port %s", gus_parse_string(p, id));
		if (*mask >> p->group_ids.v[n] & 1)
			return gus_parse_wrong(p, "the port %s is there twice", gus_parse_string(p, id));
		*mask |= UINT64_C(1) << p->group_ids.v[n];
		at = plus ? plus + 1 : NULL;
	}
	return 0;
}

static int say_group(struct gus_uarch_parser *p)
{
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "the name of a group"), n;
	struct gus_uarch_group one = { .source = GUS_UARCH_NONE };
	struct gus_token t;
	bool fresh;

	if (!id)
		return -1;
	t = gus_parse_next(p);
	if (!gus_token_is(t, "="))
		return gus_parse_wrong(p, "expected =, found '%.*s'", GUS_SHOW(t));
	t = gus_parse_next(p);
	if (!t.text)
		return gus_parse_wrong(p, "the group %s has no ports", gus_parse_string(p, id));
	if (ports(p, t, &one.ports) != 0)
		return -1;
	one.name = gus_parse_string(p, id);
	one.size = (uint32_t)__builtin_popcountll(one.ports);
	n = gus_parse_define(p, &p->groups, &id, &fresh, "group", one.name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh) {
		if (p->group_list.n == GUS_UARCH_GROUPS_MAX)
			return gus_parse_wrong(p, "more than %d groups", GUS_UARCH_GROUPS_MAX);
		gus_vec_push(&p->group_ids, (uint32_t)(GUS_GROUP_BASE + p->group_list.n));
		gus_vec_push(&p->group_list, one);
	} else if (p->group_ids.v[n] < GUS_GROUP_BASE) {
		return gus_parse_wrong(p, "%s is a port already", one.name);
	} else {
		p->group_list.v[p->group_ids.v[n] - GUS_GROUP_BASE] = one;
	}
	return gus_parse_end(p);
}

static int say_row(struct gus_uarch_parser *p)
{
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "the ID of a row"), n;
	struct gus_token t;

	if (!id)
		return -1;
	n = define_row(p, id, "row");
	if (n == GUS_UARCH_NONE)
		return -1;
	t = gus_parse_next(p);
	if (!gus_token_is(t, "uops"))
		return gus_parse_wrong(p, "expected uops, found '%.*s'", GUS_SHOW(t));
	return gus_parse_figures(p, &p->row_list.v[n]);
}

static int say_opcode(struct gus_uarch_parser *p)
{
	struct gus_token t = gus_parse_next(p);
	uint32_t row = GUS_UARCH_NONE, id, n;

	if (!gus_token_is(t, "-")) {
		id = gus_parse_name(p, t, "the ID of a row");
		row = id ? gus_keys_find(&p->rows, id) : 0;
		if (!id)
			return -1;
		if (row == GUS_INDEX_NONE)
			return gus_parse_wrong(p, "there is no row %s", gus_parse_string(p, id));
	}
	for (t = gus_parse_next(p); t.text; t = gus_parse_next(p)) {
		bool fresh;

		id = gus_parse_name(p, t, "an opcode class");
		if (!id)
			return -1;
		n = gus_parse_define(p, &p->opcodes, &id, &fresh, "opcode class", gus_parse_string(p, id));
		if (n == GUS_UARCH_NONE)
			return -1;
		if (fresh) {
			gus_vec_push(&p->opcode_rows, row);
			gus_vec_push(&p->opcode_names, gus_parse_string(p, id));
		} else {
			p->opcode_rows.v[n] = row;
		}
	}
	return 0;
}

/* A form that goes by a name (a string), or by a row of its own if that is 0. */
static int define_form(struct gus_uarch_parser *p, uint32_t text, uint32_t by, uint32_t row)
{
	const char *shown = gus_parse_string(p, text);
	struct gus_uarch_form one = { .text = shown, .row = row, .file = p->file, .line = p->line };
	bool fresh;
	uint32_t n;

	if (by)
		gus_index_add(&p->named, &by, &fresh);
	one.hash = gus_insn_form_hash(shown, strlen(shown));
	n = gus_parse_define(p, &p->forms, &one.hash, &fresh, "form", shown);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh) {
		gus_vec_push(&p->form_list, one);
		gus_vec_push(&p->form_names, by);
		return 0;
	}
	if (p->form_list.v[n].text != shown)
		return gus_parse_wrong(p, "the forms %s and %s have the same hash", shown, p->form_list.v[n].text);
	p->form_list.v[n] = one;
	p->form_names.v[n] = by;
	return 0;
}

/* The rest of a form with figures of its own: all its texts share the row, which has the first one's text as its
 * key. */
static int own_row(struct gus_uarch_parser *p, const uint32_t *texts, size_t n)
{
	uint32_t row = define_row(p, texts[0], "form");

	if (row == GUS_UARCH_NONE || gus_parse_figures(p, &p->row_list.v[row]) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (define_form(p, texts[i], 0, row) != 0)
			return -1;
	return 0;
}

static int form_words(struct gus_uarch_parser *p, uint32_t *texts, size_t room)
{
	struct gus_token t = gus_parse_next(p);
	uint32_t by;
	size_t n = 0;

	for (; t.quoted; t = gus_parse_next(p)) {
		if (t.size == 0 || t.size >= GUS_INSN_FORM_MAX)
			return gus_parse_wrong(p, "a form has 1 to %d characters", GUS_INSN_FORM_MAX - 1);
		if (n == room)
			return gus_parse_wrong(p, "more than %zu forms in a line", room);
		texts[n++] = gus_parse_intern(p, t);
	}
	if (n == 0)
		return gus_parse_wrong(p, "expected a form in quotes, found '%.*s'", GUS_SHOW(t));
	if (gus_token_is(t, "uops"))
		return own_row(p, texts, n);
	by = gus_parse_name(p, t, "a row or an opcode class");
	if (!by || gus_parse_end(p) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (define_form(p, texts[i], by, GUS_UARCH_NONE) != 0)
			return -1;
	return 0;
}

static int say_form(struct gus_uarch_parser *p)
{
	uint32_t texts[64];

	return form_words(p, texts, sizeof(texts) / sizeof(*texts));
}

static int say_class(struct gus_uarch_parser *p)
{
	struct gus_uarch_class one = { 0 };
	uint32_t id = gus_parse_name(p, gus_parse_next(p), "the name of a class"), n;
	struct gus_token t;
	bool fresh;

	if (!id)
		return -1;
	one.name = gus_parse_string(p, id);
	if (gus_parse_range(p, "uops", &one.uops_lo, &one.uops_hi) != 0 ||
	    gus_parse_range(p, "latency", &one.latency_lo, &one.latency_hi) != 0)
		return -1;
	one.uops_lo /= GUS_UARCH_CENTI;
	one.uops_hi /= GUS_UARCH_CENTI;
	t = gus_parse_next(p);
	if (gus_token_is(t, "uses")) {
		if (gus_parse_groups(p, &one.uses, &one.uses_n) != 0 ||
		    gus_parse_check_uses(p, one.uses, one.uses_n, one.uops_lo ? one.uops_lo : 1) != 0)
			return -1;
		t = gus_parse_next(p);
	}
	if (!gus_token_is(t, "source"))
		return gus_parse_wrong(p, "expected source, found '%.*s'", GUS_SHOW(t));
	if (gus_parse_source(p, gus_parse_next(p), &one.source) != 0)
		return -1;
	n = gus_parse_define(p, &p->classes, &id, &fresh, "class", one.name);
	if (n == GUS_UARCH_NONE)
		return -1;
	if (fresh && p->class_list.n == GUS_UARCH_CLASSES_MAX)
		return gus_parse_wrong(p, "more than %d classes", GUS_UARCH_CLASSES_MAX);
	if (fresh)
		gus_vec_push(&p->class_list, one);
	else
		p->class_list.v[n] = one;
	return gus_parse_end(p);
}

static const struct {
	const char *word;
	int (*say)(struct gus_uarch_parser *p);
} statements[] = {
	{ "form", say_form },   { "opcode", say_opcode }, { "row", say_row },       { "param", say_param },
	{ "group", say_group }, { "port", say_port },     { "class", say_class },   { "unit", say_unit },
	{ "alias", say_alias }, { "source", say_source }, { "include", say_include }, { "like", say_like },
	{ "uarch", say_uarch }, { "fit", gus_parse_fit },   { "valid", gus_parse_valid }, { "end", gus_parse_last },
};

int gus_parse_line(struct gus_uarch_parser *p)
{
	struct gus_token t = gus_parse_next(p);

	if (!t.text)
		return 0;
	if (p->ends.said)
		return gus_parse_wrong(p, "'%.*s' stands behind the end", GUS_SHOW(t));
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
		if (gus_token_is(t, statements[i].word))
			return statements[i].say(p);
	return gus_parse_wrong(p, "'%.*s' begins no statement", GUS_SHOW(t));
}
