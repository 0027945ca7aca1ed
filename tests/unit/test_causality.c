/* SPDX-License-Identifier: MIT */
/* Causality on loops whose bottleneck is known by argument. In all: what is charged adds up to the time of the loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "made_program.h"
#include "model/analysis/causality.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/tables/uarch.h"

static struct gus_uarch *skylake;
static struct gus_core_config config;

static int setup(void **state)
{
	(void)state;
	skylake = made_table("skylake");
	gus_core_config_of(&config, skylake);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_uarch_free(skylake);
	return 0;
}

static struct gus_program *analyse(const char *bytes, size_t size, enum gus_core_pointers pointers,
				   struct gus_causality *c)
{
	struct gus_stream_options o = { .pointers = pointers };
	struct gus_error err = { 0 };
	struct gus_stream_result r;
	struct gus_program *p = made_program(skylake, bytes, size);
	double sum = 0;

	assert_int_equal(gus_causality_run(p, &config, &o, c, NULL, &err), 0);
	assert_int_equal(gus_stream_run(p, &config, &o, &r, &err), 0);
	assert_true(fabs(c->cycles - r.per_iteration[0]) < 0.01 * r.per_iteration[0]);
	for (size_t i = 0; i < c->causes_n; i++)
		sum += c->causes[i].cycles;
	assert_true(fabs(sum - c->cycles) < 1e-6);
	return p;
}
#define ANALYSE(bytes, pointers, c) analyse(bytes, sizeof(bytes) - 1, pointers, c)

/* The hops of some kind, all ops together, as a share of the time. */
static double share(const struct gus_causality *c, enum gus_hop hop)
{
	double sum = 0;

	for (size_t i = 0; i < c->causes_n; i++)
		sum += c->causes[i].hop == hop ? c->causes[i].cycles : 0;
	return sum / c->cycles;
}

/* Four loads, two multiply-and-adds into one register, 4 cycles each: these two are the cause, in turn. */
static void test_chain(void **state)
{
	struct gus_causality c;
	struct gus_program *p = ANALYSE("\xc5\xfc\x10\x16\xc5\xfc\x10\x5e\x20\xc5\xfc\x10\x27\xc5\xfc\x10\x6f\x20"
					"\xc4\xe2\x6d\xb8\xc3\xc4\xe2\x5d\xb8\xc5", GUS_CORE_POINTERS_NONE, &c);

	(void)state;
	assert_true(fabs(c.op_cycles[4] - 4) < 0.05 && fabs(c.op_cycles[5] - 4) < 0.05);
	assert_true(share(&c, GUS_HOP_LATENCY) > 0.99);
	assert_int_equal(c.chain_n, 2);
	assert_int_equal(c.chain[0].op, 4);
	assert_int_equal(c.chain[1].op, 5);
	assert_true(c.chain_iterations == 1 && c.chain[0].cycles == 4);
	assert_true(c.chain_share > 0.9);
	gus_causality_free(&c);
	gus_program_free(p);
}

/* Six loads and a subtraction: two ports for loads, 3 cycles, half a cycle for each load, and nothing for the rest. */
static void test_ports(void **state)
{
	struct gus_causality c;
	struct gus_program *p = ANALYSE("\x48\x8b\x06\x48\x8b\x5e\x08\x48\x8b\x4e\x10\x4c\x8b\x46\x18\x4c\x8b\x4e\x20"
					"\x4c\x8b\x56\x28"
					"\x48\x83\xef\x08", GUS_CORE_POINTERS_NONE, &c);

	(void)state;
	assert_true(fabs(c.cycles - 3) < 0.03);
	assert_true(share(&c, GUS_HOP_PORTS) > 0.95);
	for (int i = 0; i < 6; i++)
		assert_true(fabs(c.op_cycles[i] - 0.5) < 0.05);
	assert_true(c.op_cycles[6] < 0.05);
	gus_causality_free(&c);
	gus_program_free(p);
}

/* Eight instructions that do nothing: four slots a cycle. */
static void test_front_end(void **state)
{
	struct gus_causality c;
	struct gus_program *p = ANALYSE("\x90\x90\x90\x90\x90\x90\x90\x90", GUS_CORE_POINTERS_NONE, &c);

	(void)state;
	assert_true(fabs(c.cycles - 2) < 0.02);
	assert_true(share(&c, GUS_HOP_ISSUE) + share(&c, GUS_HOP_RETIRE) > 0.99);
	gus_causality_free(&c);
	gus_program_free(p);
}

/* add [rsi], eax: through memory, from the store of one iteration to the load of the next. */
static void test_memory(void **state)
{
	struct gus_causality c;
	struct gus_program *p = ANALYSE("\x01\x06", GUS_CORE_POINTERS_EQUAL, &c);

	(void)state;
	assert_true(share(&c, GUS_HOP_FORWARD) > 0.5);
	assert_true(share(&c, GUS_HOP_PORTS) + share(&c, GUS_HOP_ISSUE) < 0.05);
	gus_causality_free(&c);
	gus_program_free(p);
}

static void one_level(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	(void)access;
	*level = *(const enum gus_hit *)context;
	*tlb = GUS_TLB_HIT;
}

static bool always(void *context, uint32_t op, uint64_t iteration)
{
	(void)context;
	(void)op;
	(void)iteration;
	return true;
}

/* What the oracles say: a chain of loads from memory goes to that level's latency, loads that do not depend on each
 * other to its bandwidth or the miss buffers, a branch that is always wrong to the penalty. */
static void test_oracles(void **state)
{
	enum gus_hit level = GUS_HIT_MEMORY;
	const struct gus_core_memory memory = { &level, one_level };
	const struct gus_core_branch branch = { NULL, always };
	const struct { const char *bytes; size_t size; struct gus_stream_options o; enum gus_hop hop; double least;
		} cases[] = {
		{ "\x48\x8b\x36", 3, { .memory = &memory }, GUS_HOP_LEVEL, 0.95 },
		{ "\x48\x8b\x06\x48\x83\xc6\x40", 7, { .memory = &memory, .pointers = GUS_CORE_POINTERS_DISTINCT },
			GUS_HOP_LEVEL, 0.9 },
		{ "\x48\xff\xca\x75\xfb", 5, { .branch = &branch }, GUS_HOP_MISPREDICT, 0.7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		struct gus_program *p = gus_program_new(skylake, cases[i].bytes, cases[i].size, 0, 0, &err);
		struct gus_stream_result r;
		struct gus_causality c;

		assert_int_equal(gus_causality_run(p, &config, &cases[i].o, &c, &r, &err), 0);
		assert_true(fabs(c.cycles - r.per_iteration[0]) < 0.02 * r.per_iteration[0]);
		assert_true(share(&c, cases[i].hop) > cases[i].least);
		gus_causality_free(&c);
		gus_program_free(p);
	}
}

/* A division every iteration and nothing that it depends on: its unit. */
static void test_unit(void **state)
{
	struct gus_causality c;
	struct gus_program *p = ANALYSE("\xf2\x0f\x5e\xc1\x0f\x57\xc0\x48\xff\xc0", GUS_CORE_POINTERS_NONE,
					&c); /* divsd xmm0, xmm1; xorps; inc rax */

	(void)state;
	assert_true(share(&c, GUS_HOP_UNITS) > 0.99);
	assert_int_equal(c.causes[0].op, 0);
	gus_causality_free(&c);
	gus_program_free(p);
}

/* A part of the scheduler that has more entries than all else of the machine together: the log has room for them. */
static void test_large_part(void **state)
{
	struct gus_core_config before = config;
	struct gus_causality c;
	struct gus_program *p;

	(void)state;
	config.rs_int = config.rs_memory = 100000;
	p = ANALYSE("\x48\x01\xc8\x48\x8b\x3f", GUS_CORE_POINTERS_NONE, &c); /* add rax, rcx; mov rdi, [rdi] */
	gus_causality_free(&c);
	gus_program_free(p);
	config = before;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain), cmocka_unit_test(test_ports), cmocka_unit_test(test_front_end),
		cmocka_unit_test(test_memory), cmocka_unit_test(test_oracles), cmocka_unit_test(test_unit),
		cmocka_unit_test(test_large_part),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
