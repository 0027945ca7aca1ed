/* SPDX-License-Identifier: MIT */
/* attribution/traced/stretches without an engine: the times of blocks are made here, so what the whole takes is known
 * exactly, and the estimate and its error are held against it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "attribution/traced/stretches.h"

enum { OPS = 16, STRETCH = 16384, EARLY = 64 };

/* A run: blocks of OPS ops, of which some are timed; lane 1 is twice as fast in region 0, and as fast elsewhere. */
struct run {
	struct gus_stretches *s;
	double true_cycles, region[2][GUS_STRETCHES_LANES];
	uint64_t executed, timed, warmed, ran;
	uint64_t longest, gap;          /* ops that were left out in a row */
};

static void end_stretch(struct run *r)
{
	for (size_t i = 0; i < r->s->touched.n; i++)
		gus_stretches_region(r->s, r->s->touched.v[i], r->region[r->s->touched.v[i]]);
	gus_stretches_next(r->s);
}

static void execute(struct run *r, uint32_t block, unsigned which, uint32_t region, double cycles)
{
	enum gus_stretch now = r->s->now;

	r->true_cycles += cycles;
	r->executed++;
	r->ran += OPS;
	r->gap = now == GUS_STRETCH_SKIPPED ? r->gap + OPS : 0;
	r->longest = r->gap > r->longest ? r->gap : r->longest;
	r->warmed += now == GUS_STRETCH_WARMING;
	gus_stretches_execute(r->s, block, which, OPS);
	if (now == GUS_STRETCH_TIMED) {
		r->timed++;
		gus_stretches_time(r->s, block, which, region, cycles);
		gus_stretches_time_op(r->s, block, cycles);
		for (unsigned lane = 0; lane < GUS_STRETCHES_LANES; lane++)
			r->region[region][lane] += lane == 1 && region == 0 ? cycles / 2 : cycles;
	}
	if (gus_stretches_ran(r->s, OPS))
		end_stretch(r);
}

static struct run begin(void)
{
	return (struct run){ .s = gus_stretches_new() };
}

/* What is shorter than the first stretches is timed from its first op to its last. */
static void short_runs_are_whole(void **state)
{
	struct run r = begin();

	(void)state;
	while (r.ran < EARLY * STRETCH)
		execute(&r, 0, 0, 0, 4);
	assert_false(gus_stretches_sampled(r.s));
	assert_int_equal(r.timed, r.executed);
	while (r.ran < (EARLY + 2) * STRETCH)
		execute(&r, 0, 0, 0, 4);
	assert_true(gus_stretches_sampled(r.s));
	gus_stretches_free(r.s);
}

/* What takes the same each time is known exactly, with few stretches and no error; before each stretch behind a gap
 * the engine is warmed for at least 1,024 ops, and no gap is longer than two turns of 32. */
static void what_is_alike_needs_little(void **state)
{
	double cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES], all;
	struct run r = begin();

	(void)state;
	while (r.ran < 8000 * (uint64_t)STRETCH)
		execute(&r, 0, 0, 0, 4);
	assert_true(r.timed * 12 < r.executed && r.timed * 20 > r.executed);
	assert_true(r.warmed * OPS >= 1024 * (r.s->stretches - 2 * EARLY));
	assert_true(r.longest > STRETCH * 16 && r.longest < STRETCH * 64);
	all = gus_stretches_block(r.s, 0, 0);
	assert_true(fabs(all / r.true_cycles - 1) < 1e-9);
	gus_stretches_lanes(r.s, 0, all, cycles, errors);
	assert_true(fabs(cycles[0] - all) < 1e-6 && fabs(cycles[1] / all - 0.5) < 1e-9);
	assert_true(fabs(cycles[2] - all) < 1e-6);
	for (unsigned lane = 0; lane < GUS_STRETCHES_LANES; lane++)
		assert_true(errors[lane] < 1e-6 * all);
	assert_true(fabs(gus_stretches_times(r.s, 0) - (double)r.executed / (double)r.timed) < 1e-9);
	gus_stretches_free(r.s);
}

/* Mispredictions become three times as frequent half-way: the case of each execution is known also where it is not
 * timed, so the estimate does not depend on which stretches were. */
static void cases_are_told_apart(void **state)
{
	struct run r = begin();

	(void)state;
	for (uint64_t i = 0; r.ran < 3000 * (uint64_t)STRETCH; i++) {
		bool missed = i % (r.ran < 1500 * (uint64_t)STRETCH ? 30 : 10) == 0;

		execute(&r, 0, missed, 0, missed ? 24 : 4);
	}
	assert_true(r.timed * 8 < r.executed);
	assert_true(fabs(gus_stretches_block(r.s, 0, 0) / r.true_cycles - 1) < 1e-9);
	gus_stretches_free(r.s);
}

/* A block that is executed a few times in each stretch, among another, and becomes cheaper all the time, as code does
 * while caches fill: what waits is as dear as what is timed around it, not as what was at the beginning. */
static void what_becomes_cheaper(void **state)
{
	enum { STRETCHES = 2000, OFTEN = 64 };
	struct run r = begin();
	double truth = 0;

	(void)state;
	for (uint64_t i = 0; r.ran < (uint64_t)STRETCHES * STRETCH; i++) {
		double pace = 4 + 60 * exp(-(double)r.ran / (200.0 * STRETCH));

		truth += i % OFTEN ? 0 : pace;
		execute(&r, i % OFTEN ? 0 : 1, 0, 0, i % OFTEN ? 4 : pace);
	}
	assert_true(r.timed * 2 < r.executed);
	assert_true(fabs(gus_stretches_block(r.s, 1, 0) / truth - 1) < 0.01);
	gus_stretches_free(r.s);
}

/* Spans end with the stretch that has their 32nd timing. What waits in one takes the mean of its timings and of those
 * of the span before, and what waits at the end, too: 40 of 4 cycles; 100 wait; 40 of 8; 10 wait; 10 of 16. The same of
 * a second block, which takes three times as long. */
static void spans_by_arithmetic(void **state)
{
	struct gus_stretches *s = gus_stretches_new();
	const struct { unsigned waiting, timed; double cycles; } spans[] = {
		{ 0, 40, 4 }, { 100, 40, 8 }, { 10, 10, 16 }
	};
	const double all = 40 * 4 + 100 * 6 + 40 * 8 + 10 * 9.6 + 10 * 16;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		double cycles[GUS_STRETCHES_LANES] = { 0 };

		for (uint32_t block = 0; block < 2; block++) {
			for (unsigned k = 0; k < spans[i].waiting; k++)
				gus_stretches_execute(s, block, 0, OPS);
			for (unsigned k = 0; k < spans[i].timed; k++) {
				gus_stretches_execute(s, block, 0, OPS);
				gus_stretches_time(s, block, 0, 0, (1 + 2 * block) * spans[i].cycles);
			}
		}
		gus_stretches_region(s, 0, cycles);
		gus_stretches_next(s);
	}
	for (uint32_t block = 0; block < 2; block++) {
		assert_true(fabs(gus_stretches_block(s, block, 0) - (1 + 2 * block) * all) < 1e-9);
		assert_true(fabs(gus_stretches_times(s, block) - 200.0 / 90) < 1e-12);
	}
	gus_stretches_free(s);
}

/* Three stretches with one timing each, of 4, 8 and 6 cycles, before which 0, 3 and 2 executions wait; lane 1 takes 2,
 * 4 and 6. What waits takes the mean of what was timed by then, 6 in both gaps, so the stretches stand for 4, 8 + 18
 * and 6 + 12 cycles: weights of 1, 3.25 and 3. Their means before them said 4 (its own), 4 and 6, so 0, 4 and 0 are
 * off; and of 48 cycles 18 were timed. */
static void errors_by_arithmetic(void **state)
{
	static const struct { unsigned waiting; double cycles, lane, weight; } stretches[] = {
		{ 0, 4, 2, 1 }, { 3, 8, 4, 3.25 }, { 2, 6, 6, 3 },
	};
	static const uint32_t regions[] = { 5, GUS_STRETCHES_WHOLE };
	const double left_out = sqrt(1 - 18 / 48.), ratio = (1 * 2 + 3.25 * 4 + 3 * 6) / 48;
	double now[GUS_STRETCHES_LANES] = { 0 }, cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES], sum = 0;
	struct gus_stretches *s = gus_stretches_new();

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		double apart = stretches[i].weight * (stretches[i].lane - ratio * stretches[i].cycles);

		for (unsigned k = 0; k <= stretches[i].waiting; k++)
			gus_stretches_execute(s, 0, 0, OPS);
		gus_stretches_time(s, 0, 0, 5, stretches[i].cycles);
		now[0] += stretches[i].cycles;
		now[1] += stretches[i].lane;
		gus_stretches_region(s, 5, now);
		gus_stretches_next(s);
		sum += apart * apart;
	}
	assert_true(fabs(gus_stretches_block(s, 0, 0) - 48) < 1e-9);
	for (unsigned i = 0; i < 2; i++) {
		gus_stretches_lanes(s, regions[i], 48, cycles, errors);
		assert_true(fabs(cycles[0] - 48) < 1e-9 && fabs(errors[0] - 3.25 * 4 * left_out) < 1e-9);
		assert_true(fabs(cycles[1] - 48 * ratio) < 1e-9);
		assert_true(fabs(errors[1] - sqrt(sum) / 48 / (ratio * ratio) * left_out) < 1e-9);
		gus_stretches_lanes(s, regions[i], 18, cycles, errors); /* all was timed */
		assert_true(fabs(errors[0]) < 1e-9 && fabs(errors[1]) < 1e-9);
	}
	gus_stretches_free(s);
}

/* Code that comes late, and briefly, is timed although its turn is far away. */
static void what_is_new_is_timed(void **state)
{
	struct run r = begin();
	uint64_t before;

	(void)state;
	while (r.ran < 4000 * (uint64_t)STRETCH)
		execute(&r, 0, 0, 0, 4);
	before = r.timed;
	for (unsigned i = 0; i < 10 * STRETCH / OPS; i++)
		execute(&r, 1, 0, 1, 7);
	assert_true(r.timed - before > 7 * STRETCH / OPS);
	assert_true(fabs(gus_stretches_block(r.s, 1, 0) - 7.0 * 10 * STRETCH / OPS) < 1e-6);
	gus_stretches_free(r.s);
}

/* Stretches that differ by chance: the interval that is told holds the truth in most of forty runs, is no wider than
 * three times what they are off, and a region that varies more has more of it timed. */
static void errors_are_told(void **state)
{
	uint64_t random = UINT64_C(88172645463325252), timed[2] = { 0 };
	double off = 0, told = 0;
	unsigned held = 0;

	(void)state;
	for (unsigned n = 0; n < 40; n++) {
		double cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES], all, pace = 4;
		struct run r = begin();

		while (r.ran < 1500 * (uint64_t)STRETCH) {
			if (r.ran % STRETCH == 0) {
				random ^= random << 13, random ^= random >> 7, random ^= random << 17;
				pace = 4 + (n % 2 ? 3 : 0.3) * (double)(random >> 40) / (1 << 24);
			}
			execute(&r, 0, 0, 0, pace);
		}
		all = gus_stretches_block(r.s, 0, 0);
		gus_stretches_lanes(r.s, 0, all, cycles, errors);
		held += fabs(all - r.true_cycles) <= 1.96 * errors[0];
		off += fabs(all - r.true_cycles) / r.true_cycles;
		told += 1.96 * errors[0] / r.true_cycles;
		assert_true(fabs(all / r.true_cycles - 1) < 0.01);
		timed[n % 2] += r.timed;
		gus_stretches_free(r.s);
	}
	assert_in_range(held, 34, 40);
	assert_true(told > off && told < 6 * off);
	assert_true(timed[1] > timed[0]);
}

/* Two regions in turns, of which the knob of lane 1 helps the first alone: the whole is between them; a region that was
 * never timed is as the whole. */
static void lanes_are_by_region(void **state)
{
	double cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES];
	struct run r = begin();

	(void)state;
	while (r.ran < 500 * (uint64_t)STRETCH) {
		execute(&r, 0, 0, 0, 4);
		execute(&r, 1, 0, 1, 12);
	}
	gus_stretches_lanes(r.s, 1, 1000, cycles, errors);
	assert_true(fabs(cycles[1] - 1000) < 1e-6);
	gus_stretches_lanes(r.s, GUS_STRETCHES_WHOLE, 1000, cycles, errors);
	assert_true(fabs(cycles[0] - 1000) < 1e-6 && fabs(cycles[1] - 875) < 1e-6);
	gus_stretches_lanes(r.s, 7, 1000, cycles, errors);
	assert_true(fabs(cycles[1] - 875) < 1e-6);
	gus_stretches_free(r.s);
}

/* A region takes the same each time. In the first run the knob of lane 1 always gains as much, in the second one not in
 * every third stretch: of that one much more is timed. */
static void unknown_gains_are_timed(void **state)
{
	uint64_t timed[2];

	(void)state;
	for (unsigned n = 0; n < 2; n++) {
		struct run r = begin();

		while (r.ran < 2000 * (uint64_t)STRETCH) {
			bool gains = !n || r.ran / STRETCH % 3;

			r.region[0][1] += !gains && r.s->now == GUS_STRETCH_TIMED ? 2 : 0;
			execute(&r, 0, 0, 0, 4);
		}
		timed[n] = r.timed;
		gus_stretches_free(r.s);
	}
	assert_true(timed[1] > 2 * timed[0]);
}

/* Before anything was timed each lane takes what the nominal one does, as far as anyone knows. */
static void what_nobody_timed(void **state)
{
	double cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES];
	struct gus_stretches *s = gus_stretches_new();

	(void)state;
	gus_stretches_lanes(s, GUS_STRETCHES_WHOLE, 100, cycles, errors);
	for (unsigned lane = 0; lane < GUS_STRETCHES_LANES; lane++)
		assert_true(fabs(cycles[lane] - 100) < 1e-9 && fabs(errors[lane]) < 1e-9);
	gus_stretches_free(s);
}

/* Where a block was never timed it takes what is usual; of one that was never executed there is nothing. */
static void what_was_never_timed(void **state)
{
	struct run r = begin();

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		execute(&r, 9, i == 3, 0, i == 3 ? 24 : 4);
	while (r.s->now != GUS_STRETCH_SKIPPED)
		execute(&r, 0, 0, 0, 4);
	assert_true(fabs(gus_stretches_block(r.s, 9, 11) - 36) < 1e-9);
	gus_stretches_execute(r.s, 9, 3, 4); /* as the mean of its other cases */
	assert_true(fabs(gus_stretches_block(r.s, 9, 11) - 45) < 1e-9);
	gus_stretches_execute(r.s, 5, 3, 4);
	assert_true(fabs(gus_stretches_block(r.s, 5, 11) - 11) < 1e-9);
	assert_true(fabs(gus_stretches_block(r.s, 4, 11)) < 1e-9);
	assert_true(fabs(gus_stretches_block(r.s, 500, 11)) < 1e-9);
	assert_true(fabs(gus_stretches_times(r.s, 5)) < 1e-9);
	assert_true(fabs(gus_stretches_op(r.s, 0) - gus_stretches_op(r.s, 0)) < 1e-9);
	assert_true(gus_stretches_op(r.s, 0) > 0 && !(gus_stretches_op(r.s, 7) > 0));
	gus_stretches_free(r.s);
	gus_stretches_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_runs_are_whole),
		cmocka_unit_test(what_is_alike_needs_little),
		cmocka_unit_test(cases_are_told_apart),
		cmocka_unit_test(what_becomes_cheaper),
		cmocka_unit_test(spans_by_arithmetic),
		cmocka_unit_test(errors_by_arithmetic),
		cmocka_unit_test(what_nobody_timed),
		cmocka_unit_test(what_is_new_is_timed),
		cmocka_unit_test(errors_are_told),
		cmocka_unit_test(lanes_are_by_region),
		cmocka_unit_test(unknown_gains_are_timed),
		cmocka_unit_test(what_was_never_timed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
