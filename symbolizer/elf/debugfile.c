/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/debugfile.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/foreign_file.h"

#define ID_MAX 64

static struct gus_elf *search_open(const struct gus_search *search, int fd, const char *path,
				   const struct gus_file_identity *identity, struct gus_error *err)
{
	struct gus_error why = { 0 };
	struct gus_elf *e = NULL;

	if (search->total && search->total->cut)
		gus_fail(&why, GUS_E_FULL, "cannot open %s: %s", path, gus_elf_total);
	else
		e = fd >= 0 ? gus_elf_open_fd(fd, path, &why) : gus_elf_open_as(path, search->rights, identity, &why);
	if (!e) {
		/* Most of the places that are looked at have no file. One that is there and cannot be opened is another
		 * matter: what it has is missing. */
		if (search->refused && !search->refused->code &&
		    (why.code == GUS_E_PERMISSION || gus_error_is_transient(&why)))
			*search->refused = why;
		if (err)
			*err = why;
		return NULL;
	}
	e->total = search->total;
	e->refused = search->refused;
	if (e->total)
		gus_budget_charge(e->total, sizeof(*e) + GUS_LIMIT_ELF_READ - e->read.left);
	return e;
}

struct gus_elf *gus_search_open(const struct gus_search *search, const char *path,
				const struct gus_file_identity *identity, struct gus_error *err)
{
	return search_open(search, -1, path, identity, err);
}

struct gus_elf *gus_search_open_fd(const struct gus_search *search, int fd, const char *path, struct gus_error *err)
{
	return search_open(search, fd, path, NULL, err);
}

/* False if it is no build id that files are filed by. */
static bool write_hex(char hex[2 * ID_MAX + 1], const uint8_t *id, size_t size)
{
	if (size < 2 || size > ID_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return true;
}

struct gus_elf *gus_debugfile_by_id(const struct gus_search *search, const uint8_t *id, size_t size, const char *suffix)
{
	char hex[2 * ID_MAX + 1];

	if (!write_hex(hex, id, size))
		return NULL;
	for (const char *const *dir = search->debug_dirs; *dir; dir++) {
		char *path = gus_format("%s%s/.build-id/%.2s/%s%s", search->symfs, *dir, hex, hex + 2, suffix);
		struct gus_elf *e = gus_search_open(search, path, NULL, NULL);

		free(path);
		if (e && gus_build_id_equal(e->build_id, e->build_id_size, id, size))
			return e;
		gus_elf_close(e);
	}
	return NULL;
}

char *gus_debugfile_kept_path(const struct gus_search *search, const uint8_t *id, size_t size, const char *what)
{
	char hex[2 * ID_MAX + 1];

	if (!search->build_ids || !write_hex(hex, id, size))
		return NULL;
	return gus_format("%s/.build-id/%.2s/%s/%s", search->build_ids, hex, hex + 2, what);
}

/* The folder is that of who asks, and of the recording only the digits of its build ids are in the path: so it is read
 * with our rights, whosesoever the recording is. */
struct gus_elf *gus_debugfile_kept(const struct gus_search *search, const uint8_t *id, size_t size, const char *what)
{
	char *path = gus_debugfile_kept_path(search, id, size, what);
	struct gus_search ours = *search;
	struct gus_elf *e;

	ours.rights = NULL;
	e = path ? gus_search_open(&ours, path, NULL, NULL) : NULL;
	free(path);
	if (!e || gus_build_id_equal(e->build_id, e->build_id_size, id, size))
		return e;
	gus_elf_close(e);
	return NULL;
}

/* Takes path. A build id is proof enough, and saves reading the whole file for its checksum. */
static struct gus_elf *open_linked(const struct gus_search *search, char *path, const struct gus_elf *of, uint32_t crc)
{
	struct gus_elf *e = gus_search_open(search, path, NULL, NULL);
	uint32_t sum;
	bool right;

	free(path);
	if (!e)
		return NULL;
	if (e->build_id && of->build_id)
		right = gus_build_id_equal(e->build_id, e->build_id_size, of->build_id, of->build_id_size);
	else
		right = !search->hurry && gus_elf_checksum(e, &sum) && sum == crc;
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

/* What .gnu_debuglink says: a name, and at the next multiple of four the checksum; NULL if there is none. */
static const char *linked_name(struct gus_elf *e, uint32_t *crc)
{
	GElf_Shdr header;
	Elf_Data *data = gus_elf_raw(e, gus_elf_section(e, ".gnu_debuglink", &header));
	const char *name = data ? data->d_buf : NULL;
	size_t length = name ? strnlen(name, data->d_size) : 0, at = (length + 1 + 3) / 4 * 4;
	struct gus_cursor c;

	if (!name || length > PATH_MAX || at > data->d_size || data->d_size - at < sizeof(*crc))
		return NULL;
	c = gus_cursor(name + at, sizeof(*crc));
	*crc = gus_cursor_u32(&c);
	if (elf_getident(e->elf, NULL)[EI_DATA] == ELFDATA2MSB)
		*crc = __builtin_bswap32(*crc);
	return name;
}

struct gus_elf *gus_debugfile_of(const struct gus_search *search, struct gus_elf *e, const char *path)
{
	struct gus_elf *found = NULL;
	uint32_t crc;
	const char *link;
	char *copy, *real;

	if (e->build_id)
		found = gus_debugfile_by_id(search, e->build_id, e->build_id_size, ".debug");
	link = found ? NULL : linked_name(e, &crc);
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

struct gus_elf *gus_debugfile_shared(const struct gus_search *search, struct gus_elf *e)
{
	GElf_Shdr header;
	Elf_Data *data = gus_elf_raw(e, gus_elf_section(e, ".gnu_debugaltlink", &header));
	const char *name = data ? data->d_buf : NULL;
	const uint8_t *id;
	size_t length, size;
	struct gus_rights owner, rights;
	struct gus_search of_owner = *search;
	struct gus_elf *found;
	char *copy, *path;

	if (!name || (length = strnlen(name, data->d_size)) >= data->d_size || length > PATH_MAX)
		return NULL;
	id = (const uint8_t *)name + length + 1;
	size = data->d_size - length - 1;
	found = gus_debugfile_by_id(search, id, size, ".debug");
	if (found)
		return found;
	copy = gus_strdup(e->path);
	path = *name == '/' ? gus_format("%s%s", search->symfs, name) : gus_format("%s/%s", dirname(copy), name);
	gus_rights_of_user(&owner, e->stat.st_uid, "the program's owner");
	rights = gus_rights_common(search->rights, &owner);
	of_owner.rights = &rights;
	found = gus_search_open(&of_owner, path, NULL, NULL);
	free(copy);
	free(path);
	if (found && gus_build_id_equal(found->build_id, found->build_id_size, id, size))
		return found;
	gus_elf_close(found);
	return NULL;
}
