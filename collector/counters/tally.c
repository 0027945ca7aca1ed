/* SPDX-License-Identifier: MIT */
#include "collector/counters/tally.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "collector/events/attr.h"
#include "collector/events/pmu.h"
#include "collector/kernel/perf.h"

#define SPARE_FILES 32 /* for everything else that is open */

struct gus_tally_counter {
	int fd;
	uint32_t event;
	bool leader;
};

/* Whether its modifiers leave the kernel out. */
static bool leaves_out_kernel(const struct gus_event *e)
{
	return (e->user || e->hv) && !e->kernel;
}

/* Whether the event happens only inside the kernel, so that user space alone never counts one. */
static bool is_in_kernel(const struct gus_event *e)
{
	return e->type == PERF_TYPE_TRACEPOINT ||
	       (e->type == PERF_TYPE_SOFTWARE && (e->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						  e->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
						  e->config == PERF_COUNT_SW_CGROUP_SWITCHES));
}

double gus_count_scaled(const struct gus_count *c)
{
	if (!c->running_ns || c->running_ns >= c->enabled_ns)
		return (double)c->value;
	return (double)c->value * ((double)c->enabled_ns / (double)c->running_ns);
}

double gus_count_running(const struct gus_count *c)
{
	return c->enabled_ns ? (double)c->running_ns / (double)c->enabled_ns : 1;
}

/* Counts of inherited copies move to their parents when tasks end, and an instant in between may be missed. */
static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

struct gus_count gus_count_since(struct gus_count a, struct gus_count b)
{
	return (struct gus_count){ difference(a.value, b.value), difference(a.enabled_ns, b.enabled_ns),
				   difference(a.running_ns, b.running_ns) };
}

static void fill(union gus_attr *a, const struct gus_event *event, const struct gus_tally_place *place, bool leader,
		 bool on_exec)
{
	struct gus_attr_plan plan = { .inherit = place->pid >= 0, .enable_on_exec = on_exec };

	gus_attr_fill(a, event, &plan, leader);
	a->kernel.sample_type = 0;
	a->kernel.sample_period = 0;
	a->kernel.freq = 0;
	a->kernel.precise_ip = 0; /* of a sample; refused for what takes none */
	a->kernel.watermark = 0;
	a->kernel.wakeup_watermark = 0;
	a->kernel.sample_id_all = 0;
	a->kernel.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

static void raise_file_limit(size_t files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files + SPARE_FILES)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void set_state(struct gus_tally *t, uint32_t event, int sys)
{
	t->reasons[event] = sys;
	t->states[event] = sys == EACCES || sys == EPERM ? GUS_TALLY_REFUSED :
			   sys == ESRCH ? GUS_TALLY_GONE : GUS_TALLY_ABSENT;
}

/* All events at one place. A task that has ended and a CPU that has gone are passed over. */
static int open_place(struct gus_tally *t, const struct gus_tally_place *place, size_t *opened, struct gus_error *err)
{
	uint32_t group = 0;
	int group_fd = -1;

	for (uint32_t i = 0; i < t->events->n; i++) {
		const struct gus_event *e = &t->events->v[i];
		union gus_attr a;
		int fd;

		if (!e->group || e->group != group)
			group_fd = -1;
		group = e->group;
		if (t->states[i] != GUS_TALLY_OPEN ||
		    (place->cpu >= 0 && e->cpus && !gus_cpus_has(e->cpus, (unsigned)place->cpu)))
			continue;
		fill(&a, e, place, group_fd < 0, t->on_exec);
		fd = gus_attr_open(&a, place->pid, place->cpu, group_fd);
		if (fd == -EMFILE || fd == -ENFILE)
			return gus_fail_errno(err, -fd, "cannot open %s; one descriptor an event and task or CPU is "
					      "needed: raise the limit (ulimit -Hn) or count fewer events", e->name);
		if (fd == -ESRCH || fd == -ENODEV)
			return 0;
		if (fd < 0) {
			set_state(t, i, -fd);
			continue;
		}
		gus_vec_push(&t->list, (struct gus_tally_counter){ fd, i, group_fd < 0 });
		opened[i]++;
		if (e->group && group_fd < 0)
			group_fd = fd;
	}
	return 0;
}

/* An event that failed at one place would be too small a number: it is given up everywhere, and its group with it. */
static void give_up_failed(struct gus_tally *t)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < t->events->n; i++)
		for (uint32_t k = 0; k < t->events->n && t->states[i] == GUS_TALLY_OPEN; k++)
			if (t->events->v[i].group && t->events->v[i].group == t->events->v[k].group &&
			    t->states[k] != GUS_TALLY_OPEN) {
				t->states[i] = t->states[k];
				t->reasons[i] = t->reasons[k];
			}
	for (size_t i = 0; i < t->list.n; i++) {
		struct gus_tally_counter c = t->list.v[i];

		if (t->states[c.event] == GUS_TALLY_OPEN)
			t->list.v[kept++] = c;
		else
			gus_perf.close(c.fd);
	}
	t->list.n = kept;
}

int gus_tally_open(struct gus_tally *t, struct gus_events *events, const struct gus_tally_place *places, size_t n,
		   bool on_exec, struct gus_error *err)
{
	size_t *opened = gus_zalloc((events->n + 1) * sizeof(*opened));
	int rc = 0;

	*t = (struct gus_tally){ .events = events, .on_exec = on_exec };
	t->states = gus_zalloc((events->n + 1) * sizeof(*t->states));
	t->reasons = gus_zalloc((events->n + 1) * sizeof(*t->reasons));
	raise_file_limit(events->n * n);
	for (uint32_t i = 0; i < events->n; i++)
		if (is_in_kernel(&events->v[i]) && leaves_out_kernel(&events->v[i]))
			t->states[i] = GUS_TALLY_BLIND;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = open_place(t, &places[i], opened, err);
	for (uint32_t i = 0; i < events->n; i++)
		if (t->states[i] == GUS_TALLY_OPEN && !opened[i])
			set_state(t, i, places[0].pid >= 0 ? ESRCH : ENODEV);
	free(opened);
	give_up_failed(t);
	if (rc != 0)
		gus_tally_close(t);
	return rc;
}

void gus_tally_close(struct gus_tally *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		gus_perf.close(t->list.v[i].fd);
	gus_vec_free(&t->list);
	free(t->states);
	free(t->reasons);
	*t = (struct gus_tally){ 0 };
}

static void tell_leaders(struct gus_tally *t, unsigned long request)
{
	for (size_t i = 0; i < t->list.n; i++)
		if (t->list.v[i].leader)
			gus_perf.ioctl(t->list.v[i].fd, request, 0);
}

void gus_tally_enable(struct gus_tally *t)
{
	tell_leaders(t, PERF_EVENT_IOC_ENABLE);
}

void gus_tally_disable(struct gus_tally *t)
{
	tell_leaders(t, PERF_EVENT_IOC_DISABLE);
}

static bool read_counter(int fd, uint64_t v[3])
{
	ssize_t got;

	do
		got = gus_perf.read(fd, v, 3 * sizeof(*v));
	while (got < 0 && errno == EINTR);
	return got == 3 * sizeof(*v);
}

void gus_tally_read(const struct gus_tally *t, struct gus_count *counts)
{
	for (size_t i = 0; i < t->events->n; i++)
		counts[i] = (struct gus_count){ 0 };
	for (size_t i = 0; i < t->list.n; i++) {
		uint64_t v[3] = { 0 };
		struct gus_count *c = &counts[t->list.v[i].event];

		/* A pinned event that found no counter reads as the end of a file: it was to be counted, and was
		 * not. */
		if (!read_counter(t->list.v[i].fd, v))
			v[1] = 1;
		c->value += v[0];
		c->enabled_ns += v[1];
		c->running_ns += v[2];
	}
}
