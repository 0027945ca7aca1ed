/* SPDX-License-Identifier: MIT */
/* Latencies by operand: which result needs which input, which input may come late, and when each result is there.
 *
 * One latency a row says too much or too little of many instructions: the addend of a multiplication and addition may
 * come while the product is being made, and a shift by cl has its result before its flags. Where it is known the tables
 * have pairs (uops.info measures them: a chain through each pair of operands by itself), and here they become a matrix
 * from each access that reads to each that writes. For few instructions it follows from what they do; for all others
 * every result needs every input, and both take the row's latency.
 *
 *	shl rax, cl      to rax   to flags       fma xmm0 += xmm1 * xmm2   to xmm0   lateness
 *	from rax           1         1           from xmm0                   3          2
 *	from rcx           1         1           from xmm1, xmm2             5          0
 *	from flags         -         1           (pairs 0>0:3 1>0:5 2>0:5 of the row)
 *
 * A uop has one time at which it may start. So with out[o] the longest latency to result o, an input that takes less
 * than that to o is in time that much later: its *lateness* is the least of out[o] - cycles[i][o] over the results. */
#include <string.h>

#include "model/code/program_private.h"
#include "model/tables/uarch.h"

/* Operands are numbered as uops.info does: registers in order, those of addresses left out, all flags together as the
 * last. Returns how many registers there are before the flags. */
static unsigned number_operands(const struct builder *b, const struct gus_insn_info *info, uint8_t number[])
{
	unsigned n = 0;

	for (unsigned i = 0; i < info->access_count; i++)
		if (!(info->access[i].use & GUS_ACCESS_ADDRESS) && !gus_program_is_flag(b, info->access[i].reg))
			number[i] = (uint8_t)n++;
	for (unsigned i = 0; i < info->access_count; i++)
		if (!(info->access[i].use & GUS_ACCESS_ADDRESS) && gus_program_is_flag(b, info->access[i].reg))
			number[i] = (uint8_t)n;
	return n;
}

/* A pair may be from an operand that the instruction only writes: then the CPU waits for it all the same (popcnt on
 * Intel's cores up to Skylake).
 *
 * Writes one pair for all accesses that it is about, as several flags share a number; how many they were. */
static unsigned note_pair(struct lowered *l, const uint8_t number[], const struct gus_uarch_pair *pair)
{
	const struct gus_insn_info *info = l->info;
	unsigned found = 0;

	for (unsigned i = 0; i < info->access_count; i++) {
		if (number[i] != pair->from || (info->access[i].use & GUS_ACCESS_ADDRESS))
			continue;
		for (unsigned o = 0; o < info->access_count; o++)
			if (number[o] == pair->to && (info->access[o].use & GUS_ACCESS_WRITE)) {
				l->cycles[i][o] = (int16_t)gus_program_cycles(pair->cycles);
				l->awaited |= 1u << i;
				found++;
			}
	}
	return found;
}

/* False if the row has none that say anything of registers, or if they do not fit. */
static bool from_pairs(const struct builder *b, struct lowered *l)
{
	uint8_t number[GUS_INSN_ACCESSES] = { 0 };
	unsigned flags, most = 0, found = 0;

	/* With equal registers the form has figures of its own, as a CPU may know a trick for them. */
	if (!l->row || !l->row->pairs_n || (l->info->flags & GUS_INSN_SAME_REGS))
		return false;
	flags = number_operands(b, l->info, number);
	for (uint32_t k = 0; k < l->row->pairs_n; k++) {
		const struct gus_uarch_pair *pair = &b->u->pairs[l->row->pairs + k];

		if (pair->to_kind != GUS_UARCH_REGISTER)
			continue;
		most = pair->to > most ? pair->to : most;
		if (pair->from_kind == GUS_UARCH_REGISTER)
			found += note_pair(l, number, pair);
	}
	/* Two operands in one register are one access here: then the numbers do not fit. */
	return found && most <= flags;
}

static bool is_xmm(unsigned reg)
{
	return reg >= GUS_X86_V0 && reg < GUS_X86_MM0;
}

static bool is_general(unsigned reg)
{
	return reg >= GUS_X86_RAX && reg <= GUS_X86_R15;
}

/* The latency of a form, in cycles; 0: the table has none. */
static int16_t latency_of(const struct builder *b, const char *text)
{
	const struct gus_uarch_form *form = gus_uarch_form_by_text(b->u, text);

	return form && form->row != GUS_UARCH_NONE ? (int16_t)gus_program_cycles(b->u->rows[form->row].latency) : 0;
}

/* From a general register to a vector register whose other elements are kept (cvtsi2sd, pinsrq): two uops, the transfer
 * and the operation itself. The elements go into the second one, which takes as long as one without the transfer does:
 * a conversion, or a shuffle. */
static bool from_transfer(const struct builder *b, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	int16_t alone, whole = (int16_t)gus_program_cycles(l->latency);
	bool general = false;
	int to = -1;

	if (b->u->isa != GUS_ISA_X86_64 || info->memory_count ||
	    (info->class != GUS_INSN_CONVERT && info->class != GUS_INSN_SHUFFLE))
		return false;
	alone = latency_of(b, info->class == GUS_INSN_CONVERT ? "CVTDQ2PS (XMM, XMM)" : "PSHUFD (XMM, XMM, I8)");
	for (unsigned i = 0; i < info->access_count; i++) {
		if ((info->access[i].use & GUS_ACCESS_WRITE) && is_xmm(info->access[i].reg))
			to = (int)i;
		general |= gus_program_reads(&info->access[i]) && is_general(info->access[i].reg);
	}
	if (!alone || to < 0 || (info->class == GUS_INSN_SHUFFLE && !general))
		return false;
	for (unsigned i = 0; i < info->access_count; i++)
		if (gus_program_reads(&info->access[i]))
			l->cycles[i][to] = is_general(info->access[i].reg) || alone > whole ? whole : alone;
	return true;
}

/* A conditional move of several uops: the first put flags and source together, and what the destination was is an
 * operand of the last. That the flags are two (cmova: carry and zero) is a uop of theirs, before the source comes
 * (Agner Fog, Instruction tables: two uops up to Haswell, one later, and each one more for two flags). */
static bool from_conditional_move(const struct builder *b, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	int16_t whole = (int16_t)gus_program_cycles(l->latency);
	unsigned flags = 0;

	if (!b->rules.x86 || info->class != GUS_INSN_MOV || !(info->flags & GUS_INSN_CONDITIONAL) || l->uops < 2)
		return false;
	for (unsigned i = 0; i < info->access_count; i++)
		flags += gus_program_is_flag(b, info->access[i].reg) && (info->access[i].use & GUS_ACCESS_READ);
	for (unsigned o = 0; o < info->access_count; o++)
		for (unsigned i = 0; (info->access[o].use & GUS_ACCESS_WRITE) && i < info->access_count; i++) {
			if (!gus_program_reads(&info->access[i]))
				continue;
			l->cycles[i][o] = whole;
			if (i == o)
				l->cycles[i][o] = 1;
			else if (flags > 1 && !gus_program_is_flag(b, info->access[i].reg) && whole > 1)
				l->cycles[i][o] = (int16_t)(whole - 1);
		}
	l->conditional = true;
	return true;
}

/* Which accesses are the halves of a wide product: the lower one of mul and imul is in rax; mulx, which leaves flags
 * alone, names first the register of the upper half and then that of the lower one. */
static void find_halves(const struct builder *b, const struct gus_insn_info *info, uint32_t *lower, uint32_t *upper)
{
	uint32_t results = 0;
	bool flags = false;

	*lower = 0;
	for (unsigned o = 0; o < info->access_count; o++) {
		const struct gus_insn_access *a = &info->access[o];

		if (!(a->use & GUS_ACCESS_WRITE))
			continue;
		flags |= gus_program_is_flag(b, a->reg);
		results |= is_general(a->reg) ? 1u << o : 0;
		*lower |= a->reg == GUS_X86_RAX ? 1u << o : 0;
	}
	if (!flags)
		*lower = results & (results - 1);
	*upper = results & ~*lower;
}

/* A multiplication with a product of two registers (mul, imul of one operand, mulx): the lower half is there when that
 * of a multiplication with one result is, the upper half comes from a second uop, a cycle behind it. Where there are
 * more uops (32 bits on Intel's cores), they cut the lower half out as well. Timed on Zen 3 and 4: 3 and 4 cycles;
 * measured on Ice Lake: 3 of the lower half. */
static bool from_wide_product(const struct builder *b, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	int16_t low = latency_of(b, "IMUL (R64, R64)");
	uint32_t lower, upper;

	if (!b->rules.x86 || info->class != GUS_INSN_MUL ||
	    l->uops != 2u + (info->memory_count && b->rules.roles.split))
		return false;
	find_halves(b, info, &lower, &upper);
	if (!lower || !upper || !low)
		return false;
	for (unsigned o = 0; o < info->access_count; o++)
		for (unsigned i = 0; (info->access[o].use & GUS_ACCESS_WRITE) && i < info->access_count; i++)
			if (gus_program_reads(&info->access[i]))
				l->cycles[i][o] = (int16_t)(low + !(lower >> o & 1));
	l->halves = lower;
	l->latency = (uint32_t)(low + 1) * GUS_UARCH_CENTI;
	return true;
}

/* A shift by a register: its flags stay what they were if the count is zero, so they wait for the old ones, and its
 * register does not. Zen 4 takes it that the count is not zero, and pays with a flush where it is and the flags are
 * read: shl rdx, cl between two adc rax, rbx costs nothing with a count of 3, and 31 cycles with 0 (own timing). */
static bool from_rules(const struct builder *b, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	bool conditional = false, flags[GUS_INSN_ACCESSES];

	for (unsigned i = 0; i < info->access_count; i++) {
		flags[i] = gus_program_is_flag(b, info->access[i].reg);
		conditional |= flags[i] && (info->access[i].use & GUS_ACCESS_CONDITIONAL);
	}
	if (info->class != GUS_INSN_SHIFT || !conditional)
		return false;
	for (unsigned i = 0; b->rules.shift_flags_new && i < info->access_count; i++)
		l->unneeded |= (uint32_t)flags[i] << i;
	for (unsigned i = 0; i < info->access_count; i++)
		for (unsigned o = 0; gus_program_reads(&info->access[i]) && o < info->access_count; o++)
			if ((info->access[o].use & GUS_ACCESS_WRITE) && !(l->unneeded >> i & 1) &&
			    (flags[o] || !flags[i]))
				l->cycles[i][o] = (int16_t)gus_program_cycles(l->latency);
	return true;
}

enum { NOT_NEEDED = 0xff }; /* each byte of -1 */

void gus_program_latencies(const struct builder *b, struct lowered *l)
{
	memset(l->cycles, NOT_NEEDED, sizeof(l->cycles));
	memset(l->out, NOT_NEEDED, sizeof(l->out));
	if (l->idiom)
		return;
	l->by_access = from_pairs(b, l);
	if (!l->by_access) {
		memset(l->cycles, NOT_NEEDED, sizeof(l->cycles)); /* what pairs that do not fit have left */
		l->by_access = from_rules(b, l) || from_transfer(b, l) || from_conditional_move(b, l) ||
			from_wide_product(b, l);
	}
	for (unsigned i = 0; l->by_access && i < l->info->access_count; i++)
		for (unsigned o = 0; o < l->info->access_count; o++)
			if (l->cycles[i][o] > l->out[o])
				l->out[o] = l->cycles[i][o];
}

bool gus_program_awaits(const struct lowered *l, unsigned access)
{
	if (l->unneeded >> access & 1)
		return false;
	return gus_program_reads(&l->info->access[access]) || (l->by_access && (l->awaited >> access & 1));
}

/* Figures measure what depends on what, but not always all of it: what no result is said to need is taken to be needed
 * by all, which is late rather than early. */
bool gus_program_needs(const struct lowered *l, uint32_t outs, unsigned access)
{
	bool any = false;

	if (!l->by_access)
		return true;
	for (unsigned o = 0; o < l->info->access_count; o++) {
		if (!(l->info->access[o].use & GUS_ACCESS_WRITE))
			continue;
		if ((outs >> o & 1) && l->cycles[access][o] >= 0)
			return true;
		any |= l->cycles[access][o] >= 0;
	}
	return !any;
}

int gus_program_lateness(const struct lowered *l, uint32_t outs, unsigned access)
{
	const struct gus_insn_access *a = &l->info->access[access];
	int late = INT16_MAX;

	/* What only keeps the rest of a register is merged at the end. */
	if (!l->by_access && (a->use & GUS_ACCESS_KEEP) && !(a->use & GUS_ACCESS_READ) && l->latency > GUS_UARCH_CENTI)
		return (int)(l->latency / GUS_UARCH_CENTI) - 1;
	for (unsigned o = 0; l->by_access && o < l->info->access_count; o++)
		if ((outs >> o & 1) && l->cycles[access][o] >= 0 && l->out[o] - l->cycles[access][o] < late)
			late = l->out[o] - l->cycles[access][o];
	return late == INT16_MAX ? 0 : late;
}

/* By what the matrix says of a result; where it says nothing of this one, by the row. */
unsigned gus_program_latency(const struct lowered *l, unsigned access, unsigned latency)
{
	return l->by_access && l->out[access] >= 0 ? (unsigned)l->out[access] : latency;
}

/* A result that needs fewer inputs than others must not wait for theirs: it belongs to a uop of its own. Only if some
 * result needs all inputs: then there is a uop that has them all, and one before it that has fewer. */
uint32_t gus_program_early(const struct lowered *l)
{
	uint32_t needs[GUS_INSN_ACCESSES] = { 0 }, all = 0, early = 0;
	bool some = false;

	if (!l->by_access || l->halves)
		return l->halves;
	for (unsigned o = 0; o < l->info->access_count; o++) {
		for (unsigned i = 0; i < l->info->access_count; i++)
			if (l->cycles[i][o] >= 0)
				needs[o] |= 1u << i;
		all |= needs[o];
	}
	for (unsigned o = 0; o < l->info->access_count; o++) {
		some |= needs[o] == all;
		if (needs[o] && needs[o] != all)
			early |= 1u << o;
	}
	return some ? early : 0;
}
