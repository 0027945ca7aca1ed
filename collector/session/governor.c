/* SPDX-License-Identifier: MIT */
#include "collector/session/governor.h"

#define WINDOW_MIN_NS 100000000.0 /* of the target's time: less says too little */
#define OWN_SHARE 0.1
#define DEADBAND 0.15
#define LEFT_MIN 0.25 /* of what was asked for, see governor.h */
/* Own time counts up to this part of what the samples cost: the rest is housekeeping, which goes on beside a target that
 * sleeps, and which no rate would change. */
#define OWN_MAX 0.5

static uint64_t clamp(const struct gus_governor *g, double hz)
{
	if (hz <= (double)g->low)
		return g->low;
	return hz >= (double)g->high ? g->high : (uint64_t)(hz + 0.5);
}

void gus_governor_init(struct gus_governor *g, double asked, const struct gus_costs *costs, unsigned events,
		       uint64_t limit_hz)
{
	*g = (struct gus_governor){ .asked = asked, .costs = *costs, .events = events ? events : 1 };
	g->high = limit_hz < GUS_RATE_MAX ? limit_hz : GUS_RATE_MAX;
	g->low = g->high < GUS_RATE_MIN ? g->high : GUS_RATE_MIN;
	g->hz = clamp(g, asked * 1e9 / ((double)costs->sample_ns * (1 + OWN_SHARE) * g->events));
	g->first_hz = g->hz;
}

/* ns spent on what happens anyway. */
static double following(const struct gus_costs *c, const struct gus_usage *from, const struct gus_usage *to)
{
	return (double)c->birth_ns * (double)(to->births - from->births) +
	       (double)c->wake_ns * (double)(to->wakes - from->wakes) +
	       (double)c->switch_ns * (double)(to->switches - from->switches) +
	       (double)c->map_ns * (double)(to->maps - from->maps);
}

bool gus_governor_step(struct gus_governor *g, const struct gus_usage *now)
{
	double target = (double)now->target_ns - (double)g->last.target_ns;
	double samples = (double)(now->samples - g->last.samples);
	double own = (double)(now->recorder_ns - g->last.recorder_ns);
	double nominal = target / 1e9 * (double)g->hz * g->events;
	double left, sampling, factor;
	uint64_t hz;

	if (target < WINDOW_MIN_NS)
		return false;
	/* Too few to divide by: then the rate itself says how many there should have been. */
	samples = samples < 20 ? nominal : samples;
	sampling = (double)g->costs.sample_ns * samples;
	own = own > OWN_MAX * sampling ? OWN_MAX * sampling : own;
	left = g->asked * target - following(&g->costs, &g->last, now) - own;
	left = left < LEFT_MIN * g->asked * target ? LEFT_MIN * g->asked * target : left;
	g->last = *now;
	factor = left / sampling;
	factor = factor < 0.5 ? 0.5 : factor > 2 ? 2 : factor;
	if (factor > 1 - DEADBAND && factor < 1 + DEADBAND)
		return false;
	hz = clamp(g, (double)g->hz * factor);
	if (hz == g->hz)
		return false;
	g->hz = hz;
	g->changes++;
	return true;
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
		.samples = (double)costs->sample_ns * (double)usage->samples / target,
		.following = following(costs, &nothing, usage) / target,
		.recorder = (double)usage->recorder_ns / target,
	};
}
