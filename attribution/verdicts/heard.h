/* SPDX-License-Identifier: MIT */
/* What the core engine tells of ops and of their accesses, kept for detectors of pathologies: what each op waited for,
 * and how its accesses go through memory.
 *
 * Waits are those of Fields, Rubin and Bodik ("Focusing Processor Policies via Critical-Path Prediction", ISCA 2001):
 * of the inputs of an op it is the last to arrive that matters, and only if it came behind the op's issue. Followed
 * backwards from op to op, what is the last to arrive most times, such waits lead round in a circle where results are
 * carried around a loop. Through memory they lead from a load to the store whose bytes it read.
 *
 * Of addresses that the engine was not told there are no accesses. Memory is bounded by the size of the code. */
#ifndef GUS_ATTRIBUTION_VERDICTS_HEARD_H
#define GUS_ATTRIBUTION_VERDICTS_HEARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/machine/options.h"

struct gus_cache_config;
struct gus_core_listener;
struct gus_program;

enum { GUS_HEARD_EDGES = 3, GUS_HEARD_NONE = UINT32_MAX };

/* What an op waited for. */
struct gus_heard_edge {
	uint32_t from;                  /* op */
	uint8_t reg;                    /* by which; not meaningful if memory */
	bool memory;                    /* by memory, from a store */
	uint64_t times, loads;          /* loads: of them a load is in what was waited for */
	/* That the result took, summed over all times; of those with a load, whose misses are no matter of the
	 * others, apart. */
	double cycles, load_cycles;
};

struct gus_heard_op {
	uint64_t executed;
	uint64_t blocked, aliased;      /* loads put off by a store that overlaps, or seems to by its low 12 bits */
	uint32_t blocked_by, aliased_with; /* that store's op; GUS_HEARD_NONE: not known */
	struct gus_heard_edge edges[GUS_HEARD_EDGES]; /* the most frequent are kept; those without times are none */
};

/* Where the misses of an access go, of the sets of L1 and L2. */
enum { GUS_HEARD_SETS = 4096, GUS_HEARD_LINES = 16384 };
struct gus_heard_places {
	uint64_t misses[GUS_HITS];      /* beyond L1 that were followed, by where they hit */
	uint64_t sets[2][GUS_HEARD_SETS / 64]; /* bits; of larger caches several sets share one */
	uint64_t lines[GUS_HEARD_LINES / 64];  /* bits by hash: gus_heard_lines tells how many they are */
};

struct gus_heard_access {
	uint64_t accesses;
	uint64_t last;                  /* address */
	uint32_t bytes;                 /* of the last */
	int64_t stride;                 /* that which came in more than half of all, if any did */
	int64_t votes;                  /* private */
	uint64_t steady;                /* accesses that came as far behind the last as that was behind its last */
	int64_t before;                 /* private: the last distance */
	uint64_t splits, page_splits;   /* across two lines; of them two pages */
	struct gus_heard_places *places; /* NULL: none missed L1 */
};

struct gus_heard {
	const struct gus_cache_config *caches;
	struct gus_vec(struct gus_heard_op) ops;              /* by op of the program */
	struct gus_vec(struct gus_heard_access) accesses;     /* by access of the program */
	struct gus_vec(struct gus_heard_thread *) threads;
};

/* caches are borrowed. */
void gus_heard_init(struct gus_heard *h, const struct gus_cache_config *caches);
void gus_heard_free(struct gus_heard *h);
/* A listener of another thread, which lives until it leaves, or else as long as h, and tells beside, if that is not
 * NULL, all that it hears. */
const struct gus_core_listener *gus_heard_listen(struct gus_heard *h, const struct gus_program *program,
						 const struct gus_core_listener *beside);
/* Its thread has ended: the listener, one of h's, is freed, and what was heard stays. */
void gus_heard_leave(struct gus_heard *h, const struct gus_core_listener *listener);

/* NULL: nothing was heard of it. */
const struct gus_heard_op *gus_heard_op(const struct gus_heard *h, uint32_t op);
const struct gus_heard_access *gus_heard_access(const struct gus_heard *h, uint32_t memory);
/* The edge that most executions of the op waited for; NULL: fewer than half waited for the same. */
const struct gus_heard_edge *gus_heard_waits(const struct gus_heard *h, uint32_t op);
/* Distinct lines by the bits of places, which are linear counting: K. Whang and others, "A linear-time probabilistic
 * counting algorithm for database applications", TODS 15 (1990), section 3. Up to 3 % off below 16,384 lines. */
double gus_heard_lines(const uint64_t bits[GUS_HEARD_LINES / 64]);

#endif
