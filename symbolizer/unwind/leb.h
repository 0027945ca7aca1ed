/* SPDX-License-Identifier: MIT */
/* Signed numbers of variable length as DWARF writes them; unsigned ones are base/cursor.h's varints. */
#ifndef GUS_SYMBOLIZER_UNWIND_LEB_H
#define GUS_SYMBOLIZER_UNWIND_LEB_H

#include "base/cursor.h"

/* At most ten bytes; what does not fit 64 bits is cut to them, as nothing depends on such numbers. */
static inline int64_t gus_leb_signed(struct gus_cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = gus_cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (shift > 70)
			c->bad = true;
	} while (byte & 0x80 && !c->bad);
	if (byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

#endif
