/* SPDX-License-Identifier: MIT */
/* Dependences through memory: which load reads what which store wrote, how many iterations of a loop later, and whether
 * a store buffer could have forwarded it. Told access by access, in program order, with the addresses of a run.
 *
 * The bytes of the last GUS_CARRIED_RECENT stores are followed, as long as no other bytes took their places in a table
 * of GUS_CARRIED_WORDS words. A load belongs to the youngest store of any of its bytes; if that store has not written
 * all of them, the load is blocked: no store buffer that we know puts a value together from two places, so it waits
 * until the store has left. Of a string instruction that is longer than the table only a load's first part is looked
 * at, and a store ends all that was. */
#ifndef GUS_MODEL_WATCH_CARRIED_H
#define GUS_MODEL_WATCH_CARRIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GUS_CARRIED_RECENT = 4096, GUS_CARRIED_WORDS = 4096, GUS_CARRIED_PAIRS = 4096,
	GUS_CARRIED_DISTANCES = 8,      /* 0: the same iteration; 1: the one before; ... */
};

struct gus_carried_access {
	uint64_t address;
	uint64_t instruction;           /* instructions so far: what distances are counted in */
	/* entries of regions so far: equal for accesses of one stay in one innermost region */
	uint64_t entry;
	uint64_t iteration;             /* of it */
	uint32_t bytes;                 /* at least 1 */
	uint32_t op;                    /* its place in the code */
};

struct gus_carried_pair {
	uint32_t store, load;           /* ops */
	uint64_t times;
	uint64_t blocked;               /* of them */
	uint64_t distance[GUS_CARRIED_DISTANCES];
	uint64_t farther;               /* more iterations away, of the same stay */
	uint64_t outside;               /* the store was in another region, or in another stay in this one */
	uint64_t instructions;          /* between them, summed over all times; and the least */
	uint64_t instructions_least;
};

struct gus_carried;
struct gus_carried *gus_carried_new(void);
void gus_carried_free(struct gus_carried *c);
void gus_carried_store(struct gus_carried *c, const struct gus_carried_access *a);
void gus_carried_load(struct gus_carried *c, const struct gus_carried_access *a);
/* An instruction that does both loads first. What was written by someone else (the kernel, another thread): forget all
 * stores. */
void gus_carried_forget(struct gus_carried *c);

/* What was told so far. */
struct gus_carried_totals {
	uint64_t loads, stores;
	uint64_t carried;               /* loads that read what a recent store wrote */
	uint64_t blocked;               /* of them */
	uint64_t left_out;              /* of carried: of pairs that had to make room for others */
};
void gus_carried_totals(const struct gus_carried *c, struct gus_carried_totals *out);
/* Pairs by falling times, then by their ops, at most room of them; returns how many. Their times and left_out add up to
 * carried if room is GUS_CARRIED_PAIRS. */
size_t gus_carried_pairs(const struct gus_carried *c, struct gus_carried_pair *out, size_t room);
/* The distance in iterations that came most often; -1 if most came from farther away or outside. */
int gus_carried_distance(const struct gus_carried_pair *p);

#endif
