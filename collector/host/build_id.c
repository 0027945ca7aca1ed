/* SPDX-License-Identifier: MIT */
#include "collector/host/build_id.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/limits.h"
#include "base/notes.h"

#define SEGMENTS_MAX 128

static bool read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
	return offset <= INT64_MAX && pread(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

static size_t id_in_notes(int fd, uint64_t offset, uint64_t size, uint8_t *id)
{
	uint8_t *notes = size ? gus_alloc(size) : NULL;
	size_t found = 0;
	const uint8_t *at;

	if (!notes)
		return 0;
	at = read_at(fd, offset, notes, size) ? gus_notes_build_id(notes, size, &found) : NULL;
	found = at && found <= GUS_BUILD_ID_MAX ? found : 0;
	if (found)
		memcpy(id, at, found);
	free(notes);
	return found;
}

/* Of little-endian ELF files, of either class: gusprof runs on no other machines. */
size_t gus_file_build_id(int fd, uint8_t *id)
{
	uint8_t head[64], segment[56];
	bool wide;
	struct gus_cursor c;
	uint64_t table, left = GUS_LIMIT_NOTES_MAPPED;
	unsigned n, each;
	size_t found = 0;

	if (!read_at(fd, 0, head, sizeof(head)) || memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_DATA] != ELFDATA2LSB)
		return 0;
	wide = head[EI_CLASS] == ELFCLASS64;
	c = gus_cursor(head + (wide ? 32 : 28), 8);
	table = wide ? gus_cursor_u64(&c) : gus_cursor_u32(&c);
	c = gus_cursor(head + (wide ? 54 : 42), 4);
	each = gus_cursor_u16(&c);
	n = gus_cursor_u16(&c);
	if (each != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) || n > SEGMENTS_MAX)
		return 0;
	for (unsigned i = 0; i < n && !found && read_at(fd, table + (uint64_t)i * each, segment, each); i++) {
		uint64_t offset, size;

		c = gus_cursor(segment, each);
		if (gus_cursor_u32(&c) != PT_NOTE)
			continue;
		c = gus_cursor(segment + (wide ? 8 : 4), 8);
		offset = wide ? gus_cursor_u64(&c) : gus_cursor_u32(&c);
		c = gus_cursor(segment + (wide ? 32 : 16), 8);
		size = wide ? gus_cursor_u64(&c) : gus_cursor_u32(&c);
		if (size > left)
			continue;
		left -= size;
		found = id_in_notes(fd, offset, size, id);
	}
	return found;
}
