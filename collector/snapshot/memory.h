/* SPDX-License-Identifier: MIT */
/* Copying the memory of another process that stands still. */
#ifndef GUS_COLLECTOR_SNAPSHOT_MEMORY_H
#define GUS_COLLECTOR_SNAPSHOT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/snapshot.h"

struct gus_error;
struct gus_late;
struct gus_pages_taker;

/* Room for pages, made before the pause, as the kernel takes as long to clear pages as to copy them. */
struct gus_room { uint8_t *bytes; size_t size; };

/* What is to be copied: all mappings and the runs of pages in them, as they are now. pagemap_only: not by the newer
 * way to ask which pages are there. */
int gus_memory_list(pid_t pid, bool pagemap_only, struct gus_snapshot *s, struct gus_error *err);
/* Copies the pages of all runs to the room, which is large enough. Runs that cannot be read lose their pages. */
int gus_memory_copy(pid_t pid, struct gus_snapshot *s, const struct gus_room *room, struct gus_error *err);
/* The same of runs that were put off, behind those that are in the room; all are in the order of their addresses
 * then, and about->late says how many bytes these are. */
int gus_memory_copy_late(pid_t pid, struct gus_snapshot *s, const struct gus_late *late, const struct gus_room *room,
			 struct gus_error *err);
/* Hands all pages to who takes them, those in the room and those that were put off; s has no runs then, and
 * about->bytes and about->late say how many bytes these were. */
int gus_memory_hand_over(pid_t pid, const struct gus_pages_taker *to, struct gus_snapshot *s,
			 const struct gus_late *late, const struct gus_room *room, struct gus_error *err);
/* Adds the pages that the kernel shows to all processes alike and lets nobody copy, from our own. */
void gus_memory_add_vvar(struct gus_snapshot *s, const struct gus_room *room);

#endif
