/* SPDX-License-Identifier: MIT */
/* The top-down method from samples that say what a group of counters had counted by then (PERF_SAMPLE_READ with
 * PERF_FORMAT_GROUP). What the group counted from one such sample to the next of the same counters is told, and is
 * given to the later one: to its thread, and to the place where it was taken. That is inferred but where the counters
 * are a thread's own, for that thread; of a place it says what went on on the way to it, so code that is short against
 * the distance of samples has in its share what is around it.
 *
 * A recording has this in one of two ways. Gusprof's samples have all counts as they were read, with the times. Of
 * perf's recordings, as perf reads them, each member of the group has a sample of its own at the same moment, whose
 * period is what it counted since the one before: these are put together again.
 *
 * Which counts belong together is told by the kernel's ids. Values of an event that new threads inherit are each
 * thread's own (Linux 6.13 on; before, the kernel refuses it); else they are those of the counter, whoever runs. The
 * first values of a counter are what it counted since it was opened: a difference to zero, if it says that it was
 * wanted for no longer than the recording is old, and else a beginning only. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_SAMPLED_H
#define GUS_ATTRIBUTION_TOPDOWN_SAMPLED_H

#include "attribution/topdown/sums.h"
#include "base/index.h"
#include "proto/gusprof.pb-c.h"

struct gus_sample;
struct gus_topdown_recorded;

/* Cores of one kind: those of one table. */
struct gus_topdown_sampled_kind {
	struct gus_topdown *table;
	unsigned level;                 /* the deepest of which something is known */
	size_t events;                  /* of the table, of all levels; */
	bool *known;                    /* by these: the recording has it */
	size_t n;                       /* those that it has, in this order in all sums: */
	uint32_t *at;                   /* their places among all */
	bool by_thread;                 /* its counts are each thread's own */
	bool timed;                     /* and say how long their counters ran */
	struct gus_topdown_sums cells, total, stretches; /* by number of `add`; one; by part of the length */
	/* Private: the difference at hand, and whose it is. */
	uint64_t *change, enabled_ns, running_ns, time;
	uint32_t tid, cell;
	bool changed;
};

struct gus_topdown_sampled {
	struct gus_vec(struct gus_topdown_sampled_kind) kinds;
	uint64_t start_ns, length_ns;   /* of the recording */
	size_t parts;                   /* of that length */
	uint64_t differences;           /* that were added, */
	uint64_t begun;                 /* and readings that were only a beginning, */
	uint64_t backward;              /* or had values below those before */
	/* Private. */
	const Gusprof__Header *header;
	struct gus_vec(struct gus_topdown_place) places; /* by event of the recording */
	struct gus_index counters;      /* by leader and thread, and beside them where their last values are */
	struct gus_vec(size_t) last_at;
	struct gus_vec(uint64_t) last;
	struct gus_topdown_sampled_kind *current;
};

/* Looks at a recording whose samples may have counts; recorded: what its frames of them say, or NULL. parts: into how
 * many the time of so many ns is cut. NULL if there are no counts that a table knows. The header must outlive it. */
struct gus_topdown_sampled *gus_topdown_sampled_new(const Gusprof__Header *header,
						    const struct gus_topdown_recorded *recorded, uint64_t length_ns,
						    size_t parts);
void gus_topdown_sampled_free(struct gus_topdown_sampled *s);

/* Takes a sample, in the order of its counter. Whether there is a difference to be added. */
bool gus_topdown_sampled_take(struct gus_topdown_sampled *s, const struct gus_sample *sample);
/* Adds what was taken just now to the sum of that number, to the total and to its part of the time. */
void gus_topdown_sampled_add(struct gus_topdown_sampled *s, uint32_t cell);
/* To be called behind the last. */
void gus_topdown_sampled_settle(struct gus_topdown_sampled *s);

#endif
