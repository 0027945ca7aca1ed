/* SPDX-License-Identifier: MIT */
/* Routes and their replay: a made-up recording of a program whose executions are counted; see made_stacks.h. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/routes/routes.h"
#include "attribution/routes/trace.h"
#include "attribution/routes/walk.h"
#include "base/error.h"
#include "model/code/program.h"
#include "model/stream/stream.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "proto/trace.h"
#include "symbolizer/space/space.h"
#include "tests/unit/made_stacks.h"

#define BRANCH_ANY_CALL 16u
#define NONE GUS_ROUTES_NONE

/* The recording. */

struct made {
	char dir[64], path[96];
	struct gus_columns batch;
	struct gus_reader *reader;
	struct gus_profile profile;
};

/* Writes the batch and reads it. */
static void record(struct made *m, uint64_t branch_type)
{
	static const struct gus_symbols_options options;
	struct gus_error err = { 0 };

	snprintf(m->dir, sizeof(m->dir), "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	snprintf(m->path, sizeof(m->path), "%s/data", m->dir);
	assert_true(made_write(m->path, &m->batch, branch_type));
	m->reader = gus_reader_open(m->path, NULL);
	assert_non_null(m->reader);
	if (gus_profile_load(&m->profile, m->reader, &(struct gus_filter){ 0 }, &options, NULL, &err) != 0)
		fail_msg("%s", err.text);
}

static void load(struct made *m, struct gus_routes *r)
{
	struct gus_error err = { 0 };

	if (gus_routes_load(r, m->reader, &m->profile, &err) != 0)
		fail_msg("%s", err.text);
}

static void drop(struct made *m)
{
	gus_profile_free(&m->profile);
	gus_reader_close(m->reader);
	gus_columns_free(&m->batch);
	unlink(m->path);
	rmdir(m->dir);
}

static const struct gus_route_block *block_at(const struct gus_routes *r, unsigned at)
{
	for (size_t i = 0; i < r->blocks.n; i++)
		if (r->blocks.v[i].offset == MADE_TEXT + at)
			return &r->blocks.v[i];
	fail_msg("there is no block at %x", at);
	return NULL;
}

static uint32_t region_named(const struct gus_routes *r, const char *name)
{
	for (uint32_t i = 0; i < r->regions.n; i++)
		if (strcmp(r->regions.v[i].name, name) == 0)
			return i;
	fail_msg("there is no region %s", name);
	return NONE;
}

static void counts_are_exact(void **state)
{
	struct gus_routes r;
	struct made_machine k;
	struct made m;
	uint64_t sequences = 0, executed = 0;

	(void)state;
	m = (struct made){ .batch = { 0 } };
	made_run(&k, &m.batch);
	assert_int_equal((k.branches - MADE_DEPTH) % (MADE_DEPTH - 1), 0); /* nothing is left over */
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.source, GUS_ROUTES_STACKS);
	assert_int_equal(r.stacks, (k.branches - 1) / (MADE_DEPTH - 1));
	assert_int_equal(r.ranges[GUS_RANGE_GOOD], k.branches - 1);
	assert_int_equal(r.blocks.n, BLOCKS);
	for (unsigned i = 0; i < BLOCKS; i++) {
		const struct gus_route_block *b = block_at(&r, made_blocks[i].at);

		assert_int_equal(b->size, made_blocks[i].size);
		assert_int_equal(b->insns, made_blocks[i].insns);
		assert_int_equal(b->address, MADE_ADDRESS + made_blocks[i].at);
		assert_memory_equal(r.code.v + b->code, made_code + made_blocks[i].at, made_blocks[i].size);
		assert_true(b->count == (double)k.count[i]);
		executed += k.count[i] * made_blocks[i].insns;
	}
	assert_true(r.instructions == (double)executed);
	assert_true(block_at(&r, 0x05)->taken == 70 * 15);
	assert_true(block_at(&r, 0x0b)->taken == 70 * 27);
	assert_int_equal(block_at(&r, 0x0b)->mispredicted, k.mispredicted);
	for (size_t i = 0; i < r.routes.n; i++)
		sequences += r.routes.v[i].count;
	assert_int_equal(sequences, r.stacks);
	gus_routes_free(&r);
	assert_true(r.blocks.n == 0 && !r.blocks.v && r.instructions == 0 && r.samples == 0);
	drop(&m);
}

static void branches_are_counted(void **state)
{
	struct gus_routes r;
	struct made_machine k;
	struct made m;
	double branches = 0, taken = 0;
	bool seen = false;

	(void)state;
	m = (struct made){ .batch = { 0 } };
	made_run(&k, &m.batch);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	for (size_t i = 0; i < r.edges.n; i++) {
		const struct gus_route_edge *e = &r.edges.v[i];

		assert_true(e->taken && e->from != NONE && e->to != NONE);
		branches += e->count;
		if (r.blocks.v[e->from].offset != MADE_TEXT + 0x0b)
			continue;
		seen = true;
		assert_int_equal(r.blocks.v[e->to].offset, MADE_TEXT + 0x05);
		assert_true(e->count == 70 * 27 && e->told == 70 * 27);
		assert_int_equal(e->mispredicted, k.mispredicted);
	}
	assert_true(seen);
	for (size_t i = 0; i < r.blocks.n; i++)
		taken += r.blocks.v[i].taken;
	assert_true(branches == (double)(k.branches - 1) && taken == branches);
	gus_routes_free(&r);
	drop(&m);
}

static void regions_are_functions_and_loops(void **state)
{
	static const struct { const char *name, *outer; unsigned at; unsigned blocks; } want[] = {
		{ "f", NULL, 0, 1 << F | 1 << OUTER | 1 << INNER | 1 << ODD | 1 << NEXT | 1 << CALL | 1 << BACK | 1 <<
			LEAVE },
		{ "f+0x2", "f", 2, 1 << OUTER | 1 << INNER | 1 << ODD | 1 << NEXT | 1 << CALL | 1 << BACK },
		{ "f+0x5", "f+0x2", 5, 1 << INNER | 1 << ODD | 1 << NEXT },
		{ "g", NULL, 0x20, 1 << G },
		{ "m", NULL, 0x22, 1 << M | 1 << AGAIN },
		{ "m+0x0", "m", 0x22, 1 << M | 1 << AGAIN },
	};
	struct gus_routes r;
	struct made_machine k;
	struct made m;

	(void)state;
	m = (struct made){ .batch = { 0 } };
	made_run(&k, &m.batch);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.regions.n, 6);
	for (uint32_t i = 1; i < 6; i++)
		assert_true(r.regions.v[i - 1].instructions >= r.regions.v[i].instructions);
	for (size_t i = 0; i < 6; i++) {
		const struct gus_route_region *g = &r.regions.v[region_named(&r, want[i].name)];
		double instructions = 0;

		for (unsigned b = 0; b < BLOCKS; b++)
			instructions += want[i].blocks >> b & 1 ? (double)(k.count[b] * made_blocks[b].insns) : 0;
		assert_true(g->instructions == instructions);
		assert_true(fabs(g->share - instructions / r.instructions) < 1e-12);
		assert_int_equal(g->offset, MADE_TEXT + want[i].at);
		assert_true(want[i].outer ? g->outer == region_named(&r, want[i].outer) : g->outer == NONE);
	}
	gus_routes_free(&r);
	drop(&m);
}

/* Two branches around each range that cannot have been; before and behind it are good ones, which stay. */
static void what_cannot_have_been_is_dropped(void **state)
{
#define AT(x) (MADE_BASE + MADE_TEXT + (x))
	static const struct { enum gus_range_verdict verdict; uint64_t to, from; } cases[] = {
		{ GUS_RANGE_BACKWARDS, AT(0x0b), AT(0x07) },
		{ GUS_RANGE_APART, AT(0x0b), 0x7f0000000010 },
		{ GUS_RANGE_APART, 0x7f0000000010, 0xffffffff81000000 },
		{ GUS_RANGE_BACKWARDS, AT(0x0b), AT(0x0a) },
		{ GUS_RANGE_APART, 0x5000, 0xffffffff81000000 },        /* as far from each other as their offsets */
		{ GUS_RANGE_LONG, 0x7f0000000000, 0x7f0000010001 },
		{ GUS_RANGE_NO_CODE, 0x7f0000000000, 0x7f0000010000 },
		{ GUS_RANGE_NO_CODE, 0x7f0000000000, 0x7f0000000010 },
		{ GUS_RANGE_NO_CODE, 0x5000, 0x5010 },                  /* nothing is mapped there */
		{ GUS_RANGE_NO_INSN, AT(0x05), AT(0x08) },              /* within jz */
		/* past the end of the file, which ends with zeros */
		{ GUS_RANGE_NO_INSN, AT(0x210), AT(0x230) },
		{ GUS_RANGE_NO_INSN, AT(0x210), AT(0x220) },            /* to the end of the file */
		{ GUS_RANGE_SKIPS, AT(0x0b), AT(0x19) },                /* past the call */
		{ GUS_RANGE_NO_BRANCH, AT(0x0b), AT(0x0d) },
		{ GUS_RANGE_GOOD, AT(0x0b), AT(0x12) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_branch stack[] = {
			{ AT(0x07), AT(0x0b), GUS_BRANCH_PREDICTED, 0 },
			{ cases[i].from, AT(0x05), GUS_BRANCH_PREDICTED, 0 },
			{ AT(0x10), cases[i].to, GUS_BRANCH_PREDICTED, 0 },
			{ AT(0x10), AT(0x05), GUS_BRANCH_PREDICTED, 0 },
		};
		bool good = cases[i].verdict == GUS_RANGE_GOOD;
		struct made m = { .batch = { 0 } };
		struct gus_routes r;
		uint64_t all = 0;

		made_sample(&m.batch, 0x0b, 1, stack, 4);
		record(&m, MADE_BRANCH_ANY);
		load(&m, &r);
		for (unsigned v = 0; v < GUS_RANGE_VERDICTS; v++)
			all += r.ranges[v];
		assert_int_equal(all, 3);
		assert_int_equal(r.ranges[GUS_RANGE_GOOD], good ? 3 : 2);
		assert_int_equal(r.ranges[cases[i].verdict], good ? 3 : 1);
		assert_int_equal(r.routes.n, good ? 1 : 2); /* its sequence is cut in two */
		assert_true(block_at(&r, 0x05)->count == 2);
		gus_routes_free(&r);
		drop(&m);
	}
}

/* Stacks written by hand. */

struct jump { uint64_t from, to; uint32_t flags; };
#define P GUS_BRANCH_PREDICTED
#define M GUS_BRANCH_MISPREDICTED
#define TWIN(x) (MADE_TWIN + MADE_TEXT + (x))
#define LIBRARY(x) (MADE_LIBRARY + (x))

/* A sample with these branches, which are given in the order in which they were taken. */
static void push(struct made *m, uint32_t event, const struct jump *jumps, uint32_t n)
{
	struct gus_branch stack[16];

	assert_true(n <= 16);
	for (uint32_t i = 0; i < n; i++)
		stack[n - 1 - i] = (struct gus_branch){ jumps[i].from, jumps[i].to, jumps[i].flags, 0 };
	gus_columns_push(&m->batch,
			 &(struct gus_sample){ .ip = AT(0), .time = MADE_START + 1, .period = 1, .pid = 10, .tid = 10,
							   .mode = GUS_MODE_USER, .event = event, .branches_n = n,
							   .branches = stack });
}

static uint32_t number_at(const struct gus_routes *r, unsigned at)
{
	return (uint32_t)(block_at(r, at) - r->blocks.v);
}

static void edge_is(const struct gus_routes *r, size_t number, uint32_t from, uint32_t to, unsigned count,
		    unsigned told, unsigned mispredicted)
{
	const struct gus_route_edge *e = &r->edges.v[number];

	if (e->from != from || e->to != to || e->count < count - 0.5 || e->count > count + 0.5 || e->told != told ||
	    e->mispredicted != mispredicted || !e->taken)
		fail_msg("edge %zu: %u to %u, %.0f times, of %u judged %u wrong", number, e->from, e->to, e->count,
			 (unsigned)e->told, (unsigned)e->mispredicted);
}

/* The return goes to two places, and the last jump to one that is a block and to two that are none, which are one edge.
 * What the hardware does not judge is not told; the branch at the beginning of a stack, and that behind a bad range,
 * count for nothing. */
static void edges_are_by_block_and_target(void **state)
{
	static const struct jump jumps[] = {
		{ AT(0x21), AT(0x17), M }, { AT(0x19), AT(0x1b), P }, { AT(0x1b), AT(0x27), P },
			{ AT(0x27), AT(0x1b), 0 },
		{ AT(0x1b), AT(0x17), M }, { AT(0x19), AT(0x1b), M }, { AT(0x1b), AT(0x27), M },
			{ AT(0x27), LIBRARY(0x10), P },
		{ LIBRARY(0x20), AT(0x27), M }, { AT(0x27), LIBRARY(0x30), M },
	};
	struct made m = { .batch = { 0 } };
	uint32_t back, leave, again;
	struct gus_routes r;

	(void)state;
	push(&m, 0, jumps, 10);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.ranges[GUS_RANGE_GOOD], 8);
	assert_int_equal(r.ranges[GUS_RANGE_NO_CODE], 1);
	assert_int_equal(r.blocks.n, 3);
	back = number_at(&r, 0x17);
	leave = number_at(&r, 0x1b);
	again = number_at(&r, 0x27);
	assert_true(back == 0 && leave == 1 && again == 2);
	assert_int_equal(r.edges.n, 5);
	edge_is(&r, 0, back, leave, 2, 2, 1);
	edge_is(&r, 1, leave, back, 1, 1, 1);
	edge_is(&r, 2, leave, again, 2, 2, 1);
	edge_is(&r, 3, again, leave, 1, 0, 0);
	edge_is(&r, 4, again, NONE, 2, 2, 1);
	assert_true(r.blocks.v[leave].taken > 2.5 && r.blocks.v[leave].taken < 3.5);
	assert_true(r.blocks.v[leave].told == 3 && r.blocks.v[leave].mispredicted == 2);
	assert_true(r.blocks.v[again].told == 2 && r.blocks.v[again].mispredicted == 1);
	assert_int_equal(r.blocks.v[back].behind, leave);
	assert_int_equal(r.blocks.v[leave].behind, NONE);
	gus_routes_free(&r);
	drop(&m);
}

/* A route is a whole sequence: those that it begins with are others. Bad ranges end them, and a stack of one branch has
 * none. */
static void routes_are_counted_where_they_end(void **state)
{
	static const struct jump jumps[] = {
		{ AT(0x1b), AT(0x27), 0 }, { AT(0x27), AT(0x22), 0 }, { AT(0x22), AT(0x00), 0 },
			{ AT(0x10), AT(0x05), 0 },
	};
	static const unsigned times[] = { 0, 5, 4, 3, 2 }, order[] = { 3, 1, 4, 2 };
	struct made m = { .batch = { 0 } };
	struct gus_routes r;
	uint64_t all = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (unsigned n = 0; n < times[order[i]]; n++)
			push(&m, 0, jumps, order[i]);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.samples, 14);
	assert_int_equal(r.stacks, 9);
	assert_int_equal(r.routes.n, 3);
	for (size_t i = 0; i < r.routes.n; i++) {
		const struct gus_route *route = &r.routes.v[i];
		const uint32_t *steps = r.steps.v + route->step;

		/* 27; 27 22; 27 22 00 09: the last range goes on behind a branch that is not taken */
		assert_true(route->steps_n == 1 || route->steps_n == 2 || route->steps_n == 4);
		assert_int_equal(route->count, route->steps_n == 1 ? 4 : route->steps_n == 2 ? 3 : 2);
		assert_int_equal(steps[0], number_at(&r, 0x27));
		assert_true(route->steps_n < 2 || steps[1] == number_at(&r, 0x22));
		assert_true(route->steps_n < 4 || (steps[2] == number_at(&r, 0x00) && steps[3] == number_at(&r, 0x09)));
		all += route->count;
	}
	assert_int_equal(all, r.stacks);
	assert_int_equal(r.crowded, 0);
	gus_routes_free(&r);
	drop(&m);
}

/* Lines that begin within others cut them: 0b to 10 twice, 0d to 10 three times. */
static void lines_cut_each_other(void **state)
{
	static const struct jump from_0b[] = { { AT(0x10), AT(0x0b), 0 }, { AT(0x10), AT(0x05), 0 } };
	static const struct jump from_0d[] = { { AT(0x10), AT(0x0d), 0 }, { AT(0x10), AT(0x05), 0 } };
	struct made m = { .batch = { 0 } };
	const struct gus_route_block *first, *rest;
	struct gus_routes r;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		push(&m, 0, i < 2 ? from_0b : from_0d, 2);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.blocks.n, 2);
	first = block_at(&r, 0x0b);
	rest = block_at(&r, 0x0d);
	assert_true(first->size == 2 && first->insns == 1 && first->count > 1.5 && first->count < 2.5 &&
		    first->taken < 0.5);
	assert_true(rest->size == 5 && rest->insns == 2 && rest->count > 4.5 && rest->count < 5.5 && rest->taken > 4.5);
	assert_int_equal(first->behind, rest - r.blocks.v);
	assert_ptr_equal(gus_routes_ending_at(&r, first->module, MADE_TEXT + 0x0b), first);
	gus_routes_free(&r);
	drop(&m);
}

/* From 0c on the same bytes are another instruction, and both ways meet at 10: that begins a block, so that none is in
 * two. */
static void ways_that_meet_cut(void **state)
{
	static const struct jump straight[] = { { AT(0x10), AT(0x0b), 0 }, { AT(0x10), AT(0x05), 0 } };
	static const struct jump shifted[] = { { AT(0x10), AT(0x0c), 0 }, { AT(0x10), AT(0x05), 0 } };

	(void)state;
	for (unsigned turn = 0; turn < 2; turn++) {
		struct made m = { .batch = { 0 } };
		struct gus_routes r;

		push(&m, 0, turn ? shifted : straight, 2);
		push(&m, 0, turn ? straight : shifted, 2);
		record(&m, MADE_BRANCH_ANY);
		load(&m, &r);
		assert_int_equal(r.ranges[GUS_RANGE_GOOD], 2);
		assert_int_equal(r.blocks.n, 3);
		assert_true(block_at(&r, 0x0b)->size == 5 && block_at(&r, 0x0b)->insns == 2);
		assert_true(block_at(&r, 0x0c)->size == 4 && block_at(&r, 0x0c)->insns == 1);
		assert_true(block_at(&r, 0x10)->size == 2 && block_at(&r, 0x10)->count > 1.5);
		assert_true(block_at(&r, 0x0b)->behind == 2 && block_at(&r, 0x0c)->behind == 2);
		gus_routes_free(&r);
		drop(&m);
	}
}

/* A system call ends a range where the kernel's branches are recorded; where they are not, it is passed. So a block
 * ends with it, and another begins behind it. */
static void system_calls_end_ranges(void **state)
{
	static const struct jump ends[] = { { AT(0x27), AT(0x1c), 0 }, { AT(0x1c), 0xffffffff81000000, 0 } };
	static const struct jump passes[] = { { AT(0x27), AT(0x1c), 0 }, { AT(0x21), AT(0x17), 0 } };
	struct made m = { .batch = { 0 } };
	struct gus_routes r;

	(void)state;
	push(&m, 0, passes, 2);
	push(&m, 0, ends, 2);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.ranges[GUS_RANGE_GOOD], 2);
	assert_int_equal(r.blocks.n, 2);
	assert_true(block_at(&r, 0x1c)->size == 2 && block_at(&r, 0x1c)->count > 1.5 &&
		    block_at(&r, 0x1c)->taken < 0.5);
	assert_true(block_at(&r, 0x1e)->size == 4 && block_at(&r, 0x1e)->count < 1.5 &&
		    block_at(&r, 0x1e)->taken > 0.5);
	gus_routes_free(&r);
	drop(&m);
}

/* The same code in another file is other blocks, behind those of the first; a jump from one to the other is an edge. */
static void modules_have_their_own_blocks(void **state)
{
	static const struct jump jumps[] = {
		{ TWIN(0x10), TWIN(0x05), 0 }, { TWIN(0x07), TWIN(0x0b), 0 }, { TWIN(0x10), AT(0x05), 0 },
			{ AT(0x07), AT(0x20), 0 },
		{ AT(0x21), TWIN(0x20), 0 }, { TWIN(0x21), AT(0x27), 0 },
	};
	static const unsigned offsets[] = { 0x05, 0x20, 0x05, 0x0b, 0x20 }, ends[] = { 0x07, 0x21, 0x07, 0x10, 0x21 };
	struct made m = { .batch = { 0 } };
	struct gus_routes r;

	(void)state;
	push(&m, 0, jumps, 6);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.ranges[GUS_RANGE_GOOD], 5);
	assert_int_equal(r.blocks.n, 5);
	assert_true(r.blocks.v[1].module < r.blocks.v[2].module);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(r.blocks.v[i].offset, MADE_TEXT + offsets[i]);
		assert_int_equal(r.blocks.v[i].module, r.blocks.v[i < 2 ? 0 : 4].module);
		assert_ptr_equal(gus_routes_ending_at(&r, r.blocks.v[i].module, MADE_TEXT + ends[i]), &r.blocks.v[i]);
	}
	assert_int_equal(r.edges.n, 5);
	edge_is(&r, 0, 0, 1, 1, 0, 0);
	edge_is(&r, 1, 1, 4, 1, 0, 0);
	edge_is(&r, 2, 2, 3, 1, 0, 0);
	edge_is(&r, 3, 3, 0, 1, 0, 0);
	edge_is(&r, 4, 4, NONE, 1, 0, 0);
	assert_int_equal(r.regions.n, 8); /* f, its two loops and g, of each */
	gus_routes_free(&r);
	drop(&m);
}

/* Each byte of the code, and of other modules: only where a block's last instruction begins there is a block. */
static void ends_are_found_and_nothing_else(void **state)
{
	static const uint8_t last[BLOCKS] = { 0x00, 0x02, 0x07, 0x09, 0x10, 0x12, 0x19, 0x1b, 0x21, 0x22, 0x27 };
	struct made m = { .batch = { 0 } };
	struct made_machine k;
	struct gus_routes r;

	(void)state;
	made_run(&k, &m.batch);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	for (unsigned at = 0; at < 0x30; at++) {
		const struct gus_route_block *want = NULL,
			*got = gus_routes_ending_at(&r, r.blocks.v[0].module, MADE_TEXT + at);

		for (unsigned b = 0; b < BLOCKS; b++)
			want = last[b] == at ? block_at(&r, made_blocks[b].at) : want;
		assert_ptr_equal(got, want);
		assert_null(gus_routes_ending_at(&r, r.blocks.v[0].module + 1, MADE_TEXT + at));
		assert_null(gus_routes_ending_at(&r, r.blocks.v[0].module - 1, MADE_TEXT + at));
	}
	assert_null(gus_routes_ending_at(&r, r.blocks.v[0].module, 0));
	gus_routes_free(&r);
	drop(&m);
}

/* Only the samples of the event that was asked for. */
static void other_events_are_left_alone(void **state)
{
	static const struct jump jumps[] = { { AT(0x27), AT(0x22), 0 }, { AT(0x22), AT(0x00), 0 } };
	struct made m = { .batch = { 0 } };
	struct gus_routes r;

	(void)state;
	push(&m, 0, jumps, 2);
	push(&m, 1, jumps, 2);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	assert_int_equal(r.samples, 1);
	assert_int_equal(r.ranges[GUS_RANGE_GOOD], 1);
	gus_routes_free(&r);
	drop(&m);
}

static void verdicts_have_names(void **state)
{
	static const char *const names[GUS_RANGE_VERDICTS] = {
		"good", "in two mappings", "backwards", "too long", "without code", "across instructions",
			"past a branch",
		"without a branch at the end",
	};

	(void)state;
	for (unsigned i = 0; i < GUS_RANGE_VERDICTS; i++)
		assert_string_equal(gus_range_verdict_name((enum gus_range_verdict)i), names[i]);
}

static void what_tells_nothing_is_refused(void **state)
{
	static const struct gus_branch far[] = { { 0x7f0000000020, 0x10, 0, 0 }, { 0x20, 0x7f0000000010, 0, 0 } };
	static const struct { uint64_t type; uint32_t n; int code; const char *text; } cases[] = {
		{ BRANCH_ANY_CALL, 2, GUS_E_UNSUPPORTED, "only some kinds of branches" },
		{ MADE_BRANCH_ANY, 1, GUS_E_NOT_FOUND, "no sample of this recording has two branches" },
		{ MADE_BRANCH_ANY, 2, GUS_E_NOT_FOUND, "none of the 1 stretches" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = { .batch = { 0 } };
		struct gus_error err = { 0 };
		struct gus_routes r;

		made_sample(&m.batch, 0, 1, far, cases[i].n);
		record(&m, cases[i].type);
		assert_int_equal(gus_routes_load(&r, m.reader, &m.profile, &err), -1);
		assert_int_equal(err.code, cases[i].code);
		assert_non_null(strstr(err.text, cases[i].text));
		drop(&m);
	}
}

/* Plain samples in proportion to what was executed, as if each instruction took one: the counts come out, up to their
 * scale and what is added to blocks that nobody saw. */
static void samples_give_counts(void **state)
{
	struct gus_routes r;
	struct made_machine k;
	struct made m, plain = { .batch = { 0 } };

	(void)state;
	m = (struct made){ .batch = { 0 } };
	made_run(&k, &m.batch);
	gus_columns_free(&m.batch);
	for (unsigned b = 0; b < BLOCKS; b++)
		made_sample(&plain.batch, made_blocks[b].at, k.count[b] * made_blocks[b].insns * 1000, NULL, 0);
	record(&plain, 0);
	load(&plain, &r);
	assert_int_equal(r.source, GUS_ROUTES_SAMPLES);
	assert_int_equal(r.samples, BLOCKS);
	assert_int_equal(r.routes.n, 0);
	for (unsigned b = 0; b < BLOCKS; b++) {
		double got = block_at(&r, made_blocks[b].at)->count, want = (double)k.count[b] * 1000;
		double unseen = (double)plain.profile.weight / BLOCKS / 64;

		assert_true(fabs(got - want - unseen / made_blocks[b].insns) < 1e-3);
	}
	/* The branch back within goes 9 of 10 times, jz half of the time. */
	assert_true(fabs(block_at(&r, 0x0b)->taken / block_at(&r, 0x0b)->count - 0.9) < 0.02);
	assert_true(fabs(block_at(&r, 0x05)->taken / block_at(&r, 0x05)->count - 0.5) < 0.02);
	gus_routes_free(&r);
	drop(&plain);
}

/* Replay. */

static struct gus_uarch *skylake(void)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);

	assert_non_null(u);
	return u;
}

/* The block that an op of the program is of, by its address. */
static uint32_t block_of_op(const struct gus_walk *p, const struct gus_routes *r, uint32_t op)
{
	const struct gus_program *program = gus_walk_program(p);
	uint64_t address = program->insns[program->ops[op].insn].offset;

	for (uint32_t i = 0; i < r->blocks.n; i++)
		if (address - r->blocks.v[i].address < r->blocks.v[i].size)
			return i;
	fail_msg("op %u is at %llx, where there is no block", op, (unsigned long long)address);
	return NONE;
}

/* Executions of each block, by the first of its ops; checks that steps follow each other as ops of a block do. */
static uint64_t replay(struct gus_walk *p, const struct gus_routes *r, uint64_t *count)
{
	const struct gus_program *program = gus_walk_program(p);
	struct gus_core_source source;
	struct gus_core_branch branch;
	struct gus_core_step step = { 0 };
	uint64_t instructions = 0, sum = 0;
	uint32_t before = UINT32_MAX;

	gus_walk_start(p, &source, &branch);
	memset(count, 0, r->blocks.n * sizeof(*count));
	while (source.next(source.context, &step)) {
		uint32_t block = block_of_op(p, r, step.op);
		const struct gus_op *op = &program->ops[step.op];

		assert_true(step.op < program->ops_n);
		if (op->insn == 0 || program->insns[op->insn].offset == r->blocks.v[block].address)
			count[block]++;
		else
			assert_int_equal(block_of_op(p, r, before), block);
		assert_true(!step.taken || op->flags & GUS_OP_BRANCH);
		instructions += op->insns_n;
		sum = sum * 31 + step.op * 2 + step.taken;
		before = step.op;
	}
	assert_true(instructions > 0);
	return sum;
}

static void follows_proportions(struct made *m, const struct made_machine *k, uint64_t instructions, double tolerance)
{
	struct gus_uarch *u = skylake();
	struct gus_routes r;
	struct gus_walk *p;
	uint64_t count[BLOCKS], sum, all = 0, truth = 0;

	load(m, &r);
	p = gus_walk_new(&r, u, &(struct gus_walk_options){ NONE, instructions }, NULL);
	assert_non_null(p);
	assert_int_equal(r.blocks.n, BLOCKS);
	sum = replay(p, &r, count);
	for (unsigned b = 0; b < BLOCKS; b++) {
		all += count[b] * r.blocks.v[b].insns;
		truth += k->count[b] * made_blocks[b].insns;
	}
	assert_in_range(all, instructions, instructions + 4); /* to the end of the block */
	for (unsigned b = 0; b < BLOCKS; b++) {
		const struct gus_route_block *block = block_at(&r, made_blocks[b].at);
		double got = (double)count[block - r.blocks.v] / (double)all, want =
			(double)k->count[b] / (double)truth;

		if (fabs(got - want) > tolerance * want + 2e-4)
			fail_msg("block %u: %.5f of all instructions, not %.5f", b, got, want);
	}
	assert_int_equal(replay(p, &r, count), sum); /* the same each time */
	gus_walk_free(p);
	gus_routes_free(&r);
	gus_uarch_free(u);
}

static void replays_stacks(void **state)
{
	struct made_machine k;
	struct made m;

	(void)state;
	m = (struct made){ .batch = { 0 } };
	made_run(&k, &m.batch);
	record(&m, MADE_BRANCH_ANY);
	follows_proportions(&m, &k, 500000, 0.01);
	drop(&m);
}

static void replays_samples(void **state)
{
	struct made_machine k;
	struct made m, plain = { .batch = { 0 } };

	(void)state;
	m = (struct made){ .batch = { 0 } };
	made_run(&k, &m.batch);
	gus_columns_free(&m.batch);
	for (unsigned b = 0; b < BLOCKS; b++)
		for (unsigned n = 0; n < 100; n++)
			made_sample(&plain.batch, made_blocks[b].at, k.count[b] * made_blocks[b].insns, NULL, 0);
	record(&plain, 0);
	follows_proportions(&plain, &k, 4000000, 0.05);
	drop(&plain);
}

/* Written as a trace it has the same steps, block by block. */
static void written_as_a_trace(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	uint64_t count[BLOCKS], traced[BLOCKS] = { 0 };
	struct gus_uarch *u = skylake();
	struct gus_trace_writer *w;
	struct gus_trace_step step;
	struct gus_trace *trace;
	struct gus_walk *p;
	struct made_machine k;
	struct gus_routes r;
	struct made m = { .batch = { 0 } };
	int got;

	(void)state;
	made_run(&k, &m.batch);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	p = gus_walk_new(&r, u, &(struct gus_walk_options){ NONE, 50000 }, NULL);
	replay(p, &r, count);
	about.front_end = (char *)"routes";
	about.target = (char *)"x86_64";
	unlink(m.path);
	w = gus_trace_writer_create(m.path, &header, &about, NULL);
	assert_non_null(w);
	assert_int_equal(gus_walk_write(p, w, NULL), 0);
	assert_int_equal(gus_trace_writer_finish(w, &total, NULL), 0);
	trace = gus_trace_open(m.path, NULL);
	while ((got = gus_trace_next(trace, &step, NULL)) == 1) {
		struct gus_trace_block b = gus_trace_block(trace, step.block);

		assert_true(step.block < r.blocks.n);
		assert_int_equal(b.address, gus_walk_base(r.blocks.v[step.block].module) +
				 r.blocks.v[step.block].offset);
		assert_int_equal(b.insns, r.blocks.v[step.block].insns);
		traced[step.block]++;
	}
	assert_int_equal(got, 0);
	assert_memory_equal(traced, count, sizeof(count));
	gus_trace_close(trace);
	gus_walk_free(p);
	gus_routes_free(&r);
	drop(&m);
	gus_uarch_free(u);
}

/* Traces in memory. */

static struct gus_trace *trace_of(struct gus_walk *p, const struct gus_space *space)
{
	struct gus_error err = { 0 };
	struct gus_trace *trace = gus_walk_trace(p, "x86_64", space, &err);

	if (!trace)
		fail_msg("%s", err.text);
	return trace;
}

/* The steps are the walk's, and the trace says of itself what it is. The walk ends with the block in which it has
 * executed enough. */
static void traces_in_memory_are_the_walk(void **state)
{
	uint64_t count[BLOCKS], traced[BLOCKS] = { 0 }, instructions = 0;
	struct gus_uarch *u = skylake();
	struct made m = { .batch = { 0 } };
	struct gus_trace_step step;
	struct gus_trace *trace;
	struct made_machine k;
	struct gus_routes r;
	struct gus_walk *p;

	(void)state;
	made_run(&k, &m.batch);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	p = gus_walk_new(&r, u, &(struct gus_walk_options){ NONE, 50000 }, NULL);
	replay(p, &r, count);
	trace = trace_of(p, m.profile.space);
	while (gus_trace_next(trace, &step, NULL) == 1) {
		assert_int_equal(step.at, instructions);
		assert_true(step.stream == 0 && step.window == 0 && step.accesses_n == 0);
		assert_true(instructions < 50000);
		traced[step.block]++;
		instructions += r.blocks.v[step.block].insns;
	}
	assert_in_range(instructions, 50000, 50002); /* no block has more than three */
	assert_memory_equal(traced, count, sizeof(count));
	assert_string_equal(gus_trace_about(trace)->front_end, "routes");
	assert_string_equal(gus_trace_about(trace)->target, "x86_64");
	assert_int_equal(gus_trace_blocks(trace), BLOCKS);
	assert_int_equal(gus_trace_total(trace)->instructions, instructions);
	gus_trace_close(trace);
	gus_walk_free(p);
	gus_routes_free(&r);
	drop(&m);
	gus_uarch_free(u);
}

static void add_module(struct gus_space *space, uint64_t start, const char *path, const char *build_id)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap mmap = GUSPROF__MMAP__INIT;

	mmap.pid = mmap.tid = 10;
	mmap.start = start;
	mmap.length = 0x1000;
	mmap.path = (char *)(uintptr_t)path;
	mmap.build_id = (ProtobufCBinaryData){ strlen(build_id), (uint8_t *)(uintptr_t)build_id };
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &mmap;
	gus_space_add(space, &record);
}

/* A walk, and everything that it needs. */
struct walked {
	struct made m;
	struct gus_routes r;
	struct gus_uarch *u;
	struct gus_walk *walk;
	struct gus_space *space;
};

static void begin_walk(struct walked *w)
{
	static const struct jump jumps[] = {
		{ AT(0x27), AT(0x22), 0 }, { AT(0x22), AT(0x00), 0 }, { AT(0x10), AT(0x05), 0 },
	};

	*w = (struct walked){ .u = skylake(), .space = gus_space_new() };
	push(&w->m, 0, jumps, 3);
	record(&w->m, MADE_BRANCH_ANY);
	load(&w->m, &w->r);
	w->walk = gus_walk_new(&w->r, w->u, &(struct gus_walk_options){ NONE, 1000 }, NULL);
	assert_non_null(w->walk);
}

static void end_walk(struct walked *w)
{
	gus_walk_free(w->walk);
	gus_space_free(w->space);
	gus_uarch_free(w->u);
	gus_routes_free(&w->r);
	drop(&w->m);
}

/* One behind the other, each with its number, and all before the first step. */
static void traces_in_memory_have_all_modules(void **state)
{
	const Gusprof__Record *const *records;
	struct gus_trace_step step;
	struct gus_trace *trace;
	struct walked w;
	bool seen = false;
	size_t n;

	(void)state;
	begin_walk(&w);
	add_module(w.space, 0x400000, "/nowhere/app", "twelve bytes");
	add_module(w.space, 0x500000, "/nowhere/lib.so", "");
	add_module(w.space, 0x600000, "[vdso]", "");
	add_module(w.space, 0x700000, "/nowhere/other.so", "another");
	gus_space_ready(w.space);
	trace = trace_of(w.walk, w.space);
	assert_int_equal(gus_trace_next(trace, &step, NULL), 1);
	records = gus_trace_records(trace, &n);
	assert_int_equal(n, gus_space_modules(w.space));
	for (uint32_t i = 0; i < n; i++) {
		const struct gus_module *module = gus_space_module(w.space, i);
		const Gusprof__Mmap *mmap = records[i]->mmap;

		assert_int_equal(records[i]->kind_case, GUSPROF__RECORD__KIND_MMAP);
		assert_int_equal(mmap->start, gus_walk_base(i));
		assert_int_equal(mmap->start + mmap->length, gus_walk_base(i + 1));
		assert_int_equal(mmap->offset, 0);
		assert_int_equal(mmap->time, 0);
		assert_string_equal(mmap->path, module->path);
		assert_int_equal(mmap->build_id.len, module->build_id_size);
		if (strcmp(module->path, "/nowhere/app") != 0)
			continue;
		seen = true;
		assert_int_equal(mmap->build_id.len, 12);
		assert_memory_equal(mmap->build_id.data, "twelve bytes", 12);
	}
	assert_true(seen);
	gus_trace_close(trace);
	end_walk(&w);
}

/* Numbers of open files are given out from the lowest on: where one is kept, the next one is higher. */
static int next_file(void)
{
	int fd = dup(1);

	close(fd);
	return fd;
}

static void no_trace(struct walked *w, enum gus_code code)
{
	struct gus_error err = { 0 };
	int before = next_file();

	assert_null(gus_walk_trace(w->walk, "x86_64", w->space, &err));
	assert_int_equal(err.code, code);
	assert_true(*err.text);
	assert_int_equal(next_file(), before);
}

/* A module whose path is more than a trace may hold; and a walk of which two blocks are one. */
static void what_no_trace_can_hold_is_refused(void **state)
{
	enum { LONG = GUS_TRACE_RECORDS_BYTES + 1 };
	char *path = gus_alloc(LONG + 1);
	struct walked w;

	(void)state;
	memset(path, 'a', LONG);
	path[0] = '/';
	path[LONG] = '\0';
	begin_walk(&w);
	add_module(w.space, 0x400000, path, "");
	gus_space_ready(w.space);
	no_trace(&w, GUS_E_FULL);
	end_walk(&w);
	free(path);
	begin_walk(&w);
	gus_space_ready(w.space);
	w.r.blocks.v[1] = w.r.blocks.v[0];
	no_trace(&w, GUS_E_UNSUPPORTED);
	end_walk(&w);
}

/* As many files are open as may be, or one less: two are needed. */
static void without_files_there_is_no_trace(void **state)
{
	struct rlimit all, few;
	struct walked w;

	(void)state;
	begin_walk(&w);
	gus_space_ready(w.space);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	for (rlim_t more = 0; more < 2; more++) {
		struct gus_error err = { 0 };
		struct gus_trace *trace;
		int before = next_file();

		few = (struct rlimit){ (rlim_t)before + more, all.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		trace = gus_walk_trace(w.walk, "x86_64", w.space, &err);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		assert_null(trace);
		assert_int_equal(err.code, GUS_E_SYSTEM);
		assert_int_equal(err.sys, EMFILE);
		assert_non_null(strstr(err.text, "in memory"));
		assert_int_equal(next_file(), before);
	}
	gus_trace_close(trace_of(w.walk, w.space));
	end_walk(&w);
}

/* Whoever closes the standard input gives its number away. */
static void a_file_may_have_the_number_zero(void **state)
{
	struct gus_trace_step step;
	struct gus_trace *trace;
	struct walked w;
	int keep;

	(void)state;
	begin_walk(&w);
	gus_space_ready(w.space);
	keep = dup(0);
	close(0);
	trace = trace_of(w.walk, w.space);
	assert_int_not_equal(next_file(), 0);
	assert_int_equal(gus_trace_next(trace, &step, NULL), 1);
	gus_trace_close(trace);
	w.r.blocks.v[1] = w.r.blocks.v[0];
	no_trace(&w, GUS_E_UNSUPPORTED);
	assert_int_equal(next_file(), 0);
	if (keep >= 0)
		dup2(keep, 0);
	close(keep);
	end_walk(&w);
}

/* Of the inner loop alone: only its blocks; and the branch back is mispredicted each fourth time that it is taken. */
static void replays_a_region(void **state)
{
	struct gus_uarch *u = skylake();
	struct gus_core_source source;
	struct gus_core_branch branch;
	struct gus_core_step step = { 0 };
	uint64_t backs = 0, mispredicted = 0;
	struct gus_routes r;
	struct made_machine k;
	struct made m;
	struct gus_walk *p;

	(void)state;
	m = (struct made){ .batch = { 0 } };
	made_run(&k, &m.batch);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	p = gus_walk_new(&r, u, &(struct gus_walk_options){ region_named(&r, "f+0x5"), 60000 }, NULL);
	gus_walk_start(p, &source, &branch);
	while (source.next(source.context, &step)) {
		uint64_t offset = r.blocks.v[block_of_op(p, &r, step.op)].offset - MADE_TEXT;

		assert_true(offset == 0x05 || offset == 0x09 || offset == 0x0b);
		if (offset != 0x0b || !step.taken)
			continue;
		backs++;
		mispredicted += branch.mispredicted(branch.context, step.op, 0);
	}
	assert_in_range(backs, 9000, 11000);
	assert_true(fabs((double)mispredicted / (double)backs - (double)k.mispredicted / (70 * 27)) < 0.01);
	gus_walk_free(p);
	gus_routes_free(&r);
	drop(&m);
	gus_uarch_free(u);
}

/* The stream engine takes it, with the measured rate of mispredictions and without. */
static void engines_run_it(void **state)
{
	struct gus_uarch *u = skylake();
	struct gus_core_config config;
	struct gus_core_source source;
	struct gus_core_branch branch;
	struct gus_stream_result result;
	struct gus_error err = { 0 };
	struct gus_routes r;
	struct made_machine k;
	struct made m;
	struct gus_walk *p;
	struct gus_stream_options so = { .source = &source, .branch = &branch, .fetch = GUS_CORE_FETCH_UOP_CACHE };
	double with, without;

	(void)state;
	m = (struct made){ .batch = { 0 } };
	made_run(&k, &m.batch);
	record(&m, MADE_BRANCH_ANY);
	load(&m, &r);
	p = gus_walk_new(&r, u, &(struct gus_walk_options){ NONE, 300000 }, NULL);
	gus_core_config_of(&config, u);
	gus_walk_start(p, &source, &branch);
	if (gus_stream_run(gus_walk_program(p), &config, &so, &result, &err) != 0)
		fail_msg("%s", err.text);
	with = result.cycles[0];
	assert_in_range(result.instructions, 300000, 300004);
	so.branch = NULL;
	gus_walk_start(p, &source, &branch);
	assert_int_equal(gus_stream_run(gus_walk_program(p), &config, &so, &result, &err), 0);
	without = result.cycles[0];
	/* Issue takes 4 instructions a cycle at most; and mispredictions cost some 15 cycles and more, one in 30
	 * instructions or so. */
	assert_true(without >= 300000 / 4 && without < 300000 * 1.5);
	assert_true(with > without + 300000.0 / 45 * 10);
	gus_walk_free(p);
	gus_routes_free(&r);
	drop(&m);
	gus_uarch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(branches_are_counted),
		cmocka_unit_test(regions_are_functions_and_loops),
		cmocka_unit_test(what_cannot_have_been_is_dropped),
		cmocka_unit_test(edges_are_by_block_and_target),
		cmocka_unit_test(routes_are_counted_where_they_end),
		cmocka_unit_test(lines_cut_each_other),
		cmocka_unit_test(ways_that_meet_cut),
		cmocka_unit_test(system_calls_end_ranges),
		cmocka_unit_test(modules_have_their_own_blocks),
		cmocka_unit_test(ends_are_found_and_nothing_else),
		cmocka_unit_test(other_events_are_left_alone),
		cmocka_unit_test(verdicts_have_names),
		cmocka_unit_test(what_tells_nothing_is_refused),
		cmocka_unit_test(samples_give_counts),
		cmocka_unit_test(replays_stacks),
		cmocka_unit_test(replays_samples),
		cmocka_unit_test(written_as_a_trace),
		cmocka_unit_test(traces_in_memory_are_the_walk),
		cmocka_unit_test(traces_in_memory_have_all_modules),
		cmocka_unit_test(what_no_trace_can_hold_is_refused),
		cmocka_unit_test(without_files_there_is_no_trace),
		cmocka_unit_test(a_file_may_have_the_number_zero),
		cmocka_unit_test(replays_a_region),
		cmocka_unit_test(engines_run_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
