/* SPDX-License-Identifier: MIT */
/* A snapshot: one thread of a process as it was at one moment, with the memory that it needs to go on from there. It is
 * frames in a recording (FORMAT.md, section 7): what it is, then its pages in ascending order.
 *
 * Pages that no frame has are zero, or those of the file that is mapped there. */
#ifndef GUS_PROTO_SNAPSHOT_H
#define GUS_PROTO_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "proto/gusprof.pb-c.h"

struct gus_error;
struct gus_reader;
struct gus_writer;

/* What a recording may hold, so that a reader's memory is bounded whatever the bytes say. */
#define GUS_SNAPSHOT_BYTES_MAX (1ull << 30)     /* of pages */
#define GUS_SNAPSHOT_MAPPINGS_MAX 65536
#define GUS_SNAPSHOT_ADDRESS_MAX (1ull << 56)   /* behind the last one that any machine of ours gives to programs */
#define GUS_SNAPSHOT_PAGE 4096                  /* runs are of whole pages of this size */

/* Machines, and what of their registers there is. Of x86-64: */
#define GUS_SNAPSHOT_X86_64 "x86_64"
#define GUS_SNAPSHOT_REGISTERS 216              /* struct user_regs_struct */
#define GUS_SNAPSHOT_STATE_MIN 576              /* x87 and SSE, and the header */
#define GUS_SNAPSHOT_STATE_MAX 16384
/* Of arm64: */
#define GUS_SNAPSHOT_ARM64 "aarch64"
#define GUS_SNAPSHOT_REGISTERS_ARM64 280        /* struct user_pt_regs, and TPIDR_EL0 */
#define GUS_SNAPSHOT_STATE_ARM64 528            /* struct user_fpsimd_state */

/* Pages that follow each other, in one mapping or in several. */
struct gus_snapshot_run {
	uint64_t address, size;
	size_t at;                      /* in bytes */
};

/* Where bytes of a snapshot may also be had from: a file from its beginning on. */
struct gus_snapshot_file {
	int fd;
	uint64_t from, size;            /* of the bytes */
};

struct gus_snapshot {
	Gusprof__Snapshot *about;       /* owned */
	struct gus_vec(struct gus_snapshot_run) runs;   /* ascending, apart */
	uint8_t *bytes;                 /* about->bytes of them; of what is mapped, more may be there */
	size_t mapped;                  /* bytes are a mapping of this size; 0: the heap's */
	/* All of the runs' bytes, each run's in one of them; borrowed. file[0].size 0: they are in no file. */
	struct gus_snapshot_file file[2];
};

void gus_snapshot_free(struct gus_snapshot *s);

/* Whether it keeps its own rules: what a reader may rely on. -1 with err. */
int gus_snapshot_check(const struct gus_snapshot *s, struct gus_error *err);

/* Adds its frames. -1 with err. */
int gus_snapshot_write(struct gus_writer *w, const struct gus_snapshot *s, struct gus_error *err);

/* The next snapshot of a recording, others' frames passed over: 1, and the caller frees s. 0 if there is none. -1 with
 * err: the recording was cut or is corrupt, or this one breaks its rules; s holds nothing. */
int gus_snapshot_read(struct gus_reader *r, struct gus_snapshot *s, struct gus_error *err);

#endif
