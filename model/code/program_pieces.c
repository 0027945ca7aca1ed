/* SPDX-License-Identifier: MIT */
/* From an instruction's row to pieces: uops that know their kind and ports, and not yet their operands.
 *
 * A row is a resource mapping, as the Gus papers have it: uops on groups of ports, and no word on which uop does what.
 * That is needed here, since a load's uop waits for the address and not for the other operand. It follows from the
 * ports: what can only go to ports of the plainest load is a load if the instruction reads memory; the same for stores;
 * all else computes. Of add [rdi], rax that is, on two kinds of machine:
 *
 *	p23:1 p4:1 p0156:1 p237:1     load, data, computing, address (Skylake)
 *	l012:1 l01:1 a012:1           load, data (there is a load already), computing (of three ports two store)
 *
 * What may be several things is taken for the one that fewest ports can be: data before load, load before address. */
#include "model/code/program_private.h"
#include "model/tables/uarch.h"

/* What a form without a row is taken for: the middle of its class' bounds. */
static void take_class(struct builder *b, struct lowered *l)
{
	const char *name = gus_insn_class_name((enum gus_insn_class)l->info->class);
	const struct gus_uarch_class *class = name ? gus_uarch_class(b->u, name) : NULL;

	b->unknown++;
	l->op->flags |= GUS_OP_UNKNOWN;
	l->uops = 1;
	l->latency = GUS_UARCH_CENTI;
	if (!class)
		return;
	l->uops = class->uops_lo ? class->uops_lo : 1;
	l->latency = (class->latency_lo + class->latency_hi) / 2;
	l->uses = b->u->uses + class->uses;
	l->uses_n = class->uses_n;
}

void gus_program_take_row(struct builder *b, struct lowered *l, const struct gus_uarch_row *row)
{
	if (!row) {
		take_class(b, l);
		return;
	}
	l->row = row;
	l->uops = row->uops;
	l->fused = row->fused;
	l->latency = row->latency;
	l->loadlat = row->loadlat;
	l->uses = b->u->uses + row->uses;
	l->uses_n = row->uses_n;
	/* A uop has room for one unit: the one that is busy longest is the one that others wait for. */
	for (uint32_t i = 0; i < row->units_n; i++) {
		unsigned cycles = gus_program_cycles(b->u->uses[row->units + i].cycles);

		if (cycles > l->unit_cycles) {
			l->unit = (uint8_t)(b->u->uses[row->units + i].group + 1);
			l->unit_cycles = (uint16_t)cycles;
		}
	}
	l->decoded_known = row->decoded != 0;
	l->complex = row->complex;
	l->op->decoded = (uint8_t)(row->decoded < UINT8_MAX ? row->decoded : UINT8_MAX);
	l->op->microcoded = (uint16_t)row->microcoded;
}

/* How the instruction touches memory, as far as it decides about kinds. Prefetches go where loads go. */
struct touches {
	bool load, store, indexed;
};

static struct touches touches_of(const struct gus_insn_info *info)
{
	struct touches t = { .load = (info->flags & GUS_INSN_PREFETCH) != 0 };

	for (unsigned i = 0; i < info->memory_count; i++) {
		t.indexed |= info->memory[i].index != 0;
		t.load |= (info->memory[i].use & GUS_ACCESS_READ) != 0;
		t.store |= (info->memory[i].use & GUS_ACCESS_WRITE) != 0;
	}
	return t;
}

/* What a uop on these ports is for, given the pieces before it. */
static enum gus_uop_kind kind_of(const struct roles *roles, const struct lowered *l, struct touches t, uint64_t ports)
{
	const bool own_addresses = roles->address & ~roles->load; /* there are ports that no load takes */

	if (t.store && roles->split && !(ports & ~roles->data))
		return GUS_UOP_STORE_DATA;
	/* Haswell's store addresses may go to p2 and p3, as loads do, or to p7: where a load is already there, this is
	 * one. */
	if (t.load && !(ports & ~roles->load) && !(t.store && own_addresses && l->loads))
		return GUS_UOP_LOAD;
	if (t.store && !(ports & ~roles->store))
		return roles->split || l->stores ? GUS_UOP_STORE_ADDRESS : GUS_UOP_STORE_DATA;
	return GUS_UOP_COMPUTE;
}

/* Counted as it is added: what comes later in the row is judged by what is there already. */
static void add_piece(const struct rules *rules, struct lowered *l, struct touches t, struct piece piece)
{
	/* A form that reads and writes on ports for both: the first is the load. */
	if (piece.kind == GUS_UOP_LOAD && t.store && !rules->roles.split && l->loads)
		piece.kind = GUS_UOP_STORE_ADDRESS;
	/* Haswell's p7 adds no index. */
	if (piece.kind == GUS_UOP_STORE_ADDRESS && t.indexed && rules->indexed_store &&
	    (piece.ports & rules->roles.load))
		piece.ports &= rules->roles.load;
	l->loads += piece.kind == GUS_UOP_LOAD;
	l->stores += piece.kind == GUS_UOP_STORE_DATA;
	l->addresses += piece.kind == GUS_UOP_STORE_ADDRESS;
	l->computes += piece.kind == GUS_UOP_COMPUTE;
	l->pieces[l->pieces_n++] = piece;
}

/* The cycles of a use are uops, unless there are more cycles than uops: then ports are held for several (the halves of
 * a wide access), and each group has as many pieces as the instruction has uops. Where there are more groups than uops,
 * one uop holds several ports, which here is one piece each. Less than half a cycle, an average, is still a uop. */
static void add_pieces(const struct rules *rules, struct lowered *l, struct touches t, uint64_t ports,
		       const struct gus_uarch_use *use)
{
	struct piece piece = { .ports = ports, .kind = kind_of(&rules->roles, l, t, ports), .held = 1 };
	uint32_t n = gus_uarch_use_uops(use, l->uops), cycles = gus_program_cycles(use->cycles);

	if (n < cycles)
		piece.held = (uint16_t)(cycles / n);
	for (; n; n--)
		add_piece(rules, l, t, piece);
}

/* A store has data, also where its only uop is on a port that does both: the last of its addresses is it. */
static void find_data(struct lowered *l)
{
	for (unsigned i = l->pieces_n; i-- > 0;)
		if (l->pieces[i].kind == GUS_UOP_STORE_ADDRESS) {
			l->pieces[i].kind = GUS_UOP_STORE_DATA;
			l->addresses--;
			l->stores++;
			return;
		}
}

/* Uops travel in the order in which they hand each other words, so that who needs a result always comes behind it.
 * Among uops of a kind the row's order counts. They are put in order behind what is there, kind by kind. */
static void order_pieces(struct lowered *l)
{
	static const enum gus_uop_kind order[] = {
		GUS_UOP_LOAD, GUS_UOP_COMPUTE, GUS_UOP_STORE_ADDRESS, GUS_UOP_STORE_DATA };
	struct piece *ordered = l->pieces + l->pieces_n;
	unsigned n = 0;

	for (size_t kind = 0; kind < sizeof(order) / sizeof(*order); kind++)
		for (unsigned i = 0; i < l->pieces_n; i++)
			if (l->pieces[i].kind == order[kind])
				ordered[n++] = l->pieces[i];
	l->pieces = ordered;
}

/* A row has the time from a register operand beside that from the address, and the operation behind the load takes the
 * former. Where a source has no figure for that (the instruction has no other operand, as cmp [rdi], 1 or leave, or
 * nobody timed it), it repeats the whole: then the operation takes what a load from L1 leaves of it. */
static void divide_latency(const struct rules *rules, struct lowered *l)
{
	uint32_t load = (l->info->vector_bits ? rules->load_vector : rules->load_indexed) * (uint32_t)GUS_UARCH_CENTI;

	if (!l->loads || l->computes == l->adders || l->latency < l->loadlat || l->loadlat < load)
		return;
	l->latency = l->loadlat > load + GUS_UARCH_CENTI ? l->loadlat - load : GUS_UARCH_CENTI;
}

/* A uop that computes, on the ports of an addition. */
static void add_plain(const struct builder *b, struct lowered *l, struct touches t)
{
	const struct gus_uarch_row *row = gus_program_addition(b->u);

	if (row && row->uses_n)
		add_piece(&b->rules, l, t, (struct piece){ .kind = GUS_UOP_COMPUTE, .held = 1,
			.ports = b->u->groups[b->u->uses[row->uses].group].ports });
}

/* Twice as many as there can be, as they are put in order behind each other; tables have a bound on their number
 * (GUS_UARCH_UOPS_MAX). */
static void make_room(struct builder *b, struct lowered *l)
{
	size_t most = 1;

	for (uint32_t i = 0; i < l->uses_n; i++)
		most += gus_uarch_use_uops(&l->uses[i], l->uops);
	gus_vec_reserve(&b->pieces, 2 * most);
	l->pieces = b->pieces.v;
}

void gus_program_find_pieces(struct builder *b, struct lowered *l)
{
	struct touches t = touches_of(l->info);

	make_room(b, l);
	for (uint32_t i = 0; i < l->uses_n; i++)
		add_pieces(&b->rules, l, t, b->u->groups[l->uses[i].group].ports, &l->uses[i]);
	if (t.store && !l->stores)
		find_data(l);
	if (!l->pieces_n && l->unit) /* whose ports the table does not say */
		add_plain(b, l, t);
	l->adders = gus_program_adders(b, l->info);
	if (l->adders > l->computes)
		l->adders = l->computes;
	divide_latency(&b->rules, l);
	order_pieces(l);
}
