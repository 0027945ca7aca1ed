/* SPDX-License-Identifier: MIT */
#include "model/calibration/mispredict.h"

#include <math.h>
#include <stdio.h>

#include "model/calibration/emit.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/replica.h"
#include "model/calibration/round.h"
#include "model/machine/config.h"
#include "model/tables/uarch.h"

enum {
	PAGE = 4096,
	/* Branches of a pattern at random, as a power of two: more than a predictor learns by heart, which of a Zen
	 * 4 are some ten thousand; and passes of a measurement, which goes on where the last one ended: so few that
	 * it is seldom disturbed, and so many that about half of them go wrong. A simulated host is slow. */
	PATTERN_LOG = 17, PASSES_LOG = 14, PATTERN_LOG_SLOW = 13, PASSES_LOG_SLOW = 12,
	/* Multiplications behind the branch, one after the other: longer than any fence takes; those of real CPUs are
	 * shorter than some tables say. */
	BEHIND = 10, BEHIND_SLOW = 24,
	PLACES = 7,             /* nops before the branch that are tried */
};

enum branch_kind { NOT_TAKEN, TAKEN, AT_RANDOM, BRANCH_KINDS = AT_RANDOM + 4 };

/* R0: the byte of the pattern that R1 counts. */
static void put_next_byte(struct gus_micro *m, unsigned log)
{
	gus_emit_mask(m, 1, log);
	gus_emit_address(m, 2, 0);
	gus_emit_add(m, 2, 1);
	gus_emit_load_byte(m, 0, 2, 0, (struct gus_micro_access){ .way = GUS_MICRO_STRIDE, .offset = 1, .stride = 1,
		.wrap = 1u << log });
}

/* A pass with one branch, which knows at once which way it goes, as its byte was loaded in the pass before. Behind
 * it are multiplications one after the other, which one port makes, and nothing of the next pass begins before they
 * are through (lfence): so if the branch goes wrong the pass is later by all of the time from the branch's issue to
 * that of what is behind it. before: nops between the fence and the branch. */
static struct gus_micro *branch_of(const struct gus_calibration *c, enum branch_kind kind, unsigned before)
{
	enum gus_micro_bits bits = kind == NOT_TAKEN ? GUS_MICRO_ZEROS : kind == TAKEN ? GUS_MICRO_ONES :
		GUS_MICRO_RANDOM;
	static const uint8_t lfence[] = { 0x0f, 0xae, 0xe8 };
	bool real = !gus_calibration_host_is_simulated(c->host);
	unsigned log = real ? PATTERN_LOG : PATTERN_LOG_SLOW;
	int32_t index = 1 << log; /* behind the pattern: where the next measurement goes on */
	const struct gus_micro_access next = { .way = GUS_MICRO_FIXED, .offset = index };
	struct gus_micro *m = gus_micro_new(c->host->isa, "branch %u behind %u nops", kind, before);

	m->arena = PAGE + (1u << log);
	m->passes = 1u << (real ? PASSES_LOG : PASSES_LOG_SLOW);
	gus_vec_push(&m->patterns, (struct gus_micro_pattern){ .bytes = 1u << log, .bits = bits, .seed = kind });
	gus_emit_begin(m);
	gus_emit_load(m, 1, GUS_EMIT_ARENA, index, next);
	put_next_byte(m, log);
	gus_emit_loop(m);
	if (m->isa == GUS_ISA_X86_64)
		gus_emit_bytes(m, lfence, sizeof(lfence));
	for (unsigned i = 0; i < before; i++)
		gus_emit_nop_long(m, 3);
	gus_emit_branch(m, 0, 0);
	gus_emit_land(m);
	for (unsigned i = 0; i < (real ? BEHIND : BEHIND_SLOW); i++)
		gus_emit_multiply(m, 3, 11);
	gus_emit_add_constant(m, 1, 1);
	put_next_byte(m, log);
	gus_emit_store(m, 1, GUS_EMIT_ARENA, index, next);
	gus_emit_end(m);
	return m;
}

struct search {
	const struct gus_calibration *c;
	struct gus_fit *f;
	struct gus_round round;
	struct gus_core_config nearest;
	struct gus_replica replica;     /* of the nearest table */
};

static bool is_real(const struct search *s)
{
	return !gus_calibration_host_is_simulated(s->c->host);
}

/* Whether the test before a branch is fused with it. Else it is a cycle by itself. */
static bool fuses_test(const struct search *s)
{
	const struct gus_fit_param *found = gus_fit_get(s->f, "macro_fusion");

	if (found && found->confidence > GUS_CONFIDENCE_LOW)
		return found->value > 0;
	return gus_uarch_value(s->c->nearest, "macro_fusion", 0) > 0;
}

/* How many nops have to be before test and branch so that these and what is behind them are issued in the same
 * cycle if all goes well: one more of them then changed nothing, or two if test and branch are two. Where something
 * of these is in another cycle, a pass takes a cycle more with the last nop. */
static int find_place(struct search *s, unsigned *before, struct gus_error *err)
{
	unsigned alike = 0, needed = fuses_test(s) ? 1 : 2;
	int status;

	for (unsigned i = 0; i < PLACES; i++)
		gus_round_put(&s->round, branch_of(s->c, NOT_TAKEN, i));
	status = gus_round_run(&s->round, is_real(s) ? 3 : 1, err);
	*before = PLACES - 1;
	for (unsigned i = 1; i < PLACES && status == 0; i++) {
		double later = gus_round_cycles(&s->round, i) - gus_round_cycles(&s->round, i - 1);

		alike = later < 0.5 ? alike + 1 : 0;
		if (alike == needed) {
			*before = i;
			break;
		}
	}
	gus_round_clear(&s->round);
	return status;
}

/* Cycles more of a pass whose branch goes wrong: half of those of a pattern at random do. */
static double wrong(const double *cycles, unsigned kind)
{
	return 2 * (cycles[kind] - (cycles[NOT_TAKEN] + cycles[TAKEN]) / 2);
}

/* Where decoders bring the right path, it is a cycle later at issue than where the uop cache does; the engine knows
 * that of code that is fed, and not of a loop as a replica runs it. */
static double later_by_decoders(const struct gus_core_config *c)
{
	return c->uop_cache_width && c->uop_cache_window && c->uop_cache_line ? 0 : 1;
}

/* A pass is later by the time from the branch's issue to its end and by the penalty; what the first is, and what else
 * is in the pass, the nearest table's machine knows, so the penalty is as far from its as a pass is. */
static void put_misprediction(struct search *s, const double *cycles, const double *modelled)
{
	double less = wrong(modelled, AT_RANDOM) - s->nearest.mispredict_penalty + later_by_decoders(&s->nearest) +
		(!fuses_test(s) && gus_uarch_value(s->c->nearest, "macro_fusion", 0) > 0);
	double mean = 0, low = INFINITY, high = 0;
	struct gus_fit_param out = { .name = "mispredict_penalty" };

	for (unsigned i = AT_RANDOM; i < BRANCH_KINDS; i++) {
		mean += wrong(cycles, i);
		low = fmin(low, wrong(cycles, i));
		high = fmax(high, wrong(cycles, i));
	}
	mean = (mean - low - high) / (BRANCH_KINDS - AT_RANDOM - 2);
	out.value = round(mean - less);
	out.low = fmin(low - less, out.value);
	out.high = fmax(high - less, out.value);
	out.residual = (high - low) / 2 / mean;
	out.confidence = out.value < 2 || !isfinite(mean) ? GUS_CONFIDENCE_NONE :
		high - low < 1.2 ? GUS_CONFIDENCE_HIGH : high - low < 3 ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_LOW;
	/* Behind other code a branch of a real CPU costs a cycle or two more or less: no reason to leave the table. */
	if (is_real(s) && out.confidence > GUS_CONFIDENCE_NONE) {
		out.low -= 1;
		out.high += 1;
		out.confidence = out.confidence > GUS_CONFIDENCE_MEDIUM ? GUS_CONFIDENCE_MEDIUM : out.confidence;
		if (s->nearest.mispredict_penalty >= out.low && s->nearest.mispredict_penalty <= out.high)
			out.value = s->nearest.mispredict_penalty;
	}
	if (out.confidence == GUS_CONFIDENCE_NONE)
		out.value = NAN;
	snprintf(out.why, sizeof(out.why), "wrong branches are %.2f to %.2f cycles later; %.2f on the nearest table's "
		 "machine, by %u", low, high, wrong(modelled, AT_RANDOM), s->nearest.mispredict_penalty);
	gus_fit_put(s->f, &out);
}

static int model_branches(struct search *s, unsigned before, double *cycles, struct gus_error *err)
{
	int status = 0;

	for (unsigned i = 0; i <= AT_RANDOM && status == 0; i++) {
		struct gus_micro *m = branch_of(s->c, i, before);

		/* Of those that always go one way a few passes say all. */
		m->passes = i < AT_RANDOM ? 0 : 1u << PATTERN_LOG_SLOW;
		status = gus_replica_run(&s->replica, m, &cycles[i], err);
		gus_micro_free(m);
	}
	return status;
}

/* Of measurements with branches at random the least is the one that had the luck of few wrong ones. The median had
 * not, so far as it was not disturbed: by more than luck can be (of 2^14 passes 0.3 % by two standard deviations). */
static double typical_cycles(const struct gus_round *r, size_t number)
{
	const struct gus_micro_time *t = &r->times.v[number];

	return fmin(t->median, gus_round_cycles(r, number) * 1.006);
}

static int find(struct search *s, struct gus_error *err)
{
	double cycles[BRANCH_KINDS] = { 0 }, modelled[BRANCH_KINDS];
	unsigned before;
	int status;

	if (find_place(s, &before, err) != 0)
		return -1;
	for (unsigned i = 0; i < BRANCH_KINDS; i++)
		gus_round_put(&s->round, branch_of(s->c, i, before));
	status = gus_round_run(&s->round, is_real(s) ? 3 : 1, err);
	for (unsigned i = 0; i < BRANCH_KINDS && status == 0; i++)
		cycles[i] = i < AT_RANDOM ? gus_round_cycles(&s->round, i) : typical_cycles(&s->round, i);
	gus_round_clear(&s->round);
	if (status != 0 || model_branches(s, before, modelled, err) != 0)
		return -1;
	put_misprediction(s, cycles, modelled);
	return 0;
}

int gus_mispredict_find(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	struct search s = { .c = c, .f = f, .round = { .calibration = c },
		.replica = { .uarch = c->nearest, .config = &s.nearest } };
	int status;

	gus_core_config_of(&s.nearest, c->nearest);
	status = find(&s, err);
	gus_round_free(&s.round);
	return status;
}
