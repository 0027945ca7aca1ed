/* SPDX-License-Identifier: MIT */
/* From pieces to uops: what each waits for and what it gives. A uop waits for registers, and so do the uops behind it
 * in the same instruction: what they hand each other goes through temporaries, which no other instruction sees
 * (GUS_TEMPS).
 *
 *	address registers -> LOAD ---TEMP_LOADED--> COMPUTE ---TEMP_RESULT--> STORE_DATA
 *	                                            ^  ^  |
 *	other operands -----------------------------+  |  +--> results
 *	                     COMPUTE ----TEMP_DONE-----+
 *	address registers -> STORE_ADDRESS
 *
 * The row has one latency, from register operands to results (and one from the address): of several computing uops the
 * last one has it, with the results. The others must only be done before the result is: each hands the last one a
 * token, which is in time while the last one is still at work. So a chain through the instruction takes what the row
 * says, and its uops still need their ports. (uops.info, whose way of stating latencies the tables follow, measures
 * just such chains.) Where they all need the same few ports the last one begins behind them even if nobody else wants
 * these. That is in what the row says, too: so it has as much less of the latency, and its operands are as much early.
 *
 * An example, add [rdi], rax on Skylake (a row of latency 2, of 7 from the address, on p23, p0156, p237 and p4):
 *
 *	load     p23    waits for rdi          gives TEMP_LOADED after 5: 7 less the 2 of the operation
 *	compute  p0156  rax, TEMP_LOADED       flags after 2, TEMP_RESULT after 1, as the 2 count the store
 *	address  p237   rdi                    nothing: who loads from there asks by address, not by register
 *	data     p4     TEMP_RESULT            nothing
 *
 * tests/unit/test_program_uops.c has one for each rule of this file. */
#include "model/code/program_private.h"

#define ALL UINT32_MAX /* accesses of an instruction */

enum {
	LOADED_N = 2, DONE_N = 3,       /* how many words and tokens there are; what is more is not waited for */
	TEMP_LOADED = GUS_TEMP,         /* by a load, for the operation or the store behind it */
	TEMP_RESULT = TEMP_LOADED + LOADED_N, /* by the last operation, for the store */
	TEMP_DONE = TEMP_RESULT + 1,    /* by the other operations, for the last one */
};
_Static_assert(TEMP_DONE + DONE_N <= GUS_PROGRAM_REGS, "temporaries are registers of a program");

void gus_program_add_flow(struct builder *b, unsigned reg, int cycles)
{
	gus_vec_push(&b->flows, (struct gus_flow){ (uint8_t)reg, (int16_t)cycles });
}

void gus_program_begin_in(struct builder *b, struct gus_uop *uop)
{
	uop->in = (uint32_t)b->flows.n;
}

void gus_program_end_in(struct builder *b, struct gus_uop *uop)
{
	uop->in_n = (uint8_t)(b->flows.n - uop->in);
	uop->out = (uint32_t)b->flows.n;
}

void gus_program_end_out(struct builder *b, struct gus_uop *uop)
{
	uop->out_n = (uint8_t)(b->flows.n - uop->out);
	gus_vec_push(&b->uops, *uop);
}

/* Whether uops wait for what the access names at all. */
static bool is_waited_for(const struct builder *b, const struct gus_insn_info *info, const struct gus_insn_access *a)
{
	return gus_program_is_tracked(b, a->reg) && !gus_program_by_stack_engine(b, info, a);
}

/* Addresses are needed in full, at once, whatever is done with the word. */
static void in_addresses(struct builder *b, const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if ((a->use & GUS_ACCESS_ADDRESS) && is_waited_for(b, info, a))
			gus_program_add_flow(b, a->reg, 0);
	}
}

/* What some of the results are made from: outs has a bit for each access that writes them. Ones idioms execute and wait
 * for nothing. */
static void in_operands(struct builder *b, const struct lowered *l, uint32_t outs)
{
	const struct gus_insn_info *info = l->info;

	if (l->idiom)
		return;
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		/* What rsi and rdi were is for the adders; on arm64 the address has them already. */
		if (l->adders && b->rules.x86 && gus_program_is_writeback(b, info, a))
			continue;
		if (gus_program_awaits(l, i) && is_waited_for(b, info, a) && gus_program_needs(l, outs, i))
			gus_program_add_flow(b, a->reg, gus_program_lateness(l, outs, i));
	}
}

/* Which results a uop gives: those that are written back to the address are another adder's. */
enum results { WRITEBACKS = 1, OTHERS = 2, BOTH = WRITEBACKS | OTHERS };

static void out_registers(struct builder *b, const struct lowered *l, uint32_t outs, unsigned latency,
			  enum results which)
{
	const struct gus_insn_info *info = l->info;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];
		bool back;

		if (!(a->use & GUS_ACCESS_WRITE) || !is_waited_for(b, info, a) || !(outs >> i & 1))
			continue;
		back = gus_program_is_writeback(b, info, a);
		if (which & (back ? WRITEBACKS : OTHERS))
			gus_program_add_flow(b, a->reg, back ? 1 : (int)gus_program_latency(l, i, latency));
	}
}

/* What Intel's fast way through the load ports takes (Optimization Reference Manual, L1 latencies of Sandy Bridge to
 * Skylake): simple addresses of words. Where those gain only behind other loads gus_program_chase settles it. */
enum { FAST_BITS = 32 };

static bool is_fast(const struct rules *r, const struct gus_insn_info *info)
{
	return !info->vector_bits && r->load < r->load_indexed && gus_program_is_simple(info) &&
		info->memory[0].bits >= FAST_BITS;
}

/* How long a load takes until its word is there. The row says how long address to result takes; if a computing uop
 * comes between, its latency is in that. */
static unsigned load_cycles(const struct builder *b, const struct lowered *l)
{
	const struct rules *r = &b->rules;
	unsigned plain = l->info->vector_bits ? r->load_vector : r->load_indexed;

	if (l->computes > l->adders) {
		unsigned whole = gus_program_cycles(l->loadlat), own = gus_program_cycles(l->latency);

		return whole > own ? whole - own : plain;
	}
	if (is_fast(r, l->info))
		return r->load;
	return l->loadlat ? gus_program_cycles(l->loadlat) : plain;
}

/* The access of the n-th uop that loads, or stores: the n-th of those that do so, or the last. Accesses are in the
 * order of the operands, of which the one that is written comes first: that of movs' store before that of its load. */
static uint8_t access_of(const struct builder *b, const struct lowered *l, bool stores, unsigned n)
{
	uint8_t found = 0;

	for (unsigned i = 0; i < l->op->memories_n; i++) {
		const struct gus_program_memory *m = &b->memories.v[l->op->memory + i];

		if (!(stores ? m->store : m->load))
			continue;
		found = (uint8_t)i;
		if (!n--)
			break;
	}
	return found;
}

/* A load with an operation behind it gives the word to that and nothing else; one that is all of the instruction gives
 * the results, and takes the operands that they keep parts of (mov al, [rdi] merges into rax). */
static void write_load(struct builder *b, const struct lowered *l, struct gus_uop *uop, unsigned n)
{
	/* Of a plain load the word is the result. Of several uops (wide or paired loads) the first has all results. */
	bool ends = l->computes == l->adders && !l->stores;

	/* Loads come first of all uops. */
	uop->again = n && uop->ports != b->uops.v[l->op->uop].ports;
	uop->memory = access_of(b, l, false, n);
	uop->latency = (uint16_t)load_cycles(b, l);
	gus_program_begin_in(b, uop);
	in_addresses(b, l->info);
	if (ends && !n)
		in_operands(b, l, ALL);
	gus_program_end_in(b, uop);
	if (ends && !n)
		out_registers(b, l, ALL, uop->latency, l->adders ? OTHERS : BOTH);
	else if (n < LOADED_N)
		gus_program_add_flow(b, TEMP_LOADED + n, uop->latency);
}

/* The adders of addresses that are written back wait for nothing but the addresses. */
static void write_writeback(struct builder *b, const struct lowered *l, struct gus_uop *uop, unsigned n)
{
	uop->latency = 1;
	gus_program_begin_in(b, uop);
	in_addresses(b, l->info);
	gus_program_end_in(b, uop);
	if (!n)
		out_registers(b, l, ALL, 1, WRITEBACKS);
}

/* Results that need fewer operands than the others do are not the last uop's but that before it (a shift by cl: the
 * flags wait for the old flags, the register does not). */
static uint32_t results_of(const struct lowered *l, unsigned n, uint32_t early)
{
	if (n + 1 == l->computes - l->adders)
		return ALL & ~early;
	return n + 2 == l->computes - l->adders ? early : 0;
}

static bool is_serial(const struct lowered *l)
{
	const unsigned n = l->computes - l->adders;

	return n > 1 && n <= DONE_N &&
		(l->halves || (gus_program_cycles(l->latency) == n && (!l->by_access || l->conditional)));
}

/* The operands that come as late as the last uop, or all others. */
static void in_parts(struct builder *b, const struct lowered *l, bool of_last, unsigned last)
{
	const struct gus_insn_info *info = l->info;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];
		int late = gus_program_lateness(l, ALL, i);

		if (!gus_program_reads(a) || !is_waited_for(b, info, a) || (late >= (int)last) != of_last)
			continue;
		gus_program_add_flow(b, a->reg, of_last ? late - (int)last : late);
	}
}

/* One behind another: of a row whose latency is as many cycles as it has computing uops (bswap of 64 bits), and of the
 * halves of a product. What the last one alone needs is given to it, all else to the first. */
static void write_behind(struct builder *b, const struct lowered *l, struct gus_uop *uop, unsigned n)
{
	const unsigned latency = gus_program_cycles(l->latency), last = l->computes - l->adders - 1;
	const uint32_t early = gus_program_early(l), outs = results_of(l, n, early);
	const unsigned before = n == last ? last : 0;

	uop->latency = (uint16_t)(n == last ? latency - last : 1);
	gus_program_begin_in(b, uop);
	if (!n && !l->loads)
		in_addresses(b, l->info);
	if (!n || n == last)
		in_parts(b, l, n == last, last);
	for (unsigned i = 0; !n && i < l->loads && i < LOADED_N; i++)
		gus_program_add_flow(b, TEMP_LOADED + i, 0);
	if (n)
		gus_program_add_flow(b, TEMP_DONE + n - 1, 0);
	gus_program_end_in(b, uop);
	out_registers(b, l, outs, latency, l->adders ? OTHERS : BOTH);
	for (uint32_t i = uop->in + uop->in_n; i < b->flows.n; i++)
		b->flows.v[i].cycles = (int16_t)(b->flows.v[i].cycles - (int)before);
	if (n < last)
		gus_program_add_flow(b, TEMP_DONE + n, 1);
	else if (l->stores)
		gus_program_add_flow(b, TEMP_RESULT, (int)(latency - last));
}

/* Cycles after the first computing uop in which the n-th can begin, for the ports that those before it take: each takes
 * the one that is free first. */
static unsigned begins(const struct lowered *l, unsigned n)
{
	unsigned busy[GUS_UARCH_PORTS_MAX] = { 0 }, seen = 0;

	for (unsigned i = 0; i < l->pieces_n; i++) {
		const struct piece *piece = &l->pieces[i];
		int first = -1;

		if (piece->kind != GUS_UOP_COMPUTE || seen++ < l->adders)
			continue;
		for (uint64_t rest = piece->ports; rest; rest &= rest - 1)
			if (first < 0 || busy[__builtin_ctzll(rest)] < busy[first])
				first = __builtin_ctzll(rest);
		if (first < 0 || seen == l->adders + n + 1)
			return first < 0 ? 0 : busy[first];
		busy[first] += piece->held;
	}
	return 0;
}

/* What all flows of the uop from there on have less: at most as much as leaves each of its results a cycle. */
static void begin_later(struct builder *b, struct gus_uop *uop, unsigned cycles)
{
	if (cycles >= uop->latency)
		cycles = uop->latency ? uop->latency - 1u : 0;
	for (uint32_t i = uop->in + uop->in_n; i < b->flows.n; i++)
		if (b->flows.v[i].cycles <= (int)cycles)
			cycles = b->flows.v[i].cycles > 0 ? (unsigned)b->flows.v[i].cycles - 1 : 0;
	for (uint32_t i = uop->in; i < b->flows.n; i++)
		b->flows.v[i].cycles = (int16_t)(b->flows.v[i].cycles - (int)cycles);
	uop->latency = (uint16_t)(uop->latency - cycles);
}

/* What computes waits for operands and for loaded words; for addresses only where the address is the result (lea), or
 * where no load of the same instruction has waited for them (setz [rdi], whose address nobody else would wait for in
 * time). */
static void write_compute(struct builder *b, const struct lowered *l, struct gus_uop *uop, unsigned n)
{
	const unsigned latency = gus_program_cycles(l->latency), last = l->computes - l->adders - 1;
	const uint32_t early = last ? gus_program_early(l) : 0, outs = results_of(l, n, early);

	uop->latency = (uint16_t)(outs ? latency : 1);
	gus_program_begin_in(b, uop);
	if (l->info->class == GUS_INSN_LEA || !l->loads)
		in_addresses(b, l->info);
	in_operands(b, l, outs ? outs : early ? early : ALL);
	for (unsigned i = 0; i < l->loads && i < LOADED_N; i++)
		gus_program_add_flow(b, TEMP_LOADED + i, 0);
	/* The tokens are in time up to the last cycle that the last uop works. */
	for (unsigned i = 0; n == last && i < last && i < DONE_N; i++)
		gus_program_add_flow(b, TEMP_DONE + i, latency ? (int)latency - 1 : 0);
	gus_program_end_in(b, uop);
	if (outs)
		out_registers(b, l, outs, latency, l->adders ? OTHERS : BOTH);
	/* Between load and store each uop takes a cycle; the latency of such a row may count the store. */
	if (n == last && l->stores)
		gus_program_add_flow(b, TEMP_RESULT, (int)(l->loads && latency > last + 1 ? last + 1 : latency));
	if (outs && n)
		begin_later(b, uop, begins(l, n));
	if (n < last && n < DONE_N)
		gus_program_add_flow(b, TEMP_DONE + n, 1);
}

/* The two halves of a store wait for different things, so that an address can be known, and later loads be let past it,
 * before there are data. Where one uop is both, it waits for both. */
static void write_store(struct builder *b, const struct lowered *l, struct gus_uop *uop)
{
	bool data = uop->kind == GUS_UOP_STORE_DATA;

	uop->memory = access_of(b, l, true, 0);
	uop->latency = 1;
	gus_program_begin_in(b, uop);
	if (!data || !l->addresses)
		in_addresses(b, l->info);
	if (data && l->computes > l->adders)
		gus_program_add_flow(b, TEMP_RESULT, 0);
	else if (data && l->loads)
		gus_program_add_flow(b, TEMP_LOADED, 0);
	else if (data)
		in_operands(b, l, ALL);
	gus_program_end_in(b, uop);
	/* Registers that a store writes are those of its address, or the status of a conditional store. */
	if (!data && !l->computes)
		out_registers(b, l, ALL, 1, WRITEBACKS);
	else if (data && !l->computes && !l->addresses)
		out_registers(b, l, ALL, 1, BOTH);
}

/* What nothing executes is still an op with a uop, whose results are there when it is renamed, or as late as the row
 * says. */
static void write_nothing(struct builder *b, const struct lowered *l)
{
	struct gus_uop uop = { .kind = GUS_UOP_NONE };

	gus_program_begin_in(b, &uop);
	gus_program_end_in(b, &uop);
	if (l->info->class != GUS_INSN_NOP)
		out_registers(b, l, ALL, l->idiom ? 0 : gus_program_cycles(l->latency), BOTH);
	gus_program_end_out(b, &uop);
}

/* Pieces are in the order in which they hand each other words; the n-th of its kind knows by n which word is its
 * own. */
void gus_program_write_uops(struct builder *b, const struct lowered *l)
{
	unsigned seen[GUS_UOP_STORE_DATA + 1] = { 0 };

	l->op->uop = (uint32_t)b->uops.n;
	for (unsigned i = 0; i < l->pieces_n; i++) {
		const struct piece *piece = &l->pieces[i];
		struct gus_uop uop = { .ports = piece->ports, .kind = (uint8_t)piece->kind,
			.port_cycles = piece->held };
		unsigned n = seen[piece->kind]++;

		if (piece->kind == GUS_UOP_COMPUTE && n + 1 == l->computes) {
			uop.unit = l->unit;
			uop.unit_cycles = l->unit_cycles;
		}
		if (piece->kind == GUS_UOP_LOAD)
			write_load(b, l, &uop, n);
		else if (piece->kind == GUS_UOP_COMPUTE && n < l->adders)
			write_writeback(b, l, &uop, n);
		else if (piece->kind == GUS_UOP_COMPUTE && is_serial(l))
			write_behind(b, l, &uop, n - l->adders);
		else if (piece->kind == GUS_UOP_COMPUTE)
			write_compute(b, l, &uop, n - l->adders);
		else
			write_store(b, l, &uop);
		gus_program_end_out(b, &uop);
	}
	if (!l->pieces_n)
		write_nothing(b, l);
	l->op->uops_n = (uint16_t)(b->uops.n - l->op->uop);
}
