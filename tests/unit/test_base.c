/* SPDX-License-Identifier: MIT */
/* base/: the cursor over foreign bytes, errors, numbering of keys, interned strings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/index.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/piece.h"

static void cursor_reads_little_endian(void **state)
{
	static const uint8_t bytes[] = { 1, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 8, 7, 6, 5, 4, 3, 2, 1 };
	struct gus_cursor c = gus_cursor(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(gus_cursor_u8(&c), 1);
	assert_int_equal(gus_cursor_u16(&c), 0x1234);
	assert_int_equal(gus_cursor_u32(&c), 0x12345678);
	assert_true(gus_cursor_u64(&c) == 0x0102030405060708);
	assert_false(c.bad);
	assert_int_equal(gus_cursor_left(&c), 0);
}

/* A number has to be less than its bound, and a count no more than there is room for. */
static void cursor_reads_what_is_bound(void **state)
{
	const uint8_t bytes[] = { 5, 3, 3, 5, 3, 3, 9, 9, 9 };
	struct gus_cursor c = gus_cursor(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(gus_cursor_below(&c, 6), 5);
	assert_int_equal(gus_cursor_count(&c, 2), 3);
	assert_int_equal(gus_cursor_count(&c, 2), 3);
	assert_false(c.bad);
	assert_int_equal(gus_cursor_below(&c, 5), 0);
	assert_true(c.bad);
	c = gus_cursor(bytes + 5, 4);
	assert_int_equal(gus_cursor_count(&c, 1), 3);
	c = gus_cursor(bytes + 4, 5);
	assert_int_equal(gus_cursor_count(&c, 2), 0);
	assert_true(c.bad);
}

static void cursor_fails_once_and_for_all(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3 };
	struct gus_cursor c = gus_cursor(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(gus_cursor_u32(&c), 0);
	assert_true(c.bad);
	assert_int_equal(gus_cursor_u8(&c), 0); /* there is a byte, but the cursor is dead */
	assert_null(gus_cursor_take(&c, 0));
}

static void varints(void **state)
{
	static const struct { uint8_t bytes[11]; size_t size; uint64_t value; bool bad; } cases[] = {
		{ { 0 }, 1, 0, false },
		{ { 0x7f }, 1, 127, false },
		{ { 0x80, 1 }, 2, 128, false },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 }, 10, UINT64_MAX, false },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 }, 10, 0, true },  /* 65 bits */
		{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 }, 11, 0, true },
		{ { 0x80 }, 1, 0, true },                                                   /* cut */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_cursor c = gus_cursor(cases[i].bytes, cases[i].size);

		assert_true(gus_cursor_varint(&c) == cases[i].value);
		assert_int_equal(c.bad, cases[i].bad);
	}
}

static void zigzag_is_its_own_inverse(void **state)
{
	static const int64_t values[] = { 0, -1, 1, INT64_MIN, INT64_MAX, 4711 };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		assert_true(gus_unzigzag(gus_zigzag(values[i])) == values[i]);
	assert_int_equal(gus_zigzag(-1), 1); /* small numbers of either sign stay small */
}

static void first_error_stays(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_fail_errno(&err, ENOSPC, "cannot write %s", "x"), -1);
	gus_fail(&err, GUS_E_USAGE, "later");
	assert_int_equal(err.code, GUS_E_FULL);
	assert_string_equal(err.text, "cannot write x: No space left on device");
	assert_int_equal(gus_fail(NULL, GUS_E_USAGE, "nobody listens"), -1);
}

/* Names from files and of other people's processes, in what is told of them. */
static void what_fails_in_passing_is_no_answer(void **state)
{
	static const struct { int sys; bool passing; } cases[] = {
		{ EAGAIN, true }, { EINTR, true }, { EIO, true }, { EMFILE, true }, { ENFILE, true },
		{ ENOBUFS, true }, { ENOMEM, true },
		{ ENOENT, false }, { EACCES, false }, { ENOSPC, false }, { ENOTDIR, false }, { ELOOP, false },
	};
	struct gus_error none = { 0 }, foreign = { GUS_E_CORRUPT, .sys = EIO };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };

		gus_fail_errno(&err, cases[i].sys, "x");
		assert_int_equal(gus_error_is_transient(&err), cases[i].passing);
	}
	assert_false(gus_error_is_transient(&none));
	assert_false(gus_error_is_transient(&foreign));
}

/* What a program says and ends with that cannot get memory, by this function. */
static int end_without_memory(void (*ask)(void), char *said, size_t room)
{
	int fds[2], status = -1;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		ask();
		_exit(0);
	}
	close(fds[1]);
	for (size_t at = 0; (n = read(fds[0], said + at, room - 1 - at)) > 0; said[at] = '\0')
		at += (size_t)n;
	close(fds[0]);
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ask_far_too_much(void)
{
	gus_alloc((size_t)-1 / 4);
}

static void ask_for_too_many(void)
{
	gus_resize(NULL, (size_t)-1 / 2, 3);
}

static void ask_otherwise(void)
{
	gus_alloc_failed(4711);
}

static void want_of_memory_is_one_line_and_125(void **state)
{
	static const struct { void (*ask)(void); const char *bytes; } cases[] = {
		{ ask_far_too_much, "4611686018427387903" }, { ask_for_too_many, "18446744073709551615" },
		{ ask_otherwise, "4711" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char said[2000] = "";
		char *want = gus_format("gusprof: out of memory: cannot get %s bytes\n", cases[i].bytes);

		/* A sanitizer ends the program first, by itself. */
		if (end_without_memory(cases[i].ask, said, sizeof(said)) == 125 || !strstr(said, "Sanitizer"))
			assert_string_equal(said, want);
		free(want);
	}
}

static void keep(enum gus_level level, const char *text, void *context)
{
	(void)level;
	snprintf(context, 64, "%s", text);
}

static void errors_and_logs_have_no_control_characters(void **state)
{
	struct gus_error err = { 0 };
	char said[64] = "";
	const struct gus_log log = { GUS_NOTE, keep, said };

	(void)state;
	gus_fail(&err, GUS_E_USAGE, "a machine '%s'", "\x1b[2J");
	assert_string_equal(err.text, "a machine '?[2J'");
	err = (struct gus_error){ 0 };
	gus_fail_errno(&err, ENOENT, "%s", "\xc2\x9b" "2J");
	assert_string_equal(err.text, "?2J: No such file or directory");
	gus_log(&log, GUS_NOTE, "process (%s)", "\x1b[2J");
	assert_string_equal(said, "process (?[2J)");
}

static void keys_are_numbered_in_order_of_sight(void **state)
{
	struct gus_index ix;
	bool is_new;

	(void)state;
	gus_index_init(&ix, sizeof(uint64_t));
	for (uint64_t key = 0; key < 10000; key++)
		assert_int_equal(gus_index_add(&ix, &(uint64_t){ key * key }, &is_new), key);
	for (uint64_t key = 0; key < 10000; key++)
		assert_int_equal(gus_index_find(&ix, &(uint64_t){ key * key }), key);
	gus_index_add(&ix, &(uint64_t){ 4 }, &is_new);
	assert_false(is_new);
	assert_int_equal(gus_index_find(&ix, &(uint64_t){ 3 }), GUS_INDEX_NONE);
	gus_index_free(&ix);
}

static void same_text_is_same_number(void **state)
{
	struct gus_strings s;
	const char *first;
	char name[32];

	(void)state;
	gus_strings_init(&s);
	assert_int_equal(gus_strings_add(&s, ""), 0);
	first = gus_strings_get(&s, gus_strings_add(&s, "first"));
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		gus_strings_add(&s, name);
	}
	assert_int_equal(gus_strings_add_n(&s, "name 17 and more", 7), gus_strings_add(&s, "name 17"));
	assert_int_equal(gus_strings_find(&s, "name 17"), gus_strings_add(&s, "name 17"));
	assert_int_equal(gus_strings_find(&s, "name 5000"), GUS_INDEX_NONE);
	assert_int_equal(gus_strings_add(&s, "name 5000"), 5002); /* which had not been added by that */
	assert_ptr_equal(first, gus_strings_get(&s, gus_strings_add(&s, "first"))); /* never moves */
	gus_strings_free(&s);
}

static void cut_is(struct gus_piece *rest, char mark, const char *first, const char *behind)
{
	struct gus_piece got = gus_piece_cut(rest, mark);

	assert_true(gus_piece_is(got, first));
	assert_true(gus_piece_is(*rest, behind));
}

/* A mark is taken and in neither part, at the ends too; without one all is taken. */
static void spans_are_cut_at_marks(void **state)
{
	struct gus_piece s = { "ab,c,,d tail", 7 };

	(void)state;
	cut_is(&s, ',', "ab", "c,,d");
	cut_is(&s, ',', "c", ",d");
	cut_is(&s, ',', "", "d");
	cut_is(&s, ',', "d", "");
	cut_is(&s, ',', "", "");
	s = (struct gus_piece){ "ab,", 3 };
	cut_is(&s, ',', "ab", "");
}

static void spans_are_whole_words(void **state)
{
	const struct gus_piece s = { "word up", 4 }, none = { NULL, 0 }, empty = { "x", 0 };

	(void)state;
	assert_true(gus_piece_is(s, "word"));
	assert_false(gus_piece_is(s, "wor") || gus_piece_is(s, "words") || gus_piece_is(s, "ward"));
	assert_true(gus_piece_is(empty, ""));
	assert_false(gus_piece_is(none, ""));
}

static void a_budget_follows_from_size_up_to_its_cap(void **state)
{
	static const struct gus_limit limit = { 100, 3, 1000 };

	(void)state;
	assert_int_equal(gus_budget_of(limit, 0).left, 100);
	assert_int_equal(gus_budget_of(limit, 299).left, 997);
	assert_int_equal(gus_budget_of(limit, 300).left, 1000);
	assert_int_equal(gus_budget_of(limit, 301).left, 1000);
	assert_int_equal(gus_budget_of(limit, UINT64_MAX).left, 1000);
	assert_int_equal(gus_budget_of(limit, UINT64_MAX / 3).left, 1000);
}

static void a_budget_is_spent_to_the_last_unit(void **state)
{
	struct gus_budget b = { .left = 10 };

	(void)state;
	assert_true(gus_budget_charge(&b, 7));
	assert_true(gus_budget_charge(&b, 3));
	assert_true(gus_budget_charge(&b, 0));
	assert_false(b.cut);
	assert_false(gus_budget_charge(&b, 1));
	assert_true(b.cut);
	b = (struct gus_budget){ .left = 10 };
	assert_false(gus_budget_charge(&b, 11)); /* nothing is taken by halves */
	assert_true(gus_budget_charge(&b, 10));
	assert_true(b.cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cursor_reads_little_endian),
		cmocka_unit_test(cursor_reads_what_is_bound),
		cmocka_unit_test(cursor_fails_once_and_for_all),
		cmocka_unit_test(varints),
		cmocka_unit_test(zigzag_is_its_own_inverse),
		cmocka_unit_test(first_error_stays),
		cmocka_unit_test(what_fails_in_passing_is_no_answer),
		cmocka_unit_test(want_of_memory_is_one_line_and_125),
		cmocka_unit_test(errors_and_logs_have_no_control_characters),
		cmocka_unit_test(keys_are_numbered_in_order_of_sight),
		cmocka_unit_test(same_text_is_same_number),
		cmocka_unit_test(spans_are_cut_at_marks),
		cmocka_unit_test(spans_are_whole_words),
		cmocka_unit_test(a_budget_follows_from_size_up_to_its_cap),
		cmocka_unit_test(a_budget_is_spent_to_the_last_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
