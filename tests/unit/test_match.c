/* SPDX-License-Identifier: MIT */
/* attribution/traced/match: which of the program's accesses each access of a step is, and how wide it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/traced/match.h"
#include "made_program.h"

/* cmpsq; movsq; vfmadd231ss xmm0, xmm1, [rsi]; rep movsb; add rax, rbx; vpgatherdd ymm0, [rax + ymm1 * 4], ymm2; cmpsq:
 * each is an op of its own, with two loads, a load and a store, a load of four bytes, repeated ones, none, one of many
 * places, and two loads again. */
static const uint8_t code[] = { 0x48, 0xa7, 0x48, 0xa5, 0xc4, 0xe2, 0x71, 0xb9, 0x06, 0xf3, 0xa4, 0x48, 0x01, 0xd8,
	0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x88, 0x48, 0xa7 };
enum { COMPARE, MOVE, FMA, REPEAT, ADD, GATHER, LATER, INSNS, LOAD = 0, STORE = 1, NONE = -1 };

struct made {
	struct gus_uarch *u;
	struct gus_program *p;
	struct gus_traced t;
	struct gus_traced_block b;
};

static struct made m;

static int setup(void **state)
{
	(void)state;
	m = (struct made){ .u = made_table("skylake") };
	m.p = made_program(m.u, code, sizeof(code));
	assert_int_equal(m.p->ops_n, INSNS);
	m.t.program = m.p;
	for (uint32_t i = 0; i < INSNS; i++)
		gus_vec_push(&m.t.own, (struct gus_traced_own){ m.p->ops[i].memory, m.p->ops[i].memories_n });
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_vec_free(&m.t.own);
	gus_vec_free(&m.b.matches);
	gus_program_free(m.p);
	gus_uarch_free(m.u);
	return 0;
}

/* One access of a step, and what it is: the how-manieth of its instruction's that do the same, or none. */
struct told {
	uint16_t insn;
	int store;
	uint32_t size;
	int which;
	bool first;
	uint32_t width, bytes;
};

static uint32_t number_of(const struct told *told)
{
	const struct gus_traced_own *own = &m.t.own.v[told->insn];
	int n = 0;

	for (uint32_t i = own->first; told->which != NONE && i < own->first + own->n; i++)
		if ((told->store ? m.p->memories[i].store : m.p->memories[i].load) && n++ == told->which)
			return i;
	return GUS_TRACED_NONE;
}

static void step_is(const struct told *told, uint32_t n)
{
	struct gus_trace_access accesses[8];
	const struct gus_trace_step step = { .accesses = accesses, .accesses_n = n };
	const struct gus_traced_match *is;

	for (uint32_t i = 0; i < n; i++)
		accesses[i] = (struct gus_trace_access){ .insn = told[i].insn, .store = told[i].store,
			.size = told[i].size };
	is = gus_traced_match(&m.t, &m.b, &step);
	for (uint32_t i = 0; i < n; i++) {
		if (is[i].memory != number_of(&told[i]) || is[i].first != told[i].first)
			fail_msg("access %u is %u%s", i, is[i].memory, is[i].first ? ", the first" : "");
		if (is[i].width != told[i].width || is[i].bytes != told[i].bytes)
			fail_msg("access %u: width %u, bytes %u", i, is[i].width, is[i].bytes);
	}
}
#define STEP_IS(...) step_is((const struct told[]){ __VA_ARGS__ }, \
			     sizeof((const struct told[]){ __VA_ARGS__ }) / sizeof(struct told))

/* Two loads are told one after the other; pieces beyond them are of the last one, and not its first. */
static void accesses_come_in_their_order(void **state)
{
	(void)state;
	STEP_IS({ COMPARE, LOAD, 8, 0, true, 8, 8 });
	STEP_IS({ COMPARE, LOAD, 8, 0, true, 8, 8 }, { COMPARE, LOAD, 8, 1, true, 8, 8 });
	STEP_IS({ COMPARE, LOAD, 8, 0, true, 8, 8 }, { COMPARE, LOAD, 8, 1, true, 8, 8 },
		{ COMPARE, LOAD, 8, 1, false, 8, 8 });
	STEP_IS({ LATER, LOAD, 8, 0, true, 8, 8 }, { LATER, LOAD, 8, 1, true, 8, 8 },
		{ LATER, LOAD, 8, 1, false, 8, 8 });
	/* Of another instruction they begin anew. */
	STEP_IS({ COMPARE, LOAD, 8, 0, true, 8, 8 }, { MOVE, LOAD, 8, 0, true, 8, 8 },
		{ MOVE, STORE, 8, 0, true, 8, 8 });
	STEP_IS({ MOVE, LOAD, 4, 0, true, 8, 4 }, { MOVE, LOAD, 4, 0, false, 8, 4 }, { FMA, LOAD, 4, 0, true, 4, 4 });
}

/* A load is none of the stores, whichever comes first; where there is nothing that does the same, it is none. */
static void loads_are_no_stores(void **state)
{
	(void)state;
	STEP_IS({ MOVE, STORE, 8, 0, true, 8, 8 }, { MOVE, LOAD, 8, 0, true, 8, 8 });
	STEP_IS({ COMPARE, STORE, 8, NONE, false, 0, 8 }, { COMPARE, LOAD, 8, 0, true, 8, 8 });
	STEP_IS({ ADD, LOAD, 8, NONE, false, 0, 8 }, { ADD, STORE, 2, NONE, false, 0, 2 });
}

/* As wide as the instruction says, and no wider than was told; of what repeats or gathers it does not say. */
static void widths_are_the_instructions(void **state)
{
	(void)state;
	STEP_IS({ FMA, LOAD, 16, 0, true, 4, 4 }, { FMA, LOAD, 2, 0, false, 4, 2 });
	STEP_IS({ REPEAT, LOAD, 100, 0, true, 0, 100 }, { REPEAT, STORE, 100, 0, true, 0, 100 });
	STEP_IS({ GATHER, LOAD, 4, 0, true, 0, 4 }, { GATHER, LOAD, 4, 0, false, 0, 4 });
}

/* What the last step came to is kept as long as the next one is told alike, and found anew where anything differs. */
static void a_step_like_the_last_is_the_last(void **state)
{
	const struct told step[] = { { COMPARE, LOAD, 8, 0, true, 8, 8 }, { MOVE, LOAD, 8, 0, true, 8, 8 } };

	(void)state;
	step_is(step, 2);
	m.b.matches.v[0].width = m.b.matches.v[0].bytes = 77; /* kept, so this shows */
	STEP_IS({ COMPARE, LOAD, 8, 0, true, 77, 77 }, { MOVE, LOAD, 8, 0, true, 8, 8 });
	STEP_IS({ COMPARE, LOAD, 8, 0, true, 77, 77 });
	STEP_IS({ COMPARE, LOAD, 8, 0, true, 8, 8 }, { MOVE, STORE, 8, 0, true, 8, 8 });
	STEP_IS({ COMPARE, LOAD, 4, 0, true, 8, 4 }, { MOVE, STORE, 8, 0, true, 8, 8 });
	STEP_IS({ COMPARE, LOAD, 4, 0, true, 8, 4 }, { FMA, LOAD, 8, 0, true, 4, 4 });
	STEP_IS({ COMPARE, LOAD, 4, 0, true, 8, 4 }, { FMA, LOAD, 8, 0, true, 4, 4 },
		{ REPEAT, LOAD, 1, 0, true, 0, 1 });
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(accesses_come_in_their_order), CASE(loads_are_no_stores), CASE(widths_are_the_instructions),
		CASE(a_step_like_the_last_is_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
