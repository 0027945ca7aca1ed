/* SPDX-License-Identifier: MIT */
/* Cells become rows. A place is named once, however many cells are at it: its names are a nest of rows, the innermost
 * inlined function first. A cell's samples and weight go to the first row of its place's nest, and to no other, so rows
 * add up to the profile whatever they are made by; that is asserted.
 *
 * With chains a row has a second figure: its total, of all cells that have it anywhere on their path, and edges to its
 * callers. In recursion a function is on one path several times, and so is a call from it to itself. Both count a cell
 * once: a total is then at most the profile's weight, and a share of it is a share of the time, as a sum over frames
 * would not be. Paths are walked as the tree that they are, from the outermost callers in, and how often a row or an
 * edge is on the way is kept beside it: only where it is not yet does it get all of the weight below. So the time that
 * takes follows the number of paths, and not that of cells and how deep they are.
 *
 * Rows and edges come in an order in which no two are equal, so it never shows in which order cells came. */
#include "attribution/profile/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/nests.h"
#include "attribution/profile/touch.h"
#include "base/heed.h"
#include "base/index.h"

/* What makes two places the same row. Unused parts are zero; names are numbers of the view's strings. Keys are compared
 * byte by byte: no padding may be in them. */
struct row_key { uint32_t module, function, file, line, thread, process, comm, touch; uint64_t offset; };

/* What a place of code makes of a row. */
struct coded { struct row_key key; uint64_t offset; bool has_offset; };

struct edge_key { uint32_t from, to; };

/* How often each thing, by its number, is on the way to where the walk is. */
struct inside gus_vec(uint32_t);

/* A row on that way, and the call by which it was come to. */
struct entered { uint32_t row, edge; };

struct maker {
	struct gus_view *v;
	struct gus_profile *p;
	bool inlines;
	struct gus_index keys;             /* rows */
	struct gus_nests nests;            /* of rows */
	struct gus_index edges;
	struct inside inside_rows, inside_edges;
	struct gus_vec(struct entered) way;
	struct gus_vec(struct coded) codes; /* by number of nests, of rows that are not of code alone */
};

static const struct gus_component unknown = { .unknown = true };

static const char *get(const struct gus_view *v, uint32_t string)
{
	return string ? gus_strings_get(&v->strings, string) : NULL;
}

static uint32_t intern(struct gus_view *v, const char *text)
{
	return text ? gus_strings_add(&v->strings, text) : 0;
}

static uint32_t row_of(struct maker *m, const struct coded *code)
{
	const struct row_key *key = &code->key;
	const bool has_offset = code->has_offset;
	const uint64_t offset = code->offset;
	bool is_new;
	uint32_t number = gus_index_add(&m->keys, key, &is_new);
	struct gus_row *row;

	if (is_new) {
		gus_vec_push(&m->v->rows, (struct gus_row){
			.module = key->module,
			.function = get(m->v, key->function),
			.file = get(m->v, key->file),
			.line = key->line,
			.thread = key->thread,
			.touch = key->touch,
			.offset = offset,
			.has_offset = has_offset,
		});
		gus_stack_add(&m->v->rows.v[number].stack, unknown, GUS_UNKNOWN, 0);
	}
	row = &m->v->rows.v[number];
	if (has_offset && (!row->has_offset || offset < row->offset))
		row->offset = offset;
	row->has_offset |= has_offset;
	return number;
}

/* With inlines a function is its name, wherever its copies are; without, it is the symbol at an address, so that two
 * static functions of one name stay two rows. An inlined copy has no start that the row could show. */
static struct coded function_code(struct maker *m, struct gus_place place, const struct gus_name *name)
{
	struct coded c = { .key = { .module = place.module, .function = intern(m->v, name->function) } };
	bool known = name->function != NULL;

	if (known && !m->inlines)
		c.key.offset = name->start;
	c.offset = name->start;
	c.has_offset = known && !name->inlined;
	return c;
}

static struct coded line_code(struct maker *m, struct gus_place place, const struct gus_name *name)
{
	struct coded c = { .key = { .module = place.module, .function = intern(m->v, name->function) } };

	c.key.file = intern(m->v, name->file);
	c.key.line = name->line;
	return c;
}

static struct coded instruction_code(struct maker *m, struct gus_place place, const struct gus_name *name)
{
	struct coded c = line_code(m, place, name);

	c.key.offset = c.offset = place.offset;
	c.has_offset = true;
	return c;
}

static struct coded module_code(struct maker *m, struct gus_place place, const struct gus_name *name)
{
	(void)m;
	(void)name;
	return (struct coded){ .key = { .module = place.module } };
}

static uint32_t named(void *context, struct gus_place place, const struct gus_name *name)
{
	struct maker *m = context;
	const unsigned by = m->v->by;
	struct coded code = (by & GUS_BY_INSTRUCTION ? instruction_code : by & GUS_BY_LINE ? line_code :
			     by & GUS_BY_FUNCTION ? function_code : module_code)(m, place, name);

	if (gus_by_is_code(by))
		return row_of(m, &code);
	gus_vec_push(&m->codes, code);
	return (uint32_t)m->codes.n - 1;
}

/* Without inlines the source line is that of the address still, but the function is the outermost. */
static enum gus_depth depth_of(const struct maker *m)
{
	if (!gus_by_has_code(m->v->by) || m->v->by & GUS_BY_MODULE || (m->v->by & GUS_BY_FUNCTION && !m->inlines))
		return GUS_DEPTH_FUNCTION;
	return m->inlines ? GUS_DEPTH_INLINE : GUS_DEPTH_LINE;
}

static uint32_t *count_of(struct inside *inside, uint32_t number)
{
	while (inside->n <= number)
		gus_vec_push(inside, 0);
	return &inside->v[number];
}

static uint32_t edge_of(struct maker *m, uint32_t from, uint32_t to)
{
	struct edge_key key = { from, to };
	bool is_new;
	uint32_t number = gus_index_add(&m->edges, &key, &is_new);

	if (is_new)
		gus_vec_push(&m->v->by_callee, (struct gus_edge){ from, to, 0 });
	return number;
}

/* Goes into a place, below which there is so much weight. */
static void enter(struct maker *m, struct gus_nest nest, uint64_t weight)
{
	for (size_t i = nest.n; i--; ) {
		struct entered e = { m->nests.numbers.v[nest.first + i], GUS_INDEX_NONE };

		if (!(*count_of(&m->inside_rows, e.row))++)
			m->v->rows.v[e.row].total += weight;
		if (m->way.n && m->v->by == GUS_BY_FUNCTION) {
			e.edge = edge_of(m, m->way.v[m->way.n - 1].row, e.row);
			if (!(*count_of(&m->inside_edges, e.edge))++)
				m->v->by_callee.v[e.edge].weight += weight;
		}
		gus_vec_push(&m->way, e);
	}
}

static void leave(struct maker *m, struct gus_nest nest)
{
	while (nest.n--) {
		struct entered e = m->way.v[--m->way.n];

		m->inside_rows.v[e.row]--;
		if (e.edge != GUS_INDEX_NONE)
			m->inside_edges.v[e.edge]--;
	}
}

/* What a process is called: as its first thread was at its last sample, or, if that had none, in the end. */
static const char *process_comm(const struct gus_profile *p, uint32_t pid)
{
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.v[i].pid == pid && p->threads.v[i].tid == pid)
			return p->threads.v[i].comm;
	return gus_space_comm(p->space, pid, pid, UINT64_MAX);
}

static void set_task(struct maker *m, struct gus_row *row, const struct gus_cell *cell)
{
	const struct gus_thread *t = &m->p->threads.v[cell->thread];
	const unsigned by = m->v->by;

	if (by & (GUS_BY_THREAD | GUS_BY_PROCESS)) {
		row->pid = t->pid;
		row->tid = by & GUS_BY_THREAD ? t->tid : 0;
		row->comm = by & GUS_BY_THREAD ? t->comm : process_comm(m->p, t->pid);
	}
	if (by & GUS_BY_COMM)
		row->comm = m->p->comms.v[cell->comm];
}

/* The row of a cell by whatever makes rows: code, tasks, data. */
static uint32_t mixed_row(struct maker *m, const struct gus_cell *cell)
{
	const struct gus_thread *t = &m->p->threads.v[cell->thread];
	struct coded code = { .key = { .module = GUS_INDEX_NONE } };
	const unsigned by = m->v->by;
	size_t before = m->v->rows.n;
	uint32_t number;

	if (gus_by_has_code(by)) {
		struct gus_nest nest = gus_nests_at(&m->nests, cell->place); /* which may move the numbers */

		code = m->codes.v[m->nests.numbers.v[nest.first]];
	}
	code.key.thread = by & GUS_BY_THREAD ? cell->thread : 0;
	code.key.process = by & GUS_BY_PROCESS ? t->pid : 0;
	code.key.comm = by & GUS_BY_COMM ? cell->comm : 0;
	code.key.touch = by & GUS_BY_DATA ? cell->touch : 0;
	number = row_of(m, &code);
	if (m->v->rows.n > before && by & GUS_BY_TASK)
		set_task(m, &m->v->rows.v[number], cell);
	return number;
}

/* Gives a cell to its row. */
static void add_cell(struct maker *m, uint32_t number, uint32_t row)
{
	const struct gus_cell *cell = &m->p->cells.v[number];

	m->v->of_cell.v[number] = row;
	m->v->rows.v[row].samples += cell->samples;
	m->v->rows.v[row].weight += cell->weight;
	gus_off_add(&m->v->rows.v[row].off, &cell->off);
	/* A sample says where, and nothing of why. */
	gus_stack_add(&m->v->rows.v[row].stack, unknown, GUS_UNKNOWN, cell->weight);
}

static void tell_progress(const struct maker *m, size_t done)
{
	if (done % 256 == 0)
		gus_heed_tell(m->p->heed, "naming functions", (double)done / (double)m->p->cells.n);
}

static void add_mixed(struct maker *m)
{
	for (uint32_t i = 0; i < m->p->cells.n; i++) {
		uint32_t row = mixed_row(m, &m->p->cells.v[i]);

		m->v->rows.v[row].total += m->p->cells.v[i].weight;
		add_cell(m, i, row);
		if (gus_by_has_code(m->v->by))
			tell_progress(m, i);
	}
}

/* Loads of each row, by how long they took. Cells have numbers of their own, and not all are left. */
static void add_latencies(struct maker *m)
{
	struct gus_latency_list rows;
	uint32_t *row_of_number, n = 0;

	for (size_t i = 0; i < m->p->cells.n; i++)
		n = m->p->cells.v[i].number >= n ? m->p->cells.v[i].number + 1 : n;
	row_of_number = gus_resize(NULL, (size_t)n + 1, sizeof(*row_of_number));
	memset(row_of_number, 0xff, ((size_t)n + 1) * sizeof(*row_of_number));
	for (size_t i = 0; i < m->p->cells.n; i++)
		row_of_number[m->p->cells.v[i].number] = m->v->of_cell.v[i];
	rows = gus_latency_regrouped(&m->p->touches->loads, row_of_number, n);
	for (size_t i = 0, end; i < rows.all.n; i = end) {
		for (end = i; end < rows.all.n && rows.all.v[end].of == rows.all.v[i].of; end++)
			;
		m->v->rows.v[rows.all.v[i].of].loads = gus_latencies_of(rows.all.v + i, end - i);
	}
	gus_latency_free(&rows);
	free(row_of_number);
}

/* Paths as a tree, those alone that have cells. Numbers of cells are one higher, so that 0 is none. */
struct branch { uint64_t weight; uint32_t first, next, cell; };
struct walk { struct branch *paths; uint32_t *next_cell, told; };

static void link_paths(const struct gus_profile *p, struct walk *w)
{
	w->paths = gus_zalloc((p->paths.n + 1) * sizeof(*w->paths));
	w->next_cell = gus_zalloc((p->cells.n + 1) * sizeof(*w->next_cell));
	for (uint32_t i = (uint32_t)p->cells.n; i--; ) {
		struct branch *b = &w->paths[p->cells.v[i].path];

		b->weight += p->cells.v[i].weight;
		w->next_cell[i] = b->cell;
		b->cell = i + 1;
	}
	for (uint32_t i = (uint32_t)p->paths.n; i-- > 1; ) {
		struct branch *b = &w->paths[i], *caller = &w->paths[p->paths.v[i].caller];

		if (!b->first && !b->cell)
			continue;
		caller->weight += b->weight;
		b->next = caller->first;
		caller->first = i;
	}
}

static void add_cells_of(struct maker *m, struct walk *w, uint32_t path)
{
	for (uint32_t cell = w->paths[path].cell; cell; cell = w->next_cell[cell - 1]) {
		struct gus_nest nest = gus_nests_at(&m->nests, m->p->cells.v[cell - 1].place);

		enter(m, nest, m->p->cells.v[cell - 1].weight);
		add_cell(m, cell - 1, m->nests.numbers.v[nest.first]);
		leave(m, nest);
		tell_progress(m, w->told++);
	}
}

/* To the next path in the walk; 0 at its end. */
static uint32_t step(struct maker *m, const struct walk *w, uint32_t path)
{
	if (w->paths[path].first)
		return w->paths[path].first;
	for (; path; path = m->p->paths.v[path].caller) {
		leave(m, gus_nests_at(&m->nests, m->p->paths.v[path].place));
		if (w->paths[path].next)
			return w->paths[path].next;
	}
	return 0;
}

static void add_code(struct maker *m)
{
	struct walk w = { 0 };
	uint32_t path = 0;

	link_paths(m->p, &w);
	do {
		if (path)
			enter(m, gus_nests_at(&m->nests, m->p->paths.v[path].place), w.paths[path].weight);
		add_cells_of(m, &w, path);
	} while ((path = step(m, &w, path)));
	free(w.paths);
	free(w.next_cell);
}

/* Order. Everything that can differ between two rows decides in the end, so that it never depends on the input's. */

static int text_order(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

#define GUS_ORDER_(x, y) \
	if ((x) != (y)) \
		return (x) < (y) ? -1 : 1

static int by_weight(const struct gus_row *x, const struct gus_row *y, const void *touches)
{
	int order;

	GUS_ORDER_(y->weight, x->weight);
	GUS_ORDER_(y->total, x->total);
	order = text_order(x->function, y->function);
	if (!order)
		order = text_order(x->file, y->file);
	if (order)
		return order;
	GUS_ORDER_(x->module, y->module);
	GUS_ORDER_(x->line, y->line);
	GUS_ORDER_(x->offset, y->offset);
	GUS_ORDER_(x->thread, y->thread);
	GUS_ORDER_(x->pid, y->pid);
	order = text_order(x->comm, y->comm);
	return order || x->touch == y->touch ? order : gus_touch_order(touches, x->touch, y->touch);
}

static int by_callee(const void *a, const void *b)
{
	const struct gus_edge *x = a, *y = b;

	GUS_ORDER_(x->to, y->to);
	GUS_ORDER_(y->weight, x->weight);
	GUS_ORDER_(x->from, y->from);
	return 0;
}

static int by_caller(const void *a, const void *b)
{
	const struct gus_edge *x = a, *y = b;

	GUS_ORDER_(x->from, y->from);
	GUS_ORDER_(y->weight, x->weight);
	GUS_ORDER_(x->to, y->to);
	return 0;
}

/* A row and where it stood: the tie-break that makes the sort stable. */
struct numbered { struct gus_row row; uint32_t number; };
struct ordering {
	int (*order)(const struct gus_row *, const struct gus_row *, const void *);
	const void *context;
};

static int stably(const void *a, const void *b, void *context)
{
	const struct numbered *x = a, *y = b;
	const struct ordering *o = context;
	int order = o->order(&x->row, &y->row, o->context);

	if (order)
		return order;
	GUS_ORDER_(x->number, y->number);
	return 0;
}

static void sort_edges(struct gus_view *v, const uint32_t *now_at)
{
	for (size_t i = 0; i < v->by_callee.n; i++) {
		v->by_callee.v[i].from = now_at[v->by_callee.v[i].from];
		v->by_callee.v[i].to = now_at[v->by_callee.v[i].to];
	}
	v->by_caller.n = 0;
	gus_vec_append(&v->by_caller, v->by_callee.v, v->by_callee.n);
	if (v->by_callee.n) {
		qsort(v->by_callee.v, v->by_callee.n, sizeof(struct gus_edge), by_callee);
		qsort(v->by_caller.v, v->by_caller.n, sizeof(struct gus_edge), by_caller);
	}
}

void gus_view_sort(struct gus_view *v,
		   int (*order)(const struct gus_row *, const struct gus_row *, const void *context),
		   const void *context)
{
	struct numbered *all = gus_resize(NULL, v->rows.n, sizeof(*all));
	uint32_t *now_at = gus_resize(NULL, v->rows.n, sizeof(*now_at));
	struct ordering ordering = { order, context };

	for (uint32_t i = 0; i < v->rows.n; i++)
		all[i] = (struct numbered){ v->rows.v[i], i };
	qsort_r(all, v->rows.n, sizeof(*all), stably, &ordering);
	for (uint32_t i = 0; i < v->rows.n; i++) {
		v->rows.v[i] = all[i].row;
		now_at[all[i].number] = i;
	}
	for (size_t i = 0; i < v->of_cell.n; i++)
		v->of_cell.v[i] = now_at[v->of_cell.v[i]];
	sort_edges(v, now_at);
	free(all);
	free(now_at);
}

/* The run of edges whose end (from, or to) is row, in a list sorted by that end. */
static const struct gus_edge *run_of(const struct gus_edges *edges, bool callers, uint32_t row, size_t *n)
{
	size_t low = 0, high = edges->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((callers ? edges->v[middle].to : edges->v[middle].from) < row)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < edges->n && (callers ? edges->v[high].to : edges->v[high].from) == row; high++)
		;
	*n = high - low;
	return edges->v + low;
}

const struct gus_edge *gus_view_callers(const struct gus_view *v, uint32_t row, size_t *n)
{
	return run_of(&v->by_callee, true, row, n);
}

const struct gus_edge *gus_view_callees(const struct gus_view *v, uint32_t row, size_t *n)
{
	return run_of(&v->by_caller, false, row, n);
}

static void check_sums(const struct gus_view *v, const struct gus_profile *p)
{
	uint64_t samples = 0, weight = 0;

	for (size_t i = 0; i < v->rows.n; i++) {
		samples += v->rows.v[i].samples;
		weight += v->rows.v[i].weight;
		gus_stack_check(&v->rows.v[i].stack, v->rows.v[i].weight);
	}
	assert(samples == p->samples && weight == p->weight);
	(void)samples;
	(void)weight;
	(void)p;
}

/* Time off the CPU is observed, but for what was inferred of switches that were not sampled, and of that any may be the
 * row's or none. Time on the CPU is what samples make of it. */
static struct gus_interval interval_of_time(const struct gus_row *row, const struct gus_profile *p, uint64_t off)
{
	double all = (double)p->weight, on = (double)(p->weight - off);
	double observed = (double)(row->off.ns - row->off.inferred) / all;
	struct gus_interval of_on = { 0, 0 };

	if (on > 0)
		of_on = gus_interval_share((double)(row->weight - row->off.ns) / on,
					   p->weight2 > 0 ? on * on / p->weight2 : 0);
	return (struct gus_interval){ observed + of_on.low * on / all,
				      fmin(1, observed + (double)p->wall.inferred_ns / all + of_on.high * on / all) };
}

static void add_shares_of_time(struct gus_view *v, const struct gus_profile *p)
{
	uint64_t off = 0;

	for (size_t i = 0; i < v->rows.n; i++)
		off += v->rows.v[i].off.ns;
	for (size_t i = 0; i < v->rows.n; i++) {
		struct gus_row *row = &v->rows.v[i];

		row->share = p->weight ? (double)row->weight / (double)p->weight : 0;
		row->ci95 = p->weight ? interval_of_time(row, p, off) : gus_interval_share(0, 0);
	}
}

/* Samples of unequal weight tell less than as many equal ones: they are worth (sum w)^2 / sum w^2 of those (Kish 1965),
 * which is their number where all weigh the same. */
struct gus_interval gus_view_interval(const struct gus_profile *p, uint64_t weight)
{
	double effective = p->weight2 > 0 ? (double)p->weight * (double)p->weight / p->weight2 : 0;
	double share = p->weight ? (double)weight / (double)p->weight : 0;

	return gus_interval_widen(gus_interval_share(share, effective), gus_profile_unsampled_share(p, p->weight));
}

static void add_shares(struct gus_view *v, const struct gus_profile *p)
{
	for (size_t i = 0; i < v->rows.n; i++) {
		struct gus_row *row = &v->rows.v[i];

		row->share = p->weight ? (double)row->weight / (double)p->weight : 0;
		row->ci95 = gus_view_interval(p, row->weight);
	}
}

/* Lines and instructions are one row each, however deep the inlining: only functions nest. Where chains were not asked
 * for nobody wants to know who called whom, and only rows that have samples are shown; where they were and there are
 * none, the calls that were inlined are all that is known, and trees have them as well. */
static void begin_nests(struct maker *m)
{
	m->nests = (struct gus_nests){ .profile = m->p, .depth = depth_of(m), .number = named, .context = m };
	m->nests.whole = m->inlines && m->v->by == GUS_BY_FUNCTION && m->p->chains;
	gus_nests_begin(&m->nests);
}

void gus_view_make(struct gus_view *v, struct gus_profile *p, unsigned by, bool inlines)
{
	struct maker m = { .v = v, .p = p, .inlines = inlines };

	*v = (struct gus_view){ .by = gus_by_settled(by) };
	gus_strings_init(&v->strings);
	gus_index_init(&m.keys, sizeof(struct row_key));
	gus_index_init(&m.edges, sizeof(struct edge_key));
	begin_nests(&m);
	gus_vec_reserve(&v->of_cell, p->cells.n + 1);
	v->of_cell.n = p->cells.n;
	if (gus_by_is_code(v->by))
		add_code(&m);
	else
		add_mixed(&m);
	if (p->touches && p->touches->loads.all.n)
		add_latencies(&m);
	gus_view_sort(v, by_weight, p->touches);
	(p->weighs == GUS_WEIGHS_EVENTS ? add_shares : add_shares_of_time)(v, p);
	check_sums(v, p);
	gus_index_free(&m.keys);
	gus_nests_end(&m.nests);
	gus_index_free(&m.edges);
	gus_vec_free(&m.inside_rows);
	gus_vec_free(&m.inside_edges);
	gus_vec_free(&m.way);
	gus_vec_free(&m.codes);
}

void gus_view_free(struct gus_view *v)
{
	for (size_t i = 0; i < v->rows.n; i++)
		gus_stack_free(&v->rows.v[i].stack);
	gus_vec_free(&v->rows);
	gus_vec_free(&v->by_callee);
	gus_vec_free(&v->by_caller);
	gus_vec_free(&v->of_cell);
	gus_strings_free(&v->strings);
}
