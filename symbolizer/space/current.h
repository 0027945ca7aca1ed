/* SPDX-License-Identifier: MIT */
/* Which module an address belongs to while a recording runs: what gus_space says of the past, said of the present.
 *
 * Records come as the rings have them, so those of several CPUs are not in the order of time, and samples are asked
 * about a moment after they were taken: a process may have executed something else meanwhile. So each process's last
 * few maps are kept, by time. What is older than that, and processes that have ended, are forgotten when they take
 * room. What all of it may take is bounded (base/limits.h): mappings that find no room are left out and counted. */
#ifndef GUS_SYMBOLIZER_SPACE_CURRENT_H
#define GUS_SYMBOLIZER_SPACE_CURRENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/gusprof.pb-c.h"

struct gus_module;
struct gus_place;

struct gus_current;

/* keep_ns: how far back questions may go; older maps serve for as long as there is room for them. nodes: how many
 * pieces of maps there may be, GUS_LIMIT_CURRENT_NODES outside of tests. */
struct gus_current *gus_current_new(uint64_t keep_ns, size_t nodes);
void gus_current_free(struct gus_current *c);

/* Takes what it needs of a record (mmap, comm, fork, exit) and copies it. */
void gus_current_tell(struct gus_current *c, const Gusprof__Record *record);

/* Where an address was for a process at that time; false if no code was mapped there. An executable stack is no code:
 * what is called there jumps on, and returns from elsewhere. */
bool gus_current_find(struct gus_current *c, uint32_t pid, uint64_t time, uint64_t address, struct gus_place *place);

/* By number of a place. Stays where it is as long as c lives. */
const struct gus_module *gus_current_module(const struct gus_current *c, uint32_t number);

/* Mappings for which there was no room. */
uint64_t gus_current_left_out(const struct gus_current *c);

#endif
