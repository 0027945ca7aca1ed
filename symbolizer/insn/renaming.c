/* SPDX-License-Identifier: MIT */
/* Renaming: picks the ISA, and judges what came out. */
#include "symbolizer/insn/renaming.h"

#include <string.h>

#include "symbolizer/insn/private.h"

static const struct {
	uint8_t isa, file;
	uint8_t first, n;
} files[] = {
	{ GUS_ISA_X86_64, GUS_INSN_FILE_GENERAL, GUS_X86_RAX, 16 },
	{ GUS_ISA_X86_64, GUS_INSN_FILE_VECTOR, GUS_X86_V0, 32 },
	{ GUS_ISA_X86_64, GUS_INSN_FILE_MASK, GUS_X86_K0, 8 },
	{ GUS_ISA_ARM64, GUS_INSN_FILE_GENERAL, GUS_A64_X0, 32 }, /* with sp */
	{ GUS_ISA_ARM64, GUS_INSN_FILE_VECTOR, GUS_A64_V0, 32 },
	{ GUS_ISA_ARM64, GUS_INSN_FILE_MASK, GUS_A64_P0, 16 },
};

enum gus_insn_file gus_insn_file(enum gus_isa isa, unsigned reg)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i].isa == isa && reg - files[i].first < files[i].n)
			return files[i].file;
	return GUS_INSN_FILE_NONE;
}

unsigned gus_insn_operands(enum gus_isa isa, const void *bytes, size_t size,
			   struct gus_insn_operand operands[GUS_INSN_OPERANDS])
{
	switch (isa) {
	case GUS_ISA_X86_64:
		return gus_insn_x86_operands(bytes, size, operands);
	case GUS_ISA_ARM64:
		return gus_insn_arm64_operands(bytes, size, operands);
	default:
		return 0;
	}
}

/* A field may mean more than its operand (31 is sp or nothing, 4 an index byte), so what was asked for is looked for in
 * the result. */
static bool has_come_true(enum gus_isa isa, const struct gus_insn_operand *before, unsigned n, const uint8_t to[],
			  const uint8_t *out, size_t size)
{
	struct gus_insn_operand after[GUS_INSN_OPERANDS];

	if (gus_insn_operands(isa, out, size, after) != n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (after[i].reg != (to[i] ? to[i] : before[i].reg) ||
		    ((after[i].use ^ before[i].use) & (GUS_ACCESS_WRITE | GUS_ACCESS_ADDRESS)))
			return false;
	return true;
}

size_t gus_insn_renamed(enum gus_isa isa, const void *bytes, size_t size, const uint8_t to[GUS_INSN_OPERANDS],
			uint8_t out[GUS_INSN_BYTES])
{
	struct gus_insn_operand operands[GUS_INSN_OPERANDS];
	struct gus_insn_info before, after;
	unsigned n = gus_insn_operands(isa, bytes, size, operands);
	size_t length;

	for (unsigned i = 0; i < n; i++)
		if (to[i] && to[i] != operands[i].reg &&
		    (!operands[i].file || gus_insn_file(isa, to[i]) != operands[i].file))
			return 0;
	length = isa == GUS_ISA_ARM64 ? gus_insn_arm64_renamed(bytes, size, to, out)
				      : gus_insn_x86_renamed(bytes, size, to, out);
	if (!length || !gus_insn_analyse(isa, bytes, size, &before) || !before.form)
		return 0;
	if (gus_insn_analyse(isa, out, length, &after) != length || after.form != before.form ||
	    after.immediate != before.immediate)
		return 0;
	return has_come_true(isa, operands, n, to, out, length) ? length : 0;
}
