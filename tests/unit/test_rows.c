/* SPDX-License-Identifier: MIT */
/* attribution/rows: cells that are written down here, with names from a table that plays the symbolizer, so that it is
 * known who is who, what is inlined where, and who calls whom. Weights are powers of two: a sum tells what is in it. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/rows.h"

#define NONE GUS_INDEX_NONE

/* The symbolizer. */

struct spot { uint64_t offset; size_t n; struct gus_name names[3]; }; /* the innermost first, as it tells them */

enum { LEAF = 0x10, LEAF2 = 0x14, TWIN = 0x20, TWIN2 = 0x30, NEST = 0x40, CALLER = 0x50, COPY = 0x60, BARE = 0x70 };
static const struct spot spots[] = {
	{ LEAF, 1, { { "leaf", 0x10, 8, "leaf.c", 3, false } } },
	{ LEAF2, 1, { { "leaf", 0x10, 8, "leaf.c", 4, false } } },
	{ TWIN, 1, { { "twin", 0x20, 8, "twin.c", 5, false } } },
	{ TWIN2, 1, { { "twin", 0x30, 8, "twin2.c", 5, false } } },
	{ NEST, 3, { { "inner", 0x40, 16, "inner.h", 7, true }, { "middle", 0x40, 16, "middle.h", 8, true },
		     { "outer", 0x40, 16, "outer.c", 9, false } } },
	{ CALLER, 2, { { "wrap", 0x50, 8, "wrap.h", 1, true }, { "caller", 0x50, 8, "caller.c", 2, false } } },
	{ COPY, 2, { { "twin", 0x60, 8, "twin.c", 5, true }, { "host", 0x60, 8, "host.c", 6, false } } },
	{ BARE, 1, { { NULL, 0, 0, NULL, 0, false } } },
};
static struct { unsigned questions, expected; enum gus_depth depth; } asked;

const struct gus_module *gus_space_module(const struct gus_space *space, uint32_t number)
{
	static const struct gus_module modules[2];

	assert_null(space);
	assert_in_range(number, 0, 1);
	return &modules[number];
}

const char *gus_space_comm(struct gus_space *space, uint32_t pid, uint32_t tid, uint64_t time)
{
	assert_null(space);
	/* Of the only process whose first thread has no samples. */
	assert_true(pid == 200 && tid == 200 && time == UINT64_MAX);
	return "in the end";
}

void gus_symbols_expect(struct gus_symbols *symbols, const struct gus_module *module, const uint64_t *offsets, size_t n)
{
	(void)symbols;
	(void)module;
	for (size_t i = 0; i < n; i++)
		assert_in_range(offsets[i], LEAF, BARE);
	asked.expected += n;
}

size_t gus_symbols_names(struct gus_symbols *symbols, const struct gus_module *module, uint64_t offset,
			 enum gus_depth depth, struct gus_name names[GUS_NAMES_MAX])
{
	const struct spot *s = spots;

	(void)symbols;
	(void)module;
	while (s->offset != offset)
		s++;
	asked.questions++;
	asked.depth = depth;
	memcpy(names, s->names, s->n * sizeof(*names));
	if (depth == GUS_DEPTH_INLINE)
		return s->n;
	names[0].function = s->names[s->n - 1].function;
	names[0].inlined = false;
	if (depth == GUS_DEPTH_FUNCTION) {
		names[0].file = NULL;
		names[0].line = 0;
	}
	return 1;
}

/* Of data nothing is asked here. */

struct gus_place gus_space_find_data(struct gus_space *space, uint32_t pid, uint64_t time, uint64_t address,
				     unsigned mode, bool *is_shared)
{
	(void)space;
	(void)pid;
	(void)time;
	(void)mode;
	*is_shared = false;
	fail();
	return (struct gus_place){ 0, address };
}

const char *gus_symbols_datum(struct gus_symbols *symbols, const struct gus_module *module, uint64_t offset,
			      uint64_t *begins)
{
	(void)symbols;
	(void)module;
	(void)offset;
	(void)begins;
	fail();
	return NULL;
}

/* The profile. */

static struct gus_cell cell(uint64_t offset, uint64_t weight)
{
	return (struct gus_cell){ .place = { 0, offset }, .samples = 1, .weight = weight };
}

static struct gus_cell cell_by(uint64_t offset, uint32_t path, uint64_t weight)
{
	struct gus_cell c = cell(offset, weight);

	c.path = path;
	return c;
}

/* Two processes; of the second only threads that it made later. */
static struct gus_thread tasks[] = {
	{ 100, 100, "main", 0, 0 }, { 100, 101, "worker", 0, 0 }, { 200, 201, "worker", 0, 0 }, { 0 }, { 0 },
	{ 300, 300, "alone", 0, 0 },
};
static const char *comms[] = { "sh", "worker", "gzip" };

static struct gus_profile profile_of(struct gus_cell *cells, size_t n, struct gus_path *paths, size_t paths_n)
{
	struct gus_profile p = { .cells = { cells, n, n }, .paths = { paths, paths_n, paths_n },
				 .threads = { tasks, 6, 6 }, .comms = { comms, 3, 3 }, .chains = paths_n > 1 };

	for (size_t i = 0; i < n; i++) {
		p.samples += cells[i].samples;
		p.weight += cells[i].weight;
		p.weight2 += (double)cells[i].samples * (double)cells[i].weight * (double)cells[i].weight;
	}
	return p;
}

static void view_of(struct gus_view *v, struct gus_cell *cells, size_t n, enum gus_by by, bool inlines)
{
	static struct gus_path none;
	struct gus_profile p = profile_of(cells, n, &none, 1);

	gus_view_make(v, &p, by, inlines);
}

static uint32_t row_named(const struct gus_view *v, const char *function)
{
	for (uint32_t i = 0; i < v->rows.n; i++)
		if (v->rows.v[i].function && strcmp(v->rows.v[i].function, function) == 0)
			return i;
	fail_msg("there is no row of %s", function);
	return NONE;
}

static const struct gus_row *row_of(const struct gus_view *v, const char *function)
{
	return &v->rows.v[row_named(v, function)];
}

static void has(const struct gus_view *v, const char *function, uint64_t weight, uint64_t total)
{
	const struct gus_row *row = row_of(v, function);

	if (row->weight != weight || row->total != total)
		fail_msg("%s: %u and in all %u, not %u and %u", function, (unsigned)row->weight, (unsigned)row->total,
			 (unsigned)weight, (unsigned)total);
}

/* The edge is there, and has that weight from both ends. */
static void calls(const struct gus_view *v, const char *from, const char *to, uint64_t weight)
{
	uint32_t caller = row_named(v, from), called = row_named(v, to);
	const struct gus_edge *e;
	unsigned seen = 0;
	size_t n;

	e = gus_view_callers(v, called, &n);
	for (size_t i = 0; i < n; i++)
		seen += e[i].from == caller && e[i].to == called && e[i].weight == weight;
	e = gus_view_callees(v, caller, &n);
	for (size_t i = 0; i < n; i++)
		seen += e[i].from == caller && e[i].to == called && e[i].weight == weight;
	if (seen != 2)
		fail_msg("%s calls %s with %u: found %u times, not once from each end", from, to, (unsigned)weight,
			 seen);
}

/* What is a row. */

/* Two of one name at different addresses are two rows; two places of one are one row, which shows where it starts. */
static void a_symbol_is_a_row(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 1), cell(LEAF2, 2), cell(TWIN, 4), cell(TWIN2, 8) };
	struct gus_view v;

	(void)state;
	view_of(&v, cells, 4, GUS_BY_FUNCTION, false);
	assert_int_equal(v.rows.n, 3);
	has(&v, "leaf", 3, 3);
	assert_int_equal(row_of(&v, "leaf")->samples, 2);
	assert_true(row_of(&v, "leaf")->has_offset);
	assert_int_equal(row_of(&v, "leaf")->offset, 0x10);
	assert_string_equal(v.rows.v[0].function, "twin");
	assert_int_equal(v.rows.v[0].offset, 0x30);
	assert_int_equal(v.rows.v[1].offset, 0x20);
	gus_view_free(&v);
}

/* With inlines a function is its name: both twins and the inlined copy. It begins where the lowest of them does that is
 * no copy, also if the copy comes first; a function that is only copies begins nowhere. */
static void with_inlines_a_name_is_a_row(void **state)
{
	struct gus_cell cells[] = { cell(COPY, 1), cell(TWIN2, 2), cell(TWIN, 4), cell(NEST, 8) };
	struct gus_view v;

	(void)state;
	view_of(&v, cells, 4, GUS_BY_FUNCTION, true);
	assert_int_equal(v.rows.n, 2); /* without chains nobody asks who is around */
	has(&v, "twin", 7, 7);
	assert_true(row_of(&v, "twin")->has_offset);
	assert_int_equal(row_of(&v, "twin")->offset, 0x20);
	has(&v, "inner", 8, 8);
	assert_false(row_of(&v, "inner")->has_offset);
	assert_int_equal(v.by_callee.n, 0);
	gus_view_free(&v);
}

/* A function of one name in two modules is two, and so is code without a name. */
static void modules_are_apart(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 1), cell(BARE, 2), cell(LEAF, 4), cell(BARE, 8) };
	struct gus_view v;

	(void)state;
	cells[2].place.module = cells[3].place.module = 1;
	view_of(&v, cells, 4, GUS_BY_FUNCTION, true);
	assert_int_equal(v.rows.n, 4);
	gus_view_free(&v);
	view_of(&v, cells, 4, GUS_BY_MODULE, true);
	assert_int_equal(v.rows.n, 2);
	assert_int_equal(v.rows.v[0].module, 1);
	assert_int_equal(v.rows.v[0].weight, 12);
	assert_int_equal(v.rows.v[1].weight, 3);
	assert_null(v.rows.v[0].function);
	assert_true(!v.rows.v[0].has_offset && v.rows.v[0].offset == 0);
	gus_view_free(&v);
}

static void a_line_is_file_line_and_function(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 1), cell(LEAF2, 2), cell(TWIN, 4), cell(TWIN2, 8), cell(COPY, 16),
				    cell(NEST, 32) };
	struct gus_view v;

	(void)state;
	view_of(&v, cells, 6, GUS_BY_LINE, true);
	assert_int_equal(v.rows.n, 5); /* the copy is on the line of the first twin, and is called twin, too */
	assert_string_equal(v.rows.v[0].file, "inner.h");
	assert_int_equal(v.rows.v[0].line, 7);
	assert_string_equal(v.rows.v[0].function, "inner");
	assert_false(v.rows.v[0].has_offset);
	assert_int_equal(v.rows.v[1].weight, 20);
	gus_view_free(&v);
	view_of(&v, cells, 6, GUS_BY_LINE, false);
	assert_int_equal(v.rows.n, 6); /* the same line as the first twin, but of host */
	assert_string_equal(v.rows.v[0].function, "outer");
	assert_string_equal(v.rows.v[0].file, "inner.h");
	gus_view_free(&v);
}

static void an_instruction_is_its_offset(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 1), cell(LEAF, 2), cell(LEAF2, 4) };
	struct gus_view v;

	(void)state;
	cells[1].thread = 1;
	view_of(&v, cells, 3, GUS_BY_INSTRUCTION, true);
	assert_int_equal(v.rows.n, 2);
	assert_true(v.rows.v[0].has_offset && v.rows.v[1].has_offset);
	assert_int_equal(v.rows.v[0].offset, LEAF2);
	assert_int_equal(v.rows.v[1].offset, LEAF);
	assert_int_equal(v.rows.v[1].weight, 3);
	assert_int_equal(v.rows.v[1].line, 3);
	gus_view_free(&v);
}

/* By thread nothing is named, and paths do not matter. */
static void a_thread_is_its_number(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 1), cell(TWIN, 2), cell_by(LEAF, 1, 4), cell(LEAF, 8) };
	struct gus_path paths[] = { { 0 }, { 0, 1, { 0, CALLER } } };
	struct gus_profile p;
	struct gus_view v;

	(void)state;
	cells[1].thread = cells[3].thread = 5;
	p = profile_of(cells, 4, paths, 2);
	asked.questions = 0;
	gus_view_make(&v, &p, GUS_BY_THREAD, true);
	assert_int_equal(asked.questions, 0);
	assert_int_equal(v.rows.n, 2);
	assert_int_equal(v.rows.v[0].thread, 5);
	assert_true(v.rows.v[0].weight == 10 && v.rows.v[0].total == 10 && v.rows.v[0].samples == 2);
	assert_int_equal(v.rows.v[1].thread, 0);
	assert_true(v.rows.v[1].weight == 5 && v.rows.v[1].total == 5);
	assert_int_equal(v.rows.v[0].module, NONE);
	assert_false(v.rows.v[0].has_offset);
	gus_view_free(&v);
}

/* A process is all of its threads, and is called as its first one is. */
static void a_process_is_its_threads(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 1), cell(LEAF, 2), cell(LEAF, 4), cell(LEAF, 8) };
	struct gus_view v;

	(void)state;
	cells[1].thread = 1;
	cells[2].thread = 2;
	cells[3].thread = 5;
	view_of(&v, cells, 4, GUS_BY_PROCESS, false);
	assert_int_equal(v.rows.n, 3);
	assert_true(v.rows.v[0].pid == 300 && v.rows.v[0].weight == 8 && v.rows.v[0].total == 8);
	assert_string_equal(v.rows.v[0].comm, "alone");
	assert_true(v.rows.v[1].pid == 200 && v.rows.v[1].weight == 4);
	assert_string_equal(v.rows.v[1].comm, "in the end");
	assert_true(v.rows.v[2].pid == 100 && v.rows.v[2].weight == 3 && v.rows.v[2].samples == 2);
	assert_string_equal(v.rows.v[2].comm, "main");
	gus_view_free(&v);
}

/* One name of several threads is one row, and a thread that changes its name is two. */
static void a_comm_is_what_threads_were_called_then(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 1), cell(LEAF, 2), cell(LEAF, 4), cell(LEAF, 8) };
	struct gus_view v;

	(void)state;
	cells[1].comm = 2; /* thread 0, when it was called otherwise */
	cells[2].comm = 1;
	cells[2].thread = 1;
	cells[3].comm = 1;
	cells[3].thread = 2;
	view_of(&v, cells, 4, GUS_BY_COMM, false);
	assert_int_equal(v.rows.n, 3);
	assert_string_equal(v.rows.v[0].comm, "worker");
	assert_true(v.rows.v[0].weight == 12 && v.rows.v[0].samples == 2);
	assert_string_equal(v.rows.v[1].comm, "gzip");
	assert_true(v.rows.v[1].weight == 2);
	assert_string_equal(v.rows.v[2].comm, "sh");
	gus_view_free(&v);
}

/* DWARF is opened only for what shows it, and a place is asked about once, whoever is there. */
static void no_more_is_asked_than_is_shown(void **state)
{
	static const struct { enum gus_by by; bool inlines; enum gus_depth depth; } cases[] = {
		{ GUS_BY_FUNCTION, false, GUS_DEPTH_FUNCTION }, { GUS_BY_FUNCTION, true, GUS_DEPTH_INLINE },
		{ GUS_BY_MODULE, false, GUS_DEPTH_FUNCTION }, { GUS_BY_MODULE, true, GUS_DEPTH_FUNCTION },
		{ GUS_BY_LINE, false, GUS_DEPTH_LINE }, { GUS_BY_LINE, true, GUS_DEPTH_INLINE },
		{ GUS_BY_INSTRUCTION, false, GUS_DEPTH_LINE }, { GUS_BY_INSTRUCTION, true, GUS_DEPTH_INLINE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_cell cells[] = { cell(LEAF, 1), cell(LEAF, 2), cell(TWIN, 4), cell(LEAF, 8) };
		struct gus_view v;

		asked.questions = asked.expected = 0;
		view_of(&v, cells, 4, cases[i].by, cases[i].inlines);
		assert_int_equal(asked.questions, 2);
		assert_int_equal(asked.depth, cases[i].depth);
		assert_int_equal(asked.expected, cases[i].depth == GUS_DEPTH_INLINE ? 2 : 0);
		gus_view_free(&v);
	}
}

/* Chains. */

/* leaf, inlined nowhere, is called by wrap, which is inlined in caller, which is called within inner in middle in
 * outer. */
static void nests_are_walked_from_within(void **state)
{
	struct gus_path paths[] = { { 0 }, { 0, 1, { 0, NEST } }, { 1, 2, { 0, CALLER } } };
	struct gus_cell cells[] = { cell_by(LEAF, 2, 1), cell_by(NEST, 0, 2) };
	struct gus_profile p = profile_of(cells, 2, paths, 3);
	struct gus_view v;

	(void)state;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, true);
	assert_int_equal(v.rows.n, 6);
	has(&v, "leaf", 1, 1);
	has(&v, "wrap", 0, 1);
	has(&v, "caller", 0, 1);
	has(&v, "inner", 2, 3);
	has(&v, "middle", 0, 3);
	has(&v, "outer", 0, 3);
	assert_int_equal(v.by_callee.n, 5);
	calls(&v, "wrap", "leaf", 1);
	calls(&v, "caller", "wrap", 1);
	calls(&v, "inner", "caller", 1);
	calls(&v, "middle", "inner", 3);
	calls(&v, "outer", "middle", 3);
	assert_int_equal(row_of(&v, "outer")->samples, 0);
	assert_int_equal(row_of(&v, "outer")->stack.n, 1); /* nothing, of which nothing is known */
	assert_int_equal(row_of(&v, "outer")->stack.v[0].weight, 0);
	gus_view_free(&v);
	gus_view_make(&v, &p, GUS_BY_FUNCTION, false);
	assert_int_equal(v.rows.n, 3);
	calls(&v, "caller", "leaf", 1);
	calls(&v, "outer", "caller", 1);
	has(&v, "outer", 2, 3);
	gus_view_free(&v);
}

/* Chains were asked for and no sample has any: calls that were inlined are still known, as in trees. */
static void without_chains_there_are_inlined_calls(void **state)
{
	struct gus_path paths[] = { { 0 } };
	struct gus_cell cells[] = { cell_by(NEST, 0, 2) };
	struct gus_profile p = profile_of(cells, 1, paths, 1);
	struct gus_view v;

	(void)state;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, true);
	assert_int_equal(v.rows.n, 1);
	gus_view_free(&v);
	p.chains = true;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, true);
	assert_int_equal(v.rows.n, 3);
	has(&v, "inner", 2, 2);
	has(&v, "middle", 0, 2);
	has(&v, "outer", 0, 2);
	calls(&v, "outer", "middle", 2);
	gus_view_free(&v);
}

/* Half as much again as was sampled is in no sample: all of it, or none, may be a row's. */
static void unsampled_time_widens(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 60), cell(TWIN, 40) };
	struct gus_profile p = profile_of(cells, 2, NULL, 0);
	struct gus_interval before;
	struct gus_view v;

	(void)state;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, true);
	before = row_of(&v, "leaf")->ci95;
	gus_view_free(&v);
	p.unsampled = 50;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, true);
	assert_true(fabs(row_of(&v, "leaf")->share - 0.6) < 1e-9);
	assert_true(fabs(row_of(&v, "leaf")->ci95.low - before.low * 100 / 150) < 1e-9);
	assert_true(fabs(row_of(&v, "leaf")->ci95.high - (before.high * 100 + 50) / 150) < 1e-9);
	assert_true(row_of(&v, "leaf")->ci95.high <= 1);
	gus_view_free(&v);
}

/* What is found of a thousand cells at the end of a long path is found of one: each path is walked once. */
static void long_paths_are_walked_once(void **state)
{
	enum { DEEP = 200000, CELLS = 1000 };
	struct gus_path *paths = calloc(DEEP + 1, sizeof(*paths));
	struct gus_cell *cells = calloc(CELLS, sizeof(*cells));
	struct gus_profile p;
	struct gus_view v;

	(void)state;
	for (uint32_t i = 1; i <= DEEP; i++)
		paths[i] = (struct gus_path){ i - 1, i, { 0, i % 2 ? LEAF : TWIN } };
	for (uint32_t i = 0; i < CELLS; i++)
		cells[i] = cell_by(NEST, DEEP, 1);
	p = profile_of(cells, CELLS, paths, DEEP + 1);
	gus_view_make(&v, &p, GUS_BY_FUNCTION, true);
	has(&v, "leaf", 0, CELLS);
	has(&v, "inner", CELLS, CELLS);
	calls(&v, "leaf", "twin", CELLS);
	calls(&v, "twin", "leaf", CELLS);
	calls(&v, "twin", "outer", CELLS);
	gus_view_free(&v);
	free(paths);
	free(cells);
}

/* leaf calls itself twice, from its two places, by two paths: however often it is on a path, a sample counts for it
 * once, and for its call of itself, too. The next sample counts again. */
static void recursion_counts_once(void **state)
{
	struct gus_path paths[] = {
		{ 0 }, { 0, 1, { 0, CALLER } }, { 1, 2, { 0, LEAF } }, { 2, 3, { 0, LEAF } }, { 3, 4, { 0, LEAF2 } },
	};
	struct gus_cell cells[] = { cell_by(LEAF, 4, 1), cell_by(LEAF, 3, 2), cell_by(LEAF2, 2, 4),
				    cell_by(LEAF2, 1, 8) };
	struct gus_profile p = profile_of(cells, 4, paths, 5);
	struct gus_view v;

	(void)state;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, false);
	assert_int_equal(v.rows.n, 2);
	has(&v, "leaf", 15, 15);
	has(&v, "caller", 0, 15);
	assert_int_equal(v.by_callee.n, 2);
	calls(&v, "leaf", "leaf", 7);
	calls(&v, "caller", "leaf", 15);
	gus_view_free(&v);
}

/* leaf and twin call each other in turns. */
static void mutual_recursion_counts_once(void **state)
{
	struct gus_path paths[] = {
		{ 0 }, { 0, 1, { 0, LEAF } }, { 1, 2, { 0, TWIN } }, { 2, 3, { 0, LEAF } }, { 3, 4, { 0, TWIN } },
	};
	struct gus_cell cells[] = { cell_by(LEAF, 4, 1), cell_by(TWIN, 3, 2), cell_by(LEAF, 2, 4),
				    cell_by(TWIN, 1, 8) };
	struct gus_profile p = profile_of(cells, 4, paths, 5);
	struct gus_view v;

	(void)state;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, true);
	has(&v, "leaf", 5, 15);
	has(&v, "twin", 10, 15);
	assert_int_equal(v.by_callee.n, 2);
	calls(&v, "leaf", "twin", 15);
	calls(&v, "twin", "leaf", 7);
	gus_view_free(&v);
}

/* Only functions have callers; other rows have their totals all the same, and no row that was only called through is
 * left out. */
static void lines_have_totals_and_no_edges(void **state)
{
	struct gus_path paths[] = { { 0 }, { 0, 1, { 0, NEST } }, { 1, 2, { 0, CALLER } } };
	struct gus_cell cells[] = { cell_by(LEAF, 2, 1), cell_by(LEAF, 1, 2) };
	struct gus_profile p = profile_of(cells, 2, paths, 3);
	struct gus_view v;

	(void)state;
	gus_view_make(&v, &p, GUS_BY_LINE, true);
	assert_int_equal(v.rows.n, 3);
	has(&v, "leaf", 3, 3);
	has(&v, "inner", 0, 3);
	has(&v, "wrap", 0, 1);
	assert_int_equal(v.by_callee.n + v.by_caller.n, 0);
	gus_view_free(&v);
}

/* twin's two rows have three callers each, and edges of their own among those of others. */
static void edges_are_found_and_sorted(void **state)
{
	struct gus_path paths[] = {
		{ 0 }, { 0, 1, { 0, LEAF } }, { 0, 1, { 0, CALLER } }, { 0, 1, { 0, NEST } }, { 0, 1, { 0, COPY } },
	};
	struct gus_cell cells[] = {
		cell_by(TWIN, 1, 64), cell_by(TWIN, 2, 32), cell_by(TWIN, 3, 32), cell_by(TWIN2, 1, 4),
		cell_by(TWIN2, 4, 8), cell_by(BARE, 1, 4), cell_by(TWIN2, 3, 1), cell(BARE, 1024),
	};
	struct gus_profile p = profile_of(cells, 8, paths, 5);
	const struct gus_edge *e;
	struct gus_view v;
	size_t n;

	(void)state;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, false);
	assert_int_equal(v.rows.n, 7);
	assert_null(v.rows.v[0].function);
	assert_int_equal(v.rows.v[1].weight, 128);
	e = gus_view_callers(&v, 0, &n); /* the first of all edges */
	assert_int_equal(n, 1);
	assert_int_equal(e[0].from, row_named(&v, "leaf"));
	e = gus_view_callers(&v, 1, &n); /* by weight; two are equal, and come as the rows do */
	assert_int_equal(n, 3);
	assert_int_equal(e[0].from, row_named(&v, "leaf"));
	assert_int_equal(e[1].from, row_named(&v, "outer"));
	assert_int_equal(e[2].from, row_named(&v, "caller"));
	assert_true(row_named(&v, "outer") < row_named(&v, "caller")); /* its total is larger by the 1 of the other
								        * twin */
	e = gus_view_callers(&v, 2, &n);
	assert_int_equal(n, 3);
	assert_true(e[0].weight == 8 && e[1].weight == 4 && e[2].weight == 1);
	e = gus_view_callees(&v, row_named(&v, "leaf"), &n);
	assert_int_equal(n, 3);
	assert_true(e[0].to == 1 && e[0].weight == 64);
	assert_true(e[1].to == 0 && e[1].weight == 4); /* as heavy as the next, and the row above it */
	assert_true(e[2].to == 2 && e[2].weight == 4);
	gus_view_callees(&v, 0, &n);
	assert_int_equal(n, 0);
	gus_view_callers(&v, row_named(&v, "leaf"), &n);
	assert_int_equal(n, 0);
	gus_view_callees(&v, (uint32_t)v.rows.n - 1, &n);
	assert_int_equal(n, 1);
	gus_view_callers(&v, (uint32_t)v.rows.n - 1, &n); /* behind the last of all */
	assert_int_equal(n, 0);
	gus_view_free(&v);
}

/* Order. */

static int by_offset(const struct gus_row *x, const struct gus_row *y, const void *context)
{
	assert_ptr_equal(context, &asked);
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int all_alike(const struct gus_row *x, const struct gus_row *y, const void *context)
{
	(void)x;
	(void)y;
	(void)context;
	return 0;
}

/* Rows move, and edges go with them; an order that knows no difference changes nothing. */
static void sorting_takes_the_edges_along(void **state)
{
	struct gus_path paths[] = { { 0 }, { 0, 1, { 0, LEAF } }, { 0, 1, { 0, TWIN } } };
	struct gus_cell cells[] = { cell_by(TWIN, 1, 4), cell_by(TWIN2, 2, 8), cell_by(TWIN2, 1, 16), cell(LEAF, 1) };
	struct gus_profile p = profile_of(cells, 4, paths, 3);
	struct gus_view v;

	(void)state;
	gus_view_make(&v, &p, GUS_BY_FUNCTION, false);
	assert_true(v.rows.v[0].offset == TWIN2 && v.rows.v[1].offset == TWIN && v.rows.v[2].offset == LEAF);
	gus_view_sort(&v, by_offset, &asked);
	gus_view_sort(&v, all_alike, NULL);
	assert_true(v.rows.v[0].offset == LEAF && v.rows.v[1].offset == TWIN && v.rows.v[2].offset == TWIN2);
	for (uint32_t row = 0; row < 3; row++) {
		static const uint64_t from[] = { 20, 8, 0 }, to[] = { 0, 4, 24 };
		const struct gus_edge *e;
		uint64_t weight = 0;
		size_t n;

		e = gus_view_callees(&v, row, &n);
		for (size_t i = 0; i < n; i++)
			weight += e[i].weight;
		assert_int_equal(weight, from[row]);
		e = gus_view_callers(&v, row, &n);
		for (size_t i = 0, sum = 0; i < n || sum != to[row]; i++) {
			assert_true(i < n);
			sum += e[i].weight;
		}
	}
	gus_view_free(&v);
}

/* Pairs of equal weight, whose cells come in the wrong order: what is left to tell them apart decides, each thing in
 * its turn. */
static void ties_are_broken_the_same_way(void **state)
{
	struct gus_cell names[] = { cell(TWIN, 1), cell(LEAF, 1) };
	struct gus_cell known[] = { cell(BARE, 1), cell(LEAF, 1) };
	struct gus_cell files[] = { cell(TWIN2, 1), cell(TWIN, 1) };
	struct gus_cell modules[] = { cell(LEAF, 1), cell(LEAF, 1) };
	struct gus_cell lines[] = { cell(LEAF2, 1), cell(LEAF, 1) };
	struct gus_cell starts[] = { cell(TWIN2, 1), cell(TWIN, 1) };
	struct gus_cell threads[] = { cell(LEAF, 1), cell(LEAF, 1) };
	struct gus_cell weights[] = { cell(LEAF, 1), cell(TWIN, 2) };
	struct gus_view v;

	(void)state;
	modules[0].place.module = 1;
	threads[0].thread = 1;
	view_of(&v, names, 2, GUS_BY_LINE, false);
	assert_string_equal(v.rows.v[0].function, "leaf");
	gus_view_free(&v);
	view_of(&v, known, 2, GUS_BY_FUNCTION, false);
	assert_string_equal(v.rows.v[0].function, "leaf"); /* what has no name comes last */
	gus_view_free(&v);
	view_of(&v, files, 2, GUS_BY_LINE, false);
	assert_string_equal(v.rows.v[0].file, "twin.c");
	gus_view_free(&v);
	view_of(&v, modules, 2, GUS_BY_LINE, false);
	assert_int_equal(v.rows.v[0].module, 0);
	gus_view_free(&v);
	view_of(&v, lines, 2, GUS_BY_LINE, false);
	assert_int_equal(v.rows.v[0].line, 3);
	gus_view_free(&v);
	view_of(&v, starts, 2, GUS_BY_FUNCTION, false);
	assert_int_equal(v.rows.v[0].offset, TWIN);
	gus_view_free(&v);
	view_of(&v, threads, 2, GUS_BY_THREAD, false);
	assert_int_equal(v.rows.v[0].thread, 0);
	gus_view_free(&v);
	view_of(&v, weights, 2, GUS_BY_LINE, false);
	assert_string_equal(v.rows.v[0].function, "twin"); /* the weight comes before the name */
	gus_view_free(&v);
}

/* What decides first is asked first: the function's name says one thing, and its file or its module the other. */
static void earlier_ties_outweigh_later_ones(void **state)
{
	struct gus_cell cells[] = { cell(NEST, 1), cell(CALLER, 1) }; /* outer in inner.h; caller in wrap.h */
	struct gus_cell modules[] = { cell(TWIN2, 1), cell(TWIN, 1) };
	struct gus_view v;

	(void)state;
	view_of(&v, cells, 2, GUS_BY_LINE, false);
	assert_string_equal(v.rows.v[0].function, "caller");
	gus_view_free(&v);
	modules[1].place.module = 1;
	view_of(&v, modules, 2, GUS_BY_LINE, false);
	assert_string_equal(v.rows.v[0].file, "twin.c");
	gus_view_free(&v);
}

/* Shares. */

/* Three samples of 1, 1 and 2 are worth 16/6 equal ones. */
static void intervals_are_of_effective_samples(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 1), cell(TWIN, 1), cell(TWIN2, 2) };
	struct gus_interval half = gus_interval_share(0.5, 16.0 / 6), quarter = gus_interval_share(0.25, 16.0 / 6);
	struct gus_view v;

	(void)state;
	view_of(&v, cells, 3, GUS_BY_FUNCTION, false);
	assert_true(fabs(v.rows.v[0].share - 0.5) < 1e-12 && fabs(v.rows.v[1].share - 0.25) < 1e-12);
	assert_true(fabs(v.rows.v[0].ci95.low - half.low) < 1e-12 && fabs(v.rows.v[0].ci95.high - half.high) < 1e-12);
	for (size_t i = 1; i < 3; i++) {
		assert_true(fabs(v.rows.v[i].ci95.low - quarter.low) < 1e-12);
		assert_true(fabs(v.rows.v[i].ci95.high - quarter.high) < 1e-12);
	}
	gus_view_free(&v);
}

/* A single sample is one, however little it weighs. */
static void one_sample_is_one(void **state)
{
	struct gus_interval whole = gus_interval_share(1, 1);

	(void)state;
	for (uint64_t weight = 1; weight <= 1000; weight += 999) {
		struct gus_cell cells[] = { cell(LEAF, weight) };
		struct gus_view v;

		view_of(&v, cells, 1, GUS_BY_FUNCTION, false);
		assert_true(fabs(v.rows.v[0].ci95.low - whole.low) < 1e-12 && whole.low > 0.1);
		gus_view_free(&v);
	}
}

static bool stops(const struct gus_profile *of)
{
	struct gus_profile p = *of;
	pid_t child = fork();
	struct gus_view v;
	int status = 0;

	if (child == 0) {
		close(STDERR_FILENO); /* what assert says is not for the log */
		signal(SIGABRT, SIG_DFL);
		gus_view_make(&v, &p, GUS_BY_FUNCTION, false);
		_exit(0);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* Cells that are not the whole profile, by their samples or by their weight alone. */
static void rows_that_do_not_add_up_stop(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 3), cell(TWIN, 5) };
	struct gus_path none = { 0 };
	struct gus_profile p = profile_of(cells, 2, &none, 1);

	(void)state;
	assert_false(stops(&p));
	p.weight++;
	assert_true(stops(&p));
	p.weight--;
	p.samples++;
	assert_true(stops(&p));
}

/* Samples of no weight, as a counter that did not count gives them: no share, and nothing is known of it. */
static void no_weight_has_no_share(void **state)
{
	struct gus_cell cells[] = { cell(LEAF, 0) };
	struct gus_view v;

	(void)state;
	view_of(&v, cells, 1, GUS_BY_FUNCTION, false);
	assert_int_equal(v.rows.n, 1);
	assert_int_equal(v.rows.v[0].samples, 1);
	assert_true(v.rows.v[0].share < 1e-12 && v.rows.v[0].share > -1e-12);
	assert_true(v.rows.v[0].ci95.low < 1e-12 && v.rows.v[0].ci95.high > 1 - 1e-12);
	gus_view_free(&v);
}

static void nothing_has_no_rows(void **state)
{
	struct gus_view v;

	(void)state;
	view_of(&v, NULL, 0, GUS_BY_FUNCTION, true);
	assert_int_equal(v.rows.n, 0);
	gus_view_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_is_a_row),
		cmocka_unit_test(with_inlines_a_name_is_a_row),
		cmocka_unit_test(modules_are_apart),
		cmocka_unit_test(a_line_is_file_line_and_function),
		cmocka_unit_test(an_instruction_is_its_offset),
		cmocka_unit_test(a_thread_is_its_number),
		cmocka_unit_test(a_process_is_its_threads),
		cmocka_unit_test(a_comm_is_what_threads_were_called_then),
		cmocka_unit_test(no_more_is_asked_than_is_shown),
		cmocka_unit_test(nests_are_walked_from_within),
		cmocka_unit_test(without_chains_there_are_inlined_calls),
		cmocka_unit_test(unsampled_time_widens),
		cmocka_unit_test(long_paths_are_walked_once),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(mutual_recursion_counts_once),
		cmocka_unit_test(lines_have_totals_and_no_edges),
		cmocka_unit_test(edges_are_found_and_sorted),
		cmocka_unit_test(sorting_takes_the_edges_along),
		cmocka_unit_test(ties_are_broken_the_same_way),
		cmocka_unit_test(earlier_ties_outweigh_later_ones),
		cmocka_unit_test(intervals_are_of_effective_samples),
		cmocka_unit_test(one_sample_is_one),
		cmocka_unit_test(rows_that_do_not_add_up_stop),
		cmocka_unit_test(no_weight_has_no_share),
		cmocka_unit_test(nothing_has_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
