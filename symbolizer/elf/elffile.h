/* SPDX-License-Identifier: MIT */
/* An ELF file (or image) held in memory: its bytes, its libelf handle, its segments and build id. Everything in it is
 * foreign; libelf checks the tables, and nothing here reads outside of the bytes.
 *
 * The bytes of a file are room as long as the file, into which only what is asked for is read, once, each block when it
 * is first needed. A mapping of the file would be less to do, but who owns the file can cut it short, which ends a
 * program that looks at the mapping with SIGBUS, or change a byte between the check of it and its use. So whoever looks
 * at bytes takes care that they were loaded: gus_elf_data, gus_elf_raw, gus_elf_load. */
#ifndef GUS_SYMBOLIZER_ELF_ELFFILE_H
#define GUS_SYMBOLIZER_ELF_ELFFILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/limits.h"

struct gus_error;
struct gus_file_identity;
struct gus_rights;

struct gus_segment {
	uint64_t offset, vaddr, file_size, memory_size;
	bool executable;
};

struct gus_elf {
	char *path;              /* where it was found, or what to call the image */
	uint8_t *bytes;          /* those that are not loaded are zeros */
	size_t size;
	uint8_t *loaded;         /* a bit for each block of a file; NULL of an image, which is whole */
	int fd;                  /* from which it is read, if it was opened so: it may have no name; -1 otherwise */
	struct stat stat;        /* of the file, by which it is known again when more of it is read; of an image 0 */
	Elf *elf;                /* over bytes: what it hands out lives as long as this */
	Elf_Data *names;         /* of sections */
	unsigned machine;        /* EM_* */
	struct gus_rights *rights; /* with which it is read; NULL: ours */
	struct gus_vec(struct gus_segment) segments;
	const uint8_t *build_id; /* within bytes or libelf's; NULL if there is none */
	size_t build_id_size;
	unsigned parts;          /* of a view: of so many parts; 0: bytes and what is loaded are its own */
	bool packed;             /* it has packed sections, which libelf unpacks in its handle */
	struct gus_vec(void *) unpacked; /* in place of sections that were packed in a way that libelf does not know */
	struct gus_budget read, work, made; /* by base/limits.h */
	struct gus_budget *total;           /* bytes that all files together may take; NULL where nobody asks */
	struct gus_error *refused; /* takes why the first read failed that need not have; NULL where nobody asks */
	const char *trouble;     /* why not everything could be read; NULL if nothing is wrong */
};

/* Opens the regular file at path. NULL with err if there is none or it is no ELF file. */
struct gus_elf *gus_elf_open(const char *path, struct gus_error *err);
/* The same of a name that a stranger chose: with these rights, and, if an identity is given, only of that very file. */
struct gus_elf *gus_elf_open_as(const char *path, const struct gus_rights *rights,
				const struct gus_file_identity *identity, struct gus_error *err);
/* The same of a regular file that the caller has open and may close afterwards; path is what it is called. */
struct gus_elf *gus_elf_open_fd(int fd, const char *path, struct gus_error *err);
/* The same over a copy of an image. */
struct gus_elf *gus_elf_copy(const char *name, const void *bytes, size_t size, struct gus_error *err);
void gus_elf_close(struct gus_elf *e);
/* The same bytes for another thread, so far as they are loaded, with a libelf handle of its own and one of `parts`
 * parts of what may still be spent on e, which must outlive it. NULL if there are packed sections: what libelf makes of
 * these is the handle's. */
struct gus_elf *gus_elf_view(const struct gus_elf *e, unsigned parts);

/* Takes care that bytes[offset .. offset + size) are there. False, with e->trouble, if they cannot be read. */
bool gus_elf_load(struct gus_elf *e, uint64_t offset, uint64_t size);
/* The checksum of all of the file (zlib's, that .gnu_debuglink has), which leaves nothing in memory. */
bool gus_elf_checksum(struct gus_elf *e, uint32_t *sum);

/* From an offset in the file to the address that the file itself gives to it. False if no segment has it. */
bool gus_elf_address(const struct gus_elf *e, uint64_t offset, uint64_t *address);
/* The same of data: where a page of the file is in several segments, it is of the one that has no code; and so is what
 * lies behind the segment's bytes in their last page, which is memory without an initial value. */
bool gus_elf_data_address(const struct gus_elf *e, uint64_t offset, uint64_t *address);
bool gus_elf_executable(const struct gus_elf *e, uint64_t address);

/* True if both say so; trailing zeros do not count, since older recorders padded build ids to 20 bytes. */
bool gus_build_id_equal(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);

/* The section of that name with its header, or NULL. */
Elf_Scn *gus_elf_section(const struct gus_elf *e, const char *name, GElf_Shdr *header);
/* The first section of that type. The gABI allows one SHT_SYMTAB and one SHT_DYNSYM, so others are left alone. */
Elf_Scn *gus_elf_table(const struct gus_elf *e, unsigned type, GElf_Shdr *header);
/* The name that the header of a section gives to it; "" if it has none that can be read. */
const char *gus_elf_section_name(const struct gus_elf *e, const GElf_Shdr *header);
/* What is in a section, in this machine's order of bytes or as it stands in the file, with at least one byte; else
 * NULL. */
Elf_Data *gus_elf_data(struct gus_elf *e, Elf_Scn *scn);
Elf_Data *gus_elf_raw(struct gus_elf *e, Elf_Scn *scn);
/* The same of the section of strings with that number. */
Elf_Data *gus_elf_strings(struct gus_elf *e, size_t section);
/* The string at that offset of them; NULL if it has no end, or is longer than names are. */
const char *gus_elf_string(struct gus_elf *e, const Elf_Data *strings, uint64_t at);

/* The trouble of those for which nothing was left of e->total. */
extern const char gus_elf_total[];
/* Takes units from a budget of e; where they are not there, e->trouble says of what there was too much. */
bool gus_elf_charge(struct gus_elf *e, struct gus_budget *budget, uint64_t units, const char *trouble);

#endif
