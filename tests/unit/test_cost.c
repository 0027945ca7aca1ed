/* SPDX-License-Identifier: MIT */
/* Costs, told from work on a machine of which it is known what things cost: clocks, processes, pipes and events are
 * those of a kernel that is written here. What is measured has to be what that kernel takes. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "collector/events/event.h"
#include "collector/events/pmu.h"
#include "collector/session/cost.h"

#define EVENTS 3000000          /* the first descriptors that this kernel gives out; no process has so many */
#define PIPES 4000000
#define CHILD 5000000           /* the first number of a process that this kernel starts */
#define QUIET_PERIOD 1000000007

struct opened {
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
	bool closed, enabled;
	int output;             /* whose ring its records go to; 0: none */
	void *memory;           /* of its own ring */
	size_t size;
};

/* What it costs here: each thing, and beyond that with events on us, and that for each of the crowd that shares our
 * ring. */
struct prices { int64_t thing, followed, crowd; };

static struct {
	bool on;
	int64_t cpu_ns, children_ns;
	struct prices birth, exchange, mapping;
	int64_t sample;
	unsigned samples;       /* that come each time that an event with a ring of its own was on */
	int refuse;             /* errno of each event on a task that takes in the kernel; 0: none is refused */
	size_t crowd_max, crowd; /* events on others that may be opened, and were */
	bool no_pipes, no_file;
	struct gus_vec(struct opened) events;
	bool pipes[64];         /* open */
	size_t pipes_n;
	int started, ended, killed; /* processes */
	size_t births, exchanges, mappings, readings;
	int bound;              /* CPUs that we are bound to at last; 0: never */
} kernel;

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static struct opened *event_of(int fd)
{
	size_t i = (size_t)(fd - EVENTS);

	return kernel.on && fd >= EVENTS && i < kernel.events.n ? &kernel.events.v[i] : NULL;
}

static bool is_quiet(const struct opened *e)
{
	return e->attr.config == PERF_COUNT_SW_DUMMY || (e->attr.sample_period == QUIET_PERIOD && !e->attr.freq);
}

/* Takes what a thing costs now. Events on ourselves follow it, if they are enabled. */
static void happens(const struct prices *p, int64_t *clock)
{
	int holder = 0;
	int64_t crowd = 0;
	bool followed = false;

	for (size_t i = kernel.events.n; i-- > 0;)
		if (kernel.events.v[i].memory && kernel.events.v[i].cpu >= 0)
			holder = EVENTS + (int)i; /* of the first ring */
	for (size_t i = 0; i < kernel.events.n; i++) {
		const struct opened *e = &kernel.events.v[i];

		followed |= !e->closed && e->pid == getpid() && e->enabled && is_quiet(e);
		crowd += !e->closed && e->pid >= CHILD && e->output == holder && event_of(holder)->cpu == e->cpu;
	}
	*clock += p->thing + (followed ? p->followed + crowd * p->crowd : 0);
}

/* Of 15 runs, at each end of which the clock is read, the middle three are as they should be: six in no order are
 * too short, six too long, and each time by something else. */
static int64_t luck(void)
{
	size_t reading = kernel.readings++, time = reading / 30, place = reading / 2 * 7 % 15;

	if (reading % 2 == 0 || (place >= 6 && place < 9))
		return 0;
	return place < 6 ? -(int64_t)(700 + 100 * time) : (int64_t)(5000000 + 1000 * time);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	if (!kernel.on || (id != CLOCK_PROCESS_CPUTIME_ID && id != CLOCK_THREAD_CPUTIME_ID))
		return ((int (*)(clockid_t, struct timespec *))real("clock_gettime"))(id, t);
	for (size_t i = 0; i < kernel.events.n; i++) /* whoever asks twice has worked in between */
		if (kernel.events.v[i].memory && kernel.events.v[i].enabled && !kernel.events.v[i].closed)
			kernel.cpu_ns += id == CLOCK_THREAD_CPUTIME_ID ? kernel.sample * kernel.samples : 0;
	if (id == CLOCK_PROCESS_CPUTIME_ID)
		kernel.cpu_ns += luck();
	t->tv_sec = kernel.cpu_ns / 1000000000;
	t->tv_nsec = kernel.cpu_ns % 1000000000;
	return 0;
}

static struct timeval time_of(int64_t ns)
{
	return (struct timeval){ ns / 1000000000, ns % 1000000000 / 1000 };
}

int getrusage(int who, struct rusage *u)
{
	if (!kernel.on || who != RUSAGE_CHILDREN)
		return ((int (*)(int, struct rusage *))real("getrusage"))(who, u);
	memset(u, 0, sizeof(*u));
	u->ru_utime = time_of(kernel.children_ns / 4 * 3);
	u->ru_stime = time_of(kernel.children_ns / 4);
	return 0;
}

pid_t vfork(void)
{
	kernel.births++;
	happens(&kernel.birth, kernel.births % 2 ? &kernel.cpu_ns : &kernel.children_ns); /* who pays is all the same */
	return CHILD + kernel.started++;
}

pid_t fork(void)
{
	return kernel.on ? CHILD + kernel.started++ : ((pid_t (*)(void))real("fork"))();
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	if (pid < CHILD)
		return ((pid_t (*)(pid_t, int *, int))real("waitpid"))(pid, status, options);
	assert_int_equal(options, 0);
	kernel.ended++;
	return pid;
}

int kill(pid_t pid, int signal)
{
	if (pid < CHILD)
		return ((int (*)(pid_t, int))real("kill"))(pid, signal);
	kernel.killed += signal == SIGKILL;
	return 0;
}

int pipe2(int fds[2], int flags)
{
	(void)flags;
	if (kernel.no_pipes) {
		errno = EMFILE;
		return -1;
	}
	for (int i = 0; i < 2; i++) {
		fds[i] = PIPES + (int)kernel.pipes_n;
		kernel.pipes[kernel.pipes_n++] = true;
	}
	return 0;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	if (fd < PIPES)
		return ((ssize_t (*)(int, const void *, size_t))real("write"))(fd, bytes, n);
	kernel.exchanges++;
	happens(&kernel.exchange, &kernel.cpu_ns);
	return (ssize_t)n;
}

ssize_t read(int fd, void *bytes, size_t n)
{
	if (fd < PIPES)
		return ((ssize_t (*)(int, void *, size_t))real("read"))(fd, bytes, n);
	memset(bytes, 0, n);
	return (ssize_t)n;
}

int open(const char *path, int flags, ...)
{
	if (kernel.on && kernel.no_file && strcmp(path, "/proc/self/exe") == 0) {
		errno = ENOENT;
		return -1;
	}
	return ((int (*)(const char *, int, ...))real("open"))(path, flags);
}

int close(int fd)
{
	struct opened *e = event_of(fd);

	assert_true(!kernel.on || fd >= 0);
	if (!e && fd < PIPES)
		return ((int (*)(int))real("close"))(fd);
	if (e) {
		assert_false(e->closed);
		e->closed = true;
	} else {
		assert_true(kernel.pipes[fd - PIPES]);
		kernel.pipes[fd - PIPES] = false;
	}
	return 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	CPU_ZERO_S(size, set);
	CPU_SET_S(0, size, set);
	CPU_SET_S(1, size, set);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	assert_int_equal(pid, 0);
	kernel.bound = CPU_COUNT_S(size, set);
	return 0;
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	struct opened *e = event_of(fd);

	if (e) {
		e->memory = gus_zalloc(length);
		e->size = length;
		return e->memory;
	}
	if (kernel.on && fd >= 0 && (protection & PROT_EXEC)) {
		kernel.mappings++;
		happens(&kernel.mapping, &kernel.cpu_ns);
	}
	return ((void *(*)(void *, size_t, int, int, int, off_t))real("mmap"))(address, length, protection, flags, fd,
									       offset);
}

int munmap(void *address, size_t length)
{
	for (size_t i = 0; kernel.on && address && i < kernel.events.n; i++)
		if (kernel.events.v[i].memory == address) {
			assert_int_equal(length, kernel.events.v[i].size);
			free(address);
			kernel.events.v[i].memory = NULL;
			return 0;
		}
	return ((int (*)(void *, size_t))real("munmap"))(address, length);
}

/* Samples that nobody looks into. */
static void add_samples(struct opened *e)
{
	const struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = sizeof(h) };
	struct perf_event_mmap_page *control = e->memory;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < kernel.samples; i++) {
		memcpy((uint8_t *)e->memory + page + control->data_head % (e->size - page), &h, sizeof(h));
		control->data_head += sizeof(h);
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	struct opened *e = event_of(fd);
	va_list args;

	assert_non_null(e);
	va_start(args, request);
	if (request == PERF_EVENT_IOC_ID)
		*va_arg(args, uint64_t *) = (uint64_t)fd;
	else if (request == PERF_EVENT_IOC_SET_OUTPUT)
		e->output = va_arg(args, int);
	else if (request == PERF_EVENT_IOC_DISABLE && e->memory)
		add_samples(e);
	va_end(args);
	e->enabled = request == PERF_EVENT_IOC_ENABLE || (e->enabled && request != PERF_EVENT_IOC_DISABLE);
	return 0;
}

static size_t crowd_now(void)
{
	size_t n = 0;

	for (size_t i = 0; i < kernel.events.n; i++)
		n += kernel.events.v[i].pid >= CHILD && !kernel.events.v[i].closed;
	return n;
}

static long open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	struct opened e = { .attr = *attr, .pid = pid, .cpu = cpu };

	if (pid && kernel.refuse && !attr->exclude_kernel) {
		errno = kernel.refuse;
		return -1;
	}
	if (pid >= CHILD && crowd_now() == kernel.crowd_max) {
		errno = EPERM;
		return -1;
	}
	kernel.crowd += pid >= CHILD;
	gus_vec_push(&kernel.events, e);
	return EVENTS + (long)kernel.events.n - 1;
}

long syscall(long number, ...)
{
	va_list args;
	long v[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		v[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open)
		return open_event((const struct perf_event_attr *)v[0], (pid_t)v[1], (int)v[2]);
	return ((long (*)(long, ...))real("syscall"))(number, v[0], v[1], v[2], v[3], v[4], v[5]);
}

/* Turns it on, with prices; each test changes what it is about. */
static void boot(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.birth = (struct prices){ 100000, 8000, 4000 }; /* children's times are told in us, in two parts */
	kernel.exchange = (struct prices){ 2000, 1200, 0 };
	kernel.mapping = (struct prices){ 3000, 1500, 0 };
	kernel.sample = 6000;
	kernel.samples = 10;
	kernel.crowd_max = 1000;
}

/* Measures, and sees that nothing is left. */
static struct gus_costs measure(bool inherit)
{
	const struct gus_cost_options o = { .switches = true, .inherit = inherit };
	struct gus_events events = { 0 };
	struct gus_costs costs;
	struct gus_pmus pmus;

	gus_pmus_init(&pmus, "/nonexistent");
	assert_int_equal(gus_events_parse(&events, "cpu-clock,page-faults", &pmus, NULL), 0);
	events.v[0].jitter = true;
	events.v[0].frequency = 1000;
	events.v[1].frequency = 1000;
	kernel.on = true;
	gus_costs_measure(&events, &o, &costs);
	kernel.on = false;
	for (size_t i = 0; i < kernel.events.n; i++) {
		assert_true(kernel.events.v[i].closed);
		assert_null(kernel.events.v[i].memory);
		/* Those on no task are probes, and owners of rings. */
		assert_true(kernel.events.v[i].pid == 0 || is_quiet(&kernel.events.v[i]));
	}
	for (size_t i = 0; i < kernel.pipes_n; i++)
		assert_false(kernel.pipes[i]);
	assert_int_equal(kernel.ended, kernel.started);
	assert_true(events.v[0].jitter && events.v[0].frequency == 1000); /* only ours to read */
	gus_vec_free(&kernel.events);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	return costs;
}

static void what_things_cost(void **state)
{
	struct gus_costs costs;

	(void)state;
	boot();
	costs = measure(true);
	assert_int_equal(costs.sample_ns, 6000);
	assert_int_equal(costs.birth_ns, 8000);
	assert_int_equal(costs.wake_ns, 4000);
	assert_int_equal(costs.switch_ns, 1200);
	assert_int_equal(costs.map_ns, 1500);
	/* One run for the caches and 15, without and with events; births a third and a fourth time, alone and in a
	 * crowd. */
	assert_int_equal(kernel.births, 4 * 16 * 2);
	assert_int_equal(kernel.exchanges, 2 * 16 * 20);
	assert_int_equal(kernel.mappings, 2 * 16 * 8);
	assert_int_equal(kernel.crowd, 128);
	assert_int_equal(kernel.killed, 1);
	assert_int_equal(kernel.bound, 2); /* as before */
}

/* Clocks tell seconds apart. */
static void costly_things(void **state)
{
	struct gus_costs costs;

	(void)state;
	boot();
	kernel.birth.followed = 3000008000;
	kernel.mapping.followed = 2000001500;
	costs = measure(true);
	assert_true(costs.birth_ns == 3000008000);
	assert_int_equal(costs.wake_ns, 4000);
	assert_int_equal(costs.map_ns, 2000001500);
}

/* CPUs are watched whoever runs there: nothing is inherited, and the partner and the crowd stay away. */
static void costs_of_watching_cpus(void **state)
{
	struct gus_costs costs;

	(void)state;
	boot();
	costs = measure(false);
	assert_int_equal(costs.sample_ns, 6000);
	assert_int_equal(costs.birth_ns, 0);
	assert_int_equal(costs.wake_ns, 0);
	assert_int_equal(costs.switch_ns, 0);
	assert_int_equal(costs.map_ns, 1500);
	assert_int_equal(kernel.started, 0);
}

/* The crowd is as large as it gets; alone it would be nobody. */
static void smaller_crowds(void **state)
{
	static const struct { size_t max; uint64_t wake_ns; } cases[] = {
		{ 0, 0 }, { 1, 4000 }, { 10, 4000 }, { 127, 4000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		boot();
		kernel.crowd_max = cases[i].max;
		assert_int_equal(measure(true).wake_ns, cases[i].wake_ns);
		assert_int_equal(kernel.killed, 1);
	}
}

/* What seems to get cheaper cannot be told from noise, and costs nothing. */
static void noise(void **state)
{
	struct gus_costs costs;

	(void)state;
	boot();
	kernel.birth.followed = -3000;
	kernel.birth.crowd = -40;
	kernel.exchange.followed = -1;
	kernel.mapping.followed = 0;
	costs = measure(true);
	assert_int_equal(costs.birth_ns, 0);
	assert_int_equal(costs.wake_ns, 0);
	assert_int_equal(costs.switch_ns, 0);
	assert_int_equal(costs.map_ns, 0);
}

/* Where events are refused, or there are no pipes or no file, what needs them is not known. Other events than those
 * that are recorded, such as without the kernel, would say nothing about them. */
static void refusals(void **state)
{
	struct gus_costs costs;

	(void)state;
	boot();
	kernel.refuse = EACCES;
	costs = measure(true);
	assert_int_equal(costs.sample_ns, 6000);
	assert_int_equal(costs.birth_ns + costs.wake_ns + costs.switch_ns + costs.map_ns, 0);
	boot();
	kernel.no_pipes = true;
	costs = measure(true);
	assert_int_equal(costs.birth_ns, 8000);
	assert_int_equal(costs.switch_ns, 0);
	assert_int_equal(costs.map_ns, 1500);
	assert_int_equal(kernel.exchanges, 0);
	boot();
	kernel.no_file = true;
	costs = measure(true);
	assert_int_equal(costs.birth_ns, 8000);
	assert_int_equal(costs.map_ns, 0);
	assert_int_equal(kernel.mappings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_things_cost),
		cmocka_unit_test(costly_things),
		cmocka_unit_test(costs_of_watching_cpus),
		cmocka_unit_test(smaller_crowds),
		cmocka_unit_test(noise),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
