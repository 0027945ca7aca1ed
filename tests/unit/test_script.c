/* SPDX-License-Identifier: MIT */
/* cli/script without a recording: which fields are asked for, and how lines are put together; and what is said of a
 * name that is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/common/absent.h"
#include "cli/script/fields.h"
#include "cli/common/lines.h"

#define PLACE (GUS_FIELD_IP | GUS_FIELD_SYM | GUS_FIELD_DSO)

static void fields_are_a_list_or_changes(void **state)
{
	static const struct { const char *text; unsigned fields; } cases[] = {
		{ "comm", GUS_FIELD_COMM }, { "tid", GUS_FIELD_TID }, { "pid", GUS_FIELD_PID },
		{ "cpu", GUS_FIELD_CPU }, { "time", GUS_FIELD_TIME }, { "period", GUS_FIELD_PERIOD },
		{ "event", GUS_FIELD_EVENT }, { "srcline", GUS_FIELD_SRCLINE }, { "brstack", GUS_FIELD_BRSTACK },
		{ "brstacksym", GUS_FIELD_BRSTACKSYM }, { "brstackoff", GUS_FIELD_BRSTACKOFF },
		{ "misc", GUS_FIELD_MISC }, { "addr", GUS_FIELD_ADDR }, { "data_src", GUS_FIELD_DATA_SRC },
		{ "weight", GUS_FIELD_WEIGHT }, { "ins_lat", GUS_FIELD_INS_LAT },
		{ "retire_lat", GUS_FIELD_RETIRE_LAT }, { "issue_lat", GUS_FIELD_ISSUE_LAT },
		{ "translation_lat", GUS_FIELD_TRANSLATION_LAT }, { "psv", GUS_FIELD_PSV },
		{ "transaction", GUS_FIELD_TRANSACTION },
		{ "cgroup", GUS_FIELD_CGROUP }, { "iregs", GUS_FIELD_IREGS }, { "uregs", GUS_FIELD_UREGS },
		{ "raw", GUS_FIELD_RAW }, { "phys_addr", GUS_FIELD_PHYS_ADDR },
		{ "data_page_size", GUS_FIELD_DATA_PAGE }, { "code_page_size", GUS_FIELD_CODE_PAGE },
		{ "symoff", GUS_FIELD_SYM | GUS_FIELD_SYMOFF },
		{ "ip,sym,dso", PLACE },
		{ "ip,sym,dso,", PLACE },
		{ "ip,ip", GUS_FIELD_IP },
		{ "+srcline", GUS_FIELDS_DEFAULT | GUS_FIELD_SRCLINE },
		{ "-cpu", GUS_FIELDS_DEFAULT & ~(unsigned)GUS_FIELD_CPU },
		{ "+srcline,-cpu,-tid",
		  (GUS_FIELDS_DEFAULT | GUS_FIELD_SRCLINE) & ~(unsigned)(GUS_FIELD_CPU | GUS_FIELD_TID) },
		{ "-srcline", GUS_FIELDS_DEFAULT }, /* what is not there can be taken away */
		{ "-sym", GUS_FIELDS_DEFAULT & ~(unsigned)(GUS_FIELD_SYM | GUS_FIELD_SYMOFF) },
		{ "-symoff", GUS_FIELDS_DEFAULT & ~(unsigned)GUS_FIELD_SYMOFF },
		{ "-symoff,+symoff", GUS_FIELDS_DEFAULT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		unsigned fields = 12345;

		if (gus_fields_parse(cases[i].text, &fields, &err) != 0)
			fail_msg("'%s': %s", cases[i].text, err.text);
		if (fields != cases[i].fields)
			fail_msg("'%s' is %#x, not %#x", cases[i].text, fields, cases[i].fields);
	}
}

static void what_is_no_field_is_said(void **state)
{
	static const struct { const char *text, *why; } cases[] = {
		{ "", "leaves no field" },
		{ "-comm,-tid,-cpu,-time,-period,-event,-ip,-sym,-dso", "leaves no field" },
		{ "smy", "did you mean 'sym'?" },
		{ "comm,frobnicate", "knows no field 'frobnicate'; --help names all" },
		{ ",ip", "no field ''" },
		{ "trace", "-F trace: raw has the bytes of a tracepoint" },
		{ "bpf-output", "-F bpf-output: raw has the bytes" },
		{ "ip,brcntr", "-F brcntr: 'gusprof dump' shows the counts beside branches" },
		{ "insn", "-F insn: gusprof records no such thing" },
		{ "dsoff", "-F dsoff: gusprof records no such thing" },
		{ "hw:ip", "without a type before them, not 'hw:ip'" },
		{ "ip,+sym", "and not both: '+sym'" },
		{ "+sym,ip", "and not both: 'ip'" },
		{ "+sym,", NULL },
		{ "+", "no field ''" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		unsigned fields;
		int rc = gus_fields_parse(cases[i].text, &fields, &err);

		assert_int_equal(rc, cases[i].why ? -1 : 0);
		if (!cases[i].why)
			continue;
		assert_int_equal(err.code, GUS_E_USAGE);
		if (!strstr(err.text, cases[i].why))
			fail_msg("'%s': '%s' does not say '%s'", cases[i].text, err.text, cases[i].why);
	}
}

static void a_field_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(gus_fields_name(GUS_FIELD_COMM), "comm");
	assert_string_equal(gus_fields_name(GUS_FIELD_DATA_PAGE), "data_page_size");
	assert_string_equal(gus_fields_name(GUS_FIELD_CODE_PAGE), "code_page_size");
}

static void holds(struct gus_lines *l, const char *expected)
{
	gus_lines_bytes(l, "", 1);
	assert_string_equal(l->v, expected);
	l->n = 0;
}

static void lines_are_put_together(void **state)
{
	struct gus_lines l = { 0 };

	(void)state;
	gus_lines_word(&l, "a ");
	gus_lines_bytes(&l, "bcd", 2);
	holds(&l, "a bc");
	gus_lines_number(&l, 0, 0, ' ');
	gus_lines_number(&l, UINT64_MAX, 0, ' ');
	holds(&l, "018446744073709551615");
	gus_lines_number(&l, 42, 3, '0');
	gus_lines_number(&l, 42, 2, '0');
	gus_lines_number(&l, 42, 1, '0');
	gus_lines_number(&l, 42, 4, ' ');
	holds(&l, "0424242  42");
	gus_lines_hex(&l, 0xfedcba9876543210, 0);
	gus_lines_hex(&l, 0xa0, 3);
	gus_lines_hex(&l, 0, 2);
	holds(&l, "fedcba9876543210 a0 0");
	gus_lines_padded(&l, 7, 3);
	gus_lines_padded(&l, 7, -3);
	gus_lines_padded(&l, 1234, 3);
	gus_lines_padded(&l, 1234, -3);
	gus_lines_padded(&l, 123, 3);
	gus_lines_padded(&l, 123, -3);
	gus_lines_padded(&l, 0, 0);
	holds(&l, "  77  123412341231230");
	gus_lines_text(&l, "comm", 6);
	gus_lines_text(&l, "comm", 4);
	gus_lines_text(&l, "comm", 3);
	gus_lines_text(&l, "a\n\033[1mb", 0); /* what others wrote begins no line and sets no colour */
	holds(&l, "  commcommcomma ?[1mb");
	gus_vec_free(&l);
}

static void a_flush_empties_them(void **state)
{
	int before = dup(1), file = memfd_create("stdout", 0);
	struct gus_lines l = { 0 };
	char text[64];
	ssize_t n;

	(void)state;
	assert_true(before >= 0 && file >= 0);
	fflush(stdout);
	dup2(file, 1);
	gus_lines_flush(&l);
	gus_lines_bytes(&l, "one\n", 4);
	gus_lines_flush(&l);
	gus_lines_bytes(&l, "t\0o\n", 4);
	gus_lines_flush(&l);
	gus_lines_flush(&l);
	fflush(stdout);
	dup2(before, 1);
	close(before);
	n = pread(file, text, sizeof(text), 0);
	close(file);
	assert_int_equal(n, 8);
	assert_memory_equal(text, "one\nt\0o\n", 8);
	gus_vec_free(&l);
}

static void is_absent(const char *asked, size_t n, size_t room, const char *expected)
{
	static const char *const there[] = { "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta",
					     "iota", "kappa" };
	char out[128];

	memset(out, 'x', sizeof(out));
	gus_absent_format(asked, there, n, out, room);
	assert_string_equal(out, expected);
	assert_int_equal(out[room], 'x');
}

static void of_an_absent_name_it_is_said_what_is_there(void **state)
{
	(void)state;
	is_absent("nosuch", 0, 100, "");
	is_absent("nosuch", 1, 100, "; there are: alpha");
	is_absent("nosuch", 2, 100, "; there are: alpha, beta");
	is_absent("gamam", 3, 100, "; the nearest: gamma");
	is_absent("kapa", 10, 100, "; the nearest: kappa"); /* also behind those that are listed */
	is_absent("nosuch", 8, 100, "; there are: alpha, beta, gamma, delta, epsilon, zeta, eta, theta");
	is_absent("nosuch", 9, 100, "; there are: alpha, beta, gamma, delta, epsilon, zeta, eta, theta and 1 more");
	is_absent("nosuch", 10, 100, "; there are: alpha, beta, gamma, delta, epsilon, zeta, eta, theta and 2 more");
	is_absent("nosuch", 10, 20, "; there are: alpha,"); /* cut, and no further */
	is_absent("nosuch", 10, 73, "; there are: alpha, beta, gamma, delta, epsilon, zeta, eta, theta and 2 ");
	is_absent("nosuch", 10, 1, "");
}

static void keep(enum gus_level level, const char *text, void *context)
{
	assert_int_equal(level, GUS_WARN);
	snprintf(context, 128, "%s", text);
}

static void and_warned(void **state)
{
	static const char *const there[] = { "one", "two" };
	char text[128] = "";
	const struct gus_log log = { GUS_WARN, keep, text };

	(void)state;
	gus_absent_tell(&log, "in a module called", "frobnicate", there, 2);
	assert_string_equal(text, "no sample is in a module called 'frobnicate'; there are: one, two");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_a_list_or_changes),
		cmocka_unit_test(what_is_no_field_is_said),
		cmocka_unit_test(a_field_has_its_name),
		cmocka_unit_test(lines_are_put_together),
		cmocka_unit_test(a_flush_empties_them),
		cmocka_unit_test(of_an_absent_name_it_is_said_what_is_there),
		cmocka_unit_test(and_warned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
