/* SPDX-License-Identifier: MIT */
/* The table and the strips of a run of two regions, the second of which is four times as slow and mispredicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/phases.h"

enum { TICKS = 5040 };

static const char *region(void *context, uint32_t number)
{
	(void)context;
	return number == 1 ? "quick" : "slow";
}

static const char *line(void *context, uint32_t number)
{
	(void)context;
	return number == 9 ? "sort.c:42" : "?";
}

/* A cycle an op of the first region, which does not wait; four of the second, two of which it waits; each tenth op
 * mispredicts. */
static void note(struct gus_phases *p, int64_t from, unsigned n, bool slow)
{
	for (unsigned i = 0; i < n; i++) {
		int64_t at = from + (int64_t)i * TICKS * (slow ? 4 : 1);
		struct gus_phases_op op = { .issue = at, .start = at + (slow ? 2 * TICKS : 0), .region = slow ? 2 : 1,
			.class = slow ? GUS_INSN_LOAD : GUS_INSN_ALU, .instructions = 1, .load = slow,
				.mispredicted = slow && i % 10 == 0,
			.line = 9 };

		op.complete = op.start + TICKS;
		op.retire = slow ? op.complete + TICKS : op.complete;
		gus_phases_note(p, &op);
	}
}

/* A third of the time in the first region, two thirds in the second. */
static struct gus_phases_found found;
static struct gus_model_phases shown = { .found = &found, .ticks = TICKS, .region = region, .line = line };

static int setup(void **state)
{
	struct gus_phases *p = gus_phases_new();

	(void)state;
	note(p, 0, 600000, false);
	note(p, INT64_C(600000) * TICKS, 300000, true);
	gus_phases_find(p, GUS_PHASES_WINDOW, &found);
	gus_phases_free(p);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_phases_found_free(&found);
	return 0;
}

static void test_strips(void **state)
{
	double ipc[12], waiting[12], wrong[12];
	char text[13];

	(void)state;
	assert_int_equal(gus_model_phases_regions(&shown, 12, text), 12);
	assert_string_equal(text, "BBBBAAAAAAAA"); /* letters are by time */
	assert_int_equal(gus_model_phases_series(&shown, GUS_SERIES_IPC, 0, ipc, 12), 12);
	assert_true(ipc[0] > 0.99 && ipc[0] < 1.01);
	assert_true(ipc[11] > 0.249 && ipc[11] < 0.251);
	gus_model_phases_strip(ipc, 12, text);
	assert_string_equal(text, "999922222222");
	gus_model_phases_series(&shown, GUS_SERIES_WAITING, GUS_INSN_LOAD, waiting, 12);
	assert_true(waiting[11] > 0.499 && waiting[11] < 0.501);
	gus_model_phases_strip(waiting, 12, text);
	assert_string_equal(text, "....99999999");
	gus_model_phases_series(&shown, GUS_SERIES_WAITING, GUS_INSN_ALU, waiting, 12);
	assert_true(gus_model_phases_strip(waiting, 12, text) <= 0);
	assert_string_equal(text, "............");
	gus_model_phases_series(&shown, GUS_SERIES_MISPREDICTED, 9, wrong, 12);
	assert_true(wrong[11] > 95 && wrong[11] < 105); /* in 1000 */
	gus_model_phases_series(&shown, GUS_SERIES_MISPREDICTED, 8, wrong, 12);
	assert_true(gus_model_phases_strip(wrong, 12, text) <= 0);
}

static void test_text(void **state)
{
	FILE *old = stdout;
	char *text;
	size_t size;

	(void)state;
	stdout = open_memstream(&text, &size);
	gus_model_phases_text(&shown);
	fclose(stdout);
	stdout = old;
	/* The border is right to a bin of 1664 cycles. */
	assert_non_null(strstr(text,
			       "\n  B             0        599186   1.00      0.0  -                 1.0      0.0    "
		"0.0    0.0     0.00  quick 100%\n"));
	assert_non_null(strstr(text,
			       "\n  A        599186       1200814   0.25      0.5  load              0.3      0.2    "
		"1.0    0.0    99.73  slow 100%\n"));
	assert_non_null(strstr(text, "\n  region               BBBBBBBBBBBBBBBBBBBBBBBBAAAAAAAAAAAAAAAA"));
	assert_non_null(strstr(text, "\n    sort.c:42          ........................9"));
	free(text);
}

static void test_json(void **state)
{
	json_t *o = gus_model_phases_json(&shown), *first, *time;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(o, "phases")), 2);
	first = json_array_get(json_object_get(o, "phases"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "region")), "quick");
	assert_true(json_is_null(json_object_get(first, "waits_most")));
	time = json_object_get(o, "over_time");
	assert_int_equal(json_array_size(json_object_get(time, "ipc")), GUS_PHASES_POINTS);
	assert_int_equal(json_array_size(json_object_get(json_object_get(time, "waiting"), "load")), GUS_PHASES_POINTS);
	assert_null(json_object_get(json_object_get(time, "waiting"), "alu"));
	assert_string_equal(json_string_value(json_array_get(json_object_get(time, "region"), GUS_PHASES_POINTS - 1)),
			    "slow");
	json_decref(o);
}

static void test_nothing(void **state)
{
	struct gus_phases *p = gus_phases_new();
	struct gus_phases_found none;
	struct gus_model_phases m = shown;
	json_t *o;

	(void)state;
	gus_phases_find(p, GUS_PHASES_WINDOW, &none);
	m.found = &none;
	gus_model_phases_text(&m); /* prints nothing */
	o = gus_model_phases_json(&m);
	assert_true(json_is_null(o));
	json_decref(o);
	gus_phases_found_free(&none);
	gus_phases_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strips),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
