/* SPDX-License-Identifier: MIT */
/* Fuzz target of the instruction facade: any bytes as code of any ISA, end to end. The copy is as long as the
 * input, so that a read behind it is seen. Every way to ask must agree: lengths, the form's hash with its text, and
 * a decoder that remembers with one that does not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbolizer/insn/insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void check_lists(enum gus_isa isa, const struct gus_insn_info *info)
{
	const unsigned regs = isa == GUS_ISA_ARM64 ? (unsigned)GUS_A64_REGS : (unsigned)GUS_X86_REGS;

	demand(info->access_count <= GUS_INSN_ACCESSES && info->memory_count <= GUS_INSN_MEMORIES);
	demand(gus_insn_class_name(info->class) != NULL);
	demand((info->class == GUS_INSN_BAD) == !info->form);
	for (unsigned i = 0; i < info->access_count; i++) {
		demand(info->access[i].reg && info->access[i].reg < regs);
		demand(info->access[i].use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE));
	}
}

static size_t check(struct gus_insn_decoder *decoder, enum gus_isa isa, const uint8_t *bytes, size_t size)
{
	char form[GUS_INSN_FORM_MAX];
	struct gus_insn_info info;
	struct gus_insn insn;
	size_t length = gus_insn_analyse(isa, bytes, size, &info), n;
	const struct gus_insn_info *kept = gus_insn_decoder_get(decoder, bytes, size);

	demand(length <= size && !length == !kept);
	demand(gus_insn_decode(isa, bytes, size, 0x1000, &insn) == length);
	n = gus_insn_form_text(isa, bytes, size, form, sizeof(form));
	demand(n < sizeof(form));
	if (!length)
		return 0;
	demand(!memcmp(kept, &info, sizeof(info)));
	demand(info.length == length && info.form == (n ? gus_insn_form_hash(form, n) : 0));
	check_lists(isa, &info);
	return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum gus_isa isas[] = { GUS_ISA_X86_64, GUS_ISA_X86_64, GUS_ISA_X86_32, GUS_ISA_ARM64 };
	enum gus_isa isa = size ? isas[data[0] & 3] : GUS_ISA_X86_64;
	struct gus_insn_decoder *decoder;
	uint8_t *code;

	if (size < 2)
		return 0;
	size--;
	code = gus_alloc(size);
	memcpy(code, data + 1, size);
	decoder = gus_insn_decoder_new(isa, data[0] & 4 ? 3 : 0);
	for (size_t at = 0, length = 1; at < size && length; at += length)
		length = check(decoder, isa, code + at, size - at);
	gus_insn_decoder_free(decoder);
	free(code);
	return 0;
}
