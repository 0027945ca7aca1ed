/* SPDX-License-Identifier: MIT */
/* How far an estimate of time may be from what is true. A fit (spread.h) is made again, a number of times, as it would
 * have been had other samples been drawn and other things been believed before; how much its replicates differ is how
 * sure it is. Of a sum of cells the replicates are summed first, so that what one cell has too much and its neighbour
 * too little is no doubt about both.
 *
 * Samples. The time of a recording is cut into many short stretches, which are dealt out to slices in turn, and
 * neighbouring slices make pairs. In each replicate one slice of each pair counts twice and the other not at all; which
 * one, an orthogonal array says, so that what pairs have to do with each other by chance cancels (balanced half
 * samples: McCarthy 1969; Wolter, Introduction to Variance Estimation, chapter 3). What differs within pairs is by
 * chance, and so are samples in clumps no longer than a stretch, which widen intervals. What changes over the run is
 * not: all of the run was sampled. (Of as many slices as pairs need, one behind the other, a function that runs for a
 * short while is in one slice of a pair alone, and was in doubt by more than half.)
 *
 * Beliefs. The prior's cycles are believed in more or less than they are: all of a class together, those at a site
 * together, and each by itself. The fit goes on from there (perturb and maximise: Papandreou and Yuille 2011); what
 * samples determine comes back, what they do not stays where it was put.
 *
 * How far beliefs are put off, how much farther than its replicates an estimate may be, and what of small shares is
 * in doubt beside, are constants by kind of evidence, from machines whose truth is known. */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_REPLICATES_H
#define GUS_ATTRIBUTION_PROPORTIONAL_REPLICATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/spread.h"
#include "attribution/statistics/interval.h"
#include "base/alloc.h"

struct gus_prior;

/* Slices are an even number. */
enum { GUS_REPLICATES = 32, GUS_REPLICATES_SLICES = 2 * (GUS_REPLICATES - 1) };

/* A part of what was seen, of one slice. who: of time, whose it is, such as a thread's; what else was seen is
 * everybody's. */
struct gus_replicates_part { struct gus_site_count count; uint32_t slice, who; };
struct gus_replicates_parts gus_vec(struct gus_replicates_part);
/* What the fit was given (gus_spread_see), and the same by slices. Without parts it is the same in all replicates. The
 * parts of time, which has some, are by who. */
struct gus_replicates_seen {
	const struct gus_site_count *counts;
	size_t n;
	const struct gus_replicates_part *parts;
	size_t parts_n;
};

/* What is known of executions, beside the samples of time: intervals are as wide as they have to be with it. */
enum gus_replicates_evidence {
	GUS_REPLICATES_EXACT,           /* as the replicates are, of a model that is beyond doubt */
	GUS_REPLICATES_STACKS,          /* branch stacks, of precise samples */
	GUS_REPLICATES_RETIRED,         /* retire latencies, of precise samples */
	GUS_REPLICATES_OPS,             /* samples of executions, of time by interrupts */
	GUS_REPLICATES_MODEL,           /* what the model executes, of time by interrupts */
	GUS_REPLICATES_EVIDENCES
};
/* How far beliefs may be off, as natural logarithms. */
struct gus_replicates_doubts {
	double ways;            /* what could be, against what the model has */
	double classes;         /* waits of executions that met the same; groups of as many */
	double sites;           /* waits, or groups, of a site */
	double cycles;          /* each by itself */
	double met;             /* what executions met, where it was not measured */
	double executed;        /* executions in a cycle, where only the model tells: of neighbours together */
};

struct gus_replicates_options {
	enum gus_replicates_evidence evidence;
	struct gus_replicates_doubts doubts;
	bool replicates;        /* else only cells are made */
	double samples;         /* of time */
	double strength;        /* as the fit's */
	unsigned steps;         /* of a replicate */
	uint64_t seed;
	/* Before each replicate: what share of them is done. NULL: nobody asks. */
	void (*heed)(void *context, double share);
	void *heed_context;
};
struct gus_replicates_options gus_replicates_defaults(enum gus_replicates_evidence evidence);

/* Time of an instruction in executions that met psv. */
struct gus_replicates_cell { uint32_t who, site; uint16_t psv; double share; };
struct gus_replicates {
	struct gus_replicates_options o;
	/* Whose the counts of time are (gus_spread_share): by who, site and psv. They add up to what these do. */
	struct gus_vec(struct gus_replicates_cell) cells;
	double all;                     /* of all cells */
	double *shares;                 /* GUS_REPLICATES of each cell */
};

/* Of a fit, which is what it was again when this is done; seen: of time, then as gus_spread_see was told. */
void gus_replicates_make(struct gus_replicates *r, struct gus_spread *s, struct gus_prior *p,
			 const struct gus_replicates_seen *seen, size_t n, const struct gus_replicates_options *o);
void gus_replicates_free(struct gus_replicates *r);

/* A sum of cells. deviation: the standard one. */
struct gus_replicates_sum { double share, deviation; struct gus_interval interval; bool shown; };
/* Whether it can be told as a fact: it is worth GUS_REPLICATES_LEAST samples of all of these, and its interval is not
 * wider than itself to both sides. */
enum { GUS_REPLICATES_LEAST = 5 };
bool gus_replicates_is_fact(double share, struct gus_interval interval, double samples);
/* Cell i belongs to sum sum_of[i] (UINT32_MAX: to none). out has so many sums. */
void gus_replicates_add(const struct gus_replicates *r, const uint32_t *sum_of, size_t sums,
			struct gus_replicates_sum *out);

#endif
