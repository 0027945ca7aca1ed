/* SPDX-License-Identifier: MIT */
/* The stream engine: lanes against runs of their own (the same to the tick), ticks against doubles, and the two
 * kernels of the Gus paper's Figure 1, whose answer is known by argument. */
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
#include "model/analysis/causality.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/machine/config.h"
#include "model/stream/private.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

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

#define PROGRAM(bytes) made_program(skylake, bytes, sizeof(bytes) - 1)

/* imul rax, rbx; add rax, [rdi]; mov [rdi+8], rax; lea rcx, [rcx+rax]; vmulpd ymm0, ymm0, [rsi]; vaddpd ymm1, ymm1,
 * ymm0; add rsi, 32; dec rdx; jnz back */
#define MIXED "\x48\x0f\xaf\xc3\x48\x03\x07\x48\x89\x47\x08\x48\x8d\x0c\x01\xc5\xfd\x59\x06\xc5\xf5\x58\xc8\x48\x83" \
	"\xc6\x20" \
	"\x48\xff\xca\x75\xe0"

/* 31 knobs, each a machine of its own beside the nominal one. */
static void make_lanes(const struct gus_program *p, struct gus_knob *knobs, struct gus_stream_lane *lanes)
{
	struct gus_stream_resources groups;

	gus_stream_resources_of(p, &groups);
	for (uint32_t i = 0; i < GUS_STREAM_LANES; i++) {
		static const double weights[] = { 1.15, 2, 0, 0.5 };
		enum gus_knob_kind kind = i < 10 ? GUS_KNOB_PORTS : i < 24 ? GUS_KNOB_LATENCY : i < 26 ?
			GUS_KNOB_LOAD_LATENCY :
			i < 28 ? GUS_KNOB_ISSUE : i < 30 ? GUS_KNOB_RETIRE : GUS_KNOB_ROB;
		uint32_t number = kind == GUS_KNOB_PORTS ? i % (uint32_t)groups.n : kind == GUS_KNOB_LATENCY ?
			i - 10 + GUS_INSN_MOV : 0;

		knobs[i] = (struct gus_knob){ kind, number, kind == GUS_KNOB_ROB ? 2 : weights[i % 4] };
		lanes[i] = (struct gus_stream_lane){ &knobs[i], i ? 1 : 0 };
	}
}

static void test_lanes_are_runs(void **state)
{
	struct gus_program *p = PROGRAM(MIXED);
	struct gus_knob knobs[GUS_STREAM_LANES];
	struct gus_stream_lane lanes[GUS_STREAM_LANES];
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 3000, .lanes = lanes,
		.lanes_n = GUS_STREAM_LANES };
	struct gus_stream_result many, one;
	struct gus_error err = { 0 };
	unsigned different = 0;

	(void)state;
	make_lanes(p, knobs, lanes);
	assert_int_equal(gus_stream_run(p, &config, &o, &many, &err), 0);
	for (size_t i = 0; i < GUS_STREAM_LANES; i++) {
		o.lanes = &lanes[i];
		o.lanes_n = 1;
		assert_int_equal(gus_stream_run(p, &config, &o, &one, &err), 0);
		assert_true(llround(one.cycles[0] * GUS_STREAM_TICKS) == llround(many.cycles[i] * GUS_STREAM_TICKS));
		different += many.cycles[i] < many.cycles[0] || many.cycles[i] > many.cycles[0];
	}
	assert_true(different >= 4); /* some knobs matter, or this would show nothing */
	gus_program_free(p);
}

/* The same and four square roots of ymm0, one after another: seventy cycles an iteration. */
#define SLOW "\x48\x0f\xaf\xc3\x48\x03\x07\x48\x89\x47\x08\x48\x8d\x0c\x01\xc5\xfd\x59\x06\xc5\xfd\x51\xc0\xc5\xfd" \
	"\x51\xc0" \
	"\xc5\xfd\x51\xc0\xc5\xfd\x51\xc0\xc5\xf5\x58\xc8\x48\x83\xc6\x20\x48\xff\xca\x75\xd0"

/* Two chains of multiplications, and between them what waits for the first one: with few entries the reservation
 * station is full of that, and the second chain is held up. Four times imul rax, rax; lea ..., [rax+...]; imul r14,
 * r14. */
#define STATION "\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0" \
	"\x48\x8d\x58\x01\x48\x8d\x48\x02\x48\x8d\x50\x03\x48\x8d\x68\x05" \
	"\x4d\x0f\xaf\xf6\x4d\x0f\xaf\xf6\x4d\x0f\xaf\xf6\x4d\x0f\xaf\xf6"

/* Times are taken down in these runs after each 213,000 cycles: once in the first, which is quick, several times in
 * the second. */
static void test_ticks_are_doubles(void **state)
{
	static const struct { const char *bytes; size_t size; uint64_t iterations; double cycles; uint32_t rs;
		} cases[] = {
		{ MIXED, sizeof(MIXED) - 1, 60000, 213000, 97 }, { SLOW, sizeof(SLOW) - 1, 9000, 2 * 213000, 97 },
		{ STATION, sizeof(STATION) - 1, 20000, 213000, 12 },
	};
	const struct gus_core_config whole = config;

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_program *p = made_program(skylake, cases[k].bytes, cases[k].size);
		struct gus_knob knobs[GUS_STREAM_LANES];
		struct gus_stream_lane lanes[GUS_STREAM_LANES];
		struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT,
			.iterations = cases[k].iterations,
			.lanes = lanes, .lanes_n = 8 };
		struct gus_stream_result many, reference;
		struct gus_error err = { 0 };

		config.rs = cases[k].rs;
		make_lanes(p, knobs, lanes);
		for (size_t i = 0; i < 8; i++)
			lanes[i].knobs = &knobs[4 * i];
		assert_int_equal(gus_stream_run(p, &config, &o, &many, &err), 0);
		assert_int_equal(gus_stream_reference(p, &config, &o, &reference, &err), 0);
		assert_true(many.cycles[0] > cases[k].cycles);
		for (size_t i = 0; i < 8; i++)
			assert_true(fabs(many.cycles[i] - reference.cycles[i]) <= 1e-3 * reference.cycles[i]);
		gus_program_free(p);
	}
	config = whole;
}

/* Six loads, and two multiply-and-adds into one register: 8 cycles an iteration by their chain; less latency is less
 * time in proportion, more ports are nothing. */
static void test_figure1(void **state)
{
	struct gus_program *p = PROGRAM("\xc5\xfc\x10\x16\xc5\xfc\x10\x5e\x20\xc5\xfc\x10\x27\xc5\xfc\x10\x6f\x20"
					"\xc4\xe2\x6d\xb8\xc3\xc4\xe2\x5d\xb8\xc5");
	struct gus_knob knobs[4] = { { GUS_KNOB_LATENCY, GUS_INSN_FP_FMA, 1.15 },
		{ GUS_KNOB_LATENCY, GUS_INSN_FP_FMA, 2 },
		{ GUS_KNOB_PORTS, 0, 2 }, { GUS_KNOB_PORTS, 1, 2 } };
	struct gus_stream_lane lanes[5] = { { NULL, 0 }, { &knobs[0], 1 }, { &knobs[1], 1 }, { &knobs[2], 1 },
		{ &knobs[3], 1 } };
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_NONE, .iterations = 1000, .lanes = lanes,
		.lanes_n = 5 };
	struct gus_stream_result r;
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_stream_run(p, &config, &o, &r, &err), 0);
	assert_true(fabs(r.per_iteration[0] - 8) < 1e-9);
	assert_true(fabs(r.per_iteration[0] / r.per_iteration[1] - 1.15) < 1e-3);
	assert_true(fabs(r.per_iteration[0] / r.per_iteration[2] - 2) < 1e-3);
	for (size_t i = 3; i < 5; i++)
		assert_true(fabs(r.per_iteration[0] / r.per_iteration[i] - 1) < 1e-3);
	gus_program_free(p);
}

/* Three loads an iteration (two ports: 1.5 cycles) and three multiplications (two ports: 1.5): balanced, so nothing
 * alone gains, and the set that does has both. */
static void test_balanced(void **state)
{
	struct gus_program *p = PROGRAM("\xc5\xfc\x10\x06\xc5\xfc\x10\x4e\x20\xc5\xfc\x10\x56\x40\xc5\xdc\x59\xdc\xc5"
					"\xdc\x59\xec\xc5\xdc\x59\xf4");
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_NONE };
	struct gus_sensitivity *knobs;
	struct gus_error err = { 0 };
	double nominal, speedup, all;
	int n, set[64], found, ports = 0;

	(void)state;
	n = gus_sensitivity_run(p, &config, &o, 1.15, &knobs, &nominal, &err);
	assert_true(n > 0 && n < 64);
	assert_true(fabs(nominal - 1.5) < 1e-3);
	for (int i = 0; i < n; i++)
		assert_true(knobs[i].speedup < 0.05);
	found = gus_sensitivity_set(p, &config, &o, knobs, n, 0, set, &speedup, &all, &err);
	assert_true(found >= 2 && found < n);
	assert_true(all > 0.149 && all < 0.151 && speedup >= 0.95 * all);
	for (int i = 0; i < found; i++)
		ports += strcmp(knobs[set[i]].name, "ports p23") == 0 || strcmp(knobs[set[i]].name, "ports p01") == 0;
	assert_int_equal(ports, 2);
	free(knobs);
	gus_program_free(p);
}

/* The Jacobi loop of the Gus papers (Figure 1, Table 1): ten loads, and two stores whose indexed addresses only the
 * two ports of loads take: 6 cycles of p23, and nothing else is within 15 %. So p23 is the only knob, and gains what
 * it is turned. Its instructions are all that touch memory. */
static void test_jacobi(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x8b\x54\x24\xf0\xc5\xfb\x10\x04\x02\xc5\xfb\x58\x44\x02\x08\xc5\xfb\x58"
					"\x44\x02\x10\xc5\xfb"
					"\x59\xc1\x48\x8b\x54\x24\xe8\xc5\xfb\x11\x44\x02\x08\x48\x8b\x54\x24\xe8\xc5"
						"\xfb\x10\x44\x02\xf8"
					"\xc5\xfb\x58\x04\x02\xc5\xfb\x58\x44\x02\x08\xc5\xfb\x59\xc1\x48\x8b\x54\x24"
						"\xf0\xc5\xfb\x11\x04"
					"\x02\x48\x83\xc0\x08\x48\x39\xc8\x75\xae");
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_sensitivity *knobs;
	struct gus_error err = { 0 };
	struct gus_causality causes;
	double nominal;
	int n = gus_sensitivity_run(p, &config, &o, 1.15, &knobs, &nominal, &err);

	(void)state;
	assert_true(n > 1);
	assert_true(fabs(nominal - 6) < 0.01);
	assert_string_equal(knobs[0].name, "ports p23");
	assert_true(fabs(knobs[0].speedup - 0.15) < 0.01);
	for (int i = 1; i < n; i++)
		assert_true(knobs[i].speedup < 0.01);
	free(knobs);
	assert_int_equal(gus_causality_run(p, &config, &o, &causes, NULL, &err), 0);
	for (uint32_t op = 0; op < p->ops_n; op++)
		assert_true(fabs(causes.op_cycles[op] - (p->ops[op].memories_n ? 0.5 : 0)) < 0.02);
	gus_causality_free(&causes);
	gus_program_free(p);
}

/* All accesses hit one level. */
static void one_level(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	(void)access;
	*level = *(const enum gus_hit *)context;
	*tlb = GUS_TLB_HIT;
}

static double by_core(const struct gus_program *p, const struct gus_core_memory *memory,
	const struct gus_core_branch *branch)
{
	struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 2000, .memory = memory,
		.branch = branch };
	struct gus_core_result r;
	struct gus_error err = { 0 };

	assert_int_equal(gus_core_run(p, &config, &o, &r, &err), 0);
	return (double)r.cycles / (double)r.iterations;
}

static double by_stream(const struct gus_program *p, const struct gus_core_memory *memory,
	const struct gus_core_branch *branch)
{
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 2000, .memory = memory,
		.branch = branch };
	struct gus_stream_result r;
	struct gus_error err = { 0 };

	assert_int_equal(gus_stream_run(p, &config, &o, &r, &err), 0);
	return r.cycles[0] / (double)r.iterations;
}

/* A chain of loads (mov rsi, [rsi]) takes the level's latency, loads that do not depend on each other take what its
 * bandwidth and the miss buffers leave; both engines agree. */
static void test_levels(void **state)
{
	struct gus_program *chain = PROGRAM("\x48\x8b\x36"),
		*apart = PROGRAM("\x48\x8b\x06\x48\x83\xc6\x40\x48\x8b\x1e\x48\x83\xc6\x40");
	const uint32_t latency[] = { config.l1d_latency, config.l2_latency, config.l3_latency, config.memory_latency };

	(void)state;
	for (enum gus_hit level = GUS_HIT_L1; level < GUS_HITS; level++) {
		const struct gus_core_memory memory = { &level, one_level };
		double time = by_stream(chain, &memory, NULL), core = by_core(apart, &memory, NULL);

		assert_true(fabs(time - latency[level]) < 0.02 * latency[level]);
		assert_true(fabs(by_stream(apart, &memory, NULL) - core) < 0.03 * core);
	}
	gus_program_free(chain);
	gus_program_free(apart);
}

/* An addition to memory (add qword [rsi], 1) has each line come once, as a load of it; in both engines. */
static void test_updates(void **state)
{
	struct gus_program *update = PROGRAM("\x48\x83\x06\x01\x48\x83\xc6\x40"),
		*load = PROGRAM("\x48\x8b\x06\x48\x83\xc6\x40");
	enum gus_hit level = GUS_HIT_MEMORY;
	const struct gus_core_memory memory = { &level, one_level };
	double once = by_core(load, &memory, NULL);

	(void)state;
	assert_true(fabs(by_core(update, &memory, NULL) - once) < 0.03 * once);
	assert_true(fabs(by_stream(update, &memory, NULL) - once) < 0.03 * once);
	gus_program_free(update);
	gus_program_free(load);
}

static bool every_fourth(void *context, uint32_t op, uint64_t iteration)
{
	(void)context;
	(void)op;
	return iteration % 4 == 3;
}

/* dec rdx; jnz back, wrong every fourth time: a quarter of the penalty, and of what it takes to find out; both
 * engines agree. */
static void test_mispredicted(void **state)
{
	const struct gus_core_branch branch = { NULL, every_fourth };
	struct gus_program *p = PROGRAM("\x48\xff\xca\x75\xfb");
	double right = by_stream(p, NULL, NULL), wrong = by_stream(p, NULL, &branch), core = by_core(p, NULL, &branch);

	(void)state;
	assert_true(wrong - right > 0.25 * config.mispredict_penalty);
	assert_true(fabs(wrong - core) < 0.15 * core);
	gus_program_free(p);
}

/* So many times fewer mispredictions: of a weight of 16 a sixteenth, of 2 half, of no limit none, which is a machine to
 * which the oracle says that of none, to the tick; of 1 and less all. */
static void test_predicted(void **state)
{
	const struct gus_core_branch branch = { NULL, every_fourth };
	const struct gus_knob knobs[] = { { GUS_KNOB_PREDICTED, 0, 16 }, { GUS_KNOB_PREDICTED, 0, 2 },
		{ GUS_KNOB_PREDICTED, 0, 0 }, { GUS_KNOB_PREDICTED, 0, 1 }, { GUS_KNOB_PREDICTED, 0, 0.5 } };
	const struct gus_stream_lane lanes[] = { { NULL, 0 }, { &knobs[0], 1 }, { &knobs[1], 1 }, { &knobs[2], 1 },
		{ &knobs[3], 1 }, { &knobs[4], 1 } };
	struct gus_program *p = PROGRAM("\x48\xff\xca\x75\xfb");
	struct gus_stream_options o = { .branch = &branch, .iterations = 4000, .lanes = lanes, .lanes_n = 6 };
	struct gus_stream_result wrong, right;
	double lost;

	(void)state;
	assert_int_equal(gus_stream_run(p, &config, &o, &wrong, NULL), 0);
	o.branch = NULL;
	o.lanes_n = 1;
	assert_int_equal(gus_stream_run(p, &config, &o, &right, NULL), 0);
	lost = wrong.cycles[0] - right.cycles[0];
	assert_true(lost > 1000. * config.mispredict_penalty);
	assert_true(fabs(wrong.cycles[1] - right.cycles[0] - lost / 16) < 0.02 * lost);
	assert_true(fabs(wrong.cycles[2] - right.cycles[0] - lost / 2) < 0.04 * lost);
	assert_true(wrong.cycles[3] <= right.cycles[0] && wrong.cycles[3] >= right.cycles[0]);
	for (int i = 4; i < 6; i++)
		assert_true(wrong.cycles[i] <= wrong.cycles[0] && wrong.cycles[i] >= wrong.cycles[0]);
	gus_program_free(p);
}

/* A table has a divider as a unit (Skylake) or as cycles of a port (Zen 3): in both its lane takes a half, and all that
 * else waits for that port goes on; of what divides nothing nothing changes. */
static void test_divider(void **state)
{
	static const char integer[] = "\x31\xd2\x48\x89\xf0\x48\xf7\xf1\x49\xff\xc9\x75\xf3"; /* div rcx */
	static const char vector[] = "\xc5\xf3\x5e\xc2\x48\xff\xca\x75\xf7"; /* vdivsd xmm0, xmm1, xmm2 */
	const struct gus_knob half = { GUS_KNOB_HELD, GUS_HELD_BY_DIVISIONS, 2 };
	const struct gus_knob most = { GUS_KNOB_HELD, GUS_HELD_BY_DIVISIONS, 16 };
	const struct gus_stream_lane lanes[] = { { NULL, 0 }, { &half, 1 }, { &most, 1 } };
	struct gus_stream_options o = { .iterations = 4000, .lanes = lanes, .lanes_n = 3 };
	struct gus_uarch *zen = made_table("znver3");
	struct gus_program *p = made_program(zen, integer, sizeof(integer) - 1);
	struct gus_core_config zen_config;
	struct gus_stream_result r;

	(void)state;
	gus_core_config_of(&zen_config, zen);
	assert_int_equal(gus_stream_run(p, &zen_config, &o, &r, NULL), 0);
	assert_true(fabs(r.per_iteration[0] - 6) < 0.05 && fabs(r.per_iteration[1] - 3) < 0.05);
	assert_true(r.per_iteration[2] < 1.2);
	gus_program_free(p);
	gus_uarch_free(zen);
	p = PROGRAM(vector);
	assert_int_equal(gus_stream_run(p, &config, &o, &r, NULL), 0);
	assert_true(fabs(r.per_iteration[0] - 4) < 0.05 && fabs(r.per_iteration[1] - 2) < 0.05);
	gus_program_free(p);
	p = PROGRAM(MIXED);
	assert_int_equal(gus_stream_run(p, &config, &o, &r, NULL), 0);
	assert_true(r.cycles[1] <= r.cycles[0] && r.cycles[1] >= r.cycles[0]);
	gus_program_free(p);
}

/* The core engine says how much a small reservation station holds the second chain up. */
static void test_station(void **state)
{
	struct gus_program *p = PROGRAM(STATION);
	const struct gus_core_config whole = config;
	double free_time = by_stream(p, NULL, NULL), small, core;

	(void)state;
	config.rs = 8;
	small = by_stream(p, NULL, NULL);
	core = by_core(p, NULL, NULL);
	config = whole;
	assert_true(fabs(free_time - 12) < 0.1 && core > 13);
	assert_true(fabs(small - core) < 0.2 * core);
	gus_program_free(p);
}

/* vpcmpeqd ymm2, ymm2, ymm2; vgatherdps ymm0, [rsi+4*ymm1], ymm2; dec rcx; jnz back: on Zen 3 the gather is 42 slots of
 * 6 a cycle. Of its uops 28 are vector uops, which have 64 entries and wait 22 cycles for their loads: they have to
 * come to these as they are issued, as two gathers would else be all that is ever there, one each 14 cycles. */
static void test_wide(void **state)
{
	static const char gather[] = "\xc5\xed\x76\xd2\xc4\xe2\x6d\x92\x04\x8e\x48\xff\xc9\x75\xf1";
	struct gus_uarch *u = made_table("znver3");
	struct gus_program *p = made_program(u, gather, sizeof(gather) - 1);
	struct gus_stream_options o = { .iterations = 2000 };
	const struct gus_core_config whole = config;
	struct gus_stream_result reference;
	struct gus_error err = { 0 };
	double core, stream;

	(void)state;
	gus_core_config_of(&config, u);
	core = by_core(p, NULL, NULL);
	stream = by_stream(p, NULL, NULL);
	assert_int_equal(gus_stream_reference(p, &config, &o, &reference, &err), 0);
	config = whole;
	assert_true(fabs(core - 9.33) < 0.1);
	assert_true(fabs(stream - core) < 0.05 * core);
	assert_true(fabs(reference.per_iteration[0] - stream) < 0.02 * stream);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* An op of more uops than the station has entries waits for its own, and for ports that were idle before it: the path
 * of reasons, which goes from the last to the first of them, still comes to an end. rep stosb; 16 x imul rax, rax,
 * which is too long a chain for the reorder buffer. */
static void test_wider_than_the_station(void **state)
{
#define IMUL4 "\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0\x48\x0f\xaf\xc0"
	static const char code[] = "\xf3\xaa" IMUL4 IMUL4 IMUL4 IMUL4;
	struct gus_uarch *u = made_table("znver3");
	struct gus_program *p = made_program(u, code, sizeof(code) - 1);
	struct gus_stream_options o = { .iterations = 2000, .fetch = GUS_CORE_FETCH_IDEAL };
	struct gus_core_config c;
	struct gus_causality causes;
	struct gus_error err = { 0 };

	(void)state;
	gus_core_config_of(&c, u);
	c.rs_int = 8;
	c.rob = 104;
	assert_int_equal(gus_causality_run(p, &c, &o, &causes, NULL, &err), 0);
	gus_causality_free(&causes);
	gus_program_free(p);
	gus_uarch_free(u);
}

/* The same where there are parts: additions in a chain of 12 cycles an iteration hold up one that has room in a part of
 * its own, and only as much as the part that they wait in lets them. Integer uops do not wait for a small vector
 * part. */
static void test_station_parts(void **state)
{
	struct gus_program *p = PROGRAM(STATION);
	const struct gus_core_config whole = config;
	double small, vectors, core;

	(void)state;
	config.rs_int = 8;
	small = by_stream(p, NULL, NULL);
	core = by_core(p, NULL, NULL);
	config.rs_int = 0;
	config.rs_vector = 8;
	vectors = by_stream(p, NULL, NULL);
	config = whole;
	assert_true(core > 13 && fabs(small - core) < 0.2 * core);
	assert_true(fabs(vectors - 12) < 0.1);
	gus_program_free(p);
}

/* Five of six entries are places beside the ring, or the next prime below; never more than there are. */
static void test_how_many_places(void **state)
{
	static const struct { uint64_t entries; unsigned places; } cases[] = {
		{ 0, 0 }, { 1, 0 }, { 2, 1 }, { 3, 2 }, { 4, 3 }, { 5, 3 }, { 6, 5 }, { 8, 5 }, { 12, 7 }, { 20, 13 },
		{ 32, 23 }, { 60, 47 }, { 64, 53 }, { 97, 79 }, { 104, 83 }, { 127, 103 }, { 160, 127 },
		{ 1000, 127 }, { UINT32_MAX, 127 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(gus_stream_late(cases[i].entries), cases[i].places);
}

/* Closed places are as many as there should be, all different. Eight looks from any place are at places that there are,
 * and at none twice; in a station of 97 entries they lie over nearly all of it. */
static void test_which_places(void **state)
{
	static const unsigned path[] = { 0, 5, 11, 18, 26, 35, 45, 56, 68 };

	(void)state;
	for (unsigned entries = 2; entries <= 160; entries++) {
		unsigned places = gus_stream_late(entries);

		for (unsigned closed = 1; closed <= places; closed++)
			for (unsigned n = 0; n < closed; n++) {
				assert_true(gus_stream_late_closed(places, closed, n) < places);
				assert_true(!n || gus_stream_late_closed(places, closed, n) >
					    gus_stream_late_closed(places, closed, n - 1));
			}
		for (unsigned from = 0; from < places; from++) {
			bool seen[STREAM_LATE] = { false };

			for (unsigned look = 0, at = from; look < STREAM_LATE_LOOKS && look < places; look++) {
				assert_true(at < places && !seen[at]);
				seen[at] = true;
				at = gus_stream_late_next(places, at, look);
			}
		}
	}
	for (unsigned look = 0; look < STREAM_LATE_LOOKS; look++)
		assert_int_equal(gus_stream_late_next(79, path[look], look), path[look + 1]);
	assert_int_equal(gus_stream_late_next(79, 74, 0), 0);
	assert_int_equal(gus_stream_late_next(79, 73, 0), 78);
	assert_int_equal(gus_stream_late_next(79, 70, 7), 3);
}

/* Rows of a product of a matrix and a vector, in short: a sum that begins anew (vxorps xmm1, xmm1, xmm1), then 30 times
 * vaddsd xmm1, xmm1, xmm0 and `others` that wait for nobody, add r8, 1 and mov r8, [rsi + 8] by turns. Sums are what
 * waits, as many as the station has entries, and they wait in their order; so the next row begins while this one's sum
 * goes on. As many of the others as there are in a rhythm that some count of places has, too. */
static void test_many_wait(void **state)
{
	static const char begin[] = "\xc5\xf0\x57\xc9", sum[] = "\xc5\xf3\x58\xc8";
	static const char *const others[] = { "\x49\x83\xc0\x01", "\x4c\x8b\x46\x08" };
	static const struct { unsigned others, rs; } rows[] = { { 4, 30 }, { 5, 20 }, { 5, 30 }, { 5, 60 },
		{ 5, 97 }, { 5, 104 }, { 7, 60 }, { 9, 97 }, { 9, 104 } };
	const struct gus_core_config whole = config;

	(void)state;
	config.rob = 512;
	config.int_renames = config.vector_renames = config.renames = config.load_buffer = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char code[4 + 30 * 4 * 10];
		size_t size = 4;
		struct gus_program *p;
		double stream, core;

		memcpy(code, begin, 4);
		for (unsigned of = 0; of < 30 * (1 + rows[i].others); of++, size += 4)
			memcpy(code + size, of % (1 + rows[i].others) ? others[of % 2] : sum, 4);
		p = made_program(skylake, code, size);
		config.rs = rows[i].rs;
		stream = by_stream(p, NULL, NULL);
		core = by_core(p, NULL, NULL);
		if (fabs(stream - core) > 0.04 * core)
			fail_msg("row %zu: %.2f cycles by the stream engine, %.2f by the core engine", i, stream, core);
		gus_program_free(p);
	}
	config = whole;
}

/* Seven nops of four bytes, which need no port: what a turn takes is the lines of the uop cache that are read. Where
 * the nops lie in one window they are one line, else two; by the place of their first byte, or of their last. The
 * target of a jump is not read beside the jump. */
static void test_lines(void **state)
{
	static const struct { uint64_t base; uint32_t reads, by_end; double cycles; } rows[] = {
		{ 0, 1, 0, 1 }, { 36, 1, 0, 1 }, { 36, 1, 1, 1 }, { 37, 1, 0, 1 }, { 37, 1, 1, 2 }, { 39, 1, 0, 1 },
		{ 40, 1, 0, 2 }, { 40, 1, 1, 2 }, { 40, 2, 0, 1 }, { 0, 2, 0, 1 },
	};
	const struct gus_core_config whole = config;
	struct gus_program *p = PROGRAM("\x0f\x1f\x40\x00\x0f\x1f\x40\x00\x0f\x1f\x40\x00\x0f\x1f\x40\x00"
					"\x0f\x1f\x40\x00\x0f\x1f\x40\x00\x0f\x1f\x40\x00");
	uint64_t base = p->base;

	(void)state;
	config.issue_width = config.retire_width = config.uop_cache_width = config.uop_cache_line = 40;
	config.uop_cache_window = 64;
	config.loop_buffer = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double cycles;

		config.uop_cache_reads = rows[i].reads;
		config.uop_cache_by_end = rows[i].by_end;
		p->base = rows[i].base;
		cycles = by_stream(p, NULL, NULL);
		if (fabs(cycles - rows[i].cycles) > 0.02)
			fail_msg("row %zu: %.2f cycles, %.2f expected", i, cycles, rows[i].cycles);
	}
	p->base = base;
	config = whole;
	gus_program_free(p);
}

/* The knobs of memory and branches, in one pass and each in its own. */
static void test_oracle_lanes(void **state)
{
	static const struct gus_knob knobs[] = { { GUS_KNOB_LEVEL_LATENCY, GUS_HIT_L3, 2 },
		{ GUS_KNOB_BANDWIDTH, GUS_HIT_L3, 2 },
		{ GUS_KNOB_MISS_BUFFERS, 0, 2 }, { GUS_KNOB_MISPREDICT, 0, 0 }, { GUS_KNOB_RS, 0, 0.25 },
		{ GUS_KNOB_STORES, 0, 0.25 } };
	const enum { KNOBS = sizeof(knobs) / sizeof(*knobs) } n = KNOBS;
	struct gus_program *p = PROGRAM("\x48\x8b\x06\x48\x83\xc6\x40\x48\x8b\x1e\x48\x83\xc6\x40\x48\xff\xca\x75"
					"\xed") /* two loads apart; dec rdx; jnz */;
	enum gus_hit level = GUS_HIT_L3;
	const struct gus_core_memory memory = { &level, one_level };
	const struct gus_core_branch branch = { NULL, every_fourth };
	struct gus_stream_lane lanes[KNOBS + 1] = { { NULL, 0 } };
	struct gus_stream_options o = { .iterations = 500, .memory = &memory, .branch = &branch, .lanes = lanes,
		.lanes_n = KNOBS + 1 };
	struct gus_stream_result many, one;
	struct gus_error err = { 0 };
	unsigned different = 0;

	(void)state;
	for (size_t i = 0; i < n; i++)
		lanes[i + 1] = (struct gus_stream_lane){ &knobs[i], 1 };
	assert_int_equal(gus_stream_run(p, &config, &o, &many, &err), 0);
	for (size_t i = 0; i <= n; i++) {
		o.lanes = &lanes[i];
		o.lanes_n = 1;
		assert_int_equal(gus_stream_run(p, &config, &o, &one, &err), 0);
		assert_true(llround(one.cycles[0] * GUS_STREAM_TICKS) == llround(many.cycles[i] * GUS_STREAM_TICKS));
		different += fabs(many.cycles[i] - many.cycles[0]) > 1;
	}
	assert_true(different >= 2); /* or this would show nothing */
	gus_program_free(p);
}

static void test_refused(void **state)
{
	struct gus_program *p = PROGRAM("\x90");
	struct gus_stream_options o = { .lanes_n = GUS_STREAM_LANES + 1 };
	struct gus_core_config broken = config;
	struct gus_stream_result r;
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_stream_run(p, &config, &o, &r, &err), -1);
	broken.issue_width = 0;
	o.lanes_n = 0;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_stream_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "issue_width"));
	broken = config;
	broken.l3_latency = GUS_CORE_CYCLES_MOST + 1;
	err = (struct gus_error){ 0 };
	assert_int_equal(gus_stream_run(p, &broken, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "l3_latency is 10001 cycles"));
	gus_program_free(p);
}

/* What a machine may have at most, in one load: ticks of 32 bits hold 16 of them no more. */
static void far_away(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	(void)context;
	(void)access;
	*level = GUS_HIT_MEMORY;
	*tlb = GUS_TLB_WALK;
}

static void test_longest(void **state)
{
	const struct gus_core_memory memory = { NULL, far_away };
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 200, .memory = &memory };
	struct gus_program *p = PROGRAM("\x48\x8b\x36"), *large = gus_program_copy(p);
	struct gus_core_config slow = config;
	struct gus_stream_result r;
	struct gus_error err = { 0 };

	(void)state;
	slow.memory_latency = slow.page_walk_latency = GUS_CORE_CYCLES_MOST;
	assert_int_equal(gus_stream_run(p, &slow, &o, &r, &err), 0);
	assert_true(fabs(r.per_iteration[0] - 2 * GUS_CORE_CYCLES_MOST) < 0.01 * GUS_CORE_CYCLES_MOST);
	large->uops[0].unit_cycles = UINT16_MAX;
	large->uops[0].latency = UINT16_MAX;
	assert_int_equal(gus_stream_run(large, &slow, &o, &r, &err), -1);
	assert_non_null(strstr(err.text, "an instruction may take"));
	gus_program_free(large);
	gus_program_free(p);
}

/* A load that crosses a line and keeps a unit busy for long: twice as long, which is more ticks in shares than 32 bits
 * hold. */
static void test_crossed_for_long(void **state)
{
	struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT, .iterations = 200 };
	struct gus_program *p = PROGRAM("\x48\x8b\x46\x3d"); /* mov rax, [rsi+61] */
	struct gus_stream_result r;
	struct gus_error err = { 0 };

	(void)state;
	p->uops[0].unit = 1;
	p->uops[0].unit_cycles = 9000;
	assert_int_equal(gus_stream_run(p, &config, &o, &r, &err), 0);
	assert_true(fabs(r.per_iteration[0] - 18000) < 10);
	gus_program_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes_are_runs), cmocka_unit_test(test_ticks_are_doubles),
		cmocka_unit_test(test_figure1),
		cmocka_unit_test(test_balanced),
		cmocka_unit_test(test_jacobi), cmocka_unit_test(test_levels), cmocka_unit_test(test_updates),
		cmocka_unit_test(test_mispredicted), cmocka_unit_test(test_predicted), cmocka_unit_test(test_divider),
		cmocka_unit_test(test_station), cmocka_unit_test(test_wide),
		cmocka_unit_test(test_wider_than_the_station),
		cmocka_unit_test(test_station_parts), cmocka_unit_test(test_many_wait),
		cmocka_unit_test(test_how_many_places), cmocka_unit_test(test_which_places),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_oracle_lanes),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_longest),
		cmocka_unit_test(test_crossed_for_long),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
