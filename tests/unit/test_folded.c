/* SPDX-License-Identifier: MIT */
/* cli/report/folded and the lines that it is made of: stacks of a made profile, a line each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/common/lines.h"
#include "cli/report/folded.h"
#include "made_calls.h"
#include "printed.h"

/* Lines. */

/* reads(L, WANT): what was put into l, which is then empty. */
static void reads(struct gus_lines *l, const char *want)
{
	assert_int_equal(l->n, strlen(want));
	assert_memory_equal(l->v, want, l->n);
	l->n = 0;
}

static void texts_are_harmless_and_padded(void **state)
{
	struct gus_lines l = { 0 };

	(void)state;
	gus_lines_text(&l, "abc", 0);
	gus_lines_text(&l, "abc", 3);
	gus_lines_text(&l, "abc", 5);
	reads(&l, "abcabc  abc");
	gus_lines_text(&l, "", 2);
	reads(&l, "  ");
	gus_lines_text(&l, "a\x1b\nb", 0);
	reads(&l, "a? b");
	gus_lines_word(&l, "");
	gus_lines_word(&l, "x");
	gus_lines_bytes(&l, "yzz", 2);
	reads(&l, "xyz");
	gus_vec_free(&l);
}

static void numbers_have_all_digits(void **state)
{
	struct gus_lines l = { 0 };

	(void)state;
	gus_lines_number(&l, 0, 0, ' ');
	gus_lines_number(&l, 9, 1, ' ');
	gus_lines_number(&l, 10, 3, '0');
	reads(&l, "09010");
	gus_lines_number(&l, UINT64_MAX, 0, ' ');
	reads(&l, "18446744073709551615");
	gus_lines_number(&l, UINT64_MAX, 21, ' ');
	reads(&l, " 18446744073709551615");
	gus_lines_hex(&l, UINT64_MAX, 16);
	gus_lines_hex(&l, 0x9ab, 4);
	gus_lines_hex(&l, 0, 0);
	reads(&l, "ffffffffffffffff 9ab0");
	gus_vec_free(&l);
}

static void blanks_are_on_either_side(void **state)
{
	struct gus_lines l = { 0 };

	(void)state;
	gus_lines_padded(&l, 42, 4);
	gus_lines_word(&l, "|");
	gus_lines_padded(&l, 42, -4);
	gus_lines_word(&l, "|");
	gus_lines_padded(&l, 42, 0);
	gus_lines_padded(&l, 7, -1);
	gus_lines_padded(&l, 7, 1);
	gus_lines_padded(&l, 123, 2);
	gus_lines_padded(&l, 123, -2);
	reads(&l, "  42|42  |4277123123");
	gus_vec_free(&l);
}

static void print_lines(const void *context)
{
	struct gus_lines *l = (struct gus_lines *)(uintptr_t)context;

	gus_lines_flush(l);
	gus_lines_flush(l);
	gus_lines_word(l, "b");
	gus_lines_flush(l);
}

static void lines_are_printed_once(void **state)
{
	struct gus_lines l = { 0 };
	char *text;

	(void)state;
	gus_lines_word(&l, "a");
	text = printed(print_lines, &l);
	assert_string_equal(text, "ab");
	assert_int_equal(l.n, 0);
	free(text);
	gus_vec_free(&l);
}

/* Parts of stacks. */

static void nothing_in_a_part_ends_it(void **state)
{
	static const struct gus_module program = { .kind = GUS_MODULE_FILE, .path = "/opt/a;b" };
	static const struct gus_module heap = { .kind = GUS_MODULE_ANON, .path = "[heap]" };
	static const struct gus_module kernel = { .kind = GUS_MODULE_KERNEL, .path = "[kernel]" };
	struct gus_lines l = { 0 };

	(void)state;
	gus_lines_word(&l, "a;");
	gus_folded_comm(&l, "c;o;", 7);
	reads(&l, "a;c:o:");
	gus_folded_comm(&l, "", 123);
	gus_folded_comm(&l, "", 0);
	reads(&l, ":123:0");
	gus_lines_word(&l, ";");
	gus_folded_function(&l, &program, "f;g", false);
	reads(&l, ";f:g");
	gus_folded_function(&l, &program, "f", true);
	reads(&l, "f_[i]");
	gus_folded_function(&l, &program, NULL, false);
	reads(&l, "[a:b]");
	gus_folded_function(&l, &heap, NULL, false);
	reads(&l, "[heap]");
	gus_folded_function(&l, &kernel, "sys", false);
	reads(&l, "sys_[k]");
	gus_folded_function(&l, &kernel, "sys", true);
	reads(&l, "sys_[i]");
	gus_folded_function(&l, &kernel, NULL, false);
	reads(&l, "[kernel]");
	gus_vec_free(&l);
}

/* Stacks. */

static void print_folded(const void *context)
{
	gus_folded_print(context);
}

static void add(struct gus_folded *f, const char *stack, uint64_t weight)
{
	struct gus_lines l = { 0 };

	gus_lines_word(&l, stack);
	gus_folded_add(f, &l, weight);
	gus_vec_free(&l);
}

static void stacks_are_added_up_in_order(void **state)
{
	struct gus_folded f;
	char *text;

	(void)state;
	gus_folded_init(&f);
	text = printed(print_folded, &f);
	assert_string_equal(text, "");
	free(text);
	add(&f, "b", 1);
	add(&f, "a;c", 2);
	add(&f, "a", 3);
	add(&f, "b", 10);
	add(&f, "nothing", 0);
	add(&f, "a;b", UINT64_MAX); /* more than a sum may be */
	add(&f, "a;b", 7);
	text = printed(print_folded, &f);
	assert_string_equal(text, "a 3\na;b 9223372036854775807\na;c 2\nb 11\n");
	free(text);
	gus_folded_free(&f);
}

static void print_calls(const void *context)
{
	gus_folded_calls(context);
}

/* By the thread's name of then, from the outermost function in; cells with the same are one line. */
static void a_profile_is_folded(void **state)
{
	struct made_calls *m = made_calls_new();
	uint32_t in_main = made_path(m, 0, MAIN), in_work = made_path(m, in_main, WORK);
	struct gus_cell *c;
	char *text;

	(void)state;
	made_sample(m, in_work, KERNEL, 1);
	made_sample(m, in_main, WORK, 2);
	made_sample(m, in_main, WORK + 8, 4);
	made_sample(m, 0, NEST, 8);
	made_sample(m, in_main, COMPARE, 16)->end = GUS_CALLERS_STACK;
	c = made_sample(m, in_main, NAMELESS, 32);
	c->thread = c->comm = 1;
	c = made_sample(m, 0, NOWHERE, 64);
	c->thread = c->comm = 1;
	m->profile.comms.v[1] = "";
	made_calls_add_up(m, true);
	text = printed(print_calls, &m->calls);
	assert_string_equal(text, ":11;[unknown] 64\n:11;main;[app] 32\n"
			    "app;[truncated];main;cmp:are 16\n"
			    "app;main;work 6\napp;main;work;do_syscall_64_[k] 1\n"
			    "app;nest;middle_[i];inner_[i] 8\n");
	free(text);
	made_calls_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_harmless_and_padded),
		cmocka_unit_test(numbers_have_all_digits),
		cmocka_unit_test(blanks_are_on_either_side),
		cmocka_unit_test(lines_are_printed_once),
		cmocka_unit_test(nothing_in_a_part_ends_it),
		cmocka_unit_test(stacks_are_added_up_in_order),
		cmocka_unit_test(a_profile_is_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
