/* SPDX-License-Identifier: MIT */
/* What goes wrong in code that is executed and timed on this machine is its own error and nobody else's. */
#include <inttypes.h>
#include <math.h>
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
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/timing/shared.h"
#include "collector/timing/timing.h"
#include "made_timing.h"

static const uint8_t undefined[] = { 0x0f, 0x0b };                                      /* ud2 */
static const uint8_t to_nowhere[] = { 0x31, 0xc0, 0x88, 0x00 };                         /* mov %al, (0) */
static const uint8_t by_zero[] = { 0x31, 0xc9, 0xf7, 0xf1 };                            /* div of 0 */
static const uint8_t trap[] = { 0xcc };
static const uint8_t beyond[] = { 0x90 };                       /* nop, and no end */
static const uint8_t fork_call[] = { 0xb8, 57, 0, 0, 0, 0x0f, 0x05, 0xc3 };
static const uint8_t fork_call_32[] = { 0xb8, 2, 0, 0, 0, 0xcd, 0x80, 0xc3 };   /* int $0x80 */
static const uint8_t exit_call[] = { 0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05 }; /* exit_group(0) */
static const uint8_t write_code[] = { 0x88, 0x05, 0xfa, 0xff, 0xff, 0xff, 0xc3 }; /* mov %al, -6(%rip) */
/* mmap of memory to be executed: edx is the protection. */
static const uint8_t map_code[] = { 0xb8, 9, 0, 0, 0, 0x31, 0xff, 0xbe, 0, 16, 0, 0, 0xba, 7, 0, 0, 0, 0x0f, 0x05,
				    0xc3 };

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

/* What was not disturbed takes its time: 16 cycles and 48 on a quiet machine, of which a core that is faster than the
 * chains beside it leaves 11 and 33. Of what was, there is but a time. */
static bool is_timed(const struct gus_timing_result *r, double more_than)
{
	return isfinite(r->sum.cycles) && r->sum.cycles > (r->sum.trouble ? 0 : more_than);
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
		if (!is_timed(&r[1], 11) || !is_timed(&r[2], 33))
			fail_msg("%g and %g cycles, with troubles %#x and %#x", r[1].sum.cycles, r[2].sum.cycles,
				 r[1].sum.trouble, r[2].sum.trouble);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults), cmocka_unit_test(test_killed), cmocka_unit_test(test_endless),
		cmocka_unit_test(test_cpu_limit), cmocka_unit_test(test_reports),
		cmocka_unit_test(test_endless_in_steps), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_killed_in_an_order),
	};

	return cmocka_run_group_tests(tests, open_here, close_here);
}
