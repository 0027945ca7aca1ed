/* SPDX-License-Identifier: MIT */
/* What a perf.data file says of itself: which features there are, where each lies, and what of them is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/limits.h"
#include "collector/perfdata/features.h"
#include "collector/perfdata/window.h"
#include "tests/unit/made_perfdata.h"

/* Words that were turned by halves are told by the host name (bit 3), which is in the other half then; only those of
 * the other byte order are. */
static void words(void **state)
{
	static const struct { bool big; uint64_t written, read; } cases[] = {
		{ true, 0x89abcdef01234567, 0x0123456789abcdef }, { true, 0x0123456789abcdef, 0x0123456789abcdef },
		{ false, 0x89abcdef01234567, 0x89abcdef01234567 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_perfdata_features f = { .big_endian = cases[i].big };
		struct made_perfdata m = { .big = cases[i].big };
		struct gus_cursor c;

		for (unsigned k = 0; k < 4; k++)
			made_put(&m, &m.data, cases[i].written, 8);
		c = gus_cursor(m.data.v, m.data.n);
		c.big_endian = cases[i].big;
		gus_perfdata_features_note(&f, &c);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(f.set[k], cases[i].read);
		made_free(&m);
	}
}

/* Reads features 5 and 9 of a file of this size, whose table begins it. */
static bool read_two(struct gus_perfdata_features *f, const struct made_bytes *table, uint64_t size)
{
	struct gus_perfdata_window w = { .name = "made", .fd = made_file(table) };
	struct gus_error err = { 0 };
	bool cut = false;

	assert_int_equal(ftruncate(w.fd, (off_t)size), 0);
	f->set[0] = 1 << 5 | 1 << 9;
	assert_int_equal(gus_perfdata_features_read(f, &w, 0, size, &cut, &err), 0);
	close(w.fd);
	gus_perfdata_window_free(&w);
	return cut;
}

static void put_table(struct made_perfdata *m, const uint64_t *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		made_put(m, &m->data, words[i], 8);
}

/* One that ends with the file is whole; one that ends a byte behind it is left out, and the next is read all the
 * same. */
static void bounds(void **state)
{
	static const struct { uint64_t at, size; bool cut; } cases[] = {
		{ 32, 8, false }, { 32, 9, true }, { 39, 1, false }, { 39, 2, true }, { 40, 0, false }, { 41, 0, true },
		{ 41, UINT64_MAX - 40, true }, { UINT64_MAX, 8, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t table[] = { cases[i].at, cases[i].size, 33, 4, 0x1122334455667788 };
		struct gus_perfdata_features f = { 0 };
		struct made_perfdata m = { 0 };
		struct gus_cursor c;

		put_table(&m, table, 5);
		assert_int_equal(read_two(&f, &m.data, 40), cases[i].cut);
		c = gus_perfdata_features_find(&f, 5);
		assert_int_equal(gus_cursor_left(&c), cases[i].cut ? 0 : cases[i].size);
		c = gus_perfdata_features_find(&f, 9);
		assert_int_equal(gus_cursor_left(&c), 4);
		assert_int_equal(gus_cursor_u32(&c), 0x44556677);
		c = gus_perfdata_features_find(&f, 6);
		assert_int_equal(gus_cursor_left(&c), 0);
		gus_perfdata_features_free(&f);
		made_free(&m);
	}
}

/* A table that is cut, at each byte: what it still tells is there. */
static void cut_tables(void **state)
{
	const uint64_t table[] = { 0, 1, 0, 2 };

	(void)state;
	for (uint64_t size = 1; size <= 32; size++) {
		struct gus_perfdata_features f = { 0 };
		struct made_perfdata m = { 0 };
		struct gus_cursor five, nine;

		put_table(&m, table, 4);
		assert_int_equal(read_two(&f, &m.data, size), size < 32);
		five = gus_perfdata_features_find(&f, 5);
		nine = gus_perfdata_features_find(&f, 9);
		assert_int_equal(gus_cursor_left(&five), size >= 16);
		assert_int_equal(gus_cursor_left(&nine), size >= 32 ? 2 : 0);
		gus_perfdata_features_free(&f);
		made_free(&m);
	}
}

/* All together take 64 MiB at most; a larger one is left where it is, which is no damage. */
static void large_ones(void **state)
{
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		const uint64_t table[] = { 0, 8, 0, GUS_LIMIT_PERFDATA_FEATURE - 8 + more };
		struct gus_perfdata_features f = { 0 };
		struct made_perfdata m = { 0 };
		struct gus_cursor c;

		put_table(&m, table, 4);
		assert_false(read_two(&f, &m.data, GUS_LIMIT_PERFDATA_FEATURE));
		c = gus_perfdata_features_find(&f, 9);
		assert_int_equal(gus_cursor_left(&c), more ? 0 : GUS_LIMIT_PERFDATA_FEATURE - 8);
		gus_perfdata_features_free(&f);
		made_free(&m);
	}
}

/* A feature that is a record: a number, which has to be one of a feature, and what it is. */
static void take(struct gus_perfdata_features *f, uint64_t number, size_t size)
{
	uint8_t *body = gus_zalloc(size + 8);

	memcpy(body, &number, 8);
	memset(body + 8, 'x', size < 8 ? size : 8);
	gus_perfdata_features_take(f, gus_cursor(body, 8 + size));
	free(body);
}

static void records(void **state)
{
	static const struct { uint64_t number; size_t size; bool kept; } cases[] = {
		{ 0, 8, true }, { 255, 8, true }, { 256, 8, false }, { UINT64_MAX, 8, false }, { 7, 0, false },
	};

	static const uint8_t short_one[7] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_perfdata_features f = { 0 };

		gus_perfdata_features_take(&f, gus_cursor(short_one, 7));
		take(&f, cases[i].number, cases[i].size);
		for (unsigned k = 0; k < GUS_PERFDATA_FEATURES; k++) {
			struct gus_cursor c = gus_perfdata_features_find(&f, k);

			assert_int_equal(gus_cursor_left(&c), cases[i].kept && k == cases[i].number ? 8 : 0);
		}
		gus_perfdata_features_clear(&f);
		assert_int_equal(f.at[255].size, 0);
		gus_perfdata_features_free(&f);
	}
}

/* Of records, too, no more is kept once there are 64 MiB. */
static void many_records(void **state)
{
	(void)state;
	for (unsigned full = 0; full < 2; full++) {
		struct gus_perfdata_features f = { 0 };
		struct gus_cursor c;

		take(&f, 5, GUS_LIMIT_PERFDATA_FEATURE - !full);
		take(&f, 9, 3);
		c = gus_perfdata_features_find(&f, 9);
		assert_int_equal(gus_cursor_left(&c), full ? 0 : 3);
		gus_perfdata_features_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words), cmocka_unit_test(bounds), cmocka_unit_test(cut_tables),
		cmocka_unit_test(large_ones), cmocka_unit_test(records), cmocka_unit_test(many_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
