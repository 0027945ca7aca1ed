/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/debugfile.h"

#include <elfutils/libdwelf.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/foreign_file.h"

#define ID_MAX 64

/* Most of the places that are looked at have no file. One that is there and cannot be opened is another matter: what it
 * has is missing. */
static struct gus_elf *open_found(const struct gus_search *search, const char *path, const struct gus_rights *rights)
{
	struct gus_error err = { 0 };
	struct gus_elf *e = gus_elf_open_as(path, rights, NULL, &err);

	if (!e && search->refused && !search->refused->code &&
	    (err.code == GUS_E_PERMISSION || gus_error_is_transient(&err)))
		*search->refused = err;
	return e;
}

struct gus_elf *gus_debugfile_by_id(const struct gus_search *search, const uint8_t *id, size_t size, const char *suffix)
{
	char hex[2 * ID_MAX + 1];

	if (size < 2 || size > ID_MAX)
		return NULL;
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	for (const char *const *dir = search->debug_dirs; *dir; dir++) {
		char *path = gus_format("%s%s/.build-id/%.2s/%s%s", search->symfs, *dir, hex, hex + 2, suffix);
		struct gus_elf *e = open_found(search, path, search->rights);

		free(path);
		if (e && gus_build_id_equal(e->build_id, e->build_id_size, id, size))
			return e;
		gus_elf_close(e);
	}
	return NULL;
}

/* Takes path. A build id is proof enough, and saves reading the whole file for its checksum. */
static struct gus_elf *open_linked(const struct gus_search *search, char *path, const struct gus_elf *of, uint32_t crc)
{
	struct gus_elf *e = open_found(search, path, search->rights);
	bool right;

	free(path);
	if (!e)
		return NULL;
	if (e->build_id && of->build_id)
		right = gus_build_id_equal(e->build_id, e->build_id_size, of->build_id, of->build_id_size);
	else
		right = crc32_z(0, e->bytes, e->size) == crc; /* the one of .gnu_debuglink is zlib's */
	if (right)
		return e;
	gus_elf_close(e);
	return NULL;
}

static struct gus_elf *beside(const struct gus_search *search, const struct gus_elf *e, const char *dir,
			      const char *link, uint32_t crc)
{
	struct gus_elf *found = open_linked(search, gus_format("%s%s/%s", search->symfs, dir, link), e, crc);

	if (!found)
		found = open_linked(search, gus_format("%s%s/.debug/%s", search->symfs, dir, link), e, crc);
	for (const char *const *root = search->debug_dirs; !found && *root; root++)
		found = open_linked(search, gus_format("%s%s%s/%s", search->symfs, *root, dir, link), e, crc);
	return found;
}

struct gus_elf *gus_debugfile_of(const struct gus_search *search, const struct gus_elf *e, const char *path)
{
	struct gus_elf *found = NULL;
	GElf_Word crc;
	const char *link;
	char *copy, *real;

	if (e->build_id)
		found = gus_debugfile_by_id(search, e->build_id, e->build_id_size, ".debug");
	link = found ? NULL : dwelf_elf_gnu_debuglink(e->elf, &crc);
	/* It is defined to be a name without directories. */
	if (!link || !*link || strchr(link, '/'))
		return found;
	copy = gus_strdup(path);
	found = beside(search, e, dirname(copy), link, crc);
	free(copy);
	/* /lib may be a link to /usr/lib, and the debug file be filed under the latter. */
	if (!found && !*search->symfs && (real = gus_foreign_realpath(path, search->rights))) {
		found = beside(search, e, dirname(real), link, crc);
		free(real);
	}
	return found;
}

struct gus_elf *gus_debugfile_shared(const struct gus_search *search, const struct gus_elf *e)
{
	GElf_Shdr header;
	Elf_Scn *scn = gus_elf_section(e, ".gnu_debugaltlink", &header);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	const char *name = data ? data->d_buf : NULL;
	const uint8_t *id;
	size_t length, size;
	struct gus_rights owner, rights;
	struct gus_elf *found;
	char *copy, *path;

	if (!name || (length = strnlen(name, data->d_size)) >= data->d_size)
		return NULL;
	id = (const uint8_t *)name + length + 1;
	size = data->d_size - length - 1;
	found = gus_debugfile_by_id(search, id, size, ".debug");
	if (found)
		return found;
	copy = gus_strdup(e->path);
	path = *name == '/' ? gus_format("%s%s", search->symfs, name) : gus_format("%s/%s", dirname(copy), name);
	gus_rights_of_user(&owner, e->owner, "the program's owner");
	rights = gus_rights_common(search->rights, &owner);
	found = open_found(search, path, &rights);
	free(copy);
	free(path);
	if (found && gus_build_id_equal(found->build_id, found->build_id_size, id, size))
		return found;
	gus_elf_close(found);
	return NULL;
}
