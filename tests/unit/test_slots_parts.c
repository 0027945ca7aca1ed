/* SPDX-License-Identifier: MIT */
/* What becomes of issue slots over time, on cores of two kinds, and between samples that bring the counts of their
 * group along. All numbers are small and made up, on the events of an Ice Lake: of `slots` 1000 are so many retiring,
 * bad, for want of the front and of the back end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/topdown/encoding.h"
#include "attribution/topdown/builtin.h"
#include "attribution/topdown/kinds.h"
#include "attribution/topdown/readings.h"
#include "attribution/topdown/sampled.h"
#include "attribution/topdown/tree.h"
#include "model/tables/cpus.h"
#include "proto/sample.h"

enum { MS = 1000000 };

static char *borrow(const char *text)
{
	return (char *)(uintptr_t)text;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* Time. */

/* Readings of one event, each of which counts as much as ms went by. */
static void read_at(struct gus_topdown_readings *r, const uint64_t *ms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t ran = ms[i] - (i ? ms[i - 1] : 0);
		struct gus_topdown_count c = { (double)ran, ran * MS, ran * MS, true };

		gus_topdown_readings_add(r, &c, 1, ms[i] * MS);
	}
}

static void expect_stretch(const struct gus_topdown_stretch *s, uint64_t from_ms, uint64_t to_ms, size_t first,
			   size_t n)
{
	assert_int_equal(s->from_ns, from_ms * MS);
	assert_int_equal(s->to_ns, to_ms * MS);
	assert_int_equal(s->first, first);
	assert_int_equal(s->n, n);
}

/* A stretch has the readings whose middle is in it: of 100 ms in two the one from 40 to 70 is in the second. */
static void cut(void **state)
{
	static const uint64_t even[] = { 10, 20, 30, 40 }, odd[] = { 20, 40, 70, 100 }, gap[] = { 10, 90, 100 };
	struct gus_topdown_readings r = { 0 };
	struct gus_topdown_stretch s[8];

	(void)state;
	assert_int_equal(gus_topdown_readings_cut(&r, 0, 4, s), 0);
	read_at(&r, even, 4);
	assert_int_equal(gus_topdown_readings_cut(&r, 0, 2, s), 2);
	expect_stretch(&s[0], 0, 20, 0, 2);
	expect_stretch(&s[1], 20, 40, 2, 2);
	assert_int_equal(gus_topdown_readings_cut(&r, 0, 1, s), 1);
	expect_stretch(&s[0], 0, 40, 0, 4);
	assert_int_equal(gus_topdown_readings_cut(&r, 0, 8, s), 4); /* no more than there are readings */
	gus_topdown_readings_free(&r);

	read_at(&r, odd, 4);
	assert_int_equal(gus_topdown_readings_cut(&r, 0, 2, s), 2);
	expect_stretch(&s[0], 0, 40, 0, 2);
	expect_stretch(&s[1], 40, 100, 2, 2);
	gus_topdown_readings_free(&r);

	read_at(&r, gap, 3);                    /* a reading longer than a part leaves parts without any */
	assert_int_equal(gus_topdown_readings_cut(&r, 0, 5, s), 3);
	expect_stretch(&s[1], 10, 90, 1, 1);
	assert_int_equal(gus_topdown_readings_cut(&r, 95 * MS, 1, s), 1); /* a start behind the first is none */
	expect_stretch(&s[0], 10, 100, 0, 3);
	gus_topdown_readings_free(&r);
}

/* Kinds of cores. */

static struct gus_topdown_count count(uint64_t enabled, uint64_t running)
{
	return (struct gus_topdown_count){ 1, enabled, running, true };
}

/* 100 ms of a task, 70 of them on big cores and 30 on small ones: nothing was missed of either. */
static void kinds(void **state)
{
	static const struct gus_topdown_kind_span spans[] = { { 0, 2 }, { 2, 1 } };
	struct gus_topdown_count c[] = { count(100, 70), count(100, 70), count(100, 30) };
	struct gus_topdown_count turns[] = { count(100, 35), count(100, 35), count(100, 30) };
	struct gus_topdown_count lost[] = { count(100, 40), { 1, 100, 90, false }, count(50, 20) };
	struct gus_topdown_count over[] = { count(100, 70), count(100, 70), count(60, 50) };
	struct gus_topdown_count one[] = { count(100, 70), count(100, 70), count(100, 30) };

	(void)state;
	gus_topdown_kinds_settle(c, spans, 2);
	assert_true(c[0].enabled_ns == 70 && c[1].enabled_ns == 70 && c[2].enabled_ns == 30);
	/* Groups of the big ones took turns: theirs stays right, that of the small ones is too long, not too short. */
	gus_topdown_kinds_settle(turns, spans, 2);
	assert_true(turns[0].enabled_ns == 70 && turns[1].enabled_ns == 70 && turns[2].enabled_ns == 65);
	gus_topdown_kinds_settle(one, spans, 1);
	assert_true(one[0].enabled_ns == 100 && one[2].enabled_ns == 100);
	/* What was not counted has run nowhere; and nothing was wanted for less time than it ran. */
	gus_topdown_kinds_settle(lost, spans, 2);
	assert_true(lost[0].enabled_ns == 80 && lost[1].enabled_ns == 90);
	assert_true(lost[2].enabled_ns == 20); /* 50 less the 40 that the other kind is known to have run */
	gus_topdown_kinds_settle(over, spans, 2);
	assert_true(over[0].enabled_ns == 70 && over[2].enabled_ns == 50);
}

/* Sums by number, with none in between; what is added of another one is all of it, its products as well. */
static void sums(void **state)
{
	static const uint64_t a[] = { 2, 3 }, b[] = { 10, 0 };
	const struct gus_topdown_difference first = { a, 5, 4 }, second = { b, 7, 7 };
	struct gus_topdown_sums s = { .events = 2 }, from = { .events = 2 };

	(void)state;
	gus_topdown_sums_add(&from, 1, &first);
	gus_topdown_sums_add(&from, 1, &second);
	assert_int_equal(from.n, 2);
	assert_int_equal(from.heads.v[0].differences, 0);
	gus_topdown_sums_add(&s, 2, &first);
	gus_topdown_sums_merge(&s, 2, &from, 1);
	gus_topdown_sums_merge(&s, 2, &from, 2); /* there is none */
	gus_topdown_sums_merge(&s, 0, &from, 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.heads.v[2].differences, 3);
	assert_int_equal(s.heads.v[2].enabled_ns, 17);
	assert_int_equal(s.heads.v[2].running_ns, 15);
	assert_true(s.counts.v[4] == 14 && s.counts.v[5] == 6);
	/* The sums before it, to which nothing was added, have none. */
	assert_int_equal(s.moments.n, 4);
	assert_true(near(s.moments.v[0], 4 + 4 + 100) && near(s.moments.v[1], 12) && near(s.moments.v[2], 12) &&
		    near(s.moments.v[3], 18));
	gus_topdown_sums_add(&s, 0, &second);
	assert_true(near(s.moments.v[4], 100) && near(s.moments.v[0], 108));
	gus_topdown_sums_free(&s);
	gus_topdown_sums_free(&from);
	assert_int_equal(from.n, 0);
	assert_null(from.heads.v);
}

/* Encodings. */

static void encodings(void **state)
{
	static const struct gus_topdown_pmu pmus[] = { { "cpu", NULL, 0, 0 }, { "armv8_pmuv3_0", NULL, 0, 8 } };
	struct gus_cpu_id zen = { .vendor = "AuthenticAMD", .family = 0x19, .model = 0x11 };
	struct gus_topdown_host host = { .cpu = &zen, .pmus = pmus, .pmus_n = 1 };
	struct gus_topdown_tables tables = { 0 };
	const struct gus_topdown *t;
	Gusprof__Event e = GUSPROF__EVENT__INIT;
	const struct gus_topdown_event *cycles, *front;

	(void)state;
	assert_int_equal(gus_topdown_find(&tables, &host, NULL), 0);
	assert_int_equal(tables.n, 1);
	t = tables.v[0];
	cycles = &t->events.v[0];
	front = &t->events.v[1];
	assert_string_equal(cycles->name, "cycles");
	assert_string_equal(front->name, "fe_slots"); /* event=0x1a0,umask=1 */
	e.type = 4;
	e.config = UINT64_C(0x1000001a0);
	assert_true(gus_topdown_encoding_is(t, front, &e));
	assert_false(gus_topdown_encoding_is(t, cycles, &e));
	e.config1 = 1;
	assert_false(gus_topdown_encoding_is(t, front, &e));
	e.config1 = 0;
	e.pmu = borrow("cpu_atom");
	assert_false(gus_topdown_encoding_is(t, front, &e));
	e.pmu = borrow("cpu");
	assert_true(gus_topdown_encoding_is(t, front, &e));
	e.type = 1;                             /* the kernel's own events have the same numbers */
	assert_false(gus_topdown_encoding_is(t, front, &e));
	e.type = 0;                             /* its name for cycles */
	e.config = 0;
	assert_true(gus_topdown_encoding_is(t, cycles, &e));
	e.config = 1;
	assert_false(gus_topdown_encoding_is(t, cycles, &e));
	gus_topdown_tables_free(&tables);
}

/* Samples. */

enum { SLOTS, RETIRING, BAD, FRONT, BACK, CYCLES, EVENTS };

struct recording {
	Gusprof__Header header;
	Gusprof__Host host;
	Gusprof__Clock clock;
	Gusprof__Origin origin;
	Gusprof__Event event[EVENTS], *events[EVENTS];
};

/* An Ice Lake's, of the group {slots, four metrics, cycles} of which cycles sample; or the same of perf's. */
static void make(struct recording *r, bool inherit, bool of_perf)
{
	static const uint64_t configs[EVENTS] = { 0x400, 0x8000, 0x8100, 0x8200, 0x8300, 0x3c };

	gusprof__header__init(&r->header);
	gusprof__host__init(&r->host);
	gusprof__clock__init(&r->clock);
	gusprof__origin__init(&r->origin);
	r->host.cpu_vendor = borrow("GenuineIntel");
	r->host.cpu_family = 6;
	r->host.cpu_model_number = 0x6a;
	r->clock.start_ns = 1000 * MS;
	for (size_t i = 0; i < EVENTS; i++) {
		gusprof__event__init(&r->event[i]);
		r->event[i].type = 4;
		r->event[i].config = configs[i];
		r->event[i].group = 1;
		r->event[i].counts = i != CYCLES && !of_perf;
		r->event[i].read_format = i == CYCLES || of_perf ? 15 : 0;
		r->event[i].inherit = inherit;
		r->events[i] = &r->event[i];
	}
	r->header.host = &r->host;
	r->header.clock = &r->clock;
	r->header.n_events = EVENTS;
	r->header.events = r->events;
	if (of_perf)
		r->header.origin = &r->origin;
}

/* A sample of thread tid by counters number `which`, so many ms after the start; its values so far. */
struct read { uint32_t tid, which; uint64_t ms, running_ms, values[EVENTS - 1]; uint32_t cell; };

static bool take(struct gus_topdown_sampled *s, const struct read *read)
{
	uint64_t words[2 + 2 * EVENTS] = { read->running_ms * MS, read->running_ms * MS };
	struct gus_extras extras = { 0 };
	struct gus_sample sample = { .time = (1000 + read->ms) * MS, .tid = read->tid, .pid = 1, .event = CYCLES,
				     .period = 1 };
	bool taken;

	for (size_t i = 0; i < EVENTS; i++) {
		words[2 + 2 * i] = i < CYCLES ? read->values[i] : read->running_ms;
		words[3 + 2 * i] = i | (uint64_t)read->which << 32;
	}
	gus_extras_add(&extras, GUS_EXTRA_COUNTS, 0, words, sizeof(words));
	sample.extras = extras.v;
	sample.extras_n = (uint32_t)extras.n;
	taken = gus_topdown_sampled_take(s, &sample);
	if (taken)
		gus_topdown_sampled_add(s, read->cell);
	gus_vec_free(&extras);
	return taken;
}

static void expect_sum(const struct gus_topdown_sums *sums, size_t number, uint64_t n, const uint64_t *values)
{
	assert_true(number < sums->n);
	assert_int_equal(sums->heads.v[number].differences, n);
	for (size_t i = 0; i < EVENTS - 1; i++)
		assert_int_equal(sums->counts.v[number * sums->events + i], values[i]);
}

/* Two threads with counters of their own, on two CPUs; each difference is that of one thread on one CPU, and they all
 * add up to what was read last. */
static void by_thread(void **state)
{
	static const struct read reads[] = {
		{ 7, 0, 10, 10, { 1000, 400, 100, 200, 300 }, 0 },
		{ 8, 0, 20, 5, { 500, 50, 50, 350, 50 }, 1 },
		{ 7, 1, 30, 10, { 1000, 100, 100, 100, 700 }, 0 },
		{ 7, 0, 40, 20, { 3000, 1400, 200, 600, 800 }, 0 },
		{ 8, 0, 50, 10, { 1000, 100, 100, 700, 100 }, 1 },
	};
	static const uint64_t seven[] = { 4000, 1500, 300, 700, 1500 }, eight[] = { 1000, 100, 100, 700, 100 };
	static const uint64_t all[] = { 5000, 1600, 400, 1400, 1600 };
	struct gus_topdown_sampled *s;
	struct gus_topdown_tree tree;
	struct recording r;

	(void)state;
	make(&r, true, false);
	s = gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 5);
	assert_non_null(s);
	assert_int_equal(s->kinds.n, 1);
	assert_string_equal(s->kinds.v[0].table->name, "icelake");
	assert_true(s->kinds.v[0].by_thread && s->kinds.v[0].timed);
	assert_int_equal(s->kinds.v[0].level, 1);
	for (size_t i = 0; i < 5; i++)
		assert_true(take(s, &reads[i]));
	gus_topdown_sampled_settle(s);
	expect_sum(&s->kinds.v[0].cells, 0, 3, seven);
	expect_sum(&s->kinds.v[0].cells, 1, 2, eight);
	expect_sum(&s->kinds.v[0].total, 0, 5, all);
	assert_int_equal(s->differences, 5);
	assert_int_equal(s->kinds.v[0].total.heads.v[0].running_ns, 40 * MS); /* 7: 20 and 10, 8: 10 */
	/* In parts of 10 ms each sample is in its own; the last one is not beyond the end. */
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(s->kinds.v[0].stretches.heads.v[i].differences, 1);
	assert_int_equal(s->kinds.v[0].stretches.heads.v[4].differences, 2);
	gus_topdown_sums_tree(&s->kinds.v[0].cells, 0, s->kinds.v[0].table, s->kinds.v[0].at, false, &tree);
	for (size_t i = 0; i < s->kinds.v[0].table->nodes.n; i++) {
		const char *name = s->kinds.v[0].table->nodes.v[i].name;

		if (strcmp(name, "retiring") == 0)
			assert_true(tree.shares[i].known && near(tree.shares[i].value, 1500. / 4000));
	}
	assert_true(near(tree.slots, 4000));
	gus_topdown_tree_free(&tree);
	gus_topdown_sampled_free(s);
}

/* What a file says of its events may be anything: as many as it has room for, each with counts, in one group or of a
 * PMU of its own. */
static void many_events(void **state)
{
	enum { MANY = 200000 };
	Gusprof__Event *events = gus_alloc(MANY * sizeof(*events)), **list = gus_alloc(MANY * sizeof(*list));
	char (*pmus)[16] = gus_alloc(MANY * sizeof(*pmus));
	struct recording r;

	(void)state;
	make(&r, true, false);
	r.header.n_events = MANY;
	r.header.events = list;
	alarm(60); /* where each is compared to each other one it takes longer */
	for (unsigned k = 0; k < 4; k++) {
		for (uint32_t i = 0; i < MANY; i++) {
			list[i] = &events[i];
			events[i] = r.event[i < EVENTS ? i : EVENTS - 1];
			events[i].group = k & 1 ? 1 : i;
			snprintf(pmus[i], sizeof(pmus[i]), "armv8_%u", i);
			if (k & 2)
				events[i].pmu = pmus[i];
		}
		gus_topdown_sampled_free(gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1));
	}
	alarm(0);
	free(events);
	free(list);
	free(pmus);
}

/* The counters of a CPU: what another thread had before is in the difference of the later sample, whoever that is. */
static void by_cpu(void **state)
{
	static const struct read reads[] = {
		{ 7, 0, 10, 10, { 1000, 400, 100, 200, 300 }, 0 }, { 8, 0, 20, 20, { 1500, 450, 150, 550, 350 }, 1 },
	};
	static const uint64_t eight[] = { 500, 50, 50, 350, 50 };
	struct gus_topdown_sampled *s;
	struct recording r;

	(void)state;
	make(&r, false, false);
	s = gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1);
	assert_true(take(s, &reads[0]) && take(s, &reads[1]));
	gus_topdown_sampled_settle(s);
	assert_false(s->kinds.v[0].by_thread);
	expect_sum(&s->kinds.v[0].cells, 1, 1, eight);
	gus_topdown_sampled_free(s);

	r.header.target = borrow("thread");     /* which nobody shares */
	s = gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1);
	assert_true(s->kinds.v[0].by_thread);
	gus_topdown_sampled_free(s);
}

/* What cannot be used, and what is before it, is in no sum. */
static void unusable(void **state)
{
	static const struct read reads[] = {
		{ 7, 0, 10, 2000, { 1000, 400, 100, 200, 300 }, 0 }, /* its counters ran before the recording */
		{ 7, 0, 20, 2010, { 2000, 800, 200, 400, 600 }, 0 },
		{ 7, 0, 30, 2020, { 3000, 799, 300, 900, 1001 }, 0 }, /* one went back by rounding */
		{ 7, 0, 40, 2030, { 4000, 1199, 400, 1100, 1301 }, 0 },
	};
	static const uint64_t sum[] = { 2000, 800, 200, 400, 600 };
	struct gus_topdown_sampled *s;
	struct recording r;

	(void)state;
	make(&r, false, false);
	s = gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1);
	assert_false(take(s, &reads[0]));
	assert_true(take(s, &reads[1]));
	assert_false(take(s, &reads[2]));
	assert_true(take(s, &reads[3]));
	gus_topdown_sampled_settle(s);
	expect_sum(&s->kinds.v[0].total, 0, 2, sum);
	assert_true(s->begun == 1 && s->backward == 1 && s->differences == 2);
	gus_topdown_sampled_free(s);

	r.event[CYCLES].read_format = 0;        /* samples without counts */
	assert_null(gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1));
	make(&r, false, false);
	r.host.cpu_model_number = 0xff;         /* a CPU that no table is about */
	assert_null(gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1));
}

/* Counters that stood still have counted nothing, which is a difference all the same; times are known where both of
 * them are in the format; and an event is counted if it is in the group, not if it is called the same. */
static void formats(void **state)
{
	static const struct read still[] = {
		{ 7, 0, 10, 10, { 1000, 400, 100, 200, 300 }, 0 }, { 7, 0, 20, 10, { 1000, 400, 100, 200, 300 }, 0 },
	};
	static const uint64_t sum[] = { 1000, 400, 100, 200, 300 };
	struct gus_topdown_sampled *s;
	struct recording r;

	(void)state;
	make(&r, false, false);
	s = gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1);
	assert_true(take(s, &still[0]) && take(s, &still[1]));
	gus_topdown_sampled_settle(s);
	expect_sum(&s->kinds.v[0].total, 0, 2, sum);
	assert_int_equal(s->backward, 0);
	gus_topdown_sampled_free(s);

	for (uint64_t format = 8; format < 16; format++) {
		r.event[CYCLES].read_format = format; /* 1: enabled, 2: running, 4: id, 8: group */
		s = gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1);
		assert_true(!s || s->kinds.v[0].timed == ((format & 3) == 3));
		assert_true(s || format != 15);
		gus_topdown_sampled_free(s);
	}

	make(&r, false, false);
	r.event[BACK].group = 2;                /* another group's: without it nothing of the tree is known */
	assert_null(gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1));
}

/* Of perf's recordings each member has a sample of its own, whose period is the difference; one that counted nothing
 * has none. */
static void of_perf(void **state)
{
	static const struct { uint64_t ms; uint32_t event; uint64_t period; uint32_t cell; } samples[] = {
		{ 10, SLOTS, 1000, 3 }, { 10, RETIRING, 700, 3 }, { 10, FRONT, 300, 3 }, { 10, CYCLES, 200, 3 },
		{ 20, SLOTS, 500, 3 }, { 20, BACK, 500, 3 },
		{ 30, SLOTS, 100, 4 }, { 30, BAD, 100, 4 },
	};
	static const uint64_t three[] = { 1500, 700, 0, 300, 500 }, four[] = { 100, 0, 100, 0, 0 };
	struct gus_topdown_sampled *s;
	struct recording r;

	(void)state;
	make(&r, false, true);
	s = gus_topdown_sampled_new(&r.header, NULL, 50 * MS, 1);
	assert_non_null(s);
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct gus_sample sample = { .time = (1000 + samples[i].ms) * MS, .tid = 7, .pid = 7,
					     .event = samples[i].event, .period = samples[i].period };

		assert_int_equal(gus_topdown_sampled_take(s, &sample), samples[i].event != CYCLES);
		gus_topdown_sampled_add(s, samples[i].cell);
	}
	gus_topdown_sampled_settle(s);
	expect_sum(&s->kinds.v[0].cells, 3, 2, three);
	expect_sum(&s->kinds.v[0].cells, 4, 1, four);
	gus_topdown_sampled_free(s);
}

/* Intervals. */

static const char text[] = "topdown drawn \"Drawn\"\nsource us \"made up\"\npmu cpu\ncounters 4\n"
	"event slots event=1 fixed\nevent a event=2 any\ngroup one 1 slots a\n"
	"node first - 1 slots us \"First\"\n\tvalue a / slots\n";

static struct gus_topdown_tree drawn(const uint64_t (*counts)[2], size_t n)
{
	static const struct gus_topdown_pmu pmu = { "cpu", NULL, 0, 0 };
	static const struct gus_topdown_host host = { .pmus = &pmu, .pmus_n = 1 };
	static const uint32_t at[] = { 0, 1 };
	struct gus_topdown_sums sums = { .events = 2 };
	struct gus_topdown_tree tree;
	struct gus_topdown *t;

	assert_int_equal(gus_topdown_parse(&t, "drawn", text, strlen(text), &host, NULL), 0);
	for (size_t i = 0; i < n; i++)
		gus_topdown_sums_add(&sums, 0, &(struct gus_topdown_difference){ counts[i], 0, 0 });
	gus_topdown_sums_tree(&sums, 0, t, at, true, &tree);
	gus_topdown_sums_free(&sums);
	gus_topdown_free(t);
	return tree;
}

/* Four of 100 slots, of which 40, 60, 40 and 60 are a's: z is -.1 .. .1 of a quarter, so the deviation is
 * sqrt(4 / 3 * 4 * (10 / 400)^2) = 0.05774, and t of three degrees of freedom 3.18245. Of three nothing is known. */
static void drawn_by_chance(void **state)
{
	static const uint64_t counts[][2] = { { 100, 40 }, { 100, 60 }, { 100, 40 }, { 100, 60 } };
	struct gus_topdown_tree tree = drawn(counts, 4);
	double half = 3.182446 * sqrt(4. / 3 * 4 * (10. / 400) * (10. / 400));

	(void)state;
	assert_int_equal(tree.shares[0].sureness, GUS_TOPDOWN_DRAWN);
	assert_true(near(tree.shares[0].value, 0.5));
	assert_true(fabs(tree.shares[0].low - (0.5 - half)) < 1e-4);
	assert_true(fabs(tree.shares[0].high - (0.5 + half)) < 1e-4);
	gus_topdown_tree_free(&tree);
	tree = drawn(counts, 3);
	assert_int_equal(tree.shares[0].sureness, GUS_TOPDOWN_BOUND);
	assert_true(near(tree.shares[0].low, 0) && near(tree.shares[0].high, 1));
	gus_topdown_tree_free(&tree);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut), cmocka_unit_test(kinds), cmocka_unit_test(encodings),
		cmocka_unit_test(by_thread), cmocka_unit_test(by_cpu), cmocka_unit_test(many_events),
		cmocka_unit_test(unusable), cmocka_unit_test(sums), cmocka_unit_test(formats),
		cmocka_unit_test(of_perf), cmocka_unit_test(drawn_by_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
