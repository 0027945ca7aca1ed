/* SPDX-License-Identifier: MIT */
/* Slots by what became of them, and verdicts on regions whose slots and gains are written down here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/verdicts/residuals.h"
#include "attribution/verdicts/slots.h"
#include "attribution/verdicts/verdict.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/* Three ops: a load, a division, and something else. */
enum { LOAD, DIVISION, OTHER, OPS };
enum { WIDTH = 4 };

/* The load's unit is a lock, which is none of divisions. */
static struct gus_uop uops[OPS] = { [LOAD] = { .unit = 1 } };
static struct gus_program_insn insns[OPS] = { [DIVISION] = { .info.class = GUS_INSN_FP_DIV } };
static struct gus_op ops[OPS] = { { .insn = LOAD, .uop = LOAD, .uops_n = 1, .loads = 1 },
	{ .insn = DIVISION, .uop = DIVISION, .uops_n = 1 }, { .insn = OTHER, .uop = OTHER, .uops_n = 1 } };
static const struct gus_program program = { .ops = ops, .ops_n = OPS, .uops = uops, .uops_n = OPS, .insns = insns,
	.insns_n = OPS };

static void one_cycle(struct gus_slotted *s, const struct gus_core_cycle *c, double of[GUS_NODES_OF_TREE])
{
	const struct gus_core_listener *l;

	gus_slotted_init(s, WIDTH);
	l = gus_slotted_listen(s, &program);
	l->cycle(l->context, c);
	gus_slotted_add(s, 0, OPS, of);
}

/* One cycle each, which node its empty slots are in, and how many; what was issued is retiring, what was thrown away is
 * not. */
static void cycles(void **state)
{
	static const struct { struct gus_core_cycle c; enum gus_node node; double slots, retiring; } cases[] = {
		{ { .issued = 4, .op = OTHER }, GUS_NODE_RETIRING, 4, 4 },
		{ { .issued = 0, .op = OTHER, .stop = GUS_CORE_FRONT_END }, GUS_NODE_FETCH_LATENCY, 4, 0 },
		{ { .issued = 1, .op = OTHER, .stop = GUS_CORE_FRONT_END }, GUS_NODE_FETCH_BANDWIDTH, 3, 1 },
		{ { .issued = 1, .op = OTHER, .stop = GUS_CORE_BOUNDARY }, GUS_NODE_FETCH_BANDWIDTH, 3, 1 },
		{ { .issued = 1, .wrong = 2, .op = OTHER, .stop = GUS_CORE_MISPREDICT }, GUS_NODE_MISPREDICTS, 3, 1 },
		{ { .wrong = 4, .op = LOAD, .state = GUS_COMMIT_FLUSHED, .of_next = true }, GUS_NODE_CLEARS, 4, 0 },
		{ { .wrong = 4, .op = LOAD, .state = GUS_COMMIT_FLUSHED }, GUS_NODE_MISPREDICTS, 4, 0 },
		{ { .issued = 2, .op = LOAD, .stop = GUS_CORE_STORE_BUFFER, .stall = GUS_CORE_MEMORY },
			GUS_NODE_STORES, 2, 2 },
		{ { .issued = 0, .op = OTHER, .stop = GUS_CORE_SERIALISED }, GUS_NODE_SERIALISING, 4, 0 },
		{ { .issued = 1, .op = LOAD, .stop = GUS_CORE_ROB, .stall = GUS_CORE_EXECUTION }, GUS_NODE_L1, 3, 1 },
		{ { .issued = 1, .op = LOAD, .stop = GUS_CORE_RS, .stall = GUS_CORE_OPERAND }, GUS_NODE_PORTS, 3, 1 },
		{ { .issued = 1, .op = DIVISION, .stop = GUS_CORE_RS, .stall = GUS_CORE_EXECUTION },
			GUS_NODE_DIVIDER, 3, 1 },
		{ { .issued = 3, .op = OTHER, .stop = GUS_CORE_RS, .stall = GUS_CORE_EXECUTION },
			GUS_NODE_PORTS, 1, 3 },
		{ { .issued = 3, .op = OPS, .stop = GUS_CORE_RS }, GUS_NODE_NONE, 0, 0 }, /* of no op that is asked */
		{ { .issued = 3, .op = UINT32_MAX, .stop = GUS_CORE_RS }, GUS_NODE_NONE, 0, 0 },
		{ { .issued = 6, .op = OTHER }, GUS_NODE_RETIRING, 4, 4 }, /* more slots than there are, it cannot be */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double of[GUS_NODES_OF_TREE], all = 0;
		struct gus_slotted s;

		one_cycle(&s, &cases[i].c, of);
		for (unsigned k = 0; k < GUS_NODES_OF_TREE; k++)
			all += gus_nodes[k].level == 1 ? of[k] : 0;
		if (!near(all, cases[i].node == GUS_NODE_NONE ? 0 : WIDTH) || !near(of[GUS_NODE_RETIRING],
			cases[i].retiring) || (cases[i].node != GUS_NODE_NONE &&
			!near(of[cases[i].node], cases[i].slots)))
			fail_msg("case %zu: all %g, retiring %g", i, all, of[GUS_NODE_RETIRING]);
		assert_int_equal(s.cycles, 1);
		gus_slotted_free(&s);
	}
}

/* Cycles of several ops and threads are added up. */
static void sums(void **state)
{
	static struct gus_program_insn two[2] = { [1] = { .info.class = GUS_INSN_DIV } };
	static struct gus_op both[2] = { { .insn = 0 }, { .insn = 1 } };
	const struct gus_program p = { .ops = both, .ops_n = 2, .insns = two, .insns_n = 2 };
	const struct gus_core_cycle a = { .issued = 1, .op = 0, .stop = GUS_CORE_RS };
	const struct gus_core_cycle b = { .issued = 3, .op = 1, .stop = GUS_CORE_RS };
	const struct gus_core_listener *first, *second;
	double of[GUS_NODES_OF_TREE];
	struct gus_slotted s;

	(void)state;
	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		of[i] = 1e9; /* what was there is forgotten */
	gus_slotted_init(&s, WIDTH);
	first = gus_slotted_listen(&s, &p);
	second = gus_slotted_listen(&s, &p);
	first->cycle(first->context, &a);
	second->cycle(second->context, &a);
	second->cycle(second->context, &b);
	gus_slotted_leave(&s, first); /* whose slots stay */
	assert_int_equal(s.threads.n, 1);
	gus_slotted_add(&s, 0, 2, of);
	assert_true(near(of[GUS_NODE_RETIRING], 5) && near(of[GUS_NODE_PORTS], 6) && near(of[GUS_NODE_DIVIDER], 1));
	assert_true(near(of[GUS_NODE_CORE], 7) && near(of[GUS_NODE_BACKEND], 7) && near(of[GUS_NODE_FRONTEND], 0));
	assert_int_equal(s.cycles, 3);
	gus_slotted_free(&s);
}

/* Slots that waited for memory go to the levels that its loads came from, by how long these took; nodes above have the
 * sum of theirs. */
static void levels(void **state)
{
	const struct gus_core_cycle waits = { .op = LOAD, .stop = GUS_CORE_ROB, .stall = GUS_CORE_MEMORY };
	const struct gus_core_event l2 = { .op = LOAD, .bytes = 8, .level = GUS_HIT_L2, .miss = 10 };
	const struct gus_core_event far = { .op = LOAD, .bytes = 8, .level = GUS_HIT_MEMORY, .miss = 30 };
	const struct gus_core_event near_one = { .op = LOAD, .bytes = 8, .level = GUS_HIT_L1, .miss = 500 };
	const struct gus_core_event at_once = { .op = LOAD, .bytes = 8, .level = GUS_HIT_L2 };
	const struct gus_core_event none = { .op = LOAD, .level = GUS_HIT_L3, .miss = 500 };
	const struct gus_core_listener *l;
	double of[GUS_NODES_OF_TREE];
	struct gus_slotted s;

	(void)state;
	gus_slotted_init(&s, WIDTH);
	l = gus_slotted_listen(&s, &program);
	l->cycle(l->context, &waits);
	gus_slotted_add(&s, 0, OPS, of);
	assert_true(near(of[GUS_NODE_L1], 4)); /* nobody has said where from */
	l->uop(l->context, &l2);
	l->uop(l->context, &far);
	l->uop(l->context, &near_one);
	l->uop(l->context, &none);
	l->uop(l->context, &far); /* twice 30 of 70 */
	gus_slotted_add(&s, 0, OPS, of);
	assert_true(near(of[GUS_NODE_L2], 4 * 10. / 70) && near(of[GUS_NODE_DRAM], 4 * 60. / 70));
	assert_true(near(of[GUS_NODE_L1], 0));
	assert_true(near(of[GUS_NODE_MEMORY], 4) && near(of[GUS_NODE_BACKEND], 4) && near(of[GUS_NODE_CORE], 0));
	gus_slotted_add(&s, DIVISION, 1, of);
	assert_true(near(of[GUS_NODE_BACKEND], 0));
	gus_slotted_free(&s);
	gus_slotted_init(&s, WIDTH);
	l = gus_slotted_listen(&s, &program);
	l->cycle(l->context, &waits);
	l->uop(l->context, &at_once); /* one that took no time of its own counts as little as can be */
	gus_slotted_add(&s, 0, OPS, of);
	assert_true(near(of[GUS_NODE_L2], 4));
	gus_slotted_free(&s);
}

/* While a division is under way, whose uop has the unit or the port for cycles, what waits for a port waits for the
 * divider: cycles before it retires, and after that. Of its latency alone that is not so. */
static void divided(void **state)
{
	static struct gus_uop uop[2] = { { .kind = GUS_UOP_COMPUTE, .unit_cycles = 4, .port_cycles = 1 },
		{ .kind = GUS_UOP_COMPUTE, .port_cycles = 1, .latency = 20 } };
	static struct gus_op both[2] = { { .insn = DIVISION, .uops_n = 2 }, { .insn = OTHER } };
	const struct gus_program p = { .ops = both, .ops_n = 2, .uops = uop, .uops_n = 2, .insns = insns,
		.insns_n = OPS };
	const struct gus_core_event division = { .op = 0, .uop = 0, .dispatched = 11 };
	const struct gus_core_event later = { .op = 0, .uop = 1, .dispatched = 9 };
	const struct gus_core_event other = { .op = 1, .uop = 0, .dispatched = 8 };
	struct gus_core_cycle c = { .issued = 1, .op = 1, .stop = GUS_CORE_RS };
	const struct gus_core_listener *l;
	double of[GUS_NODES_OF_TREE];
	struct gus_slotted s;

	(void)state;
	gus_slotted_init(&s, WIDTH);
	l = gus_slotted_listen(&s, &p);
	for (c.cycle = 10; c.cycle < 14; c.cycle++)
		l->cycle(l->context, &c);
	l->uop(l->context, &later);
	l->uop(l->context, &other);
	gus_slotted_add(&s, 0, 2, of);
	assert_true(near(of[GUS_NODE_DIVIDER], 0) && near(of[GUS_NODE_PORTS], 12));
	l->uop(l->context, &division);          /* 11 to 14 */
	l->uop(l->context, &division);          /* nothing twice */
	gus_slotted_add(&s, 0, 2, of);
	assert_true(near(of[GUS_NODE_DIVIDER], 9) && near(of[GUS_NODE_PORTS], 3));
	for (; c.cycle < 16; c.cycle++)
		l->cycle(l->context, &c);
	gus_slotted_add(&s, 0, 2, of);
	assert_true(near(of[GUS_NODE_DIVIDER], 12) && near(of[GUS_NODE_PORTS], 6));
	c.cycle = 12;                           /* another run, of which that division was not */
	l->cycle(l->context, &c);
	gus_slotted_add(&s, 0, 2, of);
	assert_true(near(of[GUS_NODE_DIVIDER], 12) && near(of[GUS_NODE_PORTS], 9));
	gus_slotted_free(&s);
	gus_slotted_init(&s, WIDTH);
	l = gus_slotted_listen(&s, &p);
	for (c.cycle = 9; c.cycle < 19; c.cycle++)
		l->cycle(l->context, &c);
	l->uop(l->context, &division);          /* four of ten, all of them past */
	gus_slotted_add(&s, 0, 2, of);
	assert_true(near(of[GUS_NODE_DIVIDER], 12) && near(of[GUS_NODE_PORTS], 18));
	gus_slotted_free(&s);
}

/* Verdicts. */

struct region { double slots[GUS_NODES_OF_TREE], speedups[GUS_NODES], twice[GUS_NODES], errors[GUS_NODES],
	residuals[GUS_NODES]; };

static struct gus_causal verdict_of(const struct region *r, double model)
{
	double twice[GUS_NODES];
	struct gus_causal_given g = { r->slots, r->speedups, twice, r->errors, r->residuals, model };
	struct gus_causal v;

	for (unsigned i = 0; i < GUS_NODES; i++)
		twice[i] = r->twice[i] > 0 ? r->twice[i] : r->speedups[i]; /* the same unless it is said */
	gus_causal_make(&v, &g);
	return v;
}

/* 40 of 100 slots in DRAM and 30 in ports: one would give back all that it promises, the other nothing. */
static void confirmed_and_ruled_out(void **state)
{
	struct region r = { .slots = { [GUS_NODE_RETIRING] = 30, [GUS_NODE_BACKEND] = 70, [GUS_NODE_MEMORY] = 40,
		[GUS_NODE_DRAM] = 40, [GUS_NODE_CORE] = 30, [GUS_NODE_PORTS] = 30 },
		.speedups = { [GUS_NODE_BACKEND] = 0.7, [GUS_NODE_MEMORY] = 0.68, [GUS_NODE_DRAM] = 0.66,
			[GUS_NODE_CORE] = 0.01, [GUS_NODE_PORTS] = 0.01 } };
	struct gus_causal v = verdict_of(&r, 0.1);
	const struct gus_causal_node *n = &v.nodes[GUS_NODE_DRAM];

	(void)state;
	assert_true(near(n->share, 0.4) && near(n->promise, 0.4 / 0.6) && near(n->speedup, 0.66));
	assert_true(near(n->low, pow(1.66, 0.9) - 1) && near(n->high, pow(1.66, 1.1) - 1));
	assert_int_equal(n->label, GUS_LABEL_CONFIRMED);
	assert_int_equal(v.nodes[GUS_NODE_PORTS].label, GUS_LABEL_RULED_OUT);
	assert_int_equal(v.nodes[GUS_NODE_L2].label, GUS_LABEL_NONE);
	assert_int_equal(v.cause, GUS_NODE_DRAM); /* the narrowest that brings half of the best back */
	assert_false(v.together);

	r.speedups[GUS_NODE_DRAM] = 0.25; /* less than half of two thirds, and 0.2 of the time not half of 0.41 */
	v = verdict_of(&r, 0.1);
	assert_int_equal(v.nodes[GUS_NODE_DRAM].label, GUS_LABEL_PARTLY);
	assert_int_equal(v.cause, GUS_NODE_MEMORY);
	assert_false(v.together);

	r.speedups[GUS_NODE_MISS_BUFFERS] = 0.64; /* one resource says as much as all of memory */
	v = verdict_of(&r, 0.1);
	assert_int_equal(v.cause, GUS_NODE_MISS_BUFFERS);
	assert_int_equal(v.nodes[GUS_NODE_MISS_BUFFERS].label, GUS_LABEL_CONFIRMED);
}

/* Half of the logarithm's width is what was sampled, and the model's and the calibration's parts of the gain. */
static void intervals(void **state)
{
	struct region r = { .slots = { [GUS_NODE_BACKEND] = 1 }, .speedups = { [GUS_NODE_ROB] = 1 } };
	struct gus_causal v;

	(void)state;
	r.errors[GUS_NODE_ROB] = 0.1;
	v = verdict_of(&r, 0);
	assert_true(near(log1p(v.nodes[GUS_NODE_ROB].high), log(2) + 1.96 * 0.1 / 2));
	assert_true(near(log1p(v.nodes[GUS_NODE_ROB].low), log(2) - 1.96 * 0.1 / 2));
	r.errors[GUS_NODE_ROB] = 0;
	r.residuals[GUS_NODE_ROB] = 0.4;
	v = verdict_of(&r, 0.3);
	assert_true(near(log1p(v.nodes[GUS_NODE_ROB].high), 1.5 * log(2)));
	r.errors[GUS_NODE_ROB] = 2 * log(2) / 1.96; /* as long as the gain */
	r.residuals[GUS_NODE_ROB] = 0;
	v = verdict_of(&r, 0.75);
	assert_true(near(log1p(v.nodes[GUS_NODE_ROB].high), 2.25 * log(2)));
}

/* Of a calibration: the root of the mean square of what is said of a node's parameters, of each the worse. */
static void residuals(void **state)
{
	static struct gus_uarch_fit fits[] = {
		{ .name = "l2_latency", .value = 10, .low = 9, .high = 12, .residual = 0.03 }, /* 0.15 */
		{ .name = "l2_bandwidth", .value = 32, .low = 32, .high = 32, .residual = 0.2 },
		{ .name = "l3_latency", .value = 40, .low = 30, .high = 50, .residual = NAN }, /* 0.25 */
		{ .name = "rs_int", .value = 100, .low = NAN, .high = NAN, .residual = 0.5 },
		{ .name = "page_walk_latency", .value = 20, .low = 18, .high = 22, .residual = NAN },
		{ .name = "rsx", .value = 100, .low = 50, .high = 150, .residual = 0.5 },
		{ .name = "store_forward_latency", .value = 0, .low = 0, .high = 1, .residual = 0.5 },
		{ .name = "alias_penalty", .text = "none", .value = 1, .low = 0, .high = 1, .residual = 0.5 },
		{ .form = "div r64", .name = "latency", .value = 10, .low = 9, .high = 11, .residual = NAN },
		{ .form = "mov r64, m64", .name = "loadlat", .value = 4, .low = 4, .high = 4, .residual = 0.07 },
		{ .form = "add r64, r64", .name = "throughput", .value = 4, .low = 3.2, .high = 4.8, .residual = 0 },
	};
	static const struct gus_uarch none = { .fits_n = 0 };
	const struct gus_uarch u = { .fits = fits, .fits_n = sizeof(fits) / sizeof(*fits) };

	(void)state;
	assert_true(near(gus_node_residual(&u, GUS_NODE_L2), sqrt((0.15 * 0.15 + 0.2 * 0.2) / 2)));
	assert_true(near(gus_node_residual(&u, GUS_NODE_L3), 0.25));
	assert_true(near(gus_node_residual(&u, GUS_NODE_RS), 0));
	assert_true(near(gus_node_residual(&u, GUS_NODE_FORWARDING), 0));
	assert_true(near(gus_node_residual(&u, GUS_NODE_TLB), 0.1));
	assert_true(near(gus_node_residual(&u, GUS_NODE_ALIASES), 0));
	assert_true(near(gus_node_residual(&u, GUS_NODE_CHAINS), 0.1));
	assert_true(near(gus_node_residual(&u, GUS_NODE_LOAD_CHAINS), 0.07));
	assert_true(near(gus_node_residual(&u, GUS_NODE_PORTS), sqrt((0.1 * 0.1 + 0.2 * 0.2) / 2)));
	assert_true(near(gus_node_residual(&none, GUS_NODE_BACKEND), 0));
}

/* Of equally narrow ones that which brings more, of equals the first; all slots in one node promise no end of it. */
static void chosen(void **state)
{
	struct region r = { .slots = { [GUS_NODE_BACKEND] = 0.25, [GUS_NODE_CORE] = 0.25, [GUS_NODE_PORTS] = 0.25 },
		.speedups = { [GUS_NODE_CHAINS] = 0.50, [GUS_NODE_ROB] = 0.52, [GUS_NODE_RS] = 0.51 } };
	struct gus_causal v = verdict_of(&r, 0.1);

	(void)state;
	assert_true(near(v.nodes[GUS_NODE_PORTS].share, 1) && isinf(v.nodes[GUS_NODE_PORTS].promise));
	assert_int_equal(v.cause, GUS_NODE_ROB);
	r.speedups[GUS_NODE_CHAINS] = 0.52;
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_CHAINS);
	r.twice[GUS_NODE_RS] = 0.53;            /* twice as much says which, whatever more of it gains */
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_RS);
	r.twice[GUS_NODE_FRONTEND] = 0.9;       /* more, but these bring half of it: 0.53 of 1.53, 0.9 of 1.9 */
	r.speedups[GUS_NODE_FRONTEND] = 2;
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_RS);
	/* A half of the time, and of it somewhat less than half, then more. */
	r = (struct region){ .slots = { [GUS_NODE_RETIRING] = 20, [GUS_NODE_BACKEND] = 80 },
		.speedups = { [GUS_NODE_RETIRING] = 1, [GUS_NODE_ROB] = 0.33 } };
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_RETIRING);
	r.speedups[GUS_NODE_ROB] = 0.34;
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_ROB);
	/* Of what no knob is nothing is told, whatever it is said to gain. */
	r.speedups[GUS_NODE_CLEARS] = 9;
	v = verdict_of(&r, 0.1);
	assert_int_equal(v.cause, GUS_NODE_ROB);
	assert_true(near(v.nodes[GUS_NODE_CLEARS].speedup, 0) && near(v.nodes[GUS_NODE_CLEARS].high, 0));
}

/* Of those that bring enough back one that holds none of the others: a chain of divisions is divisions, which are among
 * all latencies; of a chain of other results the divider is no part. No slots are needed: what hides behind another
 * loses none. */
static void narrowest(void **state)
{
	struct region r = { .slots = { [GUS_NODE_RETIRING] = 20, [GUS_NODE_SPECULATION] = 80,
		[GUS_NODE_MISPREDICTS] = 80 }, .speedups = { [GUS_NODE_BACKEND] = 4, [GUS_NODE_CORE] = 4,
		[GUS_NODE_CHAINS] = 3.99, [GUS_NODE_DIVIDER] = 3.9, [GUS_NODE_PORTS] = 0.6,
		[GUS_NODE_MISPREDICTS] = 0.2 } };

	(void)state;
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_DIVIDER);
	r.speedups[GUS_NODE_DIVIDER] = 0.66;    /* 0.398 of the time: not half of 0.8 */
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_CHAINS);
	r.speedups[GUS_NODE_DIVIDER] = 0.67;
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_DIVIDER);
	r.speedups[GUS_NODE_DIVIDER] = 0;
	r.speedups[GUS_NODE_PORTS] = 4;
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_CHAINS);
	/* The same resources in two levels of the tree: the deeper one. */
	r = (struct region){ .slots = { [GUS_NODE_SPECULATION] = 70, [GUS_NODE_MISPREDICTS] = 70,
		[GUS_NODE_RETIRING] = 30 }, .speedups = { [GUS_NODE_SPECULATION] = 1, [GUS_NODE_MISPREDICTS] = 1 } };
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_MISPREDICTS);
	/* Leaves are as narrow as each other, at whatever level they are. */
	r.speedups[GUS_NODE_L3] = 0.9;
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_MISPREDICTS);
	r.speedups[GUS_NODE_L3] = 1.1;
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_L3);
	/* More width is no cause where hardly any slot is used. */
	r = (struct region){ .slots = { [GUS_NODE_RETIRING] = 4, [GUS_NODE_SPECULATION] = 96 },
		.speedups = { [GUS_NODE_RETIRING] = 9, [GUS_NODE_ROB] = 0.1 } };
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_ROB);
	/* Fetch is a part of what width stands for. */
	r = (struct region){ .slots = { [GUS_NODE_RETIRING] = 50, [GUS_NODE_FRONTEND] = 50 },
		.speedups = { [GUS_NODE_RETIRING] = 1, [GUS_NODE_FRONTEND] = 0.9, [GUS_NODE_FETCH_BANDWIDTH] = 0.9 } };
	assert_int_equal(verdict_of(&r, 0.1).cause, GUS_NODE_FETCH_BANDWIDTH);
	assert_false(verdict_of(&r, 0.1).together);
}

/* Slots that are used have to be issued whatever costs nothing: with four of five used nothing but width brings more
 * than a quarter, and its interval ends there. */
static void held_back(void **state)
{
	struct region r = { .slots = { [GUS_NODE_RETIRING] = 80, [GUS_NODE_BACKEND] = 20 },
		.speedups = { [GUS_NODE_CHAINS] = 1.4, [GUS_NODE_ROB] = 0.2, [GUS_NODE_RETIRING] = 3 } };
	struct gus_causal v = verdict_of(&r, 0.3);

	(void)state;
	assert_true(near(v.nodes[GUS_NODE_CHAINS].speedup, 0.25) && near(v.nodes[GUS_NODE_CHAINS].high, 0.25));
	assert_true(near(v.nodes[GUS_NODE_CHAINS].twice, 0.25) && v.nodes[GUS_NODE_CHAINS].low <= 0.25);
	assert_true(near(v.nodes[GUS_NODE_ROB].speedup, 0.2) && v.nodes[GUS_NODE_ROB].high <= 0.25);
	assert_true(near(v.nodes[GUS_NODE_RETIRING].speedup, 3));
}

/* Balanced code: only all of the back end together is worth it, and no part of it. */
static void together(void **state)
{
	struct region r = { .slots = { [GUS_NODE_RETIRING] = 50, [GUS_NODE_BACKEND] = 50, [GUS_NODE_CORE] = 50,
		[GUS_NODE_PORTS] = 50 }, .speedups = { [GUS_NODE_BACKEND] = 0.6, [GUS_NODE_CORE] = 0.03,
		[GUS_NODE_MEMORY] = 0.04, [GUS_NODE_PORTS] = 0.02 } };
	struct gus_causal v = verdict_of(&r, 0.05);

	(void)state;
	assert_int_equal(v.cause, GUS_NODE_BACKEND);
	assert_true(v.together);
	r.speedups[GUS_NODE_RS] = GUS_CAUSAL_WORTH;
	assert_false(verdict_of(&r, 0.05).together);
	r.speedups[GUS_NODE_RS] = GUS_CAUSAL_WORTH - 1e-6;
	assert_true(verdict_of(&r, 0.05).together);
}

/* What is worth a change and what is sure of it. */
static void bounds(void **state)
{
	struct region r = { .slots = { [GUS_NODE_RETIRING] = 95, [GUS_NODE_BACKEND] = 5, [GUS_NODE_CORE] = 5,
		[GUS_NODE_PORTS] = 5 } };
	struct gus_causal v;

	(void)state;
	r.speedups[GUS_NODE_PORTS] = GUS_CAUSAL_WORTH - 1e-6;
	v = verdict_of(&r, 0);
	assert_int_equal(v.cause, GUS_NODE_NONE);
	assert_int_equal(v.nodes[GUS_NODE_PORTS].label, GUS_LABEL_RULED_OUT);
	r.speedups[GUS_NODE_PORTS] = GUS_CAUSAL_WORTH + 1e-6;
	v = verdict_of(&r, 0);
	assert_int_equal(v.cause, GUS_NODE_PORTS);
	assert_int_equal(v.nodes[GUS_NODE_PORTS].label, GUS_LABEL_CONFIRMED);
	v = verdict_of(&r, 0.01); /* it may be less as well */
	assert_int_equal(v.nodes[GUS_NODE_PORTS].label, GUS_LABEL_OPEN);
	r.errors[GUS_NODE_PORTS] = 0.001;
	v = verdict_of(&r, 0);
	assert_int_equal(v.nodes[GUS_NODE_PORTS].label, GUS_LABEL_OPEN);
	r.slots[GUS_NODE_CLEARS] = 50; /* no knob is of it */
	v = verdict_of(&r, 0);
	assert_int_equal(v.nodes[GUS_NODE_CLEARS].label, GUS_LABEL_OPEN);
	r.slots[GUS_NODE_CLEARS] = 0;
	r.slots[GUS_NODE_PORTS] = 4.9;
	r.errors[GUS_NODE_PORTS] = 0;
	assert_int_equal(verdict_of(&r, 0).nodes[GUS_NODE_PORTS].label, GUS_LABEL_UNSEEN); /* it gains all the same */
	r.speedups[GUS_NODE_PORTS] = 0;
	v = verdict_of(&r, 0);
	assert_int_equal(v.nodes[GUS_NODE_PORTS].label, GUS_LABEL_NONE); /* too few slots to be looked at */
	r = (struct region){ .slots = { 0 } };
	v = verdict_of(&r, 0.1);                /* of nothing */
	assert_int_equal(v.cause, GUS_NODE_NONE);
	assert_true(near(v.nodes[GUS_NODE_BACKEND].share, 0));
}

/* The table: parents come first and are one level up, names differ, and each node has knobs or says why not. */
static void table(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GUS_NODES; i++) {
		const struct gus_node_kind *k = &gus_nodes[i];

		assert_true(!k->knobs == (k->silent != NULL));
		assert_true(k->level == (i >= GUS_NODES_OF_TREE ? 0 : k->level) && k->level <= 3);
		if (k->level > 1)
			assert_true(k->parent < i && gus_nodes[k->parent].level == k->level - 1);
		else
			assert_int_equal(k->parent, GUS_NODE_NONE);
		for (unsigned other = 0; other < i; other++)
			assert_string_not_equal(k->name, gus_nodes[other].name);
	}
}

/* Kinds, of those with numbers the right ones, and units by their names. */
static void knobs(void **state)
{
	static const struct { enum gus_node node; struct gus_sensitivity knob; bool has; } cases[] = {
		{ GUS_NODE_DRAM, { { GUS_KNOB_LEVEL_LATENCY, GUS_HIT_MEMORY, 2 }, "" }, true },
		{ GUS_NODE_DRAM, { { GUS_KNOB_BANDWIDTH, GUS_HIT_MEMORY, 2 }, "" }, true },
		{ GUS_NODE_DRAM, { { GUS_KNOB_LEVEL_LATENCY, GUS_HIT_L3, 2 }, "" }, false },
		{ GUS_NODE_L2, { { GUS_KNOB_BANDWIDTH, GUS_HIT_L2, 2 }, "" }, true },
		{ GUS_NODE_L2, { { GUS_KNOB_BANDWIDTH, GUS_HITS, 2 }, "" }, false },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_LATENCY, GUS_INSN_FP_DIV, 2 }, "" }, true },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_LATENCY, GUS_INSN_DIV, 2 }, "" }, true },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_UNITS, 1, 2 }, "unit divider" }, true },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_UNITS, 1, 2 }, "unit fpdivider" }, true },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_UNITS, 1, 2 }, "unit lock" }, false },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_LATENCY, GUS_INSN_FP_SQRT, 2 }, "" }, true },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_HELD, GUS_HELD_BY_DIVISIONS, 2 }, "" }, true },
		{ GUS_NODE_PORTS, { { GUS_KNOB_HELD, GUS_HELD_BY_DIVISIONS, 2 }, "" }, false },
		{ GUS_NODE_LOCKS, { { GUS_KNOB_UNITS, 1, 2 }, "unit lock" }, true },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_HELD, GUS_HELD_BY_FENCES, 2 }, "" }, false },
		{ GUS_NODE_SERIALISING, { { GUS_KNOB_HELD, GUS_HELD_BY_FENCES, 2 }, "" }, true },
		{ GUS_NODE_LOCKS, { { GUS_KNOB_HELD, GUS_HELD_BY_LOCKS, 2 }, "" }, true },
		{ GUS_NODE_LOCKS, { { GUS_KNOB_LATENCY, GUS_INSN_ATOMIC, 2 }, "" }, true },
		{ GUS_NODE_PORTS, { { GUS_KNOB_LATENCY, GUS_INSN_ATOMIC, 2 }, "" }, false },
		{ GUS_NODE_SERIALISING, { { GUS_KNOB_LATENCY, GUS_INSN_FENCE, 2 }, "" }, true },
		{ GUS_NODE_SERIALISING, { { GUS_KNOB_LATENCY, GUS_INSN_SYSTEM, 2 }, "" }, true },
		{ GUS_NODE_PORTS, { { GUS_KNOB_LATENCY, GUS_INSN_FENCE, 2 }, "" }, false },
		{ GUS_NODE_L1, { { GUS_KNOB_UNITS, 1, 2 }, "unit lock" }, true },
		{ GUS_NODE_PORTS, { { GUS_KNOB_UNITS, 1, 2 }, "unit microcode" }, true },
		{ GUS_NODE_LOCKS, { { GUS_KNOB_UNITS, 1, 2 }, "unit microcode" }, false },
		{ GUS_NODE_DIVIDER, { { GUS_KNOB_LATENCY, GUS_INSN_MOV, 2 }, "" }, false },
		{ GUS_NODE_PORTS, { { GUS_KNOB_LATENCY, GUS_INSN_MOV, 2 }, "" }, true },
		{ GUS_NODE_PORTS, { { GUS_KNOB_LATENCY, GUS_INSN_DIV, 2 }, "" }, false },
		{ GUS_NODE_CHAINS, { { GUS_KNOB_LATENCY, GUS_INSN_DIV, 2 }, "" }, true },
		{ GUS_NODE_CHAINS, { { GUS_KNOB_LATENCY, GUS_INSN_MOV, 2 }, "" }, true },
		{ GUS_NODE_CHAINS, { { GUS_KNOB_PORTS, 0, 2 }, "" }, false },
		{ GUS_NODE_MISPREDICTS, { { GUS_KNOB_PREDICTED, 0, 2 }, "" }, true },
		{ GUS_NODE_STORES, { { GUS_KNOB_STORES, 0, 2 }, "" }, true },
		{ GUS_NODE_STORES, { { GUS_KNOB_LOAD_BUFFER, 0, 2 }, "" }, false },
		{ GUS_NODE_CLEARS, { { GUS_KNOB_MISPREDICT, 0, 2 }, "" }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (gus_node_has(&gus_nodes[cases[i].node], &cases[i].knob) != cases[i].has)
			fail_msg("case %zu", i);
}

/* What a node stands for, all above it stand for, too. */
static void sets_in_sets(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		for (unsigned kind = GUS_KNOB_NONE; kind < GUS_KNOBS; kind++)
			for (uint32_t number = 0; gus_nodes[i].level > 1 && number < 64; number++) {
				struct gus_sensitivity k = { { (enum gus_knob_kind)kind, number, 2 }, "unit lock" };

				if (gus_node_has(&gus_nodes[i], &k) &&
				    !gus_node_has(&gus_nodes[gus_nodes[i].parent], &k))
					fail_msg("%s has knob %u %u, and %s has not", gus_nodes[i].name, kind, number,
						 gus_nodes[gus_nodes[i].parent].name);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles), cmocka_unit_test(sums), cmocka_unit_test(levels), cmocka_unit_test(chosen),
		cmocka_unit_test(narrowest), cmocka_unit_test(held_back), cmocka_unit_test(divided),
		cmocka_unit_test(confirmed_and_ruled_out), cmocka_unit_test(intervals), cmocka_unit_test(residuals),
		cmocka_unit_test(together), cmocka_unit_test(bounds), cmocka_unit_test(table),
		cmocka_unit_test(knobs), cmocka_unit_test(sets_in_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
