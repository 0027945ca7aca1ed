/* SPDX-License-Identifier: MIT */
/* A line has uops of one window of code (32 or 64 aligned bytes), in order; an op that does not fit begins the next
 * one, and so does the target of a jump, as only there a line can be found by its address. An op of the sequencer has a
 * line to itself. An op of a wide constant takes two entries (Agner Fog, The microarchitecture of Intel, AMD and VIA
 * CPUs, on Sandy Bridge's uop cache; Abel and Reineke's simulator, uiCA, has the same).
 *
 * Since a microcode of 2019 the cores of the Skylake family keep no window that has a jump which crosses or ends at a
 * multiple of 32 bytes; of a fused pair both instructions count (Intel, Mitigations for Jump Conditional Code Erratum,
 * 2019). Nor do they keep the other half of those 64 bytes then (uiCA's simulator): uop_cache_block. */
#include "model/code/uop_lines.h"

#include "model/code/program.h"
#include "model/machine/config.h"

static bool is_wide(const struct gus_core_config *c, const struct gus_op *op)
{
	return c->uop_cache_wide && (op->flags & GUS_OP_WIDE);
}

/* Entries that an op takes of a line. */
static unsigned entries_of(const struct gus_core_config *c, const struct gus_op *op)
{
	unsigned entries = op->decoded ? op->decoded : 1;

	if (op->microcoded)
		return c->uop_cache_line;
	return entries + is_wide(c, op);
}

/* Where the next op goes: beside the one before, or into another line for some reason. */
enum step { STEP_SAME, STEP_NEXT, STEP_WINDOW, STEP_TARGET };

/* Plus 1, as 0 is none. Windows are powers of two (gus_core_config_check). */
static uint64_t window_of(const struct gus_core_config *c, uint64_t at)
{
	return (at >> __builtin_ctz(c->uop_cache_window)) + 1;
}

static enum step step_of(const struct gus_uop_lines *l, const struct gus_core_config *c, const struct gus_op *op,
			 uint64_t at)
{
	if (l->jumped)
		return STEP_TARGET;
	if (window_of(c, at) != l->window)
		return STEP_WINDOW;
	return l->room < entries_of(c, op) ? STEP_NEXT : STEP_SAME;
}

uint64_t gus_uop_lines_at(const struct gus_core_config *c, const struct gus_program *p, const struct gus_op *op,
			  uint64_t at)
{
	if (!c->uop_cache_by_end)
		return at;
	for (unsigned i = 0; i < op->insns_n; i++)
		at += p->insns[op->insn + i].info.length;
	return at - 1;
}

/* It goes there. */
static inline void put(struct gus_uop_lines *l, const struct gus_core_config *c, enum step step, unsigned entries,
		       uint64_t at, bool taken)
{
	if (step != STEP_SAME) {
		l->lines = step == STEP_NEXT ? l->lines + 1 : 1;
		l->window = window_of(c, at);
		l->room = c->uop_cache_line;
	}
	l->room -= entries < l->room ? entries : l->room;
	l->jumped = taken;
}

void gus_uop_lines_put(struct gus_uop_lines *l, const struct gus_core_config *c, const struct gus_op *op, uint64_t at,
		   bool taken)
{
	put(l, c, step_of(l, c, op, at), entries_of(c, op), at, taken);
}

bool gus_uop_lines_refuses(const struct gus_core_config *c, const struct gus_program *p, const struct gus_op *op)
{
	const struct gus_program_insn *first = &p->insns[op->insn], *last = first + op->insns_n - 1;
	uint64_t at = p->base + first->offset, end = p->base + last->offset + last->info.length;

	return c->jcc_erratum && (op->flags & GUS_OP_BRANCH) && at / 32 != end / 32;
}

/* Ops from `first` on, before `end`, are kept or not. */
static uint32_t settle(bool *kept, uint32_t first, uint32_t end, bool good)
{
	for (uint32_t i = first; kept && i < end; i++)
		kept[i] = good;
	return good ? end - first : 0;
}

uint32_t gus_uop_lines_kept(const struct gus_core_config *c, const struct gus_program *p, bool *kept)
{
	unsigned bytes = c->uop_cache_block > c->uop_cache_window ? c->uop_cache_block : c->uop_cache_window;
	unsigned shift = (unsigned)__builtin_ctz(bytes);
	uint64_t block = UINT64_MAX, total = 0;
	struct gus_uop_lines l = { 0 };
	uint32_t first = 0, n = 0;
	bool good = true;

	for (uint32_t i = 0; i < p->ops_n; i++) {
		const struct gus_op *op = &p->ops[i];
		uint64_t at = gus_uop_lines_at(c, p, op, p->base + p->insns[op->insn].offset);

		if (at >> shift != block) {
			n += settle(kept, first, i, good);
			block = at >> shift;
			first = i;
			good = true;
		}
		total += step_of(&l, c, op, at) == STEP_SAME ? 0 : c->uop_cache_line;
		gus_uop_lines_put(&l, c, op, at, false);
		good &= !gus_uop_lines_refuses(c, p, op) && (!c->uop_cache_lines || l.lines <= c->uop_cache_lines);
	}
	n += settle(kept, first, p->ops_n, good);
	return c->uop_cache_size && total > c->uop_cache_size ? settle(kept, 0, p->ops_n, false) : n;
}

/* Uops of the line that begins with this op, as the code lies there. */
static unsigned uops_ahead(const struct gus_core_config *c, const struct gus_program *p, uint32_t op)
{
	struct gus_uop_lines l = { 0 };
	unsigned uops = 0;

	for (; op < p->ops_n; op++) {
		uint64_t at = gus_uop_lines_at(c, p, &p->ops[op], p->base + p->insns[p->ops[op].insn].offset);

		if (uops && step_of(&l, c, &p->ops[op], at) != STEP_SAME)
			break;
		gus_uop_lines_put(&l, c, &p->ops[op], at, (p->ops[op].flags & GUS_OP_TAKEN) != 0);
		uops += entries_of(c, &p->ops[op]);
	}
	return uops;
}

/* How much of a line there is width for in a cycle that has delivered some uops of the one before. What Abel and
 * Reineke's simulator (uiCA) does for Skylake is `forward`; `whole` is what loops of 6 to 32 uops show that were timed
 * on an Ice Lake server: 7, 9 and 13 take 1.5, 2 and 3 cycles, 8 and 12 no more than issue needs. */
static unsigned width_of_second(const struct gus_uop_read *r, const struct gus_uop_lines *l,
				const struct gus_core_config *c, const struct gus_program *p, uint32_t number,
				uint64_t at, bool target)
{
	unsigned left = c->uop_cache_width > r->uops ? c->uop_cache_width - r->uops : 0;
	unsigned pairs = left == 1 ? 1 : left & ~1u;
	bool inside = window_of(c, at) == l->window;

	switch (c->uop_cache_second) {
	case GUS_CORE_SECOND_FORWARD:
		return !inside ? pairs : target ? 0 : left;
	case GUS_CORE_SECOND_WHOLE:
		if (target)
			return pairs;
		return inside && uops_ahead(c, p, number) <= left ? left : 0;
	default:
		return target ? 0 : left;
	}
}

/* Of the cycle, if the op is of it, which goes there in the lines. */
static inline unsigned width_with(const struct gus_uop_read *r, const struct gus_uop_lines *l,
				  const struct gus_core_config *c, const struct gus_program *p, uint32_t number,
				  uint64_t at, enum step step)
{
	if (!r->lines)
		return c->uop_cache_width;
	if (step == STEP_SAME)
		return r->width;
	if (r->lines == c->uop_cache_reads)
		return 0;
	return r->uops + width_of_second(r, l, c, p, number, at, step == STEP_TARGET);
}

/* Whether there is room for the op in a cycle of that width. The first of a cycle is its own, however large it is. */
static inline bool takes(const struct gus_uop_read *r, const struct gus_core_config *c, const struct gus_op *op,
			 unsigned width)
{
	return !r->lines || (!r->ended && !op->microcoded && r->uops + op->decoded + is_wide(c, op) <= width);
}

static inline void read(struct gus_uop_read *r, const struct gus_core_config *c, const struct gus_op *op,
			enum step step, unsigned width)
{
	r->width = width;
	r->lines += !r->lines || step != STEP_SAME;
	r->uops += op->decoded;
	r->ended = op->microcoded || is_wide(c, op);
}

bool gus_uop_read_takes(const struct gus_uop_read *r, const struct gus_uop_lines *l, const struct gus_core_config *c,
			const struct gus_program *p, uint32_t number, uint64_t at)
{
	enum step step = step_of(l, c, &p->ops[number], at);

	return takes(r, c, &p->ops[number], width_with(r, l, c, p, number, at, step));
}

void gus_uop_read_put(struct gus_uop_read *r, struct gus_uop_lines *l, const struct gus_core_config *c,
		      const struct gus_program *p, uint32_t number, uint64_t at, bool taken)
{
	const struct gus_op *op = &p->ops[number];
	enum step step = step_of(l, c, op, at);

	read(r, c, op, step, width_with(r, l, c, p, number, at, step));
	put(l, c, step, entries_of(c, op), at, taken);
}

bool gus_uop_read_next(struct gus_uop_read *r, struct gus_uop_lines *l, const struct gus_core_config *c,
		       const struct gus_program *p, uint32_t number, uint64_t at, bool taken)
{
	const struct gus_op *op = &p->ops[number];
	enum step step = step_of(l, c, op, at);
	unsigned width = width_with(r, l, c, p, number, at, step);
	bool begins = !r->lines || !takes(r, c, op, width);

	if (begins) {
		*r = (struct gus_uop_read){ 0 };
		width = c->uop_cache_width;
	}
	read(r, c, op, step, width);
	put(l, c, step, entries_of(c, op), at, taken);
	return begins;
}
