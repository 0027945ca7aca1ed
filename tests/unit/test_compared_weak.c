/* SPDX-License-Identifier: MIT */
/* attribution/compared/weak: what the model is known to be weak in, by region. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/compared/weak.h"
#include "made_figure.h"
#include "made_joined.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

/* Of each region, and of both: unknown instructions, cycles of lines that were touched for the first time, accesses
 * that go far, and branches that go wrong. Where the other end was not followed nothing is told of it. */
static void weaknesses_are_told_by_region(void **state)
{
	struct joined *s = *state;
	struct gus_traced_memory memories[] = {
		{ .accesses = 100, .hits = { [GUS_HIT_L1] = 70, [GUS_HIT_L3] = 20, [GUS_HIT_MEMORY] = 10 } },
		{ .accesses = 100, .hits = { [GUS_HIT_L1] = 90, [GUS_HIT_L2] = 5, [GUS_HIT_L3] = 5 } },
		{ .accesses = 300, .hits = { [GUS_HIT_L1] = 285, [GUS_HIT_MEMORY] = 15 } } };
	const struct gus_compared_weak want[] = { { 0, 0.2, 35. / 200, 1 }, { 1, 0.5, 0.05, 7 }, { 0, 0, 0, 0 },
		{ 1000. / 5000, 0.25, 50. / 500, 1000 * 13. / 5000 } };
	struct gus_compared_weak *weak;

	s->p->ops[s->p->insns[1].op].flags |= GUS_OP_UNKNOWN;
	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = 1, .executed = 300, .insns_n = 1, .insn = 1,
		.lengths = made_lengths[1] });
	gus_vec_push(&s->t.blocks, s->t.blocks.v[2]);
	s->t.warmed = 2000;
	s->t.other_cycles = 3000;
	s->t.regions.v[1].other_cycles = 2000; /* which end is the larger one does not matter */
	for (size_t i = 0; i < COUNT(memories); i++)
		gus_vec_push(&s->t.memories, memories[i]);
	s->t.blocks.v[0].memories_n = 2;
	s->t.blocks.v[0].mispredicted = 6;
	s->t.blocks.v[1].executed = 400;
	s->t.blocks.v[1].memory = 2;
	s->t.blocks.v[1].memories_n = 1;
	s->t.blocks.v[1].mispredicted = 7;
	weak = gus_compared_weak_find(&s->t);
	for (size_t i = 0; i < COUNT(want); i++) {
		near(weak[i].unknown, want[i].unknown, 1e-9);
		near(weak[i].first, want[i].first, 1e-9);
		near(weak[i].beyond, want[i].beyond, 1e-9);
		near(weak[i].mispredicted, want[i].mispredicted, 1e-9);
	}
	free(weak);
	s->t.regions.v[0].other_cycles = 0;
	s->t.regions.v[1].other_cycles = 1; /* of 1000 */
	s->t.regions.v[1].instructions = s->t.blocks.v[1].executed = 1;
	s->t.blocks.n = 2;
	s->t.memories.v[2] = (struct gus_traced_memory){ .accesses = 1, .hits = { [GUS_HIT_L3] = 1 } };
	weak = gus_compared_weak_find(&s->t);
	near(weak[0].first, 0, 0);
	near(weak[1].first, 0.999, 1e-9);
	near(weak[1].unknown, 1, 0); /* of one instruction, and one access */
	near(weak[1].beyond, 1, 0);
	free(weak);
	gus_vec_free(&s->t.memories);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(weaknesses_are_told_by_region, made_joined, made_joined_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
