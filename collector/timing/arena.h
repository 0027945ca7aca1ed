/* SPDX-License-Identifier: MIT */
/* Memory that microbenchmarks work on: two arenas, of base pages and of 2 MiB pages, for the life of a process. Their
 * pages come when they are first needed and stay, so that those that follow each other work on the same ones. */
#ifndef GUS_COLLECTOR_TIMING_ARENA_H
#define GUS_COLLECTOR_TIMING_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#define GUS_ARENA_HUGE (2ull << 20)     /* a large page, and what arenas begin at a multiple of */

struct gus_arena {
	uint8_t *memory;
	uint64_t size, touched; /* bytes; those below touched have pages */
	int smaps;              /* of large pages given one by one: where the kernel says what they are; or -1 */
};

/* Bytes that a process may well ask for here: an eighth of what is available on the machine and in our memory cgroup,
 * but not more than a GiB; a multiple of GUS_ARENA_HUGE. 0 is too little; with errno it is not known. */
uint64_t gus_arena_most(void);

/* Addresses for size bytes, of base pages and of no others. size 0 if there are none. */
void gus_arena_open(struct gus_arena *a, uint64_t size);
/* The same of 2 MiB pages; size 0 if the kernel gives none. */
void gus_arena_open_huge(struct gus_arena *a, uint64_t size);
/* Writes to each page below end that is not there yet: what was only read would be one page of zeros. False if they are
 * large pages in name alone. */
bool gus_arena_touch(struct gus_arena *a, uint64_t end);

/* Bytes available, of the text of /proc/meminfo; 0 if it doesn't say. */
uint64_t gus_arena_available(const char *meminfo);
/* Bytes of large pages in the mapping that address is in, of the text of /proc/PID/smaps. */
uint64_t gus_arena_huge_in(const char *smaps, uint64_t address);

#endif
