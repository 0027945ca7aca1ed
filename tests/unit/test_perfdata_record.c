/* SPDX-License-Identifier: MIT */
/* Where records of perf's begin and end: what a head says, which types are known, and how the next record is found
 * where a head was wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/perfdata/record.h"
#include "collector/perfdata/window.h"
#include "tests/unit/made_perfdata.h"

#define SIMPLEPERF GUS_PERFDATA_FIRST_OF_SIMPLEPERF

/* The least that there is, one byte less, and what goes on behind what is there; of simpleperf's own types the size has
 * 32 bits, and all but the head counts as what stands beside. */
static void heads(void **state)
{
	static const struct { bool simpleperf; uint32_t type; uint16_t misc, size; size_t have; int64_t want;
			      uint64_t beside; } cases[] = {
		{ false, 9, 2, 8, 8, 8, 0 }, { false, 9, 2, 7, 8, -1, 0 }, { false, 9, 2, 8, 7, 0, 0 },
		{ false, 9, 2, 16, 16, 16, 0 }, { false, 9, 2, 16, 15, 0, 0 },
		{ true, SIMPLEPERF, 0, 7, 8, -1, 0 }, { true, SIMPLEPERF, 0, 8, 8, 8, 0 },
		{ true, SIMPLEPERF, 0, 9, 8, 8, 1 }, { true, SIMPLEPERF, 1, 8, 8, 8, 0x10000 },
		{ true, SIMPLEPERF - 1, 1, 8, 8, 8, 0 }, { false, SIMPLEPERF, 1, 8, 8, 8, 0 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		size_t k = i / 2;
		const struct gus_perfdata_framing f = { .big_endian = i % 2, .simpleperf = cases[k].simpleperf };
		struct made_perfdata m = { .big = i % 2 };
		struct gus_perfdata_record r;

		made_put(&m, &m.data, cases[k].type, 4);
		made_put(&m, &m.data, cases[k].misc, 2);
		made_put(&m, &m.data, cases[k].size, 2);
		made_put(&m, &m.data, 0, 8);
		assert_int_equal(gus_perfdata_record_head(&f, m.data.v, cases[k].have, &r), cases[k].want);
		if (cases[k].want > 0) {
			assert_true(r.type == cases[k].type && r.misc == cases[k].misc);
			assert_int_equal(r.size, cases[k].want);
			assert_int_equal(r.beside_size, cases[k].beside);
		}
		made_free(&m);
	}
}

/* Each range at its ends and beside them; the kernel's records have multiples of eight bytes. */
static void known_types(void **state)
{
	static const struct { uint32_t type; size_t size; bool known; } cases[] = {
		{ 0, 16, false }, { 1, 16, true }, { 31, 16, true }, { 32, 16, false }, { 63, 16, false },
		{ 64, 16, true }, { 95, 16, true }, { 96, 16, false },
		{ 1, 15, false }, { 31, 17, false }, { 64, 15, true }, { 95, 17, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_perfdata_record r = { .type = cases[i].type, .size = cases[i].size };

		assert_int_equal(gus_perfdata_record_is_known(&r), cases[i].known);
	}
}

/* A record of type 64, of any size, of which nothing but the head counts. */
static void put_record(struct made_perfdata *m, uint16_t size)
{
	made_put(m, &m->data, 64, 4);
	made_put(m, &m->data, 0, 2);
	made_put(m, &m->data, size, 2);
	for (unsigned i = 8; i < size; i++)
		gus_vec_push(&m->data, 0);
}

static void put_zeros(struct made_perfdata *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		gus_vec_push(&m->data, 0);
}

/* Two records, and half a head: the second may end where all is over and no later; where the file ends before that, no
 * more can be asked. What is no record leaves `next` as it was. */
static void heads_in_a_file(void **state)
{
	static const struct { uint64_t at, end, next; bool is; } cases[] = {
		{ 0, 200, 16, true }, { 16, 200, 33, true }, { 16, 33, 33, true }, { 16, 32, 7, false },
		{ 33, 33, 33, true }, { 33, 200, 7, false }, { 37, 200, 200, true }, { 8, 200, 7, false },
	};
	struct gus_perfdata_window w = { .name = "made" };
	const struct gus_perfdata_framing f = { 0 };
	struct made_perfdata m = { 0 };
	struct gus_error err;

	(void)state;
	put_record(&m, 16);
	put_record(&m, 17);
	made_put(&m, &m.data, 64, 4);
	w.fd = made_file(&m.data);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t next = 7;

		assert_int_equal(gus_perfdata_record_is_at(&f, &w, cases[i].at, cases[i].end, &next, &err),
				 cases[i].is);
		assert_int_equal(next, cases[i].next);
	}
	close(w.fd);
	gus_perfdata_window_free(&w);
	made_free(&m);
}

static uint64_t find(struct made_perfdata *m, bool unaligned, uint64_t from)
{
	const struct gus_perfdata_framing f = { .unaligned = unaligned };
	struct gus_perfdata_window w = { .name = "made", .fd = made_file(&m->data) };
	struct gus_error err;
	uint64_t at = gus_perfdata_record_find(&f, &w, from, m->data.n, &err);

	close(w.fd);
	gus_perfdata_window_free(&w);
	made_free(m);
	return at;
}

/* Six in a row are no chance, five are; fewer if nothing comes behind them, or if there are 256 KB of them. */
static void next_in_a_row(void **state)
{
	static const struct { unsigned n; uint16_t size; unsigned behind; bool found; } cases[] = {
		{ 6, 16, 32, true }, { 5, 16, 32, false }, { 1, 16, 0, true }, { 5, 65528, 32, true },
		{ 4, 65528, 32, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_perfdata m = { 0 };
		uint64_t end;

		put_zeros(&m, 40);
		for (unsigned k = 0; k < cases[i].n; k++)
			put_record(&m, cases[i].size);
		put_zeros(&m, cases[i].behind);
		end = m.data.n;
		assert_int_equal(find(&m, false, 8), cases[i].found ? 40 : end);
	}
}

/* Only where some record's size was no multiple of eight the next may stand anywhere; the place asked from is no
 * answer. */
static void next_at_odd_places(void **state)
{
	(void)state;
	for (unsigned unaligned = 0; unaligned < 2; unaligned++)
		for (unsigned gap = 7; gap <= 9; gap++) {
			struct made_perfdata m = { 0 };
			uint64_t end;

			put_record(&m, 16);
			put_zeros(&m, gap);
			for (unsigned k = 0; k < 3; k++)
				put_record(&m, 16);
			end = m.data.n;
			assert_int_equal(find(&m, unaligned, 0), unaligned || gap == 8 ? 16 + gap : end);
		}
}

/* It is looked for in 64 MiB: the last place of them, and the first behind. */
static void next_far_away(void **state)
{
	enum { FROM = 16, MOST = 64 << 20 };

	(void)state;
	for (unsigned behind = 0; behind < 2; behind++) {
		const uint64_t at = FROM + MOST - (behind ? 0 : 8), end = at + 16;
		struct gus_perfdata_window w = { .name = "made" };
		const struct gus_perfdata_framing f = { 0 };
		struct made_perfdata m = { 0 };
		struct gus_error err;

		put_record(&m, 16);
		w.fd = made_file(&m.data);
		assert_int_equal(pwrite(w.fd, m.data.v, 16, (off_t)at), 16);
		assert_int_equal(gus_perfdata_record_find(&f, &w, FROM, end, &err), behind ? end : at);
		close(w.fd);
		gus_perfdata_window_free(&w);
		made_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads), cmocka_unit_test(known_types), cmocka_unit_test(heads_in_a_file),
		cmocka_unit_test(next_in_a_row), cmocka_unit_test(next_at_odd_places), cmocka_unit_test(next_far_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
