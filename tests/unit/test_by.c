/* SPDX-License-Identifier: MIT */
/* What --by takes, and what of several things makes rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/profile/by.h"
#include "base/error.h"
#include "cli/report/by.h"

static void the_finest_of_a_kind_is_enough(void **state)
{
	static const struct { unsigned by, settled; } cases[] = {
		{ 0, 0 }, { GUS_BY_MODULE, GUS_BY_MODULE },
		{ GUS_BY_MODULE | GUS_BY_FUNCTION, GUS_BY_FUNCTION }, { GUS_BY_FUNCTION | GUS_BY_LINE, GUS_BY_LINE },
		{ GUS_BY_MODULE | GUS_BY_LINE, GUS_BY_LINE }, { GUS_BY_CODE, GUS_BY_INSTRUCTION },
		{ GUS_BY_MODULE | GUS_BY_INSTRUCTION, GUS_BY_INSTRUCTION },
		{ GUS_BY_FUNCTION | GUS_BY_INSTRUCTION, GUS_BY_INSTRUCTION },
		{ GUS_BY_PROCESS | GUS_BY_THREAD, GUS_BY_THREAD },
		{ GUS_BY_PROCESS | GUS_BY_COMM, GUS_BY_PROCESS | GUS_BY_COMM },
		{ GUS_BY_DATA_LINE | GUS_BY_DATA_PAGE, GUS_BY_DATA_LINE },
		{ GUS_BY_DATA_SYMBOL | GUS_BY_DATA_MODULE, GUS_BY_DATA_SYMBOL },
		{ GUS_BY_DATA_MODULE | GUS_BY_DATA_PAGE, GUS_BY_DATA_MODULE | GUS_BY_DATA_PAGE },
		{ GUS_BY_LINE | GUS_BY_THREAD | GUS_BY_DATA_SOURCE | GUS_BY_SNOOP,
		  GUS_BY_LINE | GUS_BY_THREAD | GUS_BY_DATA_SOURCE | GUS_BY_SNOOP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(gus_by_settled(cases[i].by), cases[i].settled);
}

static void what_rows_are_of(void **state)
{
	(void)state;
	assert_true(gus_by_is_code(GUS_BY_LINE) && !gus_by_is_code(GUS_BY_LINE | GUS_BY_TLB) && !gus_by_is_code(0));
	assert_true(gus_by_is_task(GUS_BY_COMM) && !gus_by_is_task(GUS_BY_COMM | GUS_BY_MODULE) && !gus_by_is_task(0));
	assert_true(gus_by_has_code(GUS_BY_MODULE | GUS_BY_TLB) && !gus_by_has_code(GUS_BY_THREAD | GUS_BY_SNOOP));
	assert_int_equal(GUS_BY_CODE & GUS_BY_TASK, 0);
	assert_int_equal((GUS_BY_CODE | GUS_BY_TASK) & GUS_BY_DATA, 0);
}

/* Each word of the list that --help and completion have is one bit, and comes back. */
static void each_word_is_a_thing_of_its_own(void **state)
{
	char words[] = GUS_BY_WORDS;
	unsigned all = 0, by;

	(void)state;
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
		char *name;

		assert_int_equal(gus_report_by_parse(&by, word, NULL), 0);
		assert_true(by && !(by & (by - 1)) && !(by & all));
		all |= by;
		name = gus_report_by_name(by);
		assert_string_equal(name, word);
		free(name);
	}
	assert_int_equal(all, GUS_BY_CODE | GUS_BY_TASK | GUS_BY_DATA | GUS_BY_EXECUTED | GUS_BY_TIME);
}

static void several_words_are_several_things(void **state)
{
	unsigned by;
	char *name;

	(void)state;
	assert_int_equal(gus_report_by_parse(&by, "Data-Source,line,line", NULL), 0);
	assert_int_equal(by, GUS_BY_DATA_SOURCE | GUS_BY_LINE);
	name = gus_report_by_name(by);
	assert_string_equal(name, "line,data-source");
	free(name);
	name = gus_report_by_name(0);
	assert_string_equal(name, "");
	free(name);
}

static void other_words_are_refused(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "line,dso_daddr", "perf's 'dso_daddr' is 'data-module' here" },
		{ "symbol", "perf's 'symbol' is 'function' here" },
		{ "data-lin", "--by takes " GUS_BY_WORDS ", not 'data-lin'; did you mean 'data-line'?" },
		{ "zzzzzz", "--by takes " GUS_BY_WORDS ", not 'zzzzzz'" },
		{ "", "--by takes " GUS_BY_WORDS ", not ''" }, { "line,", "--by takes " GUS_BY_WORDS ", not ''" },
		{ ",line", "--by takes " GUS_BY_WORDS ", not ''" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		unsigned by;

		assert_int_equal(gus_report_by_parse(&by, cases[i].text, &err), -1);
		assert_int_equal(err.code, GUS_E_USAGE);
		assert_string_equal(err.text, cases[i].says);
	}
	assert_null(gus_report_by_of_perf("function"));
	assert_string_equal(gus_report_by_of_perf("mem"), "data-source");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_finest_of_a_kind_is_enough),
		cmocka_unit_test(what_rows_are_of),
		cmocka_unit_test(each_word_is_a_thing_of_its_own),
		cmocka_unit_test(several_words_are_several_things),
		cmocka_unit_test(other_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
