/* SPDX-License-Identifier: MIT */
/* attribution/calls and tree: cells and paths that are written down here, with names from a table that plays the
 * symbolizer. Trees are compared as text: a line a node, indented, with its weight and its own. Weights are powers of
 * two, so a sum tells what is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/profile/calls.h"
#include "attribution/profile/profile.h"
#include "attribution/profile/tree.h"
#include "proto/sample.h"

/* The symbolizer: offset 16 * i + anything is function i of its module; module 1 is the kernel, module 2 has none. */

enum { MAIN = 0x10, F = 0x20, G = 0x30, H = 0x40, NEST = 0x50, TWIN = 0x60, TWIN2 = 0x70 };
static size_t expected, asked, tellings;
static enum gus_module_kind told[8]; /* by telling */

const struct gus_module *gus_space_module(const struct gus_space *space, uint32_t number)
{
	static const struct gus_module modules[3] = { { .kind = GUS_MODULE_FILE }, { .kind = GUS_MODULE_KERNEL },
						      { .kind = GUS_MODULE_ANON } };

	assert_null(space);
	assert_in_range(number, 0, 2);
	return &modules[number];
}

void gus_symbols_expect(struct gus_symbols *symbols, const struct gus_module *module, const uint64_t *offsets, size_t n)
{
	(void)symbols;
	for (size_t i = 1; i < n; i++)
		assert_true(offsets[i - 1] < offsets[i]);
	if (tellings < 8)
		told[tellings++] = module->kind;
	expected += n;
}

size_t gus_symbols_names(struct gus_symbols *symbols, const struct gus_module *module, uint64_t offset,
			 enum gus_depth depth, struct gus_name names[GUS_NAMES_MAX])
{
	static const char *const functions[] = { "low", "main", "f", "g", "h", "nest", "twin", "twin" };

	(void)symbols;
	asked++;
	names[0] = (struct gus_name){ .start = offset & ~(uint64_t)15 };
	if (module->kind == GUS_MODULE_ANON)
		return 1;
	names[0].function = module->kind == GUS_MODULE_KERNEL ? "sys" : functions[offset / 16 % 8];
	if (offset / 16 != NEST / 16 || module->kind != GUS_MODULE_FILE || depth != GUS_DEPTH_INLINE)
		return 1;
	names[2] = names[1] = names[0];
	names[0].function = "f"; /* an inlined copy of it */
	names[1].function = "middle";
	names[0].inlined = names[1].inlined = true;
	return 3;
}

/* The profile. */

struct made {
	struct gus_profile p;
	struct gus_calls c;
};

static uint32_t path(struct made *m, uint32_t caller, uint32_t module, uint64_t offset)
{
	if (!m->p.paths.n)
		gus_vec_push(&m->p.paths, (struct gus_path){ 0 });
	gus_vec_push(&m->p.paths, (struct gus_path){ caller, m->p.paths.v[caller].depth + 1, { module, offset } });
	return (uint32_t)m->p.paths.n - 1;
}

static void cell(struct made *m, uint32_t under, uint32_t module, uint64_t offset, uint64_t weight)
{
	if (!m->p.paths.n)
		gus_vec_push(&m->p.paths, (struct gus_path){ 0 });
	gus_vec_push(&m->p.cells, (struct gus_cell){ .path = under, .place = { module, offset }, .samples = 1,
						     .weight = weight });
	m->p.samples++;
	m->p.weight += weight;
}

static void make(struct made *m, bool inlines, bool collapse)
{
	gus_calls_make(&m->c, &m->p, &(struct gus_calls_options){ inlines, collapse });
}

static void drop(struct made *m)
{
	gus_calls_free(&m->c);
	gus_vec_free(&m->p.cells);
	gus_vec_free(&m->p.paths);
}

/* A tree as text; what is wrong with its numbers is a failure. */

static const char *name_of(const struct gus_calls *c, uint32_t callee)
{
	static const char *const roots[] = { [GUS_CALLEE_ROOT] = "all", [GUS_CALLEE_TRUNCATED] = "[truncated]" };
	const struct gus_callee *f = &c->callees.v[callee];

	if (f->kind < GUS_CALLEE_USER)
		return roots[f->kind];
	return f->function ? f->function : "?";
}

static void number_well(const struct gus_tree *t)
{
	for (uint32_t i = 0; i < t->nodes.n; i++) {
		const struct gus_tree_node *n = &t->nodes.v[i];
		uint64_t weight = n->own + n->left_out_weight, samples = n->own_samples + n->left_out_samples;
		uint64_t before = UINT64_MAX;

		assert_true(n->end > i && n->end <= t->nodes.n);
		assert_true(i ? n->parent < i && n->depth == t->nodes.v[n->parent].depth + 1 : !n->depth && !n->parent);
		for (uint32_t k = i + 1; k < n->end; k = t->nodes.v[k].end) {
			assert_int_equal(t->nodes.v[k].parent, i);
			assert_true(t->nodes.v[k].weight <= before);
			before = t->nodes.v[k].weight;
			weight += before;
			samples += t->nodes.v[k].samples;
		}
		assert_int_equal(weight, n->weight);
		assert_int_equal(samples, n->samples);
	}
	assert_int_equal(t->nodes.v[0].end, t->nodes.n);
}

static void reads(struct gus_tree *t, const struct gus_calls *c, const char *want)
{
	char text[4096];
	size_t used = 0;

	number_well(t);
	for (size_t i = 0; i < t->nodes.n; i++) {
		const struct gus_tree_node *n = &t->nodes.v[i];
		const struct gus_callee *f = &c->callees.v[n->callee];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%*s%s%s%s %u", (int)n->depth, "",
					 name_of(c, n->callee), f->inlined ? "(i)" : "",
					 f->kind == GUS_CALLEE_KERNEL ? "[k]" : "", (unsigned)n->weight);
		if (n->own)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " own %u", (unsigned)n->own);
		if (n->left_out)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " and %u: %u", n->left_out,
						 (unsigned)n->left_out_weight);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "\n");
	}
	gus_tree_free(t);
	assert_string_equal(text, want);
}

static void all_reads(const struct made *m, struct gus_tree_limits limits, const char *want)
{
	struct gus_tree t;

	gus_tree_all(&t, &m->c, &limits);
	reads(&t, &m->c, want);
}

/* main calls f and g; f calls g and the kernel. */
static void fill(struct made *m)
{
	uint32_t in_main = path(m, 0, 0, MAIN), in_main_later = path(m, 0, 0, MAIN + 4);
	uint32_t in_f = path(m, in_main, 0, F), in_f_later = path(m, in_main_later, 0, F + 4);

	cell(m, 0, 0, MAIN, 1);
	cell(m, in_main, 0, F, 2);
	cell(m, in_main, 0, F + 1, 4);
	cell(m, in_f, 0, G, 8);
	cell(m, in_f_later, 0, G + 2, 16);
	cell(m, in_f, 1, 0x100, 32);
	cell(m, in_main_later, 0, G, 64);
}

static void nothing_is_a_root(void **state)
{
	struct made m = { 0 };

	(void)state;
	gus_vec_push(&m.p.paths, (struct gus_path){ 0 });
	make(&m, true, false);
	all_reads(&m, (struct gus_tree_limits){ 0 }, "all 0\n");
	drop(&m);
}

/* Addresses of one function are one node, wherever in it the calls are; of two weights the heavier comes first. */
static void paths_are_joined_by_function(void **state)
{
	struct made m = { 0 };

	(void)state;
	fill(&m);
	make(&m, true, false);
	all_reads(&m, (struct gus_tree_limits){ 0 },
		  "all 127\n main 127 own 1\n  g 64 own 64\n  f 62 own 6\n   sys[k] 32 own 32\n   g 24 own 24\n");
	assert_int_equal(m.c.of_cell[1], m.c.of_cell[2]);
	assert_int_equal(m.c.of_cell[3], m.c.of_cell[4]);
	assert_true(m.c.of_cell[3] != m.c.of_cell[6]);
	drop(&m);
}

/* Each place is asked for once, and told before: MAIN and F are of samples and of paths. */
static void places_are_asked_for_once(void **state)
{
	struct made m = { 0 };

	(void)state;
	expected = asked = 0;
	fill(&m);
	make(&m, true, false);
	assert_int_equal(expected, 8); /* main, main+4, f, f+1, f+4, g, g+2, sys */
	assert_int_equal(asked, 8);
	drop(&m);
	memset(&m, 0, sizeof(m));
	expected = 0;
	fill(&m);
	make(&m, false, false);
	assert_int_equal(expected, 0); /* without inlines nothing takes long */
	drop(&m);
}

/* Each module hears once of all of its places, in their order, whatever that of cells is. */
static void places_are_told_by_module(void **state)
{
	struct made m = { 0 };

	(void)state;
	expected = tellings = 0;
	cell(&m, path(&m, 0, 1, 0x100), 0, H, 1);
	cell(&m, 0, 1, 0x200, 1);
	cell(&m, 0, 0, F, 1);
	cell(&m, 0, 1, 0x28, 1);
	cell(&m, 0, 0, G, 1);
	cell(&m, 0, 0, F, 1);
	make(&m, true, false);
	assert_int_equal(expected, 6);
	assert_int_equal(tellings, 2);
	assert_int_equal(told[0], GUS_MODULE_FILE);
	assert_int_equal(told[1], GUS_MODULE_KERNEL);
	drop(&m);
}

static void light_nodes_are_left_out_and_counted(void **state)
{
	struct made m = { 0 };

	(void)state;
	fill(&m);
	make(&m, true, false);
	/* 24 of 127 is the limit, and what is below a node that is left out is not looked at. */
	all_reads(&m, (struct gus_tree_limits){ .least = 24 / 127.0 },
		  "all 127\n main 127 own 1\n  g 64 own 64\n  f 62 own 6\n   sys[k] 32 own 32\n   g 24 own 24\n");
	all_reads(&m, (struct gus_tree_limits){ .least = 24.5 / 127 },
		  "all 127\n main 127 own 1\n  g 64 own 64\n  f 62 own 6 and 1: 24\n   sys[k] 32 own 32\n");
	all_reads(&m, (struct gus_tree_limits){ .least = 0.5 },
		  "all 127\n main 127 own 1 and 1: 62\n  g 64 own 64\n");
	/* Of the node above: g is 24 of f's 62. */
	all_reads(&m, (struct gus_tree_limits){ .least = 0.4, .shares = GUS_TREE_OF_PARENT },
		  "all 127\n main 127 own 1\n  g 64 own 64\n  f 62 own 6 and 1: 24\n   sys[k] 32 own 32\n");
	all_reads(&m, (struct gus_tree_limits){ .depth = 2 },
		  "all 127\n main 127 own 1\n  g 64 own 64\n  f 62 own 6 and 2: 56\n");
	all_reads(&m, (struct gus_tree_limits){ .depth = 1 }, "all 127\n main 127 own 1 and 2: 126\n");
	drop(&m);
}

/* Of equal weight the name decides, the module, and whether it is inlined. */
static void equals_stand_by_name(void **state)
{
	struct made m = { 0 };

	(void)state;
	cell(&m, 0, 2, 0x10, 8);
	cell(&m, 0, 0, H, 8);
	cell(&m, 0, 0, G, 8);
	cell(&m, 0, 1, G, 8);
	cell(&m, 0, 0, F, 8);
	cell(&m, 0, 0, MAIN, 9);
	make(&m, true, false);
	all_reads(&m, (struct gus_tree_limits){ 0 }, "all 49\n main 9 own 9\n f 8 own 8\n g 8 own 8\n h 8 own 8\n"
		  " ? 8 own 8\n sys[k] 8 own 8\n");
	drop(&m);
}

static void upwards_are_the_callers(void **state)
{
	struct gus_tree_seed seeds[8];
	struct gus_tree_limits none = { 0 };
	struct made m = { 0 };
	struct gus_tree t;

	(void)state;
	fill(&m);
	make(&m, true, false);
	for (size_t i = 0; i < m.p.cells.n; i++)
		seeds[i] = (struct gus_tree_seed){ m.c.of_cell[i], m.p.cells.v[i].weight, 1 };
	gus_tree_up_from(&t, &m.c, seeds, m.p.cells.n, &none);
	reads(&t, &m.c, "all 127\n g 88\n  main 64 own 64\n  f 24\n   main 24 own 24\n sys[k] 32\n  f 32\n"
	      "   main 32 own 32\n f 6\n  main 6 own 6\n main 1 own 1\n");
	/* Only g's callers: those of its samples, without itself. */
	for (size_t i = 0; i < m.p.cells.n; i++)
		seeds[i].call = m.c.calls.v[seeds[i].call].caller;
	gus_tree_up_from(&t, &m.c, seeds + 3, 2, &none);
	reads(&t, &m.c, "all 24\n f 24\n  main 24 own 24\n");
	/* What nothing called is the root's own. */
	gus_tree_up_from(&t, &m.c, seeds, 2, &none);
	reads(&t, &m.c, "all 3 own 1\n main 2 own 2\n");
	/* A limit is one of the whole profile, not of the seeds. */
	gus_tree_up_from(&t, &m.c, seeds + 3, 2, &(struct gus_tree_limits){ .least = 0.5 });
	reads(&t, &m.c, "all 24 and 1: 24\n");
	drop(&m);
}

static void down_to_some_is_a_part(void **state)
{
	struct gus_tree_limits none = { 0 };
	struct gus_tree_seed seed;
	struct gus_tree_part *part;
	struct made m = { 0 };
	struct gus_tree t;

	(void)state;
	fill(&m);
	make(&m, true, false);
	part = gus_tree_part_new(&m.c);
	seed = (struct gus_tree_seed){ m.c.of_cell[1], 4, 1 };
	gus_tree_down_to(&t, part, &seed, 1, &none);
	reads(&t, &m.c, "all 4\n main 4\n  f 4 own 4\n");
	/* Nothing of the last one is left. */
	seed = (struct gus_tree_seed){ m.c.of_cell[3], 8, 1 };
	gus_tree_down_to(&t, part, &seed, 1, &none);
	reads(&t, &m.c, "all 8\n main 8\n  f 8\n   g 8 own 8\n");
	gus_tree_down_to(&t, part, NULL, 0, &none);
	reads(&t, &m.c, "all 0\n");
	/* What stands below nothing is the root's own, once. */
	seed = (struct gus_tree_seed){ 0, 16, 1 };
	gus_tree_down_to(&t, part, &seed, 1, &none);
	reads(&t, &m.c, "all 16 own 16\n");
	gus_tree_part_free(part);
	gus_tree_part_free(NULL);
	drop(&m);
}

/* Two calls of f, in main and in g, are put together below it. */
static void below_calls_they_are_put_together(void **state)
{
	struct made m = { 0 };
	uint32_t in_main = path(&m, 0, 0, MAIN), in_f = path(&m, in_main, 0, F), in_g = path(&m, in_main, 0, G);
	uint32_t in_gf = path(&m, in_g, 0, F), two[2];
	struct gus_tree t;

	(void)state;
	cell(&m, in_main, 0, F, 1);
	cell(&m, in_f, 0, H, 2);
	cell(&m, in_g, 0, F, 4);
	cell(&m, in_gf, 0, H, 8);
	cell(&m, in_gf, 1, 0, 16);
	make(&m, true, false);
	two[0] = m.c.of_cell[0];
	two[1] = m.c.of_cell[2];
	gus_tree_below(&t, &m.c, two, 2, &(struct gus_tree_limits){ 0 });
	reads(&t, &m.c, "all 31 own 5\n sys[k] 16 own 16\n h 10 own 10\n");
	drop(&m);
}

/* An inlined function is a call of its own, and not the one that is called; without inlines there is none. */
static void inlined_functions_are_calls(void **state)
{
	struct made m = { 0 };
	uint32_t in_nest = path(&m, 0, 0, NEST);

	(void)state;
	cell(&m, in_nest, 0, F, 1);
	cell(&m, 0, 0, NEST + 1, 2);
	make(&m, true, false);
	all_reads(&m, (struct gus_tree_limits){ 0 },
		  "all 3\n nest 3\n  middle(i) 3\n   f(i) 3 own 2\n    f 1 own 1\n");
	gus_calls_free(&m.c);
	make(&m, true, true);
	all_reads(&m, (struct gus_tree_limits){ 0 }, "all 3\n nest 3\n  middle(i) 3\n   f(i) 3 own 3\n");
	gus_calls_free(&m.c);
	make(&m, false, false);
	all_reads(&m, (struct gus_tree_limits){ 0 }, "all 3\n nest 3 own 2\n  f 1 own 1\n");
	drop(&m);
}

/* Without inlines two static functions of one name are two, as rows are. */
static void twins_are_apart_without_inlines(void **state)
{
	struct made m = { 0 };

	(void)state;
	cell(&m, 0, 0, TWIN, 1);
	cell(&m, 0, 0, TWIN2, 2);
	make(&m, false, false);
	all_reads(&m, (struct gus_tree_limits){ 0 }, "all 3\n twin 2 own 2\n twin 1 own 1\n");
	gus_calls_free(&m.c);
	make(&m, true, false);
	all_reads(&m, (struct gus_tree_limits){ 0 }, "all 3\n twin 3 own 3\n");
	drop(&m);
}

/* main > f > f > g > f > h, and what the calls between take themselves. */
static void recursion_is_collapsed_on_request(void **state)
{
	struct made m = { 0 };
	uint32_t in_main = path(&m, 0, 0, MAIN), f1 = path(&m, in_main, 0, F), f2 = path(&m, f1, 0, F + 1);
	uint32_t g = path(&m, f2, 0, G), f3 = path(&m, g, 0, F + 2);

	(void)state;
	cell(&m, in_main, 0, F, 1);
	cell(&m, f1, 0, F, 2);
	cell(&m, f2, 0, G, 4);
	cell(&m, g, 0, F, 8);
	cell(&m, f3, 0, H, 16);
	make(&m, true, false);
	all_reads(&m, (struct gus_tree_limits){ 0 },
		  "all 31\n main 31\n  f 31 own 1\n   f 30 own 2\n    g 28 own 4\n     f 24 own 8\n"
		  "      h 16 own 16\n");
	gus_calls_free(&m.c);
	make(&m, true, true);
	all_reads(&m, (struct gus_tree_limits){ 0 },
		  "all 31\n main 31\n  f 31 own 11\n   h 16 own 16\n   g 4 own 4\n");
	drop(&m);
}

/* Of main > f > f > g, main > g and f: each function where it is not below itself, with all below it. */
static void outermost_calls_count_once(void **state)
{
	struct made m = { 0 };
	uint32_t in_main = path(&m, 0, 0, MAIN), f1 = path(&m, in_main, 0, F), f2 = path(&m, f1, 0, F), *calls;
	uint64_t weights[8] = { 0 }, times[8] = { 0 };
	size_t n;

	(void)state;
	cell(&m, f2, 0, G, 1);
	cell(&m, f1, 0, F, 2);
	cell(&m, in_main, 0, G, 4);
	cell(&m, 0, 0, F, 8);
	make(&m, true, false);
	calls = gus_calls_outermost(&m.c, &n);
	assert_int_equal(n, 5); /* main; f in it, and alone; g in f, and in main */
	for (size_t i = 0; i < n; i++) {
		uint32_t same = m.c.callees.v[m.c.calls.v[calls[i]].callee].same;

		assert_true(!i || m.c.callees.v[m.c.calls.v[calls[i - 1]].callee].same <= same);
		weights[same] += m.c.calls.v[calls[i]].weight;
		times[same]++;
	}
	free(calls);
	for (uint32_t i = 1; i < m.c.callees.n; i++) {
		const char *name = m.c.callees.v[i].function;
		uint32_t same = m.c.callees.v[i].same;

		assert_int_equal(times[same], strcmp(name, "main") == 0 ? 1 : 2);
		assert_int_equal(weights[same], strcmp(name, "main") == 0 ? 7 : strcmp(name, "f") == 0 ? 11 : 5);
	}
	drop(&m);
}

/* What a call that is new costs has an end: of f, so many other functions, and f again the second f is found, and with
 * one more between them it is not. */
static void recursion_is_looked_for_so_far(void **state)
{
	(void)state;
	for (uint32_t between = GUS_CALLS_REACH - 1; between <= GUS_CALLS_REACH; between++) {
		struct made m = { 0 };
		uint32_t at = path(&m, 0, 0, F);

		for (uint32_t i = 0; i < between; i++)
			at = path(&m, at, 0, 0x1000 + 16 * i);
		cell(&m, at, 0, F, 1);
		make(&m, false, true);
		assert_int_equal(m.c.of_cell[0] == 1, between < GUS_CALLS_REACH);
		assert_int_equal(m.c.calls.n, between < GUS_CALLS_REACH ? between + 2 : between + 3);
		drop(&m);
	}
}

/* What is cut hangs below a call of its own, so that it is not taken for a beginning; what nobody looked at, and what
 * is whole, does not. The same path may be there in both ways. */
static void what_is_cut_is_below_its_own_root(void **state)
{
	static const char cut[] = "all 3\n f 2\n  h 2 own 2\n [truncated] 1\n  f 1\n   h 1 own 1\n";
	static const struct { uint32_t end; bool cut; } ends[] = {
		{ GUS_CALLERS_UNTOLD, false }, { GUS_CALLERS_WHOLE, false }, { GUS_CALLERS_STACK, true },
		{ GUS_CALLERS_NO_CODE, true }, { GUS_CALLERS_NO_RULE, true }, { GUS_CALLERS_BAD, true },
		{ GUS_CALLERS_DEEP, true }, { GUS_CALLERS_WORK, true }, { GUS_CALLERS_FILE, true },
		{ GUS_CALLERS_ABI, true },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(ends) / sizeof(*ends); i++) {
		struct made m = { 0 };
		uint32_t in_f = path(&m, 0, 0, F), last = i % 2; /* the one that ends so comes first, or last */

		assert_int_equal(gus_calls_missing(ends[i / 2].end | GUS_CALLERS_TABLE), ends[i / 2].cut);
		cell(&m, in_f, 0, H, last ? 2 : 1);
		cell(&m, in_f, 0, H, last ? 1 : 2);
		m.p.cells.v[last].end = ends[i / 2].end;
		make(&m, true, false);
		all_reads(&m, (struct gus_tree_limits){ 0 }, ends[i / 2].cut ? cut : "all 3\n f 3\n  h 3 own 3\n");
		drop(&m);
	}
}

/* Half a million frames below each other: no recursion, and no time. And a thousand samples at its end. */
static void deep_paths_are_only_long(void **state)
{
	enum { DEEP = 500000 };
	struct made m = { 0 };
	uint32_t at = 0;
	struct gus_tree_seed seed;
	struct gus_tree t;

	(void)state;
	for (unsigned i = 0; i < DEEP; i++)
		at = path(&m, at, 0, i % 2 ? F : G);
	for (unsigned i = 0; i < 1000; i++)
		cell(&m, at, 0, H + i % 8, 1);
	make(&m, true, false);
	assert_int_equal(m.c.calls.n, DEEP + 2);
	gus_tree_all(&t, &m.c, &(struct gus_tree_limits){ 0 });
	assert_int_equal(t.nodes.n, DEEP + 2);
	assert_int_equal(t.nodes.v[DEEP + 1].depth, DEEP + 1);
	assert_int_equal(t.nodes.v[DEEP + 1].own, 1000);
	number_well(&t);
	gus_tree_free(&t);
	seed = (struct gus_tree_seed){ m.c.of_cell[0], 1000, 1000 };
	gus_tree_up_from(&t, &m.c, &seed, 1, &(struct gus_tree_limits){ 0 });
	assert_int_equal(t.nodes.n, DEEP + 2);
	assert_int_equal(t.nodes.v[DEEP + 1].own, 1000);
	gus_tree_free(&t);
	gus_calls_free(&m.c);
	make(&m, true, true);
	all_reads(&m, (struct gus_tree_limits){ 0 }, "all 1000\n g 1000\n  f 1000\n   h 1000 own 1000\n");
	drop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_a_root),
		cmocka_unit_test(paths_are_joined_by_function),
		cmocka_unit_test(places_are_asked_for_once),
		cmocka_unit_test(places_are_told_by_module),
		cmocka_unit_test(light_nodes_are_left_out_and_counted),
		cmocka_unit_test(equals_stand_by_name),
		cmocka_unit_test(upwards_are_the_callers),
		cmocka_unit_test(down_to_some_is_a_part),
		cmocka_unit_test(below_calls_they_are_put_together),
		cmocka_unit_test(inlined_functions_are_calls),
		cmocka_unit_test(twins_are_apart_without_inlines),
		cmocka_unit_test(recursion_is_collapsed_on_request),
		cmocka_unit_test(outermost_calls_count_once),
		cmocka_unit_test(recursion_is_looked_for_so_far),
		cmocka_unit_test(what_is_cut_is_below_its_own_root),
		cmocka_unit_test(deep_paths_are_only_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
