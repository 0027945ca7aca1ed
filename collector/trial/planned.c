/* SPDX-License-Identifier: MIT */
/* Events of a plan, tried on ourselves: what tables say that a CPU can count, the kernel, a hypervisor or this user's
 * rights may still refuse. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/refusal.h"
#include "collector/events/event.h"
#include "collector/kernel/abi.h"
#include "collector/kernel/perf.h"
#include "collector/trial/probe.h"
#include "collector/trial/self.h"

/* What the kernel may take in place of what it has refused; false if there is nothing. */
static bool give_way(struct gus_event *e, int sys)
{
	if (sys == EINVAL && (e->extra & GUS_PERF_WEIGHT_STRUCT)) {
		e->extra = (e->extra & ~GUS_PERF_WEIGHT_STRUCT) | PERF_SAMPLE_WEIGHT;
		return true;
	}
	if ((sys == EOPNOTSUPP || sys == EINVAL) && e->cycles && e->precise > 1) {
		e->precise--;
		gus_event_rename(e);
		return true;
	}
	return false;
}

/* The n events of a group, from the first on. 0, or the errno of the one at *failed. */
static int try_group(struct gus_event *events, size_t n, size_t *failed)
{
	int *fds = gus_alloc(n * sizeof(*fds)), fd, sys = 0;
	size_t opened = 0;

	while (opened < n && !sys) {
		fd = gus_self_try(&events[opened], false, opened ? fds[0] : -1);
		if (fd >= 0)
			fds[opened++] = fd;
		else if (!give_way(&events[opened], -fd))
			sys = -fd;
	}
	*failed = opened;
	while (opened > 0)
		gus_perf.close(fds[--opened]);
	free(fds);
	return sys;
}

static size_t group_size(const struct gus_events *events, size_t at)
{
	size_t n = 1;

	while (events->v[at].group && at + n < events->n && events->v[at + n].group == events->v[at].group)
		n++;
	return n;
}

static void drop(struct gus_events *events, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++)
		gus_event_free(&events->v[i]);
	memmove(events->v + at, events->v + at + n, (events->n - at - n) * sizeof(*events->v));
	events->n -= n;
}

static bool is_time(const struct gus_event *e)
{
	return e->cycles || gus_event_is_clock(e);
}

/* For what was not tried there is no telling. */
static bool is_untried(int sys)
{
	const struct gus_error why = { GUS_E_SYSTEM, .sys = sys };

	return gus_error_is_transient(&why);
}

static bool leave_out_kernel(struct gus_events *events)
{
	bool changed = false;

	for (size_t i = 0; i < events->n; i++)
		changed |= gus_event_exclude_kernel(&events->v[i]);
	return changed;
}

int gus_probe_planned(struct gus_events *events, const struct gus_log *log, struct gus_error *err)
{
	bool left_out = false;
	size_t n, failed;

	for (size_t at = 0; at < events->n;) {
		struct gus_error why = { 0 };
		int sys;

		n = group_size(events, at);
		sys = try_group(&events->v[at], n, &failed);
		if (!sys) {
			at += n;
			continue;
		}
		if ((sys == EACCES || sys == EPERM) && leave_out_kernel(events)) {
			left_out = true;
			at = 0;
			continue;
		}
		gus_refusal_explain(&why, &events->v[at + failed], -1, sys);
		if (is_time(&events->v[at]) || is_untried(sys)) {
			*err = why;
			return -1;
		}
		gus_log(log, GUS_NOTE, "%s%s left out: %s", events->v[at].name, n > 1 ? " and its group are" : " is",
			why.text);
		drop(events, at, n);
	}
	if (left_out)
		gus_log(log, GUS_NOTE, "this user may not sample the kernel (kernel.perf_event_paranoid): its time "
			"is left out");
	return 0;
}
