/* SPDX-License-Identifier: MIT */
/* The traffic of memory (attribution/traffic): counts to bytes and rates by socket and direction, over the time, and
 * out of frames of a recording, which strangers may have written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/traffic/traffic.h"

#define S UINT64_C(1000000000)

/* Two sockets, of each a counter of data read and one of data written, 64 bytes a count. */
static struct gus_traffic two_sockets(void)
{
	struct gus_traffic t = { 0 };

	gus_traffic_add_counter(&t, "imc_0/read/", GUS_DIRECTION_READ, 0, 64);
	gus_traffic_add_counter(&t, "imc_0/write/", GUS_DIRECTION_WRITTEN, 0, 64);
	gus_traffic_add_counter(&t, "imc_0/read/", GUS_DIRECTION_READ, 3, 64);
	gus_traffic_add_counter(&t, "imc_0/write/", GUS_DIRECTION_WRITTEN, 3, 64);
	return t;
}

static void expect(const struct gus_traffic *t, uint32_t socket, unsigned direction, uint64_t bytes, double rate)
{
	struct gus_traffic_sum s = gus_traffic_of(t, socket, direction);

	assert_true(s.counted && s.known);
	assert_int_equal(s.bytes, bytes);
	assert_true(s.rate > rate * (1 - 1e-12) && s.rate < rate * (1 + 1e-12));
}

static void sums(void **state)
{
	const struct gus_traffic_count first[] = {
		{ 100, 2 * S, 2 * S }, { 10, 2 * S, 2 * S }, { 1000, 2 * S, 2 * S }, { 1, 2 * S, 2 * S },
	};
	struct gus_traffic t = two_sockets();

	(void)state;
	assert_false(gus_traffic_of(&t, 0, GUS_DIRECTION_READ).known); /* nothing has been read yet */
	gus_traffic_add(&t, first, 5 * S);
	gus_traffic_add(&t, first, 7 * S);
	assert_int_equal(gus_traffic_socket(&t, 0), 0);
	assert_int_equal(gus_traffic_socket(&t, 1), 3);
	assert_true(gus_traffic_socket(&t, 2) == GUS_TRAFFIC_SOCKETS);
	expect(&t, 0, GUS_DIRECTION_READ, 12800, 3200);
	expect(&t, 0, GUS_DIRECTION_WRITTEN, 1280, 320);
	expect(&t, 0, GUS_TRAFFIC_ALL, 14080, 3520);
	expect(&t, 3, GUS_DIRECTION_READ, 128000, 32000);
	expect(&t, GUS_TRAFFIC_SOCKETS, GUS_DIRECTION_READ, 140800, 35200);
	expect(&t, GUS_TRAFFIC_SOCKETS, GUS_TRAFFIC_ALL, 142208, 35552);
	assert_false(gus_traffic_of(&t, 1, GUS_TRAFFIC_ALL).counted);
	assert_false(gus_traffic_of(&t, 0, GUS_DIRECTION_BOTH).counted);
	assert_false(gus_traffic_of(&t, 0, GUS_DIRECTION_BOTH).known);
	gus_traffic_free(&t);
}

/* A counter that ran a quarter of the time counts for four; one that never did makes its sums unknown, and no
 * others. */
static void turns(void **state)
{
	const struct gus_traffic_count quarter[] = {
		{ 100, 4 * S, S }, { 10, 4 * S, 4 * S }, { 1000, 4 * S, 4 * S }, { 0, 4 * S, 0 },
	};
	struct gus_traffic t = two_sockets();
	struct gus_traffic_sum s;

	(void)state;
	gus_traffic_add(&t, quarter, 4 * S);
	expect(&t, 0, GUS_DIRECTION_READ, 25600, 6400);
	s = gus_traffic_of(&t, 0, GUS_TRAFFIC_ALL);
	assert_int_equal(s.enabled_ns, 8 * S);
	assert_int_equal(s.running_ns, 5 * S);
	assert_true(gus_traffic_of(&t, 3, GUS_DIRECTION_READ).known);
	assert_false(gus_traffic_of(&t, 3, GUS_DIRECTION_WRITTEN).known);
	assert_false(gus_traffic_of(&t, 3, GUS_TRAFFIC_ALL).known);
	assert_false(gus_traffic_of(&t, GUS_TRAFFIC_SOCKETS, GUS_DIRECTION_WRITTEN).known);
	assert_true(t.peaks[GUS_DIRECTION_READ].known);
	assert_false(t.peaks[GUS_DIRECTION_WRITTEN].known || t.peaks[GUS_TRAFFIC_ALL].known);
	gus_traffic_free(&t);
}

/* Counts near their end: a sum is as much as a sum may be, and goes round nowhere. */
static void large_counts(void **state)
{
	const struct gus_traffic_count large[] = {
		{ UINT64_MAX, S, S }, { UINT64_MAX, UINT64_MAX, 1 }, { UINT64_MAX / 64, S, S }, { 1, S, S },
	};
	struct gus_traffic t = two_sockets();

	(void)state;
	gus_traffic_add(&t, large, S);
	gus_traffic_add(&t, large, S);
	assert_true(gus_traffic_of(&t, 0, GUS_DIRECTION_READ).bytes == INT64_MAX);
	assert_true(gus_traffic_of(&t, 0, GUS_DIRECTION_WRITTEN).bytes == INT64_MAX);
	assert_true(gus_traffic_of(&t, GUS_TRAFFIC_SOCKETS, GUS_TRAFFIC_ALL).bytes == INT64_MAX);
	assert_int_equal(gus_traffic_of(&t, 3, GUS_DIRECTION_WRITTEN).bytes, 128);
	gus_traffic_free(&t);
}

/* The highest rate of a reading, where that was at least 20 ms long. */
static void peaks(void **state)
{
	static const struct { uint64_t ns, count; } readings[] = {
		{ S / 10, 10 }, { 19999999, 1000000 }, { S / 10, 30 }, { 20000000, 5 }, { S / 10, 20 },
	};
	struct gus_traffic t = { 0 };
	uint64_t at = 0;

	(void)state;
	gus_traffic_add_counter(&t, "read", GUS_DIRECTION_READ, 0, 64);
	for (size_t i = 0; i < 5; i++) {
		const struct gus_traffic_count c = { readings[i].count, readings[i].ns, readings[i].ns };

		gus_traffic_add(&t, &c, at += readings[i].ns);
	}
	assert_true(t.peaks[GUS_DIRECTION_READ].known);
	assert_true(t.peaks[GUS_DIRECTION_READ].rate > 19199 && t.peaks[GUS_DIRECTION_READ].rate < 19201);
	assert_int_equal(t.peaks[GUS_DIRECTION_READ].at, S / 5 + 19999999);
	gus_traffic_free(&t);
}

/* However many readings there are, pieces are few, equally long, and have all the bytes. */
static void pieces(void **state)
{
	static const size_t ns[] = { 1, GUS_TRAFFIC_PIECES, GUS_TRAFFIC_PIECES + 1, 1000, 100000 };

	(void)state;
	for (size_t k = 0; k < sizeof(ns) / sizeof(*ns); k++) {
		struct gus_traffic t = { 0 };
		double bytes = 0;
		uint64_t time = 0;

		gus_traffic_add_counter(&t, "both", GUS_DIRECTION_BOTH, 0, 1);
		for (size_t i = 0; i < ns[k]; i++)
			gus_traffic_add(&t, &(struct gus_traffic_count){ i, 100, 100 }, 100 * (i + 1));
		assert_true(t.pieces.n <= GUS_TRAFFIC_PIECES && t.pieces.n * 2 >= (ns[k] < 256 ? ns[k] : 256));
		for (size_t i = 0; i < t.pieces.n; i++) {
			assert_int_equal(t.pieces.v[i].to - t.pieces.v[i].ns, time);
			time = t.pieces.v[i].to;
			bytes += t.pieces.v[i].bytes[GUS_DIRECTION_BOTH];
			if (i + 1 < t.pieces.n)
				assert_int_equal(t.pieces.v[i].ns, t.pieces.v[0].ns);
		}
		assert_int_equal(time, 100 * ns[k]);
		assert_true(bytes == (double)(ns[k] * (ns[k] - 1) / 2));
		gus_traffic_free(&t);
	}
}

/* Frames. A frame of one counter, with one reading of n numbers a list. */
struct frame {
	Gusprof__Traffic m;
	Gusprof__TrafficCounter counter, *counters[2];
	Gusprof__CountReading reading, *readings[1];
	uint64_t numbers[3][4];
};

static void make(struct frame *f, size_t counters)
{
	*f = (struct frame){ GUSPROF__TRAFFIC__INIT, GUSPROF__TRAFFIC_COUNTER__INIT, { NULL },
			     GUSPROF__COUNT_READING__INIT, { NULL }, { { 5, 6 }, { S, S }, { S, S } } };
	f->counter.bytes = 64;
	f->counter.direction = GUS_DIRECTION_WRITTEN;
	f->counters[0] = f->counters[1] = &f->counter;
	f->readings[0] = &f->reading;
	f->reading.time = S;
	f->reading.n_count = f->reading.n_enabled_ns = f->reading.n_running_ns = 1;
	f->reading.count = f->numbers[0];
	f->reading.enabled_ns = f->numbers[1];
	f->reading.running_ns = f->numbers[2];
	f->m.n_counters = counters;
	f->m.counters = f->counters;
	f->m.n_readings = 1;
	f->m.readings = f->readings;
}

static void frames(void **state)
{
	struct gus_traffic t = { 0 };
	struct frame f;

	(void)state;
	make(&f, 1);
	assert_true(gus_traffic_add_recorded(&t, &f.m));
	make(&f, 0);
	assert_true(gus_traffic_add_recorded(&t, &f.m));
	f.m.n_readings = 0;
	assert_true(gus_traffic_add_recorded(&t, &f.m));
	expect(&t, GUS_TRAFFIC_SOCKETS, GUS_DIRECTION_WRITTEN, 640, 320);
	gus_traffic_free(&t);
}

/* Each counter on a socket of its own, as many as a frame may have, told from the last one on, twice. */
static void many_sockets(void **state)
{
	enum { MANY = 1 << 14 };
	struct gus_traffic t = { 0 };
	uint32_t i = 0;

	(void)state;
	for (uint32_t n = 0; n < 2 * MANY; n++)
		gus_traffic_add_counter(&t, "read", GUS_DIRECTION_READ, 3 * (MANY - 1 - n % MANY), 64);
	alarm(20); /* if each is looked for among all of them, for each before it, that takes an hour */
	for (; gus_traffic_socket(&t, i) != GUS_TRAFFIC_SOCKETS; i++)
		assert_int_equal(gus_traffic_socket(&t, i), 3 * i);
	alarm(0);
	assert_int_equal(i, MANY);
	gus_traffic_free(&t);
}

/* What contradicts itself is said to, and adds nothing. */
static void bad_frames(void **state)
{
	static const double bytes[] = { 0, -64, 0.0 / 0.0, 1.0 / 0.0, 0x1p31 };
	struct gus_traffic t = { 0 };
	struct frame f;

	(void)state;
	make(&f, 0);
	assert_false(gus_traffic_add_recorded(&t, &f.m)); /* readings of no counter */
	make(&f, 2);
	assert_false(gus_traffic_add_recorded(&t, &f.m)); /* one number for two */
	f.reading.n_count = f.reading.n_enabled_ns = 2;
	assert_false(gus_traffic_add_recorded(&t, &f.m));
	make(&f, 1);
	f.counter.direction = GUS_DIRECTIONS;
	assert_false(gus_traffic_add_recorded(&t, &f.m));
	make(&f, 1);
	f.counter.socket = UINT32_MAX;
	assert_false(gus_traffic_add_recorded(&t, &f.m));
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		make(&f, 1);
		f.counter.bytes = bytes[i];
		assert_false(gus_traffic_add_recorded(&t, &f.m));
	}
	assert_int_equal(t.counters.n, 0);
	assert_null(t.title);
	make(&f, 1);
	assert_true(gus_traffic_add_recorded(&t, &f.m));
	assert_false(gus_traffic_add_recorded(&t, &f.m)); /* counters are told once */
	f.m.n_counters = 0;
	f.reading.n_count = 2;
	assert_false(gus_traffic_add_recorded(&t, &f.m));
	expect(&t, GUS_TRAFFIC_SOCKETS, GUS_TRAFFIC_ALL, 320, 320);
	gus_traffic_free(&t);
}

static void copies(void **state)
{
	const struct gus_traffic_count counts[] = { { 1, S, S }, { 1, S, S }, { 1, S, S }, { 1, S, S } };
	struct gus_traffic from = two_sockets(), to;

	(void)state;
	gus_traffic_add(&from, counts, S);
	gus_traffic_copy(&to, &from);
	assert_int_equal(to.counters.n, 4);
	assert_string_equal(to.counters.v[3].event, "imc_0/write/");
	assert_int_equal(to.pieces.n, 0);
	assert_false(gus_traffic_of(&to, 0, GUS_TRAFFIC_ALL).known);
	gus_traffic_free(&from);
	gus_traffic_add(&to, counts, S);
	expect(&to, 3, GUS_TRAFFIC_ALL, 128, 128);
	gus_traffic_free(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums), cmocka_unit_test(turns), cmocka_unit_test(large_counts),
		cmocka_unit_test(peaks), cmocka_unit_test(pieces), cmocka_unit_test(frames),
		cmocka_unit_test(many_sockets), cmocka_unit_test(bad_frames),
		cmocka_unit_test(copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
