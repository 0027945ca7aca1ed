/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"

uint64_t gus_cursor_long_varint_(struct gus_cursor *c)
{
	const uint8_t *p = c->at;
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && p < c->end; shift += 7, p++) {
		if (shift == 63 && *p > 1)
			break;
		value |= (uint64_t)(*p & 0x7f) << shift;
		if (*p & 0x80)
			continue;
		c->at = p + 1;
		return value;
	}
	c->bad = true;
	c->at = c->end;
	return 0;
}

const char *gus_cursor_string(struct gus_cursor *c, size_t size, size_t *length)
{
	const char *text = (const char *)gus_cursor_take(c, size);

	*length = text ? strnlen(text, size) : 0;
	return text;
}
