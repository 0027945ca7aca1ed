/* SPDX-License-Identifier: MIT */
/* What a run did when: instructions, waiting, queues, mispredictions and regions over time, and the phases that it
 * falls into. Told op by op, in bounded memory, after the time-binned counters and code region labels that others made
 * for gem5.
 *
 * Time is cut into bins of one width, a power of two of ticks. A run that gets longer than all bins has pairs of them
 * merged, so that the width doubles; nothing is lost by that, and the same run always has the same bins. There are then
 * between half of GUS_PHASES_BINS and all of them; runs of few cycles have fewer, as no bin is narrower than
 * GUS_PHASES_NARROWEST.
 *
 * How many ops wait, execute and so on is kept as integrals over time (ops times ticks), to the tick: the sums over all
 * bins are the sums of what single ops took. Time is charged to regions from one retirement to the next: it belongs to
 * the op that retires at its end, so that regions add up to the time.
 *
 * A bin's label is the region that has the most of its time; labels are then smoothed, each by the most frequent one
 * around it (the median filter's counterpart for what has no order), and a phase is a run of bins of one label. */
#ifndef GUS_MODEL_WATCH_PHASES_H
#define GUS_MODEL_WATCH_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/insn/insn.h"

enum {
	GUS_PHASES_BINS = 2048, GUS_PHASES_TOP = 12,
	GUS_PHASES_NARROWEST = 1 << 15, /* ticks: six cycles and a half */
	GUS_PHASES_WINDOW = 9,          /* bins that labels are smoothed over, and series should be */
};

/* Lane 0's times, in ticks from the start of the run: 0 <= issue <= start <= complete <= retire, and no retirement
 * before an earlier op's. A store's way out may end after its retirement. */
struct gus_phases_op {
	int64_t issue, start, complete, retire;
	int64_t left;                   /* of a store: it has left the store buffer; not before its issue */
	uint32_t region;
	uint32_t line;                  /* of a mispredicted branch: its line's number; 0: not known */
	uint8_t class;                  /* enum gus_insn_class, of its first instruction */
	uint8_t instructions;           /* 2: fused */
	bool mispredicted, load, store;
};

/* The keys with the largest weights, the largest first. What is not among them is in others, so that all add up to what
 * was told; a weight is too small by others / (GUS_PHASES_TOP + 1) at most in a bin (Misra and Gries). */
struct gus_phases_top {
	struct { uint64_t weight; uint32_t key; } list[GUS_PHASES_TOP]; /* those without weight are none */
	uint64_t others;
};

/* A bin, or several in a row. Integrals are ops times ticks: divided by ticks, they are the mean number of ops. */
struct gus_phases_part {
	int64_t from, ticks;
	uint64_t instructions;          /* retired */
	uint64_t mispredicted;          /* branches, when they retired */
	uint64_t waiting[GUS_INSN_CLASSES]; /* issued and not started */
	uint64_t stalled[GUS_INSN_CLASSES]; /* complete and not retired */
	uint64_t executing;             /* started and not complete */
	/* in the load buffer, until they retire, and in the store buffer, until they have left */
	uint64_t loads, stores;
	struct gus_phases_top regions;  /* ticks */
	struct gus_phases_top lines;    /* mispredictions of lines that are known */
	uint32_t region;                /* the label */
};

struct gus_phase {
	size_t first, bins;
	struct gus_phases_part sum;
};

struct gus_phases_found {
	struct gus_phases_part *bins;
	size_t bins_n;
	int64_t width;                  /* ticks, of all but the last one */
	struct gus_phase *phases;
	size_t phases_n;
	unsigned window;                /* bins that labels were smoothed over */
	struct gus_phases_part all;     /* the whole run; its label has the most bins */
};

struct gus_phases;
struct gus_phases *gus_phases_new(void);
void gus_phases_free(struct gus_phases *p);
/* One op, in program order. */
void gus_phases_note(struct gus_phases *p, const struct gus_phases_op *op);
/* What there is so far; more can be noted after it. window is odd; a run of few bins is smoothed over fewer (one part
 * in 32 of it). The caller frees it with gus_phases_found_free. */
void gus_phases_find(struct gus_phases *p, unsigned window, struct gus_phases_found *found);
void gus_phases_found_free(struct gus_phases_found *found);

/* The class that waits most in a part; GUS_INSN_CLASSES if none waits at all. */
enum gus_insn_class gus_phases_waits(const struct gus_phases_part *part);
/* The median filter: out[i] is the median of in over window (odd) values around i, of fewer at both ends, where the
 * window shrinks to what lies on both sides. out may not be in. */
void gus_phases_smooth(const double *in, size_t n, unsigned window, double *out);

#endif
