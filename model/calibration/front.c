/* SPDX-License-Identifier: MIT */
/* How much comes through the front, and goes out at the end, in a cycle.
 *
 * What issue can do is hidden where decoders or uop cache bring less. So it is measured by bursts: a fence keeps
 * all back until what is before it has retired, meanwhile the queue in front of issue fills, and then so many go a
 * cycle as can until a chain behind them begins. In the same way retirement is seen by itself: all is executed and
 * waits for a jam; when that is through a fence tells when the last has retired. What can be brought, on the other
 * hand, is how fast a long loop runs without any fence. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/calibration/breaks.h"
#include "model/calibration/bursts.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/micro.h"
#include "model/calibration/replica.h"
#include "model/calibration/round.h"
#include "model/calibration/stairs.h"
#include "model/machine/config.h"
#include "model/tables/uarch.h"

enum {
	BURST_FIRST = 2, BURSTS = 26,           /* numbers of a burst: fewer than any queue holds */
	DRAIN_FIRST = 24, DRAINS = 49,          /* of a drain: fewer than any reorder buffer holds */
	WIDEST = 16,                            /* that is thought of */
	STEADY = 4,                             /* lengths of a steady loop */
	FILLS = 24, FILLED = 9,                 /* uops of a window at most; windows of a loop */
	CODE_MOST = 28 * 1024,                  /* bytes of a loop that any L1 has */
	OUT_LENGTHS = 4,                        /* 1, 2, 4 and 8 bytes */
	SMALL = 300,                            /* uops of a loop that any uop cache has */
	LONGEST = 9,                            /* bytes of a nop */
	PAIRS = 8,                              /* of compare and branch, in a burst */
};

/* The words of macro_fusion (model/tables/uarch.c), in their order. */
enum fusion { FUSION_NONE, FUSION_COMPARE, FUSION_ADD, FUSION_ALL };

struct front {
	const struct gus_calibration *c;
	struct gus_fit *f;
	struct gus_round round;
	double end;                     /* uops of the end of a loop */
	bool nops;                      /* each is a uop: they have a length and nothing else */
	double issued;                  /* a cycle, in bursts; 0: not known */
	double steady;                  /* uops a cycle that come in a loop, at best */
	double filled[FILLS + 1];       /* the same by uops of a window of the uop cache */
	/* Of loops that are larger and larger. */
	unsigned window, per_window, line;
	double inside;                  /* cycles of a hundred instructions of a small loop */
	double lines;                   /* of the uop cache; 0: it was not found how many, or there is none */
};

static double table_value(const struct front *t, const char *name)
{
	return gus_uarch_value(t->c->nearest, name, 0);
}

static bool is_real(const struct front *t)
{
	return !gus_calibration_host_is_simulated(t->c->host);
}

static void tell(const struct front *t, const char *what, double done)
{
	if (t->c->progress)
		t->c->progress(t->c->progress_context, what, done);
}

static void put(struct front *t, const char *name, double value, enum gus_confidence confidence, double residual,
		const char *why)
{
	struct gus_fit_param p = { .name = name, .value = value, .low = value, .high = value,
		.confidence = confidence, .residual = residual };

	snprintf(p.why, sizeof(p.why), "%s", why);
	gus_fit_put(t->f, &p);
}

/* What is at least so much, as something else is in the way. */
static void put_least(struct front *t, const char *name, double least, const char *why)
{
	struct gus_fit_param p = { .name = name, .value = NAN, .low = least, .high = INFINITY,
		.confidence = GUS_CONFIDENCE_NONE };

	snprintf(p.why, sizeof(p.why), "%s", why);
	gus_fit_put(t->f, &p);
}

static void choose_window(struct front *t)
{
	t->window = (unsigned)table_value(t, "uop_cache_window");
	t->window = t->window ? t->window : 64;
	t->line = (unsigned)table_value(t, "uop_cache_line");
	t->line = t->line ? t->line : 8;
}

/* Widths. */

/* Times of first, first + 1 and so on. */
static int time_row(struct front *t, struct gus_micro *(*of)(enum gus_isa, unsigned), unsigned first, unsigned n,
		    double *times, struct gus_error *err)
{
	int status;

	for (unsigned i = 0; i < n; i++)
		gus_round_put(&t->round, of(t->c->host->isa, first + i));
	status = gus_round_run(&t->round, is_real(t) ? 3 : 1, err);
	for (unsigned i = 0; i < n && status == 0; i++)
		times[i] = gus_round_cycles(&t->round, i);
	gus_round_clear(&t->round);
	return status;
}

/* And the stairs that they are. */
static int climb(struct front *t, struct gus_micro *(*of)(enum gus_isa, unsigned), unsigned first, unsigned n,
		 struct gus_stairs *s, struct gus_error *err)
{
	double times[DRAINS > BURSTS ? DRAINS : BURSTS];

	if (time_row(t, of, first, n, times, err) != 0)
		return -1;
	gus_stairs_fit(times, n, WIDEST, s);
	return 0;
}

/* Whether the width is the only one that is as steep. */
static bool is_steep(const struct gus_stairs *s)
{
	return s->low > s->width - 1 && s->low <= s->width && s->high >= s->width && s->high < s->width + 1;
}

static enum gus_confidence sureness(const struct gus_stairs *s)
{
	if (s->residual > 0.6 * s->next && s->residual <= 0.6 && is_steep(s))
		return GUS_CONFIDENCE_MEDIUM;
	if (s->residual > 0.6 * s->next || s->residual > 0.6)
		return GUS_CONFIDENCE_LOW;
	return s->residual > 0.3 * s->next ? GUS_CONFIDENCE_MEDIUM : GUS_CONFIDENCE_HIGH;
}

/* Of bursts of loads, which are in nobody's way at ports, and of all kinds, as issue may take only so many of one
 * kind: the wider stairs, if they are stairs at all. */
static int find_issue(struct front *t, struct gus_error *err)
{
	struct gus_stairs s, other;
	char why[100];

	if (climb(t, gus_burst_of_loads, BURST_FIRST, BURSTS, &s, err) != 0 ||
	    climb(t, gus_burst_of_all, BURST_FIRST, BURSTS, &other, err) != 0)
		return -1;
	if (sureness(&s) == GUS_CONFIDENCE_LOW || (other.width > s.width && sureness(&other) > GUS_CONFIDENCE_LOW))
		s = other;
	snprintf(why, sizeof(why), "bursts of %d to %d are stairs of that width, %.2f cycles off; of others %.2f",
		 BURST_FIRST, BURST_FIRST + BURSTS - 1, s.residual, s.next);
	if (sureness(&s) == GUS_CONFIDENCE_LOW) /* loops say more (settle_steady) */
		return 0;
	t->issued = s.width;
	put(t, "issue_width", s.width, sureness(&s), s.residual, why);
	return 0;
}

static int find_retirement(struct front *t, struct gus_error *err)
{
	struct gus_stairs s;
	char why[100];

	if (climb(t, gus_burst_drain, DRAIN_FIRST, DRAINS, &s, err) != 0)
		return -1;
	snprintf(why, sizeof(why), "%d to %d that are done retire in stairs of that width, %.2f cycles off; of others "
		 "%.2f", DRAIN_FIRST, DRAIN_FIRST + DRAINS - 1, s.residual, s.next);
	put(t, "retire_width", s.width, sureness(&s), s.residual, why);
	return 0;
}

static struct gus_micro *filled_of(const struct front *t, unsigned fill)
{
	return gus_burst_loop(t->c->host->isa, FILLED * fill - 1, t->window, fill, t->nops);
}

/* Whether so many instructions can fill a window. */
static bool can_fill(const struct front *t, unsigned fill)
{
	return fill * (t->nops ? LONGEST : 4) >= t->window && (t->nops ? 2 : 3) * fill <= t->window;
}

/* Loops of all kinds, of several lengths, as the end of a loop costs some of them a part of a cycle; and such that
 * have more and more uops in each window of the uop cache. */
static int find_steady(struct front *t, struct gus_error *err)
{
	static const unsigned lengths[STEADY] = { 95, 119, 143, 239 };
	size_t first = STEADY;
	int status;

	for (unsigned i = 0; i < STEADY; i++)
		gus_round_put(&t->round, gus_burst_steady(t->c->host->isa, lengths[i]));
	for (unsigned fill = 1; fill <= FILLS; fill++)
		if (can_fill(t, fill))
			gus_round_put(&t->round, filled_of(t, fill));
	status = gus_round_run(&t->round, is_real(t) ? 3 : 1, err);
	for (unsigned i = 0; i < STEADY && status == 0; i++)
		t->steady = fmax(t->steady, (lengths[i] + t->end) / gus_round_cycles(&t->round, i));
	for (unsigned fill = 1; fill <= FILLS && status == 0; fill++) {
		if (!can_fill(t, fill))
			continue;
		t->filled[fill] = (FILLED * fill - 1 + t->end) / gus_round_cycles(&t->round, first++);
		t->steady = fmax(t->steady, t->filled[fill]);
	}
	gus_round_clear(&t->round);
	return status;
}

/* How far the loops that fill lines are from what the nearest table's machine makes of them if its uop cache
 * delivers so many a cycle: the mean, as a part. */
static int distance_of_width(struct front *t, unsigned width, double *distance, struct gus_error *err)
{
	struct gus_core_config config;
	struct gus_replica replica = { .uarch = t->c->nearest, .config = &config };
	unsigned n = 0;

	gus_core_config_of(&config, t->c->nearest);
	config.uop_cache_width = width;
	config.issue_width = (uint32_t)t->issued;
	config.retire_width = config.retire_width > config.issue_width ? config.retire_width : config.issue_width;
	*distance = 0;
	for (unsigned fill = 1; fill <= FILLS; fill++) {
		struct gus_micro *m;
		double cycles;
		int status;

		if (t->filled[fill] <= 0)
			continue;
		m = filled_of(t, fill);
		status = gus_replica_run(&replica, m, &cycles, err);
		gus_micro_free(m);
		if (status != 0)
			return -1;
		*distance += fabs(t->filled[fill] / ((FILLED * fill - 1 + t->end) / cycles) - 1);
		n++;
	}
	*distance = n ? *distance / n : INFINITY;
	return 0;
}

/* The width that explains the loops; 0: several do as well, or none. */
static int find_width(struct front *t, unsigned *width, struct gus_error *err)
{
	double distance, best = INFINITY, next = INFINITY;

	*width = 0;
	for (unsigned w = 2; w <= WIDEST; w++) {
		if (distance_of_width(t, w, &distance, err) != 0)
			return -1;
		if (distance < best) {
			next = best;
			best = distance;
			*width = w;
		} else {
			next = fmin(next, distance);
		}
	}
	if (best > 0.05 || next < best + 0.01)
		*width = 0;
	return 0;
}

/* Without bursts a loop says what issue does at least. */
static int settle_steady(struct front *t, struct gus_error *err)
{
	bool hidden = t->issued <= 0 || t->steady > t->issued * 0.96 || !(table_value(t, "uop_cache_width") > 0);
	char why[100];
	unsigned width = 0;

	if (!hidden && find_width(t, &width, err) != 0)
		return -1;
	snprintf(why, sizeof(why), "loops run at %.2f uops a cycle at best", t->steady);
	if (t->issued <= 0)
		put(t, "issue_width", round(t->steady), GUS_CONFIDENCE_LOW, fabs(t->steady - round(t->steady)), why);
	else if (hidden)
		put_least(t, "uop_cache_width", t->issued, "issue takes no more than it brings");
	else if (width)
		put(t, "uop_cache_width", width, GUS_CONFIDENCE_HIGH, 0, why);
	else
		put_least(t, "uop_cache_width", floor(t->steady + 0.05), why);
	return 0;
}

/* The uop cache. */

/* By how much cycles of a hundred instructions are others than those of a small loop: where lines are seldom full,
 * decoders may even be faster. */
static int ask_loops(void *context, const unsigned *places, size_t n, double *values, struct gus_error *err)
{
	struct front *t = context;
	int status;

	for (size_t i = 0; i < n; i++)
		gus_round_put(&t->round, gus_burst_loop(t->c->host->isa, places[i], t->window, t->per_window, t->nops));
	gus_round_put(&t->round, gus_burst_loop(t->c->host->isa, SMALL, t->window, t->per_window, t->nops));
	status = gus_round_run(&t->round, is_real(t) ? 3 : 1, err);
	if (status == 0)
		t->inside = 100 * gus_round_cycles(&t->round, n) / SMALL;
	for (size_t i = 0; i < n && status == 0; i++)
		values[i] = fabs(100 * gus_round_cycles(&t->round, i) / places[i] - t->inside);
	gus_round_clear(&t->round);
	return status;
}

static void put_size(struct front *t, const struct gus_break *b)
{
	double lines = t->per_window < t->line ? t->per_window : t->line; /* uops of one */
	struct gus_fit_param p = { .name = "uop_cache_size", .low = ceil((b->flat + t->end) / lines) * t->line,
		.high = ceil((b->broken - 1 + t->end) / lines) * t->line, .residual = b->noise / t->inside };

	t->lines = p.low / t->line;
	p.value = round((p.low + p.high) / 2);
	p.confidence = p.high - p.low <= p.low / 50 ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM;
	snprintf(p.why, sizeof(p.why), "loops of up to %u take %.1f cycles a hundred, from %u on %.1f more or less",
		 b->flat, t->inside, b->broken, b->end);
	gus_fit_put(t->f, &p);
}

/* Loops whose windows are filled so that they come as fast as any, and then as densely as can be. */
static void choose_filling(struct front *t)
{
	double best = 0;

	for (unsigned fill = 1; fill <= FILLS; fill++)
		best = fmax(best, t->filled[fill]);
	for (unsigned fill = 1; fill <= FILLS; fill++)
		if (t->filled[fill] >= best * 0.9 && (fill % t->line == 0 || fill < t->line))
			t->per_window = fill;
}

/* Lines are counted, and a line counts as if it were full. */
static int find_size(struct front *t, struct gus_error *err)
{
	struct gus_break_function f = { .at = ask_loops, .context = t, .low = SMALL,
		.again = is_real(t) ? 1 : 0 };
	struct gus_break b;
	double expected = table_value(t, "uop_cache_size"), share;

	choose_filling(t);
	if (expected <= 0 || !t->per_window)
		return 0;
	share = fmin(1, t->per_window / (double)t->line);
	f.least = 100 / t->steady * 0.04;
	f.high = (unsigned)fmin(fmax(1.5 * expected, 7000) * share, CODE_MOST * t->per_window / t->window);
	f.apart = (unsigned)(expected * share / 256);
	if (gus_break_find(&f, &b, err) != 0)
		return -1;
	if (b.found && b.end > 2 * f.least)
		put_size(t, &b);
	else
		put_least(t, "uop_cache_size", 0,
			  "larger loops are as fast: decoders bring as much, or L1 ends before");
	return 0;
}

/* What no loop here shows, and why: of these the table's figures stay. */
static void hide_others(struct front *t)
{
	if (table_value(t, "loop_buffer") > 0)
		put_least(t, "loop_buffer", 0, "no loop is run that tells it from the uop cache");
	if (table_value(t, "l1i_size") > 0)
		put_least(t, "l1i_size", 0, "no loop of more than 28 KiB is run: behind the uop cache decoders "
			  "may be slower than L2 brings code");
}

/* Decoders. */

/* Bytes of a loop that the uop cache has not; of the shortest instructions few, as there are more in a window than it
 * takes; else as many as can be, if they are more than all its lines cover. 0: there is none. */
static unsigned outside(const struct front *t, unsigned bytes)
{
	double covered = t->lines * fmin(t->window, t->line * bytes);

	if (!t->nops && bytes != 4)
		return 0;
	if (bytes == 1)
		return is_real(t) ? CODE_MOST : 2048;
	if (table_value(t, "uop_cache_size") > 0 && (t->lines <= 0 || covered * 1.15 > CODE_MOST))
		return 0;
	return CODE_MOST;
}

/* What decoders bring of instructions of so many bytes: a block is fetched a cycle, and found in it are only so many
 * at a time; all are decoded so many a cycle. */
static double decoded(unsigned bytes, unsigned block, unsigned found, unsigned width)
{
	unsigned in_block = block / bytes;
	double brought = in_block / ceil((double)in_block / found);

	return fmin(brought, width);
}

enum { BLOCK, FOUND, WIDTH, DECODERS };
enum { BLOCKS = 4, WIDTHS = 9, ALL_DECODERS = BLOCKS * WIDTHS * WIDTHS };
struct decoders { unsigned figure[DECODERS]; };

/* Blocks of 8 to 64 bytes, and from two to ten found and decoded. */
static struct decoders decoders_of(unsigned i)
{
	return (struct decoders){ { 8u << i % BLOCKS, 2 + i / BLOCKS % WIDTHS, 2 + i / BLOCKS / WIDTHS } };
}

/* How far the rates are from what decoders of that kind bring; what issue does not take is not seen. */
static double distance(struct decoders d, const double *rates, double most)
{
	static const unsigned bytes[OUT_LENGTHS] = { 1, 2, 4, 8 };
	double sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < OUT_LENGTHS; i++) {
		if (rates[i] <= 0)
			continue;
		sum += fabs(rates[i] / fmin(decoded(bytes[i], d.figure[BLOCK], d.figure[FOUND], d.figure[WIDTH]),
					    most) - 1);
		n++;
	}
	return n ? sum / n : INFINITY;
}

/* All decoders that explain the rates as well as the best: what they have in common is known. */
static void settle_decoders(struct front *t, const double *rates)
{
	static const char *const names[DECODERS] = { "fetch_bytes", "predecode_width", "decode_width" };
	double best = INFINITY, most = t->issued > 0 ? t->issued : t->steady;
	unsigned low[DECODERS] = { 1000, 1000, 1000 }, high[DECODERS] = { 0 };
	char why[110];
	unsigned n = 0;

	for (unsigned i = 0; i < OUT_LENGTHS; i++)
		n += rates[i] > 0;
	for (unsigned i = 0; i < ALL_DECODERS; i++)
		best = fmin(best, distance(decoders_of(i), rates, most));
	for (unsigned i = 0; i < ALL_DECODERS; i++) {
		struct decoders d = decoders_of(i);

		if (distance(d, rates, most) > best + 0.01)
			continue;
		for (unsigned k = 0; k < DECODERS; k++) {
			low[k] = d.figure[k] < low[k] ? d.figure[k] : low[k];
			high[k] = d.figure[k] > high[k] ? d.figure[k] : high[k];
		}
	}
	if (n < 2)
		snprintf(why, sizeof(why), "too little code can be seen outside of the uop cache");
	else
		snprintf(why, sizeof(why), "%.2f, %.2f, %.2f, %.2f of 1, 2, 4, 8 bytes a cycle, outside of the uop "
			 "cache", rates[0], rates[1], rates[2], rates[3]);
	for (unsigned k = 0; k < DECODERS; k++)
		if (low[k] == high[k] && best < 0.06 && n > 1)
			put(t, names[k], low[k], best < 0.02 ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM,
			    best, why);
		else
			put_least(t, names[k], n > 1 ? low[k] : 0, why);
}

static int find_decoders(struct front *t, struct gus_error *err)
{
	static const unsigned bytes[OUT_LENGTHS] = { 1, 2, 4, 8 };
	double rates[OUT_LENGTHS] = { 0 };
	size_t n = 0;
	int status;

	for (unsigned i = 0; i < OUT_LENGTHS; i++)
		if (outside(t, bytes[i]))
			gus_round_put(&t->round, gus_burst_loop(t->c->host->isa, outside(t, bytes[i]) / bytes[i], 64,
							 64 / bytes[i], t->nops));
	status = gus_round_run(&t->round, is_real(t) ? 3 : 1, err);
	for (unsigned i = 0; i < OUT_LENGTHS && status == 0; i++)
		if (outside(t, bytes[i]))
			rates[i] = outside(t, bytes[i]) / bytes[i] / gus_round_cycles(&t->round, n++);
	gus_round_clear(&t->round);
	if (status == 0)
		settle_decoders(t, rates);
	return status;
}

/* Fusion. */

/* How much later each of a row of bursts is than the one before: the slope of a line through their times. */
static int find_slope(struct front *t, struct gus_micro *(*of)(enum gus_isa, unsigned), double *slope,
		      struct gus_error *err)
{
	double times[PAIRS], mean = 0, up = 0, across = 0;

	if (time_row(t, of, BURST_FIRST, PAIRS, times, err) != 0)
		return -1;
	for (unsigned i = 0; i < PAIRS; i++)
		mean += times[i] / PAIRS;
	for (unsigned i = 0; i < PAIRS; i++) {
		up += (i - (PAIRS - 1) / 2.) * (times[i] - mean);
		across += (i - (PAIRS - 1) / 2.) * (i - (PAIRS - 1) / 2.);
	}
	*slope = up / across;
	return 0;
}

/* With which firsts branches are fused: whether a pair takes a slot or two of those that a burst has. */
static int find_fusion(struct front *t, struct gus_error *err)
{
	const struct gus_uarch_param *p = gus_uarch_param(t->c->nearest, "macro_fusion");
	double compare, subtract;
	char why[100];

	if (t->issued <= 0)
		return 0;
	if (find_slope(t, gus_burst_of_comparisons, &compare, err) != 0 ||
	    find_slope(t, gus_burst_of_subtractions, &subtract, err) != 0)
		return -1;
	compare = compare * t->issued - GUS_BURST_OTHERS;
	subtract = subtract * t->issued - GUS_BURST_OTHERS;
	snprintf(why, sizeof(why), "a compare and branch take %.2f slots, a subtract and branch %.2f", compare,
		 subtract);
	if (fmin(fabs(compare - 1), fabs(compare - 2)) > 0.3 || fmin(fabs(subtract - 1), fabs(subtract - 2)) > 0.3) {
		put_least(t, "macro_fusion", 0, why);
	} else {
		enum fusion found = compare > 1.5 ? FUSION_NONE : subtract > 1.5 ? FUSION_COMPARE : FUSION_ADD;

		if (found == FUSION_ADD && p && p->value > FUSION_ADD)
			found = FUSION_ALL;
		t->end = found >= FUSION_ADD ? 1 : 2;
		put(t, "macro_fusion", found, GUS_CONFIDENCE_HIGH, 0, why);
	}
	return 0;
}

static int find_all(struct front *t, struct gus_error *err)
{
	bool x86 = t->c->host->isa == GUS_ISA_X86_64, full = t->c->depth == GUS_CALIBRATION_FULL;

	choose_window(t);
	tell(t, "issue", 0);
	if ((x86 && (find_issue(t, err) != 0 || find_fusion(t, err) != 0)) || find_steady(t, err) != 0)
		return -1;
	if (settle_steady(t, err) != 0)
		return -1;
	if (!full)
		return 0;
	tell(t, "retirement", 0.2);
	if (x86 && find_retirement(t, err) != 0)
		return -1;
	tell(t, "uop cache", 0.3);
	if (find_size(t, err) != 0)
		return -1;
	hide_others(t);
	tell(t, "decoders", 0.8);
	return x86 ? find_decoders(t, err) : 0;
}

int gus_fit_front(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err)
{
	struct front t = { .c = c, .f = f, .round = { .calibration = c },
		.end = gus_uarch_value(c->nearest, "macro_fusion", 0) >= FUSION_ADD ? 1 : 2,
		.nops = gus_uarch_value(c->nearest, "nop_fusion", 0) <= 0 };
	int status = find_all(&t, err);

	gus_round_free(&t.round);
	if (status == 0)
		tell(&t, "front end", 1);
	return status;
}
