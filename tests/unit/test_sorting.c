/* SPDX-License-Identifier: MIT */
/* cli/report/sorting: which words --sort takes, for which rows, and in what order each puts three of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/profile/by.h"
#include "attribution/profile/touch.h"
#include "base/error.h"
#include "cli/report/sorting.h"
#include "made_calls.h"

static void words_are_keys(void **state)
{
	static const struct { const char *text; size_t n; enum gus_sort keys[3]; } cases[] = {
		{ "", 0, { 0 } }, { "share", 1, { GUS_SORT_SHARE } }, { "time", 1, { GUS_SORT_SHARE } },
		{ "overhead", 1, { GUS_SORT_SHARE } }, { "sum", 1, { GUS_SORT_SUM } },
		{ "weight", 1, { GUS_SORT_SUM } },
		{ "latency,longest", 2, { GUS_SORT_LATENCY, GUS_SORT_LONGEST } }, { "tid,", 1, { GUS_SORT_TID } },
		{ "module,name,pid", 3, { GUS_SORT_MODULE, GUS_SORT_NAME, GUS_SORT_PID } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sorting s = { 0 };

		assert_int_equal(gus_sorting_parse(&s, cases[i].text, NULL), 0);
		assert_int_equal(s.n, cases[i].n);
		for (size_t k = 0; k < s.n; k++)
			assert_int_equal(s.keys[k], cases[i].keys[k]);
		assert_int_equal(gus_sorting_first(&s), s.n ? cases[i].keys[0] : GUS_SORT_SHARE);
	}
}

static void refuses(const char *text, const char *want)
{
	struct gus_sorting s = { 0 };
	struct gus_error err = { 0 };

	assert_int_equal(gus_sorting_parse(&s, text, &err), -1);
	assert_int_equal(err.code, GUS_E_USAGE);
	if (!strstr(err.text, want))
		fail_msg("%s: %s", text, err.text);
}

static void other_words_are_refused(void **state)
{
	char many[16 * 4 + 4] = "";

	(void)state;
	refuses("summ", "not 'summ'; did you mean 'sum'");
	refuses("su", "not 'su'");
	refuses("tid,,pid", "not ''");
	refuses("local_weight", "perf's 'local_weight' use --by data-source --sort sum");
	refuses("sym,cpu", "perf's 'sym' use --by function; --by takes several");
	refuses("cpu", "script -F cpu,sym");
	for (size_t i = 0; i < 16; i++)
		strcat(many, i ? ",tid" : "tid");
	assert_int_equal(gus_sorting_parse(&(struct gus_sorting){ 0 }, many, NULL), 0);
	strcat(many, ",tid");
	refuses(many, "16 keys at most");
}

/* What rows have nothing of cannot order them. */
static void keys_of_data_want_data(void **state)
{
	static const struct { const char *text; unsigned by; enum gus_weighs weighs; int rc; } cases[] = {
		{ "sum", GUS_BY_FUNCTION, GUS_WEIGHS_EVENTS, -1 }, { "latency", GUS_BY_THREAD, GUS_WEIGHS_EVENTS, -1 },
		{ "share,address", GUS_BY_LINE, GUS_WEIGHS_EVENTS, -1 }, { "sum", GUS_BY_LINE, GUS_WEIGHS_WALL, -1 },
		{ "longest", GUS_BY_FUNCTION, GUS_WEIGHS_EVENTS, -1 },
		{ "longest", GUS_BY_FUNCTION, GUS_WEIGHS_OFF_CPU, 0 }, { "longest", GUS_BY_TLB, GUS_WEIGHS_EVENTS, 0 },
		{ "sum,latency,address", GUS_BY_LINE | GUS_BY_SNOOP, GUS_WEIGHS_EVENTS, 0 },
		{ "share,tid", GUS_BY_FUNCTION, GUS_WEIGHS_EVENTS, 0 }, { "", GUS_BY_FUNCTION, GUS_WEIGHS_EVENTS, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct gus_sorting s = { 0 };

		assert_int_equal(gus_sorting_parse(&s, cases[i].text, NULL), 0);
		assert_int_equal(gus_sorting_fits(&s, cases[i].by, cases[i].weighs, &err), cases[i].rc);
		if (cases[i].rc)
			assert_non_null(strstr(err.text, strstr(cases[i].text, "longest") ? "--off-cpu" : "memory:"));
	}
}

/* Three rows, a, b and c, that differ in everything; which key puts them in which order. */
static void each_key_has_an_order(void **state)
{
	static const struct { const char *text, *order; } cases[] = {
		{ "", "abc" }, { "share", "bca" }, { "samples", "cab" }, { "total", "acb" }, { "name", "cab" },
		{ "module", "bac" }, { "line", "bca" }, { "offset", "cba" }, { "pid", "bac" }, { "tid", "cba" },
		{ "address", "bca" }, { "latency", "cba" }, { "sum", "bac" }, { "longest", "acb" },
		{ "pid,sum", "bac" },
		{ "pid,tid", "bca" }, { "line,offset", "bca" },
	};
	struct made_calls *m = made_calls_new();
	const uint32_t app = made_sample(m, 0, MAIN, 0)->place.module;
	const uint32_t sort = made_sample(m, 0, SORT, 0)->place.module;
	const struct gus_row rows[3] = {
		{ .module = app, .function = "g", .file = "y.c", .line = 2, .offset = 9, .pid = 5, .tid = 3,
		  .touch = 3, .loads = { .n = 3, .median.cycles = 7, .longest = 90, .sum = 200 }, .samples = 5,
		  .weight = 1, .total = 30 },
		{ .module = GUS_INDEX_NONE, .function = "h", .file = "x.c", .line = 3, .offset = 8, .pid = 4, .tid = 2,
		  .touch = 1, .loads = { .n = 9, .median.cycles = 8, .longest = 10, .sum = 300 }, .samples = 4,
		  .weight = 3, .total = 10 },
		{ .module = sort, .function = "f", .file = "y.c", .line = 1, .offset = 7, .pid = 5, .tid = 1,
		  .touch = 2, .loads = { .n = 1, .median.cycles = 9, .sum = 100 }, .off.longest = 80,
		  .samples = 6, .weight = 2, .total = 20 },
	};
	struct gus_touches touches = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		gus_vec_push(&touches.list, (struct gus_touch){ .lowest = 0x1000 + 16 * i });
	m->profile.touches = &touches;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sorting s = { 0 };
		struct gus_view view = { .by = GUS_BY_FUNCTION };

		gus_vec_append(&view.rows, rows, 3);
		assert_int_equal(gus_sorting_parse(&s, cases[i].text, NULL), 0);
		gus_sorting_apply(&s, &view, &m->profile);
		for (size_t k = 0; k < 3; k++)
			if (view.rows.v[k].samples != rows[cases[i].order[k] - 'a'].samples)
				fail_msg("'%s': row %zu is not %c", cases[i].text, k, cases[i].order[k]);
		gus_vec_free(&view.rows);
	}
	m->profile.touches = NULL;
	gus_vec_free(&touches.list);
	made_calls_free(m);
}

/* Tasks are called what they are called, whatever functions they were in; code without a name comes last. */
static void names_are_of_tasks_or_functions(void **state)
{
	static const struct gus_row tasks[] = { { .comm = "z", .function = "a", .samples = 2 },
		{ .comm = "b", .function = "c", .samples = 1 } };
	static const struct gus_row code[] = { { .samples = 2 }, { .function = "b", .samples = 1 } };
	const struct gus_row *lists[] = { tasks, code };
	const struct gus_sorting s = { .keys = { GUS_SORT_NAME }, .n = 1 };
	struct gus_profile p = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct gus_view view = { 0 };

		gus_vec_append(&view.rows, lists[i], 2);
		gus_sorting_apply(&s, &view, &p);
		assert_int_equal(view.rows.v[0].samples, 1);
		assert_int_equal(view.rows.v[1].samples, 2);
		gus_vec_free(&view.rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_keys),
		cmocka_unit_test(other_words_are_refused),
		cmocka_unit_test(keys_of_data_want_data),
		cmocka_unit_test(each_key_has_an_order),
		cmocka_unit_test(names_are_of_tasks_or_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
