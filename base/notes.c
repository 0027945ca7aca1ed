/* SPDX-License-Identifier: MIT */
#include "base/notes.h"

#include <elf.h>
#include <string.h>

#include "base/cursor.h"

const uint8_t *gus_notes_build_id(const void *notes, size_t size, size_t *id_size)
{
	struct gus_cursor c = gus_cursor(notes, size);

	while (gus_cursor_left(&c) && !c.bad) {
		uint32_t name_size = gus_cursor_u32(&c), size_of_id = gus_cursor_u32(&c), type = gus_cursor_u32(&c);
		const uint8_t *name = gus_cursor_take(&c, ((size_t)name_size + 3) & ~(size_t)3);
		const uint8_t *id = gus_cursor_take(&c, size_of_id);

		if (id && type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0) {
			*id_size = size_of_id;
			return id;
		}
		if (gus_cursor_left(&c))
			gus_cursor_take(&c, -(size_t)size_of_id & 3);
	}
	return NULL;
}
