/* SPDX-License-Identifier: MIT */
/* Words out of the copy of a stack. */
#ifndef GUS_SYMBOLIZER_UNWIND_VIEW_H
#define GUS_SYMBOLIZER_UNWIND_VIEW_H

#include <string.h>

#include "symbolizer/unwind/unwind.h"

/* So many bytes, at most 8, from that address on; false if they were not copied. */
static inline bool gus_unwind_read(const struct gus_unwind_view *view, uint64_t address, size_t size, uint64_t *value)
{
	uint64_t at = address - view->stack_at, word = 0;

	if (at > view->stack_bytes || view->stack_bytes - at < size)
		return false;
	memcpy(&word, (const uint8_t *)view->stack + at, size);
	*value = word;
	return true;
}

#endif
