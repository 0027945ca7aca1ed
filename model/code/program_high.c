/* SPDX-License-Identifier: MIT */
/* Second bytes of registers. Intel's cores up to Skylake rename ah, bh, ch and dh apart from the registers that they
 * are in. Who reads more than eight bits of such a register behind that makes the renamer insert a uop that puts them
 * together, which nothing else is issued beside (Peter Cordes, "How exactly do partial registers on Haswell/Skylake
 * perform?"; Abel and Reineke, uiCA: on ports 1 and 5, one cycle). Ice Lake has them in their registers.
 *
 *	movzx edx, word [rdi]
 *	and dh, 0x7f            dh is apart
 *	cmp edx, 33             a uop merges it, in a cycle of its own; then the comparison
 *
 * What the end of the code leaves holds at its beginning. */
#include "model/code/program_private.h"
#include "model/tables/uarch.h"

enum { LOW_BITS = 8, REGS = GUS_INSN_REGS };

static bool is_wide(const struct gus_insn_access *a)
{
	return !(a->use & GUS_ACCESS_HIGH) && a->bits > LOW_BITS;
}

/* The register with a byte apart that the instruction needs as a whole, or 0; and what is apart behind it. */
static unsigned step(bool *apart, const struct gus_insn_info *info)
{
	unsigned merged = 0;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if (apart[a->reg] && is_wide(a) && (a->use & (GUS_ACCESS_READ | GUS_ACCESS_ADDRESS | GUS_ACCESS_KEEP)))
			merged = a->reg;
	}
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if (is_wide(a))
			apart[a->reg] = false;
	}
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if ((a->use & GUS_ACCESS_WRITE) && (a->use & GUS_ACCESS_HIGH))
			apart[a->reg] = true;
	}
	return merged;
}

void gus_program_merge_high(struct builder *b, size_t from)
{
	bool apart[REGS] = { false };
	uint32_t group = gus_uarch_group(b->u, "p15");

	if (!b->rules.high_apart || group == GUS_UARCH_NONE)
		return;
	for (size_t i = from; i < b->ops.n; i++)
		step(apart, &b->insns.v[b->ops.v[i].insn].info);
	for (size_t i = from; i < b->ops.n; i++) {
		unsigned reg = step(apart, &b->insns.v[b->ops.v[i].insn].info);

		if (!reg)
			continue;
		gus_program_insert(b, &b->ops.v[i], reg, b->u->groups[group].ports);
		b->ops.v[i].flags |= GUS_OP_MERGES;
	}
}
