/* SPDX-License-Identifier: MIT */
/* Routes and their replay: a made-up recording of a program whose executions are counted; see made_stacks.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/routes/routes.h"
#include "attribution/routes/walk.h"
#include "model/code/program.h"
#include "model/stream/stream.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "proto/trace.h"
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
	uint64_t sequences = 0;

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
	}
	assert_true(block_at(&r, 0x05)->taken == 70 * 15);
	assert_true(block_at(&r, 0x0b)->taken == 70 * 27);
	assert_int_equal(block_at(&r, 0x0b)->mispredicted, k.mispredicted);
	for (size_t i = 0; i < r.routes.n; i++)
		sequences += r.routes.v[i].count;
	assert_int_equal(sequences, r.stacks);
	gus_routes_free(&r);
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
		{ "f", NULL, 0, 1 << F | 1 << OUTER | 1 << INNER | 1 << ODD | 1 << NEXT | 1 << CALL | 1 << BACK | 1 << LEAVE },
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
	for (size_t i = 0; i < 6; i++) {
		const struct gus_route_region *g = &r.regions.v[region_named(&r, want[i].name)];
		double instructions = 0;

		for (unsigned b = 0; b < BLOCKS; b++)
			instructions += want[i].blocks >> b & 1 ? (double)(k.count[b] * made_blocks[b].insns) : 0;
		assert_true(g->instructions == instructions);
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
		{ GUS_RANGE_LONG, 0x7f0000000000, 0x7f0000010001 },
		{ GUS_RANGE_NO_CODE, 0x7f0000000000, 0x7f0000000010 },
		{ GUS_RANGE_NO_CODE, 0x5000, 0x5010 },                  /* nothing is mapped there */
		{ GUS_RANGE_NO_INSN, AT(0x05), AT(0x08) },              /* within jz */
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

/* Plain samples in proportion to what was executed, as if each instruction took one: the counts come out, up to their scale and what
 * is added to blocks that nobody saw. */
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
		double got = (double)count[block - r.blocks.v] / (double)all, want = (double)k->count[b] / (double)truth;

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
		assert_int_equal(b.address, gus_walk_base(r.blocks.v[step.block].module) + r.blocks.v[step.block].offset);
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
	/* Issue takes 4 instructions a cycle at most; and mispredictions cost some 15 cycles and more, one in 30 instructions or so. */
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
		cmocka_unit_test(what_tells_nothing_is_refused),
		cmocka_unit_test(samples_give_counts),
		cmocka_unit_test(replays_stacks),
		cmocka_unit_test(replays_samples),
		cmocka_unit_test(written_as_a_trace),
		cmocka_unit_test(replays_a_region),
		cmocka_unit_test(engines_run_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
