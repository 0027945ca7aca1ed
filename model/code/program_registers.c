/* SPDX-License-Identifier: MIT */
/* Registers as programs see them: which of them uops wait for, who keeps them up to date, and which file a result lies
 * in. The accesses are the architecture's (symbolizer/insn/insn.h); what a CPU makes of them is decided here. */
#include <limits.h>

#include "model/code/program.h"
#include "model/code/program_private.h"
#include "symbolizer/insn/insn.h"

bool gus_program_is_flag(const struct builder *b, unsigned reg)
{
	return b->rules.x86 ? reg >= GUS_X86_CF && reg <= GUS_X86_SYSFLAGS : reg == GUS_A64_NZCV;
}

bool gus_program_is_tracked(const struct builder *b, unsigned reg)
{
	if (!b->rules.x86)
		return reg != GUS_A64_PC && reg != GUS_A64_FPCR && reg != GUS_A64_FPSR && reg != GUS_A64_SYSTEM;
	return reg != GUS_X86_RIP && reg != GUS_X86_DF && reg != GUS_X86_SYSFLAGS && reg != GUS_X86_MXCSR &&
		reg != GUS_X86_FPCW && reg != GUS_X86_FPSW && reg != GUS_X86_SYSTEM &&
		!(reg >= GUS_X86_ES && reg <= GUS_X86_GS);
}

/* Where the second byte of a register has no name of its own it is a part like the first: who writes it keeps all else,
 * and so waits for it. Intel's cores from Haswell to Skylake have names for it (Peter Cordes, "How exactly do partial
 * registers on Haswell/Skylake perform", Stack Overflow); Ice Lake's lahf, which writes ah, waits for the lahf before
 * it (measured from outside: 3 cycles), and so does mov ah, cl on Zen 4 (timed here). */
void gus_program_forget_high(const struct builder *b, struct gus_insn_info *info)
{
	for (unsigned i = 0; b->rules.high_merged && i < info->access_count; i++)
		info->access[i].use &= (uint8_t)~GUS_ACCESS_HIGH;
}

/* Operations that read ah to dh take longer: the byte is moved to where the adders look for it. What has a row of its
 * own for that (moves, extensions) has the time of it there. */
bool gus_program_operates_high(const struct gus_insn_info *info)
{
	if (info->class != GUS_INSN_ALU && info->class != GUS_INSN_SHIFT)
		return false;
	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_HIGH) && (info->access[i].use & GUS_ACCESS_READ))
			return true;
	return false;
}

static enum gus_regfile file_of(const struct builder *b, unsigned reg)
{
	static const struct { uint8_t first, last, file; } files[][3] = {
		{ { GUS_X86_RAX, GUS_X86_R15, GUS_REGFILE_INT },
		  { GUS_X86_K0, GUS_X86_V0 - 1, GUS_REGFILE_MASK },
		  { GUS_X86_V0, GUS_X86_TMM0 - 1, GUS_REGFILE_VECTOR } }, /* with MMX and x87 */
		{ { GUS_A64_X0, GUS_A64_SP, GUS_REGFILE_INT },
		  { GUS_A64_P0, GUS_A64_FFR, GUS_REGFILE_MASK },
		  { GUS_A64_V0, GUS_A64_P0 - 1, GUS_REGFILE_VECTOR } },
	};
	const unsigned isa = b->rules.x86 ? 0 : 1;

	for (size_t i = 0; i < sizeof(files[isa]) / sizeof(*files[isa]); i++)
		if (reg >= files[isa][i].first && reg <= files[isa][i].last)
			return files[isa][i].file;
	return GUS_REGFILE_NONE;
}

unsigned gus_program_stack_pointer(const struct builder *b)
{
	return b->rules.x86 ? GUS_X86_RSP : GUS_A64_SP;
}

/* Whether it is the stack pointer that push, pop, call and ret move on their way. */
static bool is_moved_stack(const struct builder *b, const struct gus_insn_info *info, const struct gus_insn_access *a)
{
	return (info->flags & GUS_INSN_STACK) && a->reg == gus_program_stack_pointer(b);
}

bool gus_program_by_stack_engine(const struct builder *b, const struct gus_insn_info *info,
				 const struct gus_insn_access *a)
{
	return b->rules.stack_engine && is_moved_stack(b, info, a);
}

/* Whether it is rsi or rdi that a string instruction moves on. Repeated, it leaves them behind only at its end. */
static bool is_moved_index(const struct gus_insn_info *info, const struct gus_insn_access *a)
{
	if (info->class != GUS_INSN_STRING || (info->flags & GUS_INSN_REP) || !(a->use & GUS_ACCESS_WRITE))
		return false;
	for (unsigned i = 0; i < info->memory_count; i++)
		if (info->memory[i].base == a->reg)
			return true;
	return false;
}

bool gus_program_is_writeback(const struct builder *b, const struct gus_insn_info *info,
			      const struct gus_insn_access *a)
{
	if (b->rules.x86)
		return is_moved_stack(b, info, a) || is_moved_index(info, a);
	for (unsigned i = 0; i < info->memory_count; i++)
		if (info->memory[i].base == a->reg && (a->use & GUS_ACCESS_WRITE) && !(a->use & GUS_ACCESS_CONDITIONAL))
			return a->use & (GUS_ACCESS_ADDRESS | GUS_ACCESS_READ);
	return false;
}

/* x86's string instructions have one for each register, and more uops if they compute as well (scas, lods of a byte,
 * which is merged); its rsp is moved by the stack engine, or else comes with the access. On arm64 nothing else computes
 * in a load or store. */
unsigned gus_program_adders(const struct builder *b, const struct gus_insn_info *info)
{
	unsigned n = 0;

	if (b->rules.x86) {
		for (unsigned i = 0; i < info->access_count; i++)
			n += is_moved_index(info, &info->access[i]);
		return n;
	}
	if (info->class != GUS_INSN_LOAD && info->class != GUS_INSN_STORE)
		return 0;
	for (unsigned i = 0; i < info->access_count; i++)
		if (gus_program_is_writeback(b, info, &info->access[i]))
			return UINT_MAX;
	return 0;
}

/* All that the instruction writes, whoever of its uops does: registers are given out when it is renamed. */
void gus_program_count_results(const struct builder *b, const struct gus_insn_info *info, struct gus_op *op)
{
	bool flags = false, ints = false;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];
		enum gus_regfile file = file_of(b, a->reg);

		if (!(a->use & GUS_ACCESS_WRITE) || gus_program_by_stack_engine(b, info, a))
			continue;
		flags |= gus_program_is_flag(b, a->reg);
		ints |= file == GUS_REGFILE_INT;
		if (file)
			op->results[file]++;
	}
	/* Flags live in the entry of the result, or, of a comparison, in one of their own: the thesis' Table 7.8 gives
	 * a fused branch "GPR,test" one integer register. */
	if (flags && !ints)
		op->results[GUS_REGFILE_INT]++;
}
