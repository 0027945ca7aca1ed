/* SPDX-License-Identifier: MIT */
/* Records of several rings, taken by their times. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/ascending.h"
#include "collector/counters/merge.h"
#include "collector/counters/ring.h"

#define SIZE 4096u
#define RINGS 5

struct record { struct perf_event_header h; uint64_t time; };

struct fixture {
	struct gus_ring rings[RINGS];
	struct gus_vec(struct record) taken;
	size_t of[RINGS];      /* taken from each */
	struct fixture *grows; /* a record comes while the first is taken */
};

static void start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	for (size_t i = 0; i < RINGS; i++)
		gus_ring_over(&f->rings[i], gus_zalloc((size_t)sysconf(_SC_PAGESIZE) + SIZE), SIZE);
}

static void stop(struct fixture *f)
{
	for (size_t i = 0; i < RINGS; i++) {
		free(f->rings[i].control);
		free(f->rings[i].whole);
	}
	gus_vec_free(&f->taken);
}

static void append(struct fixture *f, size_t ring, uint64_t time)
{
	struct record r = { { .type = (uint32_t)ring, .size = sizeof(r) }, time };
	struct perf_event_mmap_page *c = f->rings[ring].control;
	uint8_t *data = (uint8_t *)c + sysconf(_SC_PAGESIZE);

	memcpy(data + (c->data_head & (SIZE - 1)), &r, sizeof(r));
	c->data_head += sizeof(r);
}

static uint64_t time_of(const void *record, size_t size, void *context)
{
	(void)context;
	assert_int_equal(size, sizeof(struct record));
	return ((const struct record *)record)->time;
}

static void take(size_t ring, const void *record, size_t size, void *context)
{
	struct fixture *f = context;

	(void)size;
	assert_int_equal(((const struct record *)record)->h.type, ring);
	gus_vec_push(&f->taken, *(const struct record *)record);
	f->of[ring]++;
	if (f->grows) {
		f->grows = NULL;
		append(f, 1, 1);
	}
}

static void merge(struct fixture *f, uint64_t until)
{
	const struct gus_merge m = { time_of, take, f };

	gus_merge_rings(&m, f->rings, RINGS, until);
}

static void assert_times(const struct fixture *f, size_t n, const uint64_t *times)
{
	assert_int_equal(f->taken.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(f->taken.v[i].time, times[i]);
}

#define TIMES(...) sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8, (const uint64_t[]){ __VA_ARGS__ }

static void by_time(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	append(&f, 0, 30);
	append(&f, 0, 31);
	append(&f, 2, 10);
	append(&f, 2, 40);
	append(&f, 4, 20);
	append(&f, 3, 30); /* behind that of ring 0 */
	merge(&f, UINT64_MAX);
	assert_times(&f, TIMES(10, 20, 30, 30, 31, 40));
	assert_int_equal(f.taken.v[2].h.type, 0);
	assert_int_equal(f.taken.v[3].h.type, 3);
	for (size_t i = 0; i < RINGS; i++)
		assert_int_equal(f.rings[i].control->data_tail, f.rings[i].control->data_head);
	merge(&f, UINT64_MAX);
	assert_int_equal(f.taken.n, 6);
	stop(&f);
}

/* What is later than that waits, and so does what stands behind it; the rest does not. */
static void until_a_time(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	append(&f, 0, 10);
	append(&f, 0, 26);
	append(&f, 0, 12); /* it was written behind */
	append(&f, 1, 25);
	merge(&f, 25);
	assert_times(&f, TIMES(10, 25));
	assert_int_equal(f.rings[0].control->data_tail, sizeof(struct record));
	append(&f, 1, 27);
	merge(&f, 27);
	assert_times(&f, TIMES(10, 25, 26, 12, 27));
	stop(&f);
}

/* A kernel that is as fast as we are does not keep us: what comes meanwhile is there the next time. */
static void what_comes_meanwhile(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	append(&f, 0, 10);
	append(&f, 1, 20);
	f.grows = &f;
	merge(&f, UINT64_MAX);
	assert_times(&f, TIMES(10, 20));
	merge(&f, UINT64_MAX);
	assert_times(&f, TIMES(10, 20, 1));
	stop(&f);
}

/* Where a ring makes no sense it is emptied, once; the others are read. */
static void a_broken_ring(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	append(&f, 0, 10);
	append(&f, 1, 11);
	append(&f, 1, 12);
	((struct perf_event_header *)(void *)(uintptr_t)f.rings[1].data)->size = 3;
	append(&f, 2, 13);
	merge(&f, UINT64_MAX);
	assert_times(&f, TIMES(10, 13));
	assert_int_equal(f.rings[1].broken, 1);
	append(&f, 1, 14);
	merge(&f, UINT64_MAX);
	assert_times(&f, TIMES(10, 13, 14));
	assert_int_equal(f.rings[1].broken, 1);
	stop(&f);
}

/* Over the ends of the rings, many times. */
static void many(void **state)
{
	uint64_t seed = 1, want[RINGS * 100];
	struct fixture f;

	(void)state;
	start(&f);
	for (unsigned round = 0; round < 20; round++) {
		size_t n = 0;

		for (size_t i = 0; i < RINGS; i++) {
			uint64_t time = round * 100000;

			for (unsigned k = 0; k < 100; k++) {
				seed = seed * 6364136223846793005ull + 1442695040888963407ull;
				time += seed >> 55;
				append(&f, i, time);
				want[n++] = time;
			}
		}
		qsort(want, n, sizeof(*want), gus_ascending_u64);
		f.taken.n = 0;
		merge(&f, UINT64_MAX);
		assert_times(&f, n, want);
	}
	for (size_t i = 0; i < RINGS; i++)
		assert_int_equal(f.of[i], 2000);
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_time),
		cmocka_unit_test(until_a_time),
		cmocka_unit_test(what_comes_meanwhile),
		cmocka_unit_test(a_broken_ring),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
