/* SPDX-License-Identifier: MIT */
/* Latencies by operand: which result needs which input, which input may come late, and when each result is there. */
#include <string.h>

#include "model/code/program_private.h"

static bool is_flag(const struct gus_uarch *u, unsigned reg)
{
	return u->isa == GUS_ISA_ARM64 ? reg == GUS_A64_NZCV : reg >= GUS_X86_CF && reg <= GUS_X86_SYSFLAGS;
}

/* Operands are numbered as uops.info does: registers in order, those of addresses left out, all flags together as the
 * last. Returns how many registers there are before the flags. */
static unsigned number_operands(const struct gus_uarch *u, const struct gus_insn_info *info, uint8_t number[])
{
	unsigned n = 0;

	for (unsigned i = 0; i < info->access_count; i++)
		if (!(info->access[i].use & GUS_ACCESS_ADDRESS) && !is_flag(u, info->access[i].reg))
			number[i] = (uint8_t)n++;
	for (unsigned i = 0; i < info->access_count; i++)
		if (!(info->access[i].use & GUS_ACCESS_ADDRESS) && is_flag(u, info->access[i].reg))
			number[i] = (uint8_t)n;
	return n;
}

static bool from_pairs(const struct gus_uarch *u, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	uint8_t number[GUS_INSN_ACCESSES] = { 0 };
	unsigned flags, most = 0, found = 0;

	if (!l->row || !l->row->pairs_n || (info->flags & GUS_INSN_SAME_REGS))
		return false;
	flags = number_operands(u, info, number);
	for (uint32_t k = 0; k < l->row->pairs_n; k++) {
		const struct gus_uarch_pair *pair = &u->pairs[l->row->pairs + k];

		if (pair->to_kind != GUS_UARCH_REGISTER)
			continue;
		most = pair->to > most ? pair->to : most;
		for (unsigned i = 0; pair->from_kind == GUS_UARCH_REGISTER && i < info->access_count; i++)
			for (unsigned o = 0; number[i] == pair->from && gus_program_reads(&info->access[i]) && o < info->access_count; o++)
				if (number[o] == pair->to && (info->access[o].use & GUS_ACCESS_WRITE)) {
					l->cycles[i][o] = (int16_t)((pair->cycles + GUS_UARCH_CENTI / 2) / GUS_UARCH_CENTI);
					found++;
				}
	}
	/* Two operands in one register are one access here: then the numbers do not fit. */
	return found && most <= flags;
}

/* From a general register to a vector register whose other elements are kept: those go into the last uop, the conversion
 * itself, which takes as long as one without the transfer. */
static bool from_conversion(const struct gus_uarch *u, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	const struct gus_uarch_form *form = gus_uarch_form_by_text(u, "CVTDQ2PS (XMM, XMM)");
	int16_t alone, whole = (int16_t)((l->latency + GUS_UARCH_CENTI / 2) / GUS_UARCH_CENTI);
	int to = -1;

	if (info->class != GUS_INSN_CONVERT || info->memory_count || !form || form->row == GUS_UARCH_NONE)
		return false;
	alone = (int16_t)(u->rows[form->row].latency / GUS_UARCH_CENTI);
	for (unsigned o = 0; o < info->access_count; o++)
		if ((info->access[o].use & GUS_ACCESS_WRITE) && info->access[o].reg >= GUS_X86_V0 && info->access[o].reg < GUS_X86_MM0)
			to = (int)o;
	for (unsigned i = 0; to >= 0 && i < info->access_count; i++)
		if (gus_program_reads(&info->access[i]))
			l->cycles[i][to] = info->access[i].reg >= GUS_X86_RAX && info->access[i].reg <= GUS_X86_R15 ? whole :
				alone < whole ? alone : whole;
	return to >= 0 && u->isa == GUS_ISA_X86_64;
}

/* Without such figures all results need all operands, but for a shift by a register: its flags stay what they were if the count
 * is zero, so they wait for the old ones, and its register does not. */
static bool from_rules(const struct gus_uarch *u, struct lowered *l)
{
	const struct gus_insn_info *info = l->info;
	bool conditional = false;

	for (unsigned i = 0; i < info->access_count; i++)
		conditional |= is_flag(u, info->access[i].reg) && (info->access[i].use & GUS_ACCESS_CONDITIONAL);
	if (info->class != GUS_INSN_SHIFT || !conditional)
		return false;
	for (unsigned i = 0; i < info->access_count; i++)
		for (unsigned o = 0; gus_program_reads(&info->access[i]) && o < info->access_count; o++)
			if ((info->access[o].use & GUS_ACCESS_WRITE) &&
			    (is_flag(u, info->access[o].reg) || !is_flag(u, info->access[i].reg)))
				l->cycles[i][o] = (int16_t)((l->latency + GUS_UARCH_CENTI / 2) / GUS_UARCH_CENTI);
	return true;
}

void gus_program_latencies(const struct gus_uarch *u, struct lowered *l)
{
	memset(l->cycles, 0xff, sizeof(l->cycles));
	memset(l->out, 0xff, sizeof(l->out));
	l->by_access = !l->idiom && l->info->class != GUS_INSN_BAD && from_pairs(u, l);
	if (!l->by_access && !l->idiom) {
		memset(l->cycles, 0xff, sizeof(l->cycles));
		l->by_access = from_rules(u, l) || from_conversion(u, l);
	}
	for (unsigned i = 0; l->by_access && i < l->info->access_count; i++)
		for (unsigned o = 0; o < l->info->access_count; o++)
			if (l->cycles[i][o] > l->out[o])
				l->out[o] = l->cycles[i][o];
}

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
	return !any; /* nobody is said to need it: what was measured is not all, so all do */
}

int gus_program_lateness(const struct lowered *l, uint32_t outs, unsigned access)
{
	int late = INT16_MAX;

	const struct gus_insn_access *a = &l->info->access[access];

	/* What only keeps the rest of a register is merged at the end. */
	if (!l->by_access && (a->use & GUS_ACCESS_KEEP) && !(a->use & GUS_ACCESS_READ) && l->latency > GUS_UARCH_CENTI)
		return (int)(l->latency / GUS_UARCH_CENTI) - 1;
	for (unsigned o = 0; l->by_access && o < l->info->access_count; o++)
		if ((outs >> o & 1) && l->cycles[access][o] >= 0 && l->out[o] - l->cycles[access][o] < late)
			late = l->out[o] - l->cycles[access][o];
	return late == INT16_MAX ? 0 : late;
}

unsigned gus_program_latency(const struct lowered *l, unsigned access, unsigned latency)
{
	return l->by_access && l->out[access] >= 0 ? (unsigned)l->out[access] : latency;
}

uint32_t gus_program_early(const struct lowered *l)
{
	uint32_t needs[GUS_INSN_ACCESSES] = { 0 }, all = 0, early = 0;

	if (!l->by_access)
		return 0;
	for (unsigned o = 0; o < l->info->access_count; o++) {
		for (unsigned i = 0; i < l->info->access_count; i++)
			if (l->cycles[i][o] >= 0)
				needs[o] |= 1u << i;
		all |= needs[o];
	}
	for (unsigned o = 0; o < l->info->access_count; o++)
		if (needs[o] && needs[o] != all)
			early |= 1u << o;
	for (unsigned o = 0; o < l->info->access_count; o++)
		if (needs[o] == all)
			return early;
	return 0;
}
