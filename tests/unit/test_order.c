/* SPDX-License-Identifier: MIT */
/* attribution/order: batches that overlap in every way come out by time, each sample once, with what it brought along;
 * where more overlaps than may be kept, what comes late is counted. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/order.h"
#include "base/error.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/writer.h"

enum { MOST = 4096 };

struct made { char dir[64], path[96]; struct gus_writer *w; };

struct told {
	struct { uint64_t time, id, chain; uint32_t chain_n; } v[MOST];
	size_t n;
};

static void take(void *context, const struct gus_sample *s)
{
	struct told *t = context;

	assert_true(t->n < MOST);
	t->v[t->n].time = s->time;
	t->v[t->n].id = s->ip;
	t->v[t->n].chain_n = s->chain_n;
	t->v[t->n++].chain = s->chain_n ? s->chain[s->chain_n - 1] : 0;
}

/* A batch of n samples from that time on, every so often; their ids go on from *id, and each has a chain of as many
 * entries as its id's last digit says. */
static void add(struct made *m, uint64_t *id, uint64_t time, int64_t step, unsigned n)
{
	struct gus_columns c = { 0 };

	for (unsigned i = 0; i < n; i++, time += (uint64_t)step) {
		uint64_t chain[10];

		for (unsigned k = 0; k < 10; k++)
			chain[k] = *id * 10 + k;
		gus_columns_push(&c, &(struct gus_sample){ .ip = *id, .time = time, .chain = chain,
							   .chain_n = (uint32_t)(*id % 10) });
		++*id;
	}
	assert_int_equal(gus_writer_samples(m->w, &c, NULL), 0);
	gus_columns_free(&c);
}

static struct told read_back(struct made *m, size_t most, uint64_t *late)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_error err = { 0 };
	struct told told = { .n = 0 };
	const struct gus_order_sink sink = { .sample = take, .context = &told };
	struct gus_reader *reader;

	assert_int_equal(gus_writer_finish(m->w, &footer, NULL), 0);
	reader = gus_reader_open(m->path, &err);
	assert_non_null(reader);
	assert_int_equal(gus_order_each(reader, most, &sink, late, &err), 0);
	gus_reader_close(reader);
	return told;
}

static void check(const struct told *t, size_t n)
{
	bool seen[MOST] = { false };

	assert_int_equal(t->n, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t id = t->v[i].id;

		assert_true(id < n && !seen[id]);
		seen[id] = true;
		assert_int_equal(t->v[i].chain_n, id % 10);
		assert_int_equal(t->v[i].chain, id % 10 ? id * 10 + id % 10 - 1 : 0);
		if (i)
			assert_true(t->v[i - 1].time <= t->v[i].time);
	}
}

static int setup(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	struct made *m = calloc(1, sizeof(*m));

	strcpy(m->dir, "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	snprintf(m->path, sizeof(m->path), "%s/r", m->dir);
	m->w = gus_writer_create(m->path, &header, NULL);
	*state = m;
	return m->w ? 0 : -1;
}

static int teardown(void **state)
{
	struct made *m = *state;

	unlink(m->path);
	rmdir(m->dir);
	free(m);
	return 0;
}

static void nothing(void **state)
{
	uint64_t late = 1;
	struct told t = read_back(*state, SIZE_MAX, &late);

	check(&t, 0);
	assert_int_equal(late, 0);
}

/* Two CPUs by turns, one inside of another, one behind all that come later, two that touch. */
static void batches_overlap(void **state)
{
	struct made *m = *state;
	uint64_t id = 0, late;
	struct told t;

	add(m, &id, 5000, 10, 50); /* the last in time, the first in the file */
	for (unsigned i = 0; i < 8; i++) {
		add(m, &id, 1000 + i * 100, 2, 50);
		add(m, &id, 1001 + i * 100, 2, 50);
	}
	add(m, &id, 1010, 1, 3);
	add(m, &id, 1800, 100, 10);
	add(m, &id, 2700, 1, 10); /* begins where the one before ends */
	t = read_back(m, SIZE_MAX, &late);
	check(&t, (size_t)id);
	assert_int_equal(late, 0);
}

/* Several events share a CPU's ring: a batch need not be in order itself. */
static void a_batch_that_runs_backwards(void **state)
{
	struct made *m = *state;
	uint64_t id = 0, late;
	struct told t;

	add(m, &id, 1000, -3, 100);
	add(m, &id, 800, 2, 100);
	t = read_back(m, SIZE_MAX, &late);
	check(&t, 200);
	assert_int_equal(late, 0);
}

static void of_equal_times_the_file_says(void **state)
{
	struct made *m = *state;
	uint64_t id = 0, late;
	struct told t;

	add(m, &id, 7, 0, 20);
	add(m, &id, 7, 0, 20);
	add(m, &id, 6, 0, 1);
	t = read_back(m, SIZE_MAX, &late);
	assert_int_equal(t.n, 41);
	assert_int_equal(t.v[0].id, 40);
	for (size_t i = 1; i < 41; i++)
		assert_int_equal(t.v[i].id, i - 1);
}

/* All of them at once, in no order: compared by check() with what they are. */
static void at_random(void **state)
{
	struct made *m = *state;
	uint64_t id = 0, late, random = 12345;
	struct told t;

	for (unsigned i = 0; i < 200; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		add(m, &id, random >> 40, (int64_t)(random >> 60) - 4, 1 + (unsigned)(random >> 33) % 19);
	}
	t = read_back(m, SIZE_MAX, &late);
	check(&t, (size_t)id);
	assert_int_equal(late, 0);
}

/* With room for about two batches what overlaps more comes late; nothing is lost. */
static void beyond_the_bound(void **state)
{
	struct made *m = *state;
	uint64_t id = 0, late, back = 0;
	struct told t;

	for (unsigned i = 0; i < 20; i++)
		add(m, &id, 10000 - i * 100, 1, 100);
	t = read_back(m, 40000, &late);
	assert_int_equal(t.n, 2000);
	for (size_t i = 0, last = 0; i < t.n; i++) {
		back += t.v[i].time < last;
		last = t.v[i].time > last ? t.v[i].time : last;
	}
	assert_true(back > 0);
	assert_int_equal(late, back);
}

/* A long recording of two CPUs needs no more room than a short one. */
static void room_is_given_back(void **state)
{
	struct made *m = *state;
	uint64_t id = 0, late;
	struct told t;

	for (unsigned i = 0; i < 20; i++) {
		add(m, &id, 1000 + i * 100, 1, 100);
		add(m, &id, 1000 + i * 100, 1, 100);
	}
	t = read_back(m, 100000, &late); /* two batches take less, twenty more */
	check(&t, 4000);
	assert_int_equal(late, 0);
}

/* Bytes that are allocated; a sanitizer's nobody counts. */
static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

struct peak { size_t before, most; };

static void note_peak(void *context, const struct gus_sample *s)
{
	struct peak *p = context;
	size_t now = in_use() - p->before;

	(void)s;
	p->most = now > p->most ? now : p->most;
}

/* Bytes that reading takes at most, and how many samples come late, if so many may wait. */
static size_t read_within(struct made *m, size_t most, uint64_t *late)
{
	struct gus_reader *reader = gus_reader_open(m->path, NULL);
	struct peak peak = { 0 };
	const struct gus_order_sink sink = { .sample = note_peak, .context = &peak };

	assert_non_null(reader);
	peak.before = in_use();
	assert_int_equal(gus_order_each(reader, most, &sink, late, NULL), 0);
	gus_reader_close(reader);
	return peak.most;
}

/* Batches that all begin at the same time, with samples of which most is something else each time. */
static void add_large(struct made *m, uint32_t chain_n, uint32_t branches_n, int step)
{
	enum { BATCHES = 30, ROWS = 1000 };
	static const uint64_t chain[50];
	static const struct gus_branch branches[50];

	for (unsigned i = 0; i < BATCHES; i++) {
		struct gus_columns c = { 0 };

		for (int k = 0; k < ROWS; k++)
			gus_columns_push(&c, &(struct gus_sample){
				.time = (uint64_t)(1000000 + step * k), .chain = chain, .chain_n = chain_n,
				.branches = branches, .branches_n = branches_n });
		assert_int_equal(gus_writer_samples(m->w, &c, NULL), 0);
		gus_columns_free(&c);
	}
}

/* Whatever the samples are made of, those that wait take what they may, and hardly less than that. */
static void room_is_what_it_takes(struct made *m, uint32_t chain_n, uint32_t branches_n, int step)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	size_t all, part, some = 0;
	uint64_t late;

	mallopt(M_MMAP_MAX, 0); /* which rounds up to pages */
	add_large(m, chain_n, branches_n, step);
	assert_int_equal(gus_writer_finish(m->w, &footer, NULL), 0);
	all = read_within(m, SIZE_MAX, &late);
	assert_int_equal(late, 0);
	if (!all)
		return;
	part = read_within(m, all / 4, &late);
	assert_true(late > 0);
	assert_in_range(part, all / 4, all / 4 + all / 10); /* a batch more, and what is read of the file */
	some = read_within(m, all + all / 50, &late);
	assert_int_equal(late, 0);
	assert_in_range(some, 0, all + all / 50);
}

static void room_of_samples(void **state)
{
	room_is_what_it_takes(*state, 0, 0, 1);
}

static void room_of_chains(void **state)
{
	room_is_what_it_takes(*state, 50, 0, 1);
}

static void room_of_branches(void **state)
{
	room_is_what_it_takes(*state, 0, 50, 1);
}

static void room_of_what_runs_backwards(void **state)
{
	room_is_what_it_takes(*state, 0, 0, -1);
}

/* Side band. What is told, a letter each, with its time: m a mapping, l a loss, s a sample, w a switch. */

struct story {
	char text[4096];
	size_t n;
};

static void tell(struct story *t, char what, uint64_t time)
{
	t->n += (size_t)snprintf(t->text + t->n, sizeof(t->text) - t->n, "%c%u ", what, (unsigned)time);
	assert_true(t->n < sizeof(t->text));
}

static void tell_sample(void *context, const struct gus_sample *s) { tell(context, 's', s->time); }
static void tell_switch(void *context, const struct gus_switch *s) { tell(context, 'w', s->time); }

static void tell_record(void *context, const Gusprof__Record *r)
{
	assert_int_not_equal(r->kind_case, GUSPROF__RECORD__KIND_JIT);
	if (r->kind_case == GUSPROF__RECORD__KIND_MMAP)
		tell(context, 'm', r->mmap->time);
	else
		tell(context, 'l', r->lost->time);
}

/* A frame of records that have nothing but a kind and a time. The messages of those with a time differ in where it is,
 * so each is made as what it is. */
static void add_records(struct made *m, const unsigned (*records)[2], size_t n)
{
	static Gusprof__Mmap mmaps[8];
	static Gusprof__Lost losts[8];
	static Gusprof__Jit jits[8];
	static Gusprof__Record made[8];
	Gusprof__Record *list[8];
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;

	for (size_t i = 0; i < n; i++) {
		list[i] = &made[i];
		made[i] = (Gusprof__Record)GUSPROF__RECORD__INIT;
		made[i].kind_case = records[i][0];
		mmaps[i] = (Gusprof__Mmap)GUSPROF__MMAP__INIT;
		losts[i] = (Gusprof__Lost)GUSPROF__LOST__INIT;
		jits[i] = (Gusprof__Jit)GUSPROF__JIT__INIT;
		mmaps[i].time = losts[i].time = jits[i].time = records[i][1];
		if (records[i][0] == GUSPROF__RECORD__KIND_MMAP)
			made[i].mmap = &mmaps[i];
		else if (records[i][0] == GUSPROF__RECORD__KIND_LOST)
			made[i].lost = &losts[i];
		else
			made[i].jit = &jits[i];
	}
	sideband.records = list;
	sideband.n_records = n;
	assert_int_equal(gus_writer_sideband(m->w, &sideband, NULL), 0);
}

static void add_switch(struct made *m, uint64_t time)
{
	struct gus_columns c = { 0 };

	gus_columns_push_switch(&c, &(struct gus_switch){ .time = time });
	assert_int_equal(gus_writer_switches(m->w, &c, NULL), 0);
	gus_columns_free(&c);
}

enum { MMAP = GUSPROF__RECORD__KIND_MMAP, LOST = GUSPROF__RECORD__KIND_LOST, JIT = GUSPROF__RECORD__KIND_JIT };

static uint64_t read_story(struct made *m, size_t most, uint32_t kinds, struct story *story)
{
	const struct gus_order_sink sink = { .sample = tell_sample, .sw = tell_switch, .record = tell_record,
					     .kinds = kinds, .context = story };
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_reader *reader;
	uint64_t late = 0;

	story->n = 0;
	if (m->w)
		assert_int_equal(gus_writer_finish(m->w, &footer, NULL), 0);
	m->w = NULL;
	reader = gus_reader_open(m->path, NULL);
	assert_non_null(reader);
	assert_int_equal(gus_order_each(reader, most, &sink, &late, NULL), 0);
	gus_reader_close(reader);
	return late;
}

/* Among samples and switches, wherever they stand in the file; of equal times before them. */
static void side_band_by_time(void **state)
{
	struct made *m = *state;
	struct story story;
	uint64_t id = 0;

	add(m, &id, 10, 10, 4);
	add_records(m, (const unsigned[][2]){ { MMAP, 20 }, { MMAP, 5 }, { LOST, 35 } }, 3);
	add_switch(m, 20);
	add(m, &id, 20, 15, 2);
	add_records(m, (const unsigned[][2]){ { MMAP, 40 }, { MMAP, 50 } }, 2);
	assert_int_equal(read_story(m, SIZE_MAX, 1u << MMAP | 1u << LOST, &story), 0);
	assert_string_equal(story.text, "m5 s10 m20 s20 w20 s20 s30 l35 s35 m40 s40 m50 ");
	assert_int_equal(read_story(m, SIZE_MAX, 1u << LOST, &story), 0);
	assert_string_equal(story.text, "s10 s20 w20 s20 s30 l35 s35 s40 ");
	assert_int_equal(read_story(m, SIZE_MAX, 0, &story), 0);
	assert_string_equal(story.text, "s10 s20 w20 s20 s30 s35 s40 ");
}

/* What is not wanted holds up nobody, however early it was: it is told long after. One without a time is told where it
 * stands, and is not late. */
static void side_band_that_comes_late(void **state)
{
	struct made *m = *state;
	struct story story;
	uint64_t id = 0;

	add(m, &id, 100, 1, 1);
	add(m, &id, 200, 1, 1);
	add_records(m, (const unsigned[][2]){ { MMAP, 0 } }, 1);
	add(m, &id, 300, 1, 1);
	add_records(m, (const unsigned[][2]){ { JIT, 1 } }, 1);
	assert_int_equal(read_story(m, 1, 1u << MMAP, &story), 0);
	assert_string_equal(story.text, "s100 s200 m0 s300 ");
	assert_int_equal(read_story(m, SIZE_MAX, 1u << MMAP, &story), 0);
	assert_string_equal(story.text, "s100 s200 m0 s300 ");
}

/* Where more overlaps than there is room for, a record comes too late as a sample does. */
static void side_band_without_room(void **state)
{
	struct made *m = *state;
	struct story story;
	uint64_t id = 0;

	add(m, &id, 100, 1, 2);
	add_records(m, (const unsigned[][2]){ { MMAP, 50 } }, 1);
	assert_int_equal(read_story(m, 1, 1u << MMAP, &story), 1);
	assert_string_equal(story.text, "s100 s101 m50 ");
	assert_int_equal(read_story(m, SIZE_MAX, 1u << MMAP, &story), 0);
	assert_string_equal(story.text, "m50 s100 s101 ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing),
		TEST(batches_overlap),
		TEST(a_batch_that_runs_backwards),
		TEST(of_equal_times_the_file_says),
		TEST(at_random),
		TEST(beyond_the_bound),
		TEST(room_is_given_back),
		TEST(room_of_samples),
		TEST(room_of_chains),
		TEST(room_of_branches),
		TEST(room_of_what_runs_backwards),
		TEST(side_band_by_time),
		TEST(side_band_that_comes_late),
		TEST(side_band_without_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
