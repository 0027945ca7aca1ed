/* SPDX-License-Identifier: MIT */
/* What the kernel has to say of such a group it says when it is opened:
 *
 * EINVAL of a sampled event that is inherited: before Linux 6.13 a sample could not have the counts of an event that
 * new tasks inherit, as it would have been those of all of them (perf_event_alloc() of kernel/events/core.c; commit
 * 7e8b255650fc "perf: Support PERF_SAMPLE_READ with inherit" made them each task's own, if samples tell the task).
 *
 * EINVAL of a group that has no room at once on the counters.
 *
 * EINVAL of an event that is not of the leader's PMU. */
#include "collector/trial/carried.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/error.h"
#include "collector/doctor/refusal.h"
#include "collector/events/event.h"
#include "collector/kernel/perf.h"
#include "collector/trial/self.h"

/* A group: its events stand together. */
struct group { struct gus_event *events; size_t n, leader; };

static struct group group_at(struct gus_events *events, size_t at)
{
	struct group g = { .events = &events->v[at] };

	while (at + g.n < events->n && events->v[at + g.n].group == events->v[at].group) {
		if (events->v[at + g.n].leads)
			g.leader = g.n;
		g.n++;
	}
	return g;
}

/* 0, or the errno of the one at *failed. */
static int try_group(const struct group *g, bool inherit, size_t *failed)
{
	int *fds = gus_alloc((g->n + 1) * sizeof(*fds)), sys = 0;
	size_t opened = 0;

	for (size_t i = 0; i <= g->n && !sys; i++) {
		size_t which = i ? i - 1 : g->leader;

		if (i && which == g->leader)
			continue;
		*failed = which;
		fds[opened] = gus_self_try(&g->events[which], inherit, opened ? fds[0] : -1);
		sys = fds[opened] < 0 ? -fds[opened] : 0;
		opened += !sys;
	}
	while (opened > 0)
		gus_perf.close(fds[--opened]);
	free(fds);
	return sys;
}

static struct gus_event *sampled_of(const struct group *g)
{
	size_t i = 0;

	while (i + 1 < g->n && g->events[i].counts)
		i++;
	return &g->events[i];
}

static bool is_refusal_of_group(int sys)
{
	return sys == EINVAL || sys == EOPNOTSUPP || sys == ENOENT;
}

/* As precise as it goes. */
static int settle_group(struct group *g, bool inherit, size_t *failed)
{
	struct gus_event *sampled = sampled_of(g);
	uint8_t asked = sampled->precise;
	int sys = try_group(g, inherit, failed);

	while (is_refusal_of_group(sys) && sampled->precise) {
		sampled->precise--;
		sys = try_group(g, inherit, failed);
	}
	if (sys)
		sampled->precise = asked;
	gus_event_rename(sampled);
	return sys;
}

int gus_trial_carried(struct gus_events *events, bool inherit, struct gus_error *err)
{
	for (size_t at = 0; at < events->n;) {
		struct group g = group_at(events, at);
		size_t failed = 0, other;
		int sys = settle_group(&g, inherit, &failed);

		if (sys == EINVAL && inherit && settle_group(&g, false, &other) == 0)
			return gus_fail(err, GUS_E_UNSUPPORTED, "this kernel gives samples no counts of tasks whose "
					"events new ones inherit (Linux 6.13 does): -a or -C watches CPUs, which have "
					"them, and -t threads; --topdown without =samples counts beside the samples");
		if (sys == EINVAL)
			return gus_fail(err, GUS_E_UNSUPPORTED, "the kernel refuses %s in one group with the %zu "
					"other events that its samples are to bring along: they do not fit onto the "
					"counters together, or one is not to be had here; --topdown without =samples "
					"counts beside the samples", g.events[failed].name, g.n - 1);
		if (sys)
			return gus_refusal_explain(err, &g.events[failed], -1, sys);
		at += g.n;
	}
	return 0;
}
