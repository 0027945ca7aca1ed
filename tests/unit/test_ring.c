/* SPDX-License-Identifier: MIT */
/* A flight recorder's ring, made as the kernel makes it: written from the end backward, over what is oldest. */
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
#include "collector/counters/ring.h"

#define SIZE 256u

struct fake {
	struct gus_ring ring;
	struct perf_event_mmap_page *control;
	uint8_t *data;
};

static void make(struct fake *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	f->control = gus_zalloc(page + SIZE);
	f->data = (uint8_t *)f->control + page;
	f->ring = (struct gus_ring){ .fd = -1, .base = f->control, .size = SIZE, .whole = gus_zalloc(65536) };
}

static void unmake(struct fake *f)
{
	free(f->control);
	free(f->ring.whole);
}

/* A record of size bytes, all but its header the number. */
static void put(struct fake *f, uint16_t size, uint8_t number)
{
	struct perf_event_header h = { .type = 1, .size = size };
	uint64_t head = f->control->data_head - size;
	uint8_t bytes[SIZE];

	memset(bytes, number, size);
	memcpy(bytes, &h, sizeof(h));
	for (unsigned i = 0; i < size; i++)
		f->data[(head + i) & (SIZE - 1)] = bytes[i];
	f->control->data_head = head;
}

struct seen { uint8_t numbers[64]; size_t n; };

static void take(const void *record, size_t size, void *context)
{
	const uint8_t *bytes = record;
	struct seen *s = context;

	for (size_t i = sizeof(struct perf_event_header); i < size; i++)
		assert_int_equal(bytes[i], bytes[sizeof(struct perf_event_header)]);
	s->numbers[s->n++] = bytes[sizeof(struct perf_event_header)];
}

static struct seen snapshot(struct fake *f)
{
	struct seen s = { .n = 0 };
	size_t n = gus_ring_snapshot(&f->ring, take, &s);

	assert_int_equal(n, s.n);
	return s;
}

static void nothing(void **state)
{
	struct fake f;

	(void)state;
	make(&f);
	assert_int_equal(snapshot(&f).n, 0);
	unmake(&f);
}

static void oldest_first_and_once(void **state)
{
	struct fake f;
	struct seen s;

	(void)state;
	make(&f);
	for (uint8_t i = 1; i <= 3; i++)
		put(&f, 24, i);
	s = snapshot(&f);
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.numbers, ((uint8_t[]){ 1, 2, 3 }), 3);
	assert_int_equal(snapshot(&f).n, 0);
	put(&f, 40, 4);
	s = snapshot(&f);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.numbers[0], 4);
	unmake(&f);
}

/* Records of all sizes, so that the oldest one is cut off in all ways and some wrap around the end. */
static void goes_round(void **state)
{
	(void)state;
	for (uint16_t size = 16; size <= 120; size += 8) {
		struct fake f;
		struct seen s;

		make(&f);
		for (uint8_t i = 1; i <= 60; i++)
			put(&f, size, i);
		s = snapshot(&f);
		assert_int_equal(s.n, SIZE / size);
		for (size_t i = 0; i < s.n; i++)
			assert_int_equal(s.numbers[i], 61 - s.n + i);
		put(&f, 16, 99);
		assert_int_equal(snapshot(&f).n, 1);
		unmake(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(oldest_first_and_once),
		cmocka_unit_test(goes_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
