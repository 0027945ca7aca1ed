/* SPDX-License-Identifier: MIT */
#include "made_joined.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "made_program.h"

static const uint8_t code[] = { 0x48, 0x01, 0xd8, 0x48, 0x0f, 0xaf, 0xc3 };
const uint8_t made_lengths[2][1] = { { 3 }, { 4 } };

int made_joined(void **state)
{
	struct joined *s = gus_zalloc(sizeof(*s));

	s->u = made_table("skylake");
	s->p = made_program(s->u, code, sizeof(code));
	s->t = (struct gus_traced){ .program = s->p, .instructions = 7000, .cycles = { 4000, 3600 },
		.knobs = s->knobs, .knobs_n = 1, .ops_run = 1, .ops_timed = 1, .options = { .weight = 1.25 } };
	strcpy(s->knobs[0].name, "reorder buffer");
	gus_vec_push(&s->t.regions, (struct gus_traced_region){ .executed = 1, .instructions = 6000,
		.cycles = { 3000, 2600 }, .other_cycles = 2400 });
	gus_vec_push(&s->t.regions, (struct gus_traced_region){ .executed = 1, .instructions = 1000,
		.cycles = { 1000, 1000 }, .other_cycles = 1000 });
	gus_vec_push(&s->t.regions, (struct gus_traced_region){ .executed = 0 });
	for (uint32_t i = 0; i < 3; i++) {
		gus_vec_push(&s->t.functions, (struct gus_traced_function){ .module = "" });
		s->t.regions.v[i].function = i;
	}
	for (uint32_t i = 0; i < 2; i++)
		gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = i, .executed = i ? 1000 : 6000,
			.insns_n = 1, .insn = i, .lengths = made_lengths[i], .mispredicted = i ? 5 : 0 });
	s->m = (struct gus_measured){ .runs = 2, .coverage = { .samples = 1250, .covered = 1000, .weight = 1250000,
		.covered_weight = 1000000, .weight2 = 1250e6, .kernel = 250, .kernel_weight = 250000,
		.by_region = s->by_region, .weights = s->weights, .by_insn = s->by_insn },
		.time = { GUS_OBSERVED, true, 1, 1, 1 }, .cycles = { GUS_INFERRED, true, 0.008, 0.0079, 0.0081 } };
	s->by_region[0] = 900;
	s->by_region[1] = 100;
	s->weights[0] = 900000;
	s->weights[1] = 100000;
	*state = s;
	return 0;
}

int made_joined_free(void **state)
{
	struct joined *s = *state;

	gus_compared_free(&s->c);
	gus_vec_free(&s->m.covered);
	gus_vec_free(&s->t.regions);
	gus_vec_free(&s->t.blocks);
	gus_vec_free(&s->t.functions);
	gus_program_free(s->p);
	gus_uarch_free(s->u);
	free(s);
	return 0;
}
