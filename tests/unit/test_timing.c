/* SPDX-License-Identifier: MIT */
/* Code that is executed and timed on this machine: what is known of it is right, and what goes wrong in it is its own
 * error and nobody else's. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/timing/arena.h"
#include "collector/timing/shared.h"
#include "collector/timing/sharing.h"
#include "collector/timing/timing.h"

static struct gus_timing *timing;

#if defined(__x86_64__)
#define X4(...) __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define LOOP_END(body) 0x48, 0xff, 0xcf /* dec %rdi */, 0x75, 256 - (body) - 5 /* jnz */, 0xc3 /* ret */
static const uint8_t adds[] = { X4(X4(0x48, 0x01, 0xc0)), LOOP_END(48) };               /* 16 add %rax, %rax */
static const uint8_t products[] = { X4(X4(0x48, 0x0f, 0xaf, 0xc0)), LOOP_END(64) };     /* 16 imul %rax, %rax */
static const uint8_t chase[] = { X4(0x48, 0x8b, 0x36), LOOP_END(12) };                  /* 4 mov (%rsi), %rsi */
static const uint8_t undefined[] = { 0x0f, 0x0b };                                      /* ud2 */
static const uint8_t to_nowhere[] = { 0x31, 0xc0, 0x88, 0x00 };                         /* mov %al, (0) */
static const uint8_t by_zero[] = { 0x31, 0xc9, 0xf7, 0xf1 };                            /* div of 0 */
static const uint8_t trap[] = { 0xcc };
static const uint8_t beyond[] = { 0x90 };                       /* nop, and no end */
static const uint8_t endless[] = { 0xeb, 0xfe };                /* jmp to itself */
static const uint8_t fork_call[] = { 0xb8, 57, 0, 0, 0, 0x0f, 0x05, 0xc3 };
static const uint8_t fork_call_32[] = { 0xb8, 2, 0, 0, 0, 0xcd, 0x80, 0xc3 };   /* int $0x80 */
static const uint8_t exit_call[] = { 0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05 }; /* exit_group(0) */
static const uint8_t write_code[] = { 0x88, 0x05, 0xfa, 0xff, 0xff, 0xff, 0xc3 }; /* mov %al, -6(%rip) */
/* mmap of memory to be executed: edx is the protection. */
static const uint8_t map_code[] = { 0xb8, 9, 0, 0, 0, 0x31, 0xff, 0xbe, 0, 16, 0, 0, 0xba, 7, 0, 0, 0, 0x0f, 0x05,
				    0xc3 };
#endif

struct list { uint64_t places, distance; };

/* In order, and round. */
static void fill_list(const void *what, size_t size, void *arena)
{
	struct list l;
	uint8_t *bytes = arena;

	if (size != sizeof(l))
		abort();
	memcpy(&l, what, sizeof(l));
	for (uint64_t i = 0; i < l.places; i++) {
		void *next = bytes + (i + 1) % l.places * l.distance;

		memcpy(bytes + i * l.distance, &next, sizeof(next));
	}
}

static int open_here(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	timing = gus_timing_open(&(const struct gus_timing_options){ .cpu = -1, .most_ns = 20000000 }, &err);
	if (!timing)
		printf("skipped: %s\n", err.text);
	return 0;
}

static int close_here(void **state)
{
	(void)state;
	gus_timing_close(timing);
	return 0;
}

#if defined(__x86_64__)
static void run(const struct gus_timing_job *jobs, size_t n, struct gus_timing_result *results)
{
	struct gus_error err = { 0 };

	if (!timing)
		skip();
	if (gus_timing_run(timing, jobs, n, results, &err) != 0)
		fail_msg("%s", err.text);
}

/* Known latencies, at the same time; again while others are too busy for it. */
static void test_known(void **state)
{
	const struct list l = { 32, 64 };
	const struct gus_timing_job jobs[] = {
		{ .code = adds, .size = sizeof(adds) },
		{ .code = products, .size = sizeof(products) },
		{ .code = chase, .size = sizeof(chase), .arena = 4096, .fill = fill_list, .what = &l,
		  .what_size = sizeof(l) },
	};
	struct gus_timing_result r[3] = { 0 };
	bool quiet = false;

	(void)state;
	for (unsigned i = 0; i < 10 && !quiet; i++) {
		run(jobs, 3, r);
		quiet = r[0].sum.settled && r[1].sum.settled && r[2].sum.settled;
	}
	if (!quiet) {
		printf("skipped: this machine is too busy to time anything\n");
		skip();
	}
	assert_true(fabs(r[0].sum.cycles / 16 - 1) < 0.01);
	assert_true(fabs(r[1].sum.cycles / 16 - 3) < 0.03);
	assert_true(r[2].sum.cycles / 4 > 2.9 && r[2].sum.cycles / 4 < 7.1); /* of L1: 3 to 7 everywhere */
	assert_true(r[2].sum.kept > 0 && r[2].sum.kept <= r[2].sum.samples);
}

static void test_faults(void **state)
{
	const struct { const uint8_t *code; size_t size; int signal; } cases[] = {
		{ undefined, sizeof(undefined), SIGILL }, { to_nowhere, sizeof(to_nowhere), SIGSEGV },
		{ by_zero, sizeof(by_zero), SIGFPE }, { trap, sizeof(trap), SIGTRAP },
		{ beyond, sizeof(beyond), SIGTRAP }, { fork_call, sizeof(fork_call), SIGSYS },
		{ fork_call_32, sizeof(fork_call_32), SIGSYS }, { map_code, sizeof(map_code), SIGSYS },
		{ write_code, sizeof(write_code), SIGSEGV }, { exit_call, sizeof(exit_call), 0 },
	};
	struct gus_timing_result r[3];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_timing_job jobs[] = {
			{ .code = adds, .size = sizeof(adds) },
			{ .code = cases[i].code, .size = cases[i].size },
			{ .code = adds, .size = sizeof(adds) },
		};

		run(jobs, 3, r);
		assert_int_equal(r[0].fault, GUS_TIMING_RETURNED);
		assert_int_equal(r[1].fault, GUS_TIMING_SIGNAL);
		/* Kernels that have no calls of 32 bits say so by SIGSEGV. */
		if (cases[i].code != fork_call_32 || r[1].signal != SIGSEGV)
			assert_int_equal(r[1].signal, cases[i].signal);
		assert_true(isnan(r[1].sum.cycles));
		assert_int_equal(r[2].fault, GUS_TIMING_RETURNED);
		assert_true(r[0].sum.cycles > 0 && r[2].sum.cycles > 0);
	}
}

/* Our only child: whoever kills it while it rests has done no harm. */
static void test_killed(void **state)
{
	const struct gus_timing_job job = { .code = adds, .size = sizeof(adds) };
	struct gus_timing_result r;
	char children[64] = "";
	FILE *f;

	(void)state;
	run(&job, 1, &r);
	f = fopen("/proc/thread-self/children", "r");
	if (!f || !fgets(children, sizeof(children), f)) {
		printf("skipped: this kernel does not tell who our children are\n");
		skip();
	}
	fclose(f);
	assert_true(atoi(children) > 1);
	assert_int_equal(kill(atoi(children), SIGKILL), 0);
	usleep(100000);
	run(&job, 1, &r);
	assert_int_equal(r.fault, GUS_TIMING_RETURNED);
	assert_true(r.sum.cycles > 0);
}

/* Code that knows where things are: the process has its memory where we have it, and its channel is another one's end.
 * Placed into code as constants of 8 and of 4 bytes. */
static uint64_t shared_at(void)
{
	char line[512];
	uint64_t start = 0, end;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " rw-s", &start, &end) == 2 && strstr(line, "/dev/zero") &&
		    end - start >= sizeof(struct gus_shared) && end - start < sizeof(struct gus_shared) + 4096)
			break;
		start = 0;
	}
	if (f)
		fclose(f);
	assert_true(start);
	return start;
}

static size_t put_code(uint8_t *code, size_t n, const void *bytes, size_t size)
{
	memcpy(code + n, bytes, size);
	return n + size;
}

/* mov $value, (shared + offset), of 4 or 8 bytes */
static size_t put_store(uint8_t *code, size_t n, size_t offset, uint64_t value, bool wide)
{
	uint64_t at = shared_at() + offset;

	n = put_code(code, n, "\x48\xb8", 2); /* movabs, rax */
	n = put_code(code, n, &at, 8);
	n = put_code(code, n, "\x48\xb9", 2); /* movabs, rcx */
	n = put_code(code, n, &value, 8);
	return wide ? put_code(code, n, "\x48\x89\x08", 3) : put_code(code, n, "\x89\x08", 2);
}

/* write(fd, the code behind it, 1) */
static size_t put_write(uint8_t *code, size_t n, uint32_t fd)
{
	n = put_code(code, n, "\x57\xb8\x01\0\0\0\xbf", 7); /* push rdi; mov 1, eax; mov fd, edi */
	n = put_code(code, n, &fd, 4);
	return put_code(code, n, "\x48\x8d\x35\0\0\0\0\xba\x01\0\0\0\x0f\x05\x5f", 15);
}

/* The jobs behind one that does what it wants are timed as if it had not been there, and it is found out: alone, and
 * among `most`. */
static void expect_guilty(const uint8_t *code, size_t size, enum gus_timing_fault fault, size_t most)
{
	const struct gus_timing_job jobs[] = {
		{ .code = code, .size = size }, { .code = adds, .size = sizeof(adds) },
		{ .code = products, .size = sizeof(products) },
	};
	struct gus_timing_result r[3];

	for (size_t batch = 1; batch <= most; batch += 2) {
		run(jobs, batch, r);
		assert_int_equal(r[0].fault, fault);
		assert_true(isnan(r[0].sum.cycles));
		run(jobs + 1, 2, r + 1);
		assert_int_equal(r[1].fault, GUS_TIMING_RETURNED);
		assert_int_equal(r[2].fault, GUS_TIMING_RETURNED);
		if (!(r[1].sum.cycles > 6 && r[2].sum.cycles > 18)) /* 12 and 36 on a quiet machine */
			fail_msg("%g and %g cycles", r[1].sum.cycles, r[2].sum.cycles);
	}
}

/* Calls on other files than its own end it, and a report that was not its turn is none. */
static void test_reports(void **state)
{
	unsigned ended = 0, reported = 0;

	(void)state;
	for (uint32_t fd = 0; fd < 64 && !reported; fd++) {
		uint8_t code[64];
		size_t n = put_write(code, 0, fd);
		struct gus_timing_job job = { .code = code };
		struct gus_timing_result r;

		job.size = put_code(code, n, endless, sizeof(endless));
		run(&job, 1, &r);
		assert_true(r.fault == GUS_TIMING_ENDLESS || (r.fault == GUS_TIMING_SIGNAL && r.signal == SIGSYS));
		ended += r.fault == GUS_TIMING_SIGNAL;
		reported += r.fault == GUS_TIMING_ENDLESS;
		if (reported)
			expect_guilty(code, job.size, GUS_TIMING_ENDLESS, 3);
	}
	assert_true(ended >= 3);
	assert_int_equal(reported, 1);
}

/* It says itself that it goes on, and for how long it may. */
static void test_endless_in_steps(void **state)
{
	uint8_t code[128];
	uint64_t at;
	size_t n;

	(void)state;
	if (!timing)
		skip();
	n = put_store(code, 0, offsetof(struct gus_shared, passes), UINT64_MAX, true);
	n = put_store(code, n, offsetof(struct gus_shared, phase), GUS_SHARED_PREPARES, false);
	at = shared_at() + offsetof(struct gus_shared, step);
	n = put_code(code, n, "\x48\xb8", 2);
	n = put_code(code, n, &at, 8);
	n = put_code(code, n, "\x48\xff\x00\xeb\xfb", 5); /* incq (rax); jmp to it */
	expect_guilty(code, n, GUS_TIMING_ENDLESS, 1);
}

/* Figures that are no time, of runs that it has made and of the one behind it. */
static void test_nonsense(void **state)
{
	static const double figures[] = { NAN, INFINITY, -1, -INFINITY };
	uint8_t code[128];

	(void)state;
	if (!timing)
		skip();
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		uint64_t bits;
		size_t n;

		memcpy(&bits, &figures[i], sizeof(bits));
		n = put_store(code, 0, offsetof(struct gus_shared, job[0].sample[0].once), bits, true);
		n = put_store(code, n, offsetof(struct gus_shared, job[1].sample[0].before), bits, true);
		n = put_code(code, n, "\x48\xff\xcf\x75", 4); /* dec rdi; jnz to the beginning; ret */
		code[n] = (uint8_t)(256 - n - 1);
		code[n + 1] = 0xc3;
		expect_guilty(code, n + 2, GUS_TIMING_NONSENSE, 3);
	}
}

static void test_endless(void **state)
{
	const struct gus_timing_job jobs[] = {
		{ .code = endless, .size = sizeof(endless) }, { .code = adds, .size = sizeof(adds) },
	};
	struct gus_timing_result r[2];

	(void)state;
	run(jobs, 2, r);
	assert_int_equal(r[0].fault, GUS_TIMING_ENDLESS);
	assert_int_equal(r[1].fault, GUS_TIMING_RETURNED);
	assert_true(r[1].sum.cycles > 0);
}

/* What a process says where processes may have a second of CPU time; the limit is not ours, as it can't be undone. */
static void say_what_ended(int out)
{
	const struct rlimit second = { 1, 1 };
	const struct gus_timing_job job = { .code = endless, .size = sizeof(endless) };
	struct gus_error err = { 0 };
	struct gus_timing_result r;
	struct gus_timing *t;

	setrlimit(RLIMIT_CPU, &second);
	t = gus_timing_open(&(const struct gus_timing_options){ .cpu = -1, .most_ns = 20000000 }, &err);
	if (t && gus_timing_run(t, &job, 1, &r, &err) == 0)
		strcpy(err.text, "nothing was wrong");
	gus_timing_close(t);
	_exit(write(out, err.text, strlen(err.text)) < 0);
}

static void test_cpu_limit(void **state)
{
	char text[800] = "";
	int ends[2], status;
	pid_t pid;

	(void)state;
	if (!timing)
		skip();
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		say_what_ended(ends[1]);
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!strstr(text, "all the CPU time that one may have here, 1 s (ulimit -t)"))
		fail_msg("%s", text);
}

/* There are descriptors for what the process is begun with, and none for it to see how much memory is free. */
static void test_no_descriptor(void **state)
{
	struct gus_error err = { 0 };
	struct rlimit before, few;
	struct gus_timing *t;
	int next = open("/", O_RDONLY);

	(void)state;
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)next + 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	t = gus_timing_open(&(const struct gus_timing_options){ .cpu = -1 }, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(t);
	assert_int_equal(err.sys, EMFILE);
	if (!strstr(err.text, "/proc/meminfo"))
		fail_msg("'%s' does not say what could not be read", err.text);
}

/* More than one batch of memory, of code and of jobs; and what is too much for any. */
static void test_room(void **state)
{
	enum { MANY = 150 };
	struct list lists[MANY];
	struct gus_timing_job jobs[MANY] = { 0 };
	struct gus_timing_result r[MANY];
	struct gus_timing_facts facts;
	struct gus_error err = { 0 };

	(void)state;
	if (!timing)
		skip();
	gus_timing_facts(timing, &facts);
	for (size_t i = 0; i < MANY; i++) {
		lists[i] = (struct list){ 16 + i, 64 };
		jobs[i] = (struct gus_timing_job){ .code = chase, .size = sizeof(chase), .fill = fill_list,
						   .what = &lists[i], .what_size = sizeof(lists[i]),
						   .arena = i % 50 == 49 ? facts.arena_most : 65536 };
	}
	jobs[49].arena = jobs[99].arena = jobs[149].arena = facts.arena_most / 2 + GUS_ARENA_HUGE;
	run(jobs, 100, r);
	for (size_t i = 0; i < 100; i++)
		assert_true(r[i].fault == GUS_TIMING_RETURNED && r[i].sum.cycles > 4);
	jobs[0].arena = facts.arena_most + 1;
	assert_int_equal(gus_timing_run(timing, jobs, 1, r, &err), -1);
	assert_int_equal(err.code, GUS_E_UNSUPPORTED);
}

static void test_huge(void **state)
{
	const struct list l = { 32768, 64 };
	const struct gus_timing_job job = { .code = chase, .size = sizeof(chase), .arena = 2u << 20, .huge = true,
					    .fill = fill_list, .what = &l, .what_size = sizeof(l), .warm = 8192 };
	struct gus_timing_result r;
	struct gus_timing_facts facts;

	(void)state;
	if (!timing)
		skip();
	gus_timing_facts(timing, &facts);
	if (!facts.arena_most_huge) {
		printf("skipped: there are no large pages here\n");
		skip();
	}
	run(&job, 1, &r);
	assert_true(r.fault == GUS_TIMING_RETURNED || r.fault == GUS_TIMING_SMALL_PAGES);
	if (r.fault == GUS_TIMING_RETURNED)
		assert_int_equal(r.passes % 8192, 0);
}

static void test_facts(void **state)
{
	struct gus_timing_facts f;

	(void)state;
	if (!timing)
		skip();
	gus_timing_facts(timing, &f);
	assert_true(f.ticks_hz > 1e6 && f.ticks_hz < 1e10);
	assert_true(f.core_hz > 1e8 && f.core_hz < 1e10);
	assert_true(f.core_low <= f.core_hz && f.core_hz <= f.core_high);
	assert_true(f.arena_most >= GUS_ARENA_HUGE && f.arena_most % GUS_ARENA_HUGE == 0);
	assert_true(f.core_low > 1e8 && f.core_high < 1e10);
	assert_true(f.ratio > 0.5 && f.ratio < 2);
	assert_int_equal(f.chains_agree, fabs(f.ratio - 1) <= 0.005);
}

/* Ticks of a second by the kernel's clock, over 50 ms; again where somebody came between two readings. */
static void test_clock_rate(void **state)
{
	bool right = false;

	(void)state;
	if (!timing)
		skip();
	for (unsigned i = 0; i < 20 && !right; i++) {
		struct timespec begin, end;
		struct gus_timing_facts f;
		uint64_t ticks;
		uint32_t cpu;
		double ns;

		ticks = gus_clock_ticks(&cpu);
		clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
		usleep(50000);
		ticks = gus_clock_ticks(&cpu) - ticks;
		clock_gettime(CLOCK_MONOTONIC_RAW, &end);
		ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
		gus_timing_facts(timing, &f);
		right = fabs((double)ticks * 1e9 / ns / f.ticks_hz - 1) < 0.001;
	}
	assert_true(right);
}

/* The CPU is the one that was asked for; one that we may not run on is refused, and one that there can't be. */
static void test_cpu(void **state)
{
	struct gus_timing_options o = { .most_ns = 20000000, .no_counter = true };
	struct gus_timing_facts facts;
	struct gus_error err = { 0 };
	cpu_set_t were, one;
	struct gus_timing *t;
	int last = 0;

	(void)state;
	if (!timing)
		skip();
	assert_int_equal(sched_getaffinity(0, sizeof(were), &were), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		last = CPU_ISSET((size_t)cpu, &were) ? cpu : last;
	o.cpu = last;
	t = gus_timing_open(&o, &err);
	assert_non_null(t);
	gus_timing_facts(t, &facts);
	assert_int_equal(facts.cpu, last);
	assert_false(facts.counter);
	gus_timing_close(t);
	for (o.cpu = CPU_SETSIZE; o.cpu <= CPU_SETSIZE + 1; o.cpu++) {
		err = (struct gus_error){ 0 };
		assert_null(gus_timing_open(&o, &err));
		assert_int_equal(err.code, GUS_E_USAGE);
	}
	if (CPU_COUNT(&were) == 1)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)last, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (o.cpu = 0; !CPU_ISSET((size_t)o.cpu, &were); o.cpu++)
		;
	err = (struct gus_error){ 0 };
	t = gus_timing_open(&o, &err);
	assert_int_equal(sched_setaffinity(0, sizeof(were), &were), 0);
	assert_null(t);
	assert_int_equal(err.code, GUS_E_USAGE);
}

/* The youngest of our children; 0 if this kernel does not tell who they are. */
static pid_t youngest_child(void)
{
	FILE *f = fopen("/proc/thread-self/children", "r");
	int child = 0;

	while (f && fscanf(f, "%d", &child) == 1)
		;
	if (f)
		fclose(f);
	return child;
}

/* Whoever sends the process a signal in its first order is somebody else, and no fault of what it executes. In a later
 * order it may be what an earlier one has done: all is tried again in a new process, and what comes of that is told. */
static void test_killed_in_an_order(void **state)
{
	static const struct { int number; bool later; } cases[] = {
		{ SIGKILL, false }, { SIGTERM, false }, { SIGKILL, true }, { SIGTERM, true },
	};
	const struct gus_timing_job first = { .code = adds, .size = sizeof(adds) };
	const struct gus_timing_job job = { .code = endless, .size = sizeof(endless) };

	(void)state;
	if (!timing)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct gus_timing *t = gus_timing_open(&(const struct gus_timing_options){ .cpu = -1 }, &err);
		pid_t victim = youngest_child(), killer;
		struct gus_timing_result r;

		assert_non_null(t);
		if (!victim) {
			gus_timing_close(t);
			printf("skipped: this kernel does not tell who our children are\n");
			skip();
		}
		if (cases[i].later)
			assert_int_equal(gus_timing_run(t, &first, 1, &r, &err), 0);
		killer = fork();
		assert_true(killer >= 0);
		if (killer == 0) {
			usleep(100000);
			_exit(kill(victim, cases[i].number) != 0);
		}
		assert_int_equal(gus_timing_run(t, &job, 1, &r, &err), cases[i].later ? 0 : -1);
		if (cases[i].later)
			assert_int_equal(r.fault, GUS_TIMING_ENDLESS);
		else
			assert_non_null(strstr(err.text, "was killed by somebody"));
		assert_int_equal(waitpid(killer, NULL, 0), killer);
		gus_timing_close(t);
	}
}

/* What an arena is filled by: all its bytes are alike, and it begins where any type may. */
static void fill_alike(const void *what, size_t size, void *arena)
{
	const uint8_t *bytes = what;

	(void)arena;
	if ((uintptr_t)what % _Alignof(max_align_t))
		abort();
	for (size_t i = 1; i < size; i++)
		if (bytes[i] != bytes[0])
			abort();
}

/* As much code, and as much of what fills memory, as there is room for; a byte more is refused. */
static void test_most_of_a_job(void **state)
{
	static const struct { size_t code, what; int result; } cases[] = {
		{ GUS_SHARED_CODE - 1, 0, 0 }, { GUS_SHARED_CODE, 0, -1 }, { SIZE_MAX / 2, 0, -1 },
		{ sizeof(adds), GUS_SHARED_WHAT, 0 }, { sizeof(adds), GUS_SHARED_WHAT + 1, -1 },
	};
	uint8_t *code = calloc(1, GUS_SHARED_CODE), *what = calloc(1, GUS_SHARED_WHAT + 1);

	(void)state;
	memcpy(code, adds, sizeof(adds));
	for (size_t i = 0; timing && i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_timing_job job = {
			.code = code, .size = cases[i].code, .arena = 4096, .fill = fill_alike, .what = what,
			.what_size = cases[i].what,
		};
		struct gus_error err = { 0 };
		struct gus_timing_result r;

		if (gus_timing_run(timing, &job, 1, &r, &err) != cases[i].result)
			fail_msg("case %zu: %s", i, err.text);
		if (cases[i].result != 0)
			assert_int_equal(err.code, GUS_E_UNSUPPORTED);
		else
			assert_true(r.fault == GUS_TIMING_RETURNED && r.sum.cycles > 11);
	}
	free(code);
	free(what);
}

/* Jobs that do not fit together in code, or in what fills memory, and some of odd sizes that do: each is timed with
 * what is its own. Products take three times as long as sums. */
static void test_together(void **state)
{
	static const struct { size_t code, what; } cases[] = {
		{ 1000000, 1 }, { 1 << 20, 17 }, { 100, 33 }, { 4095, 600000 }, { 4096, 400001 }, { 2000000, 300 },
		{ 1000000, 5 }, { 100, 700000 },
	};
	enum { JOBS = sizeof(cases) / sizeof(*cases) };
	struct gus_timing_job jobs[JOBS] = { 0 };
	struct gus_timing_result r[JOBS];

	(void)state;
	if (!timing)
		skip();
	for (size_t i = 0; i < JOBS; i++) {
		const uint8_t *body = i % 2 ? products : adds;
		uint8_t *code = calloc(1, cases[i].code), *what = malloc(cases[i].what);

		memcpy(code, body, i % 2 ? sizeof(products) : sizeof(adds));
		memset(what, (int)i + 1, cases[i].what);
		jobs[i] = (struct gus_timing_job){ .code = code, .size = cases[i].code, .arena = 4096,
						   .fill = fill_alike, .what = what, .what_size = cases[i].what };
	}
	run(jobs, JOBS, r);
	for (size_t i = 0; i < JOBS; i++) {
		assert_int_equal(r[i].fault, GUS_TIMING_RETURNED);
		assert_true(r[i].sum.cycles > (i % 2 ? 33 : 11));
		free((void *)(uintptr_t)jobs[i].code);
		free((void *)(uintptr_t)jobs[i].what);
	}
}
#endif

static void test_meminfo(void **state)
{
	(void)state;
	assert_int_equal(gus_arena_available("MemTotal:  100 kB\nMemFree: 3 k\nMemAvailable:   24 kB\nBuffers: 1 kB\n"),
			 24 << 10);
	assert_int_equal(gus_arena_available("MemAvailable: 7 kB"), 7 << 10);
	assert_int_equal(gus_arena_available("MemTotal: 7 kB\n"), 0);
	assert_int_equal(gus_arena_available(""), 0);
}

static void test_smaps(void **state)
{
	static const char text[] =
		"1000-3000 rw-p 00000000 00:00 0\nRss: 8 kB\nAnonHugePages:  0 kB\nVmFlags: rd\n"
		"200000-600000 rw-p 00000000 00:00 0 \nRss: 8 kB\nAnonHugePages:    4096 kB\nVmFlags: rd\n"
		"600000-601000 rw-p 00000000 00:00 0 \nAnonHugePages:    0 kB\n";

	(void)state;
	assert_int_equal(gus_arena_huge_in(text, 0x200000), 4 << 20);
	assert_int_equal(gus_arena_huge_in(text, 0x5fffff), 4 << 20);
	assert_int_equal(gus_arena_huge_in(text, 0x600000), 0);
	assert_int_equal(gus_arena_huge_in(text, 0x1fffff), 0);
	assert_int_equal(gus_arena_huge_in("", 0), 0);
}

static void test_siblings(void **state)
{
	(void)state;
	assert_int_equal(gus_timing_sibling_in("0,64", 0), 64);
	assert_int_equal(gus_timing_sibling_in("0,64", 64), 0);
	assert_int_equal(gus_timing_sibling_in("2-3", 2), 3);
	assert_int_equal(gus_timing_sibling_in("2-3", 3), 2);
	assert_int_equal(gus_timing_sibling_in("5", 5), -1);
	assert_int_equal(gus_timing_sibling_in("", 5), -1);
}

/* On a machine where nothing settles what is behind 15 s gets a fifth, and behind 30 s a tenth; who says nothing of
 * patience has it for ever. */
static void test_patience(void **state)
{
	const struct gus_timing_options says_nothing = { .cpu = -1 }, quick = { .cpu = -1, .patient_ns = 15000000000 },
		little = { .cpu = -1, .most_ns = 20000000, .patient_ns = 15000000000 };

	(void)state;
	assert_int_equal(gus_timing_most_ns(&says_nothing, 0), 50000000);
	assert_int_equal(gus_timing_most_ns(&says_nothing, 3600000000000), 50000000);
	assert_int_equal(gus_timing_most_ns(&quick, 15000000000), 50000000);
	assert_int_equal(gus_timing_most_ns(&quick, 15000000001), 10000000);
	assert_int_equal(gus_timing_most_ns(&quick, 30000000000), 10000000);
	assert_int_equal(gus_timing_most_ns(&quick, 30000000001), 5000000);
	assert_int_equal(gus_timing_most_ns(&little, 14000000000), 20000000);
	assert_int_equal(gus_timing_most_ns(&little, 16000000000), 4000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(test_known), cmocka_unit_test(test_faults), cmocka_unit_test(test_killed),
		cmocka_unit_test(test_endless), cmocka_unit_test(test_cpu_limit), cmocka_unit_test(test_reports),
		cmocka_unit_test(test_no_descriptor),
		cmocka_unit_test(test_endless_in_steps), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_room), cmocka_unit_test(test_huge), cmocka_unit_test(test_facts),
		cmocka_unit_test(test_clock_rate), cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_killed_in_an_order), cmocka_unit_test(test_most_of_a_job),
		cmocka_unit_test(test_together),
#endif
		cmocka_unit_test(test_meminfo), cmocka_unit_test(test_patience), cmocka_unit_test(test_smaps),
		cmocka_unit_test(test_siblings),
	};

	return cmocka_run_group_tests(tests, open_here, close_here);
}
