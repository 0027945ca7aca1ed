/* SPDX-License-Identifier: MIT */
/* base/suggest: which mistakes are understood, how many of them, and that nothing is guessed beyond that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/suggest.h"

static const char *const verbs[] = { "record", "report", "annotate", "dump", NULL, "stat", "start", "model" };
#define VERBS (sizeof(verbs) / sizeof(*verbs))

static void each_kind_of_mistake(void **state)
{
	static const struct { const char *typed, *meant; } cases[] = {
		{ "reprot", "report" },   /* two in each other's place, which is one mistake */
		{ "eport", "report" },    /* one too few, first ... */
		{ "repor", "report" },    /* ... and last */
		{ "reportt", "report" },  /* one too many */
		{ "rexort", "report" },   /* another one */
		{ "REPORT", "report" },   /* case */
		{ "recrod", "record" },
		{ "anotate", "annotate" },
		{ "annnottate", "annotate" },
		{ "modle", "model" },
		{ "dmup", "dump" },
		{ "erpot", "report" },    /* the first two, and one too few: all that five letters may have */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *said = gus_suggest(cases[i].typed, verbs, VERBS);

		assert_non_null(said);
		assert_string_equal(said, cases[i].meant);
	}
}

/* One in each three letters, of which there is one more from 1, 4, 7 letters on. */
static void only_so_many_mistakes(void **state)
{
	static const char *const one[] = { "abcdefghi" };

	(void)state;
	assert_string_equal(gus_suggest("abcdefxyz", one, 1), "abcdefghi");
	assert_null(gus_suggest("abcdewxyz", one, 1));
	assert_null(gus_suggest("abcdef", one, 1)); /* three of six letters */
	assert_null(gus_suggest("frobnicate", verbs, VERBS));
	assert_null(gus_suggest("", verbs, VERBS));
	assert_null(gus_suggest("x", (const char *const[]){ "y" }, 1)); /* nothing of it is left */
	assert_null(gus_suggest("top", verbs, VERBS));
	assert_null(gus_suggest("re", (const char *const[]){ "record" }, 1)); /* its beginning, and too little of it */
}

static void ties_go_to_the_first(void **state)
{
	(void)state;
	assert_string_equal(gus_suggest("strat", (const char *const[]){ "start", "stat" }, 2), "start");
	assert_string_equal(gus_suggest("strat", (const char *const[]){ "stat", "start" }, 2), "stat");
	assert_string_equal(gus_suggest("recort", verbs, VERBS), "record"); /* one mistake to both of them */
}

/* Rows of the table are used again: what stood in them must not show. */
static void long_words(void **state)
{
	char word[66], other[66];
	const char *list[] = { other };

	(void)state;
	memset(word, 'a', 64);
	word[64] = '\0';
	memcpy(other, word, sizeof(word));
	other[0] = 'b';
	assert_ptr_equal(gus_suggest(word, list, 1), other);
	word[64] = 'a';
	word[65] = '\0';
	assert_null(gus_suggest(word, list, 1)); /* too long to be one of ours */
}

static void words_of_a_choice(void **state)
{
	char out[16];

	(void)state;
	gus_suggest_among("functoin", "function module line", out, sizeof(out));
	assert_string_equal(out, "function");
	gus_suggest_among("lien", " function  module line ", out, sizeof(out));
	assert_string_equal(out, "line");
	gus_suggest_among("zebra", "function module line", out, sizeof(out));
	assert_string_equal(out, "");
	gus_suggest_among("x", "", out, sizeof(out));
	assert_string_equal(out, "");
}

static void a_line(void **state)
{
	char out[64];

	(void)state;
	gus_suggest_format("report", out, sizeof(out));
	assert_string_equal(out, "; did you mean 'report'?");
	gus_suggest_format(NULL, out, sizeof(out));
	assert_string_equal(out, "");
	gus_suggest_format("", out, sizeof(out));
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_mistake),
		cmocka_unit_test(only_so_many_mistakes),
		cmocka_unit_test(ties_go_to_the_first),
		cmocka_unit_test(long_words),
		cmocka_unit_test(words_of_a_choice),
		cmocka_unit_test(a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
