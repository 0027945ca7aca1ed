/* SPDX-License-Identifier: MIT */
/* The libraries that a program asks its loader for, and where that would look for them. */
#ifndef GUS_SYMBOLIZER_ELF_NEEDED_H
#define GUS_SYMBOLIZER_ELF_NEEDED_H

#include <stddef.h>

struct gus_elf;

#define GUS_NEEDED_MOST 256 /* of a file; large programs name some 100 */

/* Names as they stand in the file, which has to stay open. */
struct gus_needed {
	const char *library[GUS_NEEDED_MOST];
	size_t n;
	const char *path;         /* DT_RUNPATH, or DT_RPATH where there is none; NULL: neither */
};

void gus_elf_needed(struct gus_elf *e, struct gus_needed *needed);

/* The file that a loader would take for a library of the program at `program`, whose runpath that is (NULL: none): in
 * that, in LD_LIBRARY_PATH (NULL: not set), then in the usual folders. /etc/ld.so.conf may name more, in which nobody
 * looks here. NULL if it is in none of them. The caller frees it. */
char *gus_needed_find(const char *library, const char *program, const char *runpath, const char *library_path);

#endif
