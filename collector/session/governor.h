/* SPDX-License-Identifier: MIT */
/* Chooses how often to sample so that recording costs a stated share of the target's CPU time. Pure arithmetic: what
 * things cost and how often they have happened comes in, a rate comes out.
 *
 * What costs: a sample; what following tasks takes whether they are sampled or not (births, switches, mappings); and
 * this program's own CPU time. Only the first can be chosen, so it gets what the others leave, but never less than a
 * quarter of what was asked for: a profile without samples is no use to anybody, however little it costs. */
#ifndef GUS_COLLECTOR_SESSION_GOVERNOR_H
#define GUS_COLLECTOR_SESSION_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/session/cost.h"

#define GUS_RATE_MIN 20     /* samples a second of CPU time: fewer say nothing about a run of seconds */
#define GUS_RATE_MAX 20000

/* What has happened since the recording began. */
struct gus_usage {
	uint64_t target_ns;   /* CPU time of the target; of CPUs that are watched, all of their time */
	uint64_t samples, births, switches, maps;
	uint64_t leaves;      /* samples of tasks that leave their CPU, which no rate changes */
	uint64_t wakes;       /* births, each times the events that shared the rings */
	uint64_t recorder_ns; /* this program's own CPU time, and what threads stood still for snapshots */
	uint64_t drain_ns;    /* of that, what went into samples one by one: finding their callers, writing them */
	uint64_t stack_bytes; /* of stacks that samples have brought along */
};

struct gus_governor {
	double asked;         /* share of the target's time, 0.01 for 1 %; 0: the rate is fixed, nothing is chosen */
	struct gus_costs costs;
	unsigned events;      /* that sample at the rate */
	uint64_t low, high;   /* bounds of the rate */
	uint64_t hz;          /* in force */
	uint64_t first_hz;
	uint64_t changes;
	struct gus_usage last; /* when the rate was looked at last */
};

/* What recording has cost, as shares of the target's time. */
struct gus_spending {
	double samples, following, recorder;
};

/* The rate to begin with. The own time a sample is not known yet: it is taken as a tenth of the sample's cost, and
 * as much as that where samples bring their stacks along. */
void gus_governor_init(struct gus_governor *g, double asked, const struct gus_costs *costs, unsigned events,
		       uint64_t limit_hz);

/* Looks at what has happened since the last time. True if g->hz has changed: by at most a factor of two, and not for
 * less than a seventh, as each change loses a part of a period. */
bool gus_governor_step(struct gus_governor *g, const struct gus_usage *now);
/* The rate at which n times as many samples come for each of the target's cost what they were to cost: at once, as who
 * waits for the next looks pays for them. True if g->hz has changed. */
bool gus_governor_share(struct gus_governor *g, double n);
/* Of how many times that a task leaves its CPU one is to be sampled. cost_ns: what all of a window would cost;
 * budget_ns: what was asked for in it, of which these samples get a half at most, as the rate pays for them; now: the
 * answer before. The numbers are prime, so that of what takes turns not the same turn is met each time; and where there
 * are fewer switches again, more of them are sampled. */
uint64_t gus_governor_thinning(double cost_ns, double budget_ns, uint64_t now);
/* Passes over what has happened since the last time: it was not at the rate in force. */
void gus_governor_skip(struct gus_governor *g, const struct gus_usage *now);

/* Of all until now. All zero as long as the target has not run. */
struct gus_spending gus_governor_spending(const struct gus_costs *costs, const struct gus_usage *usage);
/* What of following is for switches, whether they were sampled or not. */
double gus_governor_switches_spent(const struct gus_costs *costs, const struct gus_usage *usage);
/* So many switches a second of the target's CPU time cost that share of it. 0: that cannot be told. */
double gus_governor_switches_within(const struct gus_costs *costs, double share);

#endif
