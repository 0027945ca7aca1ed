/* SPDX-License-Identifier: MIT */
/* From rings to lanes: what a ring holds is kept, and what cannot be kept is counted. */
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
#include "collector/counters/counters.h"
#include "collector/counters/ring.h"
#include "collector/records/records.h"
#include "collector/session/lanes.h"
#include "collector/session/visits.h"

#define SIZE 4096u
#define TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP)
#define ID 7

/* Counters of one event with a ring of plain memory, of which nothing is open. */
struct fixture {
	struct gus_events events;
	struct gus_target target;
	struct gus_counters counters;
	struct gus_living living;
	struct gus_lanes lanes;
	struct perf_event_mmap_page *control;
	uint8_t *data;
};

static void start(struct fixture *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct gus_ring ring;

	memset(f, 0, sizeof(*f));
	f->control = gus_zalloc(page + SIZE);
	f->data = (uint8_t *)f->control + page;
	gus_ring_over(&ring, f->control, SIZE);
	gus_vec_push(&f->events, (struct gus_event){ .period = 1000 });
	f->counters.events = &f->events;
	f->counters.target = &f->target;
	gus_vec_push(&f->counters.rings, ring);
	gus_records_init(&f->counters.records, TYPE, 0, 1);
	gus_records_add_id(&f->counters.records, ID, 0);
	gus_living_init(&f->living);
	gus_lanes_init(&f->lanes, &f->counters, &f->living);
}

static void stop(struct fixture *f)
{
	gus_lanes_free(&f->lanes);
	gus_living_free(&f->living);
	gus_records_free(&f->counters.records);
	free(f->counters.rings.v[0].whole);
	gus_vec_free(&f->counters.rings);
	gus_vec_free(&f->events);
	free(f->control);
}

static void append_sample(struct fixture *f, uint64_t id, uint64_t ip, uint16_t says)
{
	const struct { struct perf_event_header h; uint64_t id, ip; } sample = {
		{ .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = says }, id, ip,
	};

	memcpy(f->data + f->control->data_head, &sample, sizeof(sample));
	f->control->data_head += sizeof(sample);
}

static void kept_and_counted(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	append_sample(&f, ID, 0x401000, 24);
	append_sample(&f, ID, 0x401004, 24);
	append_sample(&f, ID + 1, 0x401008, 24); /* of an event that is none of ours */
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 5, NULL), 0);
	assert_int_equal(f.lanes.usage.samples, 2);
	assert_int_equal(f.lanes.totals[0].samples, 2);
	assert_int_equal(f.lanes.bad, 1);
	assert_int_equal(f.lanes.lane[0].since, 5);
	stop(&f);
}

/* Behind a record that says a size which cannot be, nothing in the ring can be read. That is no reason to be silent: it
 * counts as one malformed record each time, which the end of a recording tells. */
static void broken_rings_are_counted(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	append_sample(&f, ID, 0x401000, 24);
	append_sample(&f, ID, 0x401004, 0);
	append_sample(&f, ID, 0x401008, 24);
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 1, NULL), 0);
	assert_int_equal(f.lanes.usage.samples, 1);
	assert_int_equal(f.lanes.bad, 1);
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 2, NULL), 0);
	assert_int_equal(f.lanes.bad, 1);
	append_sample(&f, ID, 0x40100c, 3);
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 3, NULL), 0);
	assert_int_equal(f.lanes.bad, 2);
	stop(&f);
}

static bool was_visited(const struct gus_visits *v, uint64_t address)
{
	const struct gus_visit_place place = { .address = address };

	return gus_index_find(&v->places, &place) != GUS_INDEX_NONE;
}

/* Of a sample and its chain: user space only, and of a caller the byte before the address that it returns to, as where
 * a call is the last instruction the next function begins there. */
static void user_space_is_noted(void **state)
{
	const struct { struct perf_event_header h; uint64_t id, ip, n, chain[5]; } sample = {
		{ .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof(sample) }, ID, 0x401000, 5,
		{ PERF_CONTEXT_KERNEL, 0xffffffff81000000, PERF_CONTEXT_USER, 0x401000, 0x402000 },
	};
	struct gus_visits visits;
	struct fixture f;

	(void)state;
	start(&f);
	gus_visits_init(&visits);
	f.lanes.user = &visits;
	gus_records_free(&f.counters.records);
	gus_records_init(&f.counters.records, TYPE | PERF_SAMPLE_CALLCHAIN, 0, 1);
	gus_records_add_id(&f.counters.records, ID, 0);
	memcpy(f.data, &sample, sizeof(sample));
	f.control->data_head += sizeof(sample);
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 5, NULL), 0);
	assert_int_equal(f.lanes.usage.samples, 1);
	assert_true(was_visited(&visits, 0x401000));
	assert_true(was_visited(&visits, 0x401fff));
	assert_false(was_visited(&visits, 0x402000));
	for (uint32_t i = 0; i < visits.places.n; i++)
		assert_true((int64_t)((const struct gus_visit_place *)gus_index_key(&visits.places, i))->address > 0);
	gus_visits_free(&visits);
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_and_counted),
		cmocka_unit_test(broken_rings_are_counted),
		cmocka_unit_test(user_space_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
