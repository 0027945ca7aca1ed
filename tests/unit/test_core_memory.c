/* SPDX-License-Identifier: MIT */
/* The core engine beyond L1 and beyond the straight path: the two oracles, forwarding, commit states, an instruction source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

static struct gus_uarch *skylake;
static struct gus_core_config config;

static int setup(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	skylake = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);
	if (!skylake)
		return -1;
	gus_core_config_of(&config, skylake);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_uarch_free(skylake);
	return 0;
}

static struct gus_program *program(const char *bytes, size_t size)
{
	struct gus_error err = { 0 };
	struct gus_program *p = gus_program_new(skylake, bytes, size, 0, 0, &err);

	assert_non_null(p);
	return p;
}
#define PROGRAM(bytes) program(bytes, sizeof(bytes) - 1)

static struct gus_core_result run(const struct gus_program *p, const struct gus_core_options *o)
{
	struct gus_core_result r;
	struct gus_error err = { 0 };
	uint64_t states = 0, stops = 0;

	assert_int_equal(gus_core_run(p, &config, o, &r, &err), 0);
	for (unsigned i = 0; i < GUS_COMMITS; i++)
		states += r.commit[i];
	for (unsigned i = 0; i < GUS_CORE_REASONS; i++)
		stops += r.stop[i];
	assert_int_equal(states, r.steady_cycles); /* each cycle has one commit state and one reason */
	assert_int_equal(stops, r.steady_cycles);
	return r;
}

static double cycles(const struct gus_program *p, const struct gus_core_options *o)
{
	struct gus_core_result r = run(p, o);

	return (double)r.steady_cycles / (double)r.steady_iterations;
}

static void answer(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	(void)access;
	*level = *(const enum gus_hit *)context;
	*tlb = GUS_TLB_HIT;
}

/* mov rax, [rax]: each load waits for the one before, so an iteration is one latency. */
static void test_levels(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x8b\x00");
	static const enum gus_hit levels[] = { GUS_HIT_L1, GUS_HIT_L2, GUS_HIT_MEMORY };
	const uint32_t expected[] = { config.l1d_latency, config.l2_latency, config.memory_latency };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		enum gus_hit level = levels[i];
		struct gus_core_memory oracle = { &level, answer };
		struct gus_core_options o = { .memory = &oracle, .pointers = GUS_CORE_POINTERS_NONE, .iterations = 400 };
		double got = cycles(p, &o);

		assert_true(got >= expected[i] && got <= expected[i] + 3);
	}
	gus_program_free(p);
}

/* mov rcx, [rax+rdx]; add rdx, 64: independent misses; as many are on their way as there are buffers. */
static void test_miss_buffers(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x8b\x0c\x10\x48\x83\xc2\x40");
	enum gus_hit level = GUS_HIT_MEMORY;
	struct gus_core_memory oracle = { &level, answer };
	struct gus_core_options o = { .memory = &oracle, .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 2000 };
	double few, many;

	(void)state;
	few = cycles(p, &o);
	assert_true(few > 0.9 * config.memory_latency / config.l1d_misses && few < 1.1 * config.memory_latency / config.l1d_misses);
	config.l1d_misses *= 2;
	many = cycles(p, &o);
	config.l1d_misses /= 2;
	assert_true(many < 0.6 * few);
	gus_program_free(p);
}

static bool every_eighth(void *context, uint32_t op, uint64_t iteration)
{
	(void)context;
	(void)op;
	return iteration % 8 == 7;
}

/* add rax, 1; cmp rax, rbx; jne back: the misprediction of one branch in eight costs its penalty and the time to run it, and the
 * cycles until the right path retires are flushed. */
static void test_mispredict(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x83\xc0\x01\x48\x39\xd8\x75\xf7");
	struct gus_core_branch oracle = { NULL, every_eighth };
	struct gus_core_options good = { .iterations = 800, .pointers = GUS_CORE_POINTERS_NONE }, bad = good;
	struct gus_core_result r;
	double lost;

	(void)state;
	bad.branch = &oracle;
	r = run(p, &bad);
	lost = 8 * ((double)r.steady_cycles / (double)r.steady_iterations - cycles(p, &good));
	assert_true(lost >= config.mispredict_penalty && lost < config.mispredict_penalty + 16);
	assert_true(r.commit[GUS_COMMIT_FLUSHED] >= 100 * (config.mispredict_penalty - 4));
	gus_program_free(p);
}

/* Through memory: add qword [rbx], 1 is addition and forwarding; a load that needs more than the store has waits until it is in L1;
 * without pointers nothing is carried. */
static void test_forwarding(void **state)
{
	struct gus_program *add = PROGRAM("\x48\x83\x03\x01"), *narrow = PROGRAM("\x88\x03\x48\x8b\x0b");
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL }, none = { .pointers = GUS_CORE_POINTERS_NONE };

	(void)state;
	assert_true(cycles(add, &o) >= 1 + config.store_forward_latency && cycles(add, &o) <= 3 + config.store_forward_latency);
	assert_true(cycles(add, &none) <= 1.01);
	assert_true(cycles(narrow, &o) >= config.store_forward_blocked);
	assert_true(cycles(narrow, &none) <= 1.01);
	gus_program_free(add);
	gus_program_free(narrow);
}

/* mov [rbx], eax; mov rcx, [rbx + DISPLACEMENT] of eight bytes, or of four: what lies in the store as a whole is forwarded, and
 * what lies in it in part waits for it, at whichever end. */
static void test_parts_of_a_store(void **state)
{
	static const struct { int8_t displacement; bool wide, blocked; } cases[] = {
		{ -8, true, false }, { -7, true, true }, { -4, true, true }, { 0, true, true }, { 3, true, true },
		{ 4, true, false }, { -4, false, false }, { -1, false, true }, { 0, false, false }, { 1, false, true },
		{ 4, false, false },
	};
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char code[] = { '\x89', '\x03', cases[i].wide ? '\x48' : '\x40', '\x8b', '\x4b',
			cases[i].displacement };
		struct gus_program *p = program(code, sizeof(code));
		double got = cycles(p, &o);

		if ((got >= config.store_forward_blocked) != cases[i].blocked)
			fail_msg("%d, %s: %g cycles an iteration", cases[i].displacement,
				 cases[i].wide ? "wide" : "narrow", got);
		gus_program_free(p);
	}
}

/* 66 3d imm16 changes its length by the prefix: retirement is drained while length decoding waits. */
static void test_drained(void **state)
{
	struct gus_program *p = PROGRAM("\x66\x3d\x34\x12");
	struct gus_core_options o = { .unrolled = true, .pointers = GUS_CORE_POINTERS_EQUAL };
	struct gus_core_result r = run(p, &o);

	(void)state;
	assert_int_equal(r.fetch, GUS_CORE_FETCH_DECODERS);
	assert_true((double)r.steady_cycles / (double)r.steady_iterations >= config.lcp_penalty);
	assert_true(r.commit[GUS_COMMIT_DRAINED] > r.steady_cycles / 3);
	gus_program_free(p);
}

/* A source that runs the first op twice, then the second once, with addresses of its own: what a trace gives. */
struct trace { unsigned at, end; };

static bool next(void *context, struct gus_core_step *step)
{
	struct trace *t = context;

	if (t->at == t->end)
		return false;
	*step = (struct gus_core_step){ .op = t->at % 3 == 2, .last = t->at % 3 == 2, .addressed = true, .address = { 4096 + 8 * t->at } };
	t->at++;
	return true;
}

static void count(void *context, const struct gus_core_event *event)
{
	uint64_t *n = context;

	n[event->op]++;
	assert_true(event->issued <= event->dispatched && event->dispatched <= event->completed && event->completed <= event->retired);
}

static void test_source(void **state)
{
	/* mov rcx, [rax]; mov [rdx], rcx */
	struct gus_program *p = PROGRAM("\x48\x8b\x08\x48\x89\x0a");
	struct trace trace = { 0, 300 };
	struct gus_core_source source = { &trace, next };
	uint64_t uops[2] = { 0, 0 };
	struct gus_core_listener listener = { uops, NULL, count };
	struct gus_core_options o = { .source = &source, .listener = &listener };
	struct gus_core_result r = run(p, &o);

	(void)state;
	assert_int_equal(r.iterations, 100);
	assert_int_equal(uops[0], 200);
	assert_int_equal(uops[1], 200); /* a store is two */
	gus_program_free(p);
}

/* What makes no machine is refused with a reason. */
static void test_refused(void **state)
{
	struct gus_program *p = PROGRAM("\x90");
	struct gus_core_config broken = config;
	struct gus_core_options o = { 0 };
	struct gus_core_result r;
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_core_config_set(&broken, "issue_width", 0, &err), -1);
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_config_set(&broken, "no_such_size", 1, &err), -1);
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_core_config_set(&broken, "line_size", 48, &err), 0);
	assert_int_equal(gus_core_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "line_size"));
	gus_program_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels), cmocka_unit_test(test_miss_buffers), cmocka_unit_test(test_mispredict),
		cmocka_unit_test(test_forwarding), cmocka_unit_test(test_parts_of_a_store), cmocka_unit_test(test_drained),
		cmocka_unit_test(test_source), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
