/* SPDX-License-Identifier: MIT */
/* The governor's place in a recording: what it is told, and what is done when it changes the rate. */
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/session/private.h"

#define GOVERN_NS 2000000000ULL /* between looks at the rate, when the first are behind us */
#define GOVERN_COST_NS 6000     /* of reading one counter, timed as 2 to 6 us */
#define GOVERN_SHARE 1000       /* at most that part of a CPU goes into reading them */
#define THIN_MIN_NS 100000000   /* of the target's time: less says too little */
#define THIN_STALE 3            /* that many times more than should be are from copies that were not told */
#define RENEWALS_MAX 8          /* times that inherited events are replaced */
#define STALE_SHARE 4           /* when more than that part of the samples come at a rate that is not in force */

struct gus_usage gus_session_usage(const struct session *s)
{
	struct gus_usage u = s->lanes.usage;

	u.target_ns = gus_counters_running(&s->counters);
	u.recorder_ns = (s->own_after ? s->own_after : gus_session_own_ns(s)) - s->own_before - s->trace.own_ns;
	u.recorder_ns += gus_session_paused_beyond(s);
	return u;
}

/* Redraws do not reach events that tasks have inherited. Where many samples come from such, all are opened anew. */
static void renew(struct session *s)
{
	struct gus_error err = { 0 };

	if (!s->sampling || s->renewals >= RENEWALS_MAX)
		return;
	s->renewals++;
	if (gus_counters_renew(&s->counters, gus_living_threads, &s->living, gus_counters_now(&s->counters), &err) != 0)
		gus_log(s->o->log, GUS_DEBUG, "the new rate reaches only tasks that are born from now on: %s",
			*err.text ? err.text : "none of the others lives");
	else
		gus_log(s->o->log, GUS_DEBUG, "the events of all tasks were opened anew for the new rate");
}

void gus_session_change_rate(struct session *s)
{
	char rate[32];

	snprintf(rate, sizeof(rate), "%llu", (unsigned long long)s->governor.hz);
	gus_session_mark(s, "rate", rate);
	gus_counters_set_rate(&s->counters, s->governor.hz);
	gus_log(s->o->log, GUS_DEBUG, "the rate is now %s samples a second of CPU time", rate);
}

/* Copies that tasks have inherited do not hear of it: then more samples come than should. */
static void thin(struct session *s, const struct gus_usage *u)
{
	const struct gus_usage *last = &s->thin.last;
	uint64_t switches = u->switches - last->switches, leaves = u->leaves - last->leaves, n;
	uint64_t target = u->target_ns > last->target_ns ? u->target_ns - last->target_ns : 0;
	char text[32];

	if (!s->o->costs.leave_ns || target < THIN_MIN_NS)
		return;
	n = gus_governor_thinning((double)s->o->costs.leave_ns * (double)switches,
				  s->o->overhead * (double)target, s->thin.n ? s->thin.n : 1);
	if (s->thin.n > 1 && n == s->thin.n && leaves > THIN_STALE * (switches / n) + THIN_STALE) {
		gus_log(s->o->log, GUS_DEBUG, "%llu of %llu switches were sampled, and each %lluth was to be",
			(unsigned long long)leaves, (unsigned long long)switches, (unsigned long long)n);
		renew(s);
	}
	s->thin.last = *u;
	if (n == (s->thin.n ? s->thin.n : 1))
		return;
	s->thin.n = n;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	gus_session_mark(s, "thin", text);
	gus_counters_thin(&s->counters, n);
	gus_log(s->o->log, GUS_DEBUG, "of %s times that a task leaves its CPU one is sampled from now on", text);
}

/* A rate that has not reached most tasks yet is not judged. */
void gus_session_govern(struct session *s)
{
	uint64_t interval = s->counters.open * (uint64_t)GOVERN_COST_NS * GOVERN_SHARE;
	uint64_t samples = s->lanes.usage.samples - s->sampled, stale = s->lanes.stale - s->stale;
	struct gus_usage u = gus_session_usage(s);

	s->govern_ns = s->govern_ns < GOVERN_NS / 2 ? s->govern_ns * 2 : GOVERN_NS;
	s->next_govern = s->now + (interval > s->govern_ns ? interval : s->govern_ns);
	s->sampled = s->lanes.usage.samples;
	s->stale = s->lanes.stale;
	thin(s, &u);
	if (stale * STALE_SHARE > samples) {
		renew(s);
		gus_governor_skip(&s->governor, &u);
	} else if (gus_governor_step(&s->governor, &u)) {
		gus_session_change_rate(s);
	}
}
