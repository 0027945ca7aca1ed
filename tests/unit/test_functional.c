/* SPDX-License-Identifier: MIT */
/* Other caches: a loop over 64 KiB, line by line, on a machine with 32 KiB of L1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "made_program.h"
#include "model/analysis/functional.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

/* mov rax, [rsi]; mov rbx, [rsi+64]; mov rcx, [rsi+128]; mov rdx, [rsi+192]; add rsi, 256; and rsi, 0xffff */
static const char code[] = "\x48\x8b\x06\x48\x8b\x5e\x40\x48\x8b\x8e\x80\x00\x00\x00\x48\x8b\x96\xc0\x00\x00\x00"
	"\x48\x81\xc6\x00\x01\x00\x00\x48\x81\xe6\xff\xff\x00\x00";

/* Of the known knobs only a larger L1 holds all of it: then loads take the 2 cycles of their two ports, where L2 takes
 * longer. What is hit is L2, but for the first time round; and all addresses are followed. */
static void test_larger_l1(void **state)
{
	struct gus_error err = { 0 };
	struct gus_uarch *u = made_table("skylake");
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_functional knobs[GUS_FUNCTIONAL_KNOBS];
	struct gus_cache_config caches;
	struct gus_core_config config;
	uint64_t answers[GUS_HITS], unknown;
	struct gus_program *p;

	(void)state;
	gus_core_config_of(&config, u);
	gus_cache_config_of(&caches, u);
	caches.l1d_next_line = caches.l1d_strides = caches.l2_next_line = 0;
	p = made_program(u, code, sizeof(code) - 1);
	assert_int_equal(gus_functional_run(p, &config, &caches, &o, knobs, answers, &unknown, &err), 0);
	assert_string_equal(knobs[0].name, "L1 twice as large");
	assert_true(knobs[0].speedup > 0.5);
	assert_true(knobs[0].cycles < 2.1);
	assert_true(knobs[1].speedup < 0.05);
	assert_int_equal(unknown, 0);
	assert_true(answers[GUS_HIT_L2] > 99 * answers[GUS_HIT_MEMORY]);
	/* four where rsi pointed at first */
	assert_true(answers[GUS_HIT_MEMORY] >= 1024 && answers[GUS_HIT_MEMORY] <= 1028);
	assert_true(answers[GUS_HIT_L1] == 0);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* A configuration that makes no caches is refused. */
static void test_refused(void **state)
{
	struct gus_fresh_caches f;
	struct gus_error err = { 0 };
	struct gus_cache_config caches = { .line_size = 48 };

	(void)state;
	assert_int_equal(gus_fresh_caches_open(&f, &caches, NULL, &err), -1);
	assert_non_null(strstr(err.text, "48"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_larger_l1), cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
