/* SPDX-License-Identifier: MIT */
/* ELF files that are made byte by byte, so that they may say what no linker would. */
#ifndef GUS_TESTS_UNIT_MADE_ELF_H
#define GUS_TESTS_UNIT_MADE_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_elf;

enum { MADE_ELF_TEXT = 0x1000, MADE_ELF_TEXT_SIZE = 0x1000, MADE_ELF_SECTIONS = 16 };

/* A file in the making. Section 1 has the code's addresses and no bytes. */
struct made_elf {
	struct gus_vec(uint8_t) bytes;
	Elf64_Shdr sections[MADE_ELF_SECTIONS];
	unsigned n;
	unsigned copies;        /* of the last header, which are added */
	unsigned segments;
	struct gus_vec(char) names;
};

struct made_elf made_elf_begin(void);
void made_elf_add(struct made_elf *m, const char *name, uint32_t type, uint64_t flags, const void *from, size_t size);
/* n functions, the i-th of them at MADE_ELF_TEXT + i, all with the name at that place of `strings`. */
void made_elf_add_symbols(struct made_elf *m, unsigned n, uint32_t name, const char *strings, size_t size);
/* Headers and names of sections: its bytes are whole then, and m's to free. */
void made_elf_end(struct made_elf *m);
/* Ends it as an image that is open, or as a file; m is of no use afterwards. */
struct gus_elf *made_elf_open(struct made_elf *m);
void made_elf_write(struct made_elf *m, const char *path);

#endif
