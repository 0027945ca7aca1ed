/* SPDX-License-Identifier: MIT */
/* What things cost is the difference between two times that the same work takes, without and with the events of a
 * recording, over the things that happen in it (cost_work.h). Times are CPU time, ours and our children's. Of
 * several runs the middle one counts, as what else happens on a machine only ever adds to some of them. What is not
 * more than nothing is nothing.
 *
 * The events are opened on this thread as they would be on a target: the same ones, by gus_counters_open, but with a
 * period that is never over, so that samples, whose cost is another (gus_probe_cost_with), do not come. */
#include "collector/session/cost.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/ascending.h"
#include "collector/counters/counters.h"
#include "collector/counters/ring.h"
#include "collector/kernel/perf.h"
#include "collector/session/cost_work.h"
#include "collector/target/target.h"
#include "collector/trial/probe.h"

#define RUNS 15             /* without and with; the difference of the medians */
#define QUIET_PERIOD 1000000007 /* so long that there are no samples in it */
#define RING_BYTES (128u << 10)
#define CROWD 128           /* more events behind one ring */

/* Ours and that of children which have been waited for. Not time on the wall: on a busy machine others take their turns
 * meanwhile. */
static uint64_t cpu_ns(void)
{
	struct rusage children;
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	getrusage(RUSAGE_CHILDREN, &children);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec +
	       (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000;
}

/* Of an odd number of runs, the middle one: what interrupts some of them does not move it. */
static int64_t timed(struct gus_work work)
{
	uint64_t runs[RUNS];

	work.run(work.context); /* once for the caches */
	for (size_t i = 0; i < RUNS; i++) {
		uint64_t start = cpu_ns();

		work.run(work.context);
		runs[i] = cpu_ns() - start;
	}
	qsort(runs, RUNS, sizeof(*runs), gus_ascending_u64);
	return (int64_t)runs[RUNS / 2];
}

/* When a task ends that has inherited, the kernel tells everybody who waits for any event that shares the ring, one
 * after the other: that grows with the tasks that were attached to. Events of another, sleeping, task stand for
 * theirs. */
struct crowd {
	pid_t sleeper;
	int fds[CROWD];
	size_t n;
};

static void gather(struct crowd *crowd, const struct gus_counters *c)
{
	const struct gus_ring *ring = &c->rings.v[0];
	union gus_attr a;

	gus_attr_fill_holder(&a, &c->plan);
	crowd->n = 0;
	crowd->sleeper = gus_sleeper_start();
	while (crowd->sleeper > 0 && crowd->n < CROWD) {
		int fd = gus_attr_open(&a, crowd->sleeper, (int)ring->cpu, -1);

		if (fd < 0)
			break;
		crowd->fds[crowd->n++] = fd;
		gus_perf.ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->holders.v[0]);
	}
}

static void disperse(struct crowd *crowd)
{
	for (size_t i = 0; i < crowd->n; i++)
		gus_perf.close(crowd->fds[i]);
	gus_sleeper_stop(crowd->sleeper);
}

/* What each of the crowd adds, if asked for, to what a thing costs with the events alone. */
static uint64_t crowded(const struct gus_counters *c, struct gus_work work)
{
	struct crowd crowd;
	int64_t few, many = 0;

	few = timed(work);
	gather(&crowd, c);
	if (crowd.n)
		many = timed(work) - few;
	disperse(&crowd);
	return many > 0 ? (uint64_t)many / (work.things * crowd.n) : 0;
}

/* The counters are those of a recording, opened on this thread. Opened, not only enabled: what is paused is inherited
 * all the same. */
static uint64_t compare(const struct gus_events *events, const struct gus_cost_options *o, struct gus_work work,
			uint64_t *wake_ns)
{
	struct gus_counters_options co = {
		.switches = o->switches, .cargo = o->cargo, .ring_bytes = RING_BYTES, .child = getpid(),
		.as_they_are = true,
	};
	struct gus_events own = *events;
	struct gus_target self;
	struct gus_counters c;
	int64_t without = timed(work), cost = 0;

	co.cargo.stack_bytes = 0; /* nothing is sampled, and large rings take their time */
	gus_target_init(&self);
	if (gus_counters_open(&c, &own, &self, &co, NULL, NULL) == 0) {
		gus_counters_enable(&c);
		cost = timed(work) - without;
		if (wake_ns)
			*wake_ns = crowded(&c, work);
		gus_counters_close(&c);
	}
	gus_target_free(&self);
	return cost > 0 ? (uint64_t)cost / work.things : 0;
}

static uint64_t compare_switches(const struct gus_events *events, const struct gus_cost_options *o)
{
	struct gus_partner partner;
	uint64_t cost;

	if (!gus_partner_start(&partner))
		return 0;
	cost = compare(events, o, gus_work_switches(&partner), NULL);
	gus_partner_stop(&partner);
	return cost;
}

/* The same events as those to be recorded, but so rare that no sample is in the way. (A period counts before a
 * frequency.) Those of tasks that leave their CPU are left out: what they cost is asked apart;
 * and those that hardware of its own takes, of which a task has no more to carry along. */
static struct gus_events quiet(const struct gus_events *events)
{
	struct gus_events q = { 0 };

	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i].at_switch || events->v[i].words >= GUS_WORDS_IBS_OP)
			continue;
		gus_vec_push(&q, events->v[i]);
		q.v[q.n - 1].period = QUIET_PERIOD;
	}
	return q;
}

/* What samples of tasks that leave their CPU add to a switch: the same work, with them. */
static uint64_t compare_leaves(const struct gus_events *events, const struct gus_cost_options *o, uint64_t switch_ns)
{
	struct gus_events all = quiet(events);
	size_t rare = all.n;
	uint64_t cost;

	for (size_t i = 0; i < events->n; i++)
		if (events->v[i].at_switch)
			gus_vec_push(&all, events->v[i]);
	cost = all.n > rare ? compare_switches(&all, o) : 0;
	gus_vec_free(&all);
	return cost > switch_ns ? cost - switch_ns : 0;
}

void gus_costs_measure(const struct gus_events *events, const struct gus_cost_options *o, struct gus_costs *costs)
{
	struct gus_events rare = quiet(events);
	struct gus_cargo flat = o->cargo;
	int code = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	flat.stack_bytes = flat.stack_bytes ? 8 : 0; /* the rest is told by its size */
	*costs = (struct gus_costs){
		.sample_ns = gus_probe_cost_with(&events->v[0], &flat),
		.stack_ns = gus_probe_cost_of_stack(&events->v[0], &o->cargo),
	};
	if (o->inherit) {
		costs->birth_ns = compare(&rare, o, gus_work_births(), &costs->wake_ns);
		costs->switch_ns = compare_switches(&rare, o);
	}
	costs->leave_ns = compare_leaves(events, o, o->inherit ? costs->switch_ns : 0);
	if (code >= 0) {
		costs->map_ns = compare(&rare, o, gus_work_mappings(&code), NULL);
		close(code);
	}
	gus_vec_free(&rare); /* what its elements point to is not ours */
}
