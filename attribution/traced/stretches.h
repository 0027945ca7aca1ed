/* SPDX-License-Identifier: MIT */
/* Which stretches of a thread's run are timed, and what the whole of it takes by them. Caches, the predictor and the
 * uop cache see every access and branch; only the engine, which is by far the dearest, is run on a sample: stretches of
 * 16,384 ops, of which the first 64 are all timed, then one in 2, and ever fewer, each at a place by chance (by a fixed
 * sequence) in its turn. Where there is a gap before a stretch the engine is first run for 2,048 ops that do not count,
 * so that its windows are full (functional warming, detailed warming and measurement, as in Wunderlich, Wenisch,
 * Falsafi and Hoe, "SMARTS", ISCA 2003):
 *
 *	ops        0 ........... 1 M .........................
 *	           |############|##  w##    ..    w##  .. w##         ##: timed; ..: caches and predictor alone
 *	                              w: the engine is warmed
 *
 * What a block takes depends above all on whether a misprediction led to it, and on where its accesses hit, and both
 * are known of every execution. So the estimate is stratified after the fact: a block has a cell for each of these
 * cases, and executions that were not timed take what the nearest ones before and behind did that were, at least 32 of
 * each where there are so many. Not what all of them did until then: a run begins with what is dear, and that leant the
 * regions of perl by up to 2.7 %. A lane has the same ratio to the nominal machine in the gaps of a region as in the
 * stretches behind them.
 *
 * Errors follow from how far stretches are from what the cells said of them before. Regions whose time or speedups are
 * not known well enough by that, and code that is new, are hungry: while nothing is timed their ops are counted, and
 * when these are an eighth of a chunk a stretch is timed out of turn. That is the error of sampling alone: what differs
 * because caches have another clock in gaps is not in it (tests/accuracy/lanes). Where nothing was left out
 * (gus_stretches_sampled) the engine's own figures are exact, and nobody asks here. */
#ifndef GUS_ATTRIBUTION_TRACED_STRETCHES_H
#define GUS_ATTRIBUTION_TRACED_STRETCHES_H

#include <stdbool.h>

#include "base/alloc.h"
#include "model/stream/types.h"

enum gus_stretch { GUS_STRETCH_SKIPPED, GUS_STRETCH_WARMING, GUS_STRETCH_TIMED };
/* Behind the lanes: the nominal machine with the other end's caches, and by the core engine, if they are followed. */
enum { GUS_STRETCHES_OTHER = GUS_STREAM_LANES, GUS_STRETCHES_CORE, GUS_STRETCHES_LANES,
       GUS_STRETCHES_WHOLE = UINT32_MAX - 1 };

/* Cases of a block: 2 * how far its farthest access went (a page walk is as far as memory), plus 1 after a
 * misprediction. */
enum { GUS_STRETCHES_CASES = 2 * GUS_HITS };
enum { GUS_STRETCHES_FEW = 64 };        /* timings of a block that are too few to go on without */
/* What each execution needs of a case stands apart from the rest, so that it fits into the cache with that of all
 * other blocks. A span is of as many stretches as it takes to time a few executions. */
struct gus_stretch_cell {
	double mean;                    /* cycles of one that was timed; 0: none was */
	uint64_t waiting;               /* executions of the span that were not timed */
};
struct gus_stretch_timed {
	uint64_t timed;                 /* executions */
	double cycles;                  /* of all executions but those of the present span */
	uint64_t told;                  /* of those that wait, what regions stand for already */
	uint64_t now, last;             /* timed in the span and in the one before, and their cycles */
	double now_cycles, last_cycles;
};
struct gus_stretch_block {
	uint64_t executed, timed;
	uint32_t region;                /* once it was timed */
	bool touched;                   /* by the present stretch */
	struct gus_stretch_cell cells[GUS_STRETCHES_CASES];
};
struct gus_stretch_cases { struct gus_stretch_timed of[GUS_STRETCHES_CASES]; };

/* A region, and the whole: its time in stretches, by lane; what of it is needed for errors. */
struct gus_stretch_region {
	double before[GUS_STRETCHES_LANES], now[GUS_STRETCHES_LANES]; /* at the ends of the last stretches */
	double weighted[GUS_STRETCHES_LANES];
	/* Sums of products by stretch, each by the square of its weight. */
	double squares[GUS_STRETCHES_LANES], products[GUS_STRETCHES_LANES];
	double cycles, expected;        /* nominal, in the present stretch; what cells said before it */
	double stands;                  /* what was not timed in the gap before it */
	double variance;                /* the same of what is between the two */
	double timed, off;              /* in all stretches: nominal cycles; squares of what is between the two */
	uint32_t visits;                /* stretches that touched it */
	bool touched;                   /* by the present stretch */
};

/* Owned by one thread; to be read here and changed by the functions below. */
struct gus_stretches {
	enum gus_stretch now;
	int64_t left;                   /* ops until another one */
	int64_t rest;                   /* of a gap, once what is timed out of turn is over */
	uint32_t after;                 /* stretches of the turn that come after its timed one */
	bool forced;                    /* out of turn */
	uint64_t random, regular;       /* regular: stretches timed in turn */
	uint64_t hungry;                /* ops of hungry blocks since something was timed */
	uint64_t ops, timed, stretches; /* run; timed and counted, in so many */
	struct gus_vec(uint32_t) numbers; /* by block: 1 + its place in blocks; 0: not executed yet */
	struct gus_vec(struct gus_stretch_block) blocks;
	struct gus_vec(struct gus_stretch_cases) cases; /* beside blocks */
	struct gus_vec(double) op_cycles;
	struct gus_vec(struct gus_stretch_region *) regions;
	struct gus_vec(bool) enough;    /* by region: is known of it */
	struct gus_stretch_region whole;
	struct gus_vec(uint32_t) touched; /* regions; and places in blocks */
	struct gus_vec(uint32_t) blocks_touched;
};

/* Freed with gus_stretches_free. */
struct gus_stretches *gus_stretches_new(void);
void gus_stretches_free(struct gus_stretches *s);

/* Whether anything was left out. */
static inline bool gus_stretches_sampled(const struct gus_stretches *s)
{
	return s && s->timed != s->ops;
}

struct gus_stretch_block *gus_stretches_add(struct gus_stretches *s, uint32_t block);
static inline struct gus_stretch_block *gus_stretches_of(struct gus_stretches *s, uint32_t block)
{
	if (block < s->numbers.n && s->numbers.v[block])
		return &s->blocks.v[s->numbers.v[block] - 1];
	return gus_stretches_add(s, block);
}
/* Whether more has to be known of a block before it may be left out. */
static inline bool gus_stretches_hungry(const struct gus_stretches *s, const struct gus_stretch_block *b)
{
	return b->timed < GUS_STRETCHES_FEW || !s->enough.v[b->region];
}

/* A block of so many ops is executed, as one of the cases. Returns what it is expected to take, in cycles. */
static inline double gus_stretches_execute(struct gus_stretches *s, uint32_t block, unsigned which, uint32_t ops)
{
	struct gus_stretch_block *b = gus_stretches_of(s, block);

	b->executed++;
	b->cells[which].waiting++;
	s->hungry += s->now == GUS_STRETCH_SKIPPED && gus_stretches_hungry(s, b) ? ops : 0;
	return b->cells[which].mean;
}

/* So many ops were run, timed or not. True: what was timed until here is a whole stretch, whose regions are to be told
 * before anything else comes; then gus_stretches_next. */
bool gus_stretches_ran(struct gus_stretches *s, uint32_t ops);
void gus_stretches_next(struct gus_stretches *s);

/* An execution was timed: cycles from the retirement before it to that of its last op; and each of its ops. */
void gus_stretches_time(struct gus_stretches *s, uint32_t block, unsigned which, uint32_t region, double cycles);
void gus_stretches_time_op(struct gus_stretches *s, uint32_t op, double cycles);
/* What a region that was touched has taken since the beginning, by lane. */
void gus_stretches_region(struct gus_stretches *s, uint32_t region, const double cycles[GUS_STRETCHES_LANES]);

/* After the end. What all executions of a block take, in cycles; `otherwise` is what one takes if none was timed. */
double gus_stretches_block(const struct gus_stretches *s, uint32_t block, double otherwise);
/* Of an op, what was timed: of its block's time it has its share. */
double gus_stretches_op(const struct gus_stretches *s, uint32_t op);
/* Executions of a block for each that was timed. */
double gus_stretches_times(const struct gus_stretches *s, uint32_t block);
/* A region, or the whole, that takes so many cycles on the nominal machine: cycles by lane. And standard errors: of the
 * nominal cycles in lane 0, and of how much faster the others are (0.01: one percent). */
void gus_stretches_lanes(const struct gus_stretches *s, uint32_t region, double nominal,
			 double cycles[GUS_STRETCHES_LANES], double errors[GUS_STRETCHES_LANES]);

#endif
