/* SPDX-License-Identifier: MIT */
/* Saturation on random loops (what instructions take adds up to what the resource is needed, and the fullest group of
 * ports is the bound of ports), and the reason why engines differ, where it is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "made_program.h"
#include "model/analysis/agreement.h"
#include "model/analysis/bounds.h"
#include "model/analysis/saturation.h"
#include "model/code/program.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "tests/accuracy/random_loop.h"

enum { LOOPS = 100 };

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

static struct gus_program *program(const void *bytes, size_t size)
{
	return made_program(skylake, bytes, size);
}

/* They are whole, known, and loops; and the same seed makes the same. */
static void test_random_loops(void **state)
{
	struct random_loop a, b;

	(void)state;
	for (uint64_t seed = 0; seed < LOOPS; seed++) {
		struct gus_program *p;

		random_loop_make(&a, seed);
		random_loop_make(&b, seed);
		assert_int_equal(a.size, b.size);
		assert_memory_equal(a.bytes, b.bytes, a.size);
		p = program(a.bytes, a.size);
		assert_true(p->loop);
		assert_int_equal(p->unknown, 0);
		assert_int_equal(p->insns_n, a.instructions);
		assert_in_range(p->insns_n, 8, 60);
		gus_program_free(p);
	}
}

static void check_resources(const struct gus_program *p, const struct gus_bounds *bounds)
{
	struct gus_saturation s;
	double most = 0, units = 0;

	gus_saturation_of(p, &config, 10, &s);
	assert_true(s.n > 2);
	for (size_t i = 0; i < s.n; i++) {
		const struct gus_resource *r = &s.resources[i];
		double sum = 0;

		for (uint32_t op = 0; op < p->ops_n; op++)
			sum += r->of[op];
		assert_true(fabs(sum - r->cycles) < 1e-9);
		assert_true(fabs(r->saturation - r->cycles / 10) < 1e-12);
		assert_true(!i || r->saturation <= s.resources[i - 1].saturation);
		if (r->kind == GUS_KNOB_PORTS)
			most = fmax(most, r->cycles);
		if (r->kind == GUS_KNOB_UNITS)
			units = fmax(units, r->cycles);
		if (r->kind == GUS_KNOB_ISSUE)
			assert_true(fabs(r->cycles - bounds->cycles[GUS_BOUND_ISSUE]) < 1e-9);
	}
	assert_true(fabs(most - bounds->cycles[GUS_BOUND_PORTS]) < 1e-9);
	assert_true(fabs(units - fmax(0, bounds->cycles[GUS_BOUND_UNITS])) < 1e-9); /* negative: there are none */
	gus_saturation_free(&s);
}

static void test_resources_are_bounds(void **state)
{
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_error err = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < LOOPS; seed++) {
		struct random_loop loop;
		struct gus_bounds bounds;
		struct gus_program *p;

		random_loop_make(&loop, seed);
		p = program(loop.bytes, loop.size);
		assert_int_equal(gus_bounds_of(p, &config, &o, &bounds, &err), 0);
		check_resources(p, &bounds);
		gus_program_free(p);
	}
}

static struct gus_agreement agreement(const char *bytes, size_t size, const struct gus_core_config *c)
{
	struct gus_program *p = program(bytes, size);
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_error err = { 0 };
	struct gus_agreement a;

	assert_int_equal(gus_agreement_run(p, c, &o, &a, &err), 0);
	gus_program_free(p);
	return a;
}
#define AGREEMENT(bytes, c) agreement(bytes, sizeof(bytes) - 1, c)

/* imul rax, rbx, 3; cmp rcx, rbp; jne back: one iteration a cycle, on a machine with a single branch in flight
 * three. */
#define BRANCHES "\x48\x6b\xc3\x03\x48\x39\xe9\x75\xf7"

static void test_reason(void **state)
{
	struct gus_core_config few = config;
	struct gus_agreement a = AGREEMENT(BRANCHES, &config);

	(void)state;
	assert_true(fabs(a.core - 1) < 1e-9 && fabs(a.stream - 1) < 1e-9);
	assert_int_equal(a.reason, GUS_LIMITS);
	few.branch_buffer = 1;
	a = AGREEMENT(BRANCHES, &few);
	assert_true(a.core > 2);
	assert_true(fabs(a.difference - (a.stream / a.core - 1)) < 1e-12);
	assert_int_equal(a.reason, GUS_LIMIT_BRANCH_BUFFER);
	assert_true(fabs(a.relaxed[GUS_LIMIT_BRANCH_BUFFER] - 1) < 1e-9);
	assert_true(fabs(a.relaxed[GUS_LIMIT_REORDER_BUFFER] - a.core) < 1e-9);
}

/* imul rax, rbx; shl rcx, 2; shl rdx, 2; add rsi, rbx; add rdi, rbx: the chain is what takes three cycles, whoever
 * takes which port. */
static void test_ports_taken_when_free(void **state)
{
	struct gus_core_config any = config;
	struct gus_program *p = program("\x48\x0f\xaf\xc3\x48\xc1\xe1\x02\x48\xc1\xe2\x02\x48\x01\xde\x48\x01\xdf", 18);
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_NONE, .fetch = GUS_CORE_FETCH_IDEAL };
	struct gus_core_result r;
	struct gus_error err = { 0 };

	(void)state;
	any.port_binding = 4;
	assert_int_equal(gus_core_run(p, &any, &o, &r, &err), 0);
	assert_true(r.periodic);
	assert_int_equal(r.steady_cycles, 3 * r.steady_iterations); /* the multiplication's chain */
	gus_program_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_loops), cmocka_unit_test(test_resources_are_bounds),
			cmocka_unit_test(test_reason),
		cmocka_unit_test(test_ports_taken_when_free),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
