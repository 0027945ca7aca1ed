/* SPDX-License-Identifier: MIT */
/* What a recording has, looked through before any of it is exported: which fields the samples of each event need, which
 * files were mapped, and what another format has no place for. */
#ifndef GUS_CLI_EXPORT_CONTENTS_H
#define GUS_CLI_EXPORT_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "collector/records/records.h"
#include "proto/gusprof.pb-c.h"

struct gus_error;
struct gus_reader;

/* Addresses of a module of the kernel's of which names were recorded. */
struct gus_export_module { char *name; uint64_t start, end; };

struct gus_contents {
	struct gus_vec(struct gus_records_layout) layouts; /* by event */
	struct gus_vec(uint32_t) counters; /* by event: which of its counters samples name, up to this one */
	uint64_t ids;                   /* all of them */
	uint64_t samples, strangers;    /* of events that the header has, and of others */
	uint64_t first_ns, last_ns;     /* of samples; 0 if there are none */
	bool switches, branches, stacks; /* there are some */
	/* The kernel: whether a mapping tells where it is; else where its names were. */
	bool kernel_mapped;
	uint64_t text_start, text_end;
	struct gus_vec(struct gus_export_module) modules;
	struct gus_strings paths;
	struct gus_index builds;        /* struct gus_contents_build */
	struct gus_index data;          /* struct gus_contents_data: what was mapped without being code */
	/* What perf.data has no place for. */
	bool turned;                    /* it was made of a file whose bytes stand the other way round */
	uint64_t kept, aux, marks, made, names, images, replayable, unsampled;
	bool governed;                  /* what recording cost, and how its rate was chosen */
};

struct gus_contents_build { uint32_t path, size; uint8_t id[20]; uint32_t kernel; };

struct gus_contents_data { uint64_t start, offset, pid; };

/* Whether the recording itself tells of this mapping of data, of whatever time. */
bool gus_contents_has_data(const struct gus_contents *s, const Gusprof__Mmap *m);
/* Reads all of it once. -1 only if the file cannot be read; then, too, it is to be freed. */
int gus_contents_make(struct gus_contents *s, struct gus_reader *reader, struct gus_error *err);
void gus_contents_free(struct gus_contents *s);

#endif
