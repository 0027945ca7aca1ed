/* SPDX-License-Identifier: MIT */
/* cli/json: what documents hold of foreign text, and how they are printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/common/json.h"

/* prints(VALUE, WANT): on one line, and a parser gets the same value back. */
static void prints(json_t *value, const char *want)
{
	json_t *list = json_array(), *again;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	json_array_append_new(list, json_incref(value));
	assert_int_equal(gus_json_print(list, out, false), 0);
	fclose(out);
	assert_string_equal(text, want);
	again = json_loads(text, 0, NULL);
	assert_non_null(again);
	assert_true(json_equal(json_array_get(again, 0), value));
	json_decref(again);
	json_decref(value);
	free(text);
}

static void addresses_beyond_integers_are_text(void **state)
{
	(void)state;
	prints(gus_json_address(0), "[0]\n");
	prints(gus_json_address(0x7fffffffffffffff), "[9223372036854775807]\n");
	prints(gus_json_address(0x8000000000000000), "[\"0x8000000000000000\"]\n");
	prints(gus_json_address(0xffffffff81000040), "[\"0xffffffff81000040\"]\n");
}

static void what_is_not_known_is_null(void **state)
{
	(void)state;
	prints(gus_json_text(NULL), "[null]\n");
	prints(gus_json_text(""), "[null]\n");
	prints(gus_json_text("a"), "[\"a\"]\n");
	prints(gus_json_word(NULL), "[null]\n");
	prints(gus_json_word(""), "[\"\"]\n");
	prints(gus_json_word("a"), "[\"a\"]\n");
	prints(gus_json_number(false, 1), "[null]\n");
	prints(gus_json_number(true, 0), "[0]\n");
}

/* JSON's numbers are of 64 bits with a sign here; what is above is near, and never below zero. */
static void great_numbers_stay_positive(void **state)
{
	json_t *number = gus_json_number(true, (uint64_t)INT64_MAX + 1);

	(void)state;
	prints(gus_json_number(true, INT64_MAX), "[9223372036854775807]\n");
	assert_true(json_is_real(number) && json_real_value(number) > 9.2e18 && json_real_value(number) < 9.3e18);
	json_decref(number);
}

static void bytes_of_no_character_are_replaced(void **state)
{
	(void)state;
	prints(gus_json_word("a\xff"), "[\"a\xef\xbf\xbd\"]\n");
	prints(gus_json_word("\xc0\xaf"), "[\"\xef\xbf\xbd\xef\xbf\xbd\"]\n");
	prints(gus_json_word("\xed\xa0\x80"), "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]\n");
	prints(gus_json_word("\xe2\x82"), "[\"\xef\xbf\xbd\xef\xbf\xbd\"]\n");
	prints(gus_json_text("\xf4\x90\x80\x80 \xe2\x82\xac"),
	       "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xe2\x82\xac\"]\n");
}

static void what_a_terminal_obeys_is_escaped(void **state)
{
	(void)state;
	prints(gus_json_word("\x1b[31m\n\t\"\\"), "[\"\\u001B[31m\\n\\t\\\"\\\\\"]\n");
	prints(gus_json_word("~\x7f\xc2\x80\xc2\x9b\xc2\xa0"), "[\"~\\u007F\\u0080\\u009B\xc2\xa0\"]\n");
	prints(gus_json_word("a\xe2\x80\xa8z\xe2\x80\xaez\xef\xbb\xbf"), "[\"a\\u2028z\\u202Ez\\uFEFF\"]\n");
	prints(gus_json_word("\xf3\xa0\x80\x81\xf3\xa0\x81\xbf!"), "[\"\\uDB40\\uDC01\\uDB40\\uDC7F!\"]\n");
	prints(gus_json_word("\xc3\xbc\xf0\x9f\x98\x80"), "[\"\xc3\xbc\xf0\x9f\x98\x80\"]\n");
}

static void documents_may_have_lines(void **state)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);
	json_t *o = json_object();

	(void)state;
	json_object_set_new(o, "a\x7f", gus_json_word("\xc2\x9b"));
	json_object_set_new(o, "b", json_real(1 / 3.0));
	assert_int_equal(gus_json_print(o, out, true), 0);
	fclose(out);
	assert_string_equal(text, "{\n \"a\\u007F\": \"\\u009B\",\n \"b\": 0.333333333\n}\n");
	free(text);
}

static void a_full_disk_is_an_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (!full)
		skip();
	setbuf(full, NULL);
	assert_int_equal(gus_json_print(json_object(), full, true), -1);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_beyond_integers_are_text),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(great_numbers_stay_positive),
		cmocka_unit_test(bytes_of_no_character_are_replaced),
		cmocka_unit_test(what_a_terminal_obeys_is_escaped),
		cmocka_unit_test(documents_may_have_lines),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
