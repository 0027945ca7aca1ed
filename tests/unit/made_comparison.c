/* SPDX-License-Identifier: MIT */
#include "made_comparison.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "made_figure.h"
#include "made_program.h"

/* imul rax, rbx; dec rcx; jnz back, as one op; a stand-in for that op where the branch is taken; and in another
 * function add rax, rbx. */
static const uint8_t code[] = { 0x48, 0x0f, 0xaf, 0xc3, 0x48, 0xff, 0xc9, 0x75, 0xf7, 0x90, 0x48, 0x01, 0xd8 };
static const uint8_t lengths[] = { 4, 3, 2 }, other_lengths[] = { 3 };

int made_comparison(void **state)
{
	struct made *s = gus_zalloc(sizeof(*s));
	struct gus_traced *t = &s->t;

	s->u = made_table("skylake");
	s->p = made_program(s->u, code, sizeof(code));
	assert_int_equal(s->p->ops_n, OPS);
	*t = (struct gus_traced){ .program = s->p, .isa = GUS_ISA_X86_64, .instructions = 4000000,
		.cycles = { 16000000 }, .op_cycles = s->op_cycles, .op_charged = s->op_charged, .knobs = s->knobs,
		.knobs_n = KNOBS };
	strcpy(s->knobs[0].name, "reorder buffer");
	s->knobs[0].knob.kind = GUS_KNOB_ROB;
	strcpy(s->knobs[1].name, "latency mul");
	s->knobs[1].knob.kind = GUS_KNOB_LATENCY;
	gus_vec_push(&t->functions, (struct gus_traced_function){ .name = "hot", .module = "/opt/app" });
	gus_vec_push(&t->functions, (struct gus_traced_function){ .name = "cold", .module = "/opt/libx.so" });
	for (uint32_t i = 0; i < 2; i++)
		gus_vec_push(&t->regions, (struct gus_traced_region){ .function = i, .loop = GUS_TRACED_NONE });
	gus_vec_push(&t->blocks, (struct gus_traced_block){ .bytes = code, .lengths = lengths, .size = 9, .insns_n = 3,
		.region = HOT, .ops = { IMUL, 2, TWIN }, .executed = 1000 });
	gus_vec_push(&t->blocks, (struct gus_traced_block){ .address = OTHER_AT, .bytes = code + OTHER_AT,
		.lengths = other_lengths, .size = 3, .insns_n = 1, .insn = 4, .region = COLD, .ops = { ADD, 1, ADD },
		.executed = 500 });
	s->op_cycles[IMUL] = 9000;
	s->op_cycles[BRANCH] = 1000;
	s->op_cycles[TWIN] = 2000;
	s->op_cycles[ADD] = 4000;
	s->by_insn[0] = 600;
	s->by_insn[2] = 200;
	s->expectation.why = "this is a test";
	s->model = (struct gus_model_traced){ .uarch = s->u, .expectation = &s->expectation };
	s->windows.process = &s->process;
	s->traced = (struct gus_model_view){ .model = &s->model, .traced = t, .input = "a.data" };
	gusprof__host__init(&s->host);
	gusprof__frequency__init(&s->frequency);
	s->m = (struct gus_measured){ .runs = 2, .event = (char *)"cpu-clock", .coverage = { .samples = 1250,
		.covered = 1000, .weight = 2500000, .covered_weight = 2000000, .by_insn = s->by_insn },
		.time = { GUS_OBSERVED, true, 1000, 1000, 1000 }, .cycles = { GUS_INFERRED, true, 8, 7, 9 },
		.clock = { 3.1, 3.25 }, .cost = 0.02 };
	s->c = (struct gus_compared){ .basis = GUS_COMPARED_CYCLES, .evidence = GUS_INFERRED, .distance = 0.05,
		.time = { 0.606, 0.106, 0.256, 0.032 }, .common = { -1, 0, 0 }, .hashes = s->hashes };
	gus_vec_push(&s->c.rows, (struct gus_compared_row){ .region = HOT, .samples = 800, .instructions = 3000,
		.share = figure(0.8, 0.78, 0.82), .modelled_share = 0.75, .measured = figure(15600, 15000, 16200),
		.modelled = 12000, .ratio = figure(1.3, 1.27, 1.34), .verdict = GUS_TRUST_NONE,
		.function_ratio = figure(1.3, 1.27, 1.34), .function_verdict = GUS_TRUST_NONE });
	gus_vec_push(&s->c.rows, (struct gus_compared_row){ .region = COLD, .samples = 200, .instructions = 500,
		.share = figure(0.2, 0.18, 0.22), .modelled_share = 0.25, .measured = figure(3920, 3500, 4300),
		.modelled = 4000, .ratio = figure(0.98, 0.9, 1.05), .verdict = GUS_TRUST_FULL,
		.function_ratio = figure(0.98, 0.9, 1.05), .function_verdict = GUS_TRUST_FULL });
	s->c.whole = (struct gus_compared_row){ .region = GUS_TRACED_NONE, .samples = 1000, .instructions = 3500,
		.share = figure(1, 1, 1), .modelled_share = 1, .measured = figure(19500, 18000, 21000),
		.modelled = 16000, .ratio = figure(1.22, 1.13, 1.31), .verdict = GUS_TRUST_FULL };
	s->screen.dots = "..";
	s->v = (struct gus_compare_view){ .model = &s->traced, .compared = &s->c, .measured = &s->m,
		.screen = &s->screen };
	*state = s;
	return 0;
}

int made_comparison_free(void **state)
{
	struct made *s = *state;

	gus_vec_free(&s->c.rows);
	gus_vec_free(&s->t.functions);
	gus_vec_free(&s->t.regions);
	gus_vec_free(&s->t.blocks);
	gus_program_free(s->p);
	gus_uarch_free(s->u);
	free(s);
	return 0;
}
