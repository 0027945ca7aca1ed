/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/encoded.h"

#include <dwarf.h>

enum { NO_FORM, FIXED, SIGNED, LEB, SIGNED_LEB };

static const struct { uint8_t kind, size; } forms[16] = {
	[DW_EH_PE_absptr] = { FIXED, 0 },
	[DW_EH_PE_uleb128] = { LEB, 0 },
	[DW_EH_PE_udata2] = { FIXED, 2 },
	[DW_EH_PE_udata4] = { FIXED, 4 },
	[DW_EH_PE_udata8] = { FIXED, 8 },
	[DW_EH_PE_sleb128] = { SIGNED_LEB, 0 },
	[DW_EH_PE_sdata2] = { SIGNED, 2 },
	[DW_EH_PE_sdata4] = { SIGNED, 4 },
	[DW_EH_PE_sdata8] = { SIGNED, 8 },
};

static uint64_t read_fixed(struct gus_cursor *c, size_t size)
{
	const uint8_t *bytes = gus_cursor_take(c, size);
	uint64_t value = 0;

	for (size_t i = 0; bytes && i < size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

bool gus_encoded_read(struct gus_cursor *c, unsigned encoding, bool wide, uint64_t *value)
{
	unsigned kind = forms[encoding & 0x0f].kind, size = forms[encoding & 0x0f].size;
	uint64_t sign;

	if (kind == NO_FORM)
		return false;
	if (!size)
		size = wide ? 8 : 4;
	sign = kind == SIGNED ? 1ull << (8 * size - 1) : 0;
	if (kind == LEB)
		*value = gus_cursor_varint(c);
	else if (kind == SIGNED_LEB)
		*value = (uint64_t)gus_leb_signed(c);
	else
		*value = (read_fixed(c, size) ^ sign) - sign;
	return !c->bad;
}
