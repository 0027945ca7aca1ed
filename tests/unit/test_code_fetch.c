/* SPDX-License-Identifier: MIT */
/* L1 for instructions: which lines the decoders wait for. It has 1 KiB in two ways of lines of 64 bytes, so eight sets,
 * and lines 512 bytes apart are of the same set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/machine/config.h"
#include "model/oracles/code_fetch.h"

static const struct gus_core_config small = { .l1i_size = 1, .l1i_ways = 2, .line_size = 64 };

static void expect(struct gus_code_fetch *f, uint64_t address, uint64_t bytes, unsigned missed, unsigned missed_if_warm)
{
	struct gus_code_fetch_answer a = gus_code_fetch_run(f, address, bytes);

	if (a.missed != missed || a.missed_if_warm != missed_if_warm)
		fail_msg("at %u: %u and %u missed", (unsigned)address, a.missed, a.missed_if_warm);
}

static void lines(void **state)
{
	struct gus_error err = { 0 };
	struct gus_code_fetch f;

	(void)state;
	assert_int_equal(gus_code_fetch_init(&f, &small, &err), 0);
	expect(&f, 0, 64, 1, 0); /* perhaps it was there before the beginning */
	expect(&f, 63, 1, 0, 0);
	expect(&f, 63, 2, 0, 0); /* two lines; the second was asked for ahead */
	expect(&f, 256, 129, 1, 0); /* three, of which the first is a jump's target */
	expect(&f, 0, 448, 0, 0); /* 128 and 192 are behind another, all else is there */
	expect(&f, 512, 1, 1, 0); /* a jump again: the other way of set 0 */
	expect(&f, 0, 1, 0, 0);
	expect(&f, 1024, 1, 1, 1); /* both ways were filled: 512, the older one, goes */
	expect(&f, 0, 1, 0, 0);
	expect(&f, 512, 1, 1, 1);
	expect(&f, 512, 0, 0, 0);
	gus_code_fetch_free(&f);
}

static void sizes(void **state)
{
	struct gus_core_config c = small;
	struct gus_error err = { 0 };
	struct gus_code_fetch f;

	(void)state;
	c.l1i_size = 0; /* no limit */
	assert_int_equal(gus_code_fetch_init(&f, &c, &err), 0);
	expect(&f, 0, 4096, 0, 0);
	gus_code_fetch_free(&f);
	c.l1i_size = 1;
	c.l1i_ways = 3; /* 16 lines in three ways */
	assert_int_equal(gus_code_fetch_init(&f, &c, &err), -1);
	assert_non_null(err.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
