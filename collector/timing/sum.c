/* SPDX-License-Identifier: MIT */
#include "collector/timing/sum.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/ascending.h"
#include "collector/timing/alone.h"

#define STEADY 0.005            /* by which the paces before and after may differ */
#define ONE_PACE 0.003          /* paces of one setting: what a clock that is read in steps of 26 ticks makes of them */
#define ENOUGH 3                /* a third: a disturbed chain looks like a slower core, none like a faster one */
#define ONE_LEAST 0.001         /* what the mean of the least is taken of: a step of a clock more is not a longer run */
#define ALONE 3                 /* fewer of many tell nothing beside what was not alone */
#define NEAR 0.01               /* counts as the least */
#define APART 0.02              /* two states of a loop */
#define SAME 0.002              /* the least, seen again */
#define AGAIN 5                 /* so often it is believed, */
#define AGAIN_LONG 2            /* of runs that are so long that few are made, where it has to be within LONG_SAME */
#define LONG_SAME 0.005
#define BELOW_NOTHING -0.01     /* a call that costs less than nothing, as a part of a run: its runs are not alike */

static double pace_of(const struct gus_timing_sample *s)
{
	return s->before > s->after ? s->before : s->after;
}

static bool is_steady(const struct gus_timing_sample *s)
{
	double high = pace_of(s), low = s->before < s->after ? s->before : s->after;

	return !s->disturbed && low > 0 && high - low <= STEADY * high;
}

/* Of the paces, in order, the end of the fastest stretch that is ONE_PACE wide and has enough of them in it; if none
 * has, of the fullest. */
static double fastest_of_many(const double *paces, size_t n)
{
	size_t most = 0;
	double best = NAN;

	for (size_t low = 0, high = 0; high < n; high++) {
		while (paces[low] < paces[high] * (1 - ONE_PACE))
			low++;
		if (high - low + 1 >= most || ENOUGH * (high - low + 1) >= n) {
			most = high - low + 1;
			best = paces[high];
		}
	}
	return best;
}

/* The least of n, as a mean of those that are as good as it: many runs tell more than a step of the clock. */
static double least_of(const double *values, size_t n)
{
	double least = INFINITY, sum = 0;
	size_t alike = 0;

	for (size_t i = 0; i < n; i++)
		least = fmin(least, values[i]);
	for (size_t i = 0; i < n; i++)
		if (values[i] <= least * (1 + ONE_LEAST)) {
			sum += values[i];
			alike++;
		}
	return alike ? sum / (double)alike : least;
}

/* What is looked at: samples that were not disturbed and are of one pace. */
struct view {
	const struct gus_timing_sample **kept;
	double *values;         /* cycles a pass, or paces */
	size_t n;
	double passes;
};

/* The fastest, as a mean of both ends of all turns that are as fast. */
static double pace_among(struct view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		v->values[2 * i] = 1 / v->kept[i]->before;
		v->values[2 * i + 1] = 1 / v->kept[i]->after;
	}
	return 1 / least_of(v->values, 2 * v->n);
}

static void keep_all(struct view *v, const struct gus_timing_sample *samples, size_t n, double *pace)
{
	for (size_t i = 0; i < n; i++)
		v->kept[i] = &samples[i];
	v->n = n;
	*pace = pace_among(v);
}

/* False if none is left. */
static bool keep(struct view *v, const struct gus_timing_sample *samples, size_t n, double *pace)
{
	size_t steady = 0;
	double best;

	for (size_t i = 0; i < n; i++)
		if (is_steady(&samples[i]))
			v->values[steady++] = pace_of(&samples[i]);
	if (!steady)
		return false;
	qsort(v->values, steady, sizeof(*v->values), gus_ascending);
	best = fastest_of_many(v->values, steady);
	for (size_t i = 0; i < n; i++)
		if (is_steady(&samples[i]) && pace_of(&samples[i]) <= best &&
		    pace_of(&samples[i]) >= best * (1 - ONE_PACE))
			v->kept[v->n++] = &samples[i];
	*pace = pace_among(v);
	return true;
}

/* Leaves those out that were beside another thread, unless hardly any were not: one or two may be off by anything. */
static void keep_alone(struct view *v, double alone, struct gus_timing_sum *sum)
{
	size_t n = 0, left = 0;

	for (size_t i = 0; i < v->n; i++)
		n += !gus_alone_is_beside(v->kept[i]->round * pace_of(v->kept[i]), alone);
	if (n < ALONE && 2 * n < v->n) {
		sum->trouble |= GUS_TIMING_BESIDE;
		return;
	}
	for (size_t i = 0; i < v->n; i++)
		if (!gus_alone_is_beside(v->kept[i]->round * pace_of(v->kept[i]), alone))
			v->kept[left++] = v->kept[i];
	sum->beside = (uint32_t)(v->n - n);
	v->n = n;
}

struct least { double once, twice; };

static struct least least_runs(struct view *v)
{
	struct least l;

	for (size_t i = 0; i < v->n; i++)
		v->values[i] = v->kept[i]->once;
	l.once = least_of(v->values, v->n);
	for (size_t i = 0; i < v->n; i++)
		v->values[i] = v->kept[i]->twice;
	l.twice = least_of(v->values, v->n);
	return l;
}

/* Ticks that a call takes beside its passes. */
static double call_of(const struct least *l)
{
	return l->twice > 0 ? 2 * l->once - l->twice : 0;
}

static double ticks_a_pass(const struct view *v, const struct gus_timing_sample *s, double call)
{
	return s->twice > 0 ? (s->twice - call) / (2 * v->passes) : s->once / v->passes;
}

/* Whether the least came again, in more turns than one: what is only in one may be a state that the loop was in. */
static bool is_settled(const struct view *v, const struct least *l)
{
	bool is_long = !(l->twice > 0);
	double near = 1 + (is_long ? LONG_SAME : SAME);
	size_t once = 0, twice = 0;
	bool turns = false;

	for (size_t i = 0, first = v->n; i < v->n; i++) {
		bool is_near = is_long ? v->kept[i]->once <= l->once * near : v->kept[i]->twice <= l->twice * near;

		once += v->kept[i]->once <= l->once * near;
		twice += is_near;
		if (is_near && first == v->n)
			first = i;
		turns = turns || (is_near && v->kept[i]->turn != v->kept[first]->turn);
	}
	return turns && once >= (is_long ? AGAIN_LONG : AGAIN) && twice >= (is_long ? AGAIN_LONG : AGAIN);
}

/* Values in order: how many of them lie in the fullest stretch that begins above `from` and is NEAR wide. */
static size_t gathered_above(const double *values, size_t n, double from)
{
	size_t most = 0;

	for (size_t low = 0, high = 0; low < n; low++) {
		if (values[low] <= from)
			continue;
		while (high < n && values[high] <= values[low] * (1 + NEAR))
			high++;
		if (high - low > most)
			most = high - low;
	}
	return most;
}

static uint32_t trouble_of(const double *values, size_t n)
{
	size_t near = 0;

	while (near < n && values[near] <= values[0] * (1 + NEAR))
		near++;
	if (4 * near < n || (n > 1 && near < 2))
		return GUS_TIMING_NOISY;
	if (near >= 2 && 4 * gathered_above(values, n, values[0] * (1 + APART)) >= n)
		return GUS_TIMING_BISTABLE;
	return 0;
}

static void look_at(struct view *v, struct gus_timing_sum *sum)
{
	struct least l = least_runs(v);
	double call = call_of(&l);

	for (size_t i = 0; i < v->n; i++)
		v->values[i] = ticks_a_pass(v, v->kept[i], call) * sum->pace;
	qsort(v->values, v->n, sizeof(*v->values), gus_ascending);
	sum->cycles = (l.twice > 0 ? l.twice - l.once : l.once) / v->passes * sum->pace;
	sum->call = call;
	sum->median = v->values[v->n / 2];
	sum->high = v->values[v->n * 3 / 4];
	sum->trouble |= trouble_of(v->values, v->n);
	if (call < BELOW_NOTHING * l.once)
		sum->trouble |= GUS_TIMING_NOISY;
	sum->settled = !(sum->trouble & (GUS_TIMING_MOVED | GUS_TIMING_BESIDE)) && is_settled(v, &l);
}

void gus_timing_add_up(const struct gus_timing_sample *samples, size_t n, uint64_t passes, double alone,
		       struct gus_timing_sum *sum)
{
	struct view v = { .passes = (double)(passes ? passes : 1) };

	*sum = (struct gus_timing_sum){ .cycles = NAN, .median = NAN, .high = NAN, .pace = NAN,
					.samples = (uint32_t)n };
	if (!n) {
		sum->trouble = GUS_TIMING_MOVED;
		return;
	}
	v.kept = gus_resize(NULL, n, sizeof(struct gus_timing_sample *));
	v.values = gus_resize(NULL, 2 * n, sizeof(*v.values));
	if (keep(&v, samples, n, &sum->pace)) {
		keep_alone(&v, alone, sum);
		sum->kept = (uint32_t)v.n;
	} else {
		sum->trouble = GUS_TIMING_MOVED;
		keep_all(&v, samples, n, &sum->pace);
	}
	look_at(&v, sum);
	free(v.kept);
	free(v.values);
}
