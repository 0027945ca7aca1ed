/* SPDX-License-Identifier: MIT */
/* The branch predictor on patterns whose rate is known by argument: what history decides is learnt, what chance
 * decides is not; and verdict by verdict against a predictor that is written as one would say it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/machine/config.h"
#include "model/oracles/branch.h"

static struct gus_branch_predictor *predictor(const struct gus_branch_config *config)
{
	struct gus_error err = { 0 };
	struct gus_branch_predictor *p = gus_branch_new(config, &err);

	if (!p)
		fail_msg("%s", err.text);
	return p;
}

static uint64_t rnd(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 16;
}

/* Patterns of conditional branches: the pc and the direction of the i-th. */
struct one { uint64_t pc; bool taken; };
struct stream { uint64_t x, i; bool last[4]; };

static struct one always(struct stream *s) { (void)s; return (struct one){ 0x1000, true }; }
static struct one never(struct stream *s) { (void)s; return (struct one){ 0x1000, false }; }
static struct one alternating(struct stream *s) { return (struct one){ 0x1000, s->i % 2 }; }
static struct one coin(struct stream *s) { return (struct one){ 0x1000, rnd(&s->x) % 2 }; }
static struct one rarely(struct stream *s) { return (struct one){ 0x1000, rnd(&s->x) % 10 == 0 }; }
static struct one trips_8(struct stream *s) { return (struct one){ 0x1000, s->i % 8 != 7 }; }
static struct one trips_50(struct stream *s) { return (struct one){ 0x1000, s->i % 50 != 49 }; }
/* 1000 coins that come again and again. */
static struct one period_1000(struct stream *s)
{
	uint64_t x = 0x9e3779b97f4a7c15 * (s->i % 1000 + 1);

	return (struct one){ 0x1000, rnd(&x) % 2 };
}
/* The same in a loop, whose own branch is each second one; and each fifth one, with four that are always taken. */
static struct one in_turn(struct stream *s, unsigned branches)
{
	uint64_t x = 0x9e3779b97f4a7c15 * (s->i / branches % 1000 + 1);
	unsigned which = s->i % branches;

	return (struct one){ 0x1000 + 16 * which, which || rnd(&x) % 2 };
}
static struct one period_and_loop(struct stream *s) { return in_turn(s, 2); }
static struct one period_of_five(struct stream *s) { return in_turn(s, 5); }
/* Two coins, and a branch that is taken if they differ: history decides the third, and chance the others. */
static struct one correlated(struct stream *s)
{
	unsigned which = s->i % 3;
	struct one o = { 0x1000 + 16 * which, which < 2 ? rnd(&s->x) % 2 : s->last[0] != s->last[1] };

	s->last[which] = o.taken;
	return o;
}
/* 3000 branches, each with a direction of its own. */
static struct one many(struct stream *s)
{
	uint64_t x = 0x9e3779b97f4a7c15 * (s->i % 3000 + 1);

	return (struct one){ 0x1000 + 6 * (s->i % 3000), rnd(&x) % 2 };
}

static const struct pattern {
	const char *name;
	struct one (*next)(struct stream *s);
	bool plain;             /* two-bit counters alone */
	double rate;            /* mispredicted, by branch */
} patterns[] = {
	{ "always", always, false, 0 },
	{ "never", never, false, 0 },
	{ "alternating", alternating, false, 0 },
	{ "coin", coin, false, 0.5 },
	{ "one of ten", rarely, false, 0.1 },
	{ "loop of 8", trips_8, false, 0 },
	{ "loop of 50", trips_50, false, 0 },
	{ "period of 1000", period_1000, false, 0 },
	{ "period of 1000 in a loop", period_and_loop, false, 0 },
	{ "period of 1000 among five", period_of_five, false, 0 },
	{ "correlated", correlated, false, 1. / 3 },
	{ "many", many, false, 0 },
	{ "always, counters alone", always, true, 0 },
	{ "alternating, counters alone", alternating, true, 0.5 }, /* between two states of the same side */
	{ "loop of 8, counters alone", trips_8, true, 1. / 8 },    /* the end of each loop */
	{ "one of ten, counters alone", rarely, true, 0.1098 },
	/* four states that are (1/9)^i as likely: 0.9878 * 0.1 + 0.0122 * 0.9 */
};

static void test_directions(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(patterns) / sizeof(*patterns); k++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;
		struct stream s = { .x = 88172645463325252 };
		double rate;

		gus_branch_config_default(&config);
		if (patterns[k].plain)
			config.direction.tables = 0;
		p = predictor(&config);
		for (; s.i < 200000; s.i++) {
			struct one one = patterns[k].next(&s);
			struct gus_branch_outcome o = { .pc = one.pc, .next = one.pc + 2, .target = 0x9000,
				.kind = GUS_BRANCH_CONDITIONAL,
				.taken = one.taken };

			if (s.i == 100000)
				gus_branch_count_anew(p);
			gus_branch_run(p, &o);
		}
		assert_int_equal(gus_branch_totals(p)->executed, 100000);
		rate = (double)gus_branch_totals(p)->mispredicted / 100000;
		if (rate < patterns[k].rate - 0.02 || rate > patterns[k].rate + 0.02)
			fail_msg("%s: %.4f mispredicted, expected %.4f", patterns[k].name, rate, patterns[k].rate);
		gus_branch_free(p);
	}
}

/* Indirect branches among four targets: in turn they are learnt from history, by chance three of four are wrong, and
 * without history only the same one again is right. */
static void test_targets(void **state)
{
	static const struct { bool chance, plain; unsigned targets; double rate; } cases[] = {
		{ false, false, 1, 0 }, { false, false, 4, 0 }, { true, false, 4, 0.75 }, { false, true, 1, 0 },
		{ false, true, 4, 1 },
		{ true, true, 4, 0.75 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;
		uint64_t x = 88172645463325252;
		double rate;

		gus_branch_config_default(&config);
		if (cases[k].plain)
			config.target.tables = 0;
		p = predictor(&config);
		for (uint64_t i = 0; i < 60000; i++) {
			uint64_t which = (cases[k].chance ? rnd(&x) : i) % cases[k].targets;
			struct gus_branch_outcome o = { .pc = 0x1000, .next = 0x1002, .target = 0x5000 + 0x140 * which,
				.kind = GUS_BRANCH_INDIRECT,
				.taken = true };

			if (i == 20000)
				gus_branch_count_anew(p);
			gus_branch_run(p, &o);
		}
		rate = (double)gus_branch_totals(p)[GUS_BRANCH_INDIRECT].mispredicted / 40000;
		if (rate < cases[k].rate - 0.02 || rate > cases[k].rate + 0.02)
			fail_msg("case %zu: %.4f mispredicted, expected %.4f", k, rate, cases[k].rate);
		gus_branch_free(p);
	}
}

/* A function that calls itself from n places and returns n times: a stack of 16 knows the last 16 of the places. */
/* Where earlier targets tell nothing (target_path), four targets in turn are told by the jump that each ends with,
 * while it is among the last taken branches, or by directions before; and else by nothing. */
enum told_by { BY_TARGETS, BY_JUMP, BY_JUMP_AND_ONE, BY_JUMP_AND_RETURN, BY_JUMP_AND_TWO, BY_DIRECTION };

static bool run_told(struct gus_branch_predictor *p, enum told_by by, uint64_t which)
{
	const unsigned others = by == BY_JUMP_AND_TWO ? 2 : by == BY_JUMP_AND_ONE;
	struct gus_branch_outcome o = { .pc = 0x1000, .next = 0x1002, .target = 0x5000 + 0x140 * which,
		.kind = GUS_BRANCH_INDIRECT, .taken = true };
	bool wrong = gus_branch_run(p, &o).mispredicted;

	if (by >= BY_JUMP && by <= BY_JUMP_AND_TWO)
		gus_branch_run(p, &(struct gus_branch_outcome){ .pc = o.target + 4, .target = 0x900,
				.kind = GUS_BRANCH_JUMP, .taken = true });
	if (by == BY_JUMP_AND_RETURN)
		gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x900, .target = 0xa00,
				.kind = GUS_BRANCH_RETURN, .taken = true });
	for (unsigned i = 0; i < others; i++)
		gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x900 + 16 * i, .target = 0x910 + 16 * i,
				.kind = GUS_BRANCH_JUMP, .taken = true });
	for (unsigned bit = 0; by == BY_DIRECTION && bit < 2; bit++)
		gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x800 + 16 * bit, .target = 0xc00,
				.kind = GUS_BRANCH_CONDITIONAL, .taken = which >> bit & 1 });
	return wrong;
}

static void test_paths(void **state)
{
	static const struct { enum told_by by; uint32_t path; bool known; } cases[] = {
		{ BY_TARGETS, 0, true }, { BY_TARGETS, 2, false }, { BY_JUMP, 2, true }, { BY_JUMP_AND_ONE, 2, true },
		{ BY_JUMP_AND_TWO, 2, false }, { BY_JUMP_AND_TWO, 3, true }, { BY_JUMP_AND_RETURN, 2, true },
		{ BY_JUMP_AND_RETURN, 1, false }, { BY_DIRECTION, 1, true },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_core_config machine = { .indirect_path = cases[k].path };
		struct gus_branch_config config;
		struct gus_branch_predictor *p;
		unsigned wrong = 0;

		gus_branch_config_of(&config, &machine);
		p = predictor(&config);
		for (uint64_t i = 0; i < 8000; i++)
			wrong += run_told(p, cases[k].by, i % 4) && i >= 4000;
		if (cases[k].known ? wrong > 40 : wrong < 2800)
			fail_msg("case %zu: %u of 4000 mispredicted", k, wrong);
		gus_branch_free(p);
	}
}

/* Of a pattern by chance that comes again and again, those mispredicted of the tenth turn. */
static unsigned wrong_of_pattern(uint32_t histories, unsigned period)
{
	struct gus_core_config machine = { .branch_histories = histories };
	struct gus_branch_config config;
	struct gus_branch_predictor *p;
	unsigned wrong = 0;

	gus_branch_config_of(&config, &machine);
	p = predictor(&config);
	for (unsigned turn = 0; turn < 10; turn++) {
		uint64_t chance = 88172645463325252;

		for (unsigned i = 0; i < period; i++) {
			chance = chance * 6364136223846793005 + 1442695040888963407;
			wrong += gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x400, .next = 0x404,
					.target = 0x500, .kind = GUS_BRANCH_CONDITIONAL,
					.taken = chance >> 63 }).mispredicted && turn == 9;
		}
	}
	gus_branch_free(p);
	return wrong;
}

/* A pattern is known that has no more turns than there are histories kept. */
static void test_histories(void **state)
{
	static const struct { uint32_t histories, bits; } cases[] = { { 0, 10 }, { 8192, 10 }, { 16383, 10 },
		{ 16384, 11 }, { 32768, 12 }, { 1, 1 }, { UINT32_MAX, 20 } };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_core_config machine = { .branch_histories = cases[k].histories };
		struct gus_branch_config config;

		gus_branch_config_of(&config, &machine);
		assert_int_equal(config.direction.entry_bits, cases[k].bits);
	}
	assert_in_range(wrong_of_pattern(0, 4096), 0, 4096 / 50);
	assert_in_range(wrong_of_pattern(0, 16384), 16384 / 10, 16384);
	assert_in_range(wrong_of_pattern(32768, 16384), 0, 16384 / 50);
}

/* Of a loop that goes round a few times, within another one, those mispredicted of the last ten of a hundred. */
static unsigned wrong_of_loop(uint32_t history, unsigned rounds)
{
	struct gus_core_config machine = { .branch_history = history };
	struct gus_branch_config config;
	struct gus_branch_predictor *p;
	unsigned wrong = 0;

	gus_branch_config_of(&config, &machine);
	p = predictor(&config);
	for (unsigned turn = 0; turn < 100; turn++)
		for (unsigned i = 0; i <= rounds; i++) { /* the last is the outer loop's */
			struct gus_branch_outcome o = { .pc = 0x400, .next = 0x404, .target = 0x3f0,
				.kind = GUS_BRANCH_CONDITIONAL, .taken = i != rounds - 1 };

			o.pc += i == rounds ? 0x40 : 0;
			wrong += gus_branch_run(p, &o).mispredicted && turn >= 90;
		}
	gus_branch_free(p);
	return wrong;
}

/* The end of a loop is foreseen that lies no farther from the last one than the longest history. */
static void test_history(void **state)
{
	static const struct { uint32_t history, longest; } cases[] = { { 0, 256 }, { 194, 194 }, { 1, 4 }, { 4, 4 },
		{ 2048, 2048 }, { 2049, 2048 }, { UINT32_MAX, 2048 } };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_core_config machine = { .branch_history = cases[k].history };
		struct gus_branch_config config;

		gus_branch_config_of(&config, &machine);
		assert_int_equal(config.direction.history_max, cases[k].longest);
	}
	assert_int_equal(wrong_of_loop(194, 190), 0);
	assert_int_equal(wrong_of_loop(194, 200), 10);
	assert_int_equal(wrong_of_loop(0, 200), 0);
}

/* Of a pattern of a branch beside that of a loop, those set right, and those mispredicted, of the tenth turn. */
static void override_pattern(unsigned period, struct gus_core_config *machine, unsigned *overridden, unsigned *wrong)
{
	struct gus_branch_config config;
	struct gus_branch_predictor *p;

	gus_branch_config_of(&config, machine);
	p = predictor(&config);
	*overridden = *wrong = 0;
	for (unsigned turn = 0; turn < 10; turn++) {
		uint64_t chance = 88172645463325252;

		for (unsigned i = 0; i < 2 * period; i++) {
			struct gus_branch_outcome o = { .pc = 0x400 + 8 * (i & 1), .next = 0x404 + 8 * (i & 1),
				.target = 0x400, .kind = GUS_BRANCH_CONDITIONAL, .taken = true };
			struct gus_branch_verdict v;

			chance = chance * 6364136223846793005 + 1442695040888963407;
			o.taken = i & 1 || chance >> 63;
			v = gus_branch_run(p, &o);
			assert_false(v.overridden && v.mispredicted);
			*overridden += v.overridden && turn == 9;
			*wrong += v.mispredicted && turn == 9;
		}
	}
	gus_branch_free(p);
}

/* What is foreseen at once knows short patterns; of long ones it is wrong about each second turn, which the tables
 * know. Without it, or where it costs nothing, there is nothing to set right. */
static void test_quick(void **state)
{
	struct gus_core_config machine = { .branch_histories = 32768, .branch_quick = 512, .branch_override = 3 };
	unsigned overridden, wrong;

	(void)state;
	override_pattern(64, &machine, &overridden, &wrong);
	assert_in_range(overridden, 0, 3);
	assert_int_equal(wrong, 0);
	override_pattern(8192, &machine, &overridden, &wrong);
	assert_in_range(overridden, 8192 * 4 / 10, 8192 * 6 / 10);
	assert_in_range(wrong, 0, 8192 / 50);
	machine.branch_override = 0;
	override_pattern(8192, &machine, &overridden, &wrong);
	assert_int_equal(overridden, 0);
}

static void test_returns(void **state)
{
	static const struct { unsigned depth; double rate; } cases[] = { { 1, 0 }, { 16, 0 }, { 32, 0.5 },
		{ 64, 0.75 } };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;
		double rate;

		gus_branch_config_default(&config);
		p = predictor(&config);
		for (unsigned times = 0; times < 100; times++) {
			for (uint64_t i = 0; i < cases[k].depth; i++)
				gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x1000 + 16 * i,
					.next = 0x1005 + 16 * i, .target = 0x8000,
					.kind = GUS_BRANCH_CALL, .taken = true });
			for (uint64_t i = cases[k].depth; i-- > 0;)
				gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x8100, .next = 0x8101,
					.target = 0x1005 + 16 * i,
					.kind = GUS_BRANCH_RETURN, .taken = true });
		}
		rate = (double)gus_branch_totals(p)[GUS_BRANCH_RETURN].mispredicted / (100. * cases[k].depth);
		if (rate < cases[k].rate - 0.02 || rate > cases[k].rate + 0.02)
			fail_msg("depth %u: %.4f mispredicted, expected %.4f", cases[k].depth, rate, cases[k].rate);
		/* Direct: only late, the first time. */
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_CALL].mispredicted, 0);
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_CALL].late, cases[k].depth);
		gus_branch_free(p);
	}
}

/* The buffer of targets: what it holds is late once, what it does not is late always (lru, in turns). */
static void test_buffer(void **state)
{
	(void)state;
	for (unsigned n = 64; n <= 65; n++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;

		gus_branch_config_default(&config);
		config.btb_entries = config.btb_ways = 64;
		p = predictor(&config);
		for (uint64_t i = 0; i < 100 * n; i++)
			gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x1000 + i % n * 8,
				.next = 0x1005 + i % n * 8, .target = 0x20,
				.kind = GUS_BRANCH_JUMP, .taken = true });
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_JUMP].late, n == 64 ? 64 : 6500);
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_JUMP].mispredicted, 0);
		gus_branch_free(p);
	}
}

/* The first time of a branch is told apart: before the window it may have been learnt. */
static void test_cold(void **state)
{
	struct gus_branch_config config;
	struct gus_branch_predictor *p;
	struct gus_branch_outcome o = { .pc = 0x1000, .next = 0x1002, .target = 0x2000, .kind = GUS_BRANCH_CONDITIONAL,
		.taken = true };
	struct gus_branch_verdict v;

	(void)state;
	gus_branch_config_default(&config);
	p = predictor(&config);
	v = gus_branch_run(p, &o);
	assert_true(v.mispredicted && v.unknown);
	for (int i = 0; i < 50; i++)
		gus_branch_run(p, &o);
	o.taken = false;
	v = gus_branch_run(p, &o);
	assert_true(v.mispredicted && !v.unknown);
	gus_branch_free(p);
}

/* TAGE and ITTAGE as one would say them (Seznec and Michaud, "A case for (partially) TAgged GEometric history length
 * branch prediction", section 3): the history is kept bit by bit and folded from scratch each time, every table is
 * looked up on its own, and there is nothing that is only there to be quick. Buffer and stack are large enough to
 * hold all. */
struct plain_entry { bool used; uint32_t tag, useful; int counter; uint64_t target; };
struct plain_tables {
	struct gus_branch_tagged size;
	struct plain_entry entry[GUS_BRANCH_TABLES_MAX][64];
	struct plain_entry *mine[GUS_BRANCH_TABLES_MAX];  /* where the present branch would be in each table ... */
	uint32_t tag[GUS_BRANCH_TABLES_MAX];              /* ... and by which tag it would know it */
	int longest, next;                                /* the tables of longest history that know it; -1: none */
};
struct plain {
	struct plain_tables direction, target;
	uint32_t base_bits, depth;
	struct { int counter; bool seen; } base[64];
	struct { uint64_t pc, target; bool seen; } last[64]; /* by branch */
	uint64_t returns[64];
	uint32_t returns_n;
	uint8_t bits[1 << 10];                            /* newest at 0 */
	int choice;
	uint64_t random, branches;
};

static uint32_t next_prime(uint32_t n)
{
	for (uint32_t d = 2; d < n; d++)
		if (n % d == 0)
			return next_prime(n + 1);
	return n;
}

/* Bit j of the history goes to bit j % width. */
static uint32_t fold(const struct plain *p, uint32_t length, uint32_t width)
{
	uint32_t sum = 0;

	for (uint32_t j = 0; j < length; j++)
		sum ^= (uint32_t)p->bits[j] << j % width;
	return sum;
}

static uint32_t hash_of(uint64_t pc) { return (uint32_t)((pc * 0x9e3779b97f4a7c15) >> 32); }

static void plain_look_up(const struct plain *p, struct plain_tables *t, uint64_t pc)
{
	uint32_t hash = hash_of(pc), bits = t->size.entry_bits, index_width = next_prime(bits);
	uint32_t tag_width = next_prime(t->size.tag_bits > index_width ? t->size.tag_bits : index_width + 1);

	t->longest = t->next = -1;
	for (uint32_t i = 0; i < t->size.tables; i++) {
		double ratio = (double)t->size.history_max / t->size.history_min;
		uint32_t length = (uint32_t)lround(t->size.history_min * pow(ratio, i ? i / (t->size.tables - 1.) : 0));
		uint32_t index = fold(p, length, index_width);
		uint32_t tag = fold(p, length, tag_width) ^ fold(p, length, next_prime(tag_width + 1)) << 1;

		index = (hash ^ hash >> (i + 1) ^ index ^ index >> bits) % (1u << bits);
		t->tag[i] = (hash >> 12 ^ tag ^ tag >> t->size.tag_bits) % (1u << t->size.tag_bits);
		t->mine[i] = &t->entry[i][index];
		if (t->mine[i]->used && t->mine[i]->tag == t->tag[i]) {
			t->next = t->longest;
			t->longest = (int)i;
		}
	}
}

/* One of the next three tables of longer history, each half as likely as the one before; from there on the first
 * whose entry is not useful gives it up. If there is none, all of longer history become less useful. */
static struct plain_entry *plain_new(struct plain *p, struct plain_tables *t)
{
	int n = (int)t->size.tables, first = t->longest + 1;
	uint64_t coins;

	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	coins = p->random >> 32;
	for (int skipped = 0; skipped < 2 && coins % 2 && first < n - 1; skipped++, coins /= 2)
		first++;
	for (int i = first; i < n; i++)
		if (!t->mine[i]->useful) {
			t->mine[i]->used = true;
			t->mine[i]->tag = t->tag[i];
			return t->mine[i];
		}
	for (int i = t->longest + 1; i < n; i++)
		if (t->mine[i]->useful)
			t->mine[i]->useful--;
	return NULL;
}

static int bounded(int counter, int lowest, int highest)
{
	return counter < lowest ? lowest : counter > highest ? highest : counter;
}

static void plain_useful(struct plain_entry *e, bool was)
{
	e->useful = (uint32_t)bounded((int)e->useful + (was ? 1 : -1), 0, 3);
}

/* Counters of two bits, taken from 2 on; of three, from 0 to 3 taken, from -4 to -1 not. An entry is new as long as
 * it was not useful and could go either way; a counter of 4 bits says whether new ones are to be believed. */
static struct gus_branch_verdict plain_direction(struct plain *p, uint64_t pc, bool taken)
{
	uint32_t at = hash_of(pc) % (1u << p->base_bits);
	struct plain_tables *t = &p->direction;
	struct gus_branch_verdict v = { .unknown = !p->base[at].seen };
	bool base = p->base[at].counter >= 2, said = base, is_new = false, longest = base, next = base;

	plain_look_up(p, t, pc);
	if (t->next >= 0)
		next = t->mine[t->next]->counter >= 0;
	if (t->longest >= 0) {
		struct plain_entry *e = t->mine[t->longest];

		longest = e->counter >= 0;
		is_new = !e->useful && (e->counter == 0 || e->counter == -1);
		said = is_new && p->choice >= 0 ? next : longest;
		if (longest != next && is_new)
			p->choice = bounded(p->choice + (next == taken ? 1 : -1), -8, 7);
		if (longest != next)
			plain_useful(e, longest == taken);
		e->counter = bounded(e->counter + (taken ? 1 : -1), -4, 3);
	}
	if (t->longest < 0 || (is_new && t->next < 0))
		p->base[at].counter = bounded(p->base[at].counter + (taken ? 1 : -1), 0, 3);
	else if (is_new)
		t->mine[t->next]->counter = bounded(t->mine[t->next]->counter + (taken ? 1 : -1), -4, 3);
	p->base[at].seen = true;
	v.mispredicted = said != taken;
	if (v.mispredicted && t->longest + 1 < (int)t->size.tables && !(is_new && longest == taken)) {
		struct plain_entry *e = plain_new(p, t);

		if (e)
			e->counter = taken ? 0 : -1;
	}
	return v;
}

static struct gus_branch_verdict plain_target(struct plain *p, uint64_t pc, uint64_t target, uint64_t last, bool seen)
{
	struct plain_tables *t = &p->target;
	struct gus_branch_verdict v = { .unknown = !seen };
	uint64_t said = last, next = last;

	plain_look_up(p, t, pc);
	if (t->next >= 0)
		next = t->mine[t->next]->target;
	if (t->longest >= 0) {
		struct plain_entry *e = t->mine[t->longest];

		said = e->counter || e->useful ? e->target : next;
		if (e->target != next)
			plain_useful(e, e->target == target);
		if (e->target != target && !e->counter)
			e->target = target;
		else
			e->counter = bounded(e->counter + (e->target == target ? 1 : -1), 0, 3);
	}
	v.mispredicted = said != target;
	if (v.mispredicted && t->longest + 1 < (int)t->size.tables) {
		struct plain_entry *e = plain_new(p, t);

		if (e) {
			e->target = target;
			e->counter = 0;
		}
	}
	return v;
}

static void plain_remember(struct plain *p, bool bit)
{
	memmove(p->bits + 1, p->bits, sizeof(p->bits) - 1);
	p->bits[0] = bit;
}

static void plain_forget(struct plain_tables *t)
{
	for (uint32_t i = 0; i < t->size.tables; i++)
		for (uint32_t e = 0; e < 1u << t->size.entry_bits; e++)
			t->entry[i][e].useful /= 2;
}

static struct gus_branch_verdict plain_run(struct plain *p, const struct gus_branch_outcome *o, unsigned branch)
{
	uint64_t last = p->last[branch].target;
	bool seen = p->last[branch].seen, is_indirect = o->kind == GUS_BRANCH_INDIRECT ||
		o->kind == GUS_BRANCH_CALL_INDIRECT;
	struct gus_branch_verdict v = { false, false, false };

	if (o->kind == GUS_BRANCH_CONDITIONAL) {
		v = plain_direction(p, o->pc, o->taken);
		plain_remember(p, o->taken);
	} else if (is_indirect) {
		v = plain_target(p, o->pc, o->target, last, seen);
		for (unsigned i = 0; i < 3; i++) /* the three uppermost bits of the product, the lowest of them first */
			plain_remember(p, (o->target * 0x9e3779b97f4a7c15) >> (61 + i) & 1);
	} else if (o->kind == GUS_BRANCH_RETURN) {
		v.unknown = !p->returns_n;
		v.mispredicted = (p->returns_n ? p->returns[--p->returns_n] : last) != o->target;
	}
	if (o->taken && !is_indirect && o->kind != GUS_BRANCH_RETURN)
		v.late = last != o->target && !v.mispredicted;
	if (o->taken || is_indirect) {
		p->last[branch].target = o->target;
		p->last[branch].seen = true;
	}
	if (o->kind == GUS_BRANCH_CALL || o->kind == GUS_BRANCH_CALL_INDIRECT) {
		if (p->returns_n == p->depth)
			memmove(p->returns, p->returns + 1, --p->returns_n * sizeof(*p->returns));
		p->returns[p->returns_n++] = o->next;
	}
	if (++p->branches % (1 << 18) == 0) {
		plain_forget(&p->direction);
		plain_forget(&p->target);
	}
	v.unknown &= v.mispredicted;
	return v;
}

/* Few branches and small tables, so that entries are fought for: some go by what came before, some by chance, some
 * each time alike. They come by chance, or twelve in turn, of which every `turns` times another one takes the place. */
static struct gus_branch_outcome next_outcome(uint64_t *x, uint64_t i, unsigned turns, unsigned *branch,
	const struct plain *p)
{
	enum { turns_most = 1024 };
	static const enum gus_branch_kind kinds[] = { GUS_BRANCH_CONDITIONAL, GUS_BRANCH_CONDITIONAL,
		GUS_BRANCH_CONDITIONAL,
		GUS_BRANCH_INDIRECT, GUS_BRANCH_CONDITIONAL, GUS_BRANCH_CALL, GUS_BRANCH_CALL_INDIRECT,
		GUS_BRANCH_RETURN,
		GUS_BRANCH_JUMP };
	uint64_t any = rnd(x);
	struct gus_branch_outcome o = { .taken = true };

	*branch = (unsigned)(turns && any % turns ? i * 7 % 12 : any / turns_most % 40);
	o.kind = kinds[*branch % (sizeof(kinds) / sizeof(*kinds))];
	o.pc = 0x1000 + 24 * *branch;
	o.next = o.pc + 5;
	o.target = 0x4000 + (*branch % 3 ? 0x40 * (p->bits[1] + 2u * p->bits[4] + (any >> 20) % 8 / 7) : 0);
	if (o.kind == GUS_BRANCH_RETURN && p->returns_n && any >> 30 & 7)
		o.target = p->returns[p->returns_n - 1];
	if (o.kind == GUS_BRANCH_CONDITIONAL)
		o.taken = *branch % 4 == 0 ? any >> 40 & 1 : *branch % 4 == 1 ? p->bits[0] ^ p->bits[3] :
			*branch % 4 == 2 ? i / 5000 % 2 :
			p->bits[2];
	return o;
}

static void same_verdict(const char *way, size_t k, uint64_t i, struct gus_branch_verdict said,
			 struct gus_branch_verdict should)
{
	if (said.mispredicted != should.mispredicted || said.unknown != should.unknown || said.late != should.late)
		fail_msg("%s, case %zu, branch %lu: %d %d %d, not %d %d %d", way, k, (unsigned long)i,
			 said.mispredicted, said.unknown, said.late, should.mispredicted, should.unknown, should.late);
}

/* With AVX2, where the processor has it, and without. */
static void test_plain(void **state)
{
	static const struct { struct gus_branch_tagged direction, target; uint32_t base_bits, depth, branches,
		turns; } cases[] = {
		/* More than twice what usefulness is halved after. */
		{ { 4, 4, 5, 2, 24 }, { 3, 3, 4, 2, 12 }, 3, 4, 600000, 60 },
		{ { 1, 5, 7, 6, 6 }, { 1, 4, 2, 1, 1 }, 5, 1, 30000, 20 },
		{ { 16, 3, 15, 1, 300 }, { 5, 2, 3, 3, 40 }, 0, 7, 30000, 0 },
		{ { 2, 6, 7, 9, 17 }, { 16, 1, 8, 1, 64 }, 6, 64, 30000, 500 },
		{ { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 }, 4, 16, 30000, 0 },
		{ { 7, 2, 3, 1, 30 }, { 4, 5, 4, 4, 64 }, 2, 16, 60000, 300 },
		{ { 3, 5, 6, 2, 12 }, { 4, 6, 8, 2, 20 }, 2, 16, 60000, 1000 },
		/* the longest history that is held in one piece, and one that is longer */
		{ { 6, 5, 7, 3, 256 }, { 2, 4, 5, 250, 256 }, 4, 16, 30000, 40 },
		{ { 6, 5, 7, 3, 257 }, { 2, 4, 5, 250, 257 }, 4, 16, 30000, 40 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_branch_config config = { .base_bits = cases[k].base_bits, .direction = cases[k].direction,
			.target = cases[k].target, .btb_entries = 64, .btb_ways = 64, .return_depth = cases[k].depth };
		struct gus_branch_predictor *wide = predictor(&config), *narrow;
		static struct plain plain;
		uint64_t x = 88172645463325252 + k;

		config.narrow = true;
		narrow = predictor(&config);
		memset(&plain, 0, sizeof(plain));
		plain.direction.size = cases[k].direction;
		plain.target.size = cases[k].target;
		plain.base_bits = cases[k].base_bits;
		plain.depth = cases[k].depth;
		plain.random = 0x2545f4914f6cdd1d;
		for (unsigned i = 0; i < 64; i++)
			plain.base[i].counter = 1;
		for (uint64_t i = 0; i < cases[k].branches; i++) {
			unsigned branch;
			struct gus_branch_outcome o = next_outcome(&x, i, cases[k].turns, &branch, &plain);
			struct gus_branch_verdict should = plain_run(&plain, &o, branch);

			same_verdict("wide", k, i, gus_branch_run(wide, &o), should);
			same_verdict("narrow", k, i, gus_branch_run(narrow, &o), should);
		}
		gus_branch_free(wide);
		gus_branch_free(narrow);
	}
}

/* The sizes of traced runs, and those at which eight tables in a vector are full, one too many, or half of two; with
 * histories as long as they may be, so that the ring that holds them turns many times. 300 branches come by chance
 * (by a fixed sequence), and most go by what came before, so that they fight for entries. */
static void test_wide_is_narrow(void **state)
{
	static const struct { struct gus_branch_tagged direction, target; uint32_t target_path; } cases[] = {
		{ { 8, 10, 11, 4, 256 }, { 5, 9, 11, 4, 64 }, 0 }, { { 8, 10, 11, 4, 256 }, { 5, 9, 11, 4, 64 }, 3 },
		{ { 9, 6, 8, 2, GUS_BRANCH_HISTORY_MAX }, { 12, 5, 15, 3, GUS_BRANCH_HISTORY_MAX }, 0 },
		{ { 16, 7, 12, 1, 1000 }, { 7, 8, 2, 5, 40 }, 8 }, { { 1, 4, 6, 31, 31 }, { 2, 20, 9, 32, 64 }, 0 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_branch_config config = { .base_bits = 8, .direction = cases[k].direction,
			.target = cases[k].target, .btb_entries = 256, .btb_ways = 4, .return_depth = 16,
			.target_path = cases[k].target_path };
		struct gus_branch_predictor *wide = predictor(&config), *narrow;
		uint64_t x = 88172645463325252 + k, before = 0;

		config.narrow = true;
		narrow = predictor(&config);
		for (uint64_t i = 0; i < 60000; i++) {
			uint64_t any = rnd(&x), branch = any % 300;
			struct gus_branch_outcome o = { .pc = 0x1000 + 12 * branch, .taken = true,
				.kind = branch % 5 ? GUS_BRANCH_CONDITIONAL : GUS_BRANCH_INDIRECT };

			o.next = o.pc + 5;
			o.target = 0x4000 + 0x40 * (before % 8);
			if (o.kind == GUS_BRANCH_CONDITIONAL)
				o.taken = branch % 3 ? before >> branch % 7 & 1 : any >> 20 & 1;
			before = before << 1 | o.taken;
			same_verdict("narrow", k, i, gus_branch_run(narrow, &o), gus_branch_run(wide, &o));
		}
		assert_memory_equal(gus_branch_totals(wide), gus_branch_totals(narrow),
				    GUS_BRANCH_KINDS * sizeof(struct gus_branch_counts));
		gus_branch_free(wide);
		gus_branch_free(narrow);
	}
}

/* The same branches, the same verdicts. */
static void test_deterministic(void **state)
{
	struct gus_branch_config config;
	struct gus_branch_predictor *a, *b;
	struct stream s = { .x = 5 };

	(void)state;
	gus_branch_config_default(&config);
	a = predictor(&config);
	b = predictor(&config);
	for (; s.i < 20000; s.i++) {
		struct one one = correlated(&s);
		struct gus_branch_outcome o = { .pc = one.pc, .next = one.pc + 2, .target = 0x9000,
			.taken = one.taken };

		assert_int_equal(gus_branch_run(a, &o).mispredicted, gus_branch_run(b, &o).mispredicted);
	}
	gus_branch_free(a);
	gus_branch_free(b);
}

/* A jump that goes to two places in turn: with one table of histories, as with five, none goes wrong once learnt; with
 * none all do, as the last target is always the other one. */
static void test_one_table_of_targets(void **state)
{
	static const struct { uint32_t tables; unsigned mispredicted; } cases[] = { { 0, 1000 }, { 1, 0 }, { 5, 0 } };

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;

		gus_branch_config_default(&config);
		config.target.tables = cases[k].tables;
		p = predictor(&config);
		for (unsigned i = 0; i < 1500; i++) {
			if (i == 500)
				gus_branch_count_anew(p);
			gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x1000, .next = 0x1002, .taken = true,
				       .target = i % 2 ? 0x5000 : 0x6000, .kind = GUS_BRANCH_INDIRECT });
		}
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_INDIRECT].mispredicted, cases[k].mispredicted);
		gus_branch_free(p);
	}
}

/* Mispredictions of phases of 40 executions each, with that many of what was executed not learnt yet. */
static unsigned late_phases(uint32_t late, enum gus_branch_kind kind, uint32_t tables)
{
	struct gus_branch_config config;
	struct gus_branch_predictor *p;
	unsigned n;

	gus_branch_config_default(&config);
	config.direction.tables = config.target.tables = tables;
	config.train_late = late;
	p = predictor(&config);
	for (unsigned i = 0; i < 40 * 102; i++) {
		bool first = i / 40 % 2;
		struct gus_branch_outcome o = { .pc = 0x1000, .next = 0x1002, .target = first ? 0x5000 : 0x6000,
			.kind = kind, .taken = first || kind != GUS_BRANCH_CONDITIONAL };

		if (i == 80)
			gus_branch_count_anew(p);
		gus_branch_run(p, &o);
	}
	n = (unsigned)gus_branch_totals(p)[kind].mispredicted;
	gus_branch_free(p);
	return n;
}

/* A counter of two bits needs two to change its mind, a last target one; and where these are late as many more. */
static void test_late_lessons(void **state)
{
	static const uint32_t late[] = { 0, 1, 8, 30 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(late_phases(late[i], GUS_BRANCH_CONDITIONAL, 0), 100 * (2 + late[i]));
		assert_int_equal(late_phases(late[i], GUS_BRANCH_INDIRECT, 0), 100 * (1 + late[i]));
		assert_int_equal(late_phases(late[i], GUS_BRANCH_CALL, 0), 0);
	}
	/* Histories tell the end of a phase where there are tables of them, late as well. */
	assert_true(late_phases(0, GUS_BRANCH_CONDITIONAL, 8) < 100);
	assert_true(late_phases(8, GUS_BRANCH_CONDITIONAL, 8) < 400);
	assert_true(late_phases(8, GUS_BRANCH_INDIRECT, 5) < 400);
}

static void test_refused(void **state)
{
	struct gus_branch_config c[6];
	static const char *const says[6] = { "directions", "targets", "buffer", "return", "path", "teach" };
	struct gus_error err;

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		gus_branch_config_default(&c[i]);
	c[0].direction.tables = GUS_BRANCH_TABLES_MAX + 1;
	c[1].target.history_max = GUS_BRANCH_HISTORY_MAX + 1;
	c[2].btb_ways = 0;
	c[3].return_depth = 0;
	c[4].target_path = GUS_BRANCH_PATH_MAX + 1;
	c[5].train_late = GUS_BRANCH_LATE_MAX + 1;
	for (unsigned i = 0; i < 6; i++) {
		memset(&err, 0, sizeof(err));
		assert_null(gus_branch_new(&c[i], &err));
		assert_int_equal(err.code, GUS_E_USAGE);
		assert_non_null(strstr(err.text, says[i]));
	}
}

/* The sizes that the header states. */
static void test_default(void **state)
{
	struct gus_branch_config c;

	(void)state;
	gus_branch_config_default(&c);
	assert_int_equal(c.base_bits, 13);
	assert_memory_equal(&c.direction, (&(struct gus_branch_tagged){ 8, 10, 11, 4, 256 }), sizeof(c.direction));
	assert_memory_equal(&c.target, (&(struct gus_branch_tagged){ 5, 9, 11, 4, 64 }), sizeof(c.target));
	assert_true(c.btb_entries == 4096 && c.btb_ways == 4 && c.return_depth == 16);
}

/* Each size at both of its ends, and one beyond. */
static void test_bounds(void **state)
{
	static const struct { struct gus_branch_tagged t; uint32_t base_bits, return_depth; bool made; } cases[] = {
		{ { 16, 1, 2, 1, 1 }, 1, 1, true }, { { 17, 1, 2, 1, 1 }, 1, 1, false },
		{ { 1, 20, 15, 2048, 2048 }, 24, 4096, true },
		{ { 1, 21, 15, 2048, 2048 }, 1, 1, false }, { { 1, 0, 2, 1, 1 }, 1, 1, false },
		{ { 1, 1, 16, 1, 1 }, 1, 1, false }, { { 1, 1, 1, 1, 1 }, 1, 1, false },
		{ { 1, 1, 2, 0, 1 }, 1, 1, false }, { { 1, 1, 2, 3, 2 }, 1, 1, false },
		{ { 1, 1, 2, 1, 2049 }, 1, 1, false },
		{ { 0, 0, 0, 0, 0 }, 0, 1, true }, { { 0, 0, 0, 0, 0 }, 25, 1, false },
		{ { 0, 0, 0, 0, 0 }, 0, 0, false }, { { 0, 0, 0, 0, 0 }, 0, 4097, false },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct gus_branch_config c = { .base_bits = cases[i / 2].base_bits,
			.return_depth = cases[i / 2].return_depth,
			.btb_entries = 4, .btb_ways = 4 };
		struct gus_branch_predictor *p;
		struct gus_error err = { 0 };

		*(i % 2 ? &c.target : &c.direction) = cases[i / 2].t;
		p = gus_branch_new(&c, &err);
		if ((p != NULL) != cases[i / 2].made)
			fail_msg("case %zu of %s: %s", i / 2, i % 2 ? "targets" : "directions", p ? "made" : err.text);
		gus_branch_free(p);
	}
	gus_branch_free(NULL);
}

/* Of each kind what was executed, taken, mispredicted, unknown and late; and nothing after counting begins anew,
 * while what was learnt stays: five jumps are late once, a branch that is taken is mispredicted until its counter of
 * two bits is there. */
static void test_counts(void **state)
{
	struct gus_branch_config config;
	struct gus_branch_predictor *p;
	struct gus_branch_outcome o = { .pc = 0x1000, .next = 0x1002, .target = 0x2000, .kind = GUS_BRANCH_CONDITIONAL,
		.taken = true };
	const struct gus_branch_counts *n;

	(void)state;
	gus_branch_config_default(&config);
	p = predictor(&config);
	n = gus_branch_totals(p);
	for (int i = 0; i < 5; i++)
		gus_branch_run(p, &o);
	o.taken = false;
	gus_branch_run(p, &o);
	o = (struct gus_branch_outcome){ .pc = 0x3000, .next = 0x3005, .target = 0x4000, .kind = GUS_BRANCH_JUMP,
		.taken = true };
	for (int i = 0; i < 5; i++)
		gus_branch_run(p, &o);
	assert_memory_equal(&n[GUS_BRANCH_CONDITIONAL], (&(struct gus_branch_counts){ 6, 5, 2, 1, 0 }), sizeof(*n));
	assert_memory_equal(&n[GUS_BRANCH_JUMP], (&(struct gus_branch_counts){ 5, 5, 0, 0, 1 }), sizeof(*n));
	gus_branch_count_anew(p);
	gus_branch_run(p, &o);
	assert_memory_equal(&n[GUS_BRANCH_JUMP], (&(struct gus_branch_counts){ 1, 1, 0, 0, 0 }), sizeof(*n));
	assert_int_equal(n[GUS_BRANCH_CONDITIONAL].executed, 0);
	gus_branch_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directions), cmocka_unit_test(test_targets), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_histories), cmocka_unit_test(test_history), cmocka_unit_test(test_quick),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_buffer), cmocka_unit_test(test_cold), cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_plain), cmocka_unit_test(test_wide_is_narrow),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_bounds), cmocka_unit_test(test_counts), cmocka_unit_test(test_late_lessons),
		cmocka_unit_test(test_one_table_of_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
