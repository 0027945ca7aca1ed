/* SPDX-License-Identifier: MIT */
#include "attribution/profile/annotation.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/index.h"
#include "base/limits.h"

#define NONE GUS_ANNOTATION_NONE

/* All samples of the function at one offset. */
struct point { uint64_t offset, samples, weight; };

struct line_key { uint32_t file, line, function, inlined; };

struct annotator {
	struct gus_annotation *a;
	struct gus_profile *p;
	enum gus_isa isa;
	uint8_t *bytes;
	size_t bytes_n;                   /* that are there: a->size or less */
	struct gus_vec(struct point) points; /* by offset */
	double effective;                 /* number of samples, for the intervals */
	double unsampled;                 /* part of the function's time that may not have been sampled, likewise */
	struct gus_index line_keys;
};

/* The samples. */

static size_t first_cell(const struct gus_profile *p, uint32_t module)
{
	size_t low = 0, high = p->cells.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->cells.v[middle].place.module < module)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether a place is the row's: the same question that made the row, since a symbol can lie within another one. Notes
 * how long the function is. */
static bool is_own(struct annotator *m, uint64_t offset)
{
	struct gus_name names[GUS_NAMES_MAX];

	gus_symbols_names(m->p->symbols, m->a->module, offset, GUS_DEPTH_FUNCTION, names);
	if (!names[0].function || names[0].start != m->a->offset || strcmp(names[0].function, m->a->row->function) != 0)
		return false;
	m->a->size = names[0].size;
	return true;
}

/* Cells are sorted by module, then by offset. */
static void collect(struct annotator *m)
{
	const struct gus_annotation *a = m->a;
	uint64_t samples = 0, weight = 0, last = 0;
	bool any = false, own = false;
	double weight2 = 0;

	for (size_t i = first_cell(m->p, a->row->module); i < m->p->cells.n; i++) {
		const struct gus_cell *cell = &m->p->cells.v[i];
		uint64_t offset = cell->place.offset;

		if (cell->place.module != a->row->module)
			break;
		if (!any || offset != last) {
			own = is_own(m, offset);
			if (own)
				gus_vec_push(&m->points, (struct point){ offset, 0, 0 });
		}
		any = true;
		last = offset;
		if (!own)
			continue;
		m->points.v[m->points.n - 1].samples += cell->samples;
		m->points.v[m->points.n - 1].weight += cell->weight;
		samples += cell->samples;
		weight += cell->weight;
		weight2 += cell->weight2;
	}
	/* What the report shows is what is taken apart here. */
	assert(samples == a->row->samples && weight == a->row->weight);
	m->effective = weight2 > 0 ? (double)weight * (double)weight / weight2 : 0;
	m->unsampled = gus_profile_unsampled_share(m->p, weight);
}

static void weigh(const struct annotator *m, struct gus_weighed *w)
{
	w->share = m->a->row->weight ? (double)w->weight / (double)m->a->row->weight : 0;
	w->ci95 = gus_interval_widen(gus_interval_share(w->share, m->effective), m->unsampled);
}

static void add(struct gus_weighed *to, const struct gus_weighed *w)
{
	to->samples += w->samples;
	to->weight += w->weight;
}

/* The instructions: those of the straight run through the code, and where else samples were seen. */

static void push_insn(struct annotator *m, uint64_t at, uint8_t length, uint32_t loop, bool aside,
		      const struct point *point)
{
	const struct gus_component unknown = { .unknown = true };
	struct gus_annotation_insn insn = {
		.offset = m->a->offset + at, .address = m->a->address + at, .length = length,
		.line = NONE, .loop = loop,
		.aside = aside, .w = { .samples = point ? point->samples : 0, .weight = point ? point->weight : 0 } };

	gus_stack_add(&insn.stack, unknown, GUS_UNKNOWN, insn.w.weight);
	gus_vec_push(&m->a->insns, insn);
}

/* Pushes the points before an offset; they lie within the instruction before, if there is one. */
static size_t push_aside(struct annotator *m, size_t next, uint64_t before, uint32_t loop)
{
	for (; next < m->points.n && m->points.v[next].offset < before; next++) {
		uint64_t at = m->points.v[next].offset - m->a->offset;
		struct gus_insn insn = { 0 };

		if (at < m->bytes_n)
			gus_insn_decode(m->isa, m->bytes + at, m->bytes_n - at, m->a->address + at, &insn);
		push_insn(m, at, insn.length, loop, true, &m->points.v[next]);
	}
	return next;
}

static void list_insns(struct annotator *m)
{
	const struct gus_graph *g = &m->a->graph;
	uint32_t loop = GUS_GRAPH_NONE;
	size_t next = 0;

	for (size_t i = 0; i < g->insns.n; i++) {
		uint64_t offset = m->a->offset + g->insns.v[i].offset;
		const struct point *point;

		next = push_aside(m, next, offset, loop);
		loop = g->loop[i];
		point = next < m->points.n && m->points.v[next].offset == offset ? &m->points.v[next++] : NULL;
		push_insn(m, g->insns.v[i].offset, g->insns.v[i].length, loop, false, point);
	}
	push_aside(m, next, UINT64_MAX, loop);
}

/* Their text. */

static const char *intern(struct gus_annotation *a, const char *text)
{
	return gus_strings_get(&a->strings, gus_strings_add(&a->strings, text));
}

/* "NAME" or "NAME+0x12" of a place in code, NULL if it has no name. */
static const char *name_place(struct annotator *m, uint64_t offset)
{
	struct gus_name names[GUS_NAMES_MAX];
	const char *interned;
	char *text;

	gus_symbols_names(m->p->symbols, m->a->module, offset, GUS_DEPTH_FUNCTION, names);
	if (!names[0].function)
		return NULL;
	if (offset == names[0].start)
		return names[0].function;
	text = gus_format("%s+0x%" PRIx64, names[0].function, offset - names[0].start);
	interned = intern(m->a, text);
	free(text);
	return interned;
}

/* Puts what people call the target in place of its address, which is the last operand. */
static const char *retarget(struct gus_annotation *a, const char *text, const char *target)
{
	const char *at = strrchr(text, '#'), *interned;
	char *changed;

	for (const char *next = at ? NULL : strstr(text, "0x"); next; next = strstr(next + 1, "0x"))
		at = next;
	if (!at)
		return intern(a, text);
	changed = gus_format("%.*s%s", (int)(at - text), text, target);
	interned = intern(a, changed);
	free(changed);
	return interned;
}

static bool is_direct(const struct gus_graph_insn *i)
{
	return i->class == GUS_INSN_BRANCH_COND || i->class == GUS_INSN_BRANCH || i->class == GUS_INSN_CALL;
}

/* The row of an instruction of the graph: asides lie between them. */
static struct gus_annotation_insn *insn_at(struct gus_annotation *a, uint64_t offset)
{
	size_t low = 0, high = a->insns.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->insns.v[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return &a->insns.v[low];
}

/* Where direct jumps and calls go; labels are for jumps within the function. */
static void find_targets(struct annotator *m)
{
	struct gus_annotation *a = m->a;

	for (size_t i = 0; i < a->graph.insns.n; i++) {
		const struct gus_graph_insn *from = &a->graph.insns.v[i];
		struct gus_annotation_insn *row = insn_at(a, a->offset + from->offset);

		if (!is_direct(from))
			continue;
		row->jumps = true;
		row->leaves = from->target == GUS_GRAPH_NONE;
		row->target = a->offset + from->jump;
		if (row->leaves)
			row->to = name_place(m, row->target);
		else
			insn_at(a, row->target)->label = 1;
	}
	for (size_t i = 0; i < a->insns.n; i++)
		if (a->insns.v[i].label)
			a->insns.v[i].label = ++a->labels;
}

static void write_texts(struct annotator *m)
{
	struct gus_annotation *a = m->a;

	for (size_t i = 0; i < a->insns.n; i++) {
		struct gus_annotation_insn *row = &a->insns.v[i];
		uint64_t at = row->offset - a->offset;
		struct gus_insn insn = { 0 };
		char label[16];

		if (row->length)
			gus_insn_decode(m->isa, m->bytes + at, m->bytes_n - at, row->address, &insn);
		snprintf(label, sizeof(label), "L%" PRIu32,
			 row->jumps && !row->leaves ? insn_at(a, row->target)->label : 0);
		if (row->jumps && (!row->leaves || row->to))
			row->text = retarget(a, insn.text, row->leaves ? row->to : label);
		else
			row->text = intern(a, insn.text);
	}
}

/* Source lines. */

static bool same_calls(const struct gus_annotation *a, const struct gus_annotation_insn *insn,
		       const struct gus_name *names, size_t n)
{
	if (insn->calls_n != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct gus_annotation_call *call = &a->calls.v[insn->calls + i];

		if (call->function != names[i].function || call->file != names[i].file || call->line != names[i].line)
			return false;
	}
	return true;
}

/* Neighbours mostly share their calls. */
static void set_calls(struct gus_annotation *a, size_t number, const struct gus_name *names, size_t n)
{
	struct gus_annotation_insn *insn = &a->insns.v[number];

	if (number && same_calls(a, &a->insns.v[number - 1], names, n)) {
		insn->calls = a->insns.v[number - 1].calls;
	} else {
		insn->calls = (uint32_t)a->calls.n;
		for (size_t i = 0; i < n; i++)
			gus_vec_push(&a->calls, (struct gus_annotation_call){ names[i].function, names[i].file,
									      names[i].line });
	}
	insn->calls_n = (uint32_t)n;
}

static uint32_t line_of(struct annotator *m, const struct gus_name *name, const struct gus_annotation_insn *insn)
{
	struct gus_annotation *a = m->a;
	struct line_key key = { .line = name->line, .inlined = name->inlined };
	uint32_t number;
	bool is_new;

	if (!name->file || !name->line)
		return NONE;
	key.file = gus_strings_add(&a->strings, name->file);
	key.function = gus_strings_add(&a->strings, name->function ? name->function : "");
	number = gus_index_add(&m->line_keys, &key, &is_new);
	if (is_new)
		gus_vec_push(&a->lines, (struct gus_annotation_line){
			.file = name->file, .line = name->line, .function = name->function, .inlined = name->inlined,
			.calls = insn->calls, .calls_n = insn->calls_n });
	return number;
}

static void find_lines(struct annotator *m)
{
	struct gus_annotation *a = m->a;

	gus_index_init(&m->line_keys, sizeof(struct line_key));
	for (size_t i = 0; i < a->insns.n; i++) {
		struct gus_annotation_insn *insn = &a->insns.v[i];
		struct gus_name names[GUS_NAMES_MAX];
		size_t n = gus_symbols_names(m->p->symbols, a->module, insn->offset, GUS_DEPTH_INLINE, names);

		set_calls(a, i, names + 1, n - 1);
		insn->line = line_of(m, &names[0], insn);
		if (insn->line != NONE)
			add(&a->lines.v[insn->line].w, &insn->w);
	}
	gus_index_free(&m->line_keys);
}

static int by_weight(const void *x, const void *y, void *context)
{
	const struct gus_annotation *a = context;
	const struct gus_annotation_line *l = &a->lines.v[*(const uint32_t *)x], *k = &a->lines.v[*(const uint32_t *)y];
	int order;

	if (l->w.weight != k->w.weight)
		return l->w.weight > k->w.weight ? -1 : 1;
	order = strcmp(l->file, k->file);
	if (!order)
		order = l->line < k->line ? -1 : l->line > k->line;
	if (!order)
		order = strcmp(l->function ? l->function : "", k->function ? k->function : "");
	return order ? order : l->inlined - k->inlined;
}

static void sort_lines(struct gus_annotation *a)
{
	size_t n = a->lines.n;
	uint32_t *order = gus_resize(NULL, n + 1, sizeof(*order)), *now = gus_resize(NULL, n + 1, sizeof(*now));
	struct gus_annotation_line *sorted = gus_resize(NULL, n + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_weight, a);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = a->lines.v[order[i]];
		now[order[i]] = i;
	}
	for (size_t i = 0; i < a->insns.n; i++)
		if (a->insns.v[i].line != NONE)
			a->insns.v[i].line = now[a->insns.v[i].line];
	if (n)
		memcpy(a->lines.v, sorted, n * sizeof(*sorted));
	free(order);
	free(now);
	free(sorted);
}

/* Each instruction counts for all loops around it. */
static void weigh_all(struct annotator *m)
{
	struct gus_annotation *a = m->a;
	double even = a->insns.n ? 1.0 / (double)a->insns.n : 1;
	uint64_t samples = 0, weight = 0;

	a->loops = gus_zalloc((a->graph.loops.n + 1) * sizeof(*a->loops));
	for (size_t i = 0; i < a->insns.n; i++) {
		struct gus_annotation_insn *insn = &a->insns.v[i];

		weigh(m, &insn->w);
		insn->hot = insn->w.share >= GUS_ANNOTATION_HOT && insn->w.ci95.low > even;
		samples += insn->w.samples;
		weight += insn->w.weight;
		gus_stack_check(&insn->stack, insn->w.weight);
		if (insn->loop != GUS_GRAPH_NONE)
			add(&a->loops[insn->loop], &insn->w);
	}
	assert(samples == a->row->samples && weight == a->row->weight);
	(void)samples;
	(void)weight;
	for (size_t i = a->graph.loops.n; i-- > 0;) { /* an outer one stands before all in it */
		if (a->graph.loops.v[i].outer != GUS_GRAPH_NONE)
			add(&a->loops[a->graph.loops.v[i].outer], &a->loops[i]);
		weigh(m, &a->loops[i]);
	}
	for (size_t i = 0; i < a->lines.n; i++)
		weigh(m, &a->lines.v[i].w);
}

/* The code. */

static int read_code(struct annotator *m, struct gus_error *err)
{
	struct gus_annotation *a = m->a;
	const char *trouble;
	unsigned machine = 0;

	m->bytes = gus_alloc(a->size);
	m->bytes_n = gus_symbols_code(m->p->symbols, a->module, a->offset, m->bytes, a->size, &machine);
	if (!m->bytes_n) {
		trouble = gus_symbols_code_trouble(m->p->symbols, a->module);
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot read the code of %s in %s: %s", a->row->function,
				a->module->path, trouble ? trouble : "its file has no bytes there");
	}
	m->isa = gus_isa_of_machine(machine);
	if (m->isa == GUS_ISA_UNKNOWN)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot disassemble %s in %s: it is code for ELF machine %u, "
				"and only x86 and arm64 are known", a->row->function, a->module->path, machine);
	return 0;
}

static int check_size(const struct gus_annotation *a, struct gus_error *err)
{
	if (a->size && a->size <= GUS_LIMIT_FUNCTION)
		return 0;
	return gus_fail(err, GUS_E_CORRUPT, "cannot annotate %s in %s: its symbol says that it has %" PRIu64 " bytes",
			a->row->function, a->module->path, a->size);
}

int gus_annotation_make(struct gus_annotation *a, struct gus_profile *p, const struct gus_row *row,
			struct gus_error *err)
{
	struct annotator m = { .a = a, .p = p };
	int rc = -1;

	*a = (struct gus_annotation){ .row = row, .module = gus_space_module(p->space, row->module) };
	gus_strings_init(&a->strings);
	a->offset = row->offset;
	a->address = gus_symbols_address(p->symbols, a->module, a->offset);
	collect(&m);
	if (check_size(a, err) == 0 && read_code(&m, err) == 0) {
		gus_graph_read(&a->graph, m.isa, m.bytes, m.bytes_n);
		list_insns(&m);
		find_targets(&m);
		write_texts(&m);
		find_lines(&m);
		sort_lines(a);
		weigh_all(&m);
		rc = 0;
	}
	free(m.bytes);
	gus_vec_free(&m.points);
	if (rc != 0)
		gus_annotation_free(a);
	return rc;
}

void gus_annotation_free(struct gus_annotation *a)
{
	gus_graph_free(&a->graph);
	for (size_t i = 0; i < a->insns.n; i++)
		gus_stack_free(&a->insns.v[i].stack);
	gus_vec_free(&a->insns);
	gus_vec_free(&a->lines);
	gus_vec_free(&a->calls);
	free(a->loops);
	gus_strings_free(&a->strings);
	*a = (struct gus_annotation){ 0 };
}
