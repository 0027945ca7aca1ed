/* SPDX-License-Identifier: MIT */
/* Memory of microbenchmarks: for their code, for what they work on, and for what fills that; and how much there is. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/timing/arena.h"
#include "collector/timing/shared.h"
#include "collector/timing/timing.h"
#include "made_timing.h"

#if defined(__x86_64__)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(test_no_descriptor), cmocka_unit_test(test_room), cmocka_unit_test(test_huge),
		cmocka_unit_test(test_most_of_a_job), cmocka_unit_test(test_together),
#endif
		cmocka_unit_test(test_meminfo), cmocka_unit_test(test_smaps),
	};

	return cmocka_run_group_tests(tests, open_here, close_here);
}
