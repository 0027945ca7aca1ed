/* SPDX-License-Identifier: MIT */
/* The core engine fed with what was executed: the same as a run of the program where both say the same, however it is
 * cut; and levels, mispredictions, the uop cache and regions as the steps say. Skylake's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "made_program.h"
#include "model/code/growing.h"
#include "model/core/core.h"
#include "model/machine/steps.h"
#include "model/stream/stream.h"
#include "model/stream/types.h"
#include "model/tables/uarch.h"

enum { TURNS = 2000 };

static struct gus_uarch *skylake;
static struct gus_core_config c;
static struct gus_program *p;
static struct gus_vec(struct gus_op_step) steps;
static struct gus_vec(struct gus_op_access) accesses;

static int setup(void **state)
{
	(void)state;
	skylake = made_table("skylake");
	gus_core_config_of(&c, skylake);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_vec_free(&steps);
	gus_vec_free(&accesses);
	gus_program_free(p);
	gus_uarch_free(skylake);
	p = NULL;
	return 0;
}

#define PROGRAM(bytes) (p = made_program(skylake, bytes, sizeof(bytes) - 1))

/* Each op of the program once, from the uop cache; all accesses of 8 bytes at that address and level. The last op is a
 * branch back. */
static void turn(uint64_t address, enum gus_hit level)
{
	for (uint32_t op = 0; op < p->ops_n; op++) {
		gus_vec_push(&steps, (struct gus_op_step){ .op = op, .access = (uint32_t)accesses.n, .cached = true,
			     .taken = op + 1 == p->ops_n });
		for (unsigned n = 0; n < p->ops[op].memories_n; n++)
			gus_vec_push(&accesses, (struct gus_op_access){ address, 8, (uint8_t)level, GUS_TLB_HIT,
				     true });
	}
}

static struct gus_op_step *last(void)
{
	return &steps.v[steps.n - 1];
}

static struct gus_core_engine *opened(void)
{
	struct gus_error err = { 0 };
	struct gus_core_engine *e = gus_core_open(p, &c, NULL, NULL, &err);

	if (!e)
		fail_msg("%s", err.text);
	return e;
}

/* All steps, so many at a time. */
static void feed(struct gus_core_engine *e, size_t piece)
{
	struct gus_error err = { 0 };

	for (size_t i = 0; i < steps.n; i += piece) {
		size_t n = steps.n - i < piece ? steps.n - i : piece;

		if (gus_core_feed(e, &(struct gus_op_steps){ steps.v + i, accesses.v, n }, &err) != 0)
			fail_msg("%s", err.text);
	}
	if (gus_core_drain(e, &err) != 0)
		fail_msg("%s", err.text);
}

static uint64_t cycles_of_pieces(size_t piece)
{
	struct gus_core_engine *e = opened();
	uint64_t cycles;

	feed(e, piece);
	cycles = gus_core_cycles(e);
	gus_core_close(e);
	return cycles;
}

static void takes(double cycles_a_turn, double within)
{
	double took = (double)cycles_of_pieces(GUS_OP_STEPS) / TURNS;

	if (took < cycles_a_turn - within || took > cycles_a_turn + within)
		fail_msg("%.3f cycles, expected %.3f", took, cycles_a_turn);
}

/* add rax, [rsi]; imul rbx, rax; mov [rsi+8], rbx; add rsi, 8; cmp rsi, rdx; jne back: each load reads what the store
 * before it wrote. With the addresses that registers have in the program's own run, both take as long. */
static void as_a_run_of_the_program(void **state)
{
	const struct gus_core_options o = { .fetch = GUS_CORE_FETCH_UOP_CACHE, .iterations = TURNS,
		.pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_core_result r;
	struct gus_error err = { 0 };

	(void)state;
	PROGRAM("\x48\x03\x06\x48\x0f\xaf\xd8\x48\x89\x5e\x08\x48\x83\xc6\x08\x48\x39\xd6\x75\xec");
	for (uint64_t i = 0; i < TURNS; i++) {
		turn(0x10000 + 8 * i, GUS_HIT_L1);
		accesses.v[2 * i + 1].address += 8;
	}
	assert_int_equal(gus_core_run(p, &c, &o, &r, &err), 0);
	assert_true(r.cycles > 8 * TURNS);
	/* A run ends with the cycle behind the last retirement. */
	assert_int_equal(cycles_of_pieces(GUS_OP_STEPS), r.cycles - 1);
}

static double stream_cycles_a_turn(void)
{
	const struct gus_stream_options o = { 0 };
	struct gus_error err = { 0 };
	struct gus_stream_engine *e = gus_stream_open(p, &c, &o, &err);
	double cycles[GUS_STREAM_LANES];

	if (!e)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < steps.n; i += GUS_OP_STEPS)
		gus_stream_feed(e, &(struct gus_op_steps){ steps.v + i, accesses.v, steps.n - i < GUS_OP_STEPS ?
				steps.n - i : GUS_OP_STEPS }, NULL);
	gus_stream_cycles(e, cycles);
	gus_stream_close(e);
	return cycles[0] / TURNS;
}

/* dec rax; jne back, of which each fourth was foreseen wrongly at first: the predictor is what all wait for, and takes
 * 1 cycle for each and 3 more for that one. With two imul in a chain in the turn
 * nobody waits for it. */
static void overridden(void **state)
{
	const uint32_t branches = c.predicted_branches, override = c.branch_override;
	double stream;

	(void)state;
	c.predicted_branches = 1;
	c.branch_override = 3;
	PROGRAM("\x48\xff\xc8\x75\xfb");
	for (uint64_t i = 0; i < TURNS; i++) {
		turn(0, GUS_HIT_L1);
		last()->overridden = i % 4 == 0;
	}
	takes(1.75, 0.02);
	stream = stream_cycles_a_turn();
	assert_float_equal(stream, 1.75, 0.02);
	teardown(state);
	setup(state);
	c.predicted_branches = 1;
	c.branch_override = 3;
	PROGRAM("\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0\x48\xff\xc9\x75\xf3");
	for (uint64_t i = 0; i < TURNS; i++) {
		turn(0, GUS_HIT_L1);
		last()->overridden = i % 4 == 0;
	}
	takes(6, 0.02);
	stream = stream_cycles_a_turn();
	assert_float_equal(stream, 6, 0.02);
	c.predicted_branches = branches;
	c.branch_override = override;
}

/* The pieces in which it comes make no difference. */
static void however_it_is_cut(void **state)
{
	uint64_t cycles;

	(void)state;
	PROGRAM("\x48\x8b\x36\x48\x89\x07\x48\xff\xc9\x75\xf5");
	for (unsigned i = 0; i < TURNS; i++) {
		turn(0x10000 + i * 64, i % 3 ? GUS_HIT_L1 : GUS_HIT_L2);
		last()->mispredicted = i % 7 == 0;
		last()->cached = i % 5 != 0;
	}
	cycles = cycles_of_pieces(GUS_OP_STEPS);
	assert_true(cycles > 6 * TURNS);
	assert_int_equal(cycles_of_pieces(1), cycles);
	assert_int_equal(cycles_of_pieces(3), cycles);
	assert_int_equal(cycles_of_pieces(701), cycles);
}

/* mov rsi, [rsi]; dec rcx; jnz back. */
static void levels_are_as_told(void **state)
{
	(void)state;
	PROGRAM("\x48\x8b\x36\x48\xff\xc9\x75\xf8");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x10000 + i * 64, GUS_HIT_L1);
	takes(c.l1d_latency, 0.1);
	for (unsigned i = 0; i < TURNS; i++)
		accesses.v[i].level = GUS_HIT_L2;
	takes(c.l2_latency, 0.2);
	for (unsigned i = 0; i < TURNS; i++) {
		accesses.v[i].level = GUS_HIT_L1;
		accesses.v[i].tlb = GUS_TLB_SECOND;
	}
	takes(c.l1d_latency + c.stlb_latency, 0.2);
}

/* mov eax, [rsi]; dec rcx; jnz back: two bytes on the one side of a line and two on the other, of an access whose bytes
 * are told, or are those of the instruction. */
static void bytes_are_as_told(void **state)
{
	(void)state;
	PROGRAM("\x8b\x06\x48\xff\xc9\x75\xf9");
	c.line_split_penalty = 7;
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x1003e, GUS_HIT_L1);
	takes(1, 0.1); /* 8 bytes cross the line, on two ports */
	for (unsigned i = 0; i < TURNS; i++)
		accesses.v[i].bytes = 2;
	takes(1, 0.1);
	p->uops[0].ports &= -p->uops[0].ports; /* one port: a turn for each line */
	takes(1, 0.1);
	for (unsigned i = 0; i < TURNS; i++)
		accesses.v[i].bytes = 0;
	takes(2, 0.1);
}

/* dec rcx; jnz back: a wrong branch is executed a cycle after it was issued and known a cycle later; from there it
 * takes the penalty until the next one is issued. */
static void mispredictions_take_the_penalty(void **state)
{
	(void)state;
	c.mispredict_penalty = 20;
	PROGRAM("\x48\xff\xc9\x75\xfb");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0, GUS_HIT_L1);
	takes(1, 0.1);
	for (unsigned i = 0; i < TURNS; i++)
		steps.v[i].mispredicted = true;
	takes(c.mispredict_penalty + 2, 1);
}

/* 40 nops and a wrong branch behind them: nothing of what comes behind it was fetched while it was resolved, so that
 * four a cycle come after the penalty as well, and none comes sooner. */
static void the_queue_is_empty_behind_a_misprediction(void **state)
{
	char code[42];
	double apart;

	(void)state;
	c.mispredict_penalty = 20;
	memset(code, 0x90, 40);
	memcpy(code + 40, "\xeb\xd6", 2);
	p = made_program(skylake, code, sizeof(code));
	for (unsigned i = 0; i < TURNS; i++) {
		turn(0, GUS_HIT_L1);
		last()->mispredicted = i % 2;
	}
	apart = (double)cycles_of_pieces(GUS_OP_STEPS) / TURNS;
	/* Half of the turns take 11 cycles (41 uops), the others those and the penalty. */
	assert_true(apart > 41 / 4.0 + 20 / 2.0 && apart < 41 / 4.0 + 26 / 2.0);
}

/* 4 nops of 8 bytes: decoders have 16 bytes a cycle, the uop cache all; a line that comes late takes its cycles. */
static void uops_come_from_where_it_is_told(void **state)
{
	(void)state;
	PROGRAM("\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x84\0\0\0\0\0"
		"\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x84\0\0\0\0\0");
	for (unsigned i = 0; i < TURNS; i++) {
		turn(0, GUS_HIT_L1);
		last()->taken = false;
	}
	takes(1, 0.1);
	for (size_t i = 0; i < steps.n; i++)
		steps.v[i].cached = false;
	takes(2, 0.1);
	for (unsigned i = 0; i < TURNS; i++) {
		steps.v[4 * i].fetch = 9;
		steps.v[4 * i].code_level = GUS_HIT_L2;
	}
	takes(2 + 9, 1.1);
	for (size_t i = 0; i < steps.n; i++)
		steps.v[i].cached = true; /* and then nobody waits for lines */
	takes(1, 0.1);
}

/* imul rax, rax; dec rcx; jnz back: regions in turns of 100 add up to the whole, and the second, whose turns load from
 * L2, has what that takes. */
static void regions_add_up(void **state)
{
	struct gus_core_engine *e;
	uint64_t sum = 0;

	(void)state;
	PROGRAM("\x48\x8b\x36\x48\xff\xc9\x75\xf8");
	for (unsigned i = 0; i < TURNS; i++) {
		turn(0x10000 + i * 64, i / 100 % 2 ? GUS_HIT_L2 : GUS_HIT_L1);
		for (unsigned k = 1; k <= p->ops_n; k++)
			steps.v[steps.n - k].region = 1 + i / 100 % 2;
	}
	e = opened();
	feed(e, 100);
	for (uint32_t region = 0; region < 5; region++)
		sum += gus_core_region_cycles(e, region);
	assert_int_equal(sum, gus_core_cycles(e));
	assert_int_equal(gus_core_region_cycles(e, 0), 0);
	assert_in_range(gus_core_region_cycles(e, 1), c.l1d_latency * TURNS / 2 - 200, c.l1d_latency * TURNS / 2 + 200);
	assert_in_range(gus_core_region_cycles(e, 2), c.l2_latency * TURNS / 2 - 200, c.l2_latency * TURNS / 2 + 200);
	gus_core_close(e);
}

/* What was drained goes on later, and is as long as if the machine had been idle in between. */
static void drained_and_fed_again(void **state)
{
	struct gus_core_engine *e;
	uint64_t once;

	(void)state;
	PROGRAM("\x48\x0f\xaf\xc0\x48\xff\xc9\x75\xf7");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0, GUS_HIT_L1);
	e = opened();
	feed(e, GUS_OP_STEPS);
	once = gus_core_cycles(e);
	assert_in_range(once, 3 * TURNS, 3 * TURNS + 20);
	feed(e, GUS_OP_STEPS);
	assert_in_range(gus_core_cycles(e), 2 * once - 20, 2 * once + 20);
	assert_int_equal(gus_core_region_cycles(e, 0), gus_core_cycles(e));
	gus_core_close(e);
}

/* Blocks that come later: imul rax, rax, then div: the divider and its port were not there before. */
static void code_that_grows(void **state)
{
	static const uint8_t imul[] = { 0x48, 0x0f, 0xaf, 0xc0 }, div[] = { 0x48, 0xf7, 0xf6 };
	static const uint8_t three = 3, four = 4;
	struct gus_growing *g = gus_growing_new(skylake);
	const struct gus_program *grows = gus_growing_program(g);
	struct gus_growing_block b = gus_growing_add(g, imul, &four, sizeof(imul), 0x1000);
	struct gus_error err = { 0 };
	struct gus_core_engine *e = gus_core_open(grows, &c, NULL, NULL, &err);
	struct gus_op_step step = { .op = b.op, .cached = true };
	uint64_t before;

	(void)state;
	for (unsigned i = 0; i < TURNS; i++)
		assert_int_equal(gus_core_feed(e, &(struct gus_op_steps){ &step, NULL, 1 }, &err), 0);
	assert_int_equal(gus_core_drain(e, &err), 0);
	before = gus_core_cycles(e);
	assert_in_range(before, 3 * TURNS, 3 * TURNS + 20);
	for (unsigned i = 0; i < 200; i++) /* more than there was room for */
		b = gus_growing_add(g, div, &three, sizeof(div), 0x2000 + 16 * i);
	step.op = b.op;
	for (unsigned i = 0; i < TURNS; i++)
		assert_int_equal(gus_core_feed(e, &(struct gus_op_steps){ &step, NULL, 1 }, &err), 0);
	assert_int_equal(gus_core_drain(e, &err), 0);
	assert_true(gus_core_cycles(e) - before > 20 * TURNS);
	gus_core_close(e);
	gus_growing_free(g);
}

/* Uops with ports that the CPU has not, at first and later. */
static void what_cannot_be_run(void **state)
{
	const struct gus_op_step step = { .op = 0, .cached = true };
	struct gus_error err = { 0 };
	struct gus_core_engine *e;

	(void)state;
	PROGRAM("\x48\x0f\xaf\xc0");
	e = opened();
	p->uops[0].ports = UINT64_C(1) << 60;
	assert_null(gus_core_open(p, &c, NULL, NULL, &err));
	assert_non_null(strstr(err.text, "a port that the CPU has not"));
	gus_core_close(e);
	p->uops[0].ports = 2;
	c.issue_width = 0;
	assert_null(gus_core_open(p, &c, NULL, NULL, &err));
	gus_core_config_of(&c, skylake);
	gus_program_free(p);
	PROGRAM("\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0");
	assert_int_equal(p->uops_n, 2);
	p->ops_n = p->uops_n = 1;
	e = opened();
	assert_int_equal(gus_core_feed(e, &(struct gus_op_steps){ &step, NULL, 1 }, &err), 0);
	p->ops_n = p->uops_n = 2;
	p->uops[1].ports = UINT64_C(1) << 60;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_feed(e, &(struct gus_op_steps){ &step, NULL, 1 }, &err), -1);
	assert_non_null(strstr(err.text, "uop 1 has a port that the CPU has not"));
	gus_core_close(e);
	gus_core_close(NULL);
}

/* rep stosq that writes 256 bytes at a time: L1 takes l1d_store_width of them a cycle, and the store buffer fills. */
static void strings_leave_by_width(void **state)
{
	(void)state;
	c.l1d_stores = 2;
	c.l1d_store_width = 32;
	PROGRAM("\xf3\x48\xab");
	for (uint64_t i = 0; i < TURNS; i++) {
		turn(0x10000, GUS_HIT_L1);
		accesses.v[i].bytes = 256;
		last()->taken = false;
	}
	assert_int_equal(accesses.n, TURNS);
	takes(256 / 32, 0.5);
	for (uint64_t i = 0; i < TURNS; i++)
		accesses.v[i].bytes = 480 + 1;
	takes(480 / 32 + 1, 0.8);
	c.l1d_store_width = 0; /* not known: as any store */
	assert_true(cycles_of_pieces(GUS_OP_STEPS) < 8 * TURNS);
}

/* add rax, [rsi], whose two uops are made to hold one unit for 65,535 cycles each: nothing retires for longer than any
 * machine would take. Both who feeds and who drains are told. */
static void what_never_ends(void **state)
{
	struct gus_error err = { 0 };
	struct gus_core_engine *e;

	(void)state;
	PROGRAM("\x48\x03\x06");
	for (unsigned i = 0; i < 2; i++) {
		p->uops[i].unit = 1;
		p->uops[i].unit_cycles = p->uops[i].latency = UINT16_MAX;
	}
	for (unsigned i = 0; i < GUS_OP_STEPS; i++)
		turn(0x10000, GUS_HIT_L1);
	e = opened();
	assert_int_equal(gus_core_feed(e, &(struct gus_op_steps){ steps.v, accesses.v, 10 }, &err), 0);
	assert_int_equal(gus_core_drain(e, &err), -1);
	assert_non_null(strstr(err.text, "nothing retires after cycle"));
	gus_core_close(e);
	err = (struct gus_error){ 0 };
	e = opened();
	assert_int_equal(gus_core_feed(e, &(struct gus_op_steps){ steps.v, accesses.v, steps.n }, &err), -1);
	assert_non_null(strstr(err.text, "nothing retires after cycle"));
	gus_core_close(e);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(as_a_run_of_the_program),
		CASE(overridden),
		CASE(however_it_is_cut),
		CASE(levels_are_as_told),
		CASE(bytes_are_as_told),
		CASE(mispredictions_take_the_penalty),
		CASE(the_queue_is_empty_behind_a_misprediction),
		CASE(uops_come_from_where_it_is_told),
		CASE(regions_add_up),
		CASE(drained_and_fed_again),
		CASE(code_that_grows),
		CASE(strings_leave_by_width),
		CASE(what_cannot_be_run),
		CASE(what_never_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
