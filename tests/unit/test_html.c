/* SPDX-License-Identifier: MIT */
/* cli/html: text of others in a page. Whatever it is, a parser of HTML finds no markup in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "cli/common/html.h"

static char *printed(void (*print)(FILE *out, const char *text), const char *text)
{
	size_t size;
	char *made;
	FILE *out = open_memstream(&made, &size);

	print(out, text);
	fclose(out);
	return made;
}

static void prints_text(const char *text, const char *want)
{
	char *made = printed(gus_html_text, text);

	assert_string_equal(made, want);
	free(made);
}

/* prints_string(TEXT, WANT, VALUE): and a parser of JSON reads the value. */
static void prints_string(const char *text, const char *want, const char *value)
{
	char *made = printed(gus_html_string, text);
	json_t *read = json_loads(made, JSON_DECODE_ANY, NULL);

	assert_string_equal(made, want);
	assert_non_null(read);
	assert_string_equal(json_string_value(read), value);
	json_decref(read);
	free(made);
}

static void text_without_markup_stays(void **state)
{
	(void)state;
	prints_text("", "");
	prints_text("a b.c:d/e", "a b.c:d/e");
	prints_text("\xc3\xa4\xf0\x9f\x94\xa5", "\xc3\xa4\xf0\x9f\x94\xa5");
	prints_string("", "\"\"", "");
	prints_string("a b", "\"a b\"", "a b");
	prints_string("\xc3\xa4", "\"\xc3\xa4\"", "\xc3\xa4");
}

/* Each character that means something, at the beginning, in the middle, at the end and twice. */
static void markup_is_text(void **state)
{
	(void)state;
	prints_text("<", "&#60;");
	prints_text("a<b>c", "a&#60;b&#62;c");
	prints_text("&amp;", "&#38;amp;");
	prints_text("\"'\\", "&#34;&#39;&#92;");
	prints_text("<<a", "&#60;&#60;a");
	prints_string("</script>", "\"\\u003c/script\\u003e\"", "</script>");
	prints_string("<!--", "\"\\u003c!--\"", "<!--");
	prints_string("a&b", "\"a\\u0026b\"", "a&b");
	prints_string("\"'", "\"\\u0022\\u0027\"", "\"'");
	prints_string("\\", "\"\\u005c\"", "\\");
	prints_string("a\\u0041", "\"a\\u005cu0041\"", "a\\u0041");
	prints_string("%s%n", "\"%s%n\"", "%s%n");
}

static void what_a_screen_obeys_is_marked(void **state)
{
	(void)state;
	prints_text("a\nb\x1b[1m", "a b?[1m");
	prints_text("\xe2\x80\xae<", "?&#60;");
	prints_text("\xff\xc0\xaf", "???");
	prints_string("a\nb\t\x01", "\"a b ?\"", "a b ?");
	prints_string("\xe2\x80\xa8\xe2\x80\xa9", "\"  \"", "  ");
	prints_string("\xff<", "\"?\\u003c\"", "?<");
}

/* A character that is cut by what stands behind it does not take that along. */
static void what_is_cut_swallows_nothing(void **state)
{
	(void)state;
	prints_text("\xe2\x80<b>", "??&#60;b&#62;");
	prints_string("\xe2\x80\"", "\"??\\u0022\"", "??\"");
	prints_string("\xf0\x9f\x94\\", "\"???\\u005c\"", "???\\");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_without_markup_stays),
		cmocka_unit_test(markup_is_text),
		cmocka_unit_test(what_a_screen_obeys_is_marked),
		cmocka_unit_test(what_is_cut_swallows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
