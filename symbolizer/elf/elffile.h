/* SPDX-License-Identifier: MIT */
/* An ELF file (or image) held in memory: its bytes, its libelf handle, its segments and build id. Everything in it is
 * foreign; libelf checks the tables, and nothing here reads outside of the bytes. */
#ifndef GUS_SYMBOLIZER_ELF_ELFFILE_H
#define GUS_SYMBOLIZER_ELF_ELFFILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/alloc.h"

struct gus_error;
struct gus_file_identity;
struct gus_rights;

struct gus_segment {
	uint64_t offset, vaddr, file_size, memory_size;
	bool executable;
};

struct gus_elf {
	char *path;              /* where it was found, or what to call the image */
	uint8_t *bytes;
	size_t size;
	bool mapped;             /* bytes are a mapping, else the heap's */
	Elf *elf;                /* over bytes: what it hands out lives as long as this */
	unsigned machine;        /* EM_* */
	uid_t owner;             /* of the file: who chose the names in it */
	time_t changed;          /* 0 of an image */
	struct gus_vec(struct gus_segment) segments;
	const uint8_t *build_id; /* within bytes or libelf's; NULL if there is none */
	size_t build_id_size;
};

/* Maps the regular file at path. NULL with err if there is none or it is no ELF file. A file that another program cuts
 * short while it is mapped ends this one with SIGBUS, as with any mapped file. */
struct gus_elf *gus_elf_open(const char *path, struct gus_error *err);
/* The same of a name that a stranger chose: with these rights, and, if an identity is given, only of that very file. */
struct gus_elf *gus_elf_open_as(const char *path, const struct gus_rights *rights,
				const struct gus_file_identity *identity, struct gus_error *err);
/* The same over a copy of an image. */
struct gus_elf *gus_elf_copy(const char *name, const void *bytes, size_t size, struct gus_error *err);
void gus_elf_close(struct gus_elf *e);

/* From an offset in the file to the address that the file itself gives to it. False if no segment has it. */
bool gus_elf_address(const struct gus_elf *e, uint64_t offset, uint64_t *address);
bool gus_elf_executable(const struct gus_elf *e, uint64_t address);

/* True if both say so; trailing zeros do not count, since older recorders padded build ids to 20 bytes. */
bool gus_build_id_equal(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);

/* The section of that name with its header, or NULL. */
Elf_Scn *gus_elf_section(const struct gus_elf *e, const char *name, GElf_Shdr *header);

#endif
