/* SPDX-License-Identifier: MIT */
#include "collector/session/cost.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/counters/counters.h"
#include "collector/doctor/probe.h"

#define RUNS 15             /* without and with; the difference of the medians */
#define BIRTHS 2            /* in each run */
#define SWITCHES 20
#define MAPS 8
#define QUIET_PERIOD 1000000007 /* so long that there are no samples in it */
#define RING_BYTES (128u << 10)
#define CROWD 128           /* more events behind one ring */

/* Something whose CPU time is to be compared; context is the same each time. */
typedef void work(void *context);

/* Ours and that of children which have been waited for. Not time on the wall: on a busy machine others take their turns
 * meanwhile. */
static int64_t cpu_ns(void)
{
	struct rusage children;
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	getrusage(RUSAGE_CHILDREN, &children);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec +
	       (int64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000000 +
	       (int64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t gus_cost_median(int64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), ascending);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static int64_t timed(work *do_it, void *context)
{
	int64_t runs[RUNS];

	do_it(context); /* once for the caches */
	for (size_t i = 0; i < RUNS; i++) {
		int64_t start = cpu_ns();

		do_it(context);
		runs[i] = cpu_ns() - start;
	}
	return gus_cost_median(runs, RUNS);
}

/* When a task ends that has inherited, the kernel tells everybody who waits for any event that shares the ring, one after
 * the other: that grows with the tasks that were attached to. Events of another, sleeping, task stand for theirs. */
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
	crowd->sleeper = fork();
	if (crowd->sleeper == 0) {
		pause();
		_exit(0);
	}
	while (crowd->sleeper > 0 && crowd->n < CROWD) {
		int fd = gus_attr_open(&a, crowd->sleeper, (int)ring->cpu, -1);

		if (fd < 0)
			break;
		crowd->fds[crowd->n++] = fd;
		ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->holders.v[0]);
	}
}

static void disperse(struct crowd *crowd)
{
	for (size_t i = 0; i < crowd->n; i++)
		close(crowd->fds[i]);
	if (crowd->sleeper <= 0)
		return;
	kill(crowd->sleeper, SIGKILL);
	waitpid(crowd->sleeper, NULL, 0);
}

/* What each of the crowd adds, if asked for, to what a thing costs with the events alone. */
static uint64_t crowded(const struct gus_counters *c, work *do_it, void *context, size_t things)
{
	struct crowd crowd;
	int64_t few, many = 0;

	few = timed(do_it, context);
	gather(&crowd, c);
	if (crowd.n)
		many = timed(do_it, context) - few;
	disperse(&crowd);
	return many > 0 ? (uint64_t)many / (things * crowd.n) : 0;
}

/* The counters are those of a recording, opened on this thread. Opened, not only enabled: what is paused is inherited
 * all the same. */
static uint64_t compare(const struct gus_events *events, const struct gus_cost_options *o, work *do_it, void *context,
			size_t things, uint64_t *wake_ns)
{
	struct gus_counters_options co = { .switches = o->switches, .call_graph = o->call_graph, .branch_type = o->branch_type,
					   .ring_bytes = RING_BYTES, .child = getpid(), .as_they_are = true };
	struct gus_events own = *events;
	struct gus_target self;
	struct gus_counters c;
	int64_t without = timed(do_it, context), cost = 0;

	gus_target_init(&self);
	if (gus_counters_open(&c, &own, &self, &co, NULL, NULL) == 0) {
		gus_counters_enable(&c);
		cost = timed(do_it, context) - without;
		if (wake_ns)
			*wake_ns = crowded(&c, do_it, context, things);
		gus_counters_close(&c);
	}
	gus_target_free(&self);
	return cost > 0 ? (uint64_t)cost / things : 0;
}

static void give_birth(void *context)
{
	(void)context;
	for (unsigned i = 0; i < BIRTHS; i++) {
		int status;
		pid_t pid = vfork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, &status, 0);
	}
}

/* As the loader does it: the whole file, then its code, constants and data over their parts of that. The kernel looks at
 * the name and the build id of each of them, though it tells of the code alone. */
static void map_code(void *context)
{
	static const int over[] = { PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * (1 + sizeof(over) / sizeof(*over));
	int fd = *(int *)context;

	for (unsigned i = 0; i < MAPS; i++) {
		char *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (at == MAP_FAILED)
			return;
		for (size_t k = 0; k < sizeof(over) / sizeof(*over); k++)
			mmap(at + page * (k + 1), page, over[k], MAP_PRIVATE | MAP_FIXED, fd, (off_t)(page * (k + 1)));
		munmap(at, size);
	}
}

/* A process that answers each byte with one, on the same CPU: each of its answers costs us a way out and back in. */
struct partner { int to, from; };

static void answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
	_exit(0);
}

static void ask(void *context)
{
	const struct partner *p = context;
	char byte = 0;

	for (unsigned i = 0; i < SWITCHES; i++)
		if (write(p->to, &byte, 1) != 1 || read(p->from, &byte, 1) != 1)
			break;
}

static uint64_t compare_switches(const struct gus_events *events, const struct gus_cost_options *o)
{
	cpu_set_t before, one;
	struct partner p;
	int there[2], back[2];
	uint64_t cost = 0;
	pid_t pid;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(before), &before) != 0 || pipe2(there, O_CLOEXEC) != 0)
		return 0;
	if (pipe2(back, O_CLOEXEC) != 0) {
		close(there[0]);
		close(there[1]);
		return 0;
	}
	sched_setaffinity(0, sizeof(one), &one);
	pid = fork();
	if (pid == 0) {
		close(there[1]);
		answer(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	p = (struct partner){ there[1], back[0] };
	if (pid > 0)
		cost = compare(events, o, ask, &p, SWITCHES, NULL);
	close(there[1]);
	close(back[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	sched_setaffinity(0, sizeof(before), &before);
	return cost;
}

/* The same events as those to be recorded, but so rare that no sample is in the way. */
static struct gus_events quiet(const struct gus_events *events)
{
	struct gus_events q = { 0 };

	gus_vec_append(&q, events->v, events->n);
	for (size_t i = 0; i < q.n; i++) {
		q.v[i].period = QUIET_PERIOD;
		q.v[i].frequency = 0;
		q.v[i].jitter = false;
	}
	return q;
}

void gus_costs_measure(const struct gus_events *events, const struct gus_cost_options *o, struct gus_costs *costs)
{
	struct gus_events rare = quiet(events);
	int code = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	*costs = (struct gus_costs){ .sample_ns = gus_probe_cost_with(&events->v[0], o->call_graph, o->branch_type) };
	if (o->inherit) {
		costs->birth_ns = compare(&rare, o, give_birth, NULL, BIRTHS, &costs->wake_ns);
		costs->switch_ns = compare_switches(&rare, o);
	}
	if (code >= 0) {
		costs->map_ns = compare(&rare, o, map_code, &code, MAPS, NULL);
		close(code);
	}
	gus_vec_free(&rare); /* what its elements point to is not ours */
}
