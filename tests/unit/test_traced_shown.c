/* SPDX-License-Identifier: MIT */
/* cli/model/traced_text and traced_json: what was executed, as people and programs read it, of figures that are written
 * down. How columns stand below each other is not asked: blanks are compared as one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/routes/routes.h"
#include "cli/model/expected.h"
#include "cli/model/view.h"
#include "cli/screen/screen.h"
#include "made_program.h"
#include "model/analysis/sensitivity.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"
#include "model/watch/access.h"
#include "printed.h"

/* imul rax, [rsi]; mov [rdi], rax; dec rcx; jnz back, as one op; a stand-in for that op where the branch is taken; and
 * in another function add rax, rbx. */
static const uint8_t code[] = { 0x48, 0x0f, 0xaf, 0x06, 0x48, 0x89, 0x07, 0x48, 0xff, 0xc9, 0x75, 0xf4, 0x90,
	0x48, 0x01, 0xd8 };
static const uint8_t lengths[] = { 4, 3, 3, 2 }, other_lengths[] = { 3 };
enum { IMUL, STORE, BRANCH, TWIN, ADD, OPS, OTHER_AT = 13 };

struct made {
	struct gus_uarch *u;
	struct gus_core_config config;
	struct gus_program *p;
	struct gus_traced t;
	struct gus_model_expectation expectation;
	struct gus_model_traced m;
	struct gus_model_process process;
	struct gus_model_windows windows;
	struct gus_model_view v;
	struct gus_screen screen;
	double op_cycles[OPS], op_charged[OPS];
	struct gus_sensitivity knobs[4];
	struct gus_access_group groups[2];
	struct gus_carried_pair pairs[2];
	struct gus_cache_total cache;
	uint32_t order[2];
};

/* 20 M instructions in 16 M cycles, of which 12 M are the loop's; nothing was sampled. */
static int setup(void **state)
{
	struct made *s = gus_zalloc(sizeof(*s));
	struct gus_traced *t = &s->t;

	s->u = made_table("skylake");
	gus_core_config_of(&s->config, s->u);
	s->p = made_program(s->u, code, sizeof(code));
	assert_int_equal(s->p->ops_n, OPS);
	t->program = s->p;
	t->isa = GUS_ISA_X86_64;
	t->instructions = 20000000;
	t->cycles[0] = 16000000;
	t->ops_run = t->ops_timed = 15000000;
	t->op_cycles = s->op_cycles;
	t->op_charged = s->op_charged;
	gus_vec_push(&t->functions, (struct gus_traced_function){ .name = "loop", .module = "/opt/app" });
	gus_vec_push(&t->functions, (struct gus_traced_function){ .module = "" });
	gus_vec_push(&t->regions, (struct gus_traced_region){ .function = 1, .loop = GUS_TRACED_NONE, .executed = 1,
		.instructions = 4000000, .cycles = { 4000000 } });
	gus_vec_push(&t->regions, (struct gus_traced_region){ .function = 0, .loop = GUS_TRACED_NONE, .executed = 1,
		.instructions = 16000000, .cycles = { 12000000 } });
	gus_vec_push(&t->blocks, (struct gus_traced_block){ .bytes = code, .lengths = lengths, .size = 12, .insns_n = 4,
		.region = 1, .ops = { IMUL, 3, TWIN }, .executed = 5000, .branches = 5000, .mispredicted = 50 });
	gus_vec_push(&t->blocks, (struct gus_traced_block){ .address = OTHER_AT, .bytes = code + OTHER_AT,
		.lengths = other_lengths, .size = 3, .insns_n = 1, .insn = 5, .ops = { ADD, 1, ADD },
		.executed = 7, .branches = 5000, .mispredicted = 150 });
	for (unsigned i = 0; i < 2; i++)
		gus_vec_push(&t->memories, (struct gus_traced_memory){ .accesses = i ? 3000 : 5000,
			.hits = { i ? 3000 : 4000, i ? 0 : 600, i ? 0 : 300, i ? 0 : 100 }, .walks = i ? 0 : 8 });
	gus_vec_push(&t->figures, (struct gus_traced_figures){ .cache = &s->cache, .instructions = 21,
		.cycles = { 22 } });
	gus_vec_push(&t->program_of, 0);
	gus_vec_push(&t->programs, (struct gus_traced_program){ .pid = 5, .name = "app", .cycles = 16000000 });
	s->expectation.why = "this is a test";
	s->m = (struct gus_model_traced){ .uarch = s->u, .config = &s->config, .expectation = &s->expectation };
	s->order[0] = 1;
	s->screen.dots = "..";
	s->windows.process = &s->process;
	s->v = (struct gus_model_view){ .model = &s->m, .traced = t, .input = "a.trace", .order = s->order,
		.regions_n = 2, .screen = &s->screen };
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct made *s = *state;

	gus_vec_free(&s->t.functions);
	gus_vec_free(&s->t.regions);
	gus_vec_free(&s->t.blocks);
	gus_vec_free(&s->t.memories);
	gus_vec_free(&s->t.figures);
	gus_vec_free(&s->t.program_of);
	gus_vec_free(&s->t.programs);
	gus_vec_free(&s->t.notices);
	gus_program_free(s->p);
	gus_uarch_free(s->u);
	free(s);
	return 0;
}

/* Phases are test_model_phases' matter. */
void gus_model_name_phases(const struct gus_model_view *v, struct gus_model_phases *m)
{
	(void)v, (void)m;
	fail_msg("nobody asks for phases here");
}

static void print_text(const void *view)
{
	gus_model_traced_text(view);
}

#define SAYS(s, what) expect_printed(print_text, &(s)->v, what, true)
#define OMITS(s, what) expect_printed(print_text, &(s)->v, what, false)

static void what_it_is_of(void **state)
{
	static const char *const words[] = { "gzip", "-9", "f" };
	struct made *s = *state;

	SAYS(s, "a.trace on skylake (modelled: nothing was measured)\n\n20.0 M instructions, 16.0 M cycles, "
		"1.25 instructions a cycle\nnot judged: this is a test\n100.00% of the instructions have a row in the "
		"table\n\naccesses");
	s->v.command = words;
	s->v.command_n = 3;
	SAYS(s, "gzip -9 f on skylake");
	s->v.command = NULL;
	s->v.input = NULL;
	s->v.windows = &s->windows;
	s->process.pid = 77;
	SAYS(s, "process 77 on skylake");
	s->v.input = "a.data";
	SAYS(s, "a.data on skylake");
	s->t.instructions = 9999;
	s->t.cycles[0] = 10000;
	SAYS(s, "\n9999 instructions, 10.0 k cycles, 1.00 instructions a cycle\n");
	s->t.cycles[0] = 0;
	SAYS(s, "\n9999 instructions, 0 cycles, 0.00 instructions a cycle\n");
	s->p->unknown = 2; /* of six */
	SAYS(s, "66.67% of the instructions have a row");
}

static void what_is_missing(void **state)
{
	struct made *s = *state;

	OMITS(s, "not whole");
	OMITS(s, "nothing came");
	OMITS(s, "stopped to grow");
	OMITS(s, "accesses are not in it");
	OMITS(s, "warm-up");
	s->v.trouble = "it ends early";
	s->v.empty = 1;
	s->t.full = true;
	s->t.omitted = 12;
	gus_vec_push(&s->t.notices, (char *)"one");
	gus_vec_push(&s->t.notices, (char *)"two");
	s->t.notices_told = 1;
	s->t.warmed = 4000000;
	SAYS(s, "The trace is not whole: it ends early\nOf 1 program nothing came: it could not be begun\nThe trace "
		"has stopped to grow before the program ended: what came after is missing\n12 accesses are not in it: "
		"they were too many of one block\nOf the trace: one\nOf the trace: two\n\n16.0 M instructions, 16.0 M");
	SAYS(s, "\nafter a warm-up of 4000.0 k instructions, which is not counted\n");
	s->v.empty = 2;
	s->v.command = (const char *const[]){ "x" }; /* what its writer said was said */
	s->v.command_n = 1;
	SAYS(s, "Of 2 programs nothing came: they could not be begun");
	SAYS(s, "block\nOf the trace: two\n");
}

static void what_it_rests_on(void **state)
{
	struct gus_routes r = { .source = GUS_ROUTES_SAMPLES, .samples = 900, .stacks = 30 };
	struct made *s = *state;

	s->v.inferred = &r;
	SAYS(s, "inferred from 900 samples: each block's by its weight, branches fitted to that, none mispredicted.\n");
	r.source = GUS_ROUTES_STACKS;
	for (unsigned i = 0; i < GUS_RANGE_VERDICTS; i++)
		r.ranges[i] = i == GUS_RANGE_GOOD ? 40 : 1;
	SAYS(s, "inferred from 30 branch stacks, 40 of 47 stretches between branches; branches are mispredicted as "
		"often as these say.\n");
}

/* Errors in percent, to two digits, and none finer than a hundredth; of speedups the widest. */
static void how_far_a_sample_is_off(void **state)
{
	struct made *s = *state;

	OMITS(s, "as a sample");
	s->t.ops_timed = 3000000;
	s->t.errors[0] = 160000; /* a standard error: 1.96 times that are 1.96 % */
	SAYS(s, "\n20 % of it was timed, as a sample; by sampling alone (95 %) cycles may be off by 2 %; --lanes all");
	s->t.errors[0] = 1;
	s->t.knobs = s->knobs;
	s->t.knobs_n = 2;
	s->t.errors[1] = 0.01;
	s->t.errors[2] = 0.005;
	SAYS(s, "may be off by 0.01 %, speedups by 2 points; --lanes all times all of it\n");
}

static void intervals(void **state)
{
	struct made *s = *state;

	s->t.other_cycles = 18000000;
	OMITS(s, "as if");
	s->m.interval = true;
	SAYS(s, "as if the caches had been empty; from 18.0 M cycles on if all that was touched for the first time had "
		"been there\n");
	s->m.warm = true;
	SAYS(s, "as if all that was touched for the first time had been in the caches; up to 18.0 M cycles if nothing "
		"had\n");
}

/* In the order in which they began; of many the twelve with the most cycles, or as many as rows are asked for. */
static void programs_and_threads(void **state)
{
	struct made *s = *state;

	OMITS(s, "one after the other");
	OMITS(s, "process program");
	gus_vec_push(&s->t.figures, (struct gus_traced_figures){ .stream = 1 });
	SAYS(s, "a cycle, 2 threads one after the other\n");
	gus_vec_push(&s->t.programs, (struct gus_traced_program){ .pid = 6, .name = "", .trouble = "it was killed",
		.cycles = 8000000, .instructions = 4000000 });
	SAYS(s, "a cycle, 2 programs one after the other\n");
	SAYS(s, "\ncycles instr. IPC process program\n100.00% 0.00% 0.00 5 app\n50.00% 20.00% 0.50 6 [unknown] (not "
		"whole: it was killed)\n\n");
	for (uint32_t i = 0; i < 11; i++)
		gus_vec_push(&s->t.programs, (struct gus_traced_program){ .pid = 10 + i, .name = "many",
			.cycles = i ? 10000000 : 1000 });
	SAYS(s, " 6 [unknown] (not whole: it was killed)\n62.50% 0.00% 0.00 11 many\n62.50%");
	SAYS(s, " 20 many\n1 more have fewer cycles\n");
	s->m.rows = 1;
	SAYS(s, "process program\n100.00% 0.00% 0.00 5 app\n12 more have fewer cycles\n");
	s->v.windows = &s->windows;
	OMITS(s, "process program");
	OMITS(s, "one after the other");
}

static void windows_of_a_process(void **state)
{
	struct made *s = *state;
	struct gus_model_windows *w = &s->windows;
	uint64_t by_region[2] = { 20, 80 };

	s->v.windows = w;
	strcpy(w->why, "nobody looked");
	SAYS(s, "how much of its time that is about is not known: nobody looked\n");
	OMITS(s, "window");
	w->taken = 1;
	s->process.window = 1000000;
	w->bytes_most = 2500000;
	w->pause_most_ns = 3400000;
	w->pause_ns = 5600000;
	SAYS(s, "\n\n1 window of up to 1000.0 k instructions each, from snapshots of up to 2.5 MB; the process stood "
		"still for 3.4 ms at most, 5.6 ms in all\n");
	OMITS(s, "by steps");
	OMITS(s, "could not be had");
	w->taken = 4;
	w->native = 3;
	w->failed = 2;
	strcpy(w->first.text, "too large");
	SAYS(s, "\n4 windows of up to");
	SAYS(s, "ms in all\n3 of them by steps of a copy, as the emulator does not know all of its instructions\n");
	SAYS(s, "\n2 more could not be had; the first: too large\n");
	w->coverage = (struct gus_coverage){ .samples = 200, .covered = 100, .by_region = by_region, .elsewhere_n = 2,
		.elsewhere = { { "far [lib]", 2 }, { "farther [lib]", 1 } } };
	SAYS(s, "\n50.0% of the 200 samples are of code that the windows have\n1.0% are elsewhere: far [lib]\n2 more");
	SAYS(s, "cycles samples instr. IPC region\n75.00% 40.00% 80.00% 1.33 loop [app]\n25.00% 10.00% 20.00% 1.00 "
		"[unknown]\n");
	s->process.pid = 1;
	w->taken = 0;
	SAYS(s, "50.0% of the 200 samples taken meanwhile are of code that the trace has\n");
}

static void accesses_and_branches(void **state)
{
	struct made *s = *state;

	SAYS(s, "\naccesses 8000: L1 87.50%, L2 7.50%, L3 3.75%, memory 1.25%; page walks 0.100%\nbranches 10.0 k: "
		"2.00% mispredicted, 0.01 in 1000 instructions\n");
	s->t.memories.v[0].told = 4000;
	SAYS(s, "accesses 8000: L1 87.50%");
	s->t.memories.v[1].unknown = 9;
	SAYS(s, "page walks 0.100%; 9 without an address, as if they hit L1\n");
	s->t.warmed = 19900000;
	SAYS(s, "2.00% mispredicted, 2.00 in 1000 instructions\n");
}

/* Two knobs that gain, the more of them first; a bar has a mark for half a percent, and forty at most; one without a
 * name is none. */
static void what_would_gain(void **state)
{
	struct made *s = *state;

	OMITS(s, "more of");
	s->m.weight = 1.15;
	s->t.knobs = s->knobs;
	s->t.knobs_n = 4;
	strcpy(s->knobs[0].name, "small");
	strcpy(s->knobs[2].name, "large");
	strcpy(s->knobs[3].name, "middle");
	for (unsigned lane = 1; lane < 5; lane++) {
		s->t.cycles[lane] = (double[]){ 0, 15625000, 1, 12800000, 14545454 }[lane];
		s->t.regions.v[0].cycles[lane] = 4000000;
		s->t.regions.v[1].cycles[lane] = (double[]){ 0, 10000000, 1, 12000000, 11000000 }[lane];
	}
	SAYS(s, "\nfaster with 15% more of\nlarge 25.00% ########################################\n"
		"middle 10.00% ####################\nsmall 2.40% #####\n\n");
	SAYS(s, "cycles instr. IPC most with more of gains region\n75.00% 80.00% 1.33 small 20.00% loop [app]\n"
		"25.00% 20.00% 1.00 nothing alone - [unknown]\n");
	s->t.cycles[1] = s->t.cycles[3] = s->t.cycles[4] = 15990000; /* less than a thousandth */
	SAYS(s, "more of\nnothing alone\n\n");
	s->screen.width = 109; /* names need the room */
	SAYS(s, "cycles instr. IPC region\n");
	s->screen.width = 110;
	SAYS(s, "cycles instr. IPC most with more of gains region\n");
}

/* Regions with less than a hundredth are left out, unless rows are asked for. */
static void regions(void **state)
{
	struct made *s = *state;

	SAYS(s, "\ncycles instr. IPC region\n75.00% 80.00% 1.33 loop [app]\n25.00% 20.00% 1.00 [unknown]\n\n");
	OMITS(s, "an IPC above");
	s->t.regions.v[0].cycles[0] = 160000;
	SAYS(s, "1.00% 20.00% 25.00 [unknown]\nan IPC above 4, which are issued in a cycle");
	s->t.regions.v[0].cycles[0] = 159999;
	OMITS(s, "[unknown]\n");
	s->m.rows = 2;
	SAYS(s, "1.00% 20.00% 25.00 [unknown]\n");
	s->m.rows = 1;
	OMITS(s, "[unknown]\n");
	s->m.causality = true;
	s->t.regions.v[1].charged = 8000000;
	SAYS(s, "cycles instr. IPC holds up region\n75.00% 80.00% 1.33 50.00% loop [app]\nholds up: what of the "
		"time all");
	/* A name that has no room loses its module first. */
	s->t.functions.v[0].name = "a_name_of_thirty_two_characters_";
	s->screen.width = 40 + 32 + 4 + 3;
	SAYS(s, "a_name_of_thirty_two_characters_ [app]\nholds");
	s->screen.width--;
	SAYS(s, "a_name_of_thirty_two_characters_\nholds");
	s->screen.full_names = true;
	SAYS(s, "a_name_of_thirty_two_characters_ [app]\nholds");
}

/* An op's time is its first instruction's, that of a branch both ways together; what of an access missed L1. */
static void instructions(void **state)
{
	struct made *s = *state;

	s->op_cycles[IMUL] = 8000000;
	s->op_cycles[BRANCH] = 1600000;
	s->op_cycles[TWIN] = 1600000;
	s->op_charged[IMUL] = 16000000;
	s->op_charged[STORE] = -1600000;
	s->op_charged[TWIN] = 160000;
	SAYS(s, "\ninstructions of loop\naddress times cycles miss mispr.\n"
		"0 5000 50.00% 20.00% - imul rax, [rsi]\n4 5000 0.00% 0.00% - mov [rdi], rax\n"
		"7 5000 20.00% - - dec rcx\na 5000 fused - 1.00% jnz 0x0\n");
	s->m.causality = true;
	SAYS(s, "address times cycles holds miss mispr.\n0 5000 50.00% 100.00% 20.00% - imul");
	SAYS(s, "4 5000 0.00% -10.00% 0.00% - mov");
	SAYS(s, "7 5000 20.00% 1.00% - - dec rcx\na 5000 fused - 1.00% jnz 0x0\nwhat holds less than nothing has its "
		"result before it is read");
	s->op_charged[STORE] = -799; /* less than half of a hundredth of a percent has no sign, and needs no words */
	SAYS(s, "4 5000 0.00% 0.00% 0.00% - mov");
	OMITS(s, "less than nothing");
	/* The emulator may have had an instruction in several blocks: what both have is added up. */
	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .bytes = code, .lengths = lengths, .size = 4,
		.insns_n = 1, .region = 1, .ops = { IMUL, 1, IMUL }, .executed = 100 });
	SAYS(s, "0 5100 100.00% 200.00% 20.00% - imul rax, [rsi]\n4 5000");
	s->t.blocks.v[2].executed = 0;
	SAYS(s, "0 5000 50.00% 100.00% 20.00% - imul");
}

/* Of more than 64 instructions those with a hundredth of the region's time, or that hold up as much of it. */
static void long_regions(void **state)
{
	enum { MOST = 64 };
	static double own[MOST + 1], charged[MOST + 1];
	uint8_t nops[MOST + 1], ones[MOST + 1];
	struct made *s = *state;

	memset(nops, 0x90, sizeof(nops));
	memset(ones, 1, sizeof(ones));
	gus_program_free(s->p);
	s->t.program = s->p = made_program(s->u, nops, sizeof(nops));
	s->t.op_cycles = own;
	s->t.op_charged = charged;
	own[3] = charged[5] = 120000; /* of 12 M */
	own[7] = 119999;
	s->t.memories.n = 0;
	s->t.blocks.n = 1;
	s->t.blocks.v[0] = (struct gus_traced_block){ .bytes = nops, .lengths = ones, .size = MOST, .insns_n = MOST,
		.region = 1, .ops = { 0, MOST, MOST - 1 }, .executed = 9 };
	OMITS(s, "more have less");
	SAYS(s, "\n3f 9 0.00% - - nop\n");
	s->t.blocks.v[0].size = s->t.blocks.v[0].insns_n = MOST + 1;
	s->t.blocks.v[0].ops = (struct gus_growing_block){ 0, MOST + 1, MOST };
	SAYS(s, "mispr.\n3 9 0.75% - - nop\n5 9 0.00% - - nop\n63 more have less than a hundredth of its time\n");
}

/* The chain that begins in the region, op by op. */
static void what_the_time_goes_round_in(void **state)
{
	static const struct gus_circle circle = { .n = 3, .steps = {
		{ .op = IMUL, .hop = GUS_HOP_LATENCY, .cycles = 3 },
		{ .op = STORE, .hop = GUS_HOP_LEVEL, .number = GUS_HIT_L3, .cycles = 40 },
		{ .op = STORE, .hop = GUS_HOP_BUS, .number = 2, .cycles = 1.5 } } };
	struct made *s = *state;

	s->t.circles[0] = s->t.circles[1] = circle;
	s->t.circles[0].steps[0].op = ADD; /* another region's */
	s->t.circles_n = 1;
	s->m.causality = true;
	OMITS(s, "this chain");
	s->t.circles_n = 2;
	SAYS(s, "\nthere the time goes round in this chain, again and again:\n0 imul rax, [rsi] ");
	SAYS(s, ": 3.0 cycles\n4 mov [rdi], rax ");
	SAYS(s, " L3: 40.0 cycles\n");
	SAYS(s, " memory: 1.5 cycles\n");
	s->m.causality = false;
	OMITS(s, "this chain");
}

/* What loads read of stores, and how accesses go through memory. */
static void memory(void **state)
{
	struct made *s = *state;

	OMITS(s, "stride");
	s->m.memory = true;
	s->t.groups = s->groups;
	s->t.pairs = s->pairs;
	s->groups[0] = (struct gus_access_group){ .accesses = 101, .stride = -64, .stride_times = 75, .lines = 12,
		.lines_exact = true, .reuse = { 0, 0, 10, 30 } };
	s->groups[1] = (struct gus_access_group){ .accesses = 500, .lines = 3, .reuse = { 100, 1 } };
	s->t.carried = (struct gus_carried_totals){ .loads = 200, .carried = 50, .blocked = 7 };
	SAYS(s, "address accesses stride (times) lines reused within\n4 500 none 3~ 0 lines\n"
		"0 101 -64 ( 75%) 12 7 lines\n\n25.00% of the loads read what a recent store wrote; 7 of them were "
		"blocked\n");
	OMITS(s, "iterations between");
	s->pairs[0] = (struct gus_carried_pair){ STORE, IMUL, 30, .distance = { 0, 30 } };
	s->pairs[1] = (struct gus_carried_pair){ STORE, ADD, 20, .outside = 20 };
	s->t.pairs_n = 2;
	SAYS(s, "store load times iterations between\n4 0 30 1: carried by the loop\n4 d 20 other regions\n");
	s->pairs[0].distance[0] = 31;
	SAYS(s, "4 0 30 0\n");
	s->groups[1].reuse[0] = s->groups[1].reuse[1] = 1; /* half of them, or not */
	SAYS(s, "4 500 none 3~ 0 lines\n");
	s->groups[1].reuse[1] = 2;
	SAYS(s, "4 500 none 3~ 1 lines\n");
	s->groups[0].accesses = 0; /* never executed */
	OMITS(s, "0 0 ");
}

/* As JSON. */

static void print_json(const void *view)
{
	gus_model_traced_json(view);
}

/* What stands at a path of keys and numbers, "regions/0/loop"; compact, keys as they come; NULL: nothing does. */
static const json_t *find(const json_t *o, const char *path)
{
	for (; o && *path; path += strcspn(path, "/"), path += *path == '/') {
		char key[32] = "";

		memcpy(key, path, strcspn(path, "/"));
		o = json_is_array(o) ? json_array_get(o, (size_t)atoi(key)) : json_object_get(o, key);
	}
	return o;
}

struct at { const char *path, *is; };

static void json_has(struct made *s, const struct at *all, size_t n)
{
	char *text = printed(print_json, &s->v);
	json_t *o = json_loads(text, 0, NULL);

	assert_non_null(o);
	for (size_t i = 0; i < n; i++) {
		const json_t *found = find(o, all[i].path);
		char *is = found ? json_dumps(found, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(8)) : NULL;

		if (!is || strcmp(is, all[i].is) != 0)
			fail_msg("%s is %s, not %s", all[i].path, is ? is : "not there", all[i].is);
		free(is);
	}
	json_decref(o);
	free(text);
}
#define JSON_HAS(s, ...) json_has(s, (const struct at[]){ __VA_ARGS__ }, \
				  sizeof((const struct at[]){ __VA_ARGS__ }) / sizeof(struct at))

/* What was not asked for is null. */
static void json_of_little(void **state)
{
	struct made *s = *state;

	JSON_HAS(s, { "schema", "\"gusprof.traced/1\"" }, { "uarch", "\"skylake\"" }, { "engine", "\"stream\"" },
		 { "command", "null" }, { "input", "\"a.trace\"" }, { "trouble", "null" }, { "inferred", "null" },
		 { "full", "false" }, { "omitted_accesses", "0" }, { "notices", "[]" }, { "windows", "null" },
		 { "instructions", "20000000" }, { "warm_up", "0" }, { "cycles", "16000000.0" }, { "ipc", "1.25" },
		 { "expected_error", "null" }, { "not_judged", "\"this is a test\"" }, { "timed", "1.0" },
		 { "cycles_error", "null" }, { "sensitivity_error", "null" }, { "cycles_if_warm", "null" },
		 { "cycles_if_cold", "16000000.0" }, { "caches", "\"cold\"" }, { "issue_width", "4" },
		 { "coverage", "1.0" }, { "weight", "null" }, { "sensitivity", "null" }, { "chains", "null" },
		 { "access_groups", "null" }, { "dependences", "null" }, { "phases", "null" },
		 { "programs/0", "{\"name\":\"app\",\"pid\":5,\"instructions\":0,\"cycles\":16000000.0,\"ipc\":0.0,"
		   "\"share\":1.0,\"threads\":0,\"trouble\":null}" }, { "programs_that_did_not_begin", "0" },
		 { "threads/0", "{\"thread\":0,\"program\":0,\"instructions\":21,\"cycles\":22.0,"
		   "\"lines_from_memory\":0}" });
}

/* A block's accesses are those of its first to its last; branches stand with the last instruction, which is fused. */
static void json_of_regions(void **state)
{
	struct made *s = *state;

	s->t.blocks.v[0].memories_n = 2;
	s->t.blocks.v[0].taken = 4900;
	s->t.blocks.v[0].unseen = 3;
	s->t.blocks.v[0].cached = 1;
	s->t.blocks.v[0].fetch_misses = 6;
	s->p->unknown = 3; /* of six */
	s->t.memories.v[0].told = 4999;
	s->t.memories.v[0].second_tlb = 4;
	s->t.memories.v[0].first[2] = 11;
	s->t.memories.v[0].first[3] = 1;
	s->t.memories.v[1].unknown = 5;
	s->t.memories.v[1].rebuilt = 2;
	s->t.regions.v[1].fused = 9;
	s->t.regions.v[1].slots = 8;
	s->t.functions.v[0].start = 0x40;
	s->op_cycles[BRANCH] = 2;
	s->op_cycles[TWIN] = 5;
	s->op_cycles[IMUL] = 3;
	gus_vec_push(&s->t.programs, (struct gus_traced_program){ .pid = 9, .name = "", .trouble = "it was killed" });
	JSON_HAS(s, { "coverage", "0.5" }, { "programs/1/pid", "9" }, { "programs/1/name", "null" },
		 { "programs/1/trouble", "\"it was killed\"" }, { "regions/0/rows/0/cycles", "3.0" },
		 { "regions/0/function", "\"loop\"" }, { "regions/0/module", "\"/opt/app\"" },
		 { "regions/0/offset", "64" }, { "regions/0/loop", "null" }, { "regions/0/instructions", "16000000" },
		 { "regions/0/blocks", "1" }, { "regions/0/from_uop_cache", "1.0" }, { "regions/0/fetch_misses", "6" },
		 { "regions/0/cycles", "12000000.0" }, { "regions/0/share", "0.75" }, { "regions/0/samples", "null" },
		 { "regions/0/ipc", "1.3333333" }, { "regions/0/fused", "9" }, { "regions/0/slots", "8" },
		 { "regions/0/holds_up", "null" }, { "regions/0/engines", "null" },
		 { "regions/0/memory", "{\"accesses\":8000,\"L1\":7000,\"L2\":600,\"L3\":300,\"memory\":100,"
		   "\"first_touches\":12,\"second_tlb\":4,\"page_walks\":8,\"without_address\":5,"
		   "\"prefetches_rebuilt\":2}" },
		 { "regions/0/branches", "{\"executed\":5000,\"taken\":4900,\"mispredicted\":50,"
		   "\"never_seen_before\":3}" },
		 { "regions/0/rows/0/memory/accesses", "5000" }, { "regions/0/rows/1/memory/accesses", "3000" },
		 { "regions/0/rows/2", "{\"address\":7,\"text\":\"dec rcx\",\"executed\":5000,\"fused\":false,"
		   "\"known\":true,\"cycles\":7.0,\"core_stack\":null,\"holds_up\":null,\"memory\":null,"
		   "\"branch\":null}" },
		 { "regions/0/rows/3/fused", "true" }, { "regions/0/rows/3/cycles", "null" },
		 { "regions/0/rows/3/branch/mispredicted", "50" },
		 { "regions/1/function", "null" }, { "regions/1/offset", "null" }, { "regions/1/memory/accesses", "0" },
		 { "regions/1/branches/executed", "5000" }, { "regions/1/rows/0/address", "13" },
		 { "branches/executed", "10000" }, { "branches/mispredicted", "200" }, { "memory/accesses", "8000" });
	s->t.blocks.v[0].executed = 0; /* its rows are none */
	s->m.rows = 1;
	JSON_HAS(s, { "regions/0/rows", "[]" });
}

/* What was asked for: knobs, what holds up, intervals, both engines, memory; of a sample its errors. */
static void json_of_much(void **state)
{
	struct made *s = *state;

	s->t.warmed = 4000000;
	s->t.ops_timed = 3000000;
	s->t.errors[0] = 80000;
	s->t.errors[1] = 0.01;
	s->t.regions.v[1].errors[0] = 120000;
	s->t.other_cycles = 9e6;
	s->t.regions.v[1].other_cycles = 8e6;
	s->t.regions.v[1].charged = 7e6;
	s->op_charged[BRANCH] = 3;
	s->op_charged[TWIN] = 4;
	s->t.knobs = s->knobs;
	s->t.knobs_n = 2;
	strcpy(s->knobs[0].name, "width");
	s->t.cycles[1] = 12800000;
	s->t.regions.v[1].cycles[1] = 6000000;
	s->m.weight = 1.15;
	s->m.causality = s->m.interval = s->m.both = s->m.memory = true;
	s->t.groups = s->groups;
	s->groups[1] = (struct gus_access_group){ .accesses = 9, .stores = 9, .stride = -8, .stride_times = 7 };
	s->t.pairs = s->pairs;
	s->t.pairs_n = 1;
	s->pairs[0] = (struct gus_carried_pair){ STORE, IMUL, 30, .blocked = 2, .farther = 3,
		.distance = { 1, [GUS_CARRIED_DISTANCES - 1] = 5 } };
	s->t.circles_n = 1;
	s->t.circles[0] = (struct gus_circle){ .n = 1, .ops = 3, .weight = 5,
		.steps = { { .op = STORE, .cycles = 6 } } };
	s->cache.memory_reads[GUS_CACHE_DEMAND] = 30;
	s->cache.memory_reads[GUS_CACHE_PREFETCH] = 4;
	JSON_HAS(s, { "instructions", "16000000" }, { "ipc", "1.0" }, { "warm_up", "4000000" }, { "timed", "0.2" },
		 { "cycles_error", "0.0098" }, { "sensitivity_error", "0.0196" }, { "cycles_if_warm", "9000000.0" },
		 { "cycles_if_cold", "16000000.0" }, { "engine", "\"both\"" }, { "weight", "1.15" },
		 { "sensitivity", "{\"width\":0.25}" }, { "regions/0/sensitivity", "{\"width\":1.0}" },
		 { "regions/0/cycles_error", "0.0196" }, { "regions/0/cycles_if_warm", "8000000.0" },
		 { "regions/0/holds_up", "7000000.0" }, { "regions/0/rows/2/holds_up", "7.0" },
		 { "regions/1/sensitivity", "{\"width\":null}" },
		 { "chains/0", "{\"ops\":3,\"weight\":5.0,\"steps\":[{\"address\":4,\"carried_by\":\"ports\","
		   "\"cycles\":6.0}]}" },
		 { "threads/0/lines_from_memory", "34" },
		 { "access_groups/0/address", "4" }, { "access_groups/0/stride", "-8" },
		 { "access_groups/0/stores", "9" }, { "dependences/pairs/0/store", "4" },
		 { "dependences/pairs/0/load", "0" }, { "dependences/pairs/0/blocked", "2" },
		 { "dependences/pairs/0/iterations", "[1,0,0,0,0,0,0,5]" }, { "dependences/pairs/0/farther", "3" });
	JSON_HAS(s, { "core_cycles", "null" }, { "core_ipc", "null" }, { "regions/0/core_cycles", "null" });
	s->m.core = true;
	s->t.core_cycles = 32e6;
	s->t.regions.v[1].core_cycles = 4e6;
	gus_vec_push(&s->t.pics, ((struct gus_pics_cell){ .op = STORE, .psv = GUS_CORE_ST_L1 | GUS_CORE_ST_LLC,
		     .state = GUS_COMMIT_STALLED, .ticks = 3 * GUS_PICS_TICKS }));
	gus_vec_push(&s->t.pics, ((struct gus_pics_cell){ .op = BRANCH, .state = GUS_COMMIT_COMPUTE,
		     .ticks = GUS_PICS_TICKS / 2 }));
	gus_vec_push(&s->t.pics, ((struct gus_pics_cell){ .op = TWIN, .state = GUS_COMMIT_COMPUTE,
		     .ticks = GUS_PICS_TICKS }));
	qsort(s->t.pics.v, s->t.pics.n, sizeof(*s->t.pics.v), gus_pics_cell_compare);
	s->t.core_ran = 5;
	JSON_HAS(s, { "core_ran", "5" }, { "engine", "\"core\"" }, { "core_cycles", "32000000.0" },
		 { "core_ipc", "0.5" },
		 { "regions/0/core_cycles", "4000000.0" },
		 { "core_stack", "{\"compute\":{\"base\":1.5},\"stalled\":{\"ST-L1+ST-LLC\":3.0},\"drained\":{},"
		   "\"flushed\":{}}" },
		 { "regions/0/rows/2/core_stack", "{\"compute\":{\"base\":1.5},\"stalled\":{},\"drained\":{},"
		   "\"flushed\":{}}" });
	s->t.core_stopped = true;
	gus_vec_free(&s->t.pics);
	JSON_HAS(s, { "core_stack", "null" }, { "core_cycles", "null" }, { "core_ipc", "null" },
		 { "regions/0/core_cycles", "null" }, { "regions/0/rows/2/core_stack", "null" });
	s->m.warm = true;
	s->groups[1].stride_times = 0;
	JSON_HAS(s, { "cycles_if_warm", "16000000.0" }, { "cycles_if_cold", "9000000.0" }, { "caches", "\"warm\"" },
		 { "access_groups/0/stride", "null" });
}

static void json_of_windows(void **state)
{
	struct gus_routes r = { .source = GUS_ROUTES_STACKS, .samples = 90, .stacks = 30, .ranges = { 40 } };
	struct made *s = *state;
	uint64_t by_region[2] = { 20, 80 };

	s->v.windows = &s->windows;
	s->v.inferred = &r;
	s->windows.taken = 3;
	strcpy(s->windows.first.text, "too large");
	JSON_HAS(s, { "windows/taken", "3" }, { "windows/samples", "null" }, { "windows/samples_covered", "null" },
		 { "windows/samples_elsewhere", "[]" }, { "windows/first_failure", "\"too large\"" },
		 { "programs/0/pid", "5" }, { "inferred/from", "\"stacks\"" }, { "inferred/stacks", "30" },
		 { "inferred/ranges/good", "40" }, { "inferred/evidence", "\"inferred\"" });
	s->windows.coverage = (struct gus_coverage){ .samples = 200, .covered = 100, .by_region = by_region,
		.elsewhere_n = 1, .elsewhere = { { "far [lib]", 2 } } };
	s->v.input = NULL;
	r.source = GUS_ROUTES_SAMPLES;
	JSON_HAS(s, { "windows/samples", "200" }, { "windows/samples_covered", "100" }, { "regions/0/samples", "80" },
		 { "windows/samples_elsewhere/0", "{\"function\":\"far [lib]\",\"samples\":2}" },
		 { "programs", "null" }, { "inferred/from", "\"samples\"" });
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_it_is_of), CASE(what_is_missing), CASE(what_it_rests_on), CASE(how_far_a_sample_is_off),
		CASE(intervals), CASE(programs_and_threads), CASE(windows_of_a_process), CASE(accesses_and_branches),
		CASE(what_would_gain), CASE(regions), CASE(instructions), CASE(what_the_time_goes_round_in),
		CASE(long_regions),
		CASE(memory), CASE(json_of_little), CASE(json_of_regions), CASE(json_of_much),
		CASE(json_of_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
