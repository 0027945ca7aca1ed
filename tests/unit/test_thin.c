/* SPDX-License-Identifier: MIT */
/* Which snapshots are kept (collector/snapshot/thin.h): each is its thread's letter, and in capitals if it is kept. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/snapshot/thin.h"

enum { MOST = 32 };

static void each_thread_keeps_some(void **state)
{
	static const char *const cases[] = {
		"", "A", "aA", "AaA", "aAaA",
		"abAB", "AbaBA", "abABabAB",    /* in turns: of both */
		"aAaAaAB",
		"aBcDeF", "AbCdE",              /* one of each: each second thread */
		"aAbBcCdD",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = strlen(cases[i]), left = 0, told;
		char got[MOST] = "";
		uint32_t tids[MOST];
		bool kept[MOST];

		for (size_t k = 0; k < n; k++)
			tids[k] = (uint32_t)tolower(cases[i][k]);
		told = gus_thin(tids, n, kept);
		for (size_t k = 0; k < n; k++) {
			got[k] = (char)(kept[k] ? toupper((int)tids[k]) : (int)tids[k]);
			left += kept[k];
		}
		assert_string_equal(got, cases[i]);
		assert_int_equal(told, left);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_keeps_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
