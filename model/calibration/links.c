/* SPDX-License-Identifier: MIT */
#include "model/calibration/links.h"

#include "model/calibration/emit.h"
#include "symbolizer/insn/renaming.h"

enum encoding { ANY, LEGACY, VEX };

/* In any registers, as they are renamed. roles: of each operand, d the result, s what it comes from, z the constant. A
 * row is taken if its style is what is asked for: 0 is any. */
static const struct {
	uint8_t isa, link;
	uint8_t encoding;       /* enum encoding */
	uint8_t flag;
	uint16_t bits;          /* of vectors, where they matter */
	uint8_t size;
	char roles[4];
	uint8_t bytes[8];
} templates[] = {
	{ GUS_ISA_X86_64, GUS_LINK_TO_VECTOR, LEGACY, 0, 0, 5, "ds", { 0x66, 0x48, 0x0f, 0x6e, 0xc0 } },
	{ GUS_ISA_X86_64, GUS_LINK_TO_VECTOR, VEX, 0, 0, 5, "ds", { 0xc4, 0xe1, 0xf9, 0x6e, 0xc0 } },
	{ GUS_ISA_X86_64, GUS_LINK_FROM_VECTOR, LEGACY, 0, 0, 5, "ds", { 0x66, 0x48, 0x0f, 0x7e, 0xc0 } },
	{ GUS_ISA_X86_64, GUS_LINK_FROM_VECTOR, VEX, 0, 0, 5, "ds", { 0xc4, 0xe1, 0xf9, 0x7e, 0xc0 } },
	{ GUS_ISA_X86_64, GUS_LINK_TO_MASK, ANY, 0, 0, 5, "ds", { 0xc4, 0xe1, 0xfb, 0x92, 0xc8 } },
	{ GUS_ISA_X86_64, GUS_LINK_FROM_MASK, ANY, 0, 0, 5, "ds", { 0xc4, 0xe1, 0xfb, 0x93, 0xc1 } },
	{ GUS_ISA_X86_64, GUS_LINK_TO_FLAGS, ANY, 0, 0, 3, "ss", { 0x48, 0x85, 0xc0 } },
	{ GUS_ISA_X86_64, GUS_LINK_FROM_FLAGS, ANY, GUS_X86_CF, 0, 4, "dz", { 0x48, 0x0f, 0x42, 0xc1 } },
	{ GUS_ISA_X86_64, GUS_LINK_FROM_FLAGS, ANY, GUS_X86_SZAP, 0, 4, "dz", { 0x48, 0x0f, 0x44, 0xc1 } },
	{ GUS_ISA_X86_64, GUS_LINK_FROM_FLAGS, ANY, GUS_X86_OF, 0, 4, "dz", { 0x48, 0x0f, 0x40, 0xc1 } },
	{ GUS_ISA_X86_64, GUS_LINK_ADD, ANY, 0, 0, 3, "ds", { 0x48, 0x01, 0xc8 } },
	{ GUS_ISA_X86_64, GUS_LINK_ZERO, ANY, 0, 0, 4, "d", { 0x48, 0x83, 0xe0, 0x00 } },
	{ GUS_ISA_X86_64, GUS_LINK_DIGITS, LEGACY, 0, 128, 3, "dz", { 0x0f, 0x56, 0xc1 } },
	{ GUS_ISA_X86_64, GUS_LINK_DIGITS, VEX, 0, 128, 4, "ddz", { 0xc5, 0xf8, 0x56, 0xc1 } },
	{ GUS_ISA_X86_64, GUS_LINK_DIGITS, VEX, 0, 256, 4, "ddz", { 0xc5, 0xfc, 0x56, 0xc1 } },
	{ GUS_ISA_X86_64, GUS_LINK_DIGITS, VEX, 0, 512, 6, "ddz", { 0x62, 0xf1, 0x7d, 0x48, 0xeb, 0xc1 } },
	{ GUS_ISA_ARM64, GUS_LINK_TO_VECTOR, ANY, 0, 0, 4, "ds", { 0x00, 0x00, 0x67, 0x9e } },
	{ GUS_ISA_ARM64, GUS_LINK_FROM_VECTOR, ANY, 0, 0, 4, "ds", { 0x00, 0x00, 0x66, 0x9e } },
	{ GUS_ISA_ARM64, GUS_LINK_TO_FLAGS, ANY, 0, 0, 4, "ss", { 0x1f, 0x00, 0x00, 0xea } },
	{ GUS_ISA_ARM64, GUS_LINK_FROM_FLAGS, ANY, 0, 0, 4, "dzz", { 0x20, 0x10, 0x81, 0x9a } },
	{ GUS_ISA_ARM64, GUS_LINK_ADD, ANY, 0, 0, 4, "dds", { 0x00, 0x00, 0x01, 0x8b } },
	{ GUS_ISA_ARM64, GUS_LINK_ZERO, ANY, 0, 0, 4, "ddd", { 0x00, 0x00, 0x20, 0x8a } },
	{ GUS_ISA_ARM64, GUS_LINK_DIGITS, ANY, 0, 0, 4, "ddz", { 0x00, 0x1c, 0xa1, 0x4e } },
};

static int template_of(const struct gus_link_style *style, enum gus_link link)
{
	for (size_t i = 0; i < sizeof(templates) / sizeof(*templates); i++)
		if (templates[i].isa == style->isa && templates[i].link == link &&
		    (!templates[i].flag || templates[i].flag == style->flag) &&
		    (!templates[i].bits || templates[i].bits == style->vector_bits) &&
		    (!templates[i].encoding || (templates[i].encoding == VEX) == style->vex))
			return (int)i;
	return -1;
}

enum gus_link gus_link_towards(enum gus_carrier from, enum gus_carrier to, enum gus_carrier *next)
{
	static const uint8_t out[GUS_CARRIERS] = {
		[GUS_CARRIER_NONE] = GUS_LINK_NONE, [GUS_CARRIER_ADDRESS] = GUS_LINK_NONE,
		[GUS_CARRIER_GENERAL] = GUS_LINK_NONE, [GUS_CARRIER_VECTOR] = GUS_LINK_FROM_VECTOR,
		[GUS_CARRIER_MASK] = GUS_LINK_FROM_MASK, [GUS_CARRIER_FLAGS] = GUS_LINK_FROM_FLAGS };
	static const uint8_t in[GUS_CARRIERS] = {
		[GUS_CARRIER_NONE] = GUS_LINK_NONE, [GUS_CARRIER_ADDRESS] = GUS_LINK_ADD,
		[GUS_CARRIER_GENERAL] = GUS_LINK_ADD, [GUS_CARRIER_VECTOR] = GUS_LINK_TO_VECTOR,
		[GUS_CARRIER_MASK] = GUS_LINK_TO_MASK, [GUS_CARRIER_FLAGS] = GUS_LINK_TO_FLAGS };

	if (from != GUS_CARRIER_GENERAL) {
		*next = GUS_CARRIER_GENERAL;
		return out[from];
	}
	*next = to;
	return in[to];
}

bool gus_link_emit(struct gus_micro *k, const struct gus_link_style *style, enum gus_link link, unsigned to,
		   unsigned from, unsigned constant)
{
	uint8_t regs[GUS_INSN_OPERANDS] = { 0 }, out[GUS_INSN_BYTES];
	int i = template_of(style, link);
	size_t size;

	if (i < 0)
		return false;
	for (unsigned r = 0; templates[i].roles[r]; r++)
		regs[r] = (uint8_t)(templates[i].roles[r] == 'd' ? to : templates[i].roles[r] == 's' ? from : constant);
	size = gus_insn_renamed(style->isa, templates[i].bytes, templates[i].size, regs, out);
	gus_emit_bytes(k, out, size);
	return size;
}

bool gus_link_form(const struct gus_link_style *style, enum gus_link link, char form[GUS_INSN_FORM_MAX])
{
	int i = template_of(style, link);

	return i >= 0 && gus_insn_form_text(style->isa, templates[i].bytes, templates[i].size, form,
					    GUS_INSN_FORM_MAX);
}
