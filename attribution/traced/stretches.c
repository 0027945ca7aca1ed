/* SPDX-License-Identifier: MIT */
#include "attribution/traced/stretches.h"
#include "model/machine/steps.h"

#include <math.h>
#include <stdlib.h>

enum {
	STRETCH = 8 * GUS_OP_STEPS,
	WARMING = GUS_OP_STEPS / 2, /* at least, in whole chunks: twice the largest reorder buffer of the tables */
	HUNGRY = GUS_OP_STEPS / 8,
	VISITS = 32,                    /* stretches of a region that are too few to know it by */
	REGULAR = 64,                   /* stretches that are timed before there are fewer of them */
};

/* Half of the 95 % interval of a region's time, and of each speedup, is to be less than that share of it, or, of
 * regions that hardly matter, of as much of the whole. */
static const double CLOSE = 0.007, MATTERS = 0.003;

struct gus_stretches *gus_stretches_new(void)
{
	struct gus_stretches *s = gus_zalloc(sizeof(*s));

	s->now = GUS_STRETCH_TIMED;
	s->left = STRETCH;
	s->random = UINT64_C(0x2545f4914f6cdd1d);
	return s;
}

void gus_stretches_free(struct gus_stretches *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->regions.n; i++)
		free(s->regions.v[i]);
	gus_vec_free(&s->regions);
	gus_vec_free(&s->numbers);
	gus_vec_free(&s->blocks);
	gus_vec_free(&s->cases);
	gus_vec_free(&s->enough);
	gus_vec_free(&s->op_cycles);
	gus_vec_free(&s->touched);
	gus_vec_free(&s->blocks_touched);
	free(s);
}

struct gus_stretch_block *gus_stretches_add(struct gus_stretches *s, uint32_t block)
{
	while (s->numbers.n <= block)
		gus_vec_push(&s->numbers, 0);
	gus_vec_push(&s->blocks, (struct gus_stretch_block){ 0 });
	gus_vec_push(&s->cases, (struct gus_stretch_cases){ .of = { { 0 } } });
	s->numbers.v[block] = (uint32_t)s->blocks.n;
	return &s->blocks.v[s->blocks.n - 1];
}

/* Turns. */

static uint32_t next_random(struct gus_stretches *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (uint32_t)(s->random >> 32);
}

/* Stretches in a turn, of which one is timed: twice as many whenever 64 more have been. Errors shrink with the root of
 * what was timed, so a long run needs no larger share of itself. */
static uint32_t turn_of(const struct gus_stretches *s)
{
	enum { MOST = 5 };
	uint64_t doubled = s->regular / REGULAR;

	return UINT32_C(1) << (doubled < MOST ? doubled : MOST);
}

/* From one timed stretch to the next in turn: the rest of its turn, and what of the next turn is before its own. */
static void begin_turn(struct gus_stretches *s)
{
	uint32_t turn = turn_of(s), before = next_random(s) % turn;

	s->rest = (int64_t)(s->after + before) * STRETCH;
	s->after = turn - 1 - before;
}

static void begin_gap(struct gus_stretches *s)
{
	s->now = s->rest > 0 ? GUS_STRETCH_SKIPPED : GUS_STRETCH_TIMED;
	s->left = s->rest > 0 ? s->rest : STRETCH;
	s->rest = 0;
}

/* The variance of a ratio r = sum y / sum x is that of y - r x. */
static double error_of_ratio(const struct gus_stretch_region *r, unsigned lane, double ratio)
{
	double sum = r->squares[lane] - 2 * ratio * r->products[lane] + ratio * ratio * r->squares[0];

	return sum > 0 ? sqrt(sum) / r->weighted[0] : 0;
}

/* How far the speedup of a lane may be off. */
static double error_of_speedup(const struct gus_stretch_region *r, unsigned lane)
{
	double ratio = r->weighted[0] > 0 ? r->weighted[lane] / r->weighted[0] : 1;

	return ratio > 0 ? error_of_ratio(r, lane, ratio) / (ratio * ratio) : 0;
}

static bool is_enough_of_lanes(const struct gus_stretch_region *r, double most)
{
	for (unsigned lane = 1; lane < GUS_STRETCHES_LANES; lane++)
		if (1.96 * error_of_speedup(r, lane) >= most)
			return false;
	return true;
}

/* By all of its stretches, as if they were a few of many. */
static bool is_enough(const struct gus_stretches *s, const struct gus_stretch_region *r)
{
	const double least = MATTERS * s->whole.timed, more = r->timed > least ? 1 : least / r->timed;

	return r->visits >= VISITS && 1.96 * sqrt(r->off) < CLOSE * more * r->timed &&
		is_enough_of_lanes(r, CLOSE * more);
}

static void add_up(struct gus_stretch_region *r)
{
	double weight = r->cycles > 0 ? 1 + r->stands / r->cycles : 1, squared = weight * weight;
	double off = r->cycles - r->expected, nominal = r->now[0] - r->before[0];

	r->variance += squared * off * off;
	r->off += off * off;
	r->timed += r->cycles;
	r->visits++;
	for (unsigned lane = 0; lane < GUS_STRETCHES_LANES; lane++) {
		double cycles = r->now[lane] - r->before[lane];

		r->weighted[lane] += weight * cycles;
		r->squares[lane] += squared * cycles * cycles;
		r->products[lane] += squared * cycles * nominal;
		r->before[lane] = r->now[lane];
	}
	r->cycles = r->expected = r->stands = 0;
	r->touched = false;
}

/* What waits takes as much as what was timed in its span and in the one before, which are before and behind it: a mean
 * by executions, so that it leans neither to spans with few of them nor to the beginning of the run, which is dear. */
static double local(const struct gus_stretch_timed *timed)
{
	return (timed->now_cycles + timed->last_cycles) / (double)(timed->now + timed->last);
}

/* At the end of a stretch. Returns cycles of what has come to wait since the last one. */
static double settle(struct gus_stretch_cell *cell, struct gus_stretch_timed *timed)
{
	enum { SPAN = 32 };
	double fresh;

	if (!(timed->now + timed->last))
		return 0;
	fresh = (double)(cell->waiting - timed->told) * local(timed);
	timed->told = cell->waiting;
	if (timed->now < SPAN)
		return fresh;
	timed->cycles += timed->now_cycles + (double)cell->waiting * local(timed);
	timed->last = timed->now;
	timed->last_cycles = timed->now_cycles;
	cell->waiting = timed->told = timed->now = 0;
	timed->now_cycles = 0;
	return fresh;
}

static void settle_block(struct gus_stretches *s, uint32_t place)
{
	struct gus_stretch_block *b = &s->blocks.v[place];

	for (unsigned i = 0; i < GUS_STRETCHES_CASES; i++) {
		double cycles = settle(&b->cells[i], &s->cases.v[place].of[i]);

		s->regions.v[b->region]->stands += cycles;
		s->whole.stands += cycles;
	}
	b->touched = false;
}

void gus_stretches_next(struct gus_stretches *s)
{
	for (size_t i = 0; i < s->blocks_touched.n; i++)
		settle_block(s, s->blocks_touched.v[i]);
	s->blocks_touched.n = 0;
	add_up(&s->whole);
	for (size_t i = 0; i < s->touched.n; i++) {
		struct gus_stretch_region *r = s->regions.v[s->touched.v[i]];

		add_up(r);
		s->enough.v[s->touched.v[i]] = is_enough(s, r);
	}
	s->touched.n = 0;
	s->stretches++;
	s->regular += !s->forced;
	if (!s->forced)
		begin_turn(s);
	s->forced = false;
	begin_gap(s);
}

bool gus_stretches_ran(struct gus_stretches *s, uint32_t ops)
{
	s->ops += ops;
	s->timed += s->now == GUS_STRETCH_TIMED ? ops : 0;
	s->left -= ops;
	if (s->now == GUS_STRETCH_SKIPPED && s->hungry >= HUNGRY && s->left > 0) {
		s->forced = true;
		s->rest = s->left;
		s->left = 0;
	}
	if (s->left > 0)
		return false;
	if (s->now == GUS_STRETCH_TIMED) {
		s->hungry = 0;
		return true;
	}
	s->now = s->now == GUS_STRETCH_SKIPPED ? GUS_STRETCH_WARMING : GUS_STRETCH_TIMED;
	s->left = s->now == GUS_STRETCH_WARMING ? WARMING : STRETCH;
	return false;
}

/* Times. */

static struct gus_stretch_region *region_of(struct gus_stretches *s, uint32_t region)
{
	while (s->regions.n <= region) {
		gus_vec_push(&s->regions, NULL);
		gus_vec_push(&s->enough, false);
	}
	if (!s->regions.v[region])
		s->regions.v[region] = gus_zalloc(sizeof(struct gus_stretch_region));
	return s->regions.v[region];
}

void gus_stretches_time(struct gus_stretches *s, uint32_t block, unsigned which, uint32_t region, double cycles)
{
	struct gus_stretch_block *b = gus_stretches_of(s, block);
	const uint32_t place = s->numbers.v[block] - 1;
	struct gus_stretch_cell *cell = &b->cells[which];
	struct gus_stretch_timed *timed = &s->cases.v[place].of[which];
	struct gus_stretch_region *r = region_of(s, region);
	double expected = timed->timed ? cell->mean : cycles;

	if (!b->touched)
		gus_vec_push(&s->blocks_touched, place);
	b->touched = true;
	b->region = region;
	if (!r->touched)
		gus_vec_push(&s->touched, region);
	r->touched = true;
	r->cycles += cycles;
	r->expected += expected;
	s->whole.cycles += cycles;
	s->whole.expected += expected;
	b->timed++;
	timed->timed++;
	cell->mean += (cycles - cell->mean) / (double)timed->timed;
	cell->waiting--;
	timed->now++;
	timed->now_cycles += cycles;
}

void gus_stretches_time_op(struct gus_stretches *s, uint32_t op, double cycles)
{
	while (s->op_cycles.n <= op)
		gus_vec_push(&s->op_cycles, 0);
	s->op_cycles.v[op] += cycles;
}

void gus_stretches_region(struct gus_stretches *s, uint32_t region, const double cycles[GUS_STRETCHES_LANES])
{
	struct gus_stretch_region *r = region_of(s, region);

	for (unsigned lane = 0; lane < GUS_STRETCHES_LANES; lane++) {
		s->whole.now[lane] += cycles[lane] - r->now[lane];
		r->now[lane] = cycles[lane];
	}
}

/* Estimates. */

static const struct gus_stretch_block *found(const struct gus_stretches *s, uint32_t block)
{
	return block < s->numbers.n && s->numbers.v[block] ? &s->blocks.v[s->numbers.v[block] - 1] : NULL;
}

/* Cases that were never timed take what the others of the block do. */
double gus_stretches_block(const struct gus_stretches *s, uint32_t block, double otherwise)
{
	const struct gus_stretch_block *b = found(s, block);
	const struct gus_stretch_timed *of;
	double timed = 0, cycles = 0, all = 0, mean;

	if (!b)
		return 0;
	of = s->cases.v[s->numbers.v[block] - 1].of;
	for (unsigned i = 0; i < GUS_STRETCHES_CASES; i++) {
		timed += (double)of[i].timed;
		cycles += (double)of[i].timed * b->cells[i].mean;
	}
	mean = timed > 0 ? cycles / timed : otherwise;
	for (unsigned i = 0; i < GUS_STRETCHES_CASES; i++)
		all += of[i].cycles + of[i].now_cycles + (double)b->cells[i].waiting *
			(of[i].timed ? local(&of[i]) : mean);
	return all;
}

double gus_stretches_op(const struct gus_stretches *s, uint32_t op)
{
	return op < s->op_cycles.n ? s->op_cycles.v[op] : 0;
}

double gus_stretches_times(const struct gus_stretches *s, uint32_t block)
{
	const struct gus_stretch_block *b = found(s, block);

	return b && b->timed ? (double)b->executed / (double)b->timed : 0;
}

/* What was timed has no error: of the rest, the share that it is (the finite population correction). */
static double left_out(const struct gus_stretch_region *r, double nominal)
{
	return nominal > r->timed ? sqrt(1 - r->timed / nominal) : 0;
}

void gus_stretches_lanes(const struct gus_stretches *s, uint32_t region, double nominal,
			 double cycles[GUS_STRETCHES_LANES], double errors[GUS_STRETCHES_LANES])
{
	const struct gus_stretch_region *r = region < s->regions.n ? s->regions.v[region] : NULL;

	if (!r || !(r->weighted[0] > 0)) /* never timed: as the whole */
		r = &s->whole;
	for (unsigned lane = 0; lane < GUS_STRETCHES_LANES; lane++) {
		double ratio = r->weighted[0] > 0 ? r->weighted[lane] / r->weighted[0] : 1;

		cycles[lane] = nominal * ratio;
		errors[lane] = error_of_speedup(r, lane) * left_out(r, nominal);
	}
	errors[0] = r->weighted[0] > 0 ? sqrt(r->variance) / r->weighted[0] * nominal * left_out(r, nominal) : 0;
}
