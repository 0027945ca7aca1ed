/* SPDX-License-Identifier: MIT */
/* What is the word of a load as it came: an address, or what a store writes.
 *
 * Intel's cores from Sandy Bridge to Skylake guess that a load with a simple address (a base, no index, a displacement
 * of 0 to 2047) stays in the page of its base and take a cycle less, but only where the base comes straight from a
 * load: they see from which unit it is forwarded. Where anything computes the base, even where it is a constant, the
 * load takes what all others take (Intel, Optimization Reference Manual, L1 latencies; Peter Cordes, "Is there a
 * penalty when base+offset is in a different page than the base?"; Abel and Reineke, uiCA: which instructions count as
 * such a load, and that also loads with an operation behind them gain).
 *
 *	mov rdx, [rdx]        4        mov rdx, [rdx]        5
 *	                               add rdx, 8            1
 *
 * Zen 4 takes a cycle more where the index is multiplied (l1d_latency_scaled; timed: mov rbx, [rdi + rbx * 8] takes 5
 * cycles, [rdi + rbx] takes 4).
 *
 * Ice Lake's store buffer has such a word for later loads sooner than one that an operation made
 * (store_forward_computed).
 *
 * So of each register is known whether its last writer was a load. Instructions have been lowered with the latency of
 * simple addresses by then; it is taken back where the base is no such word. Of code that runs again and again what its
 * end leaves holds at its beginning; else the first blocks of a trace's code begin with words of loads. */
#include "model/code/program_private.h"

enum { GENERALS = GUS_X86_R15 + 1, WORD_BITS = 32, SIMPLE_DISPLACEMENTS = 2048 };

static bool is_general(unsigned reg)
{
	return reg >= GUS_X86_RAX && reg <= GUS_X86_R15;
}

/* Whether it does nothing but load 32 or 64 bits. */
static bool is_word_load(const struct gus_insn_info *info)
{
	return info->class == GUS_INSN_LOAD && info->memory_count == 1 && !info->vector_bits &&
		info->memory[0].bits >= WORD_BITS && (info->memory[0].use & GUS_ACCESS_READ);
}

/* A 64-bit move that the renamer does gives the register another name; the word is still a load's. */
static void step(bool *loaded, const struct gus_insn_info *info, const struct gus_op *op)
{
	bool named = (op->flags & GUS_OP_ELIMINATED) && (info->flags & GUS_INSN_MOVE) && info->access[0].bits == 64 &&
		op->move_from < GENERALS && loaded[op->move_from];
	bool word = named || is_word_load(info);

	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_WRITE) && is_general(info->access[i].reg))
			loaded[info->access[i].reg] = word && !(info->access[i].use & GUS_ACCESS_IMPLICIT);
}

bool gus_program_is_simple(const struct gus_insn_info *info)
{
	const struct gus_insn_memory *m = &info->memory[0];

	return info->memory_count == 1 && m->base && !m->index && m->displacement >= 0 &&
		m->displacement < SIMPLE_DISPLACEMENTS;
}

static void add_cycles(struct builder *b, const struct gus_op *op, int cycles)
{
	for (unsigned k = 0; k < op->uops_n; k++) {
		struct gus_uop *uop = &b->uops.v[op->uop + k];

		if (uop->kind != GUS_UOP_LOAD)
			continue;
		for (unsigned i = 0; i < uop->out_n; i++)
			if (b->flows.v[uop->out + i].cycles == uop->latency)
				b->flows.v[uop->out + i].cycles = (int16_t)(uop->latency + cycles);
		uop->latency = (uint16_t)(uop->latency + cycles);
	}
}

/* What was lowered as a plain load with a simple address has been given the short time (gus_program_write_uops), all
 * else the long one. */
static void settle(struct builder *b, const bool *loaded, const struct gus_insn_info *info, const struct gus_op *op)
{
	bool chased, plain = is_word_load(info);

	if (!gus_program_is_simple(info) || !is_general(info->memory[0].base) ||
	    !(info->memory[0].use & GUS_ACCESS_READ))
		return;
	chased = loaded[info->memory[0].base];
	if (plain != chased)
		add_cycles(b, op, (int)(b->rules.load_indexed - b->rules.load) * (plain ? 1 : -1));
}

static void add_scaled(struct builder *b, const struct gus_insn_info *info, const struct gus_op *op)
{
	if (b->rules.load_scaled > b->rules.load && !info->vector_bits && info->memory_count == 1 &&
	    info->memory[0].scale > 1 && (info->memory[0].use & GUS_ACCESS_READ))
		add_cycles(b, op, b->rules.load_scaled - b->rules.load);
}

/* What a store writes was computed, by the instruction itself or by whoever wrote the register. */
static void see_store(struct builder *b, const bool *loaded, const struct gus_insn_info *info, const struct gus_op *op)
{
	bool computed = info->class != GUS_INSN_STORE;

	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_READ) && is_general(info->access[i].reg) &&
		    !(info->access[i].use & (GUS_ACCESS_ADDRESS | GUS_ACCESS_IMPLICIT)))
			computed |= !loaded[info->access[i].reg];
	for (unsigned n = 0; n < op->memories_n; n++)
		b->memories.v[op->memory + n].computed = computed && b->memories.v[op->memory + n].store &&
			!info->vector_bits;
}

void gus_program_chase(struct builder *b, size_t from, bool again)
{
	bool loaded[GENERALS], fast = b->rules.loaded_base && b->rules.load < b->rules.load_indexed;

	if (!b->rules.x86)
		return;
	for (unsigned r = 0; r < GENERALS; r++)
		loaded[r] = !again;
	for (size_t i = from; again && i < b->insns.n; i++)
		step(loaded, &b->insns.v[i].info, &b->ops.v[b->insns.v[i].op]);
	for (size_t i = from; i < b->insns.n; i++) {
		const struct gus_op *op = &b->ops.v[b->insns.v[i].op];

		add_scaled(b, &b->insns.v[i].info, op);
		if (fast)
			settle(b, loaded, &b->insns.v[i].info, op);
		see_store(b, loaded, &b->insns.v[i].info, op);
		step(loaded, &b->insns.v[i].info, op);
	}
}
