/* SPDX-License-Identifier: MIT */
/* cli/csv: what a line looks like that other programs have to read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/common/csv.h"

struct made { char *text; size_t size; struct gus_csv csv; };

static void begin(struct made *m, const char *separator)
{
	m->csv = (struct gus_csv){ open_memstream(&m->text, &m->size), separator, false };
	assert_non_null(m->csv.out);
}

static void holds(struct made *m, const char *text)
{
	fclose(m->csv.out);
	assert_string_equal(m->text, text);
	free(m->text);
}

static void separators_stand_between_fields(void **state)
{
	struct made m;

	(void)state;
	begin(&m, ",");
	gus_csv_text(&m.csv, "a");
	gus_csv_number(&m.csv, true, 1);
	gus_csv_end(&m.csv);
	gus_csv_number(&m.csv, true, 2); /* a line begins without one, also the second */
	gus_csv_text(&m.csv, "b");
	gus_csv_end(&m.csv);
	holds(&m, "a,1\n2,b\n");
}

static void what_is_not_known_is_empty(void **state)
{
	struct made m;

	(void)state;
	begin(&m, ",");
	gus_csv_text(&m.csv, NULL);
	gus_csv_number(&m.csv, false, 7);
	gus_csv_fixed(&m.csv, false, 7, 2);
	gus_csv_text(&m.csv, "");
	gus_csv_end(&m.csv);
	holds(&m, ",,,\n");
}

/* Quotes only where a reader would go wrong without: each of the two reasons alone, and next to them what is none. */
static void text_is_quoted_if_it_has_to_be(void **state)
{
	static const struct { const char *separator, *text, *want; } cases[] = {
		{ ",", "plain text", "plain text\n" },
		{ ",", "a;b'c d", "a;b'c d\n" },
		{ ",", "a,b", "\"a,b\"\n" },
		{ " ", "a\nb", "\"a b\"\n" }, /* the blank that stands for the end of a line is one */
		{ ",", "\"", "\"\"\"\"\n" },
		{ ",", "say \"a\"", "\"say \"\"a\"\"\"\n" },
		{ ";", "a,b", "a,b\n" },
		{ ";", "a;b", "\"a;b\"\n" },
		{ "::", "a:b", "a:b\n" },
		{ "::", "a::b", "\"a::b\"\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		begin(&m, cases[i].separator);
		gus_csv_text(&m.csv, cases[i].text);
		gus_csv_end(&m.csv);
		holds(&m, cases[i].want);
	}
}

static void writes(const char *text, const char *want)
{
	struct made m;

	begin(&m, ",");
	gus_csv_text(&m.csv, text);
	gus_csv_end(&m.csv);
	holds(&m, want);
}

static void a_cell_is_one_line_without_controls(void **state)
{
	(void)state;
	writes("a\nb\rc\td", "a b c d\n");
	writes("\x1b[31m\x7f\xc2\x9b" "1m", "?[31m??1m\n");
	writes("\xff\xc0\xaf,\"\xe2\x80\xae\"", "\"???,\"\"?\"\"\"\n");
	writes("\xc3\xbc \xe2\x82\xac", "\xc3\xbc \xe2\x82\xac\n");
}

/* Each sign at the beginning, behind blanks, and where it is none. */
static void formulas_are_texts(void **state)
{
	static const char *const signs[] = {
		"=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		char text[32], want[32];

		snprintf(text, sizeof(text), "%s1", signs[i]);
		snprintf(want, sizeof(want), "'%s1\n", signs[i]);
		writes(text, want);
		snprintf(text, sizeof(text), "  %s1", signs[i]);
		snprintf(want, sizeof(want), "'  %s1\n", signs[i]);
		writes(text, want);
		snprintf(text, sizeof(text), "a%s1", signs[i]);
		snprintf(want, sizeof(want), "a%s1\n", signs[i]);
		writes(text, want);
	}
	writes("\t=1", "' =1\n");
	writes("\r1", "' 1\n");
	writes("\n1", "' 1\n");
	writes("=1,\"2\"", "\"'=1,\"\"2\"\"\"\n");
	writes("'=1", "'=1\n");
	writes("\xef\xbc\x9c" "1", "\xef\xbc\x9c" "1\n"); /* a less-than sign of full width */
}

static void other_separators_stand_between_too(void **state)
{
	struct made m;

	(void)state;
	begin(&m, "::");
	gus_csv_number(&m.csv, true, UINT64_MAX);
	gus_csv_fixed(&m.csv, true, 1.5, 0);
	gus_csv_fixed(&m.csv, true, 0.25, 3);
	gus_csv_end(&m.csv);
	holds(&m, "18446744073709551615::2::0.250\n");
}

/* A minus stands before what is less than zero also when it is rounded; nothing is "-0.00". */
static void negative_numbers(void **state)
{
	static const struct { double value; const char *want; } cases[] = {
		{ -1.006, "-1.01\n" }, { -0.25, "-0.25\n" }, { -0.0051, "-0.01\n" }, { -0.0049, "0.00\n" },
			{ 0, "0.00\n" },
		{ -10, "-10.00\n" }, { -9, "-9.00\n" }, { 0.0051, "0.01\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		begin(&m, ",");
		gus_csv_fixed(&m.csv, true, cases[i].value, 2);
		gus_csv_end(&m.csv);
		holds(&m, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(separators_stand_between_fields),
		cmocka_unit_test(what_is_not_known_is_empty),
		cmocka_unit_test(text_is_quoted_if_it_has_to_be),
		cmocka_unit_test(a_cell_is_one_line_without_controls),
		cmocka_unit_test(formulas_are_texts),
		cmocka_unit_test(other_separators_stand_between_too),
		cmocka_unit_test(negative_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
