/* SPDX-License-Identifier: MIT */
/* attribution/accounts/account: to whom the time of a recording belongs, whose trace is a loop (made_account.h); and
 * how parts of a whole are rounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/statistics/rounding.h"
#include "base/limits.h"
#include "made_account.h"
#include "model/code/program.h"
#include "proto/psv.h"
#include "symbolizer/insn/loops.h"

static uint64_t of_thread(const struct made *m, uint32_t tid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->account.cells.n; i++)
		if (m->clues.threads.v[m->account.cells.v[i].thread].tid == tid)
			sum += m->account.cells.v[i].weight;
	return sum;
}

/* How often instructions were executed is as known as what tells it. */
static void expect_told_by(const struct made *m, enum gus_replicates_evidence evidence)
{
	assert_int_equal(m->account.solution.replicates.o.evidence, evidence);
}

/* An interrupt is taken when what was waited for has retired: two samples in three are of the product, and none is at
 * it. Each thread keeps its own. */
static void moves_time(void **state)
{
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	m->missed = 77;
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 301, (struct gus_sample){ .ip = app_at + TEXT + ADD, .tid = 11 });
	made_samples(m, 3, (struct gus_sample){ .ip = app_at + TEXT + DEC, .tid = 11 });
	made_samples(m, 50, (struct gus_sample){ .ip = lib_at + TEXT + 5 });
	made_account(m, true);
	assert_int_equal(m->clues.sight.sight, GUS_SPREAD_BEHIND);
	assert_int_equal(m->account.weight, 1054000);
	assert_int_equal(m->account.explained, 1004000);
	assert_int_equal(m->clues.unsampled, 77);
	assert_int_equal(of_thread(m, 10), 750000);
	assert_int_equal(of_thread(m, 11), 304000);
	assert_int_equal(made_seen_at(m, APP, IMUL, 0), 0);
	assert_int_equal(made_seen_at(m, APP, ADD, 11), 301000);
	assert_true(made_weight_at(m, APP, IMUL, 10) > 450000);
	assert_true(made_weight_at(m, APP, IMUL, 11) > 190000);
	assert_true(made_weight_at(m, APP, ADD, 0) < 300000);
	assert_int_equal(made_weight_at(m, LIB, 5, 0), 50000);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];
		bool lib = strcmp(m->account.places.v[c->place].module, LIB) == 0;

		assert_int_equal(c->moved, !lib);
		assert_int_equal(c->what.unknown, lib);
		assert_int_equal(c->evidence, lib ? GUS_UNKNOWN : GUS_MODELLED);
	}
}

/* A precise sample is at the product itself, and so is its time. A sample on the second half of a fused pair is of the
 * first. */
static void precise(void **state)
{
	struct made *m = *state;

	made_event(m, "cycles:ppp", "cycles")->precise = 3;
	made_samples(m, 800, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true });
	made_samples(m, 2, (struct gus_sample){ .ip = app_at + TEXT + JNZ, .exact = true });
	made_account(m, true);
	assert_int_equal(m->clues.sight.sight, GUS_SPREAD_NEXT);
	assert_int_equal(m->account.explained, 802000);
	assert_int_equal(made_seen_at(m, APP, JNZ, 0), 2000);
	assert_int_equal(made_weight_at(m, APP, JNZ, 0), 0);
	assert_true(made_weight_at(m, APP, DEC, 0) > 0);
	assert_true(made_weight_at(m, APP, IMUL, 0) > 400000);
}

/* What is unknown is the product's, all of it, and nothing else: that much. All was moved. */
static uint64_t unknown_of_product(const struct made *m)
{
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];
		bool product = m->account.places.v[c->place].offset == TEXT + IMUL;

		assert_true(c->moved);
		assert_int_equal(c->what.unknown, product);
		assert_int_equal(c->evidence == GUS_UNKNOWN, product);
	}
	return made_weight_at(m, APP, IMUL, 0);
}

/* Why what is unknown of an instruction is so. */
static enum gus_account_cause unknown_by(const struct made *m, uint64_t offset)
{
	for (size_t i = 0; i < m->account.places.n; i++)
		if (m->account.places.v[i].offset == TEXT + offset)
			return m->account.places.v[i].causes.unknown;
	fail_msg("there is nothing at %#llx", (unsigned long long)offset);
	return GUS_CAUSE_NONE;
}

/* The loop is about lines that threads share: what they wait for the model does not know. Times stay. */
static void of_shared_lines(void **state)
{
	struct made *m = *state;
	uint64_t unknown = 0;

	m->s.t.blocks.v[0].shared = m->s.t.blocks.v[0].executed;
	gus_account_doubt(m->groups, &m->s.t);
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	assert_int_equal(m->account.explained, 700000);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];

		assert_true(c->moved && c->what.unknown && c->evidence == GUS_UNKNOWN);
		unknown += c->weight;
	}
	assert_int_equal(unknown, 700000);
	assert_int_equal(unknown_by(m, IMUL), GUS_CAUSE_SHARES);
}

/* The jump is a block of its own, which is about none. */
static void of_shared_lines_beside(void **state)
{
	struct made *m = *state;

	m->s.t.blocks.v[0].shared = m->s.t.blocks.v[0].executed;
	gus_account_doubt(m->groups, &m->s.t);
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	assert_int_equal(unknown_by(m, IMUL), GUS_CAUSE_SHARES);
	assert_int_equal(unknown_by(m, DEC), GUS_CAUSE_SHARES);
	assert_int_equal(unknown_by(m, JMP), GUS_CAUSE_NONE);
}

/* It is hardly about any, but its product is a string instruction that repeats, as it might be: of that it is not known
 * what the model calls the base. */
static void of_strings_that_repeat(void **state)
{
	struct made *m = *state;

	m->s.t.blocks.v[0].shared = m->s.t.blocks.v[0].executed / 2000;
	gus_account_doubt(m->groups, &m->s.t);
	((struct gus_groups_site *)(uintptr_t)gus_groups_counts(m->groups)->sites.v)[0].repeats = true;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	assert_int_equal(m->account.explained, 700000);
	assert_true(unknown_of_product(m) > 0);
}

/* Samples tell by themselves that all wait for the product, and its executions are said to have missed: that is known
 * if one of a run that knew what was before it did. */
static void of_misses_that_are_supposed(void **state)
{
	struct made *m = *state;
	struct gus_groups_counts *c = (struct gus_groups_counts *)(uintptr_t)gus_groups_counts(m->groups);
	uint64_t told = 0;

	for (size_t i = 0; i < c->met.n; i++)
		c->met.v[i].psv |= c->met.v[i].site ? 0 : GUS_PSV_ST_L1;
	for (size_t i = 0; i < c->waits.n; i++)
		c->waits.v[i].psv |= c->waits.v[i].of ? 0 : GUS_PSV_ST_L1;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *cell = &m->account.cells.v[i];

		assert_false(cell->what.unknown);
		told += cell->what.events == GUS_PSV_ST_L1 ? cell->weight : 0;
	}
	assert_true(told > 350000);
	assert_int_equal(unknown_by(m, IMUL), GUS_CAUSE_NONE);
	gus_account_free(&m->account);
	for (size_t i = 0; i < c->met.n; i++)
		c->met.v[i].assured = 0;
	gus_account_make(&m->account, &m->clues, m->groups, 4);
	assert_in_range(unknown_of_product(m), told - 1000, told + 1000);
	assert_int_equal(unknown_by(m, IMUL), GUS_CAUSE_SUPPOSED);
	assert_int_equal(unknown_by(m, ADD), GUS_CAUSE_NONE);
}

/* The product is a locked instruction that finds the store queue full, as it might be: that is the lock's own. */
static void of_locks(void **state)
{
	struct made *m = *state;
	struct gus_groups_counts *c = (struct gus_groups_counts *)(uintptr_t)gus_groups_counts(m->groups);

	for (size_t i = 0; i < c->met.n; i++)
		c->met.v[i].psv |= c->met.v[i].site ? 0 : GUS_PSV_DR_SQ;
	for (size_t i = 0; i < c->waits.n; i++)
		c->waits.v[i].psv |= c->waits.v[i].of ? 0 : GUS_PSV_DR_SQ;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	for (unsigned locks = 0; locks < 2; locks++) {
		uint64_t full = 0;

		c->sites.v[0].locks = locks;
		if (!locks)
			made_account(m, true);
		else
			gus_account_make(&m->account, &m->clues, m->groups, 4);
		for (size_t i = 0; i < m->account.cells.n; i++)
			full += m->account.cells.v[i].what.events == GUS_PSV_DR_SQ ? m->account.cells.v[i].weight : 0;
		assert_true(locks ? !full : full > 350000);
		assert_true(made_weight_at(m, APP, IMUL, 0) > 350000);
		if (!locks)
			gus_account_free(&m->account);
	}
}

/* The counts of what was executed, to be made others. */
static struct gus_groups_counts *counts_of(struct made *m)
{
	return (struct gus_groups_counts *)(uintptr_t)gus_groups_counts(m->groups);
}

/* An instruction gets so many accesses, which met that; the program of the trace has none. Its memories are borrowed
 * until take_accesses. */
static void give_accesses(struct made *m, uint64_t offset, struct gus_program_memory *memories,
			  const struct gus_traced_memory *met, uint8_t n)
{
	struct gus_program *p = (struct gus_program *)(uintptr_t)m->s.t.program;
	uint32_t insn = 0;

	assert_int_equal(p->memories_n, 0);
	while (p->insns[insn].offset != traced_at + TEXT + offset)
		assert_true(++insn < p->insns_n);
	p->memories = memories;
	p->ops[p->insns[insn].op].memory = 0;
	p->ops[p->insns[insn].op].memories_n = n;
	for (unsigned i = 0; i < n; i++)
		gus_vec_push(&m->s.t.memories, met[i]);
}

static void take_accesses(struct made *m)
{
	struct gus_program *p = (struct gus_program *)(uintptr_t)m->s.t.program;

	for (uint32_t i = 0; i < p->ops_n; i++)
		p->ops[i].memories_n = 0;
	p->memories = NULL;
	m->s.t.memories.n = 0;
}

static void account_again(struct made *m)
{
	gus_account_free(&m->account);
	gus_account_make(&m->account, &m->clues, m->groups, 4);
}

static uint64_t unknown_of(const struct made *m)
{
	uint64_t unknown = 0;

	for (size_t i = 0; i < m->account.cells.n; i++)
		unknown += m->account.cells.v[i].what.unknown ? m->account.cells.v[i].weight : 0;
	return unknown;
}

/* The product stores a hundred times, as it might. How long it waits without an event is not known if more than ten of
 * them are beyond L1, or to lines that the trace had not touched before; loads are told by events. */
static void of_stores_that_are_far(void **state)
{
	/* two: it is the second access of the instruction, behind one to L1 */
	static const struct { uint64_t hits[GUS_HITS], first[GUS_HITS]; bool load, two, far; } cases[] = {
		{ .hits = { 100 } },
		{ .hits = { 90, 10 } },
		{ .hits = { 89, 11 }, .far = true },
		{ .hits = { 89, 0, 11 }, .far = true },
		{ .hits = { 89, 0, 0, 11 }, .far = true },
		{ .hits = { 89, 4, 4, 3 }, .far = true },
		{ .hits = { 100 }, .first = { 10 } },
		{ .hits = { 100 }, .first = { 11 }, .far = true },
		{ .hits = { 94, 6 }, .first = { 5 }, .far = true },
		{ .hits = { 94, 6 }, .first = { 0, 6 } },       /* a new line beyond L1 is one store, too */
		{ .hits = { 0, 0, 0, 100 }, .load = true },
		{ .hits = { 0, 0, 0, 100 }, .two = true, .far = true },
		{ .hits = { 0 } },
	};
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program_memory memories[] = { { .store = true }, { .store = true } };
		struct gus_traced_memory met[] = { { .accesses = 100, .hits = { 100 } }, { .accesses = 100 } };
		struct gus_traced_memory *told = &met[cases[i].two];

		print_message("case %zu\n", i);
		memcpy(told->hits, cases[i].hits, sizeof(told->hits));
		memcpy(told->first, cases[i].first, sizeof(told->first));
		memories[cases[i].two].store = !cases[i].load;
		give_accesses(m, IMUL, memories, met, cases[i].two ? 2 : 1);
		account_again(m);
		take_accesses(m);
		assert_int_equal(unknown_by(m, IMUL), cases[i].far ? GUS_CAUSE_SUPPOSED : GUS_CAUSE_NONE);
		assert_int_equal(unknown_by(m, ADD), GUS_CAUSE_NONE);
		assert_true(cases[i].far ? unknown_of_product(m) > 350000 : !unknown_of(m));
	}
}

/* It is the last instruction that stores, which is half of a fused pair, or that between: the product is no other. */
static void of_stores_of_others(void **state)
{
	const struct gus_traced_memory far = { .accesses = 100, .hits = { [GUS_HIT_MEMORY] = 100 } };
	struct gus_program_memory store = { .store = true };
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	for (int last = 0; last < 2; last++) {
		give_accesses(m, last ? DEC : ADD, &store, &far, 1);
		account_again(m);
		take_accesses(m);
		assert_int_equal(unknown_by(m, IMUL), GUS_CAUSE_NONE);
		assert_int_equal(unknown_by(m, ADD), last ? GUS_CAUSE_NONE : GUS_CAUSE_SUPPOSED);
		assert_int_equal(unknown_by(m, DEC), last ? GUS_CAUSE_SUPPOSED : GUS_CAUSE_NONE);
		assert_in_range(unknown_of(m), 10000, 350000);
	}
}

/* Where the store queue was full the event says what is waited for, however far stores are. */
static void of_stores_with_an_event(void **state)
{
	const struct gus_traced_memory far = { .accesses = 100, .hits = { [GUS_HIT_MEMORY] = 100 } };
	struct gus_program_memory store = { .store = true };
	struct made *m = *state;
	struct gus_groups_counts *c = counts_of(m);

	for (size_t i = 0; i < c->met.n; i++)
		c->met.v[i].psv |= c->met.v[i].site ? 0 : GUS_PSV_DR_SQ;
	for (size_t i = 0; i < c->waits.n; i++)
		c->waits.v[i].psv |= c->waits.v[i].of ? 0 : GUS_PSV_DR_SQ;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	give_accesses(m, IMUL, &store, &far, 1);
	made_account(m, true);
	take_accesses(m);
	assert_true(unknown_of(m) < 70000);
	assert_true(made_weight_at(m, APP, IMUL, 0) > 350000);
}

/* Of the product's executions so many missed, which is told before the others. */
static void let_miss(struct made *m, uint64_t times)
{
	struct gus_groups_counts *c = counts_of(m);

	for (size_t i = 0; i < c->met.n; i++) {
		struct gus_groups_met others = c->met.v[i];

		if (others.site)
			continue;
		assert_true(!others.psv && times < others.times);
		others.times = others.assured = others.times - times;
		c->met.v[i].psv = GUS_PSV_ST_L1;
		c->met.v[i].times = c->met.v[i].assured = times;
		gus_vec_push(&c->met, others);
		return;
	}
	fail_msg("the product was not executed");
}

static void let_none_miss(struct made *m)
{
	struct gus_groups_counts *c = counts_of(m);

	c->met.n--;
	for (size_t i = 0; i < c->met.n; i++)
		if (!c->met.v[i].site) {
			c->met.v[i].psv = 0;
			c->met.v[i].times = c->met.v[i].assured = c->sites.v[0].executed;
		}
}

/* The product loads from lines that lie side by side, as it might, and what waits for it waits for a miss, if any. That
 * the model knows nothing of if it misses more than one line in four, and waits for that. */
static void of_streams(void **state)
{
	enum { MOVES = GUS_TRACED_STREAM_MOVES };
	static const struct gus_traced_memory streams = { .accesses = 4000, .moves = MOVES, .next = MOVES },
		random = { .accesses = 4000, .moves = 10 * MOVES, .next = MOVES };
	static const struct {
		const struct gus_traced_memory *met[2];
		uint64_t missed;
		bool waits, doubted;
	} cases[] = {
		{ { &streams }, 100, true, true },
		{ { &random }, 100, true, false },
		{ { &random, &streams }, 100, true, true },
		{ { &streams }, MOVES / 4, true, false },
		{ { &streams }, MOVES / 4 + 1, true, true },
		{ { &streams, &streams }, MOVES / 4 + 1, true, false }, /* of twice as many lines */
		{ { &streams }, 100, false, false },    /* what it waits for is no miss */
	};
	struct made *m = *state;
	struct gus_groups_counts *c = counts_of(m);

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program_memory memories[2] = { { .load = true }, { .load = true } };
		struct gus_traced_memory met[2] = { *cases[i].met[0], cases[i].met[1] ? *cases[i].met[1] : random };

		print_message("case %zu\n", i);
		let_miss(m, cases[i].missed);
		for (size_t k = 0; k < c->waits.n; k++)
			if (!c->waits.v[k].of)
				c->waits.v[k].psv = cases[i].waits ? GUS_PSV_ST_L1 : 0;
		give_accesses(m, IMUL, memories, met, cases[i].met[1] ? 2 : 1);
		account_again(m);
		take_accesses(m);
		let_none_miss(m);
		assert_int_equal(unknown_by(m, IMUL), cases[i].doubted ? GUS_CAUSE_STREAMS : GUS_CAUSE_NONE);
		assert_int_equal(unknown_by(m, ADD), GUS_CAUSE_NONE);
		assert_true(cases[i].doubted ? unknown_of_product(m) > 350000 : !unknown_of(m));
	}
}

/* It is the sum that does, each time: what the product misses is no matter of the sum's. */
static void of_streams_of_others(void **state)
{
	const struct gus_traced_memory streams = { .accesses = 4000, .moves = 4000, .next = 4000 };
	struct gus_program_memory load = { .load = true };
	struct made *m = *state;
	struct gus_groups_counts *c = counts_of(m);
	uint32_t sum = gus_groups_site(m->groups, traced_at + TEXT + ADD);

	for (size_t i = 0; i < c->met.n; i++)
		c->met.v[i].psv |= c->met.v[i].site == sum ? GUS_PSV_ST_L1 : 0;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	give_accesses(m, ADD, &load, &streams, 1);
	made_account(m, true);
	take_accesses(m);
	assert_int_equal(unknown_by(m, ADD), GUS_CAUSE_STREAMS);
	assert_int_equal(unknown_by(m, IMUL), GUS_CAUSE_NONE);
	assert_int_equal(unknown_of(m), made_weight_at(m, APP, ADD, 0));
}

/* What the model alone has of as much time: of each turn three cycles are the product's but for what retires with it,
 * wherever samples were. */
static void of_the_model(void **state)
{
	struct made *m = *state;
	struct gus_clues clues;
	struct gus_account alone;
	uint64_t sum = 0, product = 0;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + DEC }); /* as if addition took it all */
	made_samples(m, 300, (struct gus_sample){ .ip = lib_at + TEXT });
	made_account(m, true);
	gus_account_of_model(&alone, &clues, &m->account, m->groups);
	assert_int_equal(alone.weight, 700000);
	for (size_t i = 0; i < alone.cells.n; i++) {
		const struct gus_account_cell *c = &alone.cells.v[i];

		assert_true(!c->moved && !c->what.unknown && c->evidence == GUS_MODELLED);
		assert_string_equal(alone.places.v[c->place].module, APP);
		sum += c->weight;
		product += alone.places.v[c->place].offset == TEXT + IMUL ? c->weight : 0;
	}
	assert_int_equal(sum, 700000);
	assert_true(product > 500000 && product < 600000);
	sum = 0;
	for (size_t i = 0; i < alone.seen.n; i++)
		sum += alone.seen.v[i].weight;
	assert_int_equal(sum, 700000);
	gus_account_free(&alone);
}

/* The parts of a turn are exact: of the cycle in which all four retire each has a quarter, and those of a fused pair
 * are one place; two more are the product's. */
static void of_the_model_by_place(void **state)
{
	static const struct { uint64_t offset, weight; } want[] = { { IMUL, 525000 }, { ADD, 58333 }, { DEC, 116667 } };
	struct made *m = *state;
	struct gus_clues clues;
	struct gus_account alone;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	gus_account_of_model(&alone, &clues, &m->account, m->groups);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		uint64_t weight = 0;

		for (size_t k = 0; k < alone.cells.n; k++)
			if (alone.places.v[alone.cells.v[k].place].offset == TEXT + want[i].offset)
				weight += alone.cells.v[k].weight;
		assert_in_range(weight, want[i].weight - 700, want[i].weight + 700);
	}
	gus_account_free(&alone);
}

/* What the trace says of each place: its block and its bytes, as far as the block goes. */
static void of_the_trace(void **state)
{
	static const uint8_t bytes[] = { 0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01, 0xd1, 0x48, 0xff, 0xce, 0x75, 0xf4 };
	struct made *m = *state;
	size_t told = 0;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 50, (struct gus_sample){ .ip = lib_at + TEXT + 5 });
	made_account(m, true);
	assert_int_equal(m->account.isa, GUS_ISA_X86_64);
	for (size_t i = 0; i < m->account.places.n; i++) {
		const struct gus_account_place *p = &m->account.places.v[i];
		uint64_t within = p->offset - TEXT;

		assert_null(p->function);
		assert_false(p->in_loop);
		assert_int_equal(p->head, 0);
		assert_int_equal(p->executed, strcmp(p->module, APP) == 0);
		if (!p->executed) {
			assert_int_equal(p->size, 0);
			continue;
		}
		assert_int_equal(p->block, TEXT);
		assert_int_equal(p->address, traced_at + p->offset);
		assert_int_equal(p->size, sizeof(bytes) - within);
		assert_memory_equal(p->code, bytes + within, p->size);
		told++;
	}
	assert_int_equal(told, 4);
}

/* The jump is a block of its own, and none has bytes of the other. */
static void of_a_block_each(void **state)
{
	struct made *m = *state;
	size_t jumps = 0;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 9, (struct gus_sample){ .ip = app_at + TEXT + JMP });
	made_account(m, true);
	for (size_t i = 0; i < m->account.places.n; i++) {
		const struct gus_account_place *p = &m->account.places.v[i];
		bool jump = p->offset == TEXT + JMP;

		assert_int_equal(p->block, jump ? TEXT + JMP : TEXT);
		assert_int_equal(p->size, jump ? 2 : TEXT + JMP - p->offset);
		jumps += jump;
	}
	assert_int_equal(jumps, 1);
}

/* No instruction has more than fifteen bytes; and of a block there may be none at all. */
static void of_the_bytes_of_a_block(void **state)
{
	static const uint8_t sizes[] = { 0, 12, 15, 16, 40 };
	struct made *m = *state;
	struct gus_traced_block *b = &m->s.t.blocks.v[0];
	uint8_t bytes[40];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i < 12 ? b->bytes[i] : 0x90;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + IMUL });
	made_account(m, true);
	for (size_t i = 0; i < sizeof(sizes); i++) {
		const struct gus_traced_block before = *b;
		const struct gus_account_place *p;

		b->bytes = sizes[i] ? bytes : NULL;
		b->size = sizes[i] ? sizes[i] : before.size;
		account_again(m);
		*b = before;
		p = &m->account.places.v[0];
		assert_int_equal(p->offset, TEXT);
		assert_int_equal(p->size, sizes[i] < GUS_ACCOUNT_CODE ? sizes[i] : GUS_ACCOUNT_CODE);
		assert_memory_equal(p->code, bytes, p->size);
	}
}

/* The loop is in a function behind four nops, as it might be, and begins where those end. */
static void of_a_loop_in_a_function(void **state)
{
	static const uint8_t bytes[] = { 0x90, 0x90, 0x90, 0x90, 0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01, 0xd1, 0x48, 0xff,
		0xce, 0x75, 0xf4 };
	struct made *m = *state;
	struct gus_traced_region *r = &m->s.t.regions.v[m->s.t.blocks.v[0].region];
	struct gus_traced_function *f = &m->s.t.functions.v[r->function];

	f->name = "work";
	f->start = TEXT - 4;
	f->graph = gus_zalloc(sizeof(*f->graph));
	gus_graph_read(f->graph, GUS_ISA_X86_64, bytes, sizeof(bytes));
	assert_int_equal(f->graph->loops.n, 1);
	r->loop = 0;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	for (size_t i = 0; i < m->account.places.n; i++) {
		const struct gus_account_place *p = &m->account.places.v[i];

		assert_string_equal(p->function, "work");
		assert_int_equal(p->start, TEXT - 4);
		assert_true(p->in_loop);
		assert_int_equal(p->head, TEXT);
	}
	assert_true(m->account.places.n > 0);
}

/* The code is of no file, and where it was traced: what was not seen of it is in the same memory as what was. */
static void of_no_file(void **state)
{
	struct made *m = *state;
	const struct gus_account_place *seen;
	size_t products = 0;

	m->s.t.blocks.v[0].module = NULL;
	m->s.t.blocks.v[0].pid = 10;
	m->s.t.blocks.v[0].time = START;
	m->anonymous = true;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 9, (struct gus_sample){ .ip = lib_at + TEXT });
	made_samples(m, 700, (struct gus_sample){ .ip = traced_at + TEXT + ADD });
	made_account(m, true);
	assert_int_equal(m->account.explained, 700000);
	seen = &m->account.places.v[1];
	assert_int_equal(seen->address, traced_at + TEXT + ADD);
	assert_true(seen->place.module != GUS_CLUE_NONE);
	for (size_t i = 1; i < m->account.places.n; i++) {
		const struct gus_account_place *p = &m->account.places.v[i];

		assert_string_equal(p->module, "//anon");
		assert_int_equal(p->offset - p->address, seen->offset - seen->address);
		assert_int_equal(p->place.offset, p->offset);
		assert_int_equal(p->place.module, seen->place.module);
		products += p->address == traced_at + TEXT + IMUL;
	}
	assert_int_equal(products, 1);
	assert_true(m->account.places.n > 2);
}

static void without_a_trace(void **state)
{
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 9, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, false);
	assert_int_equal(m->account.explained, 0);
	assert_int_equal(m->account.cells.n, 1);
	assert_int_equal(made_weight_at(m, APP, ADD, 0), 9000);
	assert_true(m->account.cells.v[0].what.unknown);
	assert_false(m->account.cells.v[0].moved);
}

/* What is sampled where it was dispatched stays there, with what its record says: an event that was; all nine that
 * were not; and some that were not, which is nothing. */
static void of_records(void **state)
{
	struct made *m = *state;
	Gusprof__Event *e = made_event(m, "ibs_op//", "events");

	e->pmu = (char *)(uintptr_t)"ibs_op";
	m->vendor = "AuthenticAMD";
	made_samples(m, 5, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true, .events = GUS_PSV_ST_L1 });
	made_samples(m, 3, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true,
		.events = (uint64_t)GUS_PSV_ALL << 16 });
	made_samples(m, 2, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true,
		.events = (uint64_t)GUS_PSV_ST_L1 << 16 });
	made_account(m, true);
	assert_false(m->clues.sight.known);
	assert_int_equal(m->account.explained, 0);
	assert_int_equal(m->account.cells.n, 3);
	assert_int_equal(m->account.cells.v[0].what.events, 0);
	assert_int_equal(m->account.cells.v[0].weight, 3000);
	assert_int_equal(m->account.cells.v[0].evidence, GUS_OBSERVED);
	assert_int_equal(m->account.cells.v[1].what.events, GUS_PSV_ST_L1);
	assert_int_equal(m->account.cells.v[1].weight, 5000);
	assert_int_equal(m->account.cells.v[1].evidence, GUS_OBSERVED);
	assert_true(m->account.cells.v[2].what.unknown);
	assert_int_equal(m->account.cells.v[2].weight, 2000);
	assert_int_equal(m->account.cells.v[2].evidence, GUS_UNKNOWN);
}

/* Cycles tell the time, ops beside them what was executed, and what it met: a miss that no model of this loop has. What
 * waits it makes the model cannot tell; where products retire, they have it. */
static void of_several_events(void **state)
{
	struct made *m = *state;
	uint64_t met = 0;
	Gusprof__Event *e;

	e = made_event(m, "ibs_op/cnt_ctl=1/", "events");
	e->pmu = (char *)(uintptr_t)"ibs_op";
	e->config = 1 << 19;
	made_event(m, "cycles", "cycles");
	m->vendor = "AuthenticAMD";
	for (unsigned i = 0; i < 3; i++)
		made_samples(m, 200, (struct gus_sample){ .ip = app_at + TEXT + (const uint8_t[]){ IMUL, ADD, DEC }[i],
			.exact = true, .events = (i ? 0 : GUS_PSV_ST_L1) | (uint64_t)(GUS_PSV_ALL - (i ? 0 :
											GUS_PSV_ST_L1)) << 16 });
	made_samples(m, 900, (struct gus_sample){ .ip = app_at + TEXT + ADD, .event = 1 });
	made_account(m, true);
	assert_int_equal(m->clues.profile.event, 1);
	assert_int_equal(m->clues.executions, GUS_SAMPLER_OPS);
	assert_int_equal(m->clues.seen.executed, 600);
	assert_int_equal(m->account.weight, 900000);
	assert_int_equal(m->account.explained, 900000);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];

		assert_int_equal(c->evidence, GUS_INFERRED);
		if (c->what.events == GUS_PSV_ST_L1) {
			assert_int_equal(m->account.places.v[c->place].offset, TEXT + IMUL);
			met += c->weight;
		}
	}
	assert_true(met > 50000);
}

/* Branches of a sample say what was executed, and whether it is behind a misprediction. */
static void of_branch_stacks(void **state)
{
	const struct gus_branch loop = { app_at + TEXT + JNZ, app_at + TEXT + IMUL, GUS_BRANCH_PREDICTED, 3 };
	const struct gus_branch stack[] = { loop, loop, loop, loop }, mispredicted[] = {
		{ loop.from, loop.to, GUS_BRANCH_MISPREDICTED, 20 }, loop };
	struct made *m = *state;
	unsigned behind = 0;

	made_event(m, "cycles:ppp", "cycles")->precise = 3;
	made_samples(m, 100, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true, .branches = stack,
		.branches_n = 4 });
	made_samples(m, 10, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true, .branches = mispredicted,
		.branches_n = 2 });
	made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT + ADD, .exact = true, .branches = mispredicted,
		.branches_n = 2 });
	made_account(m, true);
	assert_int_equal(m->clues.seen.stacks, 111);
	assert_int_equal(m->clues.seen.ranges.n, 1);
	assert_int_equal(m->clues.seen.ranges.v[0].from, traced_at + TEXT + IMUL);
	assert_int_equal(m->clues.seen.ranges.v[0].to, traced_at + TEXT + JNZ);
	for (size_t i = 0; i < m->clues.time.n; i++)
		behind += m->clues.time.v[i].behind ? (unsigned)m->clues.time.v[i].weight : 0;
	assert_int_equal(behind, 10000);
	assert_int_equal(m->account.explained, 111000);
}

/* Of a fused pair it is the branch that is mispredicted, and else the first instruction that has the time of both. */
static void of_mispredictions(void **state)
{
	struct made *m = *state;
	uint64_t at_branch = 0;

	made_event(m, "cycles:ppp", "cycles")->precise = 3;
	made_samples(m, 900, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true });
	made_samples(m, 100, (struct gus_sample){ .ip = app_at + TEXT + DEC, .exact = true });
	made_account(m, true);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];
		uint64_t offset = m->account.places.v[c->place].offset - TEXT;

		at_branch += c->what.events & GUS_PSV_FL_MB ? c->weight : 0;
		assert_true(c->what.events & GUS_PSV_FL_MB ? offset == JNZ : offset != JNZ);
	}
	assert_true(at_branch > 200000);
	assert_true(made_weight_at(m, APP, DEC, 0) > 0);
}

/* Samples of threads come in turn, of each thread at two places. The second waits for the product twice as often. */
static void of_threads_in_turn(void **state)
{
	struct made *m = *state;

	made_event(m, "cycles:ppp", "cycles")->precise = 3;
	for (unsigned i = 0; i < 300; i++) {
		made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .tid = 13, .exact = true });
		made_samples(m, 2, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .tid = 12, .exact = true });
		made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .tid = 11, .exact = true });
		made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT + DEC, .tid = 12, .exact = true });
		made_samples(m, 1, (struct gus_sample){ .ip = lib_at + TEXT, .tid = 11, .exact = true });
		made_samples(m, 1, (struct gus_sample){ .ip = lib_at + TEXT, .tid = 13, .exact = true });
		made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT + DEC, .tid = 11, .exact = true });
	}
	made_account(m, true);
	assert_int_equal(of_thread(m, 12), 900000);
	assert_int_equal(of_thread(m, 11), 900000);
	assert_int_equal(of_thread(m, 13), 600000);
	assert_int_equal(made_weight_at(m, LIB, 0, 13), 300000);
	assert_int_equal(made_weight_at(m, LIB, 0, 11), 300000);
	assert_int_equal(made_weight_at(m, LIB, 0, 12), 0);
	assert_true(made_weight_at(m, APP, IMUL, 12) > 1.5 * (double)made_weight_at(m, APP, IMUL, 11));
}

/* Half of the jumps are executed between two products, and none was seen: of the time they have some, as what they
 * are. */
static void unseen(void **state)
{
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 1000, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	assert_true(made_weight_at(m, APP, JMP, 0) > 0);
	assert_int_equal(made_seen_at(m, APP, JMP, 0), 0);
	expect_told_by(m, GUS_REPLICATES_MODEL);
	for (size_t i = 0; i < m->account.places.n; i++) {
		const struct gus_account_place *p = &m->account.places.v[i];

		assert_string_equal(p->module, APP);
		assert_true(p->place.module != GUS_CLUE_NONE && p->place.offset == p->offset);
		assert_true(p->executed);
	}
}

/* The last instruction of a trace is the first of no cycle: no precise sample is there by any rule, and those that are
 * stay, whosever they are. */
static void at_the_end(void **state)
{
	struct made *m = *state;

	made_event(m, "cycles:ppp", "cycles")->precise = 3;
	made_samples(m, 900, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true });
	made_samples(m, 8, (struct gus_sample){ .ip = app_at + TEXT + JMP, .exact = true });
	made_samples(m, 5, (struct gus_sample){ .ip = app_at + TEXT + JMP, .tid = 11, .exact = true });
	made_samples(m, 100, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .tid = 11, .exact = true });
	made_account(m, true);
	assert_int_equal(m->account.explained, 1000000);
	assert_int_equal(m->account.weight, 1013000);
	assert_int_equal(made_weight_at(m, APP, JMP, 10), 8000);
	assert_int_equal(made_weight_at(m, APP, JMP, 11), 5000);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];

		assert_int_equal(c->moved, m->account.places.v[c->place].offset != TEXT + JMP);
		assert_int_equal(c->what.unknown, !c->moved);
	}
}

/* An event that could tell of executions, and has no sample, tells nothing: the model does. */
static void without_a_sample(void **state)
{
	struct made *m = *state;
	Gusprof__Event *e;

	made_event(m, "cpu-clock", "ns");
	e = made_event(m, "ibs_op/cnt_ctl=1/", "events");
	e->pmu = (char *)(uintptr_t)"ibs_op";
	e->config = 1 << 19;
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_account(m, true);
	assert_int_equal(m->clues.executions, GUS_SAMPLER_OPS);
	expect_told_by(m, GUS_REPLICATES_MODEL);
}

/* How all cells that were moved know of what they met. */
static void expect_evidence(const struct made *m, enum gus_evidence evidence)
{
	for (size_t i = 0; i < m->account.cells.n; i++)
		assert_int_equal(m->account.cells.v[i].evidence, evidence);
}

/* Instructions that were sampled tell how often they were executed, and of what they met only what all records of
 * theirs have, which is not known: the model tells. */
static void of_instructions(void **state)
{
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	made_precise_event(m, "inst_retired.prec_dist:pp");
	made_samples(m, 900, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 200, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .event = 1, .exact = true });
	made_samples(m, 200, (struct gus_sample){ .ip = app_at + TEXT + ADD, .event = 1, .exact = true });
	made_samples(m, 400, (struct gus_sample){ .ip = app_at + TEXT + DEC, .event = 1, .exact = true });
	made_account(m, true);
	assert_int_equal(m->clues.executions, GUS_SAMPLER_INSNS);
	expect_told_by(m, GUS_REPLICATES_OPS);
	assert_int_equal(m->clues.seen.executed, 800);
	assert_int_equal(m->account.weight, 900000);
	expect_evidence(m, GUS_MODELLED);
}

/* Loads that were sampled tell what those met, and nothing of how often others were executed. */
static void of_loads(void **state)
{
	struct made *m = *state;
	Gusprof__Event *e;

	made_event(m, "cpu-clock", "ns");
	e = made_precise_event(m, "mem-loads");
	e->config = 0x1cd;
	e->config1 = 3;
	made_samples(m, 900, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 300, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .event = 1, .exact = true,
		.events = GUS_PSV_ST_L1 | (uint64_t)(GUS_PSV_ALL - GUS_PSV_ST_L1) << 16 });
	made_account(m, true);
	assert_int_equal(m->clues.executions, GUS_SAMPLER_OTHER);
	assert_int_equal(m->clues.seen.executed, 0);
	assert_int_equal(m->clues.loads.executed, 300);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];
		bool product = m->account.places.v[c->place].offset == TEXT + IMUL;

		assert_int_equal(c->evidence, product ? GUS_INFERRED : GUS_MODELLED);
		assert_true(product || c->what.events == 0);
	}
}

/* At what is waited for, in a thread, so much. */
static void sample_of(struct made *m, uint32_t tid, uint64_t period)
{
	const struct gus_sample s = { .ip = app_at + TEXT + ADD, .time = START + 1 + m->batch.n, .period = period,
		.pid = 10, .tid = tid, .mode = GUS_MODE_USER };

	gus_columns_push(&m->batch, &s);
}

/* A file may say that a sample stands for nothing, or for more than all of them may: behind that there is no room for
 * another's. Of these threads nothing is anybody's. */
static void of_no_weight(void **state)
{
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	sample_of(m, 11, 0);
	sample_of(m, 12, UINT64_MAX);
	sample_of(m, 13, 1000);
	made_account(m, true);
	assert_int_equal(m->account.weight, GUS_LIMIT_SUM);
	assert_int_equal(m->account.explained, GUS_LIMIT_SUM);
	assert_int_equal(of_thread(m, 11), 0);
	assert_int_equal(of_thread(m, 12), GUS_LIMIT_SUM);
	assert_int_equal(of_thread(m, 13), 0);
}

static void round_to(const double *shares, size_t n, uint64_t whole, const uint64_t *want)
{
	uint64_t out[4];

	gus_rounding_make(shares, n, whole, out);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(out[i], want[i]);
}

/* The largest rest goes up, of equal ones the first; the limit of sums comes out whole. */
static void rounds(void **state)
{
	uint64_t out[3], most = INT64_MAX;

	(void)state;
	round_to((const double[]){ 1 }, 1, 0, (const uint64_t[]){ 0 });
	round_to((const double[]){ .3 }, 1, 7, (const uint64_t[]){ 7 });
	round_to((const double[]){ 1, 1, 1 }, 3, 10, (const uint64_t[]){ 4, 3, 3 });
	round_to((const double[]){ 1, 1, 1 }, 3, 2, (const uint64_t[]){ 1, 1, 0 });
	round_to((const double[]){ .26, .1, .64 }, 3, 10, (const uint64_t[]){ 3, 1, 6 });
	round_to((const double[]){ .1, .26, .64 }, 3, 10, (const uint64_t[]){ 1, 3, 6 });
	round_to((const double[]){ .14, .15, .31, .4 }, 4, 10, (const uint64_t[]){ 1, 2, 3, 4 });
	round_to((const double[]){ 0, 5, 0 }, 3, 3, (const uint64_t[]){ 0, 3, 0 });
	round_to((const double[]){ 1, 1 }, 2, most, (const uint64_t[]){ most / 2 + 1, most / 2 });
	gus_rounding_make((const double[]){ .1, .7, .2 }, 3, most, out);
	assert_true(out[0] + out[1] + out[2] == most);
	assert_true(out[0] < out[2] && out[2] < out[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(moves_time, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(precise, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_shared_lines, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_shared_lines_beside, made_account_setup_erratic,
						made_account_teardown),
		cmocka_unit_test_setup_teardown(of_strings_that_repeat, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_misses_that_are_supposed, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_locks, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_stores_that_are_far, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_stores_of_others, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_stores_with_an_event, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_streams, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_streams_of_others, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_the_model, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_the_model_by_place, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_the_trace, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_a_block_each, made_account_setup_erratic, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_the_bytes_of_a_block, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_a_loop_in_a_function, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_no_file, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(without_a_trace, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_records, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_several_events, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_branch_stacks, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_mispredictions, made_account_setup_erratic, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_threads_in_turn, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(unseen, made_account_setup_erratic, made_account_teardown),
		cmocka_unit_test_setup_teardown(at_the_end, made_account_setup_ending, made_account_teardown),
		cmocka_unit_test_setup_teardown(without_a_sample, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_instructions, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_loads, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_no_weight, made_account_setup, made_account_teardown),
		cmocka_unit_test(rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
