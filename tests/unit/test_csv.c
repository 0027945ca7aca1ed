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

/* Quotes only where a reader would go wrong without: each of the four reasons alone, and next to them what is none. */
static void text_is_quoted_if_it_has_to_be(void **state)
{
	static const struct { const char *separator, *text, *want; } cases[] = {
		{ ",", "plain text", "plain text\n" },
		{ ",", "a;b'c\td", "a;b'c\td\n" },
		{ ",", "a,b", "\"a,b\"\n" },
		{ ",", "a\nb", "\"a\nb\"\n" },
		{ ",", "a\rb", "\"a\rb\"\n" },
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
		cmocka_unit_test(other_separators_stand_between_too),
		cmocka_unit_test(negative_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
