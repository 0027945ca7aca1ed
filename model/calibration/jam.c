/* SPDX-License-Identifier: MIT */
/* The links of the chain take the same number of cycles each time; it ends in two square roots, which take so long
 * that all behind them is issued meanwhile, even if the links filled the schedulers: when the last root is at work
 * nothing but the n is left there.
 *
 *	V0 + V1 ... + V1    sqrt  +  sqrt    n instructions           V0 + V1 ...
 *	`---- links ----'                    `-- entries held until -'  of the next pass: in time if it is issued
 *	                                         the root is through    before the root is through
 *
 * A sum of pis goes to one value under repeated square roots, so nothing overflows and no root is a trivial one. Of
 * integers the links are multiplications by 1 of what is pi again in each pass: what comes back from the vectors is
 * masked away.
 *
 *	to R9, R9 & 0 + pi    R9 * 1 ... * 1    to V0, sqrt, sqrt    n instructions    to R9, R9 & 0 + pi ...
 *
 * R8 to R11, V0, V1 and V15 are not written by what is behind the jam, which writes R0 to R7 and V2 to V9. */
#include "model/calibration/jam.h"

#include "model/calibration/emit.h"

enum { CHAIN = 0, ADDEND = 1, OTHER_V = 15 };                                   /* V */
enum { WAITS = 0, SECOND_LINE = 8, CHAIN_R = 9, PI_R = 10, OTHER_R = 11 };       /* R */
enum { LINE = 64 };
static const uint64_t PI = 0x400921fb54442d18;

static struct gus_micro_access fixed(int64_t offset)
{
	return (struct gus_micro_access){ .way = GUS_MICRO_FIXED, .offset = offset };
}

static unsigned r_of(unsigned i)
{
	return 1 + i % 7;
}

static unsigned v_of(unsigned i)
{
	return 2 + i % 8;
}

static void put_nop(struct gus_micro *m, unsigned i)
{
	(void)i;
	gus_emit_nop_long(m, 3);
}

static void put_move(struct gus_micro *m, unsigned i)
{
	gus_emit_move(m, r_of(i), OTHER_R);
}

static void put_test(struct gus_micro *m, unsigned i)
{
	gus_emit_test(m, r_of(i));
}

static void put_add(struct gus_micro *m, unsigned i)
{
	gus_emit_add(m, r_of(i), OTHER_R);
}

static void put_xor(struct gus_micro *m, unsigned i)
{
	gus_emit_xor_vector(m, v_of(i), OTHER_V);
}

static void put_both(struct gus_micro *m, unsigned i)
{
	(i % 2 ? put_xor : put_add)(m, i / 2);
}

/* Lines by turns, as load buffers may be divided by lines; the load that waits has the first. */
static void put_load(struct gus_micro *m, unsigned i)
{
	int32_t offset = (int32_t)((i + 1) % 2 * LINE + i % 4 * 8);

	if (i % 4 < 2)
		gus_emit_load(m, r_of(i), GUS_EMIT_ARENA, offset, fixed(offset));
	else
		gus_emit_load_vector(m, v_of(i), 8, GUS_EMIT_ARENA, offset, fixed(offset));
}

static void put_store(struct gus_micro *m, unsigned i)
{
	gus_emit_store(m, OTHER_R, GUS_EMIT_ARENA, (int32_t)(i % 8 * 8), fixed(i % 8 * 8));
}

/* Of eight: four that take an integer register, three a vector register, two loads and a store, so that none of
 * these is the limit before the reorder buffer; nothing that some CPUs put into one entry with a neighbour, as
 * moves and nops. */
static void put_mixed(struct gus_micro *m, unsigned i)
{
	static void (*const kinds[])(struct gus_micro *, unsigned) = { put_add, put_xor, put_load, put_add, put_store,
		put_xor, put_load, put_add };

	kinds[i % 8](m, i % 8 == 6 ? i / 8 * 4 + 3 : i % 8 == 2 ? i / 8 * 4 : i / 4);
}

static void put_branch(struct gus_micro *m, unsigned i)
{
	(void)i;
	gus_emit_branch_never(m);
}

static void put_waiting_add(struct gus_micro *m, unsigned i)
{
	gus_emit_add(m, r_of(i), WAITS);
}

static void put_waiting_multiply(struct gus_micro *m, unsigned i)
{
	gus_emit_multiply(m, r_of(i), WAITS);
}

static void put_waiting_vector(struct gus_micro *m, unsigned i)
{
	gus_emit_multiply_vector(m, v_of(i), CHAIN);
}

static void put_waiting_both(struct gus_micro *m, unsigned i)
{
	(i % 2 ? put_waiting_vector : put_waiting_add)(m, i / 2);
}

static void put_waiting_load(struct gus_micro *m, unsigned i)
{
	gus_emit_load_indexed(m, r_of(i), i % 2 ? GUS_EMIT_ARENA : SECOND_LINE, WAITS, fixed(i % 2 ? 0 : LINE));
}

/* What comes before the n: nothing, a register that is known when the chain is through, or a load that waits for
 * it. */
enum before { BEFORE_NOTHING, BEFORE_REGISTER, BEFORE_ZERO, BEFORE_LOAD };

static const struct kind {
	const char *name;
	void (*put)(struct gus_micro *m, unsigned i);
	enum before before;
} kinds[GUS_JAMS] = {
	[GUS_JAM_NOP] = { "nops", put_nop, BEFORE_NOTHING },
	[GUS_JAM_MIXED] = { "mixed", put_mixed, BEFORE_NOTHING },
	[GUS_JAM_MOVE] = { "moves", put_move, BEFORE_NOTHING },
	[GUS_JAM_TEST] = { "tests", put_test, BEFORE_NOTHING },
	[GUS_JAM_ADD] = { "adds", put_add, BEFORE_NOTHING },
	[GUS_JAM_XOR] = { "vector xors", put_xor, BEFORE_NOTHING },
	[GUS_JAM_BOTH] = { "adds and vector xors", put_both, BEFORE_NOTHING },
	[GUS_JAM_LOAD] = { "loads", put_load, BEFORE_LOAD },
	[GUS_JAM_STORE] = { "stores", put_store, BEFORE_NOTHING },
	[GUS_JAM_BRANCH] = { "branches", put_branch, BEFORE_NOTHING },
	[GUS_JAM_WAITING_ADD] = { "waiting adds", put_waiting_add, BEFORE_REGISTER },
	[GUS_JAM_WAITING_MULTIPLY] = { "waiting multiplications", put_waiting_multiply, BEFORE_REGISTER },
	[GUS_JAM_WAITING_VECTOR] = { "waiting vectors", put_waiting_vector, BEFORE_NOTHING },
	[GUS_JAM_WAITING_BOTH] = { "waiting adds and vectors", put_waiting_both, BEFORE_REGISTER },
	[GUS_JAM_WAITING_LOAD] = { "waiting loads", put_waiting_load, BEFORE_ZERO },
};

const char *gus_jam_name(enum gus_jam kind)
{
	return kinds[kind].name;
}

static void put_before(struct gus_micro *m, enum before before)
{
	if (before >= BEFORE_REGISTER)
		gus_emit_to_general(m, WAITS, CHAIN);
	if (before >= BEFORE_ZERO)
		gus_emit_mask(m, WAITS, 0);
	if (before == BEFORE_LOAD)
		gus_emit_load_indexed(m, WAITS, GUS_EMIT_ARENA, WAITS, fixed(0));
}

static void put_integers(struct gus_micro *m, unsigned links)
{
	gus_emit_to_general(m, CHAIN_R, CHAIN);
	gus_emit_mask(m, CHAIN_R, 0);
	gus_emit_add(m, CHAIN_R, PI_R);
	for (unsigned i = 0; i < links; i++)
		gus_emit_multiply(m, CHAIN_R, OTHER_R);
	gus_emit_to_vector(m, CHAIN, CHAIN_R);
	gus_emit_sqrt(m, CHAIN, CHAIN);
	gus_emit_sqrt(m, CHAIN, CHAIN);
}

static void put_vectors(struct gus_micro *m, unsigned links)
{
	for (unsigned i = 0; i < links; i++)
		gus_emit_add_vector(m, CHAIN, ADDEND);
	gus_emit_sqrt(m, CHAIN, CHAIN);
	gus_emit_add_vector(m, CHAIN, ADDEND);
	gus_emit_sqrt(m, CHAIN, CHAIN);
}

enum gus_jam_chain gus_jam_chain_for(enum gus_jam kind)
{
	return kind == GUS_JAM_XOR || kind == GUS_JAM_WAITING_VECTOR ? GUS_JAM_OF_INTEGERS : GUS_JAM_OF_VECTORS;
}

struct gus_micro *gus_jam_new(enum gus_isa isa, enum gus_jam kind, enum gus_jam_chain chain, unsigned links,
			      unsigned n)
{
	static void (*const put[GUS_JAM_CHAINS])(struct gus_micro *, unsigned) = { put_vectors, put_integers };
	struct gus_micro *m = gus_micro_new(isa, "%u %s behind %u links", n, kinds[kind].name, links);

	m->arena = 4096;
	gus_emit_begin(m);
	gus_emit_address(m, SECOND_LINE, LINE);
	gus_emit_constant(m, OTHER_R, 1);
	gus_emit_constant(m, PI_R, PI);
	gus_emit_loop(m);
	if (links)
		put[chain](m, links);
	put_before(m, kinds[kind].before);
	for (unsigned i = 0; i < n; i++)
		kinds[kind].put(m, i);
	gus_emit_end(m);
	return m;
}
