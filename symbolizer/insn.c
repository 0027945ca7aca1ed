/* SPDX-License-Identifier: MIT */
#include "symbolizer/insn.h"

#include <Zydis/Zydis.h>
#include <capstone.h>
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	unsigned machine;
	enum gus_isa isa;
} machines[] = {
	{ EM_X86_64, GUS_ISA_X86_64 },
	{ EM_386, GUS_ISA_X86_32 },
	{ EM_AARCH64, GUS_ISA_ARM64 },
};

enum gus_isa gus_isa_of_machine(unsigned machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == machine)
			return machines[i].isa;
	return GUS_ISA_UNKNOWN;
}

static size_t bad(struct gus_insn *insn, size_t length)
{
	insn->length = (uint8_t)length;
	snprintf(insn->text, sizeof(insn->text), "(bad)");
	return length;
}

/* Setting up the decoder and the formatter fills two small structures: a fraction of what formatting one instruction
 * costs, and it spares a context that callers would have to carry. */
static size_t decode_x86(bool wide, const void *bytes, size_t size, uint64_t address, struct gus_insn *insn)
{
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZyanStatus status;

	ZydisDecoderInit(&decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	status = ZydisDecoderDecodeFull(&decoder, bytes, size, &decoded, operands);
	if (status == ZYDIS_STATUS_NO_MORE_DATA)
		return 0;
	if (!ZYAN_SUCCESS(status))
		return bad(insn, 1);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	status = ZydisFormatterFormatInstruction(&formatter, &decoded, operands, decoded.operand_count_visible,
						 insn->text, sizeof(insn->text), address, ZYAN_NULL);
	if (!ZYAN_SUCCESS(status))
		return bad(insn, decoded.length);
	insn->length = decoded.length;
	return decoded.length;
}

/* A Capstone handle is opened for each call: it may not be a global, and the text of a few thousand hot instructions
 * is all that a report asks for. */
static size_t decode_arm64(const void *bytes, size_t size, uint64_t address, struct gus_insn *insn)
{
	csh handle;
	cs_insn *decoded;
	size_t n;

	if (size < 4)
		return 0;
	if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle) != CS_ERR_OK)
		return bad(insn, 4);
	n = cs_disasm(handle, bytes, 4, address, 1, &decoded);
	if (n)
		snprintf(insn->text, sizeof(insn->text), "%s%s%.60s", decoded[0].mnemonic,
			 *decoded[0].op_str ? " " : "", decoded[0].op_str);
	if (n)
		cs_free(decoded, n);
	cs_close(&handle);
	insn->length = 4;
	return n ? 4 : bad(insn, 4);
}

size_t gus_insn_decode(enum gus_isa isa, const void *bytes, size_t size, uint64_t address, struct gus_insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	switch (isa) {
	case GUS_ISA_X86_64:
	case GUS_ISA_X86_32:
		return decode_x86(isa == GUS_ISA_X86_64, bytes, size, address, insn);
	case GUS_ISA_ARM64:
		return decode_arm64(bytes, size, address, insn);
	default:
		return size ? bad(insn, 1) : 0;
	}
}
