/* SPDX-License-Identifier: MIT */
/* Recordings of emulated samplers: what each hardware tells of an instruction comes back out of the program's own
 * decoders, what it does not tell does not, and counters stop where its registers end. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/order.h"
#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "cli/common/recording.h"
#include "collector/perfdata/container.h"
#include "collector/perfdata/record.h"
#include "collector/records/ibs.h"
#include "collector/records/psv.h"
#include "collector/records/spe.h"
#include "model/machine/options.h"
#include "proto/data_source.h"
#include "proto/psv.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "tests/accuracy/golden/spe.h"
#include "tests/accuracy/golden/words.h"

enum { PID = 4711, OTHER_TID = 4712, PERIOD = 16000 };
#define START UINT64_C(1000000000)

/* A recording that is written, and what was read of it. Samples' branches and extras are copies. */
struct golden {
	char path[64];
	struct golden_words *words;
	struct gus_error err;
	struct gus_vec(struct gus_sample) samples;
	struct gus_vec(struct gus_branch *) branches;
	struct gus_vec(uint64_t *) extras;
};

static const struct golden_mapping mappings[] = { { 0x400000, 0x1000, 0, "/bin/sh" },
	{ 0x7f0000000000, 0x2000, 0x1000, "/lib/none.so" } };
static const struct golden_about about = { .pid = PID, .comm = "golden", .mappings = mappings, .mappings_n = 2,
	.ghz = 2.0, .period = PERIOD };

static int setup(void **state)
{
	struct golden *g = calloc(1, sizeof(*g));

	strcpy(g->path, "/tmp/gusprof-test-XXXXXX");
	close(mkstemp(g->path));
	*state = g;
	return 0;
}

static void forget(struct golden *g)
{
	for (size_t i = 0; i < g->branches.n; i++)
		free(g->branches.v[i]);
	for (size_t i = 0; i < g->extras.n; i++)
		free(g->extras.v[i]);
	g->samples.n = g->branches.n = g->extras.n = 0;
}

static int teardown(void **state)
{
	struct golden *g = *state;

	forget(g);
	gus_vec_free(&g->samples);
	gus_vec_free(&g->branches);
	gus_vec_free(&g->extras);
	unlink(g->path);
	free(g);
	return 0;
}

static void keep(void *context, const struct gus_sample *s)
{
	struct golden *g = context;
	struct gus_sample copy = *s;

	if (s->branches_n) {
		struct gus_branch *branches = calloc(s->branches_n, sizeof(*branches));

		memcpy(branches, s->branches, s->branches_n * sizeof(*branches));
		copy.branches = branches;
		gus_vec_push(&g->branches, branches);
	}
	if (s->extras_n) {
		uint64_t *extras = calloc(s->extras_n, sizeof(*extras));

		memcpy(extras, s->extras, s->extras_n * sizeof(*extras));
		copy.extras = extras;
		gus_vec_push(&g->extras, extras);
	}
	gus_vec_push(&g->samples, copy);
}

static void write_samples(struct golden *g, enum golden_hardware hardware, const struct golden_sample *samples,
			  size_t n, uint64_t lost)
{
	g->words = golden_words_open(hardware, g->path, &about, &g->err);
	assert_non_null(g->words);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(golden_words_put(g->words, &samples[i], &g->err), 0);
	assert_int_equal(golden_words_finish(g->words, lost, &g->err), 0);
}

static void write_and_read(struct golden *g, enum golden_hardware hardware, const struct golden_sample *samples,
			   size_t n)
{
	forget(g);
	write_samples(g, hardware, samples, n, 0);
	assert_int_equal(golden_words_read(g->path, keep, g, &g->err), 0);
	assert_int_equal(g->samples.n, n);
}

/* One of each kind. All have all numbers, so that what comes back is what the hardware chose to tell. */
enum { PLAIN, LOAD_L1, LOAD_L2, LOAD_L3, LOAD_MEMORY, STORE_L1, STORE_MEMORY, MISPREDICTED, NOT_TAKEN, CALL, RETURN,
	KINDS };
#define NUMBERS .period = PERIOD, .tid = PID, .tag_to_issue = 10, .tag_to_complete = 350, .complete_to_retire = 7, \
	.translation = 33, .miss = 290, .retire_latency = 12, .address = 0x7ffc12345678, .bytes = 8, .target = 0x400900

static const struct golden_sample kinds[KINDS] = {
	[PLAIN] = { .cycle = 100, .ip = 0x400100, NUMBERS },
	[LOAD_L1] = { .cycle = 200, .ip = 0x400200, .load = true, .level = GUS_HIT_L1, .tlb = GUS_TLB_HIT, NUMBERS },
	[LOAD_L2] = { .cycle = 300, .ip = 0x400300, .load = true, .level = GUS_HIT_L2, .tlb = GUS_TLB_SECOND, NUMBERS },
	[LOAD_L3] = { .cycle = 400, .ip = 0x400400, .load = true, .level = GUS_HIT_L3, .tlb = GUS_TLB_WALK, NUMBERS },
	[LOAD_MEMORY] = { .cycle = 500, .ip = 0x400500, .load = true, .level = GUS_HIT_MEMORY, .tlb = GUS_TLB_HIT,
		NUMBERS },
	[STORE_L1] = { .cycle = 600, .ip = 0x400600, .store = true, .level = GUS_HIT_L1, .tlb = GUS_TLB_HIT, NUMBERS },
	[STORE_MEMORY] = { .cycle = 700, .ip = 0x400700, .store = true, .level = GUS_HIT_MEMORY, .tlb = GUS_TLB_WALK,
		NUMBERS },
	[MISPREDICTED] = { .cycle = 800, .ip = 0x400800, .branch = true, .taken = true, .mispredicted = true, NUMBERS },
	[NOT_TAKEN] = { .cycle = 901, .ip = 0x400900, .branch = true, NUMBERS },
	[CALL] = { .cycle = 1000, .ip = 0x401000, .branch = true, .taken = true, .call = true, NUMBERS },
	[RETURN] = { .cycle = 1100, .ip = 0x401100, .branch = true, .taken = true, .returns = true, NUMBERS },
};

/* What every one of them has. */
static void check_head(const struct gus_sample *s, const struct golden_sample *w, bool exact, uint64_t period)
{
	assert_int_equal(s->ip, w->ip);
	assert_int_equal(s->time, START + w->cycle / 2);
	assert_int_equal(s->pid, PID);
	assert_int_equal(s->tid, w->tid);
	assert_int_equal(s->cpu, 0);
	assert_int_equal(s->event, 0);
	assert_int_equal(s->mode, GUS_MODE_USER);
	assert_int_equal(s->exact, exact);
	assert_int_equal(s->period, period);
	assert_int_equal(s->chain_n, 0);
	assert_int_equal(s->physical, 0);
}

struct latencies { uint64_t weight, instruction, issue, translation, retire; };

static void check_latencies(const struct gus_sample *s, uint64_t told, struct latencies l)
{
	assert_int_equal(s->told, told);
	assert_int_equal(s->weight, l.weight);
	assert_int_equal(s->instruction_latency, l.instruction);
	assert_int_equal(s->issue_latency, l.issue);
	assert_int_equal(s->translation_latency, l.translation);
	assert_int_equal(s->retire_latency, l.retire);
	assert_int_equal(s->address, told & GUS_TOLD_ADDRESS ? 0x7ffc12345678 : 0);
}

static void check_proofs(const struct gus_sample *s, unsigned proved, unsigned excluded)
{
	assert_int_equal(s->events & UINT16_MAX, proved);
	assert_int_equal(s->events >> 16, excluded);
}

static void check_source(const struct gus_sample *s, unsigned does, unsigned level, unsigned tlb)
{
	struct gus_data_source d = gus_data_source_of_kernel(s->data_source);

	assert_int_equal(d.does, does);
	assert_int_equal(d.level, level);
	assert_int_equal(d.missed, false);
	assert_int_equal(d.tlb, tlb);
}

/* Short names for the tables below. */
enum { MB = GUS_PSV_FL_MB, EX = GUS_PSV_FL_EX, MO = GUS_PSV_FL_MO, SQ = GUS_PSV_DR_SQ, SL1 = GUS_PSV_ST_L1,
	TLB = GUS_PSV_ST_TLB, LLC = GUS_PSV_ST_LLC, DATA = SL1 | TLB | LLC };
enum { LOADS = GUS_DATA_LOADS, STORES = GUS_DATA_STORES };

/* Those whose records prove none of TEA's events, as they are of no access: their addresses and times alone. */
static void test_no_proofs(void **state)
{
	static const struct { enum golden_hardware hardware; bool exact; uint64_t period, told; unsigned retire; }
	of[] = {
		{ GOLDEN_PEBS, true, PERIOD, 0, 0 },
		{ GOLDEN_TPEBS, true, PERIOD, GUS_TOLD_WEIGHT | GUS_TOLD_RETIRE, 12 },
		{ GOLDEN_PMU, false, PERIOD, 0, 0 },
		{ GOLDEN_TIMER, false, PERIOD / 2, 0, 0 }, /* nanoseconds */
	};
	struct golden *g = *state;

	for (size_t k = 0; k < sizeof(of) / sizeof(*of); k++) {
		write_and_read(g, of[k].hardware, kinds, KINDS);
		for (size_t i = 0; i < KINDS; i++) {
			const struct gus_sample *s = &g->samples.v[i];

			check_head(s, &kinds[i], of[k].exact, of[k].period);
			check_latencies(s, of[k].told, (struct latencies){ .retire = of[k].retire });
			check_proofs(s, 0, 0);
			assert_int_equal(s->data_source, 0);
			assert_int_equal(s->branches_n, 0);
			assert_int_equal(s->extras_n, 0);
		}
	}
}

/* Of the translation no more than whether the second TLB missed. */
static void test_loads(void **state)
{
	static const struct { unsigned level, tlb, proved, excluded; } of[] = {
		{ GUS_DATA_L1, GUS_DATA_TLB_EITHER, 0, SL1 | LLC },
		{ GUS_DATA_L2, GUS_DATA_TLB_EITHER, SL1, LLC },
		{ GUS_DATA_L3, GUS_DATA_TLB_WALK, SL1 | TLB, LLC },
		{ GUS_DATA_RAM, GUS_DATA_TLB_EITHER, SL1 | LLC, 0 },
	};
	struct golden *g = *state;

	write_and_read(g, GOLDEN_LOADS, &kinds[LOAD_L1], 4);
	for (size_t i = 0; i < 4; i++) {
		const struct gus_sample *s = &g->samples.v[i];

		check_head(s, &kinds[LOAD_L1 + i], true, PERIOD);
		check_latencies(s, GUS_TOLD_ADDRESS | GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION,
				(struct latencies){ .weight = 350 - 10 - 33, .instruction = 350 - 10 });
		check_source(s, LOADS, of[i].level, of[i].tlb);
		check_proofs(s, of[i].proved, of[i].excluded);
		assert_int_equal(s->branches_n, 0);
	}
}

/* A load of a line that was on its way has missed L1, whatever caches say that know no time. */
static void test_coming(void **state)
{
	static const struct { enum golden_hardware hardware; unsigned tlb, excluded; } of[] = {
		{ GOLDEN_LOADS, GUS_DATA_TLB_EITHER, LLC },
		{ GOLDEN_IBS_CYCLES, GUS_DATA_TLB_FIRST, TLB | MB | SQ | LLC },
		{ GOLDEN_IBS_OPS, GUS_DATA_TLB_FIRST, TLB | MB | SQ | LLC },
	};
	struct golden *g = *state;

	for (size_t k = 0; k < sizeof(of) / sizeof(*of); k++) {
		struct golden_sample s = kinds[LOAD_L1];
		uint64_t weight = of[k].hardware == GOLDEN_LOADS ? 350 - 10 - 33 : 290;

		s.coming = true;
		write_and_read(g, of[k].hardware, &s, 1);
		assert_int_equal(g->samples.v[0].weight, weight);
		check_source(&g->samples.v[0], LOADS, GUS_DATA_LINE_BUFFER, of[k].tlb);
		check_proofs(&g->samples.v[0], SL1, of[k].excluded);
	}
}

/* kind: of the branch, PERF_BR_*; -1: there is none. */
struct expected { unsigned does, level, tlb, proved, excluded; int kind; };

static void check_branch(const struct gus_sample *s, const struct golden_sample *w, int kind)
{
	assert_int_equal(s->branches_n, kind >= 0);
	if (kind < 0)
		return;
	assert_int_equal(s->branches[0].from, w->ip);
	assert_int_equal(s->branches[0].to, 0x400900);
	assert_int_equal(s->branches[0].cycles, 0);
	assert_int_equal(s->branches[0].flags, (w->mispredicted ? GUS_BRANCH_MISPREDICTED : GUS_BRANCH_PREDICTED) |
			 (unsigned)kind << GUS_BRANCH_TYPE_SHIFT);
}

/* AMD tells translations, latencies of misses alone, and whose fault no store is. */
static void test_ibs(void **state)
{
	static const struct expected of[KINDS] = {
		[PLAIN] = { 0, 0, 0, 0, DATA | MB | MO | SQ, -1 },
		[LOAD_L1] = { LOADS, GUS_DATA_L1, GUS_DATA_TLB_FIRST, 0, DATA | MB | SQ, -1 },
		[LOAD_L2] = { LOADS, GUS_DATA_L2, GUS_DATA_TLB_SECOND, SL1 | TLB, LLC | MB | SQ, -1 },
		[LOAD_L3] = { LOADS, GUS_DATA_L3, GUS_DATA_TLB_WALK, SL1 | TLB, LLC | MB | SQ, -1 },
		[LOAD_MEMORY] = { LOADS, GUS_DATA_RAM, GUS_DATA_TLB_FIRST, SL1 | LLC, TLB | MB | SQ, -1 },
		[STORE_L1] = { STORES, GUS_DATA_L1, GUS_DATA_TLB_FIRST, 0, DATA | MB | MO, -1 },
		[MISPREDICTED] = { 0, 0, 0, MB, DATA | MO | SQ, 0 },
		[NOT_TAKEN] = { 0, 0, 0, 0, DATA | MB | MO | SQ, -1 },
		[CALL] = { 0, 0, 0, 0, DATA | MB | MO | SQ, 0 },
		[RETURN] = { 0, 0, 0, 0, DATA | MB | MO | SQ, 6 },
	};
	static const enum golden_hardware modes[] = { GOLDEN_IBS_CYCLES, GOLDEN_IBS_OPS };
	struct golden *g = *state;

	for (size_t k = 0; k < 2; k++) {
		write_and_read(g, modes[k], kinds, KINDS);
		for (size_t i = 0; i < KINDS; i++) {
			const struct gus_sample *s = &g->samples.v[i];
			bool access = kinds[i].load || kinds[i].store, refilled = access && kinds[i].tlb != GUS_TLB_HIT;
			bool late = kinds[i].load && kinds[i].level != GUS_HIT_L1;

			check_head(s, &kinds[i], true, PERIOD);
			check_latencies(s, GUS_TOLD_INSTRUCTION | GUS_TOLD_COMPLETE | (late ? GUS_TOLD_WEIGHT : 0) |
					(access ? GUS_TOLD_ADDRESS : 0) | (refilled ? GUS_TOLD_TRANSLATION : 0),
					(struct latencies){ late ? 290 : 0, 357, 0, refilled ? 33 : 0, 7 });
			if (i == STORE_MEMORY) { /* where a store's line was, beyond L2, is not told */
				check_proofs(s, 0, SL1 | LLC | MB | MO);
				continue;
			}
			check_source(s, of[i].does, of[i].level, of[i].tlb);
			check_proofs(s, of[i].proved, of[i].excluded);
			check_branch(s, &kinds[i], of[i].kind);
		}
	}
}

static struct gus_ibs_op op_of(const struct gus_sample *s)
{
	const struct gus_ibs_cpu genoa = { 0x19, 0x11 };
	struct gus_ibs_op op;
	size_t size;
	const void *raw = gus_sample_extra(s, GUS_EXTRA_RAW, &size, NULL);

	assert_non_null(raw);
	assert_true(gus_ibs_op_parse(raw, size, &genoa, &op));
	return op;
}

/* Registers of an op that no column has. */
static void test_ibs_registers(void **state)
{
	static const struct { uint32_t bytes, told; uint64_t period, max_count; } of[] = {
		{ 1, 1, 0x90, 0x90 }, { 2, 2, 0x9f, 0x90 }, { 4, 4, 0xffff0, 0xffff0 }, { 8, 8, 0x100000, 0x100000 },
		{ 16, 16, 0x7fffff0, 0x7fffff0 }, { 32, 32, 1000000, 1000000 }, { 64, 64, 1000003, 1000000 },
		{ 12, 0, PERIOD, PERIOD }, { 128, 0, PERIOD, PERIOD },
	};
	const size_t n = sizeof(of) / sizeof(*of);
	struct golden_sample samples[sizeof(of) / sizeof(*of)];
	struct golden *g = *state;
	const uint8_t *raw;
	uint64_t data3;
	size_t size;

	for (size_t i = 0; i < n; i++) {
		samples[i] = kinds[LOAD_L3];
		samples[i].bytes = of[i].bytes;
		samples[i].period = of[i].period;
	}
	write_and_read(g, GOLDEN_IBS_OPS, samples, n);
	for (size_t i = 0; i < n; i++) {
		struct gus_ibs_op op = op_of(&g->samples.v[i]);

		assert_int_equal(op.caps, 0xbff);
		assert_true(op.valid && op.counts_ops && op.load && !op.store && !op.branch && op.l2_miss);
		assert_int_equal(op.bytes, of[i].told);
		assert_int_equal(op.period, of[i].max_count);
		assert_int_equal(g->samples.v[i].period, of[i].period);
		assert_int_equal(op.rip, 0x400400);
		assert_int_equal(op.source_number, 1);
		if (!of[i].told) {
			raw = gus_sample_extra(&g->samples.v[i], GUS_EXTRA_RAW, &size, NULL);
			memcpy(&data3, raw + 4 + 4 * sizeof(data3), sizeof(data3));
			assert_int_equal(data3 >> 22 & 15, 0); /* no width at all */
		}
	}
	/* Where it came from is told of loads that L2 did not have, and of nothing else. */
	write_and_read(g, GOLDEN_IBS_OPS, kinds, KINDS);
	for (size_t i = 0; i < KINDS; i++) {
		uint64_t data2, source = i == LOAD_L3 ? 1 : i == LOAD_MEMORY ? 3 : 0;

		raw = gus_sample_extra(&g->samples.v[i], GUS_EXTRA_RAW, &size, NULL);
		memcpy(&data2, raw + 4 + 3 * sizeof(data2), sizeof(data2));
		assert_int_equal(data2, source);
	}
	write_and_read(g, GOLDEN_IBS_CYCLES, &kinds[MISPREDICTED], 1);
	assert_false(op_of(&g->samples.v[0]).counts_ops);
	assert_int_equal(op_of(&g->samples.v[0]).target, 0x400900);
	write_and_read(g, GOLDEN_IBS_CYCLES, &kinds[STORE_MEMORY], 1);
	raw = gus_sample_extra(&g->samples.v[0], GUS_EXTRA_RAW, &size, NULL);
	memcpy(&data3, raw + 4 + 4 * sizeof(data3), sizeof(data3));
	assert_int_equal(data3 >> 32, UINT32_C(33) << 16); /* it was refilled, and a store's miss is not timed */
}

/* Arm tells a walk alone of translations, and exceptions of none of these. */
static void test_spe(void **state)
{
	static const struct expected of[KINDS] = {
		[PLAIN] = { 0, 0, 0, 0, DATA | MB | MO | SQ | EX, -1 },
		/* whose latency is that of a line on its way */
		[LOAD_L1] = { LOADS, GUS_DATA_L1, GUS_DATA_TLB_EITHER, SL1, LLC | MB | SQ | EX, -1 },
		[LOAD_L2] = { LOADS, GUS_DATA_L2, GUS_DATA_TLB_EITHER, SL1, LLC | MB | SQ | EX, -1 },
		[LOAD_L3] = { LOADS, GUS_DATA_L3, GUS_DATA_TLB_WALK, SL1 | TLB, LLC | MB | SQ | EX, -1 },
		[LOAD_MEMORY] = { LOADS, GUS_DATA_RAM, GUS_DATA_TLB_EITHER, SL1 | LLC, MB | SQ | EX, -1 },
		[STORE_L1] = { STORES, GUS_DATA_L1, GUS_DATA_TLB_EITHER, 0, SL1 | LLC | MB | MO | EX, -1 },
		[MISPREDICTED] = { 0, 0, 0, MB, DATA | MO | SQ | EX, 1 },
		[NOT_TAKEN] = { 0, 0, 0, 0, DATA | MB | MO | SQ | EX, -1 },
		[CALL] = { 0, 0, 0, 0, DATA | MB | MO | SQ | EX, 2 },
		[RETURN] = { 0, 0, 0, 0, DATA | MB | MO | SQ | EX, 3 },
	};
	struct golden *g = *state;

	write_and_read(g, GOLDEN_SPE, kinds, KINDS);
	for (size_t i = 0; i < KINDS; i++) {
		const struct gus_sample *s = &g->samples.v[i];
		bool access = kinds[i].load || kinds[i].store;

		check_head(s, &kinds[i], true, PERIOD);
		check_latencies(s, GUS_TOLD_INSTRUCTION | GUS_TOLD_WEIGHT | GUS_TOLD_ISSUE |
				(access ? GUS_TOLD_ADDRESS | GUS_TOLD_TRANSLATION : 0),
				(struct latencies){ 350, 350, 10, access ? 33 : 0, 0 });
		if (i == STORE_MEMORY) { /* that the last cache missed is an event, of stores as well */
			assert_true(gus_data_source_of_kernel(s->data_source).missed);
			check_proofs(s, 0, SL1 | LLC | MB | MO | EX);
			continue;
		}
		check_source(s, of[i].does, of[i].level, of[i].tlb);
		check_proofs(s, of[i].proved, of[i].excluded);
		check_branch(s, &kinds[i], of[i].kind);
	}
}

/* A record's packets, without a file around them. */
static struct gus_spe_record record_of(const struct golden_sample *s)
{
	struct golden_spe spe = { .pid = PID };
	struct gus_spe_lost lost = { 0 };
	struct gus_spe_record r;
	struct gus_cursor c;

	golden_spe_put(&spe, s, START, NULL);
	c = gus_cursor(spe.bytes.v, spe.bytes.n);
	assert_true(gus_spe_record(&c, &r, &lost));
	assert_false(lost.bytes || lost.damaged || lost.cut || gus_cursor_left(&c));
	gus_vec_free(&spe.bytes);
	return r;
}

static void test_spe_packets(void **state)
{
	static const struct { unsigned kind; uint64_t events; enum gus_spe_class class; uint32_t operation; } of[] = {
		{ PLAIN, GUS_SPE_RETIRED, GUS_SPE_OTHER, 0 },
		{ MISPREDICTED, GUS_SPE_RETIRED | GUS_SPE_MISPREDICTED, GUS_SPE_BRANCH,
		  GUS_SPE_OP_BRANCH | GUS_SPE_OP_CONDITIONAL },
		{ NOT_TAKEN, GUS_SPE_RETIRED | GUS_SPE_NOT_TAKEN, GUS_SPE_BRANCH,
		  GUS_SPE_OP_BRANCH | GUS_SPE_OP_CONDITIONAL },
		{ CALL, GUS_SPE_RETIRED, GUS_SPE_BRANCH, GUS_SPE_OP_BRANCH },
		{ RETURN, GUS_SPE_RETIRED, GUS_SPE_BRANCH, GUS_SPE_OP_BRANCH | GUS_SPE_OP_INDIRECT },
		{ LOAD_L2, GUS_SPE_RETIRED | GUS_SPE_L1D_ACCESS | GUS_SPE_L1D_REFILL | GUS_SPE_TLB_ACCESS,
		  GUS_SPE_LOAD_STORE, GUS_SPE_OP_LOAD },
		{ STORE_MEMORY, GUS_SPE_RETIRED | GUS_SPE_L1D_ACCESS | GUS_SPE_L1D_REFILL | GUS_SPE_TLB_ACCESS |
		  GUS_SPE_TLB_WALK | GUS_SPE_LLC_ACCESS | GUS_SPE_LLC_MISS, GUS_SPE_LOAD_STORE, GUS_SPE_OP_STORE },
	};
	struct golden_sample both = kinds[LOAD_L3];
	struct gus_spe_record r;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		r = record_of(&kinds[of[i].kind]);
		assert_int_equal(r.events, of[i].events);
		assert_int_equal(r.class, of[i].class);
		assert_int_equal(r.operation, of[i].operation);
		assert_int_equal(r.context, PID);
		assert_int_equal(r.timestamp, START);
		assert_int_equal(!!(r.known & GUS_SPE_HAS_SOURCE), kinds[of[i].kind].load);
		assert_int_equal(!!(r.known & GUS_SPE_HAS_TARGET), kinds[of[i].kind].taken);
		assert_true(r.non_secure && r.level == 0);
	}
	both.store = true;
	r = record_of(&both);
	assert_int_equal(r.operation, GUS_SPE_OP_LOAD | GUS_SPE_OP_ATOMIC);
	assert_int_equal(r.source, 0xa);
	both = kinds[LOAD_L2];
	both.branch = both.taken = both.mispredicted = true; /* a comparison with memory, and the jump by it */
	r = record_of(&both);
	assert_int_equal(r.class, GUS_SPE_LOAD_STORE);
	assert_int_equal(r.events, GUS_SPE_RETIRED | GUS_SPE_L1D_ACCESS | GUS_SPE_L1D_REFILL | GUS_SPE_TLB_ACCESS |
			 GUS_SPE_MISPREDICTED);
	assert_int_equal(gus_proof_of_spe(&r, 0).proved, SL1 | MB);
}

/* Pieces of the buffer follow each other, are whole words, and perf's index says where they are. */
static void test_pieces(void **state)
{
	enum { MANY = 20000, AUX = 11, AUXTRACE = 71, INDEX = 18 };
	struct golden *g = *state;
	struct golden_sample s = kinds[LOAD_MEMORY];
	struct gus_perfdata_record r;
	uint64_t told = 0, written = 0, pieces = 0;
	struct gus_perfdata *p;
	struct gus_cursor index;
	int fd;

	g->words = golden_words_open(GOLDEN_SPE, g->path, &about, &g->err);
	for (uint32_t i = 0; i < MANY; i++, s.cycle++)
		golden_words_put(g->words, &s, &g->err);
	assert_int_equal(golden_words_finish(g->words, 0, &g->err), 0);
	fd = open(g->path, O_RDONLY);
	p = gus_perfdata_open(fd, g->path, &g->err);
	assert_non_null(p);
	index = gus_perfdata_feature(p, INDEX);
	pieces = gus_cursor_u64(&index);
	assert_int_equal(gus_cursor_left(&index), 16 * pieces);
	while (gus_perfdata_next(p, &r, &g->err) > 0) {
		struct gus_cursor c = gus_cursor(r.bytes, r.size);
		uint64_t first, second;

		gus_cursor_u64(&c);
		first = gus_cursor_u64(&c);
		second = gus_cursor_u64(&c);
		if (r.type == AUX) {
			assert_int_equal(first, told);
			told += second;
			assert_int_equal(gus_cursor_u64(&c), 0);
		} else if (r.type == AUXTRACE) {
			assert_int_equal(second, written);
			written += first;
			assert_true(written == told && first % 8 == 0 && r.beside_size == first);
			assert_int_equal(gus_cursor_u64(&index), r.offset);
			assert_int_equal(gus_cursor_u64(&index), r.size);
			pieces--;
		}
	}
	assert_true(!pieces && written > 512 << 10); /* of more than two */
	gus_perfdata_close(p);
	close(fd);
}

/* Counters at their last value, before it and behind it. */
static void test_saturation(void **state)
{
	static const struct { enum golden_hardware hardware; uint32_t most; } of[] = { { GOLDEN_IBS_CYCLES, 65535 },
		{ GOLDEN_SPE, 4095 }, { GOLDEN_TPEBS, 65535 }, { GOLDEN_LOADS, 65535 } };
	struct golden *g = *state;

	for (size_t k = 0; k < 4; k++) {
		struct golden_sample samples[4];
		enum golden_hardware hardware = of[k].hardware;

		for (uint32_t i = 0; i < 4; i++) {
			uint32_t cycles = i == 3 ? UINT32_MAX : of[k].most - 1 + i;

			samples[i] = kinds[LOAD_L3];
			samples[i].tag_to_issue = hardware == GOLDEN_LOADS ? 0 : cycles;
			samples[i].tag_to_complete = cycles;
			samples[i].complete_to_retire = hardware == GOLDEN_IBS_CYCLES ? cycles : 0;
			samples[i].translation = hardware == GOLDEN_LOADS ? 0 : cycles;
			samples[i].miss = samples[i].retire_latency = cycles;
		}
		write_and_read(g, hardware, samples, 4);
		for (uint32_t i = 0; i < 4; i++) {
			const struct gus_sample *s = &g->samples.v[i];
			uint32_t stops = i ? of[k].most : of[k].most - 1;
			const struct latencies expected[GOLDEN_HARDWARE] = {
				[GOLDEN_IBS_CYCLES] = { stops, of[k].most, 0, stops, stops },
				[GOLDEN_SPE] = { stops, stops, stops, stops, 0 },
				[GOLDEN_TPEBS] = { 0, 0, 0, 0, stops },
				[GOLDEN_LOADS] = { stops, stops, 0, 0, 0 },
			};

			check_latencies(s, s->told, expected[hardware]);
		}
	}
}

/* The sum of two counters that fit stops as well. A load that is complete before it was issued took no time. */
static void test_sums(void **state)
{
	struct golden_sample samples[3] = { kinds[LOAD_L2], kinds[LOAD_L2], kinds[LOAD_L2] };
	struct golden *g = *state;

	for (uint32_t i = 0; i < 3; i++) {
		samples[i].tag_to_complete = 65000;
		samples[i].complete_to_retire = 534 + i;
	}
	write_and_read(g, GOLDEN_IBS_OPS, samples, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(g->samples.v[i].instruction_latency, i ? 65535 : 65534);
	for (uint32_t i = 0; i < 3; i++) {
		samples[i].tag_to_issue = 99 + i;
		samples[i].tag_to_complete = 100;
		samples[i].translation = 2;
	}
	write_and_read(g, GOLDEN_LOADS, samples, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(g->samples.v[i].weight, 0);
		assert_int_equal(g->samples.v[i].instruction_latency, i ? 0 : 1);
	}
}

/* 32 at most, the most recent first, each with its cycles. */
static void test_branches(void **state)
{
	static const unsigned counts[] = { 0, 1, GOLDEN_BRANCHES, GOLDEN_BRANCHES + 1 };
	struct golden_branch branches[GOLDEN_BRANCHES + 1];
	struct golden_sample samples[4];
	struct golden *g = *state;

	for (uint16_t i = 0; i < GOLDEN_BRANCHES + 1; i++)
		branches[i] = (struct golden_branch){ 0x400000u + i, 0x500000u + i, (uint16_t)(UINT16_MAX - i), i & 1 };
	for (size_t k = 0; k < 4; k++) {
		samples[k] = kinds[PLAIN];
		samples[k].branches = branches;
		samples[k].branches_n = counts[k];
	}
	write_and_read(g, GOLDEN_PEBS, samples, 4);
	for (size_t k = 0; k < 4; k++) {
		const struct gus_sample *s = &g->samples.v[k];

		assert_int_equal(s->branches_n, counts[k] < GOLDEN_BRANCHES ? counts[k] : GOLDEN_BRANCHES);
		for (uint32_t i = 0; i < s->branches_n; i++) {
			assert_int_equal(s->branches[i].from, branches[i].from);
			assert_int_equal(s->branches[i].to, branches[i].to);
			assert_int_equal(s->branches[i].cycles, branches[i].cycles);
			assert_int_equal(s->branches[i].flags, i & 1 ? GUS_BRANCH_MISPREDICTED : GUS_BRANCH_PREDICTED);
		}
	}
	write_and_read(g, GOLDEN_PMU, samples, 4);
	assert_int_equal(g->samples.v[3].branches_n, 0);
}

/* Side band. */

struct heard { unsigned comms, maps, forks, exits; uint32_t last_exit; uint64_t lost; bool collided; };

static void hear(void *context, const Gusprof__Record *r)
{
	struct heard *h = context;

	h->comms += r->kind_case == GUSPROF__RECORD__KIND_COMM && !strcmp(r->comm->name, "golden") &&
		r->comm->tid == PID;
	h->forks += r->kind_case == GUSPROF__RECORD__KIND_FORK && r->fork->tid == OTHER_TID && r->fork->pid == PID;
	h->exits += r->kind_case == GUSPROF__RECORD__KIND_EXIT;
	if (r->kind_case == GUSPROF__RECORD__KIND_EXIT)
		h->last_exit = r->exit->tid;
	if (r->kind_case != GUSPROF__RECORD__KIND_MMAP)
		return;
	assert_int_equal(r->mmap->start, mappings[h->maps].start);
	assert_int_equal(r->mmap->length, mappings[h->maps].length);
	assert_int_equal(r->mmap->offset, mappings[h->maps].offset);
	assert_string_equal(r->mmap->path, mappings[h->maps].path);
	assert_true(r->mmap->protection & 4);
	assert_int_equal(r->mmap->pid, PID);
	h->maps++;
}

static void ignore(void *context, const struct gus_sample *s)
{
	(void)context;
	(void)s;
}

static void hear_footer(struct gus_reader *reader, struct heard *h)
{
	struct gus_frame frame;
	struct gus_error err = { 0 };
	Gusprof__Footer *footer;

	gus_reader_rewind(reader);
	assert_int_equal(gus_reader_next_of(reader, 1u << GUS_FRAME_FOOTER, &frame, &err), GUS_READ_FRAME);
	footer = (Gusprof__Footer *)gus_frame_message(&frame, &gusprof__footer__descriptor, &err);
	assert_non_null(footer);
	assert_int_equal(footer->n_events, 1);
	assert_int_equal(footer->events[0]->samples, KINDS);
	h->lost = footer->events[0]->lost;
	for (size_t i = 0; i < footer->n_notices; i++) {
		h->collided |= strstr(footer->notices[i], "collided") != NULL;
		assert_non_null(strstr(footer->notices[i], "collided")); /* there are no others */
	}
	gusprof__footer__free_unpacked(footer, NULL);
}

static struct heard hear_all(const char *path, const char *vendor, const char *event)
{
	struct heard h = { 0 };
	const struct gus_order_sink sink = { .sample = ignore, .record = hear, .kinds = UINT32_MAX, .context = &h };
	struct gus_error err = { 0 };
	struct gus_reader *reader = gus_recording_open(path, &err);
	const Gusprof__Header *header;
	uint64_t late;

	assert_non_null(reader);
	header = gus_reader_header(reader);
	assert_string_equal(header->host->cpu_vendor, vendor);
	assert_string_equal(header->events[0]->name, event);
	assert_string_equal(header->command[0], "golden");
	assert_int_equal(gus_order_each(reader, 1 << 20, &sink, &late, &err), 0);
	hear_footer(reader, &h);
	gus_reader_close(reader);
	return h;
}

/* What happened beside the samples, and who was sampled by what. */
static void test_beside(void **state)
{
	static const struct { const char *vendor, *event; } of[GOLDEN_HARDWARE] = {
		[GOLDEN_PEBS] = { "GenuineIntel", "cycles:pppu" },
		[GOLDEN_TPEBS] = { "GenuineIntel", "inst_retired.prec_dist:pppu" },
		[GOLDEN_LOADS] = { "GenuineIntel", "cpu/mem-loads,ldlat=3/ppu" },
		[GOLDEN_IBS_CYCLES] = { "AuthenticAMD", "ibs_op//" },
		[GOLDEN_IBS_OPS] = { "AuthenticAMD", "ibs_op/cnt_ctl=1/" },
		[GOLDEN_SPE] = { "ARM", "arm_spe_0/ts_enable=1,jitter=1,event_filter=2/u" },
		[GOLDEN_SPE_SLOW] = { "ARM", "arm_spe_0/ts_enable=1,jitter=1,event_filter=2,min_latency=32/u" },
		[GOLDEN_PMU] = { "GenuineIntel", "cycles:u" }, [GOLDEN_TIMER] = { "GenuineIntel", "cpu-clock:u" },
		[GOLDEN_COST_CODE] = { "GenuineIntel", "frontend_retired.l1i_miss:ppu" },
		[GOLDEN_COST_CODE_TLB] = { "GenuineIntel", "frontend_retired.itlb_miss:ppu" },
		[GOLDEN_COST_BRANCH] = { "GenuineIntel", "br_misp_retired.all_branches_cost:ppu" },
		[GOLDEN_COST_L1] = { "GenuineIntel", "mem_load_retired.l1_miss_or_fb_hit:ppu" },
		[GOLDEN_COST_TLB] = { "GenuineIntel", "mem_inst_retired.stlb_any_loads:ppu" },
		[GOLDEN_COST_LLC] = { "GenuineIntel", "mem_load_retired.l3_miss:ppu" },
	};
	struct golden *g = *state;

	for (unsigned k = 0; k < GOLDEN_HARDWARE; k++) {
		struct golden_sample samples[KINDS];
		struct heard h;

		for (size_t i = 0; i < KINDS; i++) {
			samples[i] = kinds[k == GOLDEN_LOADS ? LOAD_L1 : i];
			samples[i].tid = i > 3 ? OTHER_TID : PID;
		}
		write_and_read(g, k, samples, KINDS);
		for (size_t i = 0; i < KINDS; i++)
			assert_true(g->samples.v[i].pid == PID && g->samples.v[i].tid == samples[i].tid);
		write_samples(g, k, samples, KINDS, 7);
		h = hear_all(g->path, of[k].vendor, of[k].event);
		assert_true(h.comms == 1 && h.maps == 2 && h.forks == 1 && h.exits == 2 && h.last_exit == PID);
		assert_int_equal(h.lost, k == GOLDEN_SPE || k == GOLDEN_SPE_SLOW ? 0 : 7);
		assert_int_equal(h.collided, k == GOLDEN_SPE || k == GOLDEN_SPE_SLOW);
		write_samples(g, k, samples, KINDS, 0);
		h = hear_all(g->path, of[k].vendor, of[k].event);
		assert_true(!h.lost && !h.collided);
	}
}

/* What opens each event, as perf_event_open(2) and the vendors' lists of events number it, and whose it is. */
struct claimed {
	uint32_t type;
	uint64_t config, config1, config2;
	unsigned precise;
	bool user_only;
	uint64_t branch_type;
	uint32_t family, model;
	uint64_t midr;
	const char *pmu;
};

static void check_claim(const Gusprof__Header *header, const struct claimed *c)
{
	const Gusprof__Event *e = header->events[0];
	const Gusprof__Host *h = header->host;

	assert_int_equal(header->n_events, 1);
	assert_int_equal(e->type, c->type);
	assert_int_equal(e->config, c->config);
	assert_int_equal(e->config1, c->config1);
	assert_int_equal(e->config2, c->config2);
	assert_int_equal(e->precise, c->precise);
	assert_int_equal(e->exclude_kernel, c->user_only);
	assert_int_equal(e->exclude_hv, c->user_only);
	assert_int_equal(e->period, c->type == 1 ? PERIOD / 2 : PERIOD); /* a timer has nanoseconds */
	assert_int_equal(header->branch_type | e->branch_type, c->branch_type);
	assert_int_equal(h->cpu_family, c->family);
	assert_int_equal(h->cpu_model_number, c->model);
	assert_int_equal(h->midr, c->midr);
	assert_string_equal(e->pmu, c->pmu);
	assert_int_equal(h->cpus_online, 1);
}

static void test_claims(void **state)
{
	enum { HARDWARE, SOFTWARE, RAW = 4, SPE = 9, IBS = 11 };
#define SAPPHIRE 6, 143, 0
#define GRANITE 6, 173, 0
#define ARM 0, 0, 0x414fd0c1
	static const struct claimed of[GOLDEN_HARDWARE] = {
		[GOLDEN_PEBS] = { HARDWARE, 0, 0, 0, 3, true, 9, SAPPHIRE, "" }, /* any branch of the user's */
		[GOLDEN_TPEBS] = { RAW, 0x100, 0, 0, 3, true, 0, GRANITE, "cpu" },
		[GOLDEN_LOADS] = { RAW, 0x1cd, 3, 0, 2, true, 0, SAPPHIRE, "cpu" },
		[GOLDEN_IBS_CYCLES] = { IBS, 0, 0, 0, 0, false, 0, 0x19, 0x11, 0, "ibs_op" },
		[GOLDEN_IBS_OPS] = { IBS, 0x80000, 0, 0, 0, false, 0, 0x19, 0x11, 0, "ibs_op" },
		[GOLDEN_SPE] = { SPE, 0x10001, 2, 0, 0, true, 0, ARM, "arm_spe_0" },
		[GOLDEN_SPE_SLOW] = { SPE, 0x10001, 2, 32, 0, true, 0, ARM, "arm_spe_0" },
		[GOLDEN_PMU] = { HARDWARE, 0, 0, 0, 0, true, 0, SAPPHIRE, "" },
		[GOLDEN_TIMER] = { SOFTWARE, 0, 0, 0, 0, true, 0, SAPPHIRE, "software" },
		[GOLDEN_COST_CODE] = { RAW, 0x3c6, 0x12, 0, 2, true, 0, GRANITE, "cpu" },
		[GOLDEN_COST_CODE_TLB] = { RAW, 0x3c6, 0x14, 0, 2, true, 0, GRANITE, "cpu" },
		[GOLDEN_COST_BRANCH] = { RAW, 0x44c5, 0, 0, 2, true, 0, GRANITE, "cpu" },
		[GOLDEN_COST_L1] = { RAW, 0x48d1, 0, 0, 2, true, 0, GRANITE, "cpu" },
		[GOLDEN_COST_TLB] = { RAW, 0x19d0, 0, 0, 2, true, 0, GRANITE, "cpu" },
		[GOLDEN_COST_LLC] = { RAW, 0x20d1, 0, 0, 2, true, 0, GRANITE, "cpu" },
	};
	struct golden *g = *state;

	for (unsigned k = 0; k < GOLDEN_HARDWARE; k++) {
		struct gus_reader *reader;

		write_samples(g, k, NULL, 0, 0);
		reader = gus_recording_open(g->path, &g->err);
		assert_non_null(reader);
		check_claim(gus_reader_header(reader), &of[k]);
		gus_reader_close(reader);
	}
}

/* A recording whose middle is not what was written is none. */
static void test_damage(void **state)
{
	enum { MANY = 1000 };
	struct golden *g = *state;
	struct golden_sample s = kinds[PLAIN];
	const uint8_t zeros[64] = { 0 };
	off_t size;
	int fd;

	g->words = golden_words_open(GOLDEN_PMU, g->path, &about, &g->err);
	for (uint32_t i = 0; i < MANY; i++, s.cycle++)
		assert_int_equal(golden_words_put(g->words, &s, &g->err), 0);
	assert_int_equal(golden_words_finish(g->words, 0, &g->err), 0);
	assert_int_equal(golden_words_read(g->path, ignore, NULL, &g->err), 0);
	fd = open(g->path, O_RDWR);
	size = lseek(fd, 0, SEEK_END);
	assert_int_equal(pwrite(fd, zeros, sizeof(zeros), size / 2), sizeof(zeros));
	close(fd);
	assert_int_equal(golden_words_read(g->path, ignore, NULL, &g->err), -1);
	assert_int_equal(g->err.code, GUS_E_CORRUPT);
}

/* None, and more than a round of records or a piece of a buffer holds. */
static void test_none_and_many(void **state)
{
	enum { MANY = 20000 };
	struct golden *g = *state;

	for (unsigned k = 0; k < GOLDEN_HARDWARE; k++) {
		struct golden_sample s = kinds[LOAD_MEMORY];

		write_and_read(g, k, NULL, 0);
		g->words = golden_words_open(k, g->path, &about, &g->err);
		for (uint32_t i = 0; i < MANY; i++) {
			s.cycle = 2 * i;
			s.ip = 0x400000 + i;
			assert_int_equal(golden_words_put(g->words, &s, &g->err), 0);
		}
		assert_int_equal(golden_words_finish(g->words, 0, &g->err), 0);
		assert_int_equal(golden_words_read(g->path, keep, g, &g->err), 0);
		assert_int_equal(g->samples.n, MANY);
		for (uint32_t i = 0; i < MANY; i++)
			assert_true(g->samples.v[i].ip == 0x400000 + i && g->samples.v[i].time == START + i);
	}
}

/* Each thread counts its own cycles, and they come in turns: on one CPU, where one waits while the other runs. */
static void test_turns(void **state)
{
	static const struct { uint32_t tid; uint64_t cycle, clock; } turns[] = { { PID, 100, 100 }, { PID, 400, 400 },
		{ OTHER_TID, 20, 400 }, { OTHER_TID, 220, 600 }, { PID, 420, 600 }, { PID, 620, 800 },
		{ OTHER_TID, 2000, 2380 } };
	enum { TURNS = sizeof(turns) / sizeof(*turns) };
	struct golden *g = *state;

	for (unsigned k = 0; k < GOLDEN_HARDWARE; k++) {
		struct golden_sample s = kinds[LOAD_MEMORY];

		forget(g);
		g->words = golden_words_open(k, g->path, &about, &g->err);
		for (unsigned i = 0; i < TURNS; i++) {
			s.tid = turns[i].tid;
			s.cycle = turns[i].cycle;
			assert_int_equal(golden_words_put(g->words, &s, &g->err), 0);
		}
		assert_int_equal(golden_words_finish(g->words, 0, &g->err), 0);
		assert_int_equal(golden_words_read(g->path, keep, g, &g->err), 0);
		assert_int_equal(g->samples.n, TURNS);
		for (unsigned i = 0; i < TURNS; i++) {
			assert_int_equal(g->samples.v[i].tid, turns[i].tid);
			assert_int_equal(g->samples.v[i].time, START + turns[i].clock / 2);
		}
	}
}

/* What cannot be a recording is none. */
static void test_refusals(void **state)
{
	struct golden_about timeless = about;
	struct golden *g = *state;

	timeless.ghz = 0;
	assert_null(golden_words_open(GOLDEN_PMU, g->path, &timeless, &g->err));
	assert_int_equal(g->err.code, GUS_E_USAGE);
	g->err = (struct gus_error){ 0 };
	assert_null(golden_words_open(GOLDEN_PMU, "/nowhere/at/all", &about, &g->err));
	assert_int_equal(g->err.code, GUS_E_NOT_FOUND);
	g->err = (struct gus_error){ 0 };
	g->words = golden_words_open(GOLDEN_LOADS, g->path, &about, &g->err);
	assert_int_equal(golden_words_put(g->words, &kinds[LOAD_L2], &g->err), 0);
	assert_int_equal(golden_words_put(g->words, &kinds[LOAD_L1], &g->err), -1); /* it was earlier */
	assert_int_equal(g->err.code, GUS_E_USAGE);
	g->err = (struct gus_error){ 0 };
	assert_int_equal(golden_words_put(g->words, &kinds[STORE_L1], &g->err), -1);
	assert_int_equal(g->err.code, GUS_E_USAGE);
	g->err = (struct gus_error){ 0 };
	assert_int_equal(golden_words_finish(g->words, 0, &g->err), 0);
	assert_int_equal(golden_words_read(g->path, keep, g, &g->err), 0);
	assert_int_equal(g->samples.n, 1);
	assert_int_equal(truncate(g->path, 400), 0);
	assert_int_equal(golden_words_read(g->path, keep, g, &g->err), -1);
	g->err = (struct gus_error){ 0 };
	assert_int_equal(golden_words_read("/nowhere/at/all", keep, g, &g->err), -1);
	assert_int_equal(g->err.code, GUS_E_NOT_FOUND);
}

/* A disk without room: the first failure is told by whoever asks next, and by the end. */
static void test_full(void **state)
{
	struct gus_error err = { 0 };
	struct golden_words *w;

	(void)state;
	if (access("/dev/full", W_OK) != 0)
		skip();
	w = golden_words_open(GOLDEN_PMU, "/dev/full", &about, &err);
	assert_non_null(w);
	assert_int_equal(golden_words_put(w, &kinds[PLAIN], &err), 0);
	assert_int_equal(golden_words_finish(w, 0, &err), -1);
	assert_int_equal(err.code, GUS_E_FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_proofs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ibs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ibs_registers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_spe, setup, teardown),
		cmocka_unit_test(test_spe_packets),
		cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_saturation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
		cmocka_unit_test_setup_teardown(test_branches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_claims, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none_and_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_coming, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests_name("golden_words", tests, NULL, NULL);
}
