/* SPDX-License-Identifier: MIT */
/* Processes that live already when a recording, or a further file of one, begins: the kernel tells of what is new only,
 * so /proc must say what there was. Which processes these are is known from the side band. */
#ifndef GUS_COLLECTOR_SESSION_LIVING_H
#define GUS_COLLECTOR_SESSION_LIVING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "collector/records/sideband.h"
#include "collector/target/target.h"

struct gus_kept;
struct gus_tids;

/* A file's build id, found once for each file. */
struct gus_file_id {
	uint8_t bytes[20];
	uint8_t size;         /* 0: it has none */
};

struct gus_living {
	struct gus_index pids;  /* those seen, some of which may have ended since */
	uint32_t crowd;         /* when there are more, those that have ended are forgotten */
	struct gus_index files; /* device and inode */
	struct gus_vec(struct gus_file_id) ids;
	struct gus_kept *kept;     /* borrowed; what is opened is given to it. NULL: nobody keeps it */
	bool remembers;            /* there will be a further file: past is kept */
	struct gus_sideband past;  /* mappings, names and forks of the present file */
	size_t process_most, most; /* bytes of the mappings of one process, of a description and of the past */
	uint64_t left_out;         /* records that there was no room for within these */
};

void gus_living_init(struct gus_living *l);
void gus_living_free(struct gus_living *l);

/* All processes of the target, as far as it has any now. */
void gus_living_add_target(struct gus_living *l, const struct gus_target *target);
void gus_living_add(struct gus_living *l, pid_t pid);
/* Takes note of processes that a record speaks of, and of the record. */
void gus_living_note(struct gus_living *l, const Gusprof__Record *record);

/* Appends what they are called, their threads, and where they have code mapped. What was there when the recording
 * began has start_ns for its time, so that it holds for every sample; what was born since then has now_ns, which
 * must have been taken before. boot_ns is start_ns on the clock that counts from boot. Of processes that have ended
 * since the last time, whose last samples may still be in the rings, the records of then are given again; then they
 * are forgotten. */
void gus_living_describe(struct gus_living *l, uint64_t start_ns, uint64_t boot_ns, uint64_t now_ns,
			 struct gus_sideband *sideband);

/* The threads of all of them; false if there are none. Its type is gus_task_lister's. */
bool gus_living_threads(struct gus_tids *tids, void *living);

#endif
