/* SPDX-License-Identifier: MIT */
/* The control law.
 *
 * In come what things cost, in ns of CPU time each (struct gus_costs, timed before the recording), and how often
 * they have happened by now (struct gus_usage). Out goes a rate, in samples a second of the target's CPU time.
 * Looked at is the window since the last look; in ns of CPU time there are
 *
 *	budget    = asked * what the target has used
 *	sampling  = samples * sample_ns + KiB of their stacks * stack_ns
 *	drained   = what this program has used to take samples out of the rings, find their callers and write them
 *	following = births * birth_ns + wakes * wake_ns + switches * switch_ns + leaves * leave_ns +
 *	            maps * map_ns
 *	own       = what else this program has used, but at most sampling / 2
 *	left      = budget - following - own, but at least budget / 4
 *
 * and the next window's rate is this one's times left / (sampling + drained), as these are proportional to the rate
 * and the rest is not. The load has to be what it was for that to come out right, so the rate at most doubles or halves
 * at a time, and differences of less than 15 % are left alone.
 *
 * It settles: a part of own grows with the samples, too. Let that be k * sampling, with k at most 1/2 as own is
 * bounded. Then sampling goes to budget' / (1 + k), where budget' is what following leaves: an error of e in one
 * window is one of -k * e in the next, so each halves it at least.
 *
 * The invariants: low <= hz <= high, and `last` is the usage at which the present window began. */
#include "collector/session/governor.h"

#include <stddef.h>

#define WINDOW_MIN_NS 100000000.0 /* of the target's time: less says too little */
#define SAMPLES_MIN 20            /* likewise */
#define OWN_SHARE 0.1             /* own time a sample, in sample_ns, until it has been seen */
#define STACK_SHARE 1.0           /* the same where a sample's callers are found in a copy of its stack */
#define DEADBAND 0.15
#define LEFT_MIN 0.25             /* of the budget, see governor.h */
/* The rest of a larger own time is housekeeping, which goes on beside a target that sleeps, and which no rate would
 * change. */
#define OWN_MAX 0.5
#define STEP_MAX 2.0
#define LEAVE_SHARE 0.5           /* of the budget: what samples of tasks that leave their CPU may cost */

/* The nearest whole rate within the bounds. */
static uint64_t clamp(const struct gus_governor *g, double hz)
{
	if (hz <= (double)g->low)
		return g->low;
	return hz >= (double)g->high ? g->high : (uint64_t)(hz + 0.5);
}

void gus_governor_init(struct gus_governor *g, double asked, const struct gus_costs *costs, unsigned events,
		       uint64_t limit_hz)
{
	double own = costs->stack_ns ? STACK_SHARE : OWN_SHARE;

	*g = (struct gus_governor){ .asked = asked, .costs = *costs, .events = events ? events : 1 };
	g->high = limit_hz < GUS_RATE_MAX ? limit_hz : GUS_RATE_MAX;
	g->low = g->high < GUS_RATE_MIN ? g->high : GUS_RATE_MIN;
	g->hz = clamp(g, asked * 1e9 / ((double)costs->sample_ns * (1 + own) * g->events));
	g->first_hz = g->hz;
}

/* ns spent between two moments on what happens at any rate. */
static double following(const struct gus_costs *c, const struct gus_usage *from, const struct gus_usage *to)
{
	return (double)c->birth_ns * (double)(to->births - from->births) +
	       (double)c->wake_ns * (double)(to->wakes - from->wakes) +
	       (double)c->switch_ns * (double)(to->switches - from->switches) +
	       (double)c->leave_ns * (double)(to->leaves - from->leaves) +
	       (double)c->map_ns * (double)(to->maps - from->maps);
}

/* What samples have cost where they were taken. */
static double sampling_of(const struct gus_costs *c, double samples, uint64_t stack_bytes)
{
	return (double)c->sample_ns * samples + (double)c->stack_ns * (double)stack_bytes / 1024;
}

/* left / sampling, of a window in which the target has used that many ns. */
static double affordable(const struct gus_governor *g, const struct gus_usage *now, double target)
{
	double samples = (double)(now->samples - g->last.samples);
	double own = (double)(now->recorder_ns - g->last.recorder_ns);
	double drained = (double)(now->drain_ns - g->last.drain_ns);
	double leaves = (double)(now->leaves - g->last.leaves);
	double budget = g->asked * target, sampling, left;

	/* What is drained of tasks that leave their CPU follows no rate. */
	drained *= samples > 0 ? samples / (samples + leaves) : 0;
	/* Too few to divide by: then the rate itself says how many there should have been. */
	if (samples < SAMPLES_MIN) {
		samples = target / 1e9 * (double)g->hz * g->events;
		drained = 0;
	}
	sampling = sampling_of(&g->costs, samples, now->stack_bytes - g->last.stack_bytes);
	own -= drained < own ? drained : own;
	own = own > OWN_MAX * sampling ? OWN_MAX * sampling : own;
	left = budget - following(&g->costs, &g->last, now) - own;
	return (left < LEFT_MIN * budget ? LEFT_MIN * budget : left) / (sampling + drained);
}

bool gus_governor_step(struct gus_governor *g, const struct gus_usage *now)
{
	/* Not of unsigned numbers: the target's time is a sum over tasks, and may shrink for a moment while one
	 * ends. */
	double target = (double)now->target_ns - (double)g->last.target_ns, factor;
	uint64_t hz;

	if (target < WINDOW_MIN_NS)
		return false; /* the window goes on */
	factor = affordable(g, now, target);
	g->last = *now;
	factor = factor < 1 / STEP_MAX ? 1 / STEP_MAX : factor > STEP_MAX ? STEP_MAX : factor;
	if (factor > 1 - DEADBAND && factor < 1 + DEADBAND)
		return false;
	hz = clamp(g, (double)g->hz * factor);
	if (hz == g->hz)
		return false;
	g->hz = hz;
	g->changes++;
	return true;
}

bool gus_governor_share(struct gus_governor *g, double n)
{
	uint64_t hz = clamp(g, (double)g->hz / n);

	if (hz == g->hz)
		return false;
	g->hz = hz;
	g->changes++;
	return true;
}

uint64_t gus_governor_thinning(double cost_ns, double budget_ns, uint64_t now)
{
	static const uint64_t steps[] = { 1, 2, 3, 5, 7, 11, 17, 29, 47, 79, 127, 211, 337, 557, 907, 1499 };
	const size_t n = sizeof(steps) / sizeof(*steps);
	double least = cost_ns / (LEAVE_SHARE * budget_ns);
	size_t i = 0;

	while (i + 1 < n && least > (double)steps[i])
		i++;
	/* Not for a little less than there was. */
	if (steps[i] < now && least * STEP_MAX > (double)now)
		return now;
	return steps[i];
}

void gus_governor_skip(struct gus_governor *g, const struct gus_usage *now)
{
	g->last = *now;
}

struct gus_spending gus_governor_spending(const struct gus_costs *costs, const struct gus_usage *usage)
{
	static const struct gus_usage nothing;
	double target = (double)usage->target_ns;

	if (!usage->target_ns)
		return (struct gus_spending){ 0 };
	return (struct gus_spending){
		.samples = sampling_of(costs, (double)usage->samples, usage->stack_bytes) / target,
		.following = following(costs, &nothing, usage) / target,
		.recorder = (double)usage->recorder_ns / target,
	};
}

double gus_governor_switches_spent(const struct gus_costs *costs, const struct gus_usage *usage)
{
	return usage->target_ns ? (double)costs->switch_ns * (double)usage->switches / (double)usage->target_ns : 0;
}

double gus_governor_switches_within(const struct gus_costs *costs, double share)
{
	return costs->switch_ns ? share * 1e9 / (double)costs->switch_ns : 0;
}
