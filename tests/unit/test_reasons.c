/* SPDX-License-Identifier: MIT */
/* Why the stream engine waits: made programs of a few ops, on a machine of which all is without limit but what the
 * case is about, so that what each time waits for is known by argument; and what causality makes of it when they run
 * for long. Times are in ticks, T a cycle. Four slots are issued a cycle, so ops of one slot are dispatched at T / 4,
 * T / 2 and so on. Between reasons that are equally late the toss is always lost (its bits are 0): the one that was
 * found first stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/analysis/causality.h"
#include "model/stream/private.h"
#include "model/machine/steps.h"
#include "model/stream/stream.h"

enum { T = GUS_STREAM_TICKS, P0 = 1, P1 = 2, P01 = 3, RA = 1, RB, RC, STEPS = 64, PORTS0 = STREAM_GROUPS_AT };

struct run {
	struct gus_program p;
	struct gus_program_insn insns[STEPS];
	struct gus_op ops[STEPS];
	struct gus_uop uops[2 * STEPS];
	struct gus_flow flows[2 * STEPS];
	struct gus_program_memory memories[STEPS];
	struct gus_core_config c;
	struct gus_op_step steps[STEPS];
	struct gus_op_access accesses[STEPS];
	size_t n, accesses_n;
	struct gus_stream_times times[STEPS];
	const struct gus_stream_lane *lanes; /* NULL: the nominal machine alone */
	size_t lanes_n;
	struct gus_stream_log log;
};

static void read_nothing(struct gus_stream_log *log, const struct stream *s)
{
	(void)log;
	(void)s;
}

static void resume_nothing(struct gus_stream_log *log)
{
	(void)log;
}

static int begin(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	r->p = (struct gus_program){ .insns = r->insns, .ops = r->ops, .uops = r->uops, .flows = r->flows,
		.memories = r->memories };
	r->c = (struct gus_core_config){ .issue_width = 4, .issue_delay = 1, .retire_width = 4,
		.line_size = 64, .microcode_width = 1 };
	r->log = (struct gus_stream_log){ .notes = calloc(1024, sizeof(*r->log.notes)), .notes_mask = 1023,
		.starts = calloc(1024, sizeof(*r->log.starts)), .starts_mask = 1023, .stretch = 8, .one_in = 1,
		.read = read_nothing, .resume = resume_nothing }; /* the engine makes given, as large as its rings */
	*state = r;
	return 0;
}

static int end(void **state)
{
	struct run *r = *state;

	free(r->log.notes);
	free(r->log.starts);
	for (unsigned w = 0; w < STREAM_WINDOWS; w++)
		free(r->log.given[w]);
	free(r);
	return 0;
}

/* Making programs: an op, then its uops, of each what it reads, then what it writes. */
static struct gus_op *op(struct run *r, unsigned slots)
{
	struct gus_op *o = &r->ops[r->p.ops_n];

	*o = (struct gus_op){ .insn = r->p.ops_n, .uop = r->p.uops_n, .memory = r->p.memories_n, .insns_n = 1, .rob = 1,
		.slots = (uint16_t)slots, .decoded = (uint8_t)slots };
	r->insns[r->p.ops_n].info.length = 16;
	r->insns[r->p.ops_n].offset = 16 * r->p.ops_n;
	r->p.insns_n = ++r->p.ops_n;
	return o;
}

static struct gus_uop *uop(struct run *r, uint64_t ports, unsigned latency)
{
	struct gus_uop *u = &r->uops[r->p.uops_n++];

	*u = (struct gus_uop){ .kind = GUS_UOP_COMPUTE, .ports = ports, .latency = (uint16_t)latency,
		.in = r->p.flows_n, .out = r->p.flows_n };
	r->ops[r->p.ops_n - 1].uops_n++;
	return u;
}

static void reads(struct run *r, unsigned reg, int late)
{
	struct gus_uop *u = &r->uops[r->p.uops_n - 1];

	r->flows[r->p.flows_n++] = (struct gus_flow){ (uint8_t)reg, (int16_t)late };
	u->in_n++;
	u->out = r->p.flows_n;
}

static void writes(struct run *r, unsigned reg, int cycles)
{
	r->flows[r->p.flows_n++] = (struct gus_flow){ (uint8_t)reg, (int16_t)cycles };
	r->uops[r->p.uops_n - 1].out_n++;
}

static struct gus_uop *memory(struct run *r, bool store, unsigned latency, unsigned bytes)
{
	struct gus_op *o = &r->ops[r->p.ops_n - 1];
	struct gus_uop *u = uop(r, 0, latency);

	u->kind = store ? GUS_UOP_STORE_DATA : GUS_UOP_LOAD;
	u->memory = o->memories_n++;
	o->stores = (uint8_t)(o->stores + store);
	o->loads = (uint8_t)(o->loads + !store);
	r->memories[r->p.memories_n++] = (struct gus_program_memory){ .bytes = bytes, .load = !store, .store = store };
	return u;
}

/* Ops that are often needed. */
static void plain_op(struct run *r, uint64_t ports, unsigned latency, unsigned from, unsigned to)
{
	op(r, 1);
	uop(r, ports, latency);
	if (from)
		reads(r, from, 0);
	if (to)
		writes(r, to, (int)latency);
}

static void load_op(struct run *r, unsigned from, unsigned to)
{
	op(r, 1);
	memory(r, false, 4, 8);
	if (from)
		reads(r, from, 0);
	if (to)
		writes(r, to, 4);
}

static void store_op(struct run *r, unsigned bytes)
{
	op(r, 1);
	memory(r, true, 0, bytes);
}

/* The next step is that op, its access there. */
static struct gus_op_step *step(struct run *r, uint32_t op)
{
	r->steps[r->n] = (struct gus_op_step){ .op = op, .access = (uint32_t)r->accesses_n, .cached = true };
	return &r->steps[r->n++];
}

static void access_at(struct run *r, uint64_t address, enum gus_hit level, enum gus_tlb tlb)
{
	r->accesses[r->accesses_n++] = (struct gus_op_access){ .address = address, .known = true,
		.level = (uint8_t)level,
		.tlb = (uint8_t)tlb };
}

static void execute(struct run *r, uint32_t op, enum gus_hit level, enum gus_tlb tlb)
{
	step(r, op);
	if (r->ops[op].memories_n)
		access_at(r, 0x1000, level, tlb);
}

static void go(struct run *r)
{
	struct gus_stream_options o = { .log = &r->log, .lanes = r->lanes, .lanes_n = r->lanes_n };
	struct gus_error err = { 0 };
	struct gus_stream_engine *e = gus_stream_open(&r->p, &r->c, &o, &err);

	assert_non_null(e);
	gus_stream_feed(e, &(struct gus_op_steps){ r->steps, r->accesses, r->n }, r->times);
	gus_stream_close(e);
	assert_int_equal(r->log.seq, r->n);
}

/* All ops once, in order; none has an access. */
static void go_through(struct run *r)
{
	for (uint32_t i = 0; i < r->p.ops_n; i++)
		step(r, i);
	go(r);
}

static uint64_t start_of(const struct run *r, unsigned seq, unsigned uop)
{
	return r->log.starts[r->log.notes[seq].starts + uop];
}

/* A reason is packed: what is not named is 0. */
struct reason { enum stream_why why; unsigned index, out, in, seq, level, tlb; };
static uint64_t packed(struct reason w)
{
	return stream_missed(stream_reason(w.why, w.index, w.out, w.in, w.seq), w.level, w.tlb);
}
#define EXPECT(got, ...) assert_int_equal(got, packed((struct reason){ __VA_ARGS__ }))

/* What is packed comes out again, each number at its largest beside all others at 0. */
static void test_packing(void **state)
{
	static const struct reason cases[] = { { WHY_RETIRED, 0, 0, 0, 0, 0, 0 }, { WHY_BEGINNING, 255, 0, 0, 0, 0, 0 },
		{ WHY_BEGINNING, 0, 15, 0, 0, 0, 0 }, { WHY_BEGINNING, 0, 0, 15, 0, 0, 0 },
		{ WHY_BEGINNING, 0, 0, 0, UINT32_MAX, 0, 0 },
		{ WHY_BEGINNING, 0, 0, 0, 0, 3, 0 }, { WHY_BEGINNING, 0, 0, 0, 0, 0, 3 },
		{ WHY_VALUE, 1, 2, 3, 4, 1, 2 } };
	const uint64_t longest = (UINT64_C(1) << 38) - 1;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t w = packed(cases[i]);

		assert_true(stream_why(w) == cases[i].why && stream_why_index(w) == cases[i].index &&
			stream_why_out(w) == cases[i].out);
		assert_true(stream_why_in(w) == cases[i].in && stream_why_seq(w) == cases[i].seq);
		assert_true(stream_why_level(w) == cases[i].level && stream_why_tlb(w) == cases[i].tlb);
	}
	assert_true(stream_why_seq(stream_reason(WHY_FRONT, 0, 0, 0, longest)) == longest);
	assert_true(stream_reason(WHY_FRONT, 0, 0, 0, longest + 1) == stream_reason(WHY_FRONT, 0, 0, 0, 0));
}

/* Later is later; as late as is later if bit n says so, modulo 64. */
static void test_toss(void **state)
{
	const struct gus_stream_log none = { .random = 0 }, one = { .random = UINT64_C(1) << 5 };

	(void)state;
	assert_true(stream_later(&none, 2, 1, 0) && !stream_later(&none, 1, 2, 0) && !stream_later(&none, 1, 1, 0));
	assert_true(stream_later(&one, 1, 1, 5) && stream_later(&one, 1, 1, 69) && !stream_later(&one, 1, 1, 4));
	assert_false(stream_later(&one, 1, 2, 5));
}

/* New bits to toss with are drawn before op 0 and 64, not in between. */
static void test_new_bits(void **state)
{
	struct run *r = *state;
	uint64_t x = 88172645463325252;

	r->log.random = x;
	plain_op(r, 0, 0, 0, 0);
	for (unsigned i = 0; i < STEPS; i++)
		step(r, 0);
	go(r);
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	assert_true(r->log.random == x);
}

/* Issue: 4, 2 and 1 slots are a cycle, a half, a quarter. All of them are held up by the width, which is busy since
 * the first. */
static void test_issue(void **state)
{
	struct run *r = *state;

	op(r, 4);
	op(r, 2);
	op(r, 1);
	go_through(r);
	assert_true(r->times[0].issue == T && r->times[1].issue == 3 * T / 2 && r->times[2].issue == 7 * T / 4);
	EXPECT(r->log.notes[0].entry, WHY_BEGINNING);
	for (unsigned i = 0; i < 3; i++) {
		EXPECT(r->log.notes[i].dispatch, WHY_FRONT, .index = FRONT_ISSUE, .seq = i);
		assert_int_equal(r->log.notes[i].since, 0);
		assert_int_equal(r->log.notes[i].fronts, 1 << FRONT_ISSUE);
		assert_int_equal(r->log.notes[i].op, i);
	}
	EXPECT(r->log.notes[2].entry, WHY_FRONT, .index = FRONT_ISSUE, .seq = 1);
}

/* Where uops come from: with one decoder, a uop cache of two a cycle, and length decoding of 16 bytes a cycle. */
static void test_decoders(void **state)
{
	struct run *r = *state;

	r->c.fetch_bytes = 16;
	r->c.decode_width = 1;
	r->c.predecode_width = 5;
	r->c.uop_cache_width = 2;
	r->c.lcp_penalty = 3;
	op(r, 4); /* of the uop cache: two cycles, where issue takes one */
	op(r, 1); /* decoded: one cycle each */
	op(r, 1);
	r->insns[2].info.flags = GUS_INSN_LCP; /* length decoding: 1 + 3 cycles */
	step(r, 0);
	for (unsigned i = 0; i < 4; i++)
		step(r, 1)->cached = false;
	for (unsigned i = 0; i < 3; i++)
		*step(r, 2) = (struct gus_op_step){ .op = 2, .taken = true };
	go(r);
	EXPECT(r->log.notes[0].dispatch, WHY_FRONT, .index = FRONT_UOP_CACHE, .seq = 0);
	assert_int_equal(r->log.notes[0].fronts, 1 << FRONT_ISSUE | 1 << FRONT_UOP_CACHE);
	assert_int_equal(r->times[0].issue, 2 * T);
	/* The decoders work ahead: they are done with these at 1, 2, 3, 4, 5, 6 and 7, and issue takes two before they
	 * are what it waits for. */
	assert_true(r->times[1].issue == 2 * T + T / 4 && r->times[2].issue == 2 * T + T / 2);
	EXPECT(r->log.notes[2].dispatch, WHY_FRONT, .index = FRONT_ISSUE, .seq = 2);
	EXPECT(r->log.notes[3].dispatch, WHY_FRONT, .index = FRONT_DECODE, .seq = 3);
	EXPECT(r->log.notes[4].dispatch, WHY_FRONT, .index = FRONT_DECODE, .seq = 4);
	assert_true(r->times[3].issue == 3 * T && r->times[4].issue == 4 * T);
	assert_int_equal(r->log.notes[1].fronts, 1 << FRONT_ISSUE | 1 << FRONT_DECODE | 1 << FRONT_FETCH);
	assert_true(r->log.notes[1].fetched == 1 && r->log.notes[2].fetched == 0 && r->log.notes[5].fetched == 4);
	/* So does length decoding: 1, 1, 1, 1, 5, 9 and 13. */
	EXPECT(r->log.notes[6].dispatch, WHY_FRONT, .index = FRONT_FETCH, .seq = 6);
	assert_int_equal(r->log.notes[6].since, 0);
	assert_true(r->times[5].issue == 5 * T && r->times[6].issue == 9 * T);
}

/* Nothing to wait for: a uop starts at its dispatch, is complete its latency later, and the op retires by that.
 * Without latency its end is its dispatch. */
static void test_nothing(void **state)
{
	struct run *r = *state;

	plain_op(r, 0, 0, 0, 0);
	plain_op(r, P0, 3, 0, 0);
	op(r, 1);
	uop(r, P1, 2);
	uop(r, P0, 7);
	go_through(r);
	for (unsigned i = 0; i < 3; i++)
		EXPECT(start_of(r, i, 0), WHY_DISPATCH);
	EXPECT(r->log.notes[0].end, WHY_DISPATCH);
	EXPECT(r->log.notes[0].retire, WHY_DISPATCH);
	EXPECT(r->log.notes[1].end, WHY_OWN, .seq = 1);
	EXPECT(r->log.notes[1].retire, WHY_OWN, .seq = 1);
	/* Busy until 3 / 2 T, dispatched at 3 / 4 T. */
	EXPECT(start_of(r, 2, 1), WHY_RESOURCE, .index = PORTS0, .seq = 1);
	EXPECT(r->log.notes[2].end, WHY_OWN, .index = 1, .seq = 2);
	assert_true(r->times[1].start == T / 2 && r->times[1].end == T / 2 + 3 * T);
	assert_true(r->times[2].issue == 3 * T / 4 && r->times[2].start == 3 * T / 2 && r->times[2].end == 17 * T / 2);
	assert_int_equal(r->times[2].left, r->times[2].retire);
}

/* Retirement is in order, four slots a cycle: behind what takes long it waits for the one before. */
static void test_retirement(void **state)
{
	struct run *r = *state;

	plain_op(r, 0, 100, 0, 0);
	plain_op(r, 0, 1, 0, 0);
	op(r, 2);
	go_through(r);
	EXPECT(r->log.notes[0].retire, WHY_OWN);
	EXPECT(r->log.notes[1].end, WHY_OWN, .seq = 1);
	EXPECT(r->log.notes[1].retire, WHY_PREVIOUS);
	EXPECT(r->log.notes[2].retire, WHY_PREVIOUS);
	assert_true(r->times[0].retire == 401 * T / 4 && r->times[1].retire == 402 * T / 4 &&
		r->times[2].retire == 404 * T / 4);
}

/* Three on one port, a cycle each: the second and third wait for it, and it is busy since the first of them. An op
 * before them uses another port, and after a pause it is busy since the one that comes then. */
static void test_port(void **state)
{
	struct run *r = *state;

	plain_op(r, P1, 1, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		plain_op(r, P0, 1, 0, 0);
	op(r, 40); /* ten cycles of issue */
	plain_op(r, P0, 1, 0, 0);
	plain_op(r, P0, 1, 0, 0);
	go_through(r);
	EXPECT(start_of(r, 1, 0), WHY_DISPATCH);
	EXPECT(start_of(r, 2, 0), WHY_RESOURCE, .index = PORTS0 + 1, .seq = 1);
	EXPECT(start_of(r, 3, 0), WHY_RESOURCE, .index = PORTS0 + 1, .seq = 1);
	assert_true(r->times[1].start == T / 2 && r->times[3].start == T / 2 + 2 * T);
	EXPECT(start_of(r, 5, 0), WHY_DISPATCH);
	EXPECT(start_of(r, 6, 0), WHY_RESOURCE, .index = PORTS0 + 1, .seq = 5);
}

/* Of two groups that hold its port it waits for the one that is later: p0 alone after two on it; p01 (half a cycle
 * each) after five on either. A uop that takes its port for two cycles takes each of its groups twice. */
static void test_groups(void **state)
{
	struct run *r = *state;

	plain_op(r, P0, 1, 0, 0);
	op(r, 1);
	uop(r, P0, 1)->port_cycles = 2;
	plain_op(r, P01, 1, 0, 0);
	plain_op(r, P0, 1, 0, 0);
	go_through(r);
	EXPECT(start_of(r, 1, 0), WHY_RESOURCE, .index = PORTS0, .seq = 0);
	/* 1/4 T + 1/2 T + 2/2 T, where dispatch is at 3/4 T. */
	EXPECT(start_of(r, 2, 0), WHY_RESOURCE, .index = PORTS0 + 1, .seq = 0);
	assert_int_equal(r->times[2].start, 7 * T / 4);
	EXPECT(start_of(r, 3, 0), WHY_RESOURCE, .index = PORTS0, .seq = 0);
	assert_int_equal(r->times[3].start, T / 4 + 3 * T);
}

/* Exclusive units: 5 cycles of unit 2 (numbered from 1). */
static void test_unit(void **state)
{
	struct run *r = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct gus_uop *u;

		op(r, 1);
		u = uop(r, 0, 1);
		u->unit = 2;
		u->unit_cycles = 5;
	}
	go_through(r);
	EXPECT(start_of(r, 1, 0), WHY_RESOURCE, .index = STREAM_UNITS_AT + 2, .seq = 0);
	assert_int_equal(r->times[1].start, T / 4 + 5 * T);
}

/* What another uop wrote: which op, uop and output, and by which input. One that is read two cycles late holds up
 * less. */
static void test_value(void **state)
{
	struct run *r = *state;

	op(r, 1);
	uop(r, 0, 1);
	uop(r, 0, 9);
	writes(r, RA, 3);
	writes(r, RB, 9);
	op(r, 1);
	uop(r, 0, 1);
	reads(r, RA, 0);
	reads(r, RB, 2);
	op(r, 1);
	uop(r, 0, 1);
	reads(r, RC, 0); /* never written */
	op(r, 1);
	uop(r, 0, 1);
	reads(r, RA, 0);
	reads(r, RB, 9); /* RA is later */
	go_through(r);
	EXPECT(start_of(r, 1, 0), WHY_VALUE, .index = 1, .out = 1, .in = 1, .seq = 0);
	assert_int_equal(r->times[1].start, T / 4 + 7 * T);
	EXPECT(start_of(r, 2, 0), WHY_DISPATCH);
	EXPECT(start_of(r, 3, 0), WHY_VALUE, .index = 1, .out = 0, .in = 0, .seq = 0);
	assert_int_equal(r->times[3].start, T / 4 + 3 * T);
}

/* A move that rename does: whoever reads its result waits for who wrote what was moved. */
static void test_moved(void **state)
{
	struct run *r = *state;
	struct gus_op *o;

	plain_op(r, 0, 9, 0, RA);
	o = op(r, 1);
	uop(r, 0, 0);
	writes(r, RB, 0);
	o->flags = GUS_OP_ELIMINATED;
	o->move_from = RA;
	o->move_to = RB;
	plain_op(r, 0, 1, RB, 0);
	go_through(r);
	EXPECT(start_of(r, 2, 0), WHY_VALUE, .seq = 0);
	EXPECT(r->log.notes[1].end, WHY_DISPATCH);
	assert_int_equal(r->times[2].start, T / 4 + 9 * T);
}

/* A load of what a store before it wrote: 5 cycles after the data were there, or, of more bytes than the store has, 7
 * after the store has left. The same for who reads what was loaded. */
static void test_forward(void **state)
{
	struct run *r = *state;

	r->c.store_forward_latency = 5;
	r->c.store_forward_blocked = 7;
	store_op(r, 8);
	load_op(r, 0, RA);
	plain_op(r, 0, 1, RA, 0);
	store_op(r, 4);
	load_op(r, 0, RB);
	plain_op(r, 0, 1, RB, 0);
	for (uint32_t i = 0; i < 6; i++) {
		step(r, i);
		if (i == 0 || i == 1)
			access_at(r, 0x1000, GUS_HIT_L1, GUS_TLB_HIT);
		if (i == 3 || i == 4)
			access_at(r, 0x2000, GUS_HIT_L1, GUS_TLB_HIT);
	}
	go(r);
	EXPECT(r->log.notes[0].drain, WHY_RETIRED, .seq = 0);
	EXPECT(r->log.notes[3].drain, WHY_RETIRED, .seq = 3);
	EXPECT(start_of(r, 1, 0), WHY_DISPATCH);
	EXPECT(r->log.notes[1].end, WHY_FORWARD, .out = GUS_FORWARD_WORD, .seq = 0);
	EXPECT(start_of(r, 2, 0), WHY_FORWARD, .out = GUS_FORWARD_WORD, .seq = 0);
	assert_true(r->times[1].end == T / 4 + 5 * T && r->times[2].start == T / 4 + 5 * T);
	EXPECT(r->log.notes[4].end, WHY_FORWARD, .out = GUS_FORWARD_BLOCKED, .seq = 3);
	EXPECT(start_of(r, 5, 0), WHY_FORWARD, .out = GUS_FORWARD_BLOCKED, .seq = 3);
	/* The store has left when it retired: behind the first reader, which takes until 25/4 T, and two slots. */
	assert_int_equal(r->times[3].left, 26 * T / 4);
	assert_int_equal(r->times[4].end, 26 * T / 4 + 7 * T);
}

/* Forwarding that is sooner than the load itself is no reason. */
static void test_forward_early(void **state)
{
	struct run *r = *state;

	r->c.store_forward_latency = 4;
	store_op(r, 8);
	load_op(r, 0, RA);
	plain_op(r, 0, 1, RA, 0);
	for (uint32_t i = 0; i < 3; i++) {
		step(r, i);
		if (i < 2)
			access_at(r, 0x1000, GUS_HIT_L1, GUS_TLB_HIT);
	}
	go(r);
	EXPECT(r->log.notes[1].end, WHY_OWN, .seq = 1);
	EXPECT(start_of(r, 2, 0), WHY_VALUE, .seq = 1);
	assert_int_equal(r->times[2].start, T / 2 + 4 * T);
}

/* Levels and TLBs: as if the load had started so much later. 200 cycles to memory are 196 beyond a hit of 4. */
static void test_miss(void **state)
{
	static const struct { enum gus_hit level; enum gus_tlb tlb; unsigned start; } cases[] = {
		{ GUS_HIT_L1, GUS_TLB_HIT, 0 }, { GUS_HIT_L2, GUS_TLB_HIT, 8 }, { GUS_HIT_L3, GUS_TLB_HIT, 36 },
		{ GUS_HIT_MEMORY, GUS_TLB_HIT, 196 }, { GUS_HIT_L1, GUS_TLB_SECOND, 7 },
		{ GUS_HIT_L1, GUS_TLB_WALK, 30 },
		{ GUS_HIT_MEMORY, GUS_TLB_WALK, 226 },
	};
	struct run *r = *state;

	r->c.l2_latency = 12;
	r->c.l3_latency = 40;
	r->c.memory_latency = 200;
	r->c.stlb_latency = 7;
	r->c.page_walk_latency = 30;
	r->c.page_walks = 30; /* so that they hardly wait for each other */
	load_op(r, 0, RA);
	op(r, 400); /* a hundred cycles of nothing */
	for (uint64_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		step(r, 0);
		access_at(r, 0x1000 * (i + 1), cases[i].level, cases[i].tlb);
		step(r, 1);
	}
	go(r);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		EXPECT(start_of(r, 2 * i, 0), WHY_DISPATCH, .level = cases[i].level, .tlb = cases[i].tlb);
		assert_int_equal(r->times[2 * i].start, r->times[2 * i].issue + (int)cases[i].start * T);
		assert_int_equal(r->times[2 * i].end, r->times[2 * i].start + 4 * T);
	}
	for (unsigned bus = 0; bus < STREAM_BUSES; bus++)
		assert_int_equal(r->log.notes[12].buses[bus], 1);
	assert_true(r->log.notes[2].buses[BUS_L2] == 1 && r->log.notes[2].buses[BUS_L3] == 0);
	assert_true(r->log.notes[4].buses[BUS_L3] == 1 && r->log.notes[4].buses[BUS_MEMORY] == 0);
	assert_true(r->log.notes[10].buses[BUS_WALKS] == 1 && r->log.notes[10].buses[BUS_L2] == 0);
}

/* A second load of a line that is on its way is done when the first is; of another line it is not held up. */
static void test_line(void **state)
{
	struct run *r = *state;

	r->c.memory_latency = 200;
	load_op(r, 0, RA);
	for (unsigned i = 0; i < 3; i++) {
		static const uint64_t addresses[] = { 0x1000, 0x103f, 0x1040 };

		step(r, 0);
		access_at(r, addresses[i], i ? GUS_HIT_L1 : GUS_HIT_MEMORY, GUS_TLB_HIT);
	}
	go(r);
	EXPECT(start_of(r, 1, 0), WHY_LINE, .seq = 0);
	assert_int_equal(r->times[1].end, r->times[0].end);
	EXPECT(start_of(r, 2, 0), WHY_DISPATCH);
	assert_int_equal(r->times[2].end, 3 * T / 4 + 4 * T);
}

/* Buses: 64 bytes at 16 a cycle are 4 cycles for a line. The third load waits for two before it. */
static void test_bus(void **state)
{
	static const struct { enum gus_hit level; enum stream_bus bus; } cases[] = { { GUS_HIT_L2, BUS_L2 },
		{ GUS_HIT_L3, BUS_L3 },
		{ GUS_HIT_MEMORY, BUS_MEMORY } };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		void *own;
		struct run *r;

		begin(&own);
		r = own;
		r->c.l2_latency = r->c.l3_latency = r->c.memory_latency = 50;
		*(k == 0 ? &r->c.l2_bandwidth : k == 1 ? &r->c.l3_bandwidth : &r->c.memory_bandwidth) = 16;
		load_op(r, 0, RA);
		op(r, 1);
		step(r, 1);
		for (uint64_t i = 0; i < 3; i++) {
			step(r, 0);
			access_at(r, 0x1000 * (i + 1), cases[k].level, GUS_TLB_HIT);
		}
		go(r);
		EXPECT(start_of(r, 1, 0), WHY_DISPATCH, .level = cases[k].level);
		EXPECT(start_of(r, 2, 0), WHY_RESOURCE, .index = cases[k].bus, .seq = 1, .level = cases[k].level);
		EXPECT(start_of(r, 3, 0), WHY_RESOURCE, .index = cases[k].bus, .seq = 1, .level = cases[k].level);
		assert_int_equal(r->times[3].end, T / 2 + 8 * T + 50 * T);
		assert_int_equal(r->log.notes[3].buses[cases[k].bus], 1);
		end(&own);
	}
}

/* One page walker of 30 cycles: the second walk waits for the first. What it then took is a walk as well. */
static void test_walker(void **state)
{
	struct run *r = *state;

	r->c.page_walk_latency = 30;
	r->c.page_walks = 1;
	load_op(r, 0, RA);
	for (uint64_t i = 0; i < 2; i++) {
		step(r, 0);
		access_at(r, 0x1000 * (i + 1), GUS_HIT_L1, GUS_TLB_WALK);
	}
	go(r);
	EXPECT(start_of(r, 0, 0), WHY_DISPATCH, .tlb = GUS_TLB_WALK);
	EXPECT(start_of(r, 1, 0), WHY_RESOURCE, .index = BUS_WALKS, .seq = 0, .tlb = GUS_TLB_WALK);
	assert_int_equal(r->times[1].start, T / 4 + 60 * T);
}

/* The page is found, but the bus is busy for longer: then only that is a reason. */
static void test_walk_hidden(void **state)
{
	struct run *r = *state;

	r->c.l2_latency = 50;
	r->c.l2_bandwidth = 1; /* 64 cycles a line */
	r->c.stlb_latency = 7;
	load_op(r, 0, RA);
	for (uint64_t i = 0; i < 2; i++) {
		step(r, 0);
		access_at(r, 0x1000 * (i + 1), GUS_HIT_L2, GUS_TLB_SECOND);
	}
	go(r);
	EXPECT(start_of(r, 0, 0), WHY_DISPATCH, .level = GUS_HIT_L2, .tlb = GUS_TLB_SECOND);
	EXPECT(start_of(r, 1, 0), WHY_RESOURCE, .index = BUS_L2, .seq = 0, .level = GUS_HIT_L2);
	assert_int_equal(r->times[1].end, T / 4 + 64 * T + 50 * T);
}

/* One miss buffer: the second load from memory waits until the line of the first is there. A store's line takes one
 * as well. */
static void test_miss_buffer(void **state)
{
	struct run *r = *state;

	r->c.l1d_misses = 1;
	r->c.memory_latency = 200;
	load_op(r, 0, RA);
	store_op(r, 8);
	for (uint64_t i = 0; i < 4; i++) {
		step(r, i == 2);
		access_at(r, 0x1000 * (i + 1), GUS_HIT_MEMORY, GUS_TLB_HIT);
	}
	go(r);
	EXPECT(start_of(r, 1, 0), WHY_MISS, .seq = 0, .level = GUS_HIT_MEMORY);
	assert_int_equal(r->times[1].end, T / 4 + 400 * T);
	/* It retires when the buffer is free. */
	EXPECT(r->log.notes[2].drain, WHY_RETIRED, .seq = 0, .level = GUS_HIT_MEMORY);
	assert_int_equal(r->times[2].left, r->times[2].retire + 200 * T);
	EXPECT(start_of(r, 3, 0), WHY_MISS, .index = STREAM_STORE, .seq = 2, .level = GUS_HIT_MEMORY);
	/* The store took its turn for the buffer when it was dispatched. */
	assert_int_equal(r->times[3].end, T / 4 + 800 * T);
}

/* Both are over at the same time: the value that the second load's address is, and the only miss buffer. The value
 * was found first. */
static void test_miss_buffer_tie(void **state)
{
	struct run *r = *state;

	r->c.l1d_misses = 1;
	r->c.memory_latency = 200;
	load_op(r, RA, RA);
	for (uint64_t i = 0; i < 2; i++) {
		step(r, 0);
		access_at(r, 0x1000 * (i + 1), GUS_HIT_MEMORY, GUS_TLB_HIT);
	}
	go(r);
	EXPECT(start_of(r, 1, 0), WHY_VALUE, .seq = 0, .level = GUS_HIT_MEMORY);
	assert_int_equal(r->times[1].end, T / 4 + 400 * T);
}

/* A load from memory of which nobody knows the address brings no line that others could wait for: the third load
 * finds the first one's. (Lines are kept by their number plus 1, modulo 256; what is not known would be at 0.) */
static void test_unknown_line(void **state)
{
	struct run *r = *state;

	r->c.memory_latency = 200;
	load_op(r, 0, RA);
	for (unsigned i = 0; i < 3; i++) {
		step(r, 0);
		access_at(r, 255 * 64, i == 2 ? GUS_HIT_L1 : GUS_HIT_MEMORY, GUS_TLB_HIT);
	}
	r->accesses[1].known = false;
	go(r);
	EXPECT(start_of(r, 2, 0), WHY_LINE, .seq = 0);
	assert_int_equal(r->times[2].end, r->times[0].end);
}

/* Stores leave in order, one a cycle here; the first leaves as it retires. */
static void test_stores(void **state)
{
	struct run *r = *state;

	r->c.l1d_stores = 1;
	store_op(r, 8);
	for (uint64_t i = 0; i < 3; i++) {
		step(r, 0);
		access_at(r, 0x1000 * (i + 1), GUS_HIT_L1, GUS_TLB_HIT);
	}
	go(r);
	assert_int_equal(stream_why(r->log.notes[0].drain), WHY_PREVIOUS); /* of none: a store takes its cycle */
	EXPECT(r->log.notes[1].drain, WHY_PREVIOUS, .seq = 0);
	EXPECT(r->log.notes[2].drain, WHY_PREVIOUS, .seq = 1);
	assert_true(r->times[0].left == T && r->times[2].left == 3 * T);
}

/* Two entries of each window: the third op waits until the first gives its back, which is when it retires, or of
 * stores when it has left. The front end, which was idle, begins anew with it. */
static void test_windows(void **state)
{
	static const struct { unsigned window; int back; } cases[] = { { WINDOW_ROB, 400 }, { WINDOW_LOADS, 400 },
		{ WINDOW_STORES, 420 } };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		void *own;
		struct run *r;

		begin(&own);
		r = own;
		*(k == 0 ? &r->c.rob : k == 1 ? &r->c.load_buffer : &r->c.store_buffer) = 2;
		r->c.memory_latency = 5;
		op(r, 1);
		if (k)
			memory(r, k == 2, 100, 8);
		else
			uop(r, 0, 100);
		for (uint64_t i = 0; i < 3; i++) {
			step(r, 0);
			if (k)
				access_at(r, 0x1000 * (i + 1), k == 2 ? GUS_HIT_MEMORY : GUS_HIT_L1, GUS_TLB_HIT);
		}
		go(r);
		EXPECT(r->log.notes[1].entry, WHY_FRONT, .index = FRONT_ISSUE, .seq = 0);
		EXPECT(r->log.notes[2].entry, WHY_WINDOW, .index = cases[k].window, .seq = 0);
		EXPECT(r->log.notes[2].dispatch, WHY_FRONT, .index = FRONT_ISSUE, .seq = 2);
		assert_int_equal(r->log.notes[2].since, 2);
		assert_int_equal(r->times[2].issue, T / 4 + cases[k].back / 4 * T + T / 4);
		end(&own);
	}
}

/* Four entries, beside machines of two and of eight: the fifth op waits for the first, as it would alone. */
static void test_window_of_lanes(void **state)
{
	static const struct gus_knob half = { GUS_KNOB_ROB, 0, 0.5 }, twice = { GUS_KNOB_ROB, 0, 2 };
	static const struct gus_stream_lane lanes[] = { { NULL, 0 }, { &half, 1 }, { &twice, 1 } };
	struct run *r = *state;

	r->c.rob = 4;
	r->lanes = lanes;
	r->lanes_n = 3;
	for (unsigned i = 0; i < 12; i++)
		plain_op(r, 0, 100 + 10 * i, 0, 0);
	go_through(r);
	for (unsigned i = 4; i < 12; i++) {
		EXPECT(r->log.notes[i].entry, WHY_WINDOW, .index = WINDOW_ROB, .seq = i - 4);
		assert_int_equal(r->times[i].issue, r->times[i - 4].retire + T / 4);
	}
}

/* An op of three entries waits for the third of them. */
static void test_wide_op(void **state)
{
	struct run *r = *state;

	r->c.rob = 4;
	for (unsigned i = 0; i < 4; i++)
		plain_op(r, 0, 100 + 10 * i, 0, 0);
	op(r, 1)->rob = 3;
	go_through(r);
	EXPECT(r->log.notes[4].entry, WHY_WINDOW, .index = WINDOW_ROB, .seq = 2);
	assert_int_equal(r->times[4].issue, r->times[2].retire + T / 4);
}

/* A reservation station of nine entries, of which eight are in the exchange and one in the ring. All but two of its
 * uops wait a hundred cycles; the tenth of those that wait is let in when the soonest of them starts, which is the
 * fourth op's after fifty. */
static void test_station(void **state)
{
	struct run *r = *state;

	r->c.rs = 9;
	plain_op(r, P0, 100, 0, RA);
	plain_op(r, P1, 50, 0, RB);
	for (unsigned i = 0; i < 10; i++)
		plain_op(r, 4, 1, i == 2 ? RB : RA, 0);
	go_through(r);
	for (unsigned i = 2; i < 11; i++)
		EXPECT(r->log.notes[i].entry, WHY_FRONT, .index = FRONT_ISSUE, .seq = i - 1);
	EXPECT(start_of(r, 4, 0), WHY_VALUE, .seq = 1);
	EXPECT(r->log.notes[11].entry, WHY_STATION, .index = 0, .seq = 4);
	assert_int_equal(r->times[11].issue, r->times[4].start + T / 4);
}

/* Uops without port and unit need no entry. */
static void test_station_passed(void **state)
{
	struct run *r = *state;

	r->c.rs = 1;
	plain_op(r, P0, 100, 0, RA);
	for (unsigned i = 0; i < 30; i++)
		plain_op(r, 0, 1, RA, 0);
	go_through(r);
	EXPECT(r->log.notes[30].entry, WHY_FRONT, .index = FRONT_ISSUE, .seq = 29);
}

/* A branch that was mispredicted: what follows comes when it is complete, and the penalty is over. */
static void test_flush(void **state)
{
	struct run *r = *state;

	r->c.mispredict_penalty = 20;
	plain_op(r, 0, 9, 0, RA);
	plain_op(r, 0, 1, RA, 0);
	plain_op(r, 0, 1, 0, 0);
	step(r, 0);
	step(r, 1)->mispredicted = true;
	step(r, 2);
	go(r);
	EXPECT(r->log.notes[2].entry, WHY_FLUSH, .seq = 1);
	EXPECT(r->log.notes[2].dispatch, WHY_FRONT, .index = FRONT_ISSUE, .seq = 2);
	assert_int_equal(r->log.notes[2].since, 2);
	assert_int_equal(r->times[2].issue, T / 4 + 10 * T + 20 * T + T / 4);
}

/* Times are taken down after 2^30 ticks (213,044 cycles), which retirement crosses here while all kinds of things are
 * on their way: a line and what a store needs of it, a store that has not left, a busy port. What asks for them
 * afterwards finds them where they were. */
static void test_taken_down(void **state)
{
	enum { LINE = 4, STORE, NARROW, PORT, DOWN = 16 }; /* steps; DOWN: after that one */
	static const unsigned latencies[] = { 60000, 60000, 60000, 32900 };
	struct run *r = *state;

	r->c.memory_latency = 200;
	r->c.store_forward_latency = 5;
	r->c.store_forward_blocked = 7;
	r->c.l1d_stores = 1;
	for (unsigned i = 0; i < 4; i++) {
		plain_op(r, 0, latencies[i], 0, 0);
		step(r, i)->mispredicted = true; /* so that dispatch is there as well */
	}
	load_op(r, 0, RA);
	store_op(r, 8);
	r->p.flows_n = r->uops[5].out;
	reads(r, RA, 0);
	store_op(r, 4);
	op(r, 1);
	uop(r, P0, 1)->port_cycles = 300;
	writes(r, RB, 250);
	plain_op(r, 0, 1, 0, 0);
	plain_op(r, 0, 1, RB, 0);
	plain_op(r, P0, 1, 0, 0);
	execute(r, LINE, GUS_HIT_MEMORY, GUS_TLB_HIT);
	execute(r, STORE, GUS_HIT_L1, GUS_TLB_HIT);
	execute(r, NARROW, GUS_HIT_L1, GUS_TLB_HIT);
	r->accesses[1].address = 0x2000;
	r->accesses[2].address = 0x3000;
	execute(r, PORT, GUS_HIT_L1, GUS_TLB_HIT);
	while (r->n <= DOWN)
		step(r, 8);
	for (unsigned i = 0; i < 3; i++) { /* the line, the store's word, what the narrow store has to leave for */
		execute(r, LINE, GUS_HIT_L1, GUS_TLB_HIT);
		r->accesses[3 + i].address = 0x1000 * (i + 1);
	}
	step(r, 9);
	step(r, 10);
	execute(r, NARROW, GUS_HIT_L1, GUS_TLB_HIT);
	go(r);
	assert_true(r->times[3].retire < 1 << 30 && r->times[LINE].retire > 1 << 30);
	assert_int_equal(r->times[LINE].end, r->times[LINE].issue + 200 * T);
	assert_int_equal(r->times[DOWN + 1].end, r->times[LINE].end);
	assert_int_equal(r->times[DOWN + 2].end, r->times[LINE].end + 5 * T);
	assert_int_equal(r->times[NARROW].left, r->times[STORE].left + T);
	assert_int_equal(r->times[DOWN + 3].end, r->times[NARROW].left + 7 * T);
	assert_int_equal(r->times[DOWN + 4].start, r->times[PORT].issue + 250 * T);
	assert_int_equal(r->times[DOWN + 5].start, r->times[PORT].issue + 300 * T);
	for (unsigned i = LINE + 1; i < r->n; i++) /* one slot each */
		assert_int_equal(r->times[i].issue, r->times[i - 1].issue + T / 4);
	assert_int_equal(r->times[DOWN + 6].left, r->times[DOWN + 6].retire);
}

/* The same of the reservation station, as in test_station: times are taken down after step 16, when it is half full. */
static void test_station_taken_down(void **state)
{
	static const unsigned latencies[] = { 60000, 60000, 60000, 32900 };
	struct run *r = *state;

	r->c.rs = 9;
	for (unsigned i = 0; i < 4; i++) {
		plain_op(r, 0, latencies[i], 0, 0);
		step(r, i)->mispredicted = true;
	}
	plain_op(r, 0, 1, 0, 0);
	plain_op(r, P0, 400, 0, RA);
	plain_op(r, P1, 350, 0, RB);
	plain_op(r, 4, 1, RA, 0);
	plain_op(r, 4, 1, RB, 0);
	for (unsigned i = 0; i < 6; i++)
		step(r, 4);
	step(r, 5);
	step(r, 6);
	for (unsigned i = 0; i < 10; i++)
		step(r, i == 2 ? 8 : 7);
	go(r);
	assert_true(r->times[9].retire < 1 << 30 && r->times[10].retire > 1 << 30);
	for (unsigned i = 12; i < 21; i++)
		EXPECT(r->log.notes[i].entry, WHY_FRONT, .index = FRONT_ISSUE, .seq = i - 1);
	EXPECT(r->log.notes[21].entry, WHY_STATION, .index = 0, .seq = 14);
	assert_int_equal(r->times[21].issue, r->times[14].start + T / 4);
}

/* Of a trace that is fed one stretch of eight is followed: eight chunks, then 56 without, and so on. */
static void test_stretches(void **state)
{
	static struct gus_op_step steps[GUS_OP_STEPS];
	struct run *r = *state;
	struct gus_stream_options o = { 0 };
	struct gus_causes *causes = gus_causes_open(&r->c, &o);
	struct gus_stream_engine *e;
	struct gus_error err = { 0 };

	plain_op(r, P0, 1, 0, 0);
	e = gus_stream_open(&r->p, &r->c, &o, &err);
	for (unsigned i = 1; i <= 130; i++) {
		gus_stream_feed(e, &(struct gus_op_steps){ steps, NULL, GUS_OP_STEPS }, NULL);
		if (i == 8 || i == 64)
			assert_int_equal(o.log->seq, 8 * GUS_OP_STEPS);
		if (i == 65)
			assert_int_equal(o.log->seq, 9 * GUS_OP_STEPS);
		assert_int_equal(o.log->seq + o.log->skipped, i * GUS_OP_STEPS);
	}
	assert_int_equal(o.log->seq, 18 * GUS_OP_STEPS);
	gus_stream_close(e);
	gus_causes_close(causes);
}

/* Causes come by cycles, then times, then op, hop and number. */
static void check_order(const struct gus_causality *all)
{
	for (size_t i = 1; i < all->causes_n; i++) {
		const struct gus_cause *a = &all->causes[i - 1], *b = &all->causes[i];
		double more = a->cycles - b->cycles, oftener = a->times - b->times;

		assert_true(more > 0 || (more >= 0 && (oftener > 0 || (oftener >= 0 &&
			(a->op < b->op || (a->op == b->op &&
			    (a->hop < b->hop || (a->hop == b->hop && a->number < b->number))))))));
	}
}

/* Causality: each way in which time is carried, by a loop whose turns wait for just that. The steps that were made
 * are executed again and again, and what is charged is told by turn. */
enum { TURNS = 20000 };
static struct gus_causality by_turn(struct run *r)
{
	size_t fit = GUS_OP_STEPS / r->n, left = TURNS;
	struct gus_op_step *steps = calloc(GUS_OP_STEPS, sizeof(*steps));
	struct gus_op_access *accesses = calloc(fit * r->accesses_n + 1, sizeof(*accesses));
	struct gus_stream_options o = { 0 };
	struct gus_causes *causes = gus_causes_open(&r->c, &o);
	struct gus_error err = { 0 };
	struct gus_stream_engine *e = gus_stream_open(&r->p, &r->c, &o, &err);
	struct gus_causality all;
	double cycles[GUS_STREAM_LANES], sum = 0;

	for (size_t i = 0; i < fit * r->n; i++) {
		steps[i] = r->steps[i % r->n];
		steps[i].access += (uint32_t)(i / r->n * r->accesses_n);
	}
	for (size_t i = 0; i < fit * r->accesses_n; i++)
		accesses[i] = r->accesses[i % r->accesses_n];
	for (; left; left -= left < fit ? left : fit)
		gus_stream_feed(e, &(struct gus_op_steps){ steps, accesses, (left < fit ? left : fit) * r->n },
			NULL);
	gus_stream_cycles(e, cycles);
	gus_causes_get(causes, &r->p, cycles[0] / TURNS, &all);
	for (size_t i = 0; i < all.causes_n; i++)
		sum += all.causes[i].cycles;
	check_order(&all);
	assert_true(fabs(sum - all.cycles) < 1e-9 * sum && fabs(all.cycles - cycles[0] / TURNS) < 1e-9 * sum);
	gus_stream_close(e);
	gus_causes_close(causes);
	free(steps);
	free(accesses);
	return all;
}

static void make_issue(struct run *r)
{
	r->c.retire_width = 8;
	op(r, 4);
	step(r, 0);
}

static void make_retire(struct run *r)
{
	r->c.issue_width = 8;
	op(r, 4);
	step(r, 0);
}

static void make_decoders(struct run *r)
{
	r->c.fetch_bytes = 16;
	r->c.decode_width = 1;
	r->c.predecode_width = 5;
	r->c.uop_cache_width = 2;
	r->c.lcp_penalty = 3;
	r->c.retire_width = 8;
}

static void make_decode(struct run *r)
{
	make_decoders(r);
	op(r, 1);
	op(r, 1);
	step(r, 0)->cached = false;
	step(r, 1)->cached = false;
	r->insns[0].info.length = r->insns[1].info.length = 1;
	r->insns[1].offset = 1;
}

/* What comes from the uop cache, and takes no time there, takes none of the decoders. */
static void make_decode_some(struct run *r)
{
	make_decoders(r);
	op(r, 1);
	op(r, 0);
	step(r, 0)->cached = false;
	step(r, 1);
	r->insns[0].info.length = 1;
}

static void make_fetch(struct run *r)
{
	make_decoders(r);
	op(r, 1);
	r->insns[0].info.flags = GUS_INSN_LCP;
	*step(r, 0) = (struct gus_op_step){ .taken = true };
}

static void make_uop_cache(struct run *r)
{
	make_decoders(r);
	op(r, 4);
	step(r, 0);
}

/* A call and a jump, which is found with it: two cycles in which nothing else is waited for. */
static void make_prediction(struct run *r)
{
	make_decoders(r);
	r->c.predicted_branches = 2;
	r->c.predicted_call = 1;
	op(r, 1)->flags = GUS_OP_BRANCH | GUS_OP_TAKEN;
	op(r, 0)->flags = GUS_OP_BRANCH | GUS_OP_TAKEN;
	r->insns[0].info.class = GUS_INSN_CALL;
	r->insns[1].info.class = GUS_INSN_BRANCH;
	step(r, 0)->taken = true;
	step(r, 1)->taken = true;
}

static void make_ports(struct run *r)
{
	plain_op(r, P1, 1, 0, 0);
	plain_op(r, P0, 2, 0, 0);
	step(r, 0);
	step(r, 1);
	step(r, 1);
}

/* Two of one op, and an op with one that needs none. */
static void make_uops(struct run *r)
{
	op(r, 1);
	uop(r, P0, 1);
	uop(r, P0, 1);
	plain_op(r, 0, 1, 0, 0);
	step(r, 0);
	step(r, 1);
}

static void make_unit(struct run *r)
{
	struct gus_uop *u;

	op(r, 1);
	u = uop(r, 0, 1);
	u->unit = 2;
	u->unit_cycles = 5;
	step(r, 0);
}

/* 5 cycles, and read two late; then 1. */
static void make_latency(struct run *r)
{
	op(r, 1);
	uop(r, 0, 5);
	reads(r, RA, 2);
	writes(r, RB, 5);
	plain_op(r, 0, 1, RB, RA);
	step(r, 0);
	step(r, 1);
}

static void make_load(struct run *r)
{
	load_op(r, RA, RA);
	execute(r, 0, GUS_HIT_L1, GUS_TLB_HIT);
}

static void make_forward(struct run *r)
{
	r->c.store_forward_latency = 5;
	r->c.store_forward_blocked = 7;
	load_op(r, 0, RA);
	store_op(r, 8);
	r->p.flows_n = r->uops[1].out; /* the store reads what was loaded */
	reads(r, RA, 0);
	execute(r, 0, GUS_HIT_L1, GUS_TLB_HIT);
	execute(r, 1, GUS_HIT_L1, GUS_TLB_HIT);
}

static void make_blocked(struct run *r)
{
	make_forward(r);
	r->memories[1].bytes = 4;
}

static void make_levels(struct run *r)
{
	r->c.l2_latency = 12;
	r->c.l3_latency = 40;
	r->c.memory_latency = 200;
	r->c.stlb_latency = 7;
	r->c.page_walk_latency = 30;
	r->c.page_walks = 1;
}

static void make_l2(struct run *r)
{
	make_levels(r);
	load_op(r, RA, RA);
	execute(r, 0, GUS_HIT_L2, GUS_TLB_HIT);
}

static void make_memory(struct run *r)
{
	make_levels(r);
	load_op(r, RA, RA);
	execute(r, 0, GUS_HIT_MEMORY, GUS_TLB_HIT);
}

static void make_second(struct run *r)
{
	make_levels(r);
	load_op(r, RA, RA);
	execute(r, 0, GUS_HIT_L1, GUS_TLB_SECOND);
}

static void make_walk(struct run *r)
{
	make_levels(r);
	load_op(r, RA, RA);
	execute(r, 0, GUS_HIT_L1, GUS_TLB_WALK);
}

static void make_bus(struct run *r)
{
	make_levels(r);
	r->c.memory_bandwidth = 16;
	load_op(r, 0, RA);
	plain_op(r, 0, 1, 0, 0);
	execute(r, 0, GUS_HIT_MEMORY, GUS_TLB_HIT);
	execute(r, 1, GUS_HIT_L1, GUS_TLB_HIT);
}

static void make_walkers(struct run *r)
{
	make_levels(r);
	load_op(r, 0, RA);
	execute(r, 0, GUS_HIT_L1, GUS_TLB_WALK);
}

static void make_flush(struct run *r)
{
	r->c.mispredict_penalty = 20;
	plain_op(r, 0, 1, 0, 0);
	step(r, 0)->mispredicted = true;
}

/* Two uops of an op on one port, the first for three cycles; the second says when the branch is known to be wrong. */
static void make_own_uop(struct run *r)
{
	r->c.mispredict_penalty = 20;
	op(r, 1);
	uop(r, P0, 1)->port_cycles = 3;
	uop(r, P0, 5);
	step(r, 0)->mispredicted = true;
}

static void make_stores(struct run *r)
{
	r->c.l1d_stores = 1;
	r->c.store_buffer = 8;
	store_op(r, 8);
	execute(r, 0, GUS_HIT_L1, GUS_TLB_HIT);
}

static void make_window(struct run *r, bool store)
{
	op(r, 1);
	memory(r, store, 100, 8);
	execute(r, 0, GUS_HIT_L1, GUS_TLB_HIT);
}

static void make_rob(struct run *r)
{
	r->c.rob = 4;
	plain_op(r, 0, 100, 0, 0);
	step(r, 0);
}

static void make_load_buffer(struct run *r)
{
	r->c.load_buffer = 4;
	make_window(r, false);
}

static void make_store_buffer(struct run *r)
{
	r->c.store_buffer = 4;
	make_window(r, true);
}

/* Ten uops that wait for one, and the next such one behind them. */
static void make_station(struct run *r)
{
	r->c.rs = 9;
	plain_op(r, P0, 100, 0, RA);
	plain_op(r, 0x3ff0, 1, RA, 0);
	step(r, 0);
	for (unsigned i = 0; i < 10; i++)
		step(r, 1);
}

static void make_miss_buffer(struct run *r)
{
	make_levels(r);
	r->c.l1d_misses = 1;
	load_op(r, 0, RA);
	execute(r, 0, GUS_HIT_MEMORY, GUS_TLB_HIT);
}

static void make_second_uop_misses(struct run *r)
{
	make_levels(r);
	r->c.l1d_misses = 1;
	op(r, 1);
	uop(r, 0, 9);
	memory(r, false, 4, 8);
	execute(r, 0, GUS_HIT_MEMORY, GUS_TLB_HIT);
}

static void make_store_misses(struct run *r)
{
	make_levels(r);
	r->c.l1d_misses = 1;
	r->c.store_buffer = 4;
	store_op(r, 8);
	execute(r, 0, GUS_HIT_MEMORY, GUS_TLB_HIT);
}

static const struct hop_case {
	const char *name;
	void (*make)(struct run *r);
	uint32_t op;
	enum gus_hop hop;
	uint32_t number;
	double cycles;          /* a turn */
	double times;           /* how often it is met in a turn */
} hops[] = {
	{ "issue", make_issue, 0, GUS_HOP_ISSUE, 0, 1, 1 },
	{ "retirement", make_retire, 0, GUS_HOP_RETIRE, 0, 1, 1 },
	{ "the first that is decoded", make_decode, 0, GUS_HOP_DECODE, 0, 1, 1 },
	{ "the second", make_decode, 1, GUS_HOP_DECODE, 0, 1, 1 },
	{ "those that are decoded", make_decode_some, 0, GUS_HOP_DECODE, 0, 1, 1 },
	{ "and no others", make_decode_some, 1, GUS_HOP_DECODE, 0, 0, 0 },
	{ "length decoding", make_fetch, 0, GUS_HOP_FETCH, 0, 4, 1 },
	{ "uop cache", make_uop_cache, 0, GUS_HOP_UOP_CACHE, 0, 2, 1 },
	{ "a call that is predicted", make_prediction, 0, GUS_HOP_PREDICTION, 0, 2, 1 },
	{ "what is predicted with it", make_prediction, 1, GUS_HOP_PREDICTION, 0, 0, 0 },
	{ "a port", make_ports, 1, GUS_HOP_PORTS, 1, 2, 2 },
	{ "two uops of an op", make_uops, 0, GUS_HOP_PORTS, 0, 2, 2 },
	{ "a unit", make_unit, 0, GUS_HOP_UNITS, 2, 5, 1 },
	{ "latency, read late", make_latency, 0, GUS_HOP_LATENCY, 0, 5, 1 },
	{ "latency less what is read late", make_latency, 1, GUS_HOP_LATENCY, 0, -1, 1 },
	{ "loads", make_load, 0, GUS_HOP_LOAD, 0, 4, 1 },
	{ "forwarding", make_forward, 1, GUS_HOP_FORWARD, 0, 5, 1 },
	{ "forwarding that is blocked", make_blocked, 1, GUS_HOP_FORWARD, 0, 7, 1 },
	{ "L2", make_l2, 0, GUS_HOP_LEVEL, GUS_HIT_L2, 8, 1 },
	{ "the hit beside it", make_l2, 0, GUS_HOP_LOAD, 0, 4, 1 },
	{ "memory", make_memory, 0, GUS_HOP_LEVEL, GUS_HIT_MEMORY, 196, 1 },
	{ "second TLB", make_second, 0, GUS_HOP_TLB, GUS_TLB_SECOND, 7, 1 },
	{ "page walks", make_walk, 0, GUS_HOP_TLB, GUS_TLB_WALK, 30, 1 },
	{ "a bus", make_bus, 0, GUS_HOP_BUS, BUS_MEMORY, 4, 1 },
	{ "the walkers", make_walkers, 0, GUS_HOP_BUS, BUS_WALKS, 30, 1 },
	{ "penalties", make_flush, 0, GUS_HOP_MISPREDICT, 0, 20, 1 },
	{ "the branch before them", make_flush, 0, GUS_HOP_LATENCY, 0, 1, 1 },
	{ "and its issue", make_flush, 0, GUS_HOP_ISSUE, 0, 0.25, 1 },
	{ "what goes before a uop in its op", make_own_uop, 0, GUS_HOP_PORTS, 0, 3, 1 },
	{ "and the uop", make_own_uop, 0, GUS_HOP_LATENCY, 0, 5, 1 },
	{ "stores that leave", make_stores, 0, GUS_HOP_STORES, 0, 1, 1 },
	{ "the reorder buffer", make_rob, 0, GUS_HOP_ROB, 0, 0, 0.25 },
	{ "what it waits for", make_rob, 0, GUS_HOP_LATENCY, 0, 25, 0.25 },
	{ "the load buffer", make_load_buffer, 0, GUS_HOP_LOAD_BUFFER, 0, 0, 0.25 },
	{ "the loads in it", make_load_buffer, 0, GUS_HOP_LOAD, 0, 25, 0.25 },
	{ "the store buffer", make_store_buffer, 0, GUS_HOP_STORE_BUFFER, 0, 0, 0.25 },
	{ "the reservation station", make_station, 1, GUS_HOP_RS, 0, 0, 1 },
	{ "who they wait for", make_station, 0, GUS_HOP_LATENCY, 0, 100, 1 },
	{ "miss buffers", make_miss_buffer, 0, GUS_HOP_MISS_BUFFER, 0, 0, 1 },
	{ "the level behind them", make_miss_buffer, 0, GUS_HOP_LEVEL, GUS_HIT_MEMORY, 196, 1 },
	{ "of the second uop", make_second_uop_misses, 0, GUS_HOP_LOAD, 0, 4, 1 },
	{ "miss buffers of stores", make_store_misses, 0, GUS_HOP_MISS_BUFFER, 0, 0, 1 },
	{ "and their level", make_store_misses, 0, GUS_HOP_LEVEL, GUS_HIT_MEMORY, 200, 1 },
};

static void test_hops(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(hops) / sizeof(*hops); k++) {
		const struct hop_case *h = &hops[k];
		struct gus_causality all;
		double cycles = 0, times = 0;
		void *own;

		begin(&own);
		h->make(own);
		all = by_turn(own);
		for (size_t i = 0; i < all.causes_n; i++)
			if (all.causes[i].op == h->op && all.causes[i].hop == h->hop &&
				all.causes[i].number == h->number) {
				cycles = all.causes[i].cycles;
				times = all.causes[i].times;
			}
		if (fabs(cycles - h->cycles) > 0.01 * (1 + fabs(h->cycles)) ||
			fabs(times - h->times) > 0.01 * (1 + h->times)) {
			for (size_t i = 0; i < all.causes_n; i++)
				print_message("op %u %s %u: %f %f\n", all.causes[i].op, gus_hop_name(all.causes[i].hop),
					      all.causes[i].number, all.causes[i].cycles, all.causes[i].times);
			fail_msg("%s: %.4f cycles and %.4f times a turn, not %.4f and %.4f", h->name, cycles, times,
				h->cycles, h->times);
		}
		gus_causality_free(&all);
		end(&own);
	}
}

/* Steps of one kind after the other into one engine with causality: how often all that were made from `first` on are
 * executed. */
struct causes { struct gus_causes *causes; struct gus_stream_engine *e; struct gus_stream_options o; };

static void open_causes(struct causes *c, const struct run *r)
{
	struct gus_error err = { 0 };

	c->o = (struct gus_stream_options){ 0 };
	c->causes = gus_causes_open(&r->c, &c->o);
	c->e = gus_stream_open(&r->p, &r->c, &c->o, &err);
	assert_non_null(c->e);
}

static void close_causes(struct causes *c)
{
	gus_stream_close(c->e);
	gus_causes_close(c->causes);
}

/* In whole chunks; none has an access. */
static void feed_chunks(struct causes *c, const struct gus_op_step *steps, size_t n, unsigned chunks, size_t chunk)
{
	static struct gus_op_step all[GUS_OP_STEPS];

	for (size_t i = 0; i < chunk; i++)
		all[i] = steps[i % n];
	for (unsigned i = 0; i < chunks; i++)
		gus_stream_feed(c->e, &(struct gus_op_steps){ all, NULL, chunk }, NULL);
}

/* What is charged lies two reorder buffers back: nothing of ten ops, of 2048 all but the last 200 where the buffer
 * has 100 entries. When counting begins anew it is forgotten. */
static void test_behind(void **state)
{
	struct run *r = *state;
	struct gus_causality all;
	struct causes c;

	r->c.rob = 100;
	plain_op(r, 0, 3, RA, RA);
	step(r, 0);
	open_causes(&c, r);
	feed_chunks(&c, r->steps, 1, 1, 10);
	gus_causes_get(c.causes, &r->p, 30, &all);
	assert_true(all.causes_n == 0 && all.chain_n == 0 && all.ops_n == 1 && fabs(all.op_cycles[0]) < 1e-9);
	gus_causality_free(&all);
	feed_chunks(&c, r->steps, 1, 1, GUS_OP_STEPS - 10);
	gus_causes_get(c.causes, &r->p, 3 * 1848 + 0.25, &all);
	/* Of the first. */
	assert_true(all.causes_n == 2 && all.causes[1].hop == GUS_HOP_ISSUE &&
		fabs(all.causes[1].cycles - 0.25) < 1e-9);
	assert_true(fabs(all.causes[0].times - 1848) < 1e-9 && fabs(all.causes[0].cycles - 3 * 1848) < 1e-9);
	gus_causality_free(&all);
	gus_causes_count_anew(c.causes);
	gus_causes_get(c.causes, &r->p, 0, &all);
	assert_true(fabs(all.cycles) < 1e-9 && fabs(all.op_cycles[0]) < 1e-9);
	gus_causality_free(&all);
	close_causes(&c);
}

/* A turn of the path goes from one meeting of its heaviest step to the next. Here that is op 0 (three times 5 cycles,
 * where op 1 has 9): two turns of it alone for one through op 1, which has 14 of 24 cycles and is the chain. */
static void test_chain(void **state)
{
	struct run *r = *state;
	struct gus_causality all;
	struct causes c;

	plain_op(r, 0, 5, RA, RA);
	plain_op(r, 0, 9, RA, RA);
	for (unsigned i = 0; i < 4; i++)
		step(r, i == 3);
	open_causes(&c, r);
	feed_chunks(&c, r->steps, 4, 4, GUS_OP_STEPS);
	gus_causes_get(c.causes, &r->p, 1000, &all);
	assert_int_equal(all.chain_n, 2);
	assert_true(fabs(all.chain_share - 14. / 24) < 1e-9);
	assert_true(all.chain[0].op == 0 && fabs(all.chain[0].cycles - 5) < 1e-9 &&
		all.chain[0].hop == GUS_HOP_LATENCY);
	assert_true(all.chain[1].op == 1 && fabs(all.chain[1].cycles - 9) < 1e-9);
	assert_true(fabs(all.chain[0].times - 1) < 1e-9 && fabs(all.chain[1].times - 1) < 1e-9);
	assert_true(fabs(all.chain_iterations - 1) < 1e-9); /* two ops, of a program of two */
	gus_causality_free(&all);
	close_causes(&c);
}

/* Circles of a trace of three phases: ops 3 and 2 in turn, op 4 alone, op 1 alone. Each is looked at twice (each
 * fourth walk of eight), 512 steps of the path; equally heavy ones are told by their first op. */
static void test_circles(void **state)
{
	struct run *r = *state;
	struct gus_circle circles[4];
	struct causes c;

	plain_op(r, 0, 7, RA, RA);
	plain_op(r, 0, 3, RA, RA);
	plain_op(r, 0, 2, RA, RA);
	plain_op(r, 0, 8, RA, RA);
	plain_op(r, 0, 3, RA, RA);
	step(r, 3);
	step(r, 2);
	step(r, 4);
	step(r, 1);
	open_causes(&c, r);
	feed_chunks(&c, r->steps + 2, 1, 64, GUS_OP_STEPS);
	feed_chunks(&c, r->steps, 2, 64, GUS_OP_STEPS);
	feed_chunks(&c, r->steps + 3, 1, 64, GUS_OP_STEPS);
	assert_int_equal(gus_causes_circles(c.causes, circles, 2), 2);
	assert_int_equal(gus_causes_circles(c.causes, circles, 4), 3);
	assert_true(circles[0].n == 2 && circles[0].ops == 2 && fabs(circles[0].weight - 2 * 512 * 5) < 1e-6);
	assert_true(circles[0].steps[0].op == 2 && fabs(circles[0].steps[0].cycles - 2) < 1e-9);
	assert_true(circles[0].steps[1].op == 3 && circles[0].steps[1].hop == GUS_HOP_LATENCY);
	assert_true(circles[1].n == 1 && circles[1].ops == 1 && circles[1].steps[0].op == 1);
	assert_true(circles[2].n == 1 && circles[2].steps[0].op == 4);
	for (unsigned i = 1; i < 3; i++)
		assert_true(fabs(circles[i].weight - 2 * 512 * 3) < 1e-6);
	close_causes(&c);
}

/* A circle that is longer than 24 hops is not told; one of 24 is, from its first op on (they are executed last to
 * first). */
static void test_long_circles(void **state)
{
	(void)state;
	for (size_t n = GUS_CIRCLE_STEPS; n <= GUS_CIRCLE_STEPS + 1; n++) {
		struct gus_circle circle;
		struct causes c;
		struct run *r;
		void *own;

		begin(&own);
		r = own;
		for (unsigned i = 0; i < n; i++) {
			plain_op(r, 0, i == 5 ? 9 : 1, RA, RA);
			step(r, (uint32_t)(n - 1 - i));
		}
		open_causes(&c, r);
		feed_chunks(&c, r->steps, n, 8, GUS_OP_STEPS / n * n);
		assert_int_equal(gus_causes_circles(c.causes, &circle, 1), n == GUS_CIRCLE_STEPS);
		for (size_t i = 0; i < n && n == GUS_CIRCLE_STEPS; i++)
			assert_int_equal(circle.steps[i].op, (n - i) % n);
		close_causes(&c);
		end(&own);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(test_packing), TEST(test_toss), TEST(test_new_bits), TEST(test_issue), TEST(test_decoders),
		TEST(test_nothing),
		TEST(test_retirement), TEST(test_port), TEST(test_groups), TEST(test_unit), TEST(test_value),
		TEST(test_moved),
		TEST(test_forward), TEST(test_forward_early), TEST(test_miss), TEST(test_line), TEST(test_bus),
		TEST(test_walker),
		TEST(test_walk_hidden), TEST(test_miss_buffer), TEST(test_miss_buffer_tie), TEST(test_unknown_line),
		TEST(test_stores), TEST(test_windows), TEST(test_window_of_lanes),
		TEST(test_wide_op),
		TEST(test_station), TEST(test_station_passed), TEST(test_flush), TEST(test_taken_down),
		TEST(test_station_taken_down),
		TEST(test_stretches),
		cmocka_unit_test(test_hops), TEST(test_behind), TEST(test_chain), TEST(test_circles),
		TEST(test_long_circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
