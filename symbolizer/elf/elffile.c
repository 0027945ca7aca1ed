/* SPDX-License-Identifier: MIT */
#include "symbolizer/elf/elffile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/foreign_file.h"

static void read_segments(struct gus_elf *e)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && gelf_getphdr(e->elf, (int)i, &p); i++)
		if (p.p_type == PT_LOAD)
			gus_vec_push(&e->segments, (struct gus_segment){ p.p_offset, p.p_vaddr, p.p_filesz, p.p_memsz,
									 (p.p_flags & PF_X) != 0 });
}

static void read_build_id(struct gus_elf *e)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(e->elf, &id);

	if (size > 0) {
		e->build_id = id;
		e->build_id_size = (size_t)size;
	}
}

/* Takes e, whose bytes are there; gives it back ready, or frees it. */
static struct gus_elf *start(struct gus_elf *e, struct gus_error *err)
{
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	e->elf = e->size >= EI_NIDENT ? elf_memory((char *)e->bytes, e->size) : NULL;
	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &header)) {
		gus_fail(err, GUS_E_CORRUPT, "cannot read symbols of %s: it is no ELF file", e->path);
		gus_elf_close(e);
		return NULL;
	}
	e->machine = header.e_machine;
	read_segments(e);
	read_build_id(e);
	return e;
}

/* A descriptor, or -1. */
static int open_file(const char *path, const struct gus_rights *rights, const struct gus_file_identity *identity,
		     struct stat *st, struct gus_error *err)
{
	int fd = gus_foreign_open(path, rights, st, err);

	if (fd < 0 || !identity || gus_foreign_is(fd, st, identity))
		return fd;
	close(fd);
	return gus_fail(err, GUS_E_NOT_FOUND, "%s is not the file that was mapped: it was replaced, or the process "
			"saw another one there", path);
}

struct gus_elf *gus_elf_open_as(const char *path, const struct gus_rights *rights,
				const struct gus_file_identity *identity, struct gus_error *err)
{
	struct gus_elf *e;
	struct stat st;
	void *bytes;
	int fd = open_file(path, rights, identity, &st, err);

	if (fd < 0)
		return NULL;
	if (st.st_size < EI_NIDENT) {
		close(fd);
		gus_fail(err, GUS_E_CORRUPT, "cannot read symbols of %s: it is no ELF file", path);
		return NULL;
	}
	/* Private and writable: libelf notes in place what it has decompressed. */
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		gus_fail_errno(err, errno, "cannot map %s", path);
	close(fd);
	if (bytes == MAP_FAILED)
		return NULL;
	e = gus_zalloc(sizeof(*e));
	e->path = gus_strdup(path);
	e->bytes = bytes;
	e->size = (size_t)st.st_size;
	e->mapped = true;
	e->owner = st.st_uid;
	e->changed = st.st_mtime;
	return start(e, err);
}

struct gus_elf *gus_elf_open(const char *path, struct gus_error *err)
{
	return gus_elf_open_as(path, NULL, NULL, err);
}

struct gus_elf *gus_elf_copy(const char *name, const void *bytes, size_t size, struct gus_error *err)
{
	struct gus_elf *e = gus_zalloc(sizeof(*e));

	e->path = gus_strdup(name);
	e->bytes = gus_alloc(size);
	if (size)
		memcpy(e->bytes, bytes, size);
	e->size = size;
	return start(e, err);
}

void gus_elf_close(struct gus_elf *e)
{
	if (!e)
		return;
	if (e->elf)
		elf_end(e->elf);
	if (e->mapped)
		munmap(e->bytes, e->size);
	else
		free(e->bytes);
	gus_vec_free(&e->segments);
	free(e->path);
	free(e);
}

bool gus_elf_address(const struct gus_elf *e, uint64_t offset, uint64_t *address)
{
	const struct gus_segment *found = NULL;

	/* Segments may share a page of the file; code is what is asked about. */
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct gus_segment *s = &e->segments.v[i];

		if (offset >= s->offset && offset - s->offset < s->file_size && (!found || s->executable))
			found = s;
	}
	if (found)
		*address = found->vaddr + (offset - found->offset);
	return found != NULL;
}

bool gus_elf_executable(const struct gus_elf *e, uint64_t address)
{
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct gus_segment *s = &e->segments.v[i];

		if (s->executable && address >= s->vaddr && address - s->vaddr < s->memory_size)
			return true;
	}
	return false;
}

static size_t without_zeros(const uint8_t *id, size_t size)
{
	while (size && !id[size - 1])
		size--;
	return size;
}

bool gus_build_id_equal(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
	size_t size = a && b ? without_zeros(a, a_size) : 0;

	return size && size == without_zeros(b, b_size) && memcmp(a, b, size) == 0;
}

Elf_Scn *gus_elf_section(const struct gus_elf *e, const char *name, GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(e->elf, &names) != 0)
		return NULL;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));) {
		const char *have = gelf_getshdr(s, header) ? elf_strptr(e->elf, names, header->sh_name) : NULL;

		if (have && strcmp(have, name) == 0)
			return s;
	}
	return NULL;
}
