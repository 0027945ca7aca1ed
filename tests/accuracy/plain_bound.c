/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/plain_bound.h"

#include <string.h>

#include "model/code/program.h"

enum { ITERATIONS = 24, NOWHERE = -1 };

/* When a register is there, and which one of the first iteration its longest path began at. */
struct when { int time, from; };

static bool is_followed(const struct gus_insn_access *a)
{
	return (a->reg >= GUS_X86_RAX && a->reg <= GUS_X86_R15) || (a->reg >= GUS_X86_V0 && a->reg < GUS_X86_MM0);
}

static bool is_read_whole(const struct gus_insn_access *a)
{
	return is_followed(a) && a->reg != GUS_X86_RSP && (a->use & GUS_ACCESS_READ) &&
		!(a->use & (GUS_ACCESS_KEEP | GUS_ACCESS_HIGH));
}

static bool takes_no_time(const struct gus_insn_info *info)
{
	return (info->flags & (GUS_INSN_MOVE | GUS_INSN_STACK)) || info->class == GUS_INSN_NOP ||
		info->class == GUS_INSN_LEA ||
		(info->fuse_first == GUS_FUSE_ADD_SUB && (info->flags & GUS_INSN_IMMEDIATE));
}

static void run(const struct gus_insn_info *info, struct when *regs)
{
	bool constant = info->flags & (GUS_INSN_ZERO_IDIOM | GUS_INSN_ONES_IDIOM);
	struct when ready = { 0, NOWHERE };
	unsigned results = 0;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		results += (a->use & GUS_ACCESS_WRITE) && is_followed(a);
		if (is_read_whole(a) && regs[a->reg].from != NOWHERE && regs[a->reg].time >= ready.time)
			ready = regs[a->reg];
	}
	if (constant || results != 1)
		ready = (struct when){ 0, NOWHERE };
	ready.time += !takes_no_time(info);
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].use & GUS_ACCESS_WRITE)
			regs[info->access[i].reg] = info->access[i].use & GUS_ACCESS_HIGH ?
				(struct when){ 0, NOWHERE } : ready;
}

double plain_bound(const struct gus_program *p)
{
	struct when regs[GUS_INSN_REGS];
	double most = 0;

	if (p->isa != GUS_ISA_X86_64)
		return 0;
	for (int r = 0; r < GUS_INSN_REGS; r++)
		regs[r] = (struct when){ 0, r };
	for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
		for (uint32_t i = 0; i < p->insns_n; i++)
			run(&p->insns[i].info, regs);
		for (int r = 0; r < GUS_INSN_REGS; r++)
			if (regs[r].from == r && regs[r].time > most * iteration)
				most = (double)regs[r].time / iteration;
	}
	return most;
}
