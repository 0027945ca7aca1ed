/* SPDX-License-Identifier: MIT */
#include "model/calibration/bursts.h"

#include "model/calibration/emit.h"

enum { CHAIN = 24 }; /* links: longer than a queue takes to fill, or a fence */

/* The instructions. None of them shares a uop with a neighbour on any CPU, and ports of all kinds are used. */

static struct gus_micro_access fixed(int64_t offset)
{
	return (struct gus_micro_access){ .way = GUS_MICRO_FIXED, .offset = offset };
}

static void put_add(struct gus_micro *m, unsigned i)
{
	gus_emit_add(m, 4 + i % 4, 11);
}

static void put_plain(struct gus_micro *m, unsigned i)
{
	switch (i % 4) {
	case 0:
	case 2:
		gus_emit_add(m, 4 + i % 4 + i / 4 % 2, 11);
		return;
	case 1:
		gus_emit_xor_vector(m, 2 + i / 4 % 4, 15);
		return;
	default:
		gus_emit_load(m, 8 + i / 4 % 2, GUS_EMIT_ARENA, (int32_t)(i / 4 % 8 * 8), fixed(i / 4 % 8 * 8));
	}
}

static void put_load(struct gus_micro *m, unsigned i)
{
	int32_t offset = (int32_t)(i % 2 * 64 + i / 2 % 8 * 8);

	gus_emit_load(m, 4 + i % 4, GUS_EMIT_ARENA, offset, fixed(offset));
}

/* One of so many bytes; where two nops are one uop, no nop as far as there is one. */
static void put_length(struct gus_micro *m, unsigned i, unsigned bytes, bool nops)
{
	bool vector = i % 3 == 2;

	if (m->isa != GUS_ISA_X86_64 || nops)
		gus_emit_nop_long(m, bytes);
	else if (bytes == 3)
		vector ? gus_emit_xor_vector(m, 2 + i % 4, 7) : gus_emit_add(m, 4 + i % 4, 11);
	else if (bytes == 4)
		vector ? gus_emit_xor_vector(m, 8 + i % 4, 7) : gus_emit_add_constant(m, 4 + i % 4, 1);
	else
		gus_emit_nop_long(m, bytes);
}

static void put_fence(struct gus_micro *m)
{
	static const uint8_t lfence[] = { 0x0f, 0xae, 0xe8 };

	gus_emit_bytes(m, lfence, sizeof(lfence));
}

static void put_chain(struct gus_micro *m, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		gus_emit_multiply(m, 3, 11);
}

static struct gus_micro *begin(enum gus_isa isa, const char *what, unsigned n)
{
	struct gus_micro *m = gus_micro_new(isa, "%s of %u", what, n);

	m->arena = 4096;
	gus_emit_begin(m);
	gus_emit_loop(m);
	return m;
}

static struct gus_micro *burst_of(enum gus_isa isa, unsigned n, void (*put)(struct gus_micro *m, unsigned i))
{
	struct gus_micro *m = begin(isa, "burst", n);

	put_fence(m);
	for (unsigned i = 0; i < n; i++)
		put(m, i);
	put_chain(m, CHAIN);
	gus_emit_end(m);
	return m;
}

/* In front of a chain of loads, whose ports those do not need: of a list of one place, which is its own address. */
static struct gus_micro *burst_before_loads(enum gus_isa isa, unsigned n,
					    void (*put)(struct gus_micro *m, unsigned i))
{
	struct gus_micro *m = gus_micro_new(isa, "burst of %u before loads", n);

	m->arena = 4096;
	gus_vec_push(&m->lists, (struct gus_micro_list){ .places = 1, .distance = 64, .in_order = true });
	gus_emit_begin(m);
	gus_emit_address(m, 1, 0);
	gus_emit_loop(m);
	put_fence(m);
	for (unsigned i = 0; i < n; i++)
		put(m, i);
	for (unsigned i = 0; i < CHAIN; i++)
		gus_emit_load(m, 1, 1, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .step = true });
	gus_emit_end(m);
	return m;
}

struct gus_micro *gus_burst_of_loads(enum gus_isa isa, unsigned n)
{
	return burst_of(isa, n, put_load);
}

struct gus_micro *gus_burst_of_all(enum gus_isa isa, unsigned n)
{
	return burst_of(isa, n, put_plain);
}

/* With others beside it, as CPUs predict or issue only so many branches a cycle. */
static void put_others(struct gus_micro *m, unsigned i)
{
	for (unsigned k = 0; k < GUS_BURST_OTHERS; k++)
		gus_emit_xor_vector(m, 2 + (i * GUS_BURST_OTHERS + k) % 8, 15);
}

static void put_comparison(struct gus_micro *m, unsigned i)
{
	gus_emit_branch_never(m);
	put_others(m, i);
}

/* One of rax and a branch if that is 0, which it never is: sub rax, 1; jz to what follows. */
static void put_subtraction(struct gus_micro *m, unsigned i)
{
	static const uint8_t pair[] = { 0x48, 0x83, 0xe8, 0x01, 0x74, 0x00 };
	uint32_t at = (uint32_t)m->code.n;

	gus_emit_bytes(m, pair, sizeof(pair));
	gus_vec_push(&m->jumps, (struct gus_micro_jump){ .from = at + 4, .to = at + 6, .pattern = GUS_MICRO_NONE });
	put_others(m, i);
}

struct gus_micro *gus_burst_of_comparisons(enum gus_isa isa, unsigned n)
{
	return burst_before_loads(isa, n, put_comparison);
}

struct gus_micro *gus_burst_of_subtractions(enum gus_isa isa, unsigned n)
{
	return burst_before_loads(isa, n, put_subtraction);
}

struct gus_micro *gus_burst_drain(enum gus_isa isa, unsigned n)
{
	struct gus_micro *m = begin(isa, "drain", n);

	for (unsigned i = 0; i < 4; i++) {
		gus_emit_sqrt(m, 0, 0);
		gus_emit_add_vector(m, 0, 1);
	}
	for (unsigned i = 0; i < n; i++)
		put_add(m, i);
	put_fence(m);
	gus_emit_end(m);
	return m;
}

/* So many of alike lengths that fill each `window` bytes evenly. */
struct gus_micro *gus_burst_loop(enum gus_isa isa, unsigned n, unsigned window, unsigned per_window, bool nops)
{
	struct gus_micro *m = begin(isa, "loop", n);

	for (unsigned i = 0; i < n; i++) {
		unsigned at = i % per_window, from = at * window / per_window, to = (at + 1) * window / per_window;

		put_length(m, i, to - from, nops);
	}
	gus_emit_end(m);
	return m;
}

struct gus_micro *gus_burst_steady(enum gus_isa isa, unsigned n)
{
	struct gus_micro *m = begin(isa, "steady loop", n);

	for (unsigned i = 0; i < n; i++)
		put_plain(m, i);
	gus_emit_end(m);
	return m;
}
