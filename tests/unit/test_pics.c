/* SPDX-License-Identifier: MIT */
/* Time-proportional stacks: the cycles of a listener that is told by hand, and of the core engine on small programs
 * whose answer follows from the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "made_program.h"
#include "model/core/core.h"
#include "model/core/pics.h"
#include "model/machine/steps.h"
#include "model/tables/uarch.h"

enum { ONE = GUS_PICS_TICKS, TURNS = 1000 };

static struct gus_uarch *skylake;
static struct gus_program *p;
static struct gus_pics *s;
static const struct gus_core_listener *l;

static void begin(const char *code, size_t size)
{
	p = made_program(skylake, code, size);
	s = gus_pics_new(p);
	l = gus_pics_listener(s);
}

static int setup(void **state)
{
	(void)state;
	skylake = made_table("skylake");
	p = NULL;
	s = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_pics_free(s);
	gus_program_free(p);
	gus_uarch_free(skylake);
	return 0;
}

#define BEGIN(bytes) begin(bytes, sizeof(bytes) - 1)

/* Cycles of an op in a state, with just these events. */
static uint64_t ticks_of(uint32_t op, enum gus_commit state, unsigned psv)
{
	const struct gus_pics_cell *cells;
	size_t n;

	cells = gus_pics_cells(s, &n);
	for (size_t i = 0; i < n; i++)
		if (cells[i].op == op && cells[i].state == state && cells[i].psv == psv)
			return cells[i].ticks;
	return 0;
}

static void retires(uint32_t op, unsigned psv, bool ends)
{
	l->retire(l->context, &(struct gus_core_retired){ .op = op, .psv = (uint16_t)psv, .ends = ends });
}

static void cycle(enum gus_commit state)
{
	l->cycle(l->context, &(struct gus_core_cycle){ .state = state });
}

static uint64_t place_of(const struct gus_pics_cell *cell)
{
	return (uint64_t)cell->op << 32 | (uint64_t)cell->state << 16 | cell->psv;
}

/* Everything that was told is somewhere. */
static void adds_up(uint64_t cycles, uint64_t expected_pending)
{
	uint64_t pending, sum = 0;
	const struct gus_pics_cell *cells;
	size_t n;

	assert_int_equal(gus_pics_cycles(s, &pending), cycles);
	assert_int_equal(pending, expected_pending);
	cells = gus_pics_cells(s, &n);
	for (size_t i = 0; i < n; i++)
		sum += cells[i].ticks;
	assert_int_equal(sum + pending, cycles * ONE);
	for (size_t i = 1; i < n; i++) /* by op, then state, then events */
		assert_true(place_of(&cells[i - 1]) < place_of(&cells[i]));
}

/* Five nops. The figure of the header: a and b in one cycle, two in which c is not done, c, one behind it that is
 * flushed, and d. */
static void the_figure(void **state)
{
	(void)state;
	BEGIN("\x90\x90\x90\x90\x90");
	retires(0, 0, true);
	retires(1, GUS_CORE_ST_L1, true);
	cycle(GUS_COMMIT_COMPUTE);
	cycle(GUS_COMMIT_STALLED);
	cycle(GUS_COMMIT_STALLED);
	adds_up(3, 2 * ONE);
	retires(2, GUS_CORE_FL_MB, true);
	cycle(GUS_COMMIT_COMPUTE);
	cycle(GUS_COMMIT_FLUSHED);
	retires(3, 0, true);
	cycle(GUS_COMMIT_COMPUTE);
	assert_int_equal(ticks_of(0, GUS_COMMIT_COMPUTE, 0), ONE / 2);
	assert_int_equal(ticks_of(1, GUS_COMMIT_COMPUTE, GUS_CORE_ST_L1), ONE / 2);
	assert_int_equal(ticks_of(2, GUS_COMMIT_STALLED, GUS_CORE_FL_MB), 2 * ONE);
	assert_int_equal(ticks_of(2, GUS_COMMIT_COMPUTE, GUS_CORE_FL_MB), ONE);
	assert_int_equal(ticks_of(2, GUS_COMMIT_FLUSHED, GUS_CORE_FL_MB), ONE);
	assert_int_equal(ticks_of(3, GUS_COMMIT_COMPUTE, 0), ONE);
	adds_up(6, 0);
}

/* Drained cycles are of what comes next; flushed ones of what was last, and if nothing was of what comes next. */
static void before_and_behind(void **state)
{
	(void)state;
	BEGIN("\x90\x90\x90");
	cycle(GUS_COMMIT_FLUSHED);
	cycle(GUS_COMMIT_DRAINED);
	retires(0, 0, true);
	cycle(GUS_COMMIT_COMPUTE);
	cycle(GUS_COMMIT_FLUSHED);
	cycle(GUS_COMMIT_DRAINED);
	retires(1, GUS_CORE_DR_L1, true);
	retires(2, 0, true);
	cycle(GUS_COMMIT_COMPUTE);
	assert_int_equal(ticks_of(0, GUS_COMMIT_FLUSHED, 0), 2 * ONE);
	assert_int_equal(ticks_of(0, GUS_COMMIT_DRAINED, 0), ONE);
	assert_int_equal(ticks_of(1, GUS_COMMIT_DRAINED, GUS_CORE_DR_L1), ONE);
	assert_int_equal(ticks_of(2, GUS_COMMIT_DRAINED, 0), 0);
	adds_up(6, 0);
	/* A load that read too early is fetched again: the flush is its own. */
	l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_FLUSHED, .of_next = true });
	retires(1, GUS_CORE_FL_MO, true);
	cycle(GUS_COMMIT_COMPUTE);
	assert_int_equal(ticks_of(1, GUS_COMMIT_FLUSHED, GUS_CORE_FL_MO), ONE);
	assert_int_equal(ticks_of(2, GUS_COMMIT_FLUSHED, 0), 0);
	adds_up(8, 0);
}

/* An op of many slots retires in three cycles, the first with another op, the last with two: each of its cycles is its
 * own once it ends, with the events that it has then. */
static void over_several_cycles(void **state)
{
	(void)state;
	BEGIN("\x90\x90\x90\x90");
	retires(0, 0, true);
	retires(1, 0, false);
	retires(1, 0, false);
	cycle(GUS_COMMIT_COMPUTE);
	retires(1, 0, false);
	cycle(GUS_COMMIT_COMPUTE);
	adds_up(2, ONE + ONE / 2);
	retires(1, GUS_CORE_ST_LLC, true);
	retires(2, 0, true);
	retires(3, 0, true);
	cycle(GUS_COMMIT_COMPUTE);
	assert_int_equal(ticks_of(0, GUS_COMMIT_COMPUTE, 0), ONE / 2);
	assert_int_equal(ticks_of(1, GUS_COMMIT_COMPUTE, GUS_CORE_ST_LLC), ONE / 2 + ONE + ONE / 3);
	assert_int_equal(ticks_of(1, GUS_COMMIT_COMPUTE, 0), 0);
	assert_int_equal(ticks_of(3, GUS_COMMIT_COMPUTE, 0), ONE / 3);
	adds_up(3, 0);
}

/* cmp rax, rbx with jne is one op of two instructions: beside a nop it has two thirds. Thirteen ops leave a rest of the
 * cycle, which is the oldest's. */
static void shares_are_of_instructions(void **state)
{
	(void)state;
	BEGIN("\x90\x48\x39\xd8\x75\xfa");
	assert_int_equal(p->ops_n, 2);
	retires(0, 0, true);
	retires(1, 0, true);
	cycle(GUS_COMMIT_COMPUTE);
	assert_int_equal(ticks_of(0, GUS_COMMIT_COMPUTE, 0), ONE / 3);
	assert_int_equal(ticks_of(1, GUS_COMMIT_COMPUTE, 0), 2 * (ONE / 3));
	for (unsigned i = 0; i < 13; i++)
		retires(0, 1u << (i < 12), true);
	cycle(GUS_COMMIT_COMPUTE);
	assert_int_equal(ticks_of(0, GUS_COMMIT_COMPUTE, 1), ONE / 13);
	assert_int_equal(ticks_of(0, GUS_COMMIT_COMPUTE, 2), ONE - ONE / 13);
	for (unsigned i = 0; i < 200; i++)
		retires(0, 4, true);
	cycle(GUS_COMMIT_COMPUTE);
	assert_int_equal(ticks_of(0, GUS_COMMIT_COMPUTE, 4), ONE);
	adds_up(3, 0);
}

/* The engine. Each op of the program in turn; level and wrong by turn. */
static struct gus_core_config c;

static void run(enum gus_hit level, enum gus_tlb tlb, bool wrong)
{
	struct gus_error err = { 0 };
	struct gus_core_engine *e;

	e = gus_core_open(p, &c, l, NULL, &err);
	assert_non_null(e);
	for (uint64_t i = 0; i < TURNS; i++)
		for (uint32_t op = 0; op < p->ops_n; op++) {
			const struct gus_op_access a = { 0x10000 + 4096 * i, 8, (uint8_t)level, (uint8_t)tlb, true };
			const struct gus_op_step step = { .op = op, .cached = true, .taken = op + 1 == p->ops_n,
				.mispredicted = wrong && op + 1 == p->ops_n };

			assert_int_equal(gus_core_feed(e, &(struct gus_op_steps){ &step, &a, 1 }, &err), 0);
		}
	assert_int_equal(gus_core_drain(e, &err), 0);
	gus_core_close(e);
}

static double cycles_of(uint32_t op, enum gus_commit state, unsigned psv)
{
	return (double)ticks_of(op, state, psv) / ONE / TURNS;
}

#define NEAR(value, expected, within) do { \
	double v_ = (value), e_ = (expected); \
	if (v_ < e_ - (within) || v_ > e_ + (within)) \
		fail_msg("%s: %.3f, expected %.3f", #value, v_, e_); \
} while (0)

/* imul rax, rax; dec rcx; jnz back: two of three cycles are stalls of the multiplication, in the third all retire. */
static void a_chain(void **state)
{
	(void)state;
	gus_core_config_of(&c, skylake);
	BEGIN("\x48\x0f\xaf\xc0\x48\xff\xc9\x75\xf7");
	run(GUS_HIT_L1, GUS_TLB_HIT, false);
	NEAR(cycles_of(0, GUS_COMMIT_STALLED, 0), 2, 0.02);
	NEAR(cycles_of(0, GUS_COMMIT_COMPUTE, 0), 1 / 3.0, 0.02);
	NEAR(cycles_of(1, GUS_COMMIT_COMPUTE, 0), 2 / 3.0, 0.02);
}

/* mov rsi, [rsi]; dec rcx; jnz back, from L2, from memory, and through a walk: the load's, by its events. */
static void a_chase(void **state)
{
	static const struct { enum gus_hit level; enum gus_tlb tlb; unsigned psv; } cases[] = {
		{ GUS_HIT_L2, GUS_TLB_HIT, GUS_CORE_ST_L1 }, { GUS_HIT_L3, GUS_TLB_HIT, GUS_CORE_ST_L1 },
		{ GUS_HIT_MEMORY, GUS_TLB_HIT, GUS_CORE_ST_L1 | GUS_CORE_ST_LLC },
		{ GUS_HIT_L1, GUS_TLB_SECOND, GUS_CORE_ST_TLB },
		{ GUS_HIT_L2, GUS_TLB_WALK, GUS_CORE_ST_L1 | GUS_CORE_ST_TLB },
		{ GUS_HIT_L1, GUS_TLB_HIT, 0 },
	};
	double before = 0;

	(void)state;
	gus_core_config_of(&c, skylake);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t pending;

		gus_pics_free(s);
		gus_program_free(p);
		BEGIN("\x48\x8b\x36\x48\xff\xc9\x75\xf8");
		run(cases[i].level, cases[i].tlb, false);
		before = (double)gus_pics_cycles(s, &pending) / TURNS;
		assert_true(before > 3.9);
		NEAR(cycles_of(0, GUS_COMMIT_STALLED, cases[i].psv), before - 1, 0.05 * before);
		assert_int_equal(ticks_of(1, GUS_COMMIT_STALLED, 0), 0);
	}
}

/* dec rcx; jnz back, always wrong: the penalty is the branch's, as it is what retired last. */
static void mispredictions(void **state)
{
	(void)state;
	gus_core_config_of(&c, skylake);
	c.mispredict_penalty = 20;
	BEGIN("\x48\xff\xc9\x75\xfb");
	run(GUS_HIT_L1, GUS_TLB_HIT, true);
	assert_true(cycles_of(0, GUS_COMMIT_FLUSHED, GUS_CORE_FL_MB) > 18);
	NEAR(cycles_of(0, GUS_COMMIT_COMPUTE, GUS_CORE_FL_MB), 1, 0.01);
}

/* 3 x mov [rdi], rax; jmp back, each to a line in memory: the store buffer is full, and the store that comes next has
 * had no place there. */
static void full_store_buffer(void **state)
{
	double sum = 0;

	(void)state;
	gus_core_config_of(&c, skylake);
	BEGIN("\x48\x89\x07\x48\x89\x07\x48\x89\x07\xeb\xf5");
	run(GUS_HIT_MEMORY, GUS_TLB_HIT, false);
	for (uint32_t op = 0; op < 3; op++)
		sum += cycles_of(op, GUS_COMMIT_DRAINED, GUS_CORE_DR_SQ);
	assert_true(sum > 10);
	NEAR(cycles_of(3, GUS_COMMIT_DRAINED, 0), 0, 0.1);
}

/* The program's own run has the same stacks as what is fed, and events are told there as well. */
static void of_a_run(void **state)
{
	struct gus_core_options o = { .fetch = GUS_CORE_FETCH_UOP_CACHE, .iterations = TURNS };
	struct gus_core_result r;
	struct gus_error err = { 0 };
	uint64_t pending;

	(void)state;
	gus_core_config_of(&c, skylake);
	BEGIN("\x48\x0f\xaf\xc0\x48\xff\xc9\x75\xf7");
	o.listener = l;
	assert_int_equal(gus_core_run(p, &c, &o, &r, &err), 0);
	assert_int_equal(gus_pics_cycles(s, &pending), r.cycles);
	NEAR(cycles_of(0, GUS_COMMIT_STALLED, 0), 2, 0.02);
	assert_true(r.commit[GUS_COMMIT_STALLED] == ticks_of(0, GUS_COMMIT_STALLED, 0) / ONE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_figure),
		CASE(before_and_behind),
		CASE(over_several_cycles),
		CASE(shares_are_of_instructions),
		CASE(a_chain),
		CASE(a_chase),
		CASE(mispredictions),
		CASE(full_store_buffer),
		CASE(of_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
