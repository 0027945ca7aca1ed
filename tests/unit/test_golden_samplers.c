/* SPDX-License-Identifier: MIT */
/* Emulated samplers, told cycle by cycle by hand: with a period of one each cycle is a trigger, and of each it is known
 * what every sampler has to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "model/code/program.h"
#include "model/core/pics.h"
#include "tests/accuracy/golden/passes.h"
#include "tests/accuracy/golden/samplers.h"

enum { OPS = 8, AT = 0x1000, STEP = 16 };
/* What the ops are; the others compute. */
enum { BRANCH = 2, LOAD = 4 };

struct told { enum golden_scheme scheme; struct golden_seen seen; struct golden_branch newest; };

static struct gus_program program;
static struct gus_op ops[OPS];
static struct gus_uop uops[OPS];
static struct gus_program_insn insns[OPS];
static struct golden_samplers *samplers;
static struct gus_vec(struct told) told;
static uint64_t now;

static void take(void *context, enum golden_scheme scheme, const struct golden_seen *seen)
{
	struct told one = { .scheme = scheme, .seen = *seen };

	(void)context;
	if (seen->sample.branches_n)
		one.newest = seen->sample.branches[0];
	gus_vec_push(&told, one);
}

static void begin(uint64_t period, unsigned passes, uint64_t seed)
{
	struct golden_samplers_options o = { .period = period, .passes = passes, .seed = seed, .tid = 77,
		.take = take };

	for (uint32_t i = 0; i < OPS; i++) {
		ops[i] = (struct gus_op){ .insn = i, .uop = i, .uops_n = 1, .insns_n = 1, .slots = 1 };
		uops[i] = (struct gus_uop){ .kind = i == LOAD ? GUS_UOP_LOAD : GUS_UOP_COMPUTE };
		insns[i].offset = AT + STEP * i;
	}
	ops[BRANCH].flags = GUS_OP_BRANCH | GUS_OP_TAKEN;
	ops[LOAD].loads = 1;
	program = (struct gus_program){ .ops = ops, .uops = uops, .insns = insns, .ops_n = OPS, .uops_n = OPS,
		.insns_n = OPS };
	samplers = golden_samplers_new(&program, &o);
	told.n = 0;
	now = 0;
}

static int teardown(void **state)
{
	(void)state;
	golden_samplers_free(samplers);
	samplers = NULL;
	gus_vec_free(&told);
	return 0;
}

/* It was issued then, and retires now, two cycles or less after it was dispatched and complete. */
static void retires_since(uint32_t op, uint64_t issued, unsigned psv)
{
	golden_samplers_uop(samplers, &(struct gus_core_event){ .op = op, .uop = op, .port = -1, .issued = issued,
		.dispatched = issued + (now - issued) / 4, .completed = issued + (now - issued) / 2, .retired = now,
		.psv = (uint16_t)psv, .ends = true, .address = op == LOAD ? 0xabc0 : 0, .bytes = op == LOAD ? 8 : 0,
		.level = op == LOAD ? GUS_HIT_L3 : 0, .tlb = op == LOAD ? GUS_TLB_SECOND : 0, .miss = 40,
		.translation = 7, .mispredicted = (psv & GUS_CORE_FL_MB) != 0, .taken = op == BRANCH });
	golden_samplers_retire(samplers, &(struct gus_core_retired){ .op = op, .psv = (uint16_t)psv, .ends = true });
}

static void retires(uint32_t op, unsigned psv)
{
	retires_since(op, UINT64_C(1) << 40, psv); /* of a time that no tag is of */
}

static void cycle(enum gus_commit state, uint32_t issued, uint32_t wrong)
{
	golden_samplers_cycle(samplers, &(struct gus_core_cycle){ .cycle = now, .state = state, .issued = issued,
		.wrong = wrong });
	now++;
}

static unsigned ticks_of(enum golden_scheme scheme, uint32_t op, unsigned psv)
{
	unsigned sum = 0;

	for (size_t i = 0; i < told.n; i++)
		if (told.v[i].scheme == scheme && told.v[i].seen.op == op && told.v[i].seen.psv == psv) {
			assert_int_equal(told.v[i].seen.sample.ip, AT + STEP * op);
			sum += told.v[i].seen.ticks;
		}
	return sum;
}

/* Ops of the samples of a scheme, in the order of their triggers: "a" is op 0. */
static const char *ops_of(enum golden_scheme scheme)
{
	static char text[64];
	size_t n = 0;

	for (uint64_t trigger = 0; trigger < 16; trigger++)
		for (size_t i = 0; i < told.n; i++)
			if (told.v[i].scheme == scheme && told.v[i].seen.trigger == trigger)
				text[n++] = (char)('a' + told.v[i].seen.op);
	text[n] = 0;
	return text;
}

static void rate_is(enum golden_scheme scheme, uint64_t triggers, uint64_t samples, uint64_t lost)
{
	struct golden_rate r;

	golden_samplers_rate(samplers, scheme, &r);
	assert_int_equal(r.triggers, triggers);
	assert_int_equal(r.samples, samples);
	assert_int_equal(r.lost, lost);
}

/* The figure of model/core/pics.h: a and b; two cycles in which c is not done; c, mispredicted; one that is flushed; d.
 */
static void tell_the_figure(void)
{
	retires(0, 0);
	retires(1, GUS_CORE_ST_L1);
	cycle(GUS_COMMIT_COMPUTE, 0, 0);
	cycle(GUS_COMMIT_STALLED, 0, 0);
	cycle(GUS_COMMIT_STALLED, 0, 0);
	retires(BRANCH, GUS_CORE_FL_MB);
	cycle(GUS_COMMIT_COMPUTE, 0, 0);
	cycle(GUS_COMMIT_FLUSHED, 0, 0);
	retires(3, 0);
	cycle(GUS_COMMIT_COMPUTE, 0, 0);
}

/* All cycles are as in the stacks, which are the truth. */
static void tea_is_the_truth(void **state)
{
	enum { ONE = GUS_PICS_TICKS };

	(void)state;
	begin(1, 1, 1);
	tell_the_figure();
	assert_int_equal(ticks_of(GOLDEN_TEA, 0, 0), ONE / 2);
	assert_int_equal(ticks_of(GOLDEN_TEA, 1, GUS_CORE_ST_L1), ONE / 2);
	assert_int_equal(ticks_of(GOLDEN_TEA, BRANCH, GUS_CORE_FL_MB), 4 * ONE);
	assert_int_equal(ticks_of(GOLDEN_TEA, 3, 0), ONE);
	assert_string_equal(ops_of(GOLDEN_TEA), "baccccd"); /* the younger one's share first */
	rate_is(GOLDEN_TEA, 6, 6, 0);
}

/* A flush before anything has retired is of what comes. */
static void tea_without_a_past(void **state)
{
	(void)state;
	begin(1, 1, 1);
	cycle(GUS_COMMIT_FLUSHED, 0, 0);
	cycle(GUS_COMMIT_DRAINED, 0, 0);
	assert_int_equal(told.n, 0);
	retires(5, GUS_CORE_DR_L1);
	cycle(GUS_COMMIT_COMPUTE, 0, 0);
	assert_int_equal(ticks_of(GOLDEN_TEA, 5, GUS_CORE_DR_L1), 3 * GUS_PICS_TICKS);
}

/* The next that retires: from the trigger's cycle on, from the one behind it, and from the one behind that. PEBS has
 * the same instruction, and no shares. */
static void the_next_that_retires(void **state)
{
	(void)state;
	begin(1, 1, 1);
	tell_the_figure();
	assert_string_equal(ops_of(GOLDEN_NCI), "acccdd");
	assert_string_equal(ops_of(GOLDEN_NCI_1), "cccdd");
	assert_string_equal(ops_of(GOLDEN_NCI_2), "ccdd");
	assert_string_equal(ops_of(GOLDEN_BY_PEBS), "acccdd");
	assert_string_equal(ops_of(GOLDEN_BY_PEBS_1), "cccdd");
	assert_string_equal(ops_of(GOLDEN_BY_PEBS_2), "ccdd");
	rate_is(GOLDEN_NCI, 6, 6, 0);
	rate_is(GOLDEN_NCI_1, 6, 5, 0); /* the last waits */
	rate_is(GOLDEN_NCI_2, 6, 4, 0);
}

/* Branches before the cycle of the sample: that which is sampled itself is none of them. */
static void last_branches(void **state)
{
	unsigned n = 0;

	(void)state;
	begin(1, 1, 1);
	tell_the_figure();
	for (size_t i = 0; i < told.n; i++) {
		const struct told *t = &told.v[i];

		if (t->scheme != GOLDEN_BY_PEBS)
			continue;
		assert_int_equal(t->seen.sample.branches_n, t->seen.op == 3);
		if (t->seen.op != 3)
			continue;
		assert_int_equal(t->newest.from, AT + STEP * BRANCH);
		assert_int_equal(t->newest.to, AT + STEP * 3);
		assert_int_equal(t->newest.cycles, 3);
		assert_true(t->newest.mispredicted);
		n++;
	}
	assert_int_equal(n, 2);
}

/* They are no more than there are entries, of which the oldest was written over by those of the cycle. */
static void many_branches(void **state)
{
	static const struct { unsigned retired, known; } cases[] = { { 0, 0 }, { 1, 1 },
		{ GOLDEN_BRANCHES - 2, GOLDEN_BRANCHES - 2 }, { GOLDEN_BRANCHES - 1, GOLDEN_BRANCHES - 1 },
		{ GOLDEN_BRANCHES, GOLDEN_BRANCHES - 1 }, { GOLDEN_BRANCHES + 1, GOLDEN_BRANCHES - 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(1, 1, 1);
		for (unsigned n = 0; n <= cases[i].retired; n++) {
			told.n = 0;
			retires(BRANCH, 0);
			cycle(GUS_COMMIT_COMPUTE, 0, 0);
		}
		for (size_t k = 0; k < told.n; k++)
			if (told.v[k].scheme == GOLDEN_BY_PEBS)
				assert_int_equal(told.v[k].seen.sample.branches_n, cases[i].known);
		golden_samplers_free(samplers);
		samplers = NULL;
	}
}

/* What is dispatched is tagged, until it retires there is no other tag, and on the wrong path a tag is lost. */
static void tags_by_cycles(void **state)
{
	const struct golden_sample *g = NULL;

	(void)state;
	begin(1, 1, 1);
	cycle(GUS_COMMIT_DRAINED, 1, 0);        /* tagged */
	for (int i = 0; i < 7; i++)
		cycle(GUS_COMMIT_STALLED, 1, 0);    /* one is in flight: lost */
	rate_is(GOLDEN_BY_IBS_CYCLES, 8, 0, 7);
	retires_since(LOAD, 0, GUS_CORE_ST_L1);
	cycle(GUS_COMMIT_COMPUTE, 0, 0);        /* waits until something is dispatched, */
	rate_is(GOLDEN_BY_IBS_CYCLES, 9, 1, 7);
	cycle(GUS_COMMIT_STALLED, 0, 1);        /* which is on the wrong path; and this one came while it waited */
	rate_is(GOLDEN_BY_IBS_CYCLES, 10, 1, 9);
	for (size_t i = 0; i < told.n; i++)
		g = told.v[i].scheme == GOLDEN_BY_IBS_CYCLES ? &told.v[i].seen.sample : g;
	assert_non_null(g);
	assert_int_equal(g->ip, AT + STEP * LOAD);
	assert_int_equal(g->cycle, 8);
	assert_int_equal(g->tag_to_issue, 2);
	assert_int_equal(g->tag_to_complete, 4);
	assert_int_equal(g->complete_to_retire, 4);
	assert_true(g->load && !g->store && !g->branch && g->first_of_op);
	assert_int_equal(g->level, GUS_HIT_L3);
	assert_int_equal(g->tlb, GUS_TLB_SECOND);
	assert_int_equal(g->address, 0xabc0);
	assert_int_equal(g->tid, 77);
}

/* What a tag tells of an op, by what that is. */
static void tags_know_what_they_are_on(void **state)
{
	enum { LOADS, STORES, RETURNS, CALLS, INDIRECT_CALLS, JUMPS, COMPUTES, KINDS };
	static const struct { enum gus_uop_kind kind; enum gus_insn_class class; bool branch; } of[KINDS] = {
		[LOADS] = { GUS_UOP_LOAD, GUS_INSN_LOAD, false },
		[STORES] = { GUS_UOP_STORE_ADDRESS, GUS_INSN_STORE, false },
		[RETURNS] = { GUS_UOP_COMPUTE, GUS_INSN_RET, true }, [CALLS] = { GUS_UOP_COMPUTE, GUS_INSN_CALL, true },
		[INDIRECT_CALLS] = { GUS_UOP_COMPUTE, GUS_INSN_CALL_INDIRECT, true },
		[JUMPS] = { GUS_UOP_COMPUTE, GUS_INSN_BRANCH, true },
		[COMPUTES] = { GUS_UOP_COMPUTE, GUS_INSN_OTHER, false },
	};

	(void)state;
	for (unsigned k = 0; k < KINDS; k++) {
		const struct golden_sample *g = NULL;

		begin(1, 1, 1);
		uops[LOAD].kind = of[k].kind; /* the op that has an address */
		insns[LOAD].info.class = of[k].class;
		ops[LOAD].flags = of[k].branch ? GUS_OP_BRANCH : 0;
		cycle(GUS_COMMIT_DRAINED, 1, 0);
		retires_since(LOAD, 0, 0);
		for (size_t i = 0; i < told.n; i++)
			g = told.v[i].scheme == GOLDEN_BY_IBS_CYCLES ? &told.v[i].seen.sample : g;
		assert_non_null(g);
		assert_int_equal(g->load, k == LOADS);
		assert_int_equal(g->store, k == STORES);
		assert_int_equal(g->address, k == LOADS || k == STORES ? 0xabc0 : 0);
		assert_int_equal(g->branch, of[k].branch);
		assert_int_equal(g->returns, k == RETURNS);
		assert_int_equal(g->call, k == CALLS || k == INDIRECT_CALLS);
		golden_samplers_free(samplers);
		samplers = NULL;
		insns[LOAD].info.class = GUS_INSN_OTHER;
	}
}

static void one_of_several(uint32_t uop, uint64_t dispatched, uint64_t completed, enum gus_hit level, enum gus_tlb tlb)
{
	golden_samplers_uop(samplers, &(struct gus_core_event){ .op = LOAD, .uop = uop, .nth = (uint8_t)(uop - LOAD),
		.dispatched = dispatched, .completed = completed, .retired = 60, .address = 0xabc0,
		.bytes = uops[uop].kind == GUS_UOP_LOAD ? 32 : 0, .level = (uint8_t)level, .tlb = (uint8_t)tlb,
		.translation = 7, .miss = 40, .ends = uop == LOAD + 2 });
}

/* A wide load in two halves, and what it is added to: the first half meets all that there is to be met, and latencies
 * are those of the op to who samples ops, and of the load to who samples uops. */
static void an_op_of_several_uops(void **state)
{
	const struct golden_sample *ibs = NULL, *spe = NULL;

	(void)state;
	begin(1, 1, 1);
	ops[LOAD].uops_n = 3;
	uops[LOAD + 1] = (struct gus_uop){ .kind = GUS_UOP_LOAD, .again = true };
	uops[LOAD + 2] = (struct gus_uop){ .kind = GUS_UOP_COMPUTE };
	cycle(GUS_COMMIT_DRAINED, 3, 0);
	for (unsigned i = 0; i < 3; i++) { /* three of them, of which one has a tag */
		one_of_several(LOAD, 2, 45, GUS_HIT_L3, GUS_TLB_SECOND);
		one_of_several(LOAD + 1, 3, 46, GUS_HIT_L1, GUS_TLB_HIT);
		one_of_several(LOAD + 2, 47, 51, 0, 0);
		golden_samplers_retire(samplers, &(struct gus_core_retired){ .op = LOAD, .ends = true });
	}
	for (size_t i = 0; i < told.n; i++) {
		ibs = told.v[i].scheme == GOLDEN_BY_IBS_CYCLES ? &told.v[i].seen.sample : ibs;
		spe = told.v[i].scheme == GOLDEN_BY_SPE ? &told.v[i].seen.sample : spe;
	}
	assert_non_null(ibs);
	assert_non_null(spe);
	assert_int_equal(ibs->level, GUS_HIT_L3);
	assert_int_equal(ibs->tlb, GUS_TLB_SECOND);
	assert_false(ibs->coming);
	assert_int_equal(ibs->tag_to_issue, 47);
	assert_int_equal(ibs->tag_to_complete, 51);
	assert_int_equal(spe->level, GUS_HIT_L3);
	assert_int_equal(spe->tag_to_issue, 2);
	assert_int_equal(spe->tag_to_complete, 45);
}

/* Whether a scheme is that of hardware, by which of TEA's events it is judged, and whether its samples stand for time:
 * those of instructions that were chosen by what they do, do not. */
static void what_schemes_are_judged_by(void **state)
{
	enum { LOADS = GUS_CORE_ST_L1 | GUS_CORE_ST_TLB | GUS_CORE_ST_LLC, MB = GUS_CORE_FL_MB, ALL = 511 };
	static const struct { const char *name; bool words; unsigned events; bool time; } of[GOLDEN_SCHEMES] = {
		{ "tea", false, ALL, true }, { "nci", false, ALL, true }, { "nci-1", false, ALL, true },
		{ "nci-2", false, ALL, true }, { "pebs", true, MB, true }, { "pebs-1", true, 0, true },
		{ "pebs-2", true, 0, true }, { "tpebs", true, 0, true }, { "loads", true, LOADS, false },
		{ "ibs-cycles", true, MB | LOADS, true }, { "ibs-ops", true, MB | LOADS, true },
		{ "spe", true, MB | GUS_CORE_FL_EX | LOADS, true },
		{ "spe-slow", true, MB | GUS_CORE_FL_EX | LOADS, false }, { "pmu", true, ALL, true },
		{ "timer", true, ALL, true }, { "cost-code", true, GUS_CORE_DR_L1, false },
		{ "cost-code-tlb", true, GUS_CORE_DR_TLB, false }, { "cost-branch", true, MB, false },
		{ "cost-l1", true, GUS_CORE_ST_L1, false }, { "cost-tlb", true, GUS_CORE_ST_TLB, false },
		{ "cost-llc", true, GUS_CORE_ST_LLC, false },
	};

	(void)state;
	for (unsigned i = 0; i < GOLDEN_SCHEMES; i++) {
		const struct golden_scheme_kind *k = &golden_schemes[i];

		if (strcmp(k->name, of[i].name) || k->words != of[i].words || k->events != of[i].events ||
		    k->time != of[i].time)
			fail_msg("%s", of[i].name);
	}
}

/* Each slot of a cycle is tagged as often, right ones and wrong ones. */
static void slots_are_drawn(void **state)
{
	unsigned of[3] = { 0 };
	enum { TRIES = 4000 };

	(void)state;
	begin(1, 1, 3);
	for (unsigned i = 0; i < TRIES; i++) {
		cycle(GUS_COMMIT_STALLED, 2, 1);
		told.n = 0;
		retires_since(0, now - 1, 0);
		retires_since(1, now - 1, 0);
		for (size_t k = 0; k < told.n; k++)
			of[told.v[k].seen.op] += told.v[k].scheme == GOLDEN_BY_IBS_CYCLES;
	}
	of[2] = TRIES - of[0] - of[1];
	for (unsigned i = 0; i < 3; i++) /* four deviations: 4 sqrt(4000 * 2 / 9) */
		assert_in_range(of[i], TRIES / 3 - 120, TRIES / 3 + 120);
	rate_is(GOLDEN_BY_IBS_CYCLES, TRIES, of[0] + of[1], of[2]);
}

/* Each third op, from one of the first three on: while it is in flight those that follow collide. */
static void tags_by_ops(void **state)
{
	static const enum golden_scheme both[] = { GOLDEN_BY_IBS_OPS, GOLDEN_BY_SPE };

	(void)state;
	for (uint64_t seed = 1; seed < 8; seed++) {
		begin(1, 1, seed);
		for (unsigned i = 0; i < 9; i++)
			cycle(GUS_COMMIT_STALLED, 1, 0);
		for (unsigned i = 0; i < 2; i++)
			rate_is(both[i], 3, 0, 2);
		for (uint32_t i = 0; i < OPS; i++)
			retires_since(i, i, 0);
		for (unsigned i = 0; i < 2; i++) {
			rate_is(both[i], 3, 1, 2);
			assert_in_range(*ops_of(both[i]), 'a', 'c');
		}
		cycle(GUS_COMMIT_COMPUTE, 0, 3);    /* one of any three is the next, and wrong */
		for (unsigned i = 0; i < 2; i++)
			rate_is(both[i], 4, 1, 3);
		golden_samplers_free(samplers);
		samplers = NULL;
	}
}

/* Instructions are sampled with what has passed since the one before them retired; loads all. */
static void what_retires_by_count(void **state)
{
	static const unsigned gaps[] = { 1, 4, 0, 2, 7, 0, 0, 3 };
	unsigned n = 0, loads = 0;

	(void)state;
	begin(1, 1, 1);
	for (uint32_t i = 0; i < OPS; i++) {
		for (unsigned k = 0; k < gaps[i]; k++)
			cycle(k ? GUS_COMMIT_STALLED : GUS_COMMIT_COMPUTE, 0, 0);
		retires(i, 0);
	}
	cycle(GUS_COMMIT_COMPUTE, 0, 0);
	for (size_t i = 0; i < told.n; i++) {
		const struct golden_seen *s = &told.v[i].seen;

		if (told.v[i].scheme == GOLDEN_BY_TPEBS) {
			assert_int_equal(s->sample.retire_latency, gaps[s->op]);
			n++;
		} else if (told.v[i].scheme == GOLDEN_BY_LOADS) {
			assert_int_equal(s->op, LOAD);
			assert_int_equal(s->sample.miss, 40);
			assert_int_equal(s->sample.translation, 7);
			assert_int_equal(s->sample.bytes, 8);
			loads++;
		}
	}
	assert_in_range(n, 2, 3); /* each third of eight */
	assert_int_equal(loads, 1);
}

static unsigned cost_of(enum golden_scheme scheme, uint32_t op, unsigned *latency)
{
	unsigned n = 0;

	for (size_t i = 0; i < told.n; i++)
		if (told.v[i].scheme == scheme && told.v[i].seen.op == op) {
			*latency = told.v[i].seen.sample.retire_latency;
			n++;
		}
	return n;
}

/* An event costs what its instruction takes; a misprediction what the one behind it does. */
static void costs(void **state)
{
	unsigned latency = 0;

	(void)state;
	begin(1, 1, 1);
	tell_the_figure();
	assert_int_equal(cost_of(GOLDEN_BY_COST_L1, 1, &latency), 1);
	assert_int_equal(latency, 0); /* with a in one cycle */
	assert_int_equal(cost_of(GOLDEN_BY_COST_BRANCH, BRANCH, &latency), 0);
	assert_int_equal(cost_of(GOLDEN_BY_COST_BRANCH, 3, &latency), 1);
	assert_int_equal(latency, 2);
	rate_is(GOLDEN_BY_COST_L1, 1, 1, 0);
	rate_is(GOLDEN_BY_COST_BRANCH, 1, 1, 0);
	rate_is(GOLDEN_BY_COST_LLC, 0, 0, 0);
}

/* Those of the front end share a register: the first has the first 65,536 cycles, the other the next. */
static void costs_of_code_take_turns(void **state)
{
	static const uint64_t at[] = { 0, 65535, 65536, 131071, 131072 };
	static const unsigned code[] = { 1, 2, 2, 2, 3 }, pages[] = { 0, 0, 1, 2, 2 };
	struct golden_rate r;

	(void)state;
	begin(1, 1, 1);
	for (unsigned i = 0; i < 5; i++) {
		while (now < at[i])
			cycle(GUS_COMMIT_DRAINED, 0, 0);
		retires(0, GUS_CORE_DR_L1 | GUS_CORE_DR_TLB);
		cycle(GUS_COMMIT_COMPUTE, 0, 0);
		golden_samplers_rate(samplers, GOLDEN_BY_COST_CODE, &r);
		assert_int_equal(r.samples, code[i]);
		golden_samplers_rate(samplers, GOLDEN_BY_COST_CODE_TLB, &r);
		assert_int_equal(r.samples, pages[i]);
	}
}

/* A filter takes what took so long, and no less. */
static void a_filter_of_latency(void **state)
{
	(void)state;
	for (unsigned late = GOLDEN_SLOW - 1; late <= GOLDEN_SLOW + 1; late++) {
		begin(1, 1, 1);
		cycle(GUS_COMMIT_STALLED, 3, 0);
		while (now < 2 * late)
			cycle(GUS_COMMIT_STALLED, 0, 0);
		for (uint32_t op = 0; op < 3; op++) /* one of three has the tag; complete after half of the time */
			retires_since(op, 0, 0);
		rate_is(GOLDEN_BY_SPE, 1, 1, 0);
		rate_is(GOLDEN_BY_SPE_SLOW, 1, late >= GOLDEN_SLOW, late < GOLDEN_SLOW);
		golden_samplers_free(samplers);
		samplers = NULL;
	}
}

/* One instruction retires in each cycle, so that where an interrupt lands is how late it is: a timer's nearly always on
 * the second one behind its cycle, the PMU's 20 to 60 cycles later. */
static void interrupts_land_late(void **state)
{
	enum { CYCLES = 20000 };
	unsigned at[16] = { 0 };
	uint64_t least = UINT64_MAX, most = 0, n = 0;

	(void)state;
	begin(1, 1, 5);
	for (unsigned i = 0; i < CYCLES; i++) {
		retires((uint32_t)(now % OPS), 0);
		cycle(GUS_COMMIT_COMPUTE, 0, 0);
	}
	for (size_t i = 0; i < told.n; i++) {
		const struct golden_seen *s = &told.v[i].seen;
		uint64_t late = s->sample.cycle - s->trigger;

		if (told.v[i].scheme == GOLDEN_BY_TIMER)
			at[late < 16 ? late : 15]++;
		if (told.v[i].scheme != GOLDEN_BY_PMU)
			continue;
		assert_int_equal(s->op, s->sample.cycle % OPS);
		least = late < least ? late : least;
		most = late > most ? late : most;
		n++;
	}
	assert_int_equal(at[0], 0);
	assert_in_range(at[1], CYCLES * 8 / 1000, CYCLES * 16 / 1000);
	assert_in_range(at[2], CYCLES * 970 / 1000, CYCLES * 992 / 1000);
	assert_int_equal(at[5] + at[15], 0);
	assert_int_equal(least, 20);
	assert_in_range(most, 61, 63);
	assert_in_range(n, CYCLES - 64, CYCLES - 20);
}

/* 3,000 loads, one issued and one retired a cycle, by two samplers with periods of 10: each is triggered as often as
 * its period says, of ops and instructions half as often, of costs every second time; and the two know nothing of each
 * other. */
static void rates_of_several_passes(void **state)
{
	enum { CYCLES = 3000, PERIOD = 10, PASSES = 2 };
	static const struct { enum golden_scheme scheme; uint64_t period; } of[] = {
		{ GOLDEN_TEA, PERIOD }, { GOLDEN_NCI_2, PERIOD }, { GOLDEN_BY_PEBS, PERIOD },
		{ GOLDEN_BY_IBS_CYCLES, PERIOD }, { GOLDEN_BY_PMU, PERIOD }, { GOLDEN_BY_TIMER, PERIOD },
		{ GOLDEN_BY_TPEBS, 2 * PERIOD + 1 }, { GOLDEN_BY_IBS_OPS, 2 * PERIOD + 1 },
		{ GOLDEN_BY_SPE, 2 * PERIOD + 1 }, { GOLDEN_BY_LOADS, PERIOD }, { GOLDEN_BY_COST_L1, PERIOD / 10 + 1 },
	};
	uint64_t seen[CYCLES + 2] = { 0 }, alone = 0;

	(void)state;
	begin(PERIOD, PASSES, 3);
	for (unsigned i = 0; i < CYCLES; i++) {
		if (i)
			retires_since(LOAD, i - 1, GUS_CORE_ST_L1);
		cycle(GUS_COMMIT_COMPUTE, 1, 0);
	}
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct golden_rate r;
		uint64_t expected;

		golden_samplers_rate(samplers, of[i].scheme, &r);
		assert_int_equal(r.period, of[i].period);
		assert_in_range(r.total, CYCLES - 1, CYCLES);
		expected = r.total * PASSES / of[i].period;
		assert_in_range(r.triggers, expected - PASSES, expected + PASSES);
		assert_in_range(r.triggers - r.samples - r.lost, 0, 2 * PASSES + 8);
	}
	for (size_t i = 0; i < told.n; i++)
		if (told.v[i].scheme == GOLDEN_TEA && told.v[i].seen.sample.cycle < CYCLES)
			seen[told.v[i].seen.sample.cycle]++;
	for (unsigned i = 0; i < CYCLES; i++)
		alone += seen[i] == 1;
	assert_true(alone > CYCLES / PERIOD); /* more cycles than one pass has triggers */
}

static void periods(void **state)
{
	enum { N = 2000 };
	struct golden_passes p;
	uint64_t lengths[N + 1], last, at, least = UINT64_MAX, most = 0;

	(void)state;
	golden_passes_begin(&p, 9, "test", 100, 1);
	assert_in_range(p.first, 1, 100);
	last = p.first;
	assert_int_equal(golden_passes_fire(&p, last - 1, &at), -1);
	for (unsigned i = 0; i <= N; i++) {
		assert_int_equal(golden_passes_fire(&p, last, &at), 0);
		assert_int_equal(at, last);
		assert_int_equal(golden_passes_fire(&p, last, &at), -1);
		lengths[i] = p.first - last;
		last = p.first;
	}
	for (unsigned i = 0; i < N; i++) {
		least = lengths[i] < least ? lengths[i] : least;
		most = lengths[i] > most ? lengths[i] : most;
		if (lengths[i] != 100) { /* of that none is owed */
			assert_int_equal(lengths[i] + lengths[i + 1], 200);
			i++;
		}
	}
	assert_int_equal(least, 88);
	assert_int_equal(most, 112);
	golden_passes_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(tea_is_the_truth, teardown),
		cmocka_unit_test_teardown(tea_without_a_past, teardown),
		cmocka_unit_test_teardown(the_next_that_retires, teardown),
		cmocka_unit_test_teardown(last_branches, teardown),
		cmocka_unit_test_teardown(many_branches, teardown),
		cmocka_unit_test_teardown(tags_by_cycles, teardown),
		cmocka_unit_test_teardown(tags_know_what_they_are_on, teardown),
		cmocka_unit_test_teardown(an_op_of_several_uops, teardown),
		cmocka_unit_test(what_schemes_are_judged_by),
		cmocka_unit_test_teardown(slots_are_drawn, teardown),
		cmocka_unit_test_teardown(tags_by_ops, teardown),
		cmocka_unit_test_teardown(what_retires_by_count, teardown),
		cmocka_unit_test_teardown(costs, teardown),
		cmocka_unit_test_teardown(costs_of_code_take_turns, teardown),
		cmocka_unit_test_teardown(a_filter_of_latency, teardown),
		cmocka_unit_test_teardown(interrupts_land_late, teardown),
		cmocka_unit_test_teardown(rates_of_several_passes, teardown),
		cmocka_unit_test(periods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
