/* SPDX-License-Identifier: MIT */
/* base/text: what of foreign text reaches a terminal, and the one function that prints it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"

/* UTF-8 by its definition, for any code; surrogates too, which the reader has to refuse. */
static size_t encode(uint32_t code, char out[5])
{
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char leads[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 };

	memset(out, 0, 5);
	for (size_t i = n; i-- > 1; code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(leads[n] | code);
	return n;
}

static enum gus_text_class class_of(uint32_t code)
{
	char text[5];
	size_t n = encode(code, text);
	struct gus_text_char c = gus_text_next(text, n);

	if (c.class != GUS_TEXT_INVALID) {
		assert_int_equal(c.code, code);
		assert_int_equal(c.size, n);
	}
	return c.class;
}

/* Each first and last of a range that is not printed as it is, and both neighbours. */
static void classes_end_where_text_h_says(void **state)
{
	static const struct { uint32_t first, last; enum gus_text_class class; } ranges[] = {
		{ 0x01, 0x08, GUS_TEXT_HARMFUL }, { 0x09, 0x0d, GUS_TEXT_BLANK }, { 0x0e, 0x1f, GUS_TEXT_HARMFUL },
		{ 0x20, 0x7e, GUS_TEXT_PLAIN }, { 0x7f, 0x84, GUS_TEXT_HARMFUL }, { 0x85, 0x85, GUS_TEXT_BLANK },
		{ 0x86, 0x9f, GUS_TEXT_HARMFUL }, { 0xa0, 0xac, GUS_TEXT_PLAIN }, { 0xad, 0xad, GUS_TEXT_HARMFUL },
		{ 0xae, 0x34e, GUS_TEXT_PLAIN }, { 0x34f, 0x34f, GUS_TEXT_HARMFUL }, { 0x350, 0x61b, GUS_TEXT_PLAIN },
		{ 0x61c, 0x61c, GUS_TEXT_HARMFUL }, { 0x61d, 0x115e, GUS_TEXT_PLAIN },
		{ 0x115f, 0x1160, GUS_TEXT_HARMFUL }, { 0x1161, 0x180d, GUS_TEXT_PLAIN },
		{ 0x180e, 0x180e, GUS_TEXT_HARMFUL }, { 0x180f, 0x200a, GUS_TEXT_PLAIN },
		{ 0x200b, 0x200b, GUS_TEXT_HARMFUL }, { 0x200c, 0x200d, GUS_TEXT_PLAIN },
		{ 0x200e, 0x200f, GUS_TEXT_HARMFUL }, { 0x2010, 0x2027, GUS_TEXT_PLAIN },
		{ 0x2028, 0x2029, GUS_TEXT_BLANK }, { 0x202a, 0x202e, GUS_TEXT_HARMFUL },
		{ 0x202f, 0x205f, GUS_TEXT_PLAIN }, { 0x2060, 0x206f, GUS_TEXT_HARMFUL },
		{ 0x2070, 0x3163, GUS_TEXT_PLAIN }, { 0x3164, 0x3164, GUS_TEXT_HARMFUL },
		{ 0x3165, 0xd7ff, GUS_TEXT_PLAIN }, { 0xd800, 0xdfff, GUS_TEXT_INVALID },
		{ 0xe000, 0xfefe, GUS_TEXT_PLAIN }, { 0xfeff, 0xfeff, GUS_TEXT_HARMFUL },
		{ 0xff00, 0xff9f, GUS_TEXT_PLAIN }, { 0xffa0, 0xffa0, GUS_TEXT_HARMFUL },
		{ 0xffa1, 0xfff8, GUS_TEXT_PLAIN }, { 0xfff9, 0xfffb, GUS_TEXT_HARMFUL },
		{ 0xfffc, 0xdffff, GUS_TEXT_PLAIN }, { 0xe0000, 0xe007f, GUS_TEXT_HARMFUL },
		{ 0xe0080, 0x10ffff, GUS_TEXT_PLAIN }, { 0x110000, 0x1fffff, GUS_TEXT_INVALID },
	};
	uint32_t next = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		assert_int_equal(ranges[i].first, next);
		for (uint32_t code = ranges[i].first; code <= ranges[i].last; code++)
			assert_int_equal(class_of(code), ranges[i].class);
		next = ranges[i].last + 1;
	}
}

/* Each byte of what is no character stands for itself. */
static void what_is_not_utf8_is_a_mark_for_each_byte(void **state)
{
	static const struct { const char *text, *clean; } cases[] = {
		{ "a\x80z", "a?z" }, { "\xbf", "?" },                             /* followers without a first byte */
		{ "\xc0\xaf", "??" }, { "\xc1\xbf", "??" }, { "\xe0\x9f\xbf", "???" },          /* overlong forms */
		{ "\xf0\x8f\xbf\xbf", "????" }, { "\xc0\x9b" "31m", "??31m" },
		{ "\xc2\x80", "?" }, { "\xe0\xa0\x80", "\xe0\xa0\x80" },                       /* the least of each */
		{ "\xf0\x90\x80\x80", "\xf0\x90\x80\x80" },
		{ "\xed\xa0\x80", "???" }, { "\xed\xbf\xbf", "???" },                                 /* surrogates */
		{ "\xf4\x90\x80\x80", "????" }, { "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },       /* above U+10FFFF */
		{ "\xf8\x88\x80\x80\x80", "?????" }, { "\xfe\xff", "??" },
		{ "\xc3", "?" }, { "\xe2\x82", "??" }, { "\xf0\x9f\x98", "???" },                      /* cut short */
		{ "\xc3\x1b[m", "??[m" }, { "\xe2\x82\n", "?? " },        /* what follows is still looked at itself */
		{ "\xe2\x80\xae" "fdp.exe", "?fdp.exe" }, { "a\xe2\x80\xa8z", "a z" },
		{ "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac" },
		{ "", "" }, { "na\xc3\xafve \xe2\x82\xac", "na\xc3\xafve \xe2\x82\xac" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[32];

		snprintf(text, sizeof(text), "%s", cases[i].text);
		gus_text_clean(text);
		assert_string_equal(text, cases[i].clean);
	}
}

/* A character is not looked for behind the end: the reader of a part of a text would run out of it. */
static void characters_end_with_the_text(void **state)
{
	static const char euro[] = "\xe2\x82\xac";

	(void)state;
	assert_int_equal(gus_text_next(euro, 3).size, 3);
	assert_int_equal(gus_text_next(euro, 2).class, GUS_TEXT_INVALID);
	assert_int_equal(gus_text_next(euro, 1).class, GUS_TEXT_INVALID);
	assert_int_equal(gus_text_next(euro + 2, 1).class, GUS_TEXT_INVALID);
	assert_int_equal(gus_text_next("a", 1).class, GUS_TEXT_PLAIN);
}

static void controls_are_no_part_of_texts(void **state)
{
	char text[] = "a\x1b]0;b\a\tc\nd\x7f \xc2\x9b" "31m \xc3\xbc\xc2\xa0\xe2\x82\xac";

	(void)state;
	gus_text_clean(text);
	assert_string_equal(text, "a?]0;b? c d? ?31m \xc3\xbc\xc2\xa0\xe2\x82\xac");
}

/* prints(WANT, FORMAT, ...): that is printed. */
__attribute__((format(printf, 2, 3)))
static void prints(const char *want, const char *format, ...)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);
	va_list args;

	va_start(args, format);
	gus_text_vprint(out, format, args);
	va_end(args);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

#define HOSTILE "\x1b[31m\n\xff"
#define HARMLESS "?[31m ?"

static void only_arguments_are_made_harmless(void **state)
{
	const char *volatile nothing = NULL;

	(void)state;
	prints("\x1b[1m" HARMLESS "\x1b[0m\n", "\x1b[1m%s\x1b[0m\n", HOSTILE);
	prints(HARMLESS ":" HARMLESS, "%s:%s", HOSTILE, HOSTILE);
	prints("? \x7e", "%c%c%c", '\x1b', '\n', '\x7e');
	prints("", "%s", "");
	prints("(null)", "%s", nothing);
	prints("", "%c", '\0');
	prints("100%", "100%%");
}

static void widths_are_those_of_what_is_printed(void **state)
{
	(void)state;
	prints("[  ?a]", "[%4s]", "\xc2\x9b" "a");
	prints("[?a  ]", "[%-4s]", "\xc2\x9b" "a");
	prints("[?a  ]", "[%*s]", -4, "\xc2\x9b" "a");
	prints("[  ?a]", "[%*s]", 4, "\xc2\x9b" "a");
	prints("[?a]", "[%2s]", "\xc2\x9b" "a");
	prints("[?a]", "[%1s]", "\xc2\x9b" "a");
	prints("[ab]", "[%.2s]", "abc");
	prints("[ab]", "[%.*s]", 2, "abc");
	prints("[abc]", "[%.*s]", -1, "abc");
	prints("[]", "[%.0s]", "abc");
	prints("[  a?]", "[%4.2s]", "a\xc3\xbc"); /* cut within a character */
}

/* A slice need not end with a zero. */
static void slices_are_not_read_beyond(void **state)
{
	char *slice = malloc(3);

	(void)state;
	memcpy(slice, "a\xe2\x82", 3);
	prints("a??", "%.*s", 3, slice);
	free(slice);
}

/* The same as printf: each conversion with the lengths, flags, widths and precisions that it takes. */
#define AS_PRINTF(...) do { \
	char want_[700]; \
	assert_true(snprintf(want_, sizeof(want_), __VA_ARGS__) < (int)sizeof(want_)); \
	prints(want_, __VA_ARGS__); \
} while (0)

static void numbers_are_as_printf_writes_them(void **state)
{
	(void)state;
	AS_PRINTF("%d %i %u %x %X", -5, INT32_MIN, UINT32_MAX, 0xbeefu, 0xbeefu);
	AS_PRINTF("%ld %lu %lx", INT64_MIN, UINT64_MAX, 0x123456789abcdeful);
	AS_PRINTF("%lld %llu", (long long)INT64_MAX, (unsigned long long)UINT64_MAX);
	AS_PRINTF("%zd %zu %zx %jd %ju", (ssize_t)-1, SIZE_MAX, (size_t)255, INTMAX_MIN, UINTMAX_MAX);
	AS_PRINTF("[%5d][%-5d][%05d][%+d][% d][%#x][%-+6d]", 42, 42, 42, 42, 42, 42u, 42);
	AS_PRINTF("[%*d][%*d][%.4d][%8.4d][%.*d][%.*d][%.0d]", 6, 7, -6, 7, 7, 7, 3, 7, -3, 7, 0);
	AS_PRINTF("%f %e %g %.2f %8.3f %-8.1f| %+.1f %.0f %.9g %#.3g", 1.5, 1.5, 1e20, 2.345, 3.14159, 2.5, 2.0, 0.5,
		  1.0 / 3, 1.0);
	AS_PRINTF("%f|%.100f|%g|%f", 1e308, 1e-300, -1.0 / 3, -0.0);
	AS_PRINTF("%d%s%d%s%u", 1, "a", 2, "b", 3u);
}

#define HUNDRED "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
#define LONG HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED \
	HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

/* Longer than what is gathered before it goes out: 1024 bytes, at which the borders are. */
static void long_texts_are_printed_whole(void **state)
{
	char text[3000], want[3100];

	(void)state;
	for (size_t size = 1020; size < 1030; size++) {
		memset(text, 'x', size);
		text[size] = '\0';
		snprintf(want, sizeof(want), "<%s>", text);
		prints(want, "<%s>", text);
		prints(text, "%s", text);
	}
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	snprintf(want, sizeof(want), "%s!", text);
	prints(want, "%s%c", text, '!');
	snprintf(want, sizeof(want), "%s" LONG "%s", "a", "z");
	prints(want, "%s" LONG "%s", "a", "z");
	snprintf(want, sizeof(want), "%2500s", "z");
	prints(want, "%2500s", "z");
}

/* Messages of processes that share a terminal do not get into each other: a socket of packets tells calls apart. */
static void a_message_is_one_call(void **state)
{
	char got[64];
	int ends[2];
	FILE *out;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	out = fdopen(ends[1], "w");
	assert_non_null(out);
	setbuf(out, NULL);
	gus_text_print(out, "gusprof: %s of %d: %5.1f%%\n", "a b", 7, 1.5);
	assert_int_equal(recv(ends[0], got, sizeof(got), MSG_DONTWAIT), 26);
	assert_memory_equal(got, "gusprof: a b of 7:   1.5%\n", 26);
	fclose(out);
	close(ends[0]);
}

/* A failure is the stream's. */
static void failures_stay_with_the_stream(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (!full)
		skip();
	setbuf(full, NULL);
	gus_text_print(full, "%s", "text");
	assert_true(ferror(full));
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_end_where_text_h_says),
		cmocka_unit_test(what_is_not_utf8_is_a_mark_for_each_byte),
		cmocka_unit_test(characters_end_with_the_text),
		cmocka_unit_test(controls_are_no_part_of_texts),
		cmocka_unit_test(only_arguments_are_made_harmless),
		cmocka_unit_test(widths_are_those_of_what_is_printed),
		cmocka_unit_test(slices_are_not_read_beyond),
		cmocka_unit_test(numbers_are_as_printf_writes_them),
		cmocka_unit_test(long_texts_are_printed_whole),
		cmocka_unit_test(a_message_is_one_call),
		cmocka_unit_test(failures_stay_with_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
