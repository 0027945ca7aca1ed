/* SPDX-License-Identifier: MIT */
/* Where samples were: counted as long as there is room, and then an even sample of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/session/visits.h"

static uint64_t count_of(const struct gus_visits *v, uint32_t pid, uint64_t address)
{
	const struct gus_visit_place place = { .address = address, .pid = pid };
	uint32_t number = gus_index_find(&v->places, &place);

	return number == GUS_INDEX_NONE ? 0 : v->list.v[number].count;
}

static void places_of_processes_are_counted(void **state)
{
	struct gus_visits v;

	(void)state;
	gus_visits_init(&v);
	gus_visits_add(&v, 1, 0x1000, 50);
	gus_visits_add(&v, 2, 0x1000, 60);
	gus_visits_add(&v, 1, 0x1000, 40);
	gus_visits_add(&v, 1, 0x1001, 70);
	assert_int_equal(v.places.n, 3);
	assert_int_equal(v.list.n, 3);
	assert_int_equal(count_of(&v, 1, 0x1000), 2);
	assert_int_equal(count_of(&v, 2, 0x1000), 1);
	assert_int_equal(v.list.v[0].first, 40); /* though it did not come first */
	assert_int_equal(v.list.v[0].last, 50);
	assert_int_equal(v.seen, 4);
	assert_int_equal(v.stride, 1);
	gus_visits_free(&v);
}

/* All of `most` have room; the next one halves what is there. */
static void nothing_is_forgotten_while_there_is_room(void **state)
{
	struct gus_visits v;

	(void)state;
	gus_visits_init(&v);
	v.most = 100;
	for (uint64_t i = 0; i < 100; i++)
		gus_visits_add(&v, 1, i, 1);
	assert_int_equal(v.places.n, 100);
	assert_int_equal(v.stride, 1);
	gus_visits_add(&v, 1, 100, 1);
	assert_int_equal(v.stride, 2);
	assert_in_range(v.places.n, 30, 70);
	gus_visits_free(&v);
}

/* A hundred thousand processes, each with addresses of its own, of which all spend a tenth of their time in one place
 * each: so each place has one visit, and what is kept has a tenth of such all the same. A place that has a quarter of
 * all visits has a quarter of what is kept. */
static void what_is_kept_is_an_even_sample(void **state)
{
	enum { PROCESSES = 100000, MOST = 1000 };
	uint64_t kept = 0, hot = 0, hottest = 0;
	struct gus_visits v;

	(void)state;
	gus_visits_init(&v);
	v.most = MOST;
	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		gus_visits_add(&v, 0, 0xaaaa, pid);
		for (uint64_t i = 0; i < 3; i++) {
			uint64_t n = 3ull * pid + i;

			gus_visits_add(&v, pid, n % 10 == 0 ? 0xbbbb : 0x10000 + n, pid);
		}
	}
	assert_int_equal(v.seen, 4 * PROCESSES);
	assert_in_range(v.places.n, MOST / 3, MOST);
	for (uint32_t i = 0; i < v.places.n; i++) {
		const struct gus_visit_place *p = gus_index_key(&v.places, i);

		kept += v.list.v[i].count;
		hot += p->address == 0xbbbb ? v.list.v[i].count : 0;
		hottest += p->address == 0xaaaa ? v.list.v[i].count : 0;
	}
	assert_in_range(kept * v.stride, 4 * PROCESSES * 9 / 10, 4 * PROCESSES * 11 / 10);
	assert_in_range(hottest * 100 / kept, 20, 30);
	assert_in_range(hot * 1000 / kept, 50, 100); /* 75 of a thousand */
	gus_visits_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_processes_are_counted),
		cmocka_unit_test(nothing_is_forgotten_while_there_is_room),
		cmocka_unit_test(what_is_kept_is_an_even_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
