/* SPDX-License-Identifier: MIT */
/* Reads tables of the top-down method: one statement a line, words and texts in quotes, as tables/README.md says. */
#include <math.h>
#include <stdlib.h>

#include "attribution/topdown/parse.h"
#include "base/error.h"

/* No table of ours has half of these; they bound what a broken one may cost. Groups are bits of a word. */
enum { VALUES_MOST = 128, GROUPS_MOST = 32, COUNTERS_MOST = 32 };

/* Values. */

static int find_value(const void *context, struct gus_piece name)
{
	const struct gus_topdown_reader *r = context;

	for (size_t i = 0; i < r->t->values.n; i++)
		if (gus_piece_is(name, r->t->values.v[i].name))
			return (int)i;
	return -1;
}

/* Takes a name that is new; the value it gets is the last one. */
static int add_value(struct gus_topdown_reader *r, enum gus_topdown_value_kind kind, size_t index)
{
	struct gus_piece word = gus_topdown_word(r);

	if (!gus_topdown_is_name(word))
		return gus_topdown_wrong(r, "a name of small letters is missing");
	if (find_value(r, word) >= 0)
		return gus_topdown_wrong(r, "'%.*s' is defined twice", (int)word.size, word.text);
	if (r->t->values.n >= VALUES_MOST)
		return gus_topdown_wrong(r, "there are more than %d names", VALUES_MOST);
	gus_vec_push(&r->t->values, (struct gus_topdown_value){
		.name = gus_strndup(word.text, word.size), .kind = kind, .index = (uint32_t)index });
	return 0;
}

/* A formula up to `end`, and what it rests on. */
static int read_formula(struct gus_topdown_reader *r, char end, struct gus_formula *f, uint32_t *groups, uint8_t *level)
{
	const char *stop = end ? memchr(r->rest.text, end, r->rest.size) : NULL;
	struct gus_piece text = { r->rest.text, stop ? (size_t)(stop - r->rest.text) : r->rest.size };
	struct gus_formula_names names = { find_value, r };
	struct gus_error inner = { 0 };

	r->rest = (struct gus_piece){ text.text + text.size, r->rest.size - text.size };
	if (gus_formula_parse(f, text, &names, &inner) != 0)
		return gus_topdown_wrong(r, "%s", inner.text);
	for (size_t i = 0; i < f->n; i++) {
		const struct gus_topdown_value *v = &r->t->values.v[f->v[i].value];

		if (f->v[i].kind != GUS_FORMULA_VALUE)
			continue;
		if (v->kind == GUS_TOPDOWN_EVENT && !r->t->events.v[v->index].grouped)
			return gus_topdown_wrong(r, "event '%s' is in no group", v->name);
		*groups |= v->groups;
		*level = v->level > *level ? v->level : *level;
	}
	return 0;
}

static int read_counters(struct gus_topdown_reader *r)
{
	return gus_topdown_whole(r, COUNTERS_MOST - 1, &r->t->counters);
}

static int read_by_default(struct gus_topdown_reader *r)
{
	r->t->by_default = true;
	return 0;
}

/* What is counted. */

static int read_title(struct gus_topdown_reader *r)
{
	struct gus_piece word = gus_topdown_word(r);

	if (!gus_topdown_is_name((struct gus_piece){ word.text, word.size ? 1 : 0 }) || r->t->name)
		return gus_topdown_wrong(r, "a table has one name, of small letters");
	r->t->name = gus_strndup(word.text, word.size);
	r->t->title = gus_topdown_text(r);
	return r->t->title ? 0 : -1;
}

static int read_source(struct gus_topdown_reader *r)
{
	struct gus_piece word = gus_topdown_word(r);
	char *text = gus_topdown_is_name(word) ? gus_topdown_text(r) : NULL;

	if (!text)
		return gus_topdown_is_name(word) ? -1 : gus_topdown_wrong(r, "a source needs a name");
	gus_vec_push(&r->t->sources, (struct gus_topdown_source){ gus_strndup(word.text, word.size), text });
	return 0;
}

static int read_const(struct gus_topdown_reader *r)
{
	struct gus_piece word;
	double number = 0;

	if (add_value(r, GUS_TOPDOWN_CONST, 0) != 0)
		return -1;
	word = gus_topdown_word(r);
	if (gus_piece_is(word, "caps/slots")) {
		number = r->pmu ? r->pmu->slots : 0;
		if (r->pmu && !(number > 0) && !r->t->lacks)
			r->t->lacks = gus_format("the PMU %s does not say how many slots a cycle has", r->pmu->name);
	} else if (gus_topdown_number_of(r, word, &number) != 0) {
		return -1;
	}
	r->t->values.v[r->t->values.n - 1].number = number;
	return 0;
}

/* fixed, metric, any, or LOW-HIGH: which counters can count it. */
static int read_place(struct gus_topdown_reader *r, uint32_t *counters)
{
	struct gus_piece word = gus_topdown_word(r), low;
	double from, to;

	*counters = 0;
	if (gus_piece_is(word, "fixed") || gus_piece_is(word, "metric"))
		return 0;
	if (gus_piece_is(word, "any")) {
		*counters = (uint32_t)((1ull << r->t->counters) - 1);
		return *counters ? 0 : gus_topdown_wrong(r, "how many counters there are must stand before");
	}
	low = gus_piece_cut(&word, '-');
	if (gus_topdown_number_of(r, low, &from) != 0 || gus_topdown_number_of(r, word, &to) != 0)
		return -1;
	if (from > to || to >= COUNTERS_MOST)
		return gus_topdown_wrong(r, "there are no such counters");
	*counters = (uint32_t)((1ull << ((unsigned)to + 1)) - (1ull << (unsigned)from));
	return 0;
}

/* event NAME TERMS PLACE. Terms go into a list of events as they are, so they are of the letters of one. */
static int read_event(struct gus_topdown_reader *r)
{
	struct gus_topdown_event e = { 0 };
	struct gus_piece terms;

	if (add_value(r, GUS_TOPDOWN_EVENT, r->t->events.n) != 0)
		return -1;
	terms = gus_topdown_word(r);
	for (size_t i = 0; i < terms.size; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789=,_", terms.text[i]))
			return gus_topdown_wrong(r, "terms of an event are NAME=NUMBER, separated by commas");
	if (!terms.size)
		return gus_topdown_wrong(r, "the event's terms are missing");
	if (read_place(r, &e.counters) != 0)
		return -1;
	e.value = (uint32_t)r->t->values.n - 1;
	e.name = r->t->values.v[e.value].name;
	e.terms = gus_strndup(terms.text, terms.size);
	gus_vec_push(&r->t->events, e);
	return 0;
}

static int find_group(struct gus_topdown_reader *r, struct gus_piece word, uint32_t *group)
{
	if (!gus_topdown_is_name(word))
		return gus_topdown_wrong(r, "a group needs a name");
	for (*group = 0; *group < r->t->groups.n; ++*group)
		if (gus_piece_is(word, r->t->groups.v[*group]))
			return 0;
	if (*group == GROUPS_MOST)
		return gus_topdown_wrong(r, "there are more than %d groups", GROUPS_MOST);
	gus_vec_push(&r->t->groups, gus_strndup(word.text, word.size));
	return 0;
}

/* group NAME LEVEL EVENT...: counted together from that level on; several lines of a name are one group. */
static int read_group(struct gus_topdown_reader *r)
{
	uint32_t group, level;

	if (find_group(r, gus_topdown_word(r), &group) != 0 || gus_topdown_whole(r, 9, &level) != 0)
		return -1;
	for (struct gus_piece word = gus_topdown_word(r); word.size; word = gus_topdown_word(r)) {
		int value = find_value(r, word);
		struct gus_topdown_event *e = value < 0 || r->t->values.v[value].kind != GUS_TOPDOWN_EVENT ? NULL :
					      &r->t->events.v[r->t->values.v[value].index];

		if (!e || e->grouped)
			return gus_topdown_wrong(r, "'%.*s' is no event that is in no group yet", (int)word.size,
						 word.text);
		e->grouped = true;
		e->group = group;
		e->level = r->t->values.v[value].level = (uint8_t)level;
		r->t->values.v[value].groups = 1u << group;
	}
	return 0;
}

static int read_let(struct gus_topdown_reader *r)
{
	struct gus_topdown_value *v;
	struct gus_formula f = { 0 };
	uint32_t groups = 0;
	uint8_t level = 0;
	int rc;

	if (add_value(r, GUS_TOPDOWN_LET, 0) != 0)
		return -1;
	/* It is not defined before its own formula. */
	r->t->values.n--;
	rc = read_formula(r, '\0', &f, &groups, &level);
	v = &r->t->values.v[r->t->values.n++];
	v->formula = f;
	v->groups = groups;
	v->level = level;
	return rc;
}

/* The tree. */

static int read_parent(struct gus_topdown_reader *r, struct gus_topdown_node *node)
{
	struct gus_piece word = gus_topdown_word(r);
	int value = find_value(r, word);

	node->parent = GUS_TOPDOWN_ROOT;
	if (gus_piece_is(word, "-"))
		return 0;
	if (value < 0 || r->t->values.v[value].kind != GUS_TOPDOWN_NODE)
		return gus_topdown_wrong(r, "the parent must be a node before this one, or -");
	node->parent = r->t->values.v[value].index;
	return 0;
}

static int read_unit(struct gus_topdown_reader *r, struct gus_topdown_node *node)
{
	struct gus_piece word = gus_topdown_word(r);

	node->unit = gus_piece_is(word, "cycles") ? GUS_TOPDOWN_CYCLES : GUS_TOPDOWN_SLOTS;
	return node->unit == GUS_TOPDOWN_CYCLES || gus_piece_is(word, "slots") ? 0 :
	       gus_topdown_wrong(r, "the unit is slots or cycles");
}

static int read_node_source(struct gus_topdown_reader *r, struct gus_topdown_node *node)
{
	struct gus_piece word = gus_topdown_word(r);

	for (size_t i = 0; i < r->t->sources.n && !node->source; i++)
		if (gus_piece_is(word, r->t->sources.v[i].name))
			node->source = r->t->sources.v[i].text;
	return node->source ? 0 : gus_topdown_wrong(r, "there is no source '%.*s'", (int)word.size, word.text);
}

/* node NAME PARENT LEVEL UNIT SOURCE "TITLE"; what it is worth stands in lines behind it. */
static int read_node(struct gus_topdown_reader *r)
{
	struct gus_topdown_node node = { .above = NAN };
	uint32_t level;

	if (add_value(r, GUS_TOPDOWN_NODE, r->t->nodes.n) != 0)
		return -1;
	node.value = (uint32_t)r->t->values.n - 1;
	node.name = r->t->values.v[node.value].name;
	if (read_parent(r, &node) != 0 || gus_topdown_whole(r, 9, &level) != 0 || read_unit(r, &node) != 0 ||
	    read_node_source(r, &node) != 0)
		return -1;
	node.title = gus_topdown_text(r);
	if (!node.title)
		return -1;
	node.level = (uint8_t)level;
	r->t->levels = level > r->t->levels ? level : r->t->levels;
	r->t->values.v[node.value].level = node.level;
	gus_vec_push(&r->t->nodes, node);
	r->node = &r->t->nodes.v[r->t->nodes.n - 1];
	if (level < 1 || (node.parent != GUS_TOPDOWN_ROOT && level < r->t->nodes.v[node.parent].level))
		return gus_topdown_wrong(r, "a node is at no higher level than its parent");
	return 0;
}

static int read_node_formula(struct gus_topdown_reader *r, char end, struct gus_formula *f)
{
	uint8_t level = 0;

	if (f->n)
		return gus_topdown_wrong(r, "'%s' has two of these", r->node->name);
	/* A node is known by name only when it is whole. */
	r->t->values.n--;
	if (read_formula(r, end, f, &r->node->groups, &level) != 0) {
		r->t->values.n++;
		return -1;
	}
	r->t->values.v[r->t->values.n++].groups = r->node->groups;
	return level <= r->node->level ? 0 :
	       gus_topdown_wrong(r, "'%s' needs events of a deeper level than it is", r->node->name);
}

static int read_value(struct gus_topdown_reader *r)
{
	return read_node_formula(r, '\0', &r->node->formula);
}

static int read_correct(struct gus_topdown_reader *r)
{
	if (read_node_formula(r, '"', &r->node->correction) != 0)
		return -1;
	r->node->correction_why = gus_topdown_text(r);
	return r->node->correction_why ? 0 : -1;
}

static int read_at_least(struct gus_topdown_reader *r)
{
	double zero;

	r->node->floored = true;
	return gus_topdown_number(r, 0, &zero);
}

static int read_above(struct gus_topdown_reader *r)
{
	return gus_topdown_number(r, 1, &r->node->above);
}

static int read_within_of(struct gus_topdown_reader *r, double *within, char **why)
{
	if (*why)
		return gus_topdown_wrong(r, "it is said twice how far parts may be from adding up");
	if (gus_topdown_number(r, 1, within) != 0)
		return -1;
	*why = gus_topdown_text(r);
	return *why ? 0 : -1;
}

static int read_within(struct gus_topdown_reader *r)
{
	return read_within_of(r, &r->node->within, &r->node->within_why);
}

static int read_beside(struct gus_topdown_reader *r)
{
	r->node->beside = true;
	return 0;
}

static int read_root_within(struct gus_topdown_reader *r)
{
	return read_within_of(r, &r->t->root_within, &r->t->root_within_why);
}

/* Lines. */

static const struct {
	const char *word;
	int (*read)(struct gus_topdown_reader *r);
	bool of_node, of_head;
} statements[] = {
	{ "topdown", read_title, .of_head = true }, { "source", read_source, .of_head = true },
	{ "cpu", gus_topdown_read_cpu, .of_head = true }, { "midr", gus_topdown_read_midr, .of_head = true },
	{ "pmu", gus_topdown_read_pmu }, { "needs", gus_topdown_read_needs },
	{ "counters", read_counters }, { "by-default", read_by_default }, { "const", read_const },
	{ "event", read_event }, { "group", read_group }, { "let", read_let },
	{ "node", read_node }, { "root-within", read_root_within }, { "value", read_value, .of_node = true },
	{ "correct", read_correct, .of_node = true }, { "at-least", read_at_least, .of_node = true },
	{ "above", read_above, .of_node = true }, { "within", read_within, .of_node = true },
	{ "beside", read_beside, .of_node = true },
};

/* Whether what stands in brackets before a statement holds for this machine: [NAME], or [!NAME]. */
static int read_condition(struct gus_topdown_reader *r, bool *wanted)
{
	struct gus_piece rest, word;
	bool inverted;

	*wanted = true;
	gus_topdown_skip_blanks(&r->rest);
	if (!r->rest.size || *r->rest.text != '[')
		return 0;
	rest = (struct gus_piece){ r->rest.text + 1, r->rest.size - 1 };
	if (!rest.size || !memchr(rest.text, ']', rest.size))
		return gus_topdown_wrong(r, "a ']' is missing");
	word = gus_piece_cut(&rest, ']');
	inverted = word.size && *word.text == '!';
	if (inverted)
		word = (struct gus_piece){ word.text + 1, word.size - 1 };
	r->rest = rest;
	*wanted = gus_topdown_holds(r, word) != inverted;
	return 0;
}

static int read_statement(struct gus_topdown_reader *r, size_t i)
{
	if (statements[i].of_node && !r->node)
		return gus_topdown_wrong(r, "'%s' belongs below a node", statements[i].word);
	if (!statements[i].of_node)
		r->node = NULL;
	if (statements[i].read(r) != 0)
		return -1;
	gus_topdown_skip_blanks(&r->rest);
	return r->rest.size ? gus_topdown_wrong(r, "there is more on the line than '%s' takes", statements[i].word) : 0;
}

static int read_line(struct gus_topdown_reader *r)
{
	struct gus_piece word;
	bool wanted;

	if (read_condition(r, &wanted) != 0)
		return -1;
	word = gus_topdown_word(r);
	if (!word.size || *word.text == '#')
		return 0;
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		if (!gus_piece_is(word, statements[i].word))
			continue;
		r->elsewhere = !statements[i].of_head && r->says_cpus && !r->matched;
		if (r->elsewhere)
			return 0;
		if (!statements[i].of_node)
			r->skipping = !wanted;
		return !wanted || r->skipping ? 0 : read_statement(r, i);
	}
	return gus_topdown_wrong(r, "there is no statement '%.*s'", (int)(word.size < 40 ? word.size : 40), word.text);
}

/* A counter for event i of the group, where those that have one already may have to take another: an augmenting path
 * (Kuhn 1955). */
static bool place(const struct gus_topdown *t, uint32_t i, uint32_t *seen, int *holder)
{
	for (unsigned c = 0; c < t->counters; c++) {
		if (!(t->events.v[i].counters >> c & 1) || *seen >> c & 1)
			continue;
		*seen |= 1u << c;
		if (holder[c] < 0 || place(t, (uint32_t)holder[c], seen, holder)) {
			holder[c] = (int)i;
			return true;
		}
	}
	return false;
}

static int check_group(struct gus_topdown_reader *r, uint32_t group)
{
	int holder[COUNTERS_MOST];

	for (unsigned c = 0; c < COUNTERS_MOST; c++)
		holder[c] = -1;
	for (uint32_t i = 0; i < r->t->events.n; i++) {
		const struct gus_topdown_event *e = &r->t->events.v[i];
		uint32_t seen = 0;

		if (e->grouped && e->group == group && e->counters && !place(r->t, i, &seen, holder))
			return gus_topdown_wrong(r, "there is no counter for event '%s' of group '%s'", e->name,
				     r->t->groups.v[group]);
	}
	return 0;
}

static int check(struct gus_topdown_reader *r)
{
	if (!r->t->name || !r->t->nodes.n)
		return gus_topdown_wrong(r, "a table has a name and nodes");
	if (!r->pmu && !r->t->lacks)
		return gus_topdown_wrong(r, "a table says which PMU it is about");
	for (size_t i = 0; i < r->t->nodes.n; i++)
		if (!r->t->nodes.v[i].formula.n)
			return gus_topdown_wrong(r, "node '%s' has no value", r->t->nodes.v[i].name);
	for (uint32_t i = 0; i < r->t->groups.n; i++)
		if (check_group(r, i) != 0)
			return -1;
	return 0;
}

int gus_topdown_parse(struct gus_topdown **table, const char *name, const char *text, size_t size,
		      const struct gus_topdown_host *host, struct gus_error *err)
{
	struct gus_topdown_reader r = { .t = gus_zalloc(sizeof(*r.t)), .host = host, .name = name, .err = err };
	struct gus_piece all = { text, size };
	int rc = 0;

	*table = NULL;
	r.t->smt = host->smt;
	r.t->watchdog = host->watchdog;
	while (all.size && rc == 0 && !r.elsewhere) {
		r.rest = gus_piece_cut(&all, '\n');
		r.line++;
		rc = read_line(&r);
	}
	if (rc == 0 && (r.matched || !r.says_cpus)) {
		rc = check(&r);
		if (rc == 0) {
			*table = r.t;
			return 0;
		}
	}
	gus_topdown_free(r.t);
	return rc;
}
