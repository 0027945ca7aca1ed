/* SPDX-License-Identifier: MIT */
/* Whether to sample the CPUs in place of the target's tasks.
 *
 * A task that is born inherits each event with a whole period before it, on each CPU. One that ends earlier is never
 * sampled, and of every other one the last part of a period is missing: of threads that live for milliseconds most of
 * the time, and not any part of it, but the part that long-lived threads do not do. A CPU's own event goes on counting
 * whoever comes and goes, so its samples fall where the time is.
 *
 * They fall on strangers as well, which costs, and not every user may have them. So the tasks are sampled first, and
 * looked at: what their counters have counted and no sample stands for, and how many have ended, each with a part of a
 * period. Where that is more than a few percent, and the strangers on this machine are not too many, the CPUs take
 * over. What was missed until then stays missed; the footer says how much it was. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/host/text.h"
#include "collector/session/private.h"
#include "collector/session/wide_rules.h"

#define LOOK_FIRST_NS 100000000ULL /* until the first look, */
#define LOOK_NS 2000000000ULL      /* and at last between two; in between it doubles */
#define COUNTER_NS 6000ULL         /* of reading one counter, as in rate.c */
#define COUNTER_SHARE 1000         /* at most that part of a CPU goes into reading them */
#define COUNTED_MIN_NS 20000000    /* of the target's CPU time: less says too little */
#define STRANGERS_SHARE 0.05       /* of the target's time: what strangers' samples may cost at a rate that was asked */

/* The first line of /proc/stat has ticks of user, nice, system, idle, iowait, irq, softirq, steal; of the last, a guest
 * does not run. */
uint64_t gus_session_busy_ns(void)
{
	unsigned long long v[7];
	char text[512];

	if (!gus_read_text("/proc/stat", text, sizeof(text)) ||
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
		   &v[6]) != 7)
		return 0;
	return (v[0] + v[1] + v[2] + v[5] + v[6]) * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

void gus_session_begin_wide(struct session *s)
{
	s->wide.look_ns = LOOK_FIRST_NS;
	s->wide.busy = gus_session_busy_ns();
	s->wide.next = s->o->sample_cpus == GUS_SAMPLE_CPUS_AUTO &&
		       gus_counters_can_go_wide(&s->counters, s->o->overwrite) ? s->now + LOOK_FIRST_NS : UINT64_MAX;
}

static struct gus_wide_window take_window(struct session *s, Gusprof__EventTotal *totals)
{
	const struct gus_lanes *l = &s->lanes;
	uint64_t busy = gus_session_busy_ns();
	struct gus_wide_window w = {
		.count = (double)totals[0].count - s->wide.count,
		.running_ns = (double)totals[0].running_ns - s->wide.running_ns,
		.weight = (double)(l->taken[0].weight - s->wide.weight),
		.ended = (double)(l->members.ended - s->wide.ended),
		.busy_ns = (double)busy - (double)s->wide.busy,
	};

	return w;
}

static void keep_window(struct session *s, const Gusprof__EventTotal *totals)
{
	s->wide.count = (double)totals[0].count;
	s->wide.running_ns = (double)totals[0].running_ns;
	s->wide.weight = s->lanes.taken[0].weight;
	s->wide.ended = s->lanes.members.ended;
	s->wide.busy = gus_session_busy_ns();
}

static bool affordable(struct session *s, const struct gus_wide_window *w, double missed)
{
	const struct gus_event *e = &s->o->events->v[0];
	double hz = e->frequency ? (double)e->frequency : 1e9 * w->count / (w->running_ns * (double)e->period);
	double times = gus_wide_times(w), cost = (times - 1) * hz * (double)s->o->costs.sample_ns / 1e9;

	if (s->o->overhead > 0 ? gus_wide_rate_may_fall(s->governor.hz, times, missed) : cost <= STRANGERS_SHARE)
		return true;
	if (!s->wide.said)
		gus_log(s->o->log, GUS_DEBUG, "tasks end before they are sampled; but to sample the CPUs instead would "
			"cost %.1f %% of the target's time now, for what else runs on them", cost * 100);
	s->wide.said = true;
	return false;
}

static void go_wide(struct session *s, const struct gus_wide_window *w)
{
	struct gus_error err = { 0 };

	s->wide.next = UINT64_MAX; /* what is not allowed now will not be later on either */
	if (gus_counters_go_wide(&s->counters, gus_living_threads, &s->living, gus_counters_now(&s->counters),
				 s->sampling, &err) != 0) {
		gus_log(s->o->log, GUS_DEBUG, "tasks end before they are sampled, and the CPUs cannot be sampled "
			"instead: %s", *err.text ? err.text : "none of the tasks lives");
		return;
	}
	gus_session_mark(s, "sample-cpus", "");
	gus_log(s->o->log, GUS_DEBUG, "tasks end before they are sampled: the CPUs are sampled from now on, and the "
		"target's samples kept");
	if (gus_session_drain(s) != 0) {
		gus_session_fail_writing(s);
		return;
	}
	gus_lanes_settle_missed(&s->lanes);
	if (s->o->overhead > 0 && gus_governor_share(&s->governor, gus_wide_times(w)))
		gus_session_change_rate(s);
}

void gus_session_look_wide(struct session *s)
{
	uint64_t least = s->counters.open * COUNTER_NS * COUNTER_SHARE;
	Gusprof__EventTotal *totals = gus_lanes_counted(&s->lanes);
	struct gus_wide_window w = take_window(s, totals);

	if (w.running_ns >= COUNTED_MIN_NS) {
		double period = (double)gus_lanes_period(&s->lanes, 0);
		double missed = gus_wide_missed_share(&w, period, (double)s->lanes.n);
		bool wide = missed > 0 && affordable(s, &w, missed);

		keep_window(s, totals);
		if (wide)
			go_wide(s, &w);
	}
	free(totals);
	s->wide.look_ns = s->wide.look_ns < LOOK_NS / 2 ? s->wide.look_ns * 2 : LOOK_NS;
	if (s->wide.next != UINT64_MAX)
		s->wide.next = s->now + (least > s->wide.look_ns ? least : s->wide.look_ns);
}
