/* SPDX-License-Identifier: MIT */
/* What the predictor takes for taken branches, alone and in both engines. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/code/prediction.h"
#include "model/core/core.h"
#include "model/machine/options.h"
#include "model/stream/stream.h"
#include "model/tables/uarch.h"
#include "tests/unit/made_program.h"

#define CALL "\xe8\0\0\0\0"
#define RET "\xc3"
#define JUMP "\xeb\0"
#define ADD "\x48\x01\xd8"
#define CODE(bytes) bytes, sizeof(bytes) - 1

/* Loops; cycles of the predictor for a turn, where it finds two branches in a cycle, only behind calls and returns two,
 * one, or any number. */
static const struct loop {
	const char *bytes;
	size_t size;
	unsigned two, behind, one, any;
} loops[] = {
	{ CODE(CALL RET), 4, 4, 4, 0 },
	{ CODE(CALL RET CALL RET), 8, 8, 8, 0 },
	{ CODE(CALL JUMP RET JUMP), 4, 4, 6, 0 },
	{ CODE(CALL CALL JUMP JUMP), 5, 5, 6, 0 },
	{ CODE(JUMP JUMP JUMP JUMP), 2, 4, 4, 0 },
	{ CODE(CALL JUMP JUMP JUMP), 3, 4, 5, 0 },
	{ CODE(CALL ADD JUMP ADD), 2, 2, 3, 0 },   /* what is no branch is not foreseen */
	{ CODE(ADD ADD ADD), 0, 0, 0, 0 },
};

/* Of two turns the second, as a cycle may reach across the end of one. */
static unsigned cycles_of(const struct gus_core_config *c, const struct gus_program *p)
{
	unsigned found = 0, cycles = 0;

	for (uint32_t i = 0; i < p->ops_n; i++)
		if ((p->ops[i].flags & GUS_OP_BRANCH) && c->predicted_branches &&
		    gus_prediction_begins(c, p, &p->ops[i], &found))
			cycles += gus_prediction_cycles(c, p, &p->ops[i]);
	return cycles;
}

static void calls_begin_a_cycle_and_take_two(void **state)
{
	struct gus_uarch *u = made_table("znver4");
	struct gus_core_config c;

	(void)state;
	gus_core_config_of(&c, u);
	assert_int_equal(c.predicted_branches, 2);
	assert_int_equal(c.predicted_call, 1);
	assert_int_equal(c.predicted_behind_call, 1);
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		struct gus_program *p = made_program(u, loops[i].bytes, loops[i].size);
		const unsigned expected[] = { loops[i].any, loops[i].one, loops[i].behind, loops[i].two };

		for (unsigned n = 0; n < 4; n++) {
			c.predicted_branches = n < 2 ? n : 2;
			c.predicted_behind_call = n == 2;
			if (cycles_of(&c, p) != expected[n])
				fail_msg("loop %zu, %u a cycle: %u cycles", i, n, cycles_of(&c, p));
			for (uint32_t k = 0; k < p->ops_n; k++)
				if (!n || !(p->ops[k].flags & GUS_OP_BRANCH))
					assert_int_equal(gus_prediction_cycles(&c, p, &p->ops[k]), 0);
		}
		gus_program_free(p);
	}
	gus_uarch_free(u);
}

/* Calls and returns alone: as long as the predictor takes; where it has no limit, a line of uops a cycle. With jumps in
 * between these lines take as long, and the predictor is ahead. */
static void engines_wait_for_it(void **state)
{
	static const struct { const char *bytes; size_t size; double cycles, without; } cases[] = {
		{ CODE(CALL RET CALL RET), 8, 4 }, { CODE(CALL JUMP RET JUMP), 4, 4 },
	};
	struct gus_uarch *u = made_table("znver4");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_program *p = made_program(u, cases[i].bytes, cases[i].size);
		struct gus_core_options core = { .pointers = GUS_CORE_POINTERS_NONE };
		struct gus_stream_options stream = { .iterations = 200, .pointers = GUS_CORE_POINTERS_NONE };
		struct gus_core_config c;
		struct gus_core_result a;
		struct gus_stream_result b;

		gus_core_config_of(&c, u);
		for (unsigned with = 0; with < 2; with++) {
			double expected = with ? cases[i].cycles : cases[i].without;

			c.predicted_branches = with ? 2 : 0;
			assert_int_equal(gus_core_run(p, &c, &core, &a, NULL), 0);
			assert_float_equal((double)a.steady_cycles / (double)a.steady_iterations, expected, 0.001);
			assert_int_equal(gus_stream_run(p, &c, &stream, &b, NULL), 0);
			assert_float_equal(b.per_iteration[0], expected, 0.03 * expected);
		}
		gus_program_free(p);
	}
	gus_uarch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_begin_a_cycle_and_take_two),
		cmocka_unit_test(engines_wait_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
