/* SPDX-License-Identifier: MIT */
/* The files of one module: the one that was mapped, and those where the rest of its symbols are. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_OBJECT_H
#define GUS_SYMBOLIZER_SYMBOLS_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/foreign_file.h"
#include "symbolizer/elf/debugfile.h"
#include "symbolizer/space/space.h"

struct gus_fetch;

struct gus_object {
	struct gus_elf *main;     /* what was mapped; NULL if it is not at hand */
	struct gus_elf *debug;    /* separate debug file, NULL until sought or if there is none */
	struct gus_elf *shared;   /* what .gnu_debugaltlink of the debug sections names */
	bool debug_sought, shared_sought;
	char *path;               /* where main was looked for */
	const uint8_t *build_id;  /* recorded; borrowed */
	size_t build_id_size;
	struct gus_file_identity identity; /* that it must have without a build id; inode 0: any */
	const struct gus_fetch *fetch; /* NULL: nobody is asked */
	char *trouble;            /* why main is missing, NULL if it is not */
	struct gus_error refused; /* of its files, the first that is there and did not open: no right, or transient */
};

/* Finds the module's file and makes sure that it is the one that was recorded: fd, if the caller has it open (it stays
 * the caller's), else what lies at its path. -1: nobody has. */
void gus_object_open(struct gus_object *o, const struct gus_search *search, const struct gus_module *module,
		     int fd);
/* The same for a module without a file, whose bytes the caller has. */
void gus_object_open_image(struct gus_object *o, const struct gus_module *module, const void *bytes, size_t size);
void gus_object_close(struct gus_object *o);

/* The separate debug file, sought at the first call; NULL if there is none. */
struct gus_elf *gus_object_debug(struct gus_object *o, const struct gus_search *search);
/* The file that has DWARF: main or the debug file; NULL if neither has. */
struct gus_elf *gus_object_dwarf(struct gus_object *o, const struct gus_search *search);
/* Why not all of what the files have was read, NULL if it was. */
const char *gus_object_cut(const struct gus_object *o);
/* The file that tells offsets from addresses, or NULL. */
const struct gus_elf *gus_object_code(const struct gus_object *o);

/* The vdso of this very process: right for every process of this boot. */
void gus_object_open_own_vdso(struct gus_object *o, const struct gus_module *module);
/* A vdso of any boot, by its build id: our own, or one that perf has kept. False, with trouble, if neither is it. */
bool gus_object_open_vdso(struct gus_object *o, const struct gus_search *search, const struct gus_module *module);

#endif
