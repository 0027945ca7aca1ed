/* SPDX-License-Identifier: MIT */
/* Bounds: what dependences, ports and units need at least, by hand for code that is short enough; what kind of
 * bottleneck that makes; and that no engine says less, of loops drawn at random and many tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hex.h"
#include "made_program.h"
#include "model/analysis/bounds.h"
#include "model/analysis/dataflow.h"
#include "model/analysis/modelled.h"
#include "model/core/core.h"
#include "tests/accuracy/plain_bound.h"
#include "tests/accuracy/random_loop.h"

static struct gus_program *program_of(const struct gus_uarch *u, const char *hex)
{
	size_t n;
	uint8_t *bytes = gus_hex_parse(hex, strlen(hex), &n);
	struct gus_program *p = made_program(u, bytes, n);

	free(bytes);
	return p;
}

/* On Skylake a store forwards in 4 cycles (5 with vectors), a load takes 5 (4 from a plain base). */
static const struct dataflow_case {
	const char *hex, *what;
	double all, registers;
} dataflow_cases[] = {
	{ "4801d8", "add rax, rbx", 1, 1 },
	{ "480fafc3", "imul rax, rbx", 3, 3 },
	{ "480fafc34801d8", "imul, add", 4, 4 },
	{ "480fafc34801d9", "imul rax; add rcx, rbx: the longer of two", 3, 3 },
	{ "31c04801d8", "xor eax, eax; add rax, rbx: nothing carries", 0, 0 },
	{ "4889d84883c001", "mov rax, rbx; add rax, 1: nothing carries", 0, 0 },
	{ "4889c04883c001", "mov rax, rax is executed", 2, 2 },
	{ "4889d84883c0014889c3", "mov rax, rbx; add rax, 1; mov rbx, rax: moves take no time", 1, 1 },
	{ "4889c14889d84889cb480fafc0", "two registers swapped, and one of them squared: 3 cycles in two", 1.5, 1.5 },
	{ "830301", "add [rbx], 1", 5, 0 },
	/* What is stored was there from the first; only the address is waited for, a cycle less than a hit. */
	{ "4989c4488b806000000049899c2460000000", "mov r12, rax; mov rax, [rax + 96]; mov [r12 + 96], rbx", 3, 4 },
	{ "48890348030b4889c8", "mov [rbx], rax; add rcx, [rbx]; mov rax, rcx", 5, 1 },
	/* Another page of the same memory, and so blocked: store_forward_blocked more. */
	{ "48890348038b001000004889c8", "mov [rbx], rax; add rcx, [rbx + 4096]; mov rax, rcx", 13, 1 },
	{ "48890348034b084889c8", "mov [rbx], rax; add rcx, [rbx + 8]; mov rax, rcx: other words", 1, 1 },
	{ "48890b488b1348030b", "mov [rbx], rcx; mov rdx, [rbx]; add rcx, [rbx]: two loads of one word", 5, 1 },
	/* A pointer that was stored is known where it is read again, whole or its lower half; not one that is wider. */
	{ "89038b0b488911480311", "mov [rbx], eax; mov ecx, [rbx]; mov [rcx], rdx; add rdx, [rcx]", 5, 1 },
	{ "8803488b0b488911480311", "mov [rbx], al; mov rcx, [rbx]; mov [rcx], rdx; add rdx, [rcx]", 1, 1 },
	/* The pointer comes by the word once; what else is carried goes on. */
	{ "4889084883c00848038be00000004883c101", "mov [rax], rcx; add rax, 8; add rcx, [rbx + 224]; add rcx, 1",
	  2, 2 },
};

static void dependences_of_short_code(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_core_config c;

	(void)state;
	gus_core_config_of(&c, u);
	for (size_t i = 0; i < sizeof(dataflow_cases) / sizeof(*dataflow_cases); i++) {
		const struct dataflow_case *d = &dataflow_cases[i];
		struct gus_program *p = program_of(u, d->hex);
		double all = gus_dataflow_bound(p, &c, GUS_CORE_POINTERS_EQUAL);
		double registers = gus_dataflow_bound(p, &c, GUS_CORE_POINTERS_NONE);

		if (fabs(all - d->all) > 1e-9 || fabs(registers - d->registers) > 1e-9)
			fail_msg("%s: %f and %f in registers", d->what, all, registers);
		gus_program_free(p);
	}
	gus_uarch_free(u);
}

static void forwarding_is_the_machines(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_program *word = program_of(u, "830301"), *vector = program_of(u, "c5fc5803c5fc1103");
	/* mov r12, rax; mov rax, [rax + 96]; mov [r12 + 96], rbx: only the address of the load is waited for. */
	struct gus_program *chase = program_of(u, "4989c4488b806000000049899c2460000000");
	struct gus_core_config c;
	double before;

	(void)state;
	gus_core_config_of(&c, u);
	before = gus_dataflow_bound(vector, &c, GUS_CORE_POINTERS_EQUAL);
	c.store_forward_latency += 10;
	assert_float_equal(gus_dataflow_bound(word, &c, GUS_CORE_POINTERS_EQUAL), 15, 1e-9);
	c.store_forward_vector = c.store_forward_latency + 3;
	assert_true(gus_dataflow_bound(vector, &c, GUS_CORE_POINTERS_EQUAL) >= before + 8);
	c.store_forward_zero = 1;
	assert_float_equal(gus_dataflow_bound(word, &c, GUS_CORE_POINTERS_EQUAL), 1, 1e-9);
	assert_float_equal(gus_dataflow_bound(chase, &c, GUS_CORE_POINTERS_EQUAL), 0, 1e-9);
	gus_program_free(chase);
	gus_program_free(word);
	gus_program_free(vector);
	gus_uarch_free(u);
}

static void ports_of_moves_are_nobodys(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_program *moves = program_of(u, "4889d84889d94889da4889de"), *adds =
		program_of(u, "4801d84801d94801da4801de");
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };
	struct gus_core_config c;
	struct gus_bounds b;

	(void)state;
	gus_core_config_of(&c, u);
	gus_bounds_behind_front_end(moves, &c, &o, &b);
	assert_float_equal(b.cycles[GUS_BOUND_PORTS], 0, 1e-9);
	assert_float_equal(b.cycles[GUS_BOUND_ISSUE], 1, 1e-9);
	assert_true(b.cycles[GUS_BOUND_DECODE] < 0);
	gus_bounds_behind_front_end(adds, &c, &o, &b);
	assert_float_equal(b.cycles[GUS_BOUND_PORTS], 1, 1e-9);
	assert_int_equal(__builtin_popcountll(b.ports), 4);
	for (unsigned port = 0; port < GUS_CORE_PORTS; port++)
		assert_float_equal(b.port[port], (b.ports >> port & 1 ? 1 : 0), 1e-9);
	gus_program_free(moves);
	gus_program_free(adds);
	gus_uarch_free(u);
}

/* Uops of fourteen different choices among four ports, one each, and twenty that only port 6 can have: it takes them
 * twenty cycles, and the others fit beside, as many sets of ports as there are to look at. */
static void many_choices_of_ports(void **state)
{
	static const char others[] =
		"a int - - 1 0\nb int - - 1 1\nc int - - 1 5\nd int - - 1 0,1\ne int - - 1 0,5\nf int - - 1 0,6\n"
		"g int - - 1 1,5\nh int - - 1 1,6\ni int - - 1 5,6\nj int - - 1 0,1,5\nk int - - 1 0,1,6\n"
		"l int - - 1 0,5,6\nm int - - 1 1,5,6\nn int - - 1 0,1,5,6\n";
	struct gus_uarch *u = made_table("skylake");
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };
	struct gus_core_config c;
	struct gus_program *p;
	struct gus_bounds b;
	char text[1024];

	(void)state;
	strcpy(text, others);
	for (char id = 'A'; id < 'A' + 20; id++)
		sprintf(text + strlen(text), "%c int - - 1 6\n", id);
	p = made_program_of_uops(u, text);
	gus_core_config_of(&c, u);
	gus_bounds_behind_front_end(p, &c, &o, &b);
	assert_float_equal(b.cycles[GUS_BOUND_PORTS], 20, 1e-9);
	assert_int_equal(b.ports, 1 << 6);
	/* The fourteen have three ports: 14 / 3 cycles each. */
	assert_float_equal(b.port[6], 20, 1e-9);
	assert_float_equal(b.port[0], 14 / 3., 1e-9);
	assert_float_equal(b.port[1], 14 / 3., 1e-9);
	assert_float_equal(b.port[5], 14 / 3., 1e-9);
	assert_float_equal(b.port[2], 0, 1e-9);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* Three uops for two ports each, one of which they share: six for three ports. What takes its port for no time that is
 * told takes it for a cycle. */
static void a_union_of_ports(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_program *p = made_program_of_uops(u, "a int - - 1 0,1\nb int - - 1 0,1\nc int - - 1 0,1\n"
						     "d int - - 1 1,5\ne int - - 1 1,5\nf int - - 1 1,5\n");
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };
	struct gus_error err = { 0 };
	struct gus_core_config c;
	struct gus_bounds b;

	(void)state;
	gus_core_config_of(&c, u);
	for (int told = 1; told >= 0; told--) {
		for (uint32_t i = 0; i < p->uops_n && !told; i++)
			p->uops[i].port_cycles = 0;
		gus_bounds_behind_front_end(p, &c, &o, &b);
		assert_float_equal(b.cycles[GUS_BOUND_PORTS], 2, 1e-9);
		assert_int_equal(b.ports, 1 << 0 | 1 << 1 | 1 << 5);
	}
	c.uop_cache_window = 33; /* a machine that no engine runs has no bounds of its front end */
	assert_int_equal(gus_bounds_of(p, &c, &o, &b, &err), -1);
	assert_non_null(strstr(err.text, "uop_cache_window is 33"));
	gus_program_free(p);
	gus_uarch_free(u);
}

/* Four additions are 12 bytes of 16 that are read in a cycle, and what four decoders take; as a loop of the uop cache
 * they are neither's. */
static void each_part_of_the_front_end(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_program *adds = program_of(u, "4801d84801d94801da4801de");
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL, .unrolled = true };
	struct gus_error err = { 0 };
	struct gus_core_config c;
	struct gus_bounds b;

	(void)state;
	gus_core_config_of(&c, u);
	assert_int_equal(gus_bounds_of(adds, &c, &o, &b, &err), 0);
	/* More than 12 / 16, as one that lies in two blocks is found with the second. */
	assert_true(b.cycles[GUS_BOUND_PREDECODE] > 0.74 && b.cycles[GUS_BOUND_PREDECODE] < 1.3);
	assert_float_equal(b.cycles[GUS_BOUND_DECODE], 1, 0.05);
	assert_true(b.cycles[GUS_BOUND_UOP_CACHE] < 0);
	o.fetch = GUS_CORE_FETCH_UOP_CACHE;
	assert_int_equal(gus_bounds_of(adds, &c, &o, &b, &err), 0);
	assert_true(b.cycles[GUS_BOUND_PREDECODE] < 0 && b.cycles[GUS_BOUND_DECODE] < 0);
	assert_true(b.cycles[GUS_BOUND_UOP_CACHE] >= 4.0 / 6);
	gus_program_free(adds);
	gus_uarch_free(u);
}

/* Five slots, four a cycle: 1.25 cycles where ends do not matter. Where each end does 2, as no slot of the next turn
 * goes beside the last one; where the buffer has eight turns as one, 10 cycles for eight, and for three turns 4. */
static void ends_of_loops(void **state)
{
	static const struct { uint32_t boundary, buffer, three; bool unrolled; double issue; } cases[] = {
		{ 0, 0, 0, false, 1.25 }, { 1, 0, 0, false, 1.25 }, { 1, 64, 0, false, 2 }, { 1, 64, 0, true, 1.25 },
		{ 0, 64, 0, true, 1.25 }, { 0, 40, 0, false, 1.25 }, { 0, 15, 0, false, 4.0 / 3 },
		{ 0, 64, 5, false, 4.0 / 3 }, { 0, 5, 0, false, 2 }, { 0, 4, 0, false, 1.25 },
	};
	struct gus_uarch *u = made_table("skylake");
	struct gus_program *adds = program_of(u, "4883c0014883c1014883c2014883c3014883c601");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_core_options o = { .unrolled = cases[i].unrolled };
		struct gus_core_config c;
		struct gus_bounds b;

		gus_core_config_of(&c, u);
		c.loop_boundary = cases[i].boundary;
		c.loop_buffer = cases[i].buffer;
		c.loop_unroll_3 = cases[i].three;
		gus_bounds_behind_front_end(adds, &c, &o, &b);
		if (fabs(b.cycles[GUS_BOUND_ISSUE] - cases[i].issue) > 1e-9)
			fail_msg("case %zu: %f", i, b.cycles[GUS_BOUND_ISSUE]);
	}
	gus_program_free(adds);
	gus_uarch_free(u);
}

static struct gus_bounds bounds(double issue, double ports, double units, double dependencies, double registers)
{
	struct gus_bounds b = { .registers = registers };

	b.cycles[GUS_BOUND_ISSUE] = issue;
	b.cycles[GUS_BOUND_PORTS] = ports;
	b.cycles[GUS_BOUND_UNITS] = units;
	b.cycles[GUS_BOUND_DEPENDENCIES] = dependencies;
	return b;
}

static void what_is_below(void **state)
{
	struct gus_bounds b = bounds(20, 10, 0, 8, 8);

	(void)state;
	/* issue can be passed by what needs no slot */
	assert_int_equal(gus_bounds_broken(&b, 10, false), GUS_BOUNDS);
	assert_int_equal(gus_bounds_broken(&b, 9.901, false), GUS_BOUNDS);
	assert_int_equal(gus_bounds_broken(&b, 9.899, false), GUS_BOUND_PORTS);
	assert_int_equal(gus_bounds_broken(&b, 9.601, true), GUS_BOUNDS);
	assert_int_equal(gus_bounds_broken(&b, 9.599, true), GUS_BOUND_PORTS);
	assert_int_equal(gus_bounds_broken(&b, 7.9, false), GUS_BOUND_DEPENDENCIES);
	b = bounds(0, 0, 6, 0, 0);
	assert_int_equal(gus_bounds_broken(&b, 5.9, false), GUS_BOUND_UNITS);
	b = (struct gus_bounds){ .cycles[GUS_BOUND_RETIRE] = 3 };
	assert_int_equal(gus_bounds_broken(&b, 2.9, false), GUS_BOUND_RETIRE);
	assert_int_equal(gus_bounds_broken(&b, 3, false), GUS_BOUNDS);
}

static void kinds_of_bottlenecks(void **state)
{
	static const struct {
		double issue, ports, units, dependencies, registers, cycles;
		bool decoders;
		enum gus_bottleneck is;
	} cases[] = {
		{ 2, 1, 0, 1, 1, 2, true, GUS_BOTTLENECK_ISSUE },
		{ 2, 3, 0, 1, 1, 3.1, true, GUS_BOTTLENECK_PORTS },
		{ 2, 3, 0, 1, 1, 3.2, true, GUS_BOTTLENECK_FRONT_END },
		{ 2, 3, 0, 1, 1, 3.2, false, GUS_BOTTLENECK_MIXED },
		{ 2, 3, 8, 1, 1, 8, false, GUS_BOTTLENECK_UNITS },
		{ 2, 3, 8, 9, 9, 9, false, GUS_BOTTLENECK_DEPENDENCIES },
		{ 2, 3, 8, 9, 8.6, 9, false, GUS_BOTTLENECK_DEPENDENCIES },
		{ 2, 3, 8, 9, 8.5, 9, false, GUS_BOTTLENECK_FORWARDING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_bounds b = bounds(cases[i].issue, cases[i].ports, cases[i].units, cases[i].dependencies,
					     cases[i].registers);

		assert_int_equal(gus_bounds_bottleneck(&b, cases[i].cycles, cases[i].decoders), cases[i].is);
	}
	for (int i = 0; i < GUS_BOTTLENECKS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(gus_bottleneck_name((enum gus_bottleneck)i),
						gus_bottleneck_name((enum gus_bottleneck)k));
}

/* Dependences that do not last are no bound of the whole run. Below what lasts a figure is a fault of ours all the
 * same.
 *
 *	the first load is fed by the store of 47 iterations ago, as all pointers are one, for some iterations
 *	a push writes what a load of the chain reads, at no latency, now and then: 4.3 cycles where many are in
 *	flight, not 5 */
static void dependences_that_do_not_last(void **state)
{
	static const struct { const char *table, *code; double first, least, most; } cases[] = {
		{ "skylake", "4a8b0cd3488301014e8b1cd34f899cd0780100004983c2014539d6", 5, 1, 1.2 },
		{ "emeraldrapids", "554889e5534889fb4883ec084883c010488907488b7f28488d43384839c7", 5, 4.2, 4.9 },
		{ "skylake", "480fafc3", 3, 3, 3 }, /* imul rax, rbx: lasts */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_uarch *u = made_table(cases[i].table);
		struct gus_program *p = program_of(u, cases[i].code);
		struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_EQUAL };
		struct gus_core_config c;
		struct gus_bounds b;
		double lasts;

		gus_core_config_of(&c, u);
		gus_bounds_behind_front_end(p, &c, &o, &b);
		assert_float_equal(b.cycles[GUS_BOUND_DEPENDENCIES], cases[i].first, 0.01);
		gus_bounds_confirm(p, &c, &o, cases[i].first, &b); /* nothing is below: nothing is asked */
		assert_float_equal(b.cycles[GUS_BOUND_DEPENDENCIES], cases[i].first, 0.01);
		gus_bounds_confirm(p, &c, &o, 0.5, &b);
		lasts = b.cycles[GUS_BOUND_DEPENDENCIES];
		if (lasts < cases[i].least || lasts > cases[i].most)
			fail_msg("%s: %f", cases[i].code, lasts);
		assert_true(b.registers <= lasts);
		assert_int_equal(gus_bounds_broken(&b, 0.5, false), GUS_BOUND_DEPENDENCIES);
		gus_program_free(p);
		gus_uarch_free(u);
	}
}

/* A retire width of 1 a cycle cannot be reached by code with more uops: what a figure is judged by is asked of the same
 * machine. Of given iterations the first ones wait for nobody. */
static void the_verdict_is_of_the_run(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_program *p = program_of(u, "480fafc3");
	struct gus_modelled_settings s = { .uarch = u, .options.pointers = GUS_CORE_POINTERS_EQUAL };

	(void)state;
	gus_core_config_of(&s.config, u);
	assert_int_equal(gus_modelled_judge(p, &s, 3).broken, GUS_BOUNDS);
	assert_int_equal(gus_modelled_judge(p, &s, 2.9).broken, GUS_BOUND_DEPENDENCIES);
	assert_int_equal(gus_modelled_judge(p, &s, 3).bottleneck, GUS_BOTTLENECK_DEPENDENCIES);
	assert_int_equal(gus_modelled_judge(p, &s, 4).bottleneck, GUS_BOTTLENECK_MIXED);
	s.options.unrolled = true;
	assert_int_equal(gus_modelled_judge(p, &s, 4).bottleneck, GUS_BOTTLENECK_FRONT_END);
	s.options.iterations = 1;
	assert_int_equal(gus_modelled_judge(p, &s, 2.9).broken, GUS_BOUNDS);
	gus_program_free(p);
	gus_uarch_free(u);
}

struct told {
	unsigned times;
	double share;
};

static void hear(void *context, double share)
{
	struct told *told = context;

	assert_true(share > told->share);
	told->share = share;
	told->times++;
}

/* Each instruction's costs take a run: after each it is told how much is done. */
static void costs_tell_how_far_they_are(void **state)
{
	struct gus_uarch *u = made_table("skylake");
	struct gus_program *p = program_of(u, "4801c84801c84801c84801c8"); /* add rax, rcx, four times */
	struct told told = { 0 };
	struct gus_modelled_settings s = { .uarch = u, .costs = true, .heed = { hear, &told } };
	struct gus_error err = { 0 };
	struct gus_modelled m;

	(void)state;
	gus_core_config_of(&s.config, u);
	assert_int_equal(gus_modelled_run(&m, p, &s, &err), 0);
	assert_int_equal(told.times, 4);
	assert_float_equal(told.share, 1, 0);
	for (int i = 0; i < 4; i++)
		assert_float_equal(m.figures[i].cost, 3, 0); /* a chain that is cut anywhere is none */
	gus_modelled_free(&m);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* What once was: a store on Zen 2 is one uop, of which the address was taken for what a renamed load gets. */
static void a_renamed_load_waits_for_the_data(void **state)
{
	struct gus_uarch *u = made_table("znver2");
	/* mov ebx, [rbp+40]; xor eax, eax; lea edx, [rbx+1]; cmp edx, 32; cmovnz eax, edx; xor edx, edx;
	 * mov [rbp+40], eax */
	struct gus_program *p = program_of(u, "8b5d2831c08d530183fa200f45c231d2894528");
	struct gus_modelled_settings s = { .uarch = u, .options.pointers = GUS_CORE_POINTERS_EQUAL };
	struct gus_error err = { 0 };
	double cycles;

	(void)state;
	gus_core_config_of(&s.config, u);
	for (int stream = 0; stream < 2; stream++) {
		s.stream = stream;
		assert_int_equal(gus_modelled_cycles(p, &s, &cycles, &err), 0);
		assert_float_equal(cycles, 3, 0.01);
	}
	gus_program_free(p);
	gus_uarch_free(u);
}

enum { LOOPS = 150 };

static bool is_below(const struct gus_program *p, const struct gus_modelled_settings *s, double cycles)
{
	return gus_modelled_judge(p, s, cycles).broken != GUS_BOUNDS || cycles < plain_bound(p) * 0.98;
}

/* Of two chains of dependences, one that grows faster and comes from behind may not be felt in the short run that is
 * the stream engine's usual one. */
static double in_the_long_run(const struct gus_program *p, struct gus_modelled_settings s)
{
	struct gus_error err = { 0 };
	double cycles;

	s.options.iterations = 4000;
	assert_int_equal(gus_modelled_cycles(p, &s, &cycles, &err), 0);
	return cycles;
}

static double cycles_of(const struct gus_program *p, const struct gus_modelled_settings *s)
{
	struct gus_error err = { 0 };
	double cycles;

	assert_int_equal(gus_modelled_cycles(p, s, &cycles, &err), 0);
	return s->stream && is_below(p, s, cycles) ? in_the_long_run(p, *s) : cycles;
}

typedef size_t make_code(uint8_t code[RANDOM_LOOP_BYTES], unsigned seed);

static void hold_both_engines(const char *table, make_code *make, unsigned seeds)
{
	struct gus_uarch *u = made_table(table);
	struct gus_modelled_settings s = { .uarch = u, .options.pointers = GUS_CORE_POINTERS_EQUAL };

	gus_core_config_of(&s.config, u);
	for (unsigned seed = 0; seed < seeds; seed++) {
		uint8_t code[RANDOM_LOOP_BYTES];
		struct gus_program *p = made_program(u, code, make(code, seed));

		for (int stream = 0; stream < 2; stream++) {
			double cycles;

			s.stream = stream;
			cycles = cycles_of(p, &s);
			if (is_below(p, &s, cycles))
				fail_msg("%s, %s, seed %u: %f", table, stream ? "stream" : "core", seed, cycles);
		}
		gus_program_free(p);
	}
	gus_uarch_free(u);
}

static size_t loop_code(uint8_t code[RANDOM_LOOP_BYTES], unsigned seed)
{
	struct random_loop loop;

	random_loop_make(&loop, seed);
	memcpy(code, loop.bytes, loop.size);
	return loop.size;
}

static void no_engine_is_below(void **state)
{
	static const char *const tables[] = { "skylake", "haswell", "icelake-server", "emeraldrapids", "znver2",
		"znver4" };

	(void)state;
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		hold_both_engines(tables[t], loop_code, LOOPS);
}

/* What keeps a unit for long, and on several ports: microcode, dividers, locks. Then what may pass by. */
static const char *const units[] = {
	"f390", "f3aa", "f3a4", "f348ab",       /* pause, rep stosb, movsb and stosq */
	"48f7f1", "48f7f9", "f7f1",             /* div, idiv */
	"0f31", "9c", "9d", "c8100000",         /* rdtsc, pushf, popf, enter */
	"f0480fc103", "f0ff03", "8703", "f00fb10b", "480fc70b", /* lock xadd, inc; xchg; lock cmpxchg, cmpxchg16b */
};
static const char *const others[] = {
	"4801d8", "480fafc3", "4883c108", "4889d8", "48d1e0", "488d0433", /* add, imul, add, mov, shl, lea */
	"48034f08", "48894710", "488b06",       /* add rcx, [rdi+8]; mov [rdi+16], rax; mov rax, [rsi] */
	"c5fc58c1", "c5f459c8", "c5ec5ed1",     /* vaddps, vmulps, vdivps */
};

/* One to seven, about half of them with units. */
static size_t unit_code(uint8_t code[RANDOM_LOOP_BYTES], unsigned seed)
{
	uint32_t random = seed * 2654435761u + 1;
	size_t size = 0;

	for (unsigned left = 1 + seed % 7; left; left--) {
		const char *hex;
		uint8_t *bytes;
		size_t n;

		random = random * 1664525 + 1013904223;
		hex = random >> 31 ? units[(random >> 8) % (sizeof(units) / sizeof(*units))] :
			others[(random >> 8) % (sizeof(others) / sizeof(*others))];
		bytes = gus_hex_parse(hex, strlen(hex), &n);
		memcpy(code + size, bytes, n);
		size += n;
		free(bytes);
	}
	return size;
}

/* What once was: a unit of several ports went to the younger uop of the lower port, again and again, while the older
 * ones piled up, and an iteration took 96.09 cycles whose unit is needed for 98. */
static void no_engine_is_below_its_units(void **state)
{
	static const char *const tables[] = { "skylake", "icelake-server", "znver2", "znver4" };

	(void)state;
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		hold_both_engines(tables[t], unit_code, LOOPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dependences_of_short_code), cmocka_unit_test(forwarding_is_the_machines),
		cmocka_unit_test(ports_of_moves_are_nobodys),
		cmocka_unit_test(many_choices_of_ports), cmocka_unit_test(a_union_of_ports),
		cmocka_unit_test(ends_of_loops), cmocka_unit_test(costs_tell_how_far_they_are),
		cmocka_unit_test(each_part_of_the_front_end), cmocka_unit_test(what_is_below),
		cmocka_unit_test(dependences_that_do_not_last),
		cmocka_unit_test(kinds_of_bottlenecks), cmocka_unit_test(the_verdict_is_of_the_run),
		cmocka_unit_test(a_renamed_load_waits_for_the_data), cmocka_unit_test(no_engine_is_below),
		cmocka_unit_test(no_engine_is_below_its_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
