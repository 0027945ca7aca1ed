/* SPDX-License-Identifier: MIT */
/* Where samples land beside a slow instruction: addresses counted into a line, counts kept in a recording's event and
 * read again, and what is said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/trial/skid.h"
#include "proto/gusprof.pb-c.h"
#include "proto/skid.h"

/* A slow one of 3 bytes at 0x1000, 28 of 4 bytes, then a dec of 3 and a jump. */
static const struct gus_trial_line line = {
	.slow = 0x1000, .first = 0x1003, .end = 0x1003 + 28 * 4, .last = 0x1003 + 28 * 4 + 3, .quick = 28,
};

static void an_address_has_its_place(void **state)
{
	static const struct { uint64_t ip; struct gus_skid_counts counts; } cases[] = {
		{ 0x0fff, { .at = { 0 } } },
		{ 0x1000, { .at = { 1 } } },
		{ 0x1003, { .at = { 0, 1 } } },
		{ 0x1007, { .at = { 0, 0, 1 } } },
		{ 0x100b, { .at = { 0, 0, 0, 1 } } },
		{ 0x100f, { .farther = 1 } },
		{ 0x1003 + 26 * 4, { .farther = 1 } },
		{ 0x1003 + 27 * 4, { .before = 1 } },
		{ 0x1003 + 28 * 4, { .before = 1 } },
		{ 0x1003 + 28 * 4 + 3, { .before = 1 } },
		{ 0x1003 + 28 * 4 + 4, { .farther = 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_skid_counts c = { 0 };

		gus_trial_land(&c, &line, cases[i].ip);
		assert_memory_equal(&c, &cases[i].counts, sizeof(c));
	}
}

/* As a header has it: what is of no kind that we know is passed over, what is too far for us is farther. */
static void counts_are_read(void **state)
{
	uint64_t load[] = { 1, 90, 2, 3, 4, 5 }, root[] = { 0, 7 };
	Gusprof__Skid a = GUSPROF__SKID__INIT, b = GUSPROF__SKID__INIT, c = GUSPROF__SKID__INIT;
	Gusprof__Skid *all[] = { &a, &b, &c };
	Gusprof__Event event = GUSPROF__EVENT__INIT;
	struct gus_skid skid;

	(void)state;
	assert_false(gus_skid_read(&skid, NULL));
	assert_false(gus_skid_read(&skid, &event));
	a.slow = (char *)"load";
	a.at = load;
	a.n_at = 6;
	a.farther = 10;
	a.before = 6;
	b.slow = (char *)"wall";
	b.at = load;
	b.n_at = 6;
	c.slow = (char *)"root";
	c.at = root;
	c.n_at = 2;
	event.skid = all;
	event.n_skid = 3;
	assert_true(gus_skid_read(&skid, &event));
	assert_int_equal(skid.counts[GUS_SKID_LOAD].at[0], 1);
	assert_int_equal(skid.counts[GUS_SKID_LOAD].at[3], 3);
	assert_int_equal(skid.counts[GUS_SKID_LOAD].farther, 19);
	assert_int_equal(skid.counts[GUS_SKID_LOAD].before, 6);
	assert_int_equal(gus_skid_samples(&skid.counts[GUS_SKID_LOAD]), 121);
	assert_int_equal(skid.counts[GUS_SKID_ROOT].at[1], 7);
	assert_int_equal(skid.counts[GUS_SKID_ROOT].at[2], 0);
	a.farther = UINT64_MAX;
	assert_true(gus_skid_read(&skid, &event));
	assert_true(gus_skid_samples(&skid.counts[GUS_SKID_LOAD]) == UINT64_MAX);
	a.farther = 0;
	a.before = 0;
	a.n_at = c.n_at = 0;
	assert_false(gus_skid_read(&skid, &event));
}

static void a_distance_is_told_where_most_are_at_one(void **state)
{
	struct gus_skid skid = { .counts[GUS_SKID_ROOT] = { .at = { 0, 0, 9 } } };
	struct gus_skid_counts *c = &skid.counts[GUS_SKID_LOAD];
	char text[300];

	(void)state;
	assert_int_equal(gus_skid_distance(&skid, 0.5), -1); /* of the load nothing is known */
	*c = (struct gus_skid_counts){ .at = { 4, 95 }, .farther = 1 };
	assert_int_equal(gus_skid_distance(&skid, 0.95), 1);
	assert_int_equal(gus_skid_distance(&skid, 0.951), -1);
	*c = (struct gus_skid_counts){ .at = { 0, 0, 0, 95 }, .before = 5 };
	assert_int_equal(gus_skid_distance(&skid, 0.95), 3);
	*c = (struct gus_skid_counts){ .at = { 19 }, .before = 1 };
	assert_int_equal(gus_skid_distance(&skid, 0.95), 0);
	assert_true(gus_skid_describe(&skid, text, sizeof(text)));
	assert_string_equal(text, "beside a load past the caches 95.0 % of 20 samples are on it, "
				  "beside a square root 100.0 % of 9 samples are on the second behind it");
	assert_true(gus_skid_describe(&skid, text, 20));
	assert_string_equal(text, "beside a load past ");
	skid = (struct gus_skid){ 0 };
	assert_false(gus_skid_describe(&skid, text, sizeof(text)));
	assert_string_equal(text, "");
}

/* Of six products each has as many behind it: those behind the last two, and on the first of the next round, are one
 * number. Off is what lies elsewhere than it should. */
static void products_are_even_or_not(void **state)
{
	static const struct { struct gus_skid_counts counts; double uneven; } cases[] = {
		{ { { 0 }, 0, 0 }, 0 },
		{ { { 0, 10, 10, 10 }, 10, 20 }, 0 },
		{ { { 10, 10, 10, 10 }, 10, 10 }, 0 },          /* on what is waited for itself */
		{ { { 0, 20, 0, 20 }, 0, 20 }, 20 / 60. },      /* behind each second one */
		{ { { 0, 0, 0, 0 }, 0, 60 }, 40 / 60. },
		{ { { 0, 60, 0, 0 }, 0, 0 }, 50 / 60. },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_skid skid = { .counts[GUS_SKID_PRODUCT] = cases[i].counts,
			.counts[GUS_SKID_LOAD] = { .at = { 7 } } };
		char text[200];

		assert_float_equal(gus_skid_uneven(&skid), cases[i].uneven, 1e-12);
		assert_true(gus_skid_describe(&skid, text, sizeof(text)));
		assert_string_equal(text, "beside a load past the caches 100.0 % of 7 samples are on it");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_its_place),
		cmocka_unit_test(counts_are_read),
		cmocka_unit_test(a_distance_is_told_where_most_are_at_one),
		cmocka_unit_test(products_are_even_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
