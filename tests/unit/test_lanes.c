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
#include "collector/events/cargo.h"
#include "collector/records/records.h"
#include "collector/session/lanes.h"
#include "collector/session/options.h"
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

/* What follows the rate and what does not is counted apart; an idle CPU's is neither kept nor free. */
static void leaves_are_counted_apart(void **state)
{
	const uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	struct fixture f;

	(void)state;
	start(&f);
	gus_records_free(&f.counters.records);
	gus_records_init(&f.counters.records, type, 0, 2);
	gus_records_add_id(&f.counters.records, ID, 0);
	gus_records_add_id(&f.counters.records, ID + 1, 1);
	gus_lanes_free(&f.lanes);
	gus_vec_push(&f.events, (struct gus_event){ .period = 5, .at_switch = true });
	gus_lanes_init(&f.lanes, &f.counters, &f.living);
	for (uint32_t i = 0; i < 4; i++) {
		const struct { struct perf_event_header h; uint64_t id, ip; uint32_t pid, tid; } sample = {
			{ .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_KERNEL, .size = sizeof(sample) },
			ID + (i > 0), 0xffffffff81000000, i % 3, i % 3,
		};

		memcpy(f.data + f.control->data_head, &sample, sizeof(sample));
		f.control->data_head += sizeof(sample);
	}
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 5, NULL), 0);
	assert_int_equal(f.lanes.usage.samples, 1);
	assert_int_equal(f.lanes.usage.leaves, 3);
	assert_int_equal(f.lanes.totals[0].samples, 1);
	assert_int_equal(f.lanes.totals[1].samples, 2);
	assert_int_equal(f.lanes.lane[0].samples.n, 3);
	assert_int_equal(gus_columns_sample(&f.lanes.lane[0].samples, 1).period, 5);
	stop(&f);
}

/* Sampled CPUs. */

#define WIDE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)
#define TASK_ID 8

/* One counter of a task, which counts, and one of a CPU, which samples. */
static void start_wide(struct fixture *f)
{
	start(f);
	gus_lanes_free(&f->lanes);
	gus_records_free(&f->counters.records);
	gus_records_init(&f->counters.records, WIDE_TYPE, 0, 1);
	gus_records_add_id(&f->counters.records, ID, 0);
	gus_records_add_id(&f->counters.records, TASK_ID, 0);
	f->target.kind = GUS_TARGET_COMMAND;
	f->counters.by_cpu = true;
	gus_vec_push(&f->counters.list, (struct gus_counter){ .fd = -1, .task = -1, .wide = true, .period = 1000 });
	gus_vec_push(&f->counters.list, (struct gus_counter){ .fd = -1, .task = 40, .silent = true });
	gus_vec_push(&f->counters.closed, (struct gus_counted){ 0 });
	gus_vec_push(&f->counters.repeated, 0);
	gus_vec_push(&f->counters.on_ns, 0);
	gus_lanes_init(&f->lanes, &f->counters, &f->living);
}

static void stop_wide(struct fixture *f)
{
	gus_vec_free(&f->counters.list);
	gus_vec_free(&f->counters.closed);
	gus_vec_free(&f->counters.repeated);
	gus_vec_free(&f->counters.on_ns);
	stop(f);
}

static void append(struct fixture *f, const void *record, size_t size)
{
	memcpy(f->data + f->control->data_head, record, size);
	f->control->data_head += size;
}

static void append_wide(struct fixture *f, uint64_t id, uint32_t tid, uint64_t time)
{
	const struct {
		struct perf_event_header h;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time, period;
	} sample = {
		{ .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof(sample) },
		id, 0x401000, 40, tid, time, 1000,
	};

	append(f, &sample, sizeof(sample));
}

static void append_task(struct fixture *f, uint32_t type, uint32_t tid, uint64_t time)
{
	const struct {
		struct perf_event_header h;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
		uint32_t by_pid, by_tid;
		uint64_t at, id;
	} task = { { .type = type, .size = sizeof(task) }, 40, 40, tid, 40, time, 40, 40, time, TASK_ID };

	append(f, &task, sizeof(task));
}

/* A sample of a CPU waits for the next drain: the news of its task's birth may come after it. Then those of the target
 * are kept, in their order, and those of strangers, and of what had that number before or after, only counted. */
static void samples_of_cpus_are_told_apart(void **state)
{
	struct fixture f;

	(void)state;
	start_wide(&f);
	append_wide(&f, ID, 41, 100);
	append_wide(&f, ID, 41, 200);
	append_wide(&f, ID, 99, 201);
	append_task(&f, PERF_RECORD_FORK, 41, 150);
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 1, NULL), 0);
	assert_int_equal(f.lanes.totals[0].samples, 0);
	assert_int_equal(f.lanes.strangers, 0);
	append_wide(&f, ID, 41, 300);
	append_wide(&f, ID, 41, 400);
	append_task(&f, PERF_RECORD_EXIT, 41, 350);
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 2, NULL), 0);
	assert_int_equal(f.lanes.totals[0].samples, 1);
	assert_int_equal(f.lanes.strangers, 2);
	assert_int_equal(f.lanes.usage.samples, 3); /* they have cost what they cost */
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 3, NULL), 0);
	assert_int_equal(f.lanes.totals[0].samples, 2);
	assert_int_equal(f.lanes.strangers, 3);
	assert_int_equal(f.lanes.lane[0].samples.n, 2);
	assert_int_equal(gus_columns_sample(&f.lanes.lane[0].samples, 0).time, 200);
	assert_int_equal(gus_columns_sample(&f.lanes.lane[0].samples, 1).time, 300);
	assert_int_equal(gus_columns_sample(&f.lanes.lane[0].samples, 1).period, 1000);
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 4, NULL), 0);
	assert_int_equal(f.lanes.lane[0].samples.n, 2); /* once, each */
	stop_wide(&f);
}

static uint64_t missed(struct fixture *f, uint64_t count)
{
	f->counters.closed.v[0].count = count;
	gus_lanes_settle_missed(&f->lanes);
	f->lanes.settled = false;
	return f->lanes.taken[0].missed;
}

/* What was counted and is in no sample is the tasks' as far as they can have missed it, a period each on the one CPU
 * that there is; the rest has gone elsewhere. Lost samples are not missed, and where CPUs are sampled nothing is. */
static void what_tasks_have_missed(void **state)
{
	struct fixture f;

	(void)state;
	start_wide(&f);
	f.counters.by_cpu = f.lanes.settled = false;
	f.counters.list.v[0].wide = false;
	for (uint32_t i = 0; i < 3; i++)
		append_task(&f, PERF_RECORD_FORK, 41 + i, 10);
	append_wide(&f, ID, 41, 100);
	append_wide(&f, ID, 42, 200);
	assert_int_equal(gus_lanes_drain(&f.lanes, NULL, 1, NULL), 0);
	assert_int_equal(f.lanes.taken[0].weight, 2000);
	assert_int_equal(missed(&f, 1999), 0);
	assert_int_equal(missed(&f, 2000), 0);
	assert_int_equal(missed(&f, 2001), 1);
	assert_int_equal(missed(&f, 5000), 3000);
	assert_int_equal(missed(&f, 5001), 3000);
	f.lanes.totals[0].lost = 2;
	assert_int_equal(missed(&f, 5000), 1000);
	f.lanes.settled = true;
	f.counters.closed.v[0].count = 9000;
	gus_lanes_settle_missed(&f.lanes);
	assert_int_equal(f.lanes.taken[0].missed, 1000);
	stop_wide(&f);
}

static bool was_visited(const struct gus_visits *v, uint64_t address)
{
	const struct gus_visit_place place = { .address = address, .pid = GUS_TASK_UNKNOWN };

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

/* Callers. */

#define STACKED (WIDE_TYPE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define U PERF_CONTEXT_USER

/* What an unwinder hears: times of the side band, and of samples, which are marked. */
struct heard { uint64_t v[16]; size_t n; struct gus_sample last; };
#define ASKED (1ull << 32)

static void hear_record(void *context, const struct Gusprof__Record *record)
{
	struct heard *h = context;

	h->v[h->n++] = record->kind_case == GUSPROF__RECORD__KIND_FORK ? record->fork->time : record->exit->time;
}

static uint32_t hear_sample(void *context, const struct gus_sample *s, uint64_t *out, uint32_t most, uint64_t *callers)
{
	struct heard *h = context;

	assert_true(most >= 2);
	h->last = *s;
	h->v[h->n++] = s->time | ASKED;
	out[0] = 0x402000;
	out[1] = 0x403000;
	*callers = GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE;
	return 2;
}

/* Two rings. */
struct stacked {
	struct fixture f;
	struct heard heard;
	struct gus_session_unwinder unwinder;
	struct perf_event_mmap_page *second;
};

static void start_stacked(struct stacked *s, enum gus_call_graph callers)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct gus_ring ring;

	*s = (struct stacked){ .unwinder = { .told = hear_record, .callers = hear_sample } };
	s->unwinder.context = &s->heard;
	start_wide(&s->f);
	s->f.counters.by_cpu = s->f.counters.list.v[0].wide = false;
	s->second = gus_zalloc(page + SIZE);
	gus_ring_over(&ring, s->second, SIZE);
	gus_vec_push(&s->f.counters.rings, ring);
	s->f.counters.records.layout.sample_type = STACKED;
	s->f.counters.records.layout.regs_mask = GUS_CARGO_REGS;
	gus_lanes_free(&s->f.lanes);
	gus_lanes_init(&s->f.lanes, &s->f.counters, &s->f.living);
	s->f.lanes.callers = callers;
	s->f.lanes.unwinder = &s->unwinder;
}

static void stop_stacked(struct stacked *s)
{
	free(s->second);
	free(s->f.counters.rings.v[1].whole);
	stop_wide(&s->f);
}

/* Of user space, with a chain of one caller and two words of the stack. */
static void append_stacked(struct fixture *f, uint32_t tid, uint64_t time)
{
	const struct {
		struct perf_event_header h;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time, period, chain_n, chain[3], abi, regs[__builtin_popcountll(GUS_CARGO_REGS)], size;
		uint64_t stack[2], read;
	} sample = {
		{ .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = sizeof(sample) },
		ID, 0x401000, 40, tid, time, 1000, 3, { U, 0x401000, 0x405000 }, PERF_SAMPLE_REGS_ABI_64, { 1, 2 },
		16, { 5, 6 }, 16,
	};

	append(f, &sample, sizeof(sample));
}

/* The next record goes to the other ring. */
static void swap_rings(struct stacked *s)
{
	struct perf_event_mmap_page *first = s->f.control;

	s->f.control = s->second;
	s->second = first;
	s->f.data = (uint8_t *)s->f.control + sysconf(_SC_PAGESIZE);
}

static void assert_heard(const struct heard *h, size_t n, const uint64_t *want)
{
	assert_int_equal(h->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(h->v[i], want[i]);
}

#define HEARD(...) sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8, (const uint64_t[]){ __VA_ARGS__ }

/* Whoever finds callers hears of what happened in its order, once, whichever rings it stands in. */
static void callers_are_asked_for_in_order(void **state)
{
	struct gus_sample kept;
	struct stacked s;

	(void)state;
	start_stacked(&s, GUS_CALL_GRAPH_TABLES);
	append_stacked(&s.f, 40, 200);
	append_stacked(&s.f, 41, 400);
	swap_rings(&s);
	append_task(&s.f, PERF_RECORD_FORK, 41, 100);
	append_task(&s.f, PERF_RECORD_EXIT, 41, 300);
	swap_rings(&s);
	assert_int_equal(gus_lanes_drain(&s.f.lanes, NULL, 1, NULL), 0);
	assert_heard(&s.heard, HEARD(100, 200 | ASKED, 300, 400 | ASKED));
	assert_int_equal(s.heard.last.regs_n, __builtin_popcountll(GUS_CARGO_REGS));
	assert_int_equal(s.heard.last.stack_n, 2);
	assert_int_equal(s.f.lanes.lane[0].samples.n, 2);
	kept = gus_columns_sample(&s.f.lanes.lane[0].samples, 0);
	assert_int_equal(kept.callers, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
	assert_int_equal(kept.chain[kept.chain_n - 1], 0x403000);
	assert_int_equal(kept.regs_n + kept.stack_n, 0); /* the file has no need of them */
	assert_int_equal(s.f.lanes.usage.stack_bytes, 32);
	assert_true(s.f.lanes.usage.drain_ns > 0);
	assert_int_equal(gus_lanes_drain(&s.f.lanes, NULL, 2, NULL), 0);
	assert_int_equal(s.heard.n, 4);
	stop_stacked(&s);
}

static void what_each_way_keeps(void **state)
{
	const struct { enum gus_call_graph callers; size_t asked, regs, chain; uint64_t second; } cases[] = {
		{ GUS_CALL_GRAPH_FP, 1, 0, 3, 0x402000 }, /* a leaf's caller before the kernel's */
		{ GUS_CALL_GRAPH_COPIES, 0, __builtin_popcountll(GUS_CARGO_REGS), 2, 0x405000 },
		{ GUS_CALL_GRAPH_LBR, 0, 0, 3, 0x405000 }, /* no calls were kept */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sample kept;
		struct stacked s;

		start_stacked(&s, cases[i].callers);
		if (cases[i].callers != GUS_CALL_GRAPH_FP)
			s.f.lanes.unwinder = NULL;
		append_stacked(&s.f, 40, 200);
		assert_int_equal(gus_lanes_drain(&s.f.lanes, NULL, 1, NULL), 0);
		kept = gus_columns_sample(&s.f.lanes.lane[0].samples, 0);
		assert_int_equal(s.heard.n, cases[i].asked);
		assert_int_equal(kept.regs_n, cases[i].regs);
		assert_int_equal(kept.stack_n, cases[i].regs ? 2 : 0);
		assert_int_equal(kept.chain_n, cases[i].chain);
		assert_int_equal(kept.chain[1], cases[i].second);
		stop_stacked(&s);
	}
}

/* Of what runs on a CPU a member is asked about at once, one whose birth is not known yet when it is, and a stranger
 * never. */
static void strangers_are_not_asked_about(void **state)
{
	struct stacked s;

	(void)state;
	start_stacked(&s, GUS_CALL_GRAPH_TABLES);
	s.f.counters.by_cpu = s.f.counters.list.v[0].wide = true;
	append_stacked(&s.f, 41, 200);
	append_stacked(&s.f, 99, 201);
	append_task(&s.f, PERF_RECORD_FORK, 41, 100); /* out of order, as the kernel may have it */
	append_stacked(&s.f, 41, 300);
	assert_int_equal(gus_lanes_drain(&s.f.lanes, NULL, 1, NULL), 0);
	assert_heard(&s.heard, HEARD(100, 300 | ASKED));
	assert_int_equal(gus_lanes_drain(&s.f.lanes, NULL, 2, NULL), 0);
	assert_heard(&s.heard, HEARD(100, 300 | ASKED, 200 | ASKED));
	assert_int_equal(s.f.lanes.strangers, 1);
	assert_int_equal(s.f.lanes.lane[0].samples.n, 2);
	for (size_t i = 0; i < 2; i++) {
		struct gus_sample kept = gus_columns_sample(&s.f.lanes.lane[0].samples, i);

		assert_int_equal(kept.time, 200 + 100 * i);
		assert_int_equal(kept.callers, GUS_CALLERS_WHOLE | GUS_CALLERS_TABLE);
		assert_int_equal(kept.chain[kept.chain_n - 1], 0x403000);
		assert_int_equal(kept.regs_n + kept.stack_n, 0);
	}
	stop_stacked(&s);
}

/* Stacks fill a lane long before rows do: at 1 MiB of them it goes into the file. */
static void stacks_fill_a_lane(void **state)
{
	enum { FULL = 1 << 17 };
	static uint64_t words[FULL];

	(void)state;
	for (unsigned less = 0; less < 2; less++) {
		const struct gus_sample large = { .time = 1, .stack_n = FULL - 2 - less, .stack = words };
		char path[] = "/tmp/gusprof-test-XXXXXX";
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		struct gus_writer *w;
		struct stacked s;
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		w = gus_writer_create_fd(fd, path, &header, NULL);
		assert_non_null(w);
		start_stacked(&s, GUS_CALL_GRAPH_COPIES);
		s.f.lanes.unwinder = NULL;
		gus_columns_push(&s.f.lanes.lane[0].samples, &large);
		append_stacked(&s.f, 40, 200); /* two words more */
		assert_int_equal(gus_lanes_drain(&s.f.lanes, w, 1, NULL), 0);
		assert_int_equal(s.f.lanes.lane[0].samples.n, less ? 2 : 0);
		stop_stacked(&s);
		gus_writer_abandon(w);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_and_counted),
		cmocka_unit_test(broken_rings_are_counted),
		cmocka_unit_test(leaves_are_counted_apart),
		cmocka_unit_test(samples_of_cpus_are_told_apart),
		cmocka_unit_test(what_tasks_have_missed),
		cmocka_unit_test(user_space_is_noted),
		cmocka_unit_test(callers_are_asked_for_in_order),
		cmocka_unit_test(what_each_way_keeps),
		cmocka_unit_test(strangers_are_not_asked_about),
		cmocka_unit_test(stacks_fill_a_lane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
