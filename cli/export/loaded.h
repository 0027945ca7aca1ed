/* SPDX-License-Identifier: MIT */
/* What else of a file was mapped where a piece of its code was. Recordings of ours have mappings of code alone; perf
 * unwinds copied stacks by tables that lie in other segments, which it wants to have been mapped, too. The loader keeps
 * segments at the distances that the file gives them. */
#ifndef GUS_CLI_EXPORT_LOADED_H
#define GUS_CLI_EXPORT_LOADED_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/foreign_file.h"
#include "base/index.h"
#include "proto/gusprof.pb-c.h"

/* In whole pages. */
struct gus_loaded_segment { uint64_t offset, address, size; };

struct gus_loaded_file {
	struct gus_vec(struct gus_loaded_segment) code, data;
};

struct gus_loaded {
	struct gus_rights rights;       /* with which files are read that the recording names */
	struct gus_index files;         /* struct gus_loaded_key: once each */
	struct gus_strings names;
	struct gus_vec(struct gus_loaded_file) list; /* by number in files */
	uint64_t absent;                /* files that are not at hand, or are others than those that were mapped */
};

/* Zeros, with the rights of whoever named the files. */
void gus_loaded_init(struct gus_loaded *l, const struct gus_rights *rights);
void gus_loaded_free(struct gus_loaded *l);
/* Calls take for each segment without code beside this mapping of code, as a mapping of the same process and time; it
 * lives until take returns. Of a mapping without code, of which recordings of others tell, there is nothing beside. */
void gus_loaded_each(struct gus_loaded *l, const Gusprof__Mmap *code, void (*take)(void *context, Gusprof__Mmap *data),
		     void *context);

#endif
