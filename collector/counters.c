/* SPDX-License-Identifier: MIT */
#include "collector/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "collector/pmu.h"

#define REDRAW_MIN_NS 100000000
#define REDRAW_PERIODS 250
#define SPARE_FILES 32 /* for everything else that is open */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A CPU is opened if it is online; the highest number there can be is beyond any kernel's limit. */
static void online_cpus(char *list, size_t size)
{
	if (!gus_read_text("/sys/devices/system/cpu/online", list, size))
		snprintf(list, size, "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
}

static unsigned next_cpu(const char *list, unsigned from)
{
	unsigned limit = 8192;

	while (from < limit && !gus_cpus_has(list, from))
		from++;
	return from < limit ? from : UINT32_MAX;
}

static void raise_file_limit(size_t files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files + SPARE_FILES)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Precise hardware samples are stamped by the hardware, in the kernel's own clock only. */
static bool wants_kernel_clock(const struct gus_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i].precise && gus_event_is_hardware(&events->v[i]))
			return true;
	return false;
}

bool gus_counters_monotonic(const struct gus_counters *c)
{
	return (c->plan.features & GUS_ATTR_CLOCK) != 0;
}

/* The tracking event of a CPU and its ring. Returns 0 or -errno; 1 if the CPU has gone. */
static int open_cpu(struct gus_counters *c, const struct gus_target *target, unsigned cpu, size_t ring_bytes,
		    struct gus_error *err)
{
	struct gus_event dummy = { .name = (char *)(uintptr_t)"the side band (dummy event)" };
	struct gus_ring ring;
	int fd = gus_attr_open_tracking(&c->plan, target->pid, (int)cpu);

	if (fd == -ENODEV)
		return 1;
	if (fd < 0)
		return gus_attr_explain(err, &dummy, (int)cpu, -fd);
	gus_vec_push(&c->tracking, fd);
	if (gus_ring_map(&ring, fd, cpu, ring_bytes, err) != 0)
		return -1;
	gus_vec_push(&c->rings, ring);
	return 0;
}

/* An event on the CPU of the newest ring. Returns 0 or -errno of the open; -1 with err set for anything else. */
static int open_counter(struct gus_counters *c, uint32_t number, pid_t pid, unsigned cpu, int *group_fd,
			struct gus_error *err)
{
	const struct gus_event *e = &c->events->v[number];
	struct gus_counter counter = { .event = number, .leader = *group_fd < 0, .period = e->period };
	union gus_attr a;
	uint64_t id;

	gus_attr_fill(&a, e, &c->plan, counter.leader);
	counter.fd = gus_attr_open(&a, pid, (int)cpu, *group_fd);
	if (counter.fd < 0)
		return counter.fd;
	gus_vec_push(&c->list, counter);
	if (ioctl(counter.fd, PERF_EVENT_IOC_SET_OUTPUT, c->tracking.v[c->tracking.n - 1]) != 0)
		return gus_fail_errno(err, errno, "cannot join the ring of %s on cpu %u with the others", e->name, cpu);
	if (ioctl(counter.fd, PERF_EVENT_IOC_ID, &id) != 0)
		return gus_fail_errno(err, errno, "cannot ask for the id of %s on cpu %u", e->name, cpu);
	gus_records_add_id(&c->records, id, number);
	if (e->group)
		*group_fd = *group_fd < 0 ? counter.fd : *group_fd;
	return 0;
}

/* All events on one CPU. *refused is set if permission was what failed. */
static int open_events(struct gus_counters *c, pid_t pid, unsigned cpu, bool *refused, struct gus_error *err)
{
	uint32_t group = 0;
	int group_fd = -1;

	for (uint32_t i = 0; i < c->events->n; i++) {
		const struct gus_event *e = &c->events->v[i];
		int rc;

		if (e->cpus && !gus_cpus_has(e->cpus, cpu))
			continue;
		if (!e->group || e->group != group)
			group_fd = -1;
		group = e->group;
		rc = open_counter(c, i, pid, cpu, &group_fd, err);
		if (rc == 0)
			continue;
		*refused = !err->code && (rc == -EACCES || rc == -EPERM);
		return err->code ? -1 : gus_attr_explain(err, e, (int)cpu, -rc);
	}
	return 0;
}

static int open_all(struct gus_counters *c, const struct gus_target *target, const struct gus_counters_options *options,
		    bool *refused, struct gus_error *err)
{
	char cpus[4096];

	c->plan = (struct gus_attr_plan){
		.features = GUS_ATTR_ALL & ~(options->switches ? 0 : GUS_ATTR_SWITCH) &
			    ~(wants_kernel_clock(c->events) ? GUS_ATTR_CLOCK : 0),
		.call_graph = options->call_graph,
		.inherit = true,
		.enable_on_exec = target->starts_by_exec && !options->late,
		.wakeup_bytes = (uint32_t)options->ring_bytes / 4,
	};
	gus_records_init(&c->records, gus_attr_sample_type(&c->plan), (uint32_t)c->events->n);
	online_cpus(cpus, sizeof(cpus));
	for (unsigned cpu = next_cpu(cpus, 0); cpu != UINT32_MAX; cpu = next_cpu(cpus, cpu + 1)) {
		int rc = open_cpu(c, target, cpu, options->ring_bytes, err);

		if (rc == 1)
			continue;
		if (rc != 0 || open_events(c, target->pid, cpu, refused, err) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < c->events->n; i++) {
		bool opened = false;

		for (size_t k = 0; k < c->list.n; k++)
			opened |= c->list.v[k].event == i;
		if (!opened)
			return gus_attr_explain(err, &c->events->v[i], -1, ENODEV);
	}
	return 0;
}

/* Whether leaving out the kernel is something new for at least one event. */
static bool leave_out_kernel(struct gus_events *events)
{
	bool changed = false;

	for (size_t i = 0; i < events->n; i++)
		changed |= gus_event_exclude_kernel(&events->v[i]);
	return changed;
}

int gus_counters_open(struct gus_counters *c, struct gus_events *events, const struct gus_target *target,
		      const struct gus_counters_options *options, const struct gus_log *log, struct gus_error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool refused = false;

	*c = (struct gus_counters){ .events = events, .random = { now_ns() } };
	raise_file_limit((size_t)(cpus > 0 ? cpus : 1) * (events->n + 1));
	if (open_all(c, target, options, &refused, err) == 0)
		return 0;
	gus_counters_close(c);
	if (!refused || !leave_out_kernel(events))
		return -1;
	*err = (struct gus_error){ 0 };
	*c = (struct gus_counters){ .events = events, .random = { now_ns() } };
	if (open_all(c, target, options, &refused, err) == 0) {
		gus_log(log, GUS_NOTE, "the kernel may not be sampled by this user (kernel.perf_event_paranoid): its "
			"time is left out");
		return 0;
	}
	gus_counters_close(c);
	return -1;
}

void gus_counters_close(struct gus_counters *c)
{
	for (size_t i = 0; i < c->rings.n; i++)
		gus_ring_unmap(&c->rings.v[i]);
	for (size_t i = 0; i < c->list.n; i++)
		close(c->list.v[i].fd);
	for (size_t i = 0; i < c->tracking.n; i++)
		close(c->tracking.v[i]);
	gus_vec_free(&c->rings);
	gus_vec_free(&c->list);
	gus_vec_free(&c->tracking);
	gus_records_free(&c->records);
}

/* Members of a group follow their leader. Both requests reach the copies that tasks have inherited. */
void gus_counters_enable(struct gus_counters *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.v[i].leader)
			ioctl(c->list.v[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void gus_counters_disable(struct gus_counters *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.v[i].leader)
			ioctl(c->list.v[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < c->tracking.n; i++)
		ioctl(c->tracking.v[i], PERF_EVENT_IOC_DISABLE, 0);
}

void gus_counters_redraw(struct gus_counters *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		struct gus_counter *k = &c->list.v[i];
		uint64_t period;

		if (!c->events->v[k->event].jitter)
			continue;
		period = gus_period_draw(&c->random, c->events->v[k->event].period);
		if (ioctl(k->fd, PERF_EVENT_IOC_PERIOD, &period) == 0)
			k->period = period;
	}
}

uint64_t gus_counters_redraw_interval(const struct gus_counters *c)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < c->events->n; i++)
		if (c->events->v[i].jitter && c->events->v[i].period > longest)
			longest = c->events->v[i].period;
	if (!longest)
		return UINT64_MAX;
	return longest * REDRAW_PERIODS > REDRAW_MIN_NS ? longest * REDRAW_PERIODS : REDRAW_MIN_NS;
}

uint64_t gus_counters_weight(const struct gus_counters *c, const struct gus_record *record)
{
	if (record->slot == GUS_INDEX_NONE || record->inherited || !c->events->v[record->sample.event].jitter)
		return record->sample.period;
	return c->list.v[record->slot].period;
}

void gus_counters_totals(const struct gus_counters *c, Gusprof__EventTotal *totals)
{
	bool tells_lost = c->plan.features & GUS_ATTR_LOST;

	if (tells_lost)
		for (size_t i = 0; i < c->events->n; i++)
			totals[i].lost = 0; /* better than what the rings' own records add up to */
	for (size_t i = 0; i < c->list.n; i++) {
		struct { uint64_t count, enabled, running, id, lost; } v = { 0 };
		Gusprof__EventTotal *t = &totals[c->list.v[i].event];

		if (read(c->list.v[i].fd, &v, sizeof(v)) < (ssize_t)(4 * sizeof(uint64_t)))
			continue;
		t->count += v.count;
		/* Enabled is how long the task ran on any CPU, running how long on this one. */
		t->enabled_ns = v.enabled > t->enabled_ns ? v.enabled : t->enabled_ns;
		t->running_ns += v.running;
		t->lost += tells_lost ? v.lost : 0;
	}
}
