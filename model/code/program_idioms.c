/* SPDX-License-Identifier: MIT */
/* What the renamer does by itself, without a port: constants, and moves, where it makes the new name stand for the old
 * register. The decoder says what may be an idiom (GUS_INSN_ZERO_IDIOM and the like), the table's parameters whether
 * this CPU knows it.
 *
 *	zero idiom          no uop executes and nothing is waited for
 *	ones idiom          a uop executes, but waits for nothing
 *	eliminated move     none executes, and the result is there when the source is
 *
 * An eliminated move keeps the ports of an addition, or of a logic operation of vectors: elimination has a limited
 * number of slots on some CPUs (parameter move_elimination_slots), and when they are taken the move is executed as one.
 * So it is if it moves a register to itself, unless the renamer does that, too (move_elimination_same): Intel's do not
 * (Peter Cordes, "Can x86's MOV really be free?", Stack Overflow), and in chains they take the cycle of an addition. */
#include "model/code/program_private.h"
#include "model/tables/uarch.h"

/* A move that is not eliminated, of a row that says nothing else. */
static void take_ports(const struct builder *b, struct lowered *l, const struct gus_uarch_row *row)
{
	if (l->uses_n || !row)
		return;
	l->uses = b->u->uses + row->uses;
	l->uses_n = row->uses_n;
	if (!l->latency)
		l->latency = GUS_UARCH_CENTI;
}

static void take_addition(const struct builder *b, struct lowered *l)
{
	take_ports(b, l, gus_program_addition(b->u));
}

/* Golden Cove's rename stage adds small constants as it goes: eleven bits with their sign, on whole registers (own
 * timing: chains of such additions take no time). */
enum { SMALL = 1024 };

static bool is_small_add(const struct gus_insn_info *info)
{
	return info->class == GUS_INSN_ALU && info->fuse_first == GUS_FUSE_ADD_SUB &&
		(info->flags & GUS_INSN_IMMEDIATE) && info->immediate >= -SMALL && info->immediate < SMALL &&
		!info->memory_count && info->access_count && info->access[0].bits == 64;
}

/* Without ports in its row, and no idiom: what it writes is there when what it reads is. */
static bool moves_one(const struct lowered *l)
{
	const struct gus_insn_info *info = l->info;

	/* An address of one register alone is that register. */
	if (info->class == GUS_INSN_LEA)
		return !l->latency && info->memory_count && !info->memory[0].index;
	return info->class != GUS_INSN_NOP && !(info->flags & GUS_INSN_MOVE) && !info->memory_count &&
		info->access_count && (info->access[0].use & GUS_ACCESS_WRITE);
}

static unsigned read_register(const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_READ) &&
		    (!(info->access[i].use & GUS_ACCESS_ADDRESS) || info->class == GUS_INSN_LEA))
			return info->access[i].reg;
	return 0;
}

static void find_zero(struct lowered *l)
{
	l->idiom = true;
	l->uses_n = 0;
	l->latency = 0;
	l->op->flags |= GUS_OP_IDIOM;
}

/* A row's latency of zero is that of the renamer. */
static void execute_move(struct lowered *l)
{
	if (l->uses_n && l->latency < GUS_UARCH_CENTI)
		l->latency = GUS_UARCH_CENTI;
}

/* From where to where: an access that reads and writes is both ends. */
static void find_move(struct lowered *l, const struct rules *r)
{
	const struct gus_insn_info *info = l->info;
	unsigned from = 0, to = 0;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if ((a->use & GUS_ACCESS_WRITE) && !to)
			to = a->reg;
		if ((a->use & GUS_ACCESS_READ) && !from)
			from = a->reg;
	}
	if (from && to && (from != to || r->move_same)) {
		l->op->flags |= GUS_OP_ELIMINATED;
		l->op->move_from = (uint8_t)from;
		l->op->move_to = (uint8_t)to;
	} else {
		execute_move(l);
	}
}

/* An addition that the renamer does, or a row without ports (a lea of one register alone is one on some CPUs): like a
 * move, from what it reads to what it writes. To the same register it is executed, as a move would be. */
static void find_portless(const struct builder *b, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;

	l->uses_n = 0;
	l->latency = 0;
	l->op->move_to = info->access[0].reg;
	l->op->move_from = (uint8_t)read_register(info);
	if (l->op->move_from == l->op->move_to && !is_small_add(info) && !b->rules.move_same)
		take_addition(b, l);
	else if (l->op->move_from)
		l->op->flags |= GUS_OP_ELIMINATED;
}

/* Of one that zero-extends a byte that takes another ability: of names that stand for part of a register. */
static bool moves_are_eliminated(const struct rules *r, const struct gus_insn_info *info)
{
	if (info->vector_bits)
		return r->move_vector;
	return r->move_int && (r->move_byte || !(info->flags & GUS_INSN_EXTEND));
}

void gus_program_find_idioms(const struct builder *b, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	const struct rules *r = &b->rules;
	bool vector = info->vector_bits != 0;

	if ((info->flags & GUS_INSN_ZERO_IDIOM) && (vector ? r->zero_vector : r->zero_int)) {
		find_zero(l);
	} else if ((info->flags & GUS_INSN_ONES_IDIOM) && r->ones) {
		l->idiom = true;
		l->op->flags |= GUS_OP_IDIOM;
	} else if (info->flags & GUS_INSN_MOVE) {
		/* A row without ports is that of a renamer that does them; where it does not, they are executed. */
		take_ports(b, l, vector ? gus_program_vector_logic(b->u) : gus_program_addition(b->u));
		if (moves_are_eliminated(r, info))
			find_move(l, r);
		else
			execute_move(l);
	} else if ((r->immediate_add && is_small_add(info)) || (!l->uses_n && !l->unit && l->row && moves_one(l))) {
		find_portless(b, l);
	}
}
