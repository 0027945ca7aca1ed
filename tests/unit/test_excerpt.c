/* SPDX-License-Identifier: MIT */
/* Excerpts of traces through both engines: what a turn takes follows from what the trace says of levels, mispredictions
 * and addresses, and where the engines differ the limit that makes it is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/error.h"
#include "made_program.h"
#include "model/analysis/agreement.h"
#include "model/analysis/excerpt.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"

enum { TURNS = 400 };

static struct gus_uarch *skylake;
static struct gus_core_config config;
static struct gus_program *p;
static struct gus_excerpt x;

static int setup(void **state)
{
	(void)state;
	skylake = made_table("skylake");
	gus_core_config_of(&config, skylake);
	x = (struct gus_excerpt){ .cached = 0 };
	p = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_excerpt_free(&x);
	gus_program_free(p);
	gus_uarch_free(skylake);
	return 0;
}

#define PROGRAM(bytes) (p = made_program(skylake, bytes, sizeof(bytes) - 1))

/* One turn: each op once, all accesses at that address and level; the last op is a branch that goes wrong or not. */
static void turn(uint64_t address, enum gus_hit level, bool known, bool wrong)
{
	for (uint32_t op = 0; op < p->ops_n; op++) {
		/* The first access of a chunk is another op's. */
		struct gus_op_step told = { .op = op, .cached = true, .taken = op + 1 == p->ops_n, .access = 1,
			.mispredicted = wrong && op + 1 == p->ops_n };
		const struct gus_op_access own = { address, 8, (uint8_t)level, GUS_TLB_HIT, known };
		struct gus_op_access accesses[] = { { 0x50, 1, GUS_HIT_MEMORY, GUS_TLB_WALK, true }, own, own };

		gus_excerpt_add(&x, p, &told, accesses);
	}
}

static struct gus_agreement compare(double least)
{
	struct gus_agreement a;
	struct gus_error err = { 0 };

	if (gus_excerpt_compare(&x, p, &config, least, &a, &err) != 0)
		fail_msg("%s", err.text);
	return a;
}

static void both_take(double cycles, double within)
{
	struct gus_agreement a = compare(1);

	if (fabs(a.core - cycles) > within || fabs(a.stream - cycles) > within)
		fail_msg("core %.2f, stream %.2f, expected %.2f", a.core, a.stream, cycles);
	assert_int_equal(a.reason, GUS_LIMITS);
}

/* mov rsi, [rsi]; dec rcx; jnz back: each second line is in L2. */
static void levels_are_those_of_the_trace(void **state)
{
	(void)state;
	PROGRAM("\x48\x8b\x36\x48\xff\xc9\x75\xf8");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x10000 + i * 64, i % 2 ? GUS_HIT_L2 : GUS_HIT_L1, true, false);
	both_take((config.l1d_latency + config.l2_latency) / 2.0, 0.1);
}

/* Only the second half counts. */
static void the_first_half_is_for_filling(void **state)
{
	(void)state;
	PROGRAM("\x48\x8b\x36\x48\xff\xc9\x75\xf8");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x10000 + i * 64, i < TURNS / 2 - 2 ? GUS_HIT_MEMORY : GUS_HIT_L1, true, false);
	both_take(config.l1d_latency, 0.1);
}

/* Each branch that goes wrong takes the penalty and a little more: mov rax, [rdi]; dec rcx; jnz back. */
static void mispredictions_are_those_of_the_trace(void **state)
{
	struct gus_agreement a;

	(void)state;
	config.mispredict_penalty = 40;
	PROGRAM("\x48\x8b\x07\x48\xff\xc9\x75\xf8");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x10000, GUS_HIT_L1, true, false);
	both_take(1, 0.1);
	gus_excerpt_clear(&x);
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x10000, GUS_HIT_L1, true, i % 4 == 0);
	a = compare(1);
	assert_true(a.core > 40 / 4.0 && a.core < 50 / 4.0);
	assert_true(a.stream > 40 / 4.0 && a.stream < 50 / 4.0);
}

/* mov [rdi], rax; mov rax, [rsi]; dec rcx; jnz back: the trace says that both are the same word, or that nothing is
 * known, and then no store feeds a load. */
static void addresses_are_those_of_the_trace(void **state)
{
	(void)state;
	config.store_forward_latency = 11;
	PROGRAM("\x48\x89\x07\x48\x8b\x06\x48\xff\xc9\x75\xf5");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x10000, GUS_HIT_L1, true, false);
	both_take(11, 0.6);
	gus_excerpt_clear(&x);
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x10000, GUS_HIT_L1, false, false);
	both_take(1, 0.2);
	/* What is not known lies where no store is, also if those begin at 0. */
	gus_excerpt_clear(&x);
	for (uint64_t i = 0; i < TURNS; i++) {
		turn(0, GUS_HIT_L1, false, false);
		x.accesses.v[2 * i].known = true;
		x.accesses.v[2 * i].address = (2 * i + 1) * 64;
	}
	both_take(1, 0.3);
}

/* mov rax, [rsi]; mov [rdi], rax; dec rcx; jnz back, each turn new lines from memory: a store that asks for its line
 * when it retires does not hold up the loads behind it, which ask long before. What holds them up is the store buffer:
 * each of its entries waits for the load's line and then for its own. */
static void late_stores_hold_up_no_loads(void **state)
{
	(void)state;
	config.l1d_misses = 0;
	config.l2_bandwidth = config.l3_bandwidth = config.memory_bandwidth = 0;
	config.rob = config.int_renames = config.load_buffer = config.rs = 0;
	PROGRAM("\x48\x8b\x06\x48\x89\x07\x48\xff\xc9\x75\xf5");
	for (uint64_t i = 0; i < TURNS; i++)
		for (uint32_t op = 0; op < p->ops_n; op++) {
			struct gus_op_step told = { .op = op, .cached = true, .taken = op + 1 == p->ops_n };
			struct gus_op_access access = { 0x100000 * (op + 1) + i * 64, 8, GUS_HIT_MEMORY,
				GUS_TLB_HIT, true };

			gus_excerpt_add(&x, p, &told, &access);
		}
	both_take(2.0 * config.memory_latency / config.store_buffer, 1.5);
}

/* Lines of one stretch have places of their own, and so have those of arrays that are multiples of the table apart. */
static void lines_have_places_of_their_own(void **state)
{
	enum { SLOTS = 256 };
	bool taken[SLOTS] = { false };

	(void)state;
	for (uint64_t line = 0; line < SLOTS; line++) {
		unsigned slot = gus_core_line_slot(line, SLOTS);

		assert_true(slot < SLOTS && !taken[slot]);
		taken[slot] = true;
	}
	for (uint64_t array = 1; array < 64; array++)
		assert_int_not_equal(gus_core_line_slot(5, SLOTS), gus_core_line_slot(5 + array * SLOTS, SLOTS));
}

/* shl rax, 3; 3 x add r, 1; shl r8, 3; dec rcx; jnz back, ports in turn: what the stream engine has not is named. */
static void the_limit_is_named(void **state)
{
	struct gus_agreement a;

	(void)state;
	config.port_binding = GUS_CORE_BIND_ALTERNATE;
	PROGRAM("\x48\xc1\xe0\x03\x49\x83\xc1\x01\x48\x83\xc2\x01\x48\x83\xc3\x01\x49\xc1\xe0\x03\x48\xff\xc9\x75\xe7");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0, GUS_HIT_L1, false, false);
	a = compare(0.05);
	assert_true(a.difference < -0.05);
	assert_true(fabs(a.difference - (a.stream / a.core - 1)) < 1e-12);
	assert_int_equal(a.reason, GUS_LIMIT_PORT_BINDING);
	a = compare(0.5); /* less than what is asked for */
	assert_int_equal(a.reason, GUS_LIMITS);
	assert_true(a.difference < -0.05);
}

/* dec rcx; mov rsi, [rsi]; jnz back: the load of the last of four turns is the one from memory, whatever comes before
 * it in its turn. */
static void the_last_access_is_its_own(void **state)
{
	struct gus_agreement a;

	(void)state;
	PROGRAM("\x48\xff\xc9\x48\x8b\x36\x75\xf8");
	for (unsigned i = 0; i < 4; i++)
		turn(0x10000 + i * 64, i == 3 ? GUS_HIT_MEMORY : GUS_HIT_L1, true, false);
	a = compare(100);
	assert_true(a.core > config.memory_latency / 2.0 && a.stream > config.memory_latency / 2.0);
}

/* mov [rdi], rax; mov [rbx], rcx; mov eax, [rsi]; dec rcx; jnz back: the second store lies across two words, of each of
 * which the first one wrote the other half; the load reads that half, so it is the first store that feeds it. */
static void older_stores_of_a_word(void **state)
{
	static const struct { uint64_t first, load; bool feeds; } cases[] = {
		{ 0x10000, 0x10000, true }, { 0x10008, 0x1000c, true }, { 0x10008, 0x10000, false },
		{ 0x10000, 0x1000c, false },
	};

	(void)state;
	config.store_forward_latency = 11;
	PROGRAM("\x48\x89\x07\x48\x89\x0b\x8b\x06\x48\xff\xc9\x75\xf3");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		gus_excerpt_clear(&x);
		for (unsigned n = 0; n < TURNS; n++) {
			turn(cases[i].first, GUS_HIT_L1, true, false);
			x.accesses.v[3 * n + 1].address = 0x10004;
			x.accesses.v[3 * n + 2].address = cases[i].load;
			x.accesses.v[3 * n + 2].bytes = 4;
		}
		both_take(cases[i].feeds ? 11 : 2, 1.1);
	}
}

/* push [rsi]; dec rcx; jnz back: one store a cycle leaves for L1, and what the same op loads is none. */
static void what_is_loaded_does_not_leave(void **state)
{
	(void)state;
	config.l1d_stores = 1;
	PROGRAM("\xff\x36\x48\xff\xc9\x75\xf9");
	assert_int_equal(p->ops[0].memories_n, 2);
	for (unsigned i = 0; i < TURNS; i++) {
		turn(0x10000, GUS_HIT_L1, true, false);
		x.accesses.v[2 * i + 1].address = 0x20000;
	}
	both_take(1, 0.2);
}

/* mov rax, [rsi]; mov rsi, [rsi + 8]; dec rcx; jnz back: the second load is a hit of a line that is on its way, and
 * waits for it as the first does. */
static void a_hit_waits_for_its_line(void **state)
{
	(void)state;
	PROGRAM("\x48\x8b\x06\x48\x8b\x76\x08\x48\xff\xc9\x75\xf4");
	for (unsigned i = 0; i < TURNS; i++) {
		turn(0x10000 + i * 64, GUS_HIT_L2, true, false);
		x.accesses.v[2 * i + 1].level = GUS_HIT_L1;
		x.accesses.v[2 * i + 1].address += 8;
	}
	both_take(config.l2_latency, 1);
}

/* mov rax, [rsi]; dec rcx; jnz back on Zen 4, whose loads are a uop on an address unit and one on a load pipe: one
 * access, which passes the bus once, walks once and has one entry of the load buffer. */
static void one_load_is_one_access(void **state)
{
	struct gus_uarch *zen4 = made_table("znver4");
	uint32_t walk;

	(void)state;
	gus_core_config_of(&config, zen4);
	p = made_program(zen4, "\x48\x8b\x06\x48\xff\xc9\x75\xf8", 8);
	assert_int_equal(p->ops[0].uops_n, 2);
	assert_int_equal(p->ops[0].loads, 1);
	for (unsigned i = 0; i < TURNS; i++)
		turn(0x10000 + i * 64, GUS_HIT_L2, true, false);
	both_take(64 / 32, 0.1);
	config.page_walks = 1;
	walk = config.page_walk_latency;
	assert_true(walk > 10);
	for (unsigned i = 0; i < TURNS; i++) {
		x.accesses.v[i].level = GUS_HIT_L1;
		x.accesses.v[i].tlb = GUS_TLB_WALK;
	}
	both_take(walk, 0.5);
	gus_program_free(p);
	p = NULL;
	gus_uarch_free(zen4);
}

/* 4 x nop of 8 bytes: 16 bytes are decoded in a cycle. Most ops say where all come from; half of them are enough. */
static void most_ops_say_where_from(void **state)
{
	(void)state;
	PROGRAM("\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x84\0\0\0\0\0"
		"\x0f\x1f\x84\0\0\0\0\0\x0f\x1f\x84\0\0\0\0\0");
	for (unsigned i = 0; i < TURNS; i++)
		turn(0, GUS_HIT_L1, false, false);
	assert_int_equal(x.cached, 4 * TURNS);
	both_take(1, 0.1);
	x.cached = 2 * TURNS;
	both_take(1, 0.1);
	x.cached--;
	both_take(2, 0.1);
	gus_excerpt_clear(&x);
	assert_int_equal(x.cached, 0);
	assert_int_equal(x.steps.n, 0);
}

/* An engine that fails says so, whichever it is. */
static int failing(void *fails, const struct gus_core_config *c, const struct gus_core_options *o, double *cycles,
		   struct gus_error *err)
{
	int *left = fails;

	(void)c, (void)o;
	*cycles = 1 + *left; /* so that they differ */
	return (*left)-- > 0 ? 0 : gus_fail(err, GUS_E_USAGE, "cannot run this");
}

static void an_engine_that_fails(void **state)
{
	const struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };
	struct gus_agreement a;
	struct gus_error err = { 0 };
	int left;
	const struct gus_agreement_runs runs = { &left, failing, failing };

	(void)state;
	/* The core engine, the stream engine, the core engine without each limit, and without all. */
	for (int calls = 0; calls < 3 + GUS_LIMITS; calls++) {
		left = calls;
		assert_int_equal(gus_agreement_of_runs(&runs, &config, &o, 0, &a, &err), -1);
		assert_int_equal(left, -1);
	}
	left = 3 + GUS_LIMITS;
	assert_int_equal(gus_agreement_of_runs(&runs, &config, &o, 0, &a, &err), 0);
}

/* Engines that say what is written down: the core engine's figure, the stream engine's, the core engine's without each
 * limit in their order, and without all. */
struct script { double said[3 + GUS_LIMITS]; unsigned calls; };

static int scripted(void *script, const struct gus_core_config *c, const struct gus_core_options *o, double *cycles,
		    struct gus_error *err)
{
	struct script *s = script;

	(void)c, (void)o, (void)err;
	*cycles = s->said[s->calls++];
	return 0;
}

/* The limit is named without which the core engine comes nearest to the stream engine, if it comes nearer than half-way
 * and they differ by a per cent at least; of two that come as near the first. */
static void which_limit_is_named(void **state)
{
	enum { A = 0, B = GUS_LIMITS - 1 };
	static const struct { double core, stream, a, b, least, difference; int reason; } cases[] = {
		{ 100, 200, 160, 0, 0, 1, A }, { 100, 200, 150, 0, 0, 1, GUS_LIMITS },
		{ 100, 200, 240, 0, 0, 1, A }, { 100, 200, 160, 230, 0, 1, B }, { 100, 200, 160, 240, 0, 1, A },
		{ 200, 100, 0, 120, 0, -0.5, B },
		{ 1000, 1009, 1009, 0, 0, 0.009, GUS_LIMITS }, { 1000, 1011, 1011, 0, 0, 0.011, A },
		{ 100, 150, 150, 0, 0.5, 0.5, A }, { 100, 149, 149, 0, 0.5, 0.49, GUS_LIMITS },
		{ 0, 100, 100, 0, 0, 0, GUS_LIMITS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };
		struct script s = { .said = { cases[i].core, cases[i].stream } };
		const struct gus_agreement_runs runs = { &s, scripted, scripted };
		struct gus_agreement a;

		for (int limit = 0; limit < GUS_LIMITS; limit++)
			s.said[2 + limit] = cases[i].core;
		s.said[2 + A] = cases[i].a;
		s.said[2 + B] = cases[i].b;
		s.said[2 + GUS_LIMITS] = cases[i].stream; /* which names none */
		assert_int_equal(gus_agreement_of_runs(&runs, &config, &o, cases[i].least, &a, NULL), 0);
		if ((int)a.reason != cases[i].reason || fabs(a.difference - cases[i].difference) > 1e-12)
			fail_msg("case %zu: %d, %f", i, (int)a.reason, a.difference);
		if (s.calls > 2) {
			assert_int_equal(s.calls, 3 + GUS_LIMITS);
			assert_float_equal(a.all, cases[i].stream, 1e-12);
		}
	}
}

/* mov rsi, [rsi]: both take a hit, also where so many turns are given. */
static void turns_may_be_given(void **state)
{
	(void)state;
	PROGRAM("\x48\x8b\x36");
	for (unsigned iterations = 0; iterations <= 1000; iterations += 1000) {
		const struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = iterations };
		struct gus_agreement a;
		struct gus_error err = { 0 };

		assert_int_equal(gus_agreement_run(p, &config, &o, &a, &err), 0);
		assert_float_equal(a.core, config.l1d_latency, 0.05);
		assert_float_equal(a.stream, config.l1d_latency, 0.05);
	}
}

/* mov rsi, [rsi]: a load that takes longer than the stream engine can count (test_stream). */
static void what_one_engine_refuses(void **state)
{
	const struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_agreement a;
	struct gus_error err = { 0 };

	(void)state;
	PROGRAM("\x48\x8b\x36");
	config.memory_latency = config.page_walk_latency = GUS_CORE_CYCLES_MOST;
	assert_int_equal(gus_agreement_run(p, &config, &o, &a, &err), 0);
	p->uops[0].unit_cycles = p->uops[0].latency = UINT16_MAX;
	assert_int_equal(gus_agreement_run(p, &config, &o, &a, &err), -1);
	assert_non_null(strstr(err.text, "an instruction may take"));
	for (unsigned i = 0; i < TURNS; i++)
		turn(0, GUS_HIT_L1, true, false);
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_excerpt_compare(&x, p, &config, 1, &a, &err), -1);
	assert_non_null(strstr(err.text, "an instruction may take"));
	p->uops[0].ports = UINT64_C(1) << 60; /* which the core engine has not */
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_excerpt_compare(&x, p, &config, 1, &a, &err), -1);
	assert_non_null(strstr(err.text, "has a port"));
}

/* One turn has no second half. */
static void a_single_turn_is_refused(void **state)
{
	struct gus_agreement a;
	struct gus_error err = { 0 };

	(void)state;
	PROGRAM("\x48\x8b\x36\x48\xff\xc9\x75\xf8");
	turn(0, GUS_HIT_L1, true, false);
	assert_int_equal(gus_excerpt_compare(&x, p, &config, 1, &a, &err), -1);
	assert_non_null(strstr(err.text, "no turns"));
	turn(0, GUS_HIT_L1, true, false);
	assert_int_equal(gus_excerpt_compare(&x, p, &config, 1, &a, &err), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(levels_are_those_of_the_trace),
		CASE(the_first_half_is_for_filling),
		CASE(mispredictions_are_those_of_the_trace),
		CASE(addresses_are_those_of_the_trace),
		CASE(late_stores_hold_up_no_loads),
		CASE(lines_have_places_of_their_own),
		CASE(the_limit_is_named),
		CASE(the_last_access_is_its_own),
		CASE(older_stores_of_a_word),
		CASE(what_is_loaded_does_not_leave),
		CASE(a_hit_waits_for_its_line),
		CASE(one_load_is_one_access),
		CASE(most_ops_say_where_from),
		CASE(an_engine_that_fails),
		CASE(which_limit_is_named),
		CASE(turns_may_be_given),
		CASE(what_one_engine_refuses),
		CASE(a_single_turn_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
