/* SPDX-License-Identifier: MIT */
/* How counters are opened: the rings, then each event on each CPU for each task of the target. */
#include "collector/counters/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/counters/ring.h"
#include "collector/doctor/refusal.h"
#include "collector/events/pmu.h"
#include "collector/host/clock.h"
#include "collector/host/procfs.h"
#include "collector/host/text.h"
#include "collector/kernel/perf.h"
#include "collector/target/target.h"

#define SPARE_FILES 32       /* for everything else that is open */
#define RECORD_REST 1024     /* bytes of a sample's record beside its stack: registers, the kernel's chain */
#define RING_RECORDS 1024    /* samples with stacks that a ring should hold, as far as */
#define RING_BYTES_MAX (8u << 20)     /* it gets no larger than this, */
#define RINGS_BYTES_MAX (256u << 20)  /* and all of them not than that */
#define RING_BYTES_MIN (32u << 10)
#define RING_RECORDS_MIN 16  /* with less room the stacks get smaller */
#define SIDE_RING_BYTES (128u << 10) /* beside a flight recorder's */
/* Of what hardware writes, a CPU: 4,000 records of SPE. With the ring, which has less to hold then, it is what an
 * ordinary user may lock a CPU by default (perf_event_mlock_kb, 516). */
#define AUX_BYTES (256u << 10)
#define RING_BESIDE_AUX (128u << 10)
#define ATTACH_NS 1000000000ULL      /* when threads are born faster than they are opened */
#define ATTACH_PASSES 4
#define REFUSED 2            /* a return value: permission is what failed */
#define GONE 1               /* likewise: the task or the CPU is not there any more */

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

/* Descriptors for so many more tasks. The soft limit is a default and ours to raise; the hard one is a decision. */
static int reserve_files(const struct gus_counters *c, size_t tasks, struct gus_error *err)
{
	size_t each = c->rings.n * (c->events->n + c->separate);
	size_t need = c->list.n + c->tracking.n + c->holders.n + tasks * each + SPARE_FILES;
	struct rlimit limit;
	char *what;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
		return 0;
	limit.rlim_cur = limit.rlim_max < need ? need : limit.rlim_max;
	limit.rlim_max = limit.rlim_max < need ? need : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return 0;
	getrlimit(RLIMIT_NOFILE, &limit);
	what = gus_target_describe(c->target);
	gus_fail(err, GUS_E_FULL, "cannot watch %s: %zu tasks on %zu CPUs need %zu descriptors, and this user may "
		 "open %llu; raise the limit (ulimit -Hn), watch fewer CPUs (-C), or all tasks at once (-a)",
		 what, tasks, c->rings.n, need, (unsigned long long)limit.rlim_max);
	free(what);
	return -1;
}

/* Precise hardware samples are stamped by the hardware, in the kernel's own clock only; so are Arm's records, whose
 * ticks the kernel says how to convert into that clock. */
static bool wants_kernel_clock(const struct gus_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if ((events->v[i].precise && gus_event_is_hardware(&events->v[i])) ||
		    events->v[i].words == GUS_WORDS_SPE)
			return true;
	return false;
}

/* Rings. */

static int open_ring(struct gus_counters *c, struct gus_rings *rings, unsigned cpu, size_t bytes, bool backward,
		     struct gus_error *err)
{
	struct gus_event holder = { .name = (char *)(uintptr_t)"the ring (dummy event)" };
	struct gus_attr_plan plan = c->plan;
	struct gus_ring ring;
	union gus_attr a;
	int fd;

	plan.backward = backward;
	gus_attr_fill_holder(&a, &plan);
	fd = gus_attr_open(&a, 0, (int)cpu, -1);
	if (fd == -ENODEV)
		return GONE;
	if (fd < 0)
		return gus_refusal_explain(err, &holder, (int)cpu, -fd);
	gus_vec_push(&c->holders, fd);
	if ((backward ? gus_ring_map_flight : gus_ring_map)(&ring, fd, cpu, bytes, err) != 0)
		return -1;
	gus_vec_push(rings, ring);
	if (rings == &c->rings)
		gus_vec_push(&c->auxes, (struct gus_aux){ 0 });
	return 0;
}

static bool is_watched(const struct gus_counters *c, unsigned cpu)
{
	return !c->target->cpus || gus_cpus_has(c->target->cpus, cpu);
}

static int open_rings_of(struct gus_counters *c, bool overwrite, size_t bytes, const char *cpus, struct gus_error *err)
{
	c->plan.wakeup_bytes = (uint32_t)bytes / 4;
	for (unsigned cpu = next_cpu(cpus, 0); cpu != UINT32_MAX; cpu = next_cpu(cpus, cpu + 1)) {
		int rc;

		if (!is_watched(c, cpu))
			continue;
		rc = open_ring(c, &c->rings, cpu, overwrite ? SIDE_RING_BYTES : bytes, false, err);
		if (rc == 0 && overwrite)
			rc = open_ring(c, &c->flights, cpu, bytes, true, err);
		if (rc < 0)
			return -1;
	}
	return c->rings.n ? 0 : gus_fail(err, GUS_E_UNSUPPORTED, "none of the CPUs to be watched is online");
}

/* A record with a stack is a hundred times as large as one without, and its reader comes no more often. */
static size_t wanted_bytes(const struct gus_counters *c, const struct gus_counters_options *o, const char *cpus)
{
	size_t each = o->cargo.stack_bytes + RECORD_REST, bytes = o->ring_bytes, n = 0;

	for (unsigned cpu = next_cpu(cpus, 0); cpu != UINT32_MAX; cpu = next_cpu(cpus, cpu + 1))
		n += is_watched(c, cpu);
	for (size_t i = 0; i < c->events->n; i++)
		if (c->events->v[i].words == GUS_WORDS_SPE && bytes > RING_BESIDE_AUX)
			bytes = RING_BESIDE_AUX;
	while (o->cargo.stack_bytes && bytes < RING_RECORDS * each && bytes < RING_BYTES_MAX &&
	       2 * bytes * n <= RINGS_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

/* Of what was wanted, or of what the user's locked memory has room for: all of one size, as else the last ones got
 * what the first ones left. */
static size_t smallest(const struct gus_rings *rings)
{
	size_t size = rings->v[0].size;

	for (size_t i = 1; i < rings->n; i++)
		size = rings->v[i].size < size ? rings->v[i].size : size;
	return size;
}

static int open_rings(struct gus_counters *c, const struct gus_counters_options *o, struct gus_error *err)
{
	const struct gus_rings *of_samples = o->overwrite ? &c->flights : &c->rings;
	size_t bytes, got;
	char cpus[4096];
	int rc;

	online_cpus(cpus, sizeof(cpus));
	bytes = wanted_bytes(c, o, cpus);
	for (;; bytes /= 2) {
		struct gus_error why = { 0 };

		rc = open_rings_of(c, o->overwrite, bytes, cpus, &why);
		got = rc == 0 ? smallest(of_samples) : 0;
		if (rc == 0 && got == bytes)
			return 0;
		if ((rc != 0 && why.sys != EPERM) || bytes <= RING_BYTES_MIN) {
			if (rc != 0 && err)
				*err = why;
			return rc;
		}
		gus_counters_close_rings(c);
	}
}

/* A ring must have room for some records, or most are lost while one is read. */
static void fit_stack(struct gus_counters *c)
{
	size_t room = smallest(c->flights.n ? &c->flights : &c->rings) / RING_RECORDS_MIN;
	size_t most = room > RECORD_REST ? (room - RECORD_REST) / 8 * 8 : 8;

	if (c->plan.cargo.stack_bytes > most)
		c->plan.cargo.stack_bytes = (uint32_t)most;
}

/* Events for one task on one CPU. Each of these returns 0, GONE, REFUSED or -1. */

static int open_fd(const struct gus_counters *c, const union gus_attr *a, pid_t task, unsigned cpu, int group_fd)
{
	if (c->target->kind == GUS_TARGET_CGROUP)
		return gus_attr_open_cgroup(a, c->target->cgroup_fd, (int)cpu, group_fd);
	return gus_attr_open(a, task, (int)cpu, group_fd);
}

static int explain(const struct gus_counters *c, const struct gus_event *e, pid_t task, unsigned cpu, int sys,
		   struct gus_error *err)
{
	if (task < 0 && c->by_cpu && (sys == EACCES || sys == EPERM))
		gus_fail(err, GUS_E_PERMISSION, "cannot sample the CPUs for what the target does there (%s on cpu %u): "
			 "permission denied; lower kernel.perf_event_paranoid to 0, get CAP_PERFMON or run gusprof as "
			 "root, or leave out --sample-cpus=always", e->name, cpu);
	else
		gus_target_explain(err, c->target, task, e, (int)cpu, sys);
	return sys == EACCES || sys == EPERM ? REFUSED : -1;
}

static int open_tracker(struct gus_counters *c, pid_t task, const struct gus_ring *ring, struct gus_error *err)
{
	struct gus_event dummy = { .name = (char *)(uintptr_t)"the side band (dummy event)" };
	struct gus_attr_plan plan = c->plan;
	union gus_attr a;
	int fd;

	if (c->flights.n)
		plan.features &= ~(unsigned)GUS_ATTR_SWITCH;
	gus_attr_fill_tracking(&a, &plan);
	fd = open_fd(c, &a, task, ring->cpu, -1);
	if (fd == -ESRCH)
		return GONE;
	if (fd < 0)
		return explain(c, &dummy, task, ring->cpu, -fd, err);
	gus_vec_push(&c->tracking, fd);
	if (gus_perf.ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0)
		return gus_fail_errno(err, errno, "cannot join the ring of cpu %u", ring->cpu);
	return 0;
}

/* An event of a CPU beside those of the tasks: what runs when nobody does is none of the target's, and the timer of a
 * clock is spared a look at it. */
static void fill_wide(const struct gus_counters *c, uint32_t number, bool leader, union gus_attr *a)
{
	struct gus_event e = c->events->v[number];
	struct gus_attr_plan plan = c->plan;

	plan.inherit = false;
	plan.enable_on_exec = false;
	e.no_idle |= gus_event_is_clock(&e);
	gus_attr_fill(a, &e, &plan, leader);
}

/* The first event does what the side band needs, where it has no events of its own. */
static void fill_event(const struct gus_counters *c, uint32_t number, bool leader, union gus_attr *a)
{
	struct gus_attr_plan plan = c->plan;

	plan.backward = c->flights.n != 0;
	gus_attr_fill(a, &c->events->v[number], &plan, leader);
	if (c->by_cpu && !c->events->v[number].at_switch)
		gus_attr_silence(a);
	if (number == 0 && !c->separate)
		gus_attr_add_tracking(a, &plan);
	else if (number == 0 && plan.backward)
		gus_attr_add_switches(a, &plan);
}

/* Has an event with a rate ask for no more than the kernel allows now. Returns whether it did. */
static bool limit_rate(union gus_attr *a)
{
	uint64_t limit = gus_read_rate_limit();

	if (!a->kernel.freq || a->kernel.sample_freq <= limit)
		return false;
	a->kernel.sample_freq = limit;
	return true;
}

static int fail_id(const struct gus_counters *c, const struct gus_counter *counter, struct gus_error *err)
{
	gus_fail_errno(err, errno, "cannot ask for the id of %s on cpu %u", c->events->v[counter->event].name,
		       counter->cpu);
	gus_perf.close(counter->fd);
	return -1;
}

static int open_counter(struct gus_counters *c, uint32_t number, pid_t task, size_t lane, int *group_fd,
			struct gus_error *err)
{
	const struct gus_event *e = &c->events->v[number];
	const struct gus_ring *ring = c->flights.n ? &c->flights.v[lane] : &c->rings.v[lane];
	struct gus_counter counter = { .event = number, .task = task, .cpu = ring->cpu, .leader = *group_fd < 0,
				       .period = e->period, .wide = c->by_cpu && task < 0,
				       .silent = e->counts || (c->by_cpu && task >= 0 && !e->at_switch) };
	union gus_attr a;

	(counter.wide ? fill_wide : fill_event)(c, number, counter.leader, &a);
	counter.fd = open_fd(c, &a, task, ring->cpu, *group_fd);
	/* The limit may have been lowered since the rate was chosen. What was not asked for can be less. */
	if (counter.fd == -EINVAL && e->governed && limit_rate(&a))
		counter.fd = open_fd(c, &a, task, ring->cpu, *group_fd);
	if (counter.fd == -ESRCH)
		return GONE;
	if (counter.fd < 0)
		return explain(c, e, task, ring->cpu, -counter.fd, err);
	if (gus_perf.ioctl(counter.fd, PERF_EVENT_IOC_ID, &counter.id) != 0)
		return fail_id(c, &counter, err);
	gus_vec_push(&c->list, counter);
	c->open++;
	if (gus_perf.ioctl(counter.fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0)
		return gus_fail_errno(err, errno, "cannot join the ring of %s on cpu %u with the others", e->name,
				      ring->cpu);
	if (e->words == GUS_WORDS_SPE && !c->auxes.v[lane].control &&
	    gus_aux_map(&c->auxes.v[lane], &c->rings.v[lane], counter.fd, AUX_BYTES, err) != 0)
		return -1;
	gus_records_add_id(&c->records, counter.id, number);
	if (e->group)
		*group_fd = *group_fd < 0 ? counter.fd : *group_fd;
	return 0;
}

/* Which event is opened in place number i: as they are listed, but for who leads a group, which is opened before the
 * others of it. */
static uint32_t opened_at(const struct gus_events *events, uint32_t i)
{
	uint32_t first = i, leader;

	if (!events->v[i].group)
		return i;
	while (first && events->v[first - 1].group == events->v[i].group)
		first--;
	for (leader = first; leader < events->n && events->v[leader].group == events->v[i].group; leader++)
		if (events->v[leader].leads)
			return i == first ? leader : i <= leader ? i - 1 : i;
	return i;
}

static int open_on_cpu(struct gus_counters *c, pid_t task, size_t lane, struct gus_error *err)
{
	uint32_t group = 0;
	int group_fd = -1, rc = 0;

	if (c->separate && !(c->by_cpu && task < 0))
		rc = open_tracker(c, task, &c->rings.v[lane], err);
	for (uint32_t at = 0; rc == 0 && at < c->events->n; at++) {
		uint32_t i = opened_at(c->events, at);
		const struct gus_event *e = &c->events->v[i];

		if (e->cpus && !gus_cpus_has(e->cpus, c->rings.v[lane].cpu))
			continue;
		/* A switch is sampled or not, and nothing of it lies before it: the tasks' own events miss none. */
		if (e->at_switch && c->by_cpu && task < 0)
			continue;
		if (!e->group || e->group != group)
			group_fd = -1;
		group = e->group;
		rc = open_counter(c, i, task, lane, &group_fd, err);
	}
	return rc;
}

/* A task that has gone half-way leaves counters that will never count again, which does no harm. */
static int open_task(struct gus_counters *c, pid_t task, uint64_t from, struct gus_error *err)
{
	bool is_new;
	uint32_t number = gus_index_add(&c->opened_ids, &task, &is_new);

	if (is_new)
		gus_vec_push(&c->opened, (struct gus_opened){ 0 });
	c->opened.v[number] = (struct gus_opened){ from, UINT64_MAX, c->list.n };
	for (size_t lane = 0; lane < c->rings.n; lane++) {
		int rc = open_on_cpu(c, task, lane, err);

		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Targets. */

/* The listed tasks that have not been opened for the time that begins at from. */
static bool fresh_tasks(const struct gus_counters *c, gus_task_lister *list, void *context, uint64_t from,
			struct gus_tids *fresh)
{
	struct gus_tids tids = { 0 };
	bool any = list(&tids, context);

	fresh->n = 0;
	for (size_t i = 0; i < tids.n; i++) {
		uint32_t number = gus_index_find(&c->opened_ids, &tids.v[i]);

		if (number == GUS_INDEX_NONE || c->opened.v[number].from != from)
			gus_vec_push(fresh, tids.v[i]);
	}
	gus_vec_free(&tids);
	return any;
}

/* A thread has our events if it was opened, or if its creator was before it was born. So the list of threads is read
 * again until two readings in a row (a reading can miss some while others end) show nothing new. Where threads are born
 * faster than we can open them that would never be: but then, after a few readings, those that are new have creators
 * that were opened. A thread that is opened after it has inherited is counted twice: see gus_counters_repeats. */
static int open_listed(struct gus_counters *c, gus_task_lister *list, void *context, uint64_t from,
		       struct gus_error *err)
{
	uint64_t give_up = gus_clock_ns(CLOCK_MONOTONIC) + ATTACH_NS;
	struct gus_tids fresh = { 0 };
	unsigned quiet = 0;
	int rc = 0;

	c->may_repeat = true;
	for (unsigned pass = 0; rc == 0 && quiet < 2 &&
	     (pass < ATTACH_PASSES || gus_clock_ns(CLOCK_MONOTONIC) < give_up); pass++) {
		if (!fresh_tasks(c, list, context, from, &fresh))
			break;
		quiet = fresh.n ? 0 : quiet + 1;
		rc = reserve_files(c, fresh.n, err);
		for (size_t i = 0; rc == 0 && i < fresh.n; i++) {
			rc = open_task(c, fresh.v[i], from, err);
			rc = rc == GONE ? 0 : rc;
		}
	}
	gus_vec_free(&fresh);
	return rc;
}

static bool list_watched(struct gus_tids *tids, void *context)
{
	const struct gus_target *t = context;
	bool any = false;

	for (size_t i = 0; i < t->watches.n; i++)
		any |= gus_tids_of(t->watches.v[i].id, tids);
	return any;
}

static int open_threads(struct gus_counters *c, struct gus_error *err)
{
	int rc = reserve_files(c, c->target->watches.n, err);

	for (size_t i = 0; rc == 0 && i < c->target->watches.n; i++) {
		rc = open_task(c, c->target->watches.v[i].id, 0, err);
		rc = rc == GONE ? 0 : rc;
	}
	return rc;
}

/* The events of the CPUs, beside those of the tasks. */
static int open_wide(struct gus_counters *c, uint64_t from, struct gus_error *err)
{
	int rc = reserve_files(c, 1, err);

	return rc == 0 ? open_task(c, -1, from, err) : rc;
}

static int open_target(struct gus_counters *c, struct gus_error *err)
{
	char *what;
	int rc;

	switch (c->target->kind) {
	case GUS_TARGET_PROCESSES:
		rc = open_listed(c, list_watched, c->target, 0, err);
		break;
	case GUS_TARGET_THREADS:
		rc = open_threads(c, err);
		break;
	default:
		rc = reserve_files(c, 1, err);
		if (rc == 0)
			rc = open_task(c, c->target->kind == GUS_TARGET_COMMAND ? c->child : -1, 0, err);
		rc = rc == GONE ? 0 : rc;
	}
	if (rc == 0 && c->list.n && c->by_cpu)
		rc = open_wide(c, 0, err);
	if (rc != 0 || c->list.n)
		return rc;
	what = gus_target_describe(c->target);
	gus_fail(err, GUS_E_NOT_FOUND, "cannot watch %s: ended just now", what);
	free(what);
	return -1;
}

/* An event of one kind of cores may be open nowhere. */
static int check_opened(const struct gus_counters *c, struct gus_error *err)
{
	for (uint32_t i = 0; i < c->events->n; i++) {
		bool opened = false;

		for (size_t k = 0; k < c->list.n && !opened; k++)
			opened = c->list.v[k].event == i;
		if (!opened)
			return gus_refusal_explain(err, &c->events->v[i], -1, ENODEV);
	}
	return 0;
}

static bool has_own_layout(const struct gus_counters *c, const struct gus_event *e)
{
	return gus_attr_sample_type_of(&c->plan, e) != c->records.layout.sample_type;
}

/* Where samples of some events bring more along than those of others. */
static void lay_out_events(struct gus_counters *c)
{
	bool any = false;

	for (size_t i = 0; i < c->events->n; i++)
		any |= has_own_layout(c, &c->events->v[i]);
	for (size_t i = 0; any && i < c->events->n; i++) {
		struct gus_records_layout layout = c->records.layout;

		layout.sample_type = gus_attr_sample_type_of(&c->plan, &c->events->v[i]);
		layout.read_format = gus_attr_read_format(&c->plan, &c->events->v[i]);
		gus_vec_push(&c->records.layouts, layout);
	}
}

static int open_all(struct gus_counters *c, const struct gus_counters_options *o, struct gus_error *err)
{
	enum gus_target_kind kind = c->target->kind;
	struct gus_event dummy = { .name = (char *)(uintptr_t)"the side band (dummy event)" };
	int rc;

	c->plan = (struct gus_attr_plan){
		.features = GUS_ATTR_ALL & ~(o->switches ? 0 : GUS_ATTR_SWITCH) &
			    ~(wants_kernel_clock(c->events) ? GUS_ATTR_CLOCK : 0),
		.cargo = o->cargo,
		.inherit = kind == GUS_TARGET_COMMAND || kind == GUS_TARGET_PROCESSES,
		.enable_on_exec = kind == GUS_TARGET_COMMAND && !o->late,
	};
	/* Who is led begins with its leader, and the side band should not wait for that. */
	c->separate = o->late || o->pausable || o->overwrite || c->events->v[0].cpus || opened_at(c->events, 0) != 0;
	rc = gus_attr_settle(&c->plan);
	if (rc < 0)
		return gus_refusal_explain(err, &dummy, -1, -rc);
	gus_records_init(&c->records, gus_attr_sample_type(&c->plan), c->plan.cargo.branch_type,
			 (uint32_t)c->events->n);
	c->records.layout.regs_mask = GUS_CARGO_REGS;
	lay_out_events(c);
	for (uint32_t i = 0; i < c->events->n; i++)
		if (c->events->v[i].at_switch)
			c->records.unweighed = i + 1;
	rc = open_rings(c, o, err);
	if (rc == 0) {
		fit_stack(c);
		rc = open_target(c, err);
	}
	return rc == 0 ? check_opened(c, err) : rc;
}

/* Whether leaving out the kernel is something new for at least one event. */
static bool leave_out_kernel(struct gus_events *events)
{
	bool changed = false;

	for (size_t i = 0; i < events->n; i++)
		changed |= gus_event_exclude_kernel(&events->v[i]);
	return changed;
}

static void init(struct gus_counters *c, struct gus_events *events, struct gus_target *target,
		 const struct gus_counters_options *o)
{
	*c = (struct gus_counters){ .events = events, .target = target, .child = o->child, .by_cpu = o->by_cpu,
				    .random = { gus_clock_ns(CLOCK_MONOTONIC) } };
	c->on = !o->late && o->child; /* a command switches its events on itself */
	gus_index_init(&c->opened_ids, sizeof(pid_t));
	for (size_t i = 0; i < events->n; i++) {
		gus_vec_push(&c->repeated, 0);
		gus_vec_push(&c->closed, (struct gus_counted){ 0 });
		gus_vec_push(&c->on_ns, 0);
	}
}

static void say_stack(const struct gus_counters *c, const struct gus_counters_options *o, const struct gus_log *log)
{
	const struct gus_ring *ring = c->flights.n ? c->flights.v : c->rings.v;
	uint32_t bytes = c->plan.cargo.stack_bytes;

	if (bytes < o->cargo.stack_bytes)
		gus_log(log, GUS_NOTE, "samples bring %u bytes of the stack along instead of %u, as a ring has only "
			"%zu KiB: this user may not lock more memory (kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK)",
			bytes, o->cargo.stack_bytes, ring->size >> 10);
}

int gus_counters_open(struct gus_counters *c, struct gus_events *events, struct gus_target *target,
		      const struct gus_counters_options *options, const struct gus_log *log, struct gus_error *err)
{
	struct gus_error first = { 0 };
	int rc;

	init(c, events, target, options);
	rc = open_all(c, options, &first);
	if (rc == REFUSED && !options->as_they_are && leave_out_kernel(events)) {
		gus_counters_close(c);
		init(c, events, target, options);
		first = (struct gus_error){ 0 };
		rc = open_all(c, options, &first);
		if (rc == 0)
			gus_log(log, GUS_NOTE, "the kernel may not be sampled by this user "
					"(kernel.perf_event_paranoid): its time is left out");
	}
	if (rc == 0) {
		say_stack(c, options, log);
		return 0;
	}
	gus_counters_close(c);
	if (err)
		*err = first;
	return -1;
}

/* Renewal. */

static void close_trackers(struct gus_counters *c, size_t from, size_t to)
{
	if (from == to)
		return;
	for (size_t i = from; i < to; i++)
		gus_perf.close(c->tracking.v[i]);
	memmove(c->tracking.v + from, c->tracking.v + to, (c->tracking.n - to) * sizeof(*c->tracking.v));
	c->tracking.n -= to - from;
}

/* The old ones end before the new ones begin: a moment that nobody counts, rather than one that is counted twice. The
 * side band overlaps instead, as a mapping that is told twice does no harm. */
static int renew(struct gus_counters *c, gus_task_lister *list, void *context, uint64_t now, bool enable,
		 struct gus_error *err)
{
	size_t old = c->list.n, old_tracking = c->tracking.n;
	int rc;

	c->plan.enable_on_exec = false;
	rc = open_listed(c, list, context, now, err);
	if (rc == 0 && c->by_cpu && c->list.n > old)
		rc = open_wide(c, now, err);
	if (rc != 0 || c->list.n == old) {
		gus_counters_retire(c, old, c->list.n); /* never started, they add nothing to what has been counted */
		close_trackers(c, old_tracking, c->tracking.n);
		return -1;
	}
	gus_counters_track(c);
	gus_counters_retire(c, 0, old);
	if (enable)
		gus_counters_enable(c);
	close_trackers(c, 0, old_tracking);
	c->changed = false;
	return 0;
}

int gus_counters_renew(struct gus_counters *c, gus_task_lister *list, void *context, uint64_t now,
		       struct gus_error *err)
{
	return renew(c, list, context, now, true, err);
}

bool gus_counters_can_go_wide(const struct gus_counters *c, bool overwrite)
{
	bool can = !overwrite && !c->target->cpus && !c->by_cpu &&
		   (c->target->kind == GUS_TARGET_COMMAND || c->target->kind == GUS_TARGET_PROCESSES);

	for (size_t i = 0; i < c->events->n; i++)
		can &= !c->events->v[i].pinned && !c->events->v[i].exclusive && !c->events->v[i].cpus &&
		       !c->events->v[i].pmu;
	return can;
}

int gus_counters_go_wide(struct gus_counters *c, gus_task_lister *list, void *context, uint64_t now, bool enable,
			 struct gus_error *err)
{
	int rc;

	c->by_cpu = true;
	rc = renew(c, list, context, now, enable, err);
	c->by_cpu = rc == 0;
	return rc;
}
