/* SPDX-License-Identifier: MIT */
#include "collector/events/attr.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "collector/kernel/abi.h"
#include "collector/kernel/perf.h"

#define SIZE_VER8 136     /* with config3 */
#define FORMAT_LOST 16    /* PERF_FORMAT_LOST; not in the headers of kernels before 6.0 */

uint64_t gus_attr_sample_type(const struct gus_attr_plan *plan)
{
	/* STREAM_ID tells the event that we opened from the copies that new tasks inherit: see counters.c,
	 * gus_counters_weight(). */
	return PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_STREAM_ID |
	       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | (plan->cargo.chain ? PERF_SAMPLE_CALLCHAIN : 0) |
	       (plan->cargo.branch_type ? PERF_SAMPLE_BRANCH_STACK : 0) |
	       (plan->cargo.regs ? PERF_SAMPLE_REGS_USER : 0) |
	       (plan->cargo.stack_bytes ? PERF_SAMPLE_STACK_USER : 0);
}

/* The kernel writes precise samples by the buffer, rather than with an interrupt each, only if nothing is in them that
 * must be looked for at once: no callers, no registers. */
static struct gus_cargo cargo_of(const struct gus_attr_plan *plan, const struct gus_event *e)
{
	return e->bare ? (struct gus_cargo){ 0 } : plan->cargo;
}

uint64_t gus_attr_sample_type_of(const struct gus_attr_plan *plan, const struct gus_event *e)
{
	const struct gus_attr_plan own = { .cargo = cargo_of(plan, e) };

	return gus_attr_sample_type(&own) | e->extra;
}

static uint64_t read_format_of(const struct gus_attr_plan *plan)
{
	return PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
	       (plan->features & GUS_ATTR_LOST ? FORMAT_LOST : 0);
}

uint64_t gus_attr_read_format(const struct gus_attr_plan *plan, const struct gus_event *e)
{
	return read_format_of(plan) | (e->extra & PERF_SAMPLE_READ ? PERF_FORMAT_GROUP : 0);
}

/* Of an event that takes no samples: what only these bring along is refused without them. */
static void unload(struct perf_event_attr *k)
{
	k->sample_type &= ~(uint64_t)(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
				      PERF_SAMPLE_STACK_USER | PERF_SAMPLE_RAW | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ |
				      PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT | GUS_PERF_WEIGHT_STRUCT);
	k->branch_sample_type = 0;
	k->sample_regs_user = 0;
	k->sample_stack_user = 0;
	k->exclude_callchain_kernel = 0;
	k->exclude_callchain_user = 0;
}

static void fill_common(struct perf_event_attr *k, const struct gus_attr_plan *plan)
{
	k->size = sizeof(*k) < 128 ? sizeof(*k) : 128;
	k->sample_type = gus_attr_sample_type(plan);
	k->branch_sample_type = plan->cargo.branch_type;
	k->sample_regs_user = plan->cargo.regs ? GUS_CARGO_REGS : 0;
	k->sample_stack_user = plan->cargo.stack_bytes;
	k->read_format = read_format_of(plan);
	k->disabled = 1;
	k->inherit = plan->inherit;
	k->sample_id_all = 1;
	k->watermark = 1;
	k->wakeup_watermark = plan->wakeup_bytes;
	k->write_backward = plan->backward;
	if (plan->features & GUS_ATTR_CLOCK) {
		k->use_clockid = 1;
		k->clockid = CLOCK_MONOTONIC;
	}
}

void gus_attr_fill(union gus_attr *a, const struct gus_event *e, const struct gus_attr_plan *session, bool leader)
{
	struct gus_attr_plan own = *session;
	const struct gus_attr_plan *plan = &own;
	struct perf_event_attr *k = &a->kernel;

	own.cargo = cargo_of(session, e);
	memset(a, 0, sizeof(*a));
	fill_common(k, plan);
	k->sample_type |= e->extra;
	k->read_format = gus_attr_read_format(plan, e);
	if ((e->extra & PERF_SAMPLE_BRANCH_STACK) && !k->branch_sample_type)
		k->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	k->type = e->type;
	k->config = e->config;
	k->config1 = e->config1;
	k->config2 = e->config2;
	if (e->config3) {
		k->size = SIZE_VER8;
		a->v8.config3 = e->config3;
	}
	k->freq = e->period == 0;
	k->sample_period = e->period ? e->period : e->frequency; /* the same word as sample_freq */
	k->precise_ip = e->precise;
	if (e->user || e->kernel || e->hv) {
		k->exclude_user = !e->user;
		k->exclude_kernel = !e->kernel;
		k->exclude_hv = !e->hv;
	}
	if (e->guest || e->host) {
		k->exclude_guest = !e->guest;
		k->exclude_host = !e->host;
	}
	k->exclude_idle = e->no_idle;
	k->pinned = e->pinned;
	k->exclusive = e->exclusive;
	k->exclude_callchain_kernel = plan->cargo.chain && k->exclude_kernel;
	k->exclude_callchain_user = plan->cargo.chain && plan->cargo.kernel_chain;
	/* Of an event of the kernel's own that tells its period, each one is a sample, whatever the period is
	 * (perf_swevent_event() of kernel/events/core.c). This one's is changed while it samples. */
	if (e->at_switch)
		k->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	k->disabled = leader;
	k->enable_on_exec = leader && plan->enable_on_exec && gus_event_is_on(e, 0);
	if (e->counts)
		gus_attr_silence(a);
}

/* Without a period there is no timer and no interrupt. */
void gus_attr_silence(union gus_attr *a)
{
	struct perf_event_attr *k = &a->kernel;

	k->freq = 0;
	k->sample_period = 0;
	k->precise_ip = 0;
	unload(k);
}

void gus_attr_fill_holder(union gus_attr *a, const struct gus_attr_plan *plan)
{
	struct perf_event_attr *k = &a->kernel;

	memset(a, 0, sizeof(*a));
	fill_common(k, plan);
	k->type = PERF_TYPE_SOFTWARE;
	k->config = PERF_COUNT_SW_DUMMY;
	unload(k);
	k->exclude_kernel = 1;                              /* so that it is allowed to everyone */
	k->exclude_hv = 1;
	k->inherit = 0;
}

void gus_attr_add_switches(union gus_attr *a, const struct gus_attr_plan *plan)
{
	a->kernel.context_switch = (plan->features & GUS_ATTR_SWITCH) != 0;
}

void gus_attr_add_tracking(union gus_attr *a, const struct gus_attr_plan *plan)
{
	struct perf_event_attr *k = &a->kernel;

	k->mmap = 1;
	k->comm = 1;
	k->task = 1;
	k->mmap2 = (plan->features & GUS_ATTR_MMAP2) != 0;
	k->comm_exec = (plan->features & GUS_ATTR_MMAP2) != 0;
	k->ksymbol = (plan->features & GUS_ATTR_KSYMBOL) != 0;
	k->build_id = (plan->features & GUS_ATTR_BUILD_ID) != 0;
	gus_attr_add_switches(a, plan);
}

void gus_attr_fill_tracking(union gus_attr *a, const struct gus_attr_plan *plan)
{
	gus_attr_fill_holder(a, plan);
	a->kernel.inherit = plan->inherit;
	a->kernel.enable_on_exec = 1;
	gus_attr_add_tracking(a, plan);
}

static int open_with(const union gus_attr *a, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	union gus_attr copy = *a; /* the kernel may write its own size there */
	int fd = gus_perf.open(&copy.kernel, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int gus_attr_open(const union gus_attr *a, pid_t pid, int cpu, int group_fd)
{
	return open_with(a, pid, cpu, group_fd, 0);
}

int gus_attr_open_cgroup(const union gus_attr *a, int cgroup, int cpu, int group_fd)
{
	return open_with(a, cgroup, cpu, group_fd, PERF_FLAG_PID_CGROUP);
}

int gus_attr_open_tracking(struct gus_attr_plan *plan, pid_t pid, int cpu)
{
	unsigned wanted = plan->features;
	union gus_attr a;
	int fd;

	for (unsigned drop = 0; drop < GUS_ATTR_ALL;) {
		gus_attr_fill_tracking(&a, plan);
		fd = gus_attr_open(&a, pid, cpu, -1);
		if (fd >= 0 || (fd != -EINVAL && fd != -E2BIG))
			return fd;
		drop = drop << 1 | 1;
		plan->features = wanted & ~drop;
	}
	gus_attr_fill_tracking(&a, plan);
	fd = gus_attr_open(&a, pid, cpu, -1);
	if (fd < 0)
		plan->features = wanted;
	return fd;
}

int gus_attr_settle(struct gus_attr_plan *plan)
{
	int fd = gus_attr_open_tracking(plan, 0, -1);

	if (fd < 0)
		return fd;
	gus_perf.close(fd);
	return 0;
}
