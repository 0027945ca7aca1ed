/* SPDX-License-Identifier: MIT */
/* proto/sample with the columns of a later version: the table is this one, and not the library's, whose
 * proto/column_kinds.c the linker then leaves out. What stands at 32 and above here are fields that stand elsewhere
 * today. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/columns.h"
#include "proto/sample.h"
#include "proto/varint.h"

#define FIELD(name) offsetof(struct gus_sample, name), sizeof(((struct gus_sample *)NULL)->name)
#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

const struct gus_column_kind gus_column_kinds[] = {
	{ GUS_COL_IP, GUS_ENCODING_TABLE, FIELD(ip) },
	{ GUS_COL_TIME, GUS_ENCODING_DELTA, FIELD(time) },
	{ GUS_COL_PID, GUS_ENCODING_PLAIN, FIELD(pid) },
	{ GUS_COL_CHAIN_N, GUS_ENCODING_PLAIN, FIELD(chain_n) },
	{ GUS_COL_BRANCHES_N, GUS_ENCODING_PLAIN, FIELD(branches_n) },
	{ GUS_COL_REGS_N, GUS_ENCODING_PLAIN, FIELD(regs_n) },
	{ GUS_COL_STACK_N, GUS_ENCODING_PLAIN, FIELD(stack_n) },
	{ GUS_COL_EXTRAS_N, GUS_ENCODING_PLAIN, FIELD(extras_n) },
	{ 32, GUS_ENCODING_PLAIN, FIELD(branch_index) },
	{ 33, GUS_ENCODING_DELTA, FIELD(period) },
	{ 95, GUS_ENCODING_TABLE, FIELD(cpu) },
};
const size_t gus_column_kinds_n = sizeof(gus_column_kinds) / sizeof(*gus_column_kinds);

/* A column of each encoding; 95 has nothing in the first and in the last row. */
static const struct gus_sample rows[] = {
	{ .ip = 8, .time = 50, .pid = 3, .branch_index = 200, .period = 100 },
	{ .ip = 8, .time = 60, .pid = 3, .branch_index = 1, .period = 98, .cpu = 70000 },
	{ .ip = 8, .time = 60, .pid = 3, .branch_index = 0, .period = 99 },
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

#define ENCODED 3, 2, 0, 1, 16, 3, 1, 3, 100, 20, 0, 5, 0, 1, 6, \
	32, 2, 4, 0xc8, 1, 1, 0, 33, 1, 4, 0xc8, 1, 3, 2, 95, 3, 8, 2, 0, 0xf0, 0xa2, 4, 0, 1, 0

static void push(struct gus_columns *c)
{
	for (int i = 0; i < ROWS; i++)
		gus_columns_push(c, &rows[i]);
}

static void assert_row(const struct gus_columns *c, size_t at, int i)
{
	struct gus_sample s = gus_columns_sample(c, at);

	assert_true(s.ip == rows[i].ip && s.time == rows[i].time && s.pid == rows[i].pid);
	assert_true(s.branch_index == rows[i].branch_index && s.period == rows[i].period && s.cpu == rows[i].cpu);
}

static void they_are_written(void **state)
{
	const uint8_t want[] = { ENCODED };
	struct gus_columns c = { 0 };
	struct gus_bytes bytes = { 0 };

	(void)state;
	push(&c);
	for (int i = 0; i < ROWS; i++)
		assert_row(&c, (size_t)i, i);
	gus_columns_encode(&c, 0, c.n, &bytes);
	assert_int_equal(bytes.n, sizeof(want));
	assert_memory_equal(bytes.v, want, sizeof(want));
	gus_vec_free(&bytes);
	gus_columns_free(&c);
}

static void they_are_read(void **state)
{
	struct gus_columns c = { 0 };

	(void)state;
	assert_int_equal(gus_columns_decode(&c, BYTES(ENCODED), NULL), 0);
	assert_int_equal(c.n, ROWS);
	for (int i = 0; i < ROWS; i++)
		assert_row(&c, (size_t)i, i);
	/* The next batch has none of them, as any of an older version: they are zero, and take no room in a batch of
	 * its own. */
	assert_int_equal(gus_columns_decode(&c, BYTES(1, 2, 0, 1, 16), NULL), 0);
	assert_true(gus_columns_sample(&c, 0).ip == 8 && gus_columns_sample(&c, 0).period == 0);
	assert_true(gus_columns_sample(&c, 0).branch_index == 0 && gus_columns_sample(&c, 0).cpu == 0);
	gus_columns_free(&c);
	assert_int_equal(gus_columns_decode(&c, BYTES(1, 2, 0, 1, 16), NULL), 0);
	for (int i = GUS_COL_MORE; i < GUS_COL_COUNT; i++)
		assert_int_equal(c.column[i].room, 0);
	gus_columns_free(&c);
}

/* Rows that a column has nothing in read as zero, also where the memory had something else before. */
static void gaps_are_zero(void **state)
{
	struct gus_columns c = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		gus_columns_push(&c, &(struct gus_sample){ .period = 99 });
	gus_columns_clear(&c);
	for (int i = 0; i < 10; i++)
		gus_columns_push(&c, &(struct gus_sample){ .period = i % 4 == 1 }); /* 0 1 0 0 0 1 0 0 0 1 */
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(gus_columns_sample(&c, i).period, i % 4 == 1);
	gus_columns_free(&c);
}

/* A part of a batch may begin and end where a column has nothing. */
static void any_part_of_a_batch(void **state)
{
	struct gus_columns in = { 0 }, out = { 0 };
	struct gus_bytes bytes = { 0 };

	(void)state;
	push(&in);
	for (size_t from = 0; from <= ROWS; from++)
		for (size_t n = 0; n <= ROWS - from; n++) {
			bytes.n = 0;
			gus_columns_encode(&in, from, n, &bytes);
			assert_int_equal(gus_columns_decode(&out, bytes.v, bytes.n, NULL), 0);
			assert_int_equal(out.n, n);
			for (size_t i = 0; i < n; i++)
				assert_row(&out, i, (int)(from + i));
		}
	gus_vec_free(&bytes);
	gus_columns_free(&in);
	gus_columns_free(&out);
}

/* They stand behind the entries, which 9 and 10 count. */
static void beside_entries(void **state)
{
	static const uint64_t callers[] = { 1, 2 };
	static const struct gus_branch taken = { .from = 5, .to = 6 };
	struct gus_columns in = { 0 }, out = { 0 };
	struct gus_bytes bytes = { 0 };
	struct gus_sample s;

	(void)state;
	gus_columns_push(&in, &(struct gus_sample){ .chain_n = 2, .chain = callers, .branches_n = 1, .branches = &taken,
						    .cpu = 9 });
	gus_columns_encode(&in, 0, 1, &bytes);
	assert_int_equal(gus_columns_decode(&out, bytes.v, bytes.n, NULL), 0);
	s = gus_columns_sample(&out, 0);
	assert_true(s.cpu == 9 && s.chain_n == 2 && s.chain[1] == 2 && s.branches_n == 1 && s.branches[0].to == 6);
	assert_true(bytes.v[bytes.n - 4] == 95 && bytes.v[bytes.n - 1] == 18);
	gus_vec_free(&bytes);
	gus_columns_free(&in);
	gus_columns_free(&out);
}

/* What nobody uses takes neither memory nor bytes: nor does a switch, which has none of them. */
static void unused_they_take_no_room(void **state)
{
	struct gus_columns c = { 0 };
	struct gus_bytes bytes = { 0 };

	(void)state;
	gus_columns_prepare(&c, 100);
	gus_columns_push(&c, &(struct gus_sample){ .ip = 8 });
	gus_columns_push_switch(&c, &(struct gus_switch){ .cpu = 7, .pid = 3 });
	for (int i = GUS_COL_MORE; i < GUS_COL_COUNT; i++)
		assert_int_equal(c.column[i].room, 0);
	gus_columns_encode(&c, 0, 2, &bytes);
	assert_int_equal(bytes.n, 1 + 3 + 5 + 3 + 2); /* rows, ip and pid */
	/* One row of a thousand is enough to need it, and emptied it begins anew. */
	for (int i = 0; i < 1000; i++)
		gus_columns_push(&c, &(struct gus_sample){ .period = i == 500 });
	assert_int_equal(c.column[33].n, 503);
	assert_int_equal(gus_columns_sample(&c, 502).period, 1);
	assert_int_equal(gus_columns_sample(&c, 501).period + gus_columns_sample(&c, 503).period, 0);
	gus_columns_clear(&c);
	gus_columns_push(&c, &(struct gus_sample){ .cpu = 1 });
	assert_int_equal(gus_columns_sample(&c, 0).period, 0);
	assert_int_equal(gus_columns_sample(&c, 0).cpu, 1);
	gus_vec_free(&bytes);
	gus_columns_free(&c);
}

static void what_breaks_the_rules_is_refused(void **state)
{
	const struct { const char *what; const uint8_t *bytes; size_t size; } cases[] = {
		{ "twice", BYTES(1, 32, 2, 1, 7, 32, 2, 1, 7) },
		{ "out of order", BYTES(1, 33, 0, 1, 8, 32, 2, 1, 7) },
		{ "before one below", BYTES(1, 32, 2, 1, 7, 2, 0, 1, 16) },
		{ "before the chain that it stands behind", BYTES(1, 9, 0, 1, 2, 32, 2, 1, 7, 16, 0, 1, 4) },
		{ "a row short", BYTES(2, 32, 2, 1, 7) },
		{ "a row more", BYTES(1, 32, 2, 2, 7, 7) },
		{ "an encoding that is none", BYTES(1, 32, 9, 1, 7) },
		{ "pairs", BYTES(1, 32, 4, 4, 1, 7, 7, 0) },
		{ "a place that the table has not", BYTES(1, 95, 3, 3, 1, 7, 1) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_columns c = { 0 };

		if (gus_columns_decode(&c, cases[i].bytes, cases[i].size, NULL) == 0)
			fail_msg("accepted: %s", cases[i].what);
		assert_int_equal(c.n, 0);
		assert_int_equal(c.column[32].n, 0);
		gus_columns_free(&c);
	}
}

/* Cut at any byte it is refused, but for the borders between columns, where those behind are zero. */
static void cut_anywhere(void **state)
{
	const uint8_t all[] = { ENCODED };
	unsigned good = 0;

	(void)state;
	for (size_t size = 0; size < sizeof(all); size++) {
		uint8_t *bytes = malloc(size);
		struct gus_columns c = { 0 };

		memcpy(bytes, all, size);
		if (gus_columns_decode(&c, bytes, size, NULL) == 0) {
			assert_int_equal(c.n, ROWS);
			assert_int_equal(gus_columns_sample(&c, 1).cpu, 0);
			good++;
		}
		gus_columns_free(&c);
		free(bytes);
	}
	assert_int_equal(good, 6); /* the rows, 2, 3, 5, 32, 33 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_written),
		cmocka_unit_test(they_are_read),
		cmocka_unit_test(gaps_are_zero),
		cmocka_unit_test(any_part_of_a_batch),
		cmocka_unit_test(beside_entries),
		cmocka_unit_test(unused_they_take_no_room),
		cmocka_unit_test(what_breaks_the_rules_is_refused),
		cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
