/* SPDX-License-Identifier: MIT */
/* Who shares the core, on machines that are made: what sysfs and /proc/stat say, which CPUs there are, and how long the
 * loop takes beside each of them, are the test's (wraps of the functions that would ask this machine). The companions
 * are real processes. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/timing/sharing.h"
#include "collector/timing/timing.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

enum { CPUS = 6, CPU = 2, RUNS = 64, PROCESSES = 8 };

/* We run on CPU 2. */
static struct machine {
	const char *siblings;           /* of sysfs; NULL: it does not say */
	bool allowed[CPUS], gone[CPUS]; /* gone: none can be bound to it */
	double slower[CPUS][3];         /* beside sums on that CPU, by turn */
	double least;                   /* at its quickest beside sums; 0: as always */
	const char *stat[2];            /* before and after; NULL: it cannot be read */
	unsigned fails_at;              /* the run that the loop cannot be timed in; 0: none */
	bool faults;
	/* What was done. */
	unsigned runs, turn, read;
	int tried[PROCESSES];
	unsigned tried_n, looked;
	pid_t begun[PROCESSES];
	unsigned begun_n;
} machine;

void __wrap_gus_timing_facts(const struct gus_timing *t, struct gus_timing_facts *facts);
int __wrap_gus_timing_run(struct gus_timing *t, const struct gus_timing_job *jobs, size_t n,
			  struct gus_timing_result *results, struct gus_error *err);
bool __wrap_gus_read_text(const char *path, char *text, size_t size);
char *__wrap_gus_procfs_read(const char *path, size_t *size);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);
pid_t __real_gus_helper_fork(void);
pid_t __wrap_gus_helper_fork(void);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

void __wrap_gus_timing_facts(const struct gus_timing *t, struct gus_timing_facts *facts)
{
	(void)t;
	*facts = (struct gus_timing_facts){ .cpu = CPU };
}

/* By turns beside one that waits and one that adds. Others may take the place of who waits, so the least counts there,
 * and of sums the median, as the companion may have to share its CPU. */
int __wrap_gus_timing_run(struct gus_timing *t, const struct gus_timing_job *jobs, size_t n,
			  struct gus_timing_result *results, struct gus_error *err)
{
	bool adds = machine.runs % 2;
	double slower = machine.slower[machine.tried[machine.tried_n - 1]][machine.turn];

	(void)t;
	assert_int_equal(n, 1);
	assert_true(jobs->size > 0);
	if (++machine.runs == machine.fails_at && !machine.faults)
		return gus_fail(err, GUS_E_SYSTEM, "it cannot be timed");
	*results = (struct gus_timing_result){ .fault = machine.runs == machine.fails_at ? GUS_TIMING_RETURNED + 1
											 : GUS_TIMING_RETURNED };
	results->sum.cycles = adds ? 10 * (1 + (machine.least ? machine.least : slower)) : 10;
	results->sum.median = adds ? 10 * (1 + slower) : 99;
	machine.turn += adds;
	return 0;
}

bool __wrap_gus_read_text(const char *path, char *text, size_t size)
{
	assert_string_equal(path, "/sys/devices/system/cpu/cpu2/topology/thread_siblings_list");
	if (!machine.siblings)
		return false;
	snprintf(text, size, "%s", machine.siblings);
	return true;
}

char *__wrap_gus_procfs_read(const char *path, size_t *size)
{
	const char *text = machine.stat[machine.read++];

	assert_string_equal(path, "/proc/stat");
	*size = text ? strlen(text) : 0;
	return text ? strdup(text) : NULL;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	(void)size;
	CPU_ZERO(set);
	for (size_t i = 0; i < CPUS; i++)
		if (machine.allowed[i])
			CPU_SET(i, set);
	return 0;
}

/* In the companion. */
int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)pid;
	(void)size;
	for (size_t i = 0; i < CPUS; i++)
		if (CPU_ISSET(i, set))
			return machine.gone[i] ? -1 : 0;
	return -1;
}

/* Companions are begun on CPUs in their order. */
pid_t __wrap_gus_helper_fork(void)
{
	int cpu = machine.tried_n ? machine.tried[machine.tried_n - 1] + 1 : 0;
	pid_t pid;

	while (cpu < CPUS && (cpu == CPU || !machine.allowed[cpu]))
		cpu++;
	machine.tried[machine.tried_n++] = cpu;
	machine.turn = 0;
	pid = __real_gus_helper_fork();
	if (pid > 0)
		machine.begun[machine.begun_n++] = pid;
	return pid;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	if (time->tv_nsec >= 100000000) {
		machine.looked++; /* as long as it is looked whether a CPU is busy */
		return 0;
	}
	return __real_nanosleep(time, left);
}

static int find(const struct machine *is, struct gus_timing_sharing *s)
{
	struct gus_error err = { 0 };
	int rc;

	machine = *is;
	rc = gus_timing_find_sharing(NULL, s, &err);
	assert_true(rc == 0 || err.text[0]);
	for (unsigned i = 0; i < machine.begun_n; i++) /* none is left */
		assert_int_equal(waitpid(machine.begun[i], NULL, WNOHANG), -1);
	return rc;
}

/* Another CPU of the core is told by sysfs, or seen, or neither. */
static void who_shares_the_core(void **state)
{
	static const struct {
		struct machine is;
		struct gus_timing_sharing want;
		unsigned runs;
	} cases[] = {
		/* Nobody is slow: once beside each of the other two. */
		{ { .siblings = "2", .allowed = { 0, 1, 1, 1 }, .slower = { { 0 }, { 0.01 }, { 0 }, { 0.02 } } },
		  { .with = -1, .slower = 0.02, .slowed_by = 3, .tried = 2 }, 4 },
		{ { .siblings = NULL, .allowed = { 0, 1, 1, 1 }, .slower = { { 0 }, { 0.02 }, { 0 }, { 0.01 } } },
		  { .with = -1, .slower = 0.02, .slowed_by = 1, .tried = 2 }, 4 },
		/* Told, and not seen; the CPU itself is never tried. */
		{ { .siblings = "0,2", .allowed = { 1, 0, 1 } },
		  { .with = 0, .told = true, .slower = 0, .slowed_by = 0, .tried = 1 }, 2 },
		{ { .siblings = "2-3", .allowed = { 0, 0, 1 } },
		  { .with = 3, .told = true, .slowed_by = -1 }, 0 },
		/* Seen, three times, by the least of them. What is seen goes before what is told. */
		{ { .allowed = { 1, 1, 1, 1 }, .slower = { { 0 }, { 0.5, 0.3, 0.4 }, { 0 }, { 0 } } },
		  { .with = 1, .measured = true, .slower = 0.3, .slowed_by = 1, .tried = 3 }, 10 },
		{ { .siblings = "2,3", .allowed = { 1, 1, 1, 1 }, .slower = { { 0.16, 0.2, 0.2 } } },
		  { .with = 0, .told = true, .measured = true, .slower = 0.16, .slowed_by = 0, .tried = 3 }, 10 },
		/* Chance: not seen again. Less than 15 % is not one core. */
		{ { .allowed = { 0, 1, 1 }, .slower = { { 0 }, { 0.5, 0.5, 0.1 } } },
		  { .with = -1, .slower = 0.1, .slowed_by = 1, .tried = 1 }, 6 },
		{ { .allowed = { 0, 1, 1 }, .slower = { { 0 }, { 0.149 } } },
		  { .with = -1, .slower = 0.149, .slowed_by = 1, .tried = 1 }, 2 },
		/* Slow in the mean, and quick at its best: others have this CPU, too, or the core's other thread. */
		{ { .allowed = { 0, 1, 1 }, .least = 0.02, .slower = { { 0 }, { 0.5, 0.5, 0.5 } } },
		  { .with = -1, .slower = 0.02, .slowed_by = 1, .tried = 1 }, 2 },
		{ { .allowed = { 0, 1, 1 }, .least = 0.04, .slower = { { 0 }, { 0.5, 0.3, 0.5 } } },
		  { .with = 1, .measured = true, .slower = 0.3, .slowed_by = 1, .tried = 1 }, 6 },
		/* A CPU that has gone is not tried. */
		{ { .allowed = { 1, 1, 1, 1 }, .gone = { 1, 0, 0, 1 }, .slower = { { 0.9, 0.9, 0.9 }, { 0.01 } } },
		  { .with = -1, .slower = 0.01, .slowed_by = 1, .tried = 1 }, 2 },
		/* Faster beside sums than beside waiting. */
		{ { .allowed = { 0, 1, 1, 1 }, .slower = { { 0 }, { -0.02 }, { 0 }, { -0.01 } } },
		  { .with = -1, .slower = -0.01, .slowed_by = 3, .tried = 2 }, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct gus_timing_sharing *want = &cases[i].want;
		struct gus_timing_sharing s;

		assert_int_equal(find(&cases[i].is, &s), 0);
		if (s.with != want->with || s.told != want->told || s.measured != want->measured ||
		    s.slowed_by != want->slowed_by || s.tried != want->tried || fabs(s.slower - want->slower) > 1e-9)
			fail_msg("case %zu: with %d, slowed by %d, %g, %u tried", i, s.with, s.slowed_by, s.slower,
				 s.tried);
		assert_int_equal(machine.runs, cases[i].runs);
		assert_false(s.busy);
	}
}

#define STAT(one, two) "cpu  9 9 9 9 9 9 9 9 9 9\ncpu1 " one "\ncpu11 1 1 1 1 1 1 1 1 1 1\ncpu3 " two "\n"

/* Of 0.1 s a fifth and more is busy: user, nice, system, idle, waiting, interrupts, the host's. Guests' time is in the
 * user's. */
static void whether_it_is_busy(void **state)
{
	static const struct { const char *before, *after; bool busy; } cases[] = {
		{ STAT("9 9 9 9 9 9 9 9 9 9", "100 0 0 100 0 0 0 0 0 0"), STAT("", "103 0 0 107 0 0 0 0 0 0"), true },
		{ STAT("9 9 9 9 9 9 9 9 9 9", "100 0 0 100 0 0 0 0 0 0"), STAT("", "102 0 0 108 0 0 0 0 0 0"), false },
		{ STAT("", "100 0 0 100 0 0 0 0 0 0"), STAT("", "101 0 0 104 5 0 0 0 0 0"), false },
		{ STAT("", "100 0 0 100 0 0 0 0 0 0"), STAT("", "100 1 1 106 0 1 0 1 0 0"), true },
		{ STAT("", "100 0 0 100 0 0 0 0 0 0"), STAT("", "100 0 0 100 0 0 10 0 0 0"), true },
		{ STAT("", "100 0 0 100 0 0 0 0 0 0"), STAT("", "100 0 0 110 0 0 0 0 50 50"), false },
		{ STAT("", "1 0 0 1"), STAT("", "9 0 0 2"), false }, /* of a kernel that says less nothing is known */
		{ STAT("", "1 0 0 1 0"), STAT("", "9 0 0 2 0"), true },
		{ "cpu  1 1 1 1 1 1 1\n", "cpu  9 1 1 1 1 1 1\n", false },
		{ NULL, NULL, false }, { STAT("", "1 0 0 1 0"), NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct machine is = { .siblings = "2-3", .allowed = { 0, 0, 1 },
			.stat = { cases[i].before, cases[i].after } };
		struct gus_timing_sharing s;

		assert_int_equal(find(&is, &s), 0);
		assert_int_equal(s.with, 3);
		if (s.busy != cases[i].busy)
			fail_msg("case %zu: %s", i, s.busy ? "busy" : "idle");
		assert_int_equal(machine.looked, machine.read == 2);
	}
}

/* Whichever run it is that cannot be made, or does not come back; no companion is left. */
static void errors_come_through(void **state)
{
	struct gus_timing_sharing s;

	(void)state;
	for (unsigned fails_at = 1; fails_at <= 4; fails_at++)
		for (int faults = 0; faults < 2; faults++) {
			struct machine is = { .allowed = { 1, 1, 1 }, .fails_at = fails_at, .faults = faults };

			assert_int_equal(find(&is, &s), -1);
			assert_int_equal(machine.runs, fails_at);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_shares_the_core),
		cmocka_unit_test(whether_it_is_busy),
		cmocka_unit_test(errors_come_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
