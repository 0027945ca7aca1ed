/* SPDX-License-Identifier: MIT */
/* Numbers as DWARF and tables of exception frames write them, beyond those of base/cursor.h, whose varints are DWARF's
 * unsigned ones. */
#ifndef GUS_SYMBOLIZER_ELF_ENCODED_H
#define GUS_SYMBOLIZER_ELF_ENCODED_H

#include "base/cursor.h"

/* Signed, of variable length: at most ten bytes; what does not fit 64 bits is cut to them, as nothing depends on such
 * numbers. */
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

/* In the form that the low four bits of a DW_EH_PE_* say, extended by its sign if it has one; what it is relative to is
 * the caller's. wide: a machine of 64 bits. False if there is no such form, or the number is not there. */
bool gus_encoded_read(struct gus_cursor *c, unsigned encoding, bool wide, uint64_t *value);

#endif
