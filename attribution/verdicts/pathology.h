/* SPDX-License-Identifier: MIT */
/* The next step, from a table of pathologies: what is known to go wrong in code, how each shows in the trace of a
 * region, what it costs there, and when it is not worth a change. The rows are those of Palomares ("Combining static
 * and dynamic approaches to model loop performance in HPC", thesis, 2015, Table 4.1) and of top-down's leaves.
 *
 * A cost is a speedup, T/T' - 1. Most are what the model gains of more of the resource that the row stands for: of a
 * node (nodes.h), or of sets of knobs that only rows need. Where several places share the resource, a place has that
 * part of the time which its share of the misses, or of the mispredictions, is: of a part B of the time that goes
 * away, the speedup is B / (1 - B). What no knob stands for costs what causality charges to its instructions
 * (model/analysis/causality.h). The interval is as that of verdicts.
 *
 * The stop rule is one for all: what costs less than GUS_CAUSAL_WORTH is not worth it, even if the symptom is there:
 * something else is in front of it. */
#ifndef GUS_ATTRIBUTION_VERDICTS_PATHOLOGY_H
#define GUS_ATTRIBUTION_VERDICTS_PATHOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "attribution/verdicts/verdict.h"

struct gus_heard;
struct gus_traced;
struct gus_traced_set;

enum gus_pathology {
	/* Execution. */
	GUS_PATHOLOGY_REDUCTION, GUS_PATHOLOGY_CHAIN, GUS_PATHOLOGY_LOAD_CHAIN, GUS_PATHOLOGY_MEMORY_CHAIN,
	GUS_PATHOLOGY_PORTS, GUS_PATHOLOGY_ADD_MUL, GUS_PATHOLOGY_DIVIDER, GUS_PATHOLOGY_CONVERSIONS,
	GUS_PATHOLOGY_PARTIAL,
	/* The way of the code. */
	GUS_PATHOLOGY_FRONT_END, GUS_PATHOLOGY_RETIRE, GUS_PATHOLOGY_UNVECTORISED, GUS_PATHOLOGY_UNROLLING,
	GUS_PATHOLOGY_SHORT_TRIPS, GUS_PATHOLOGY_TAIL, GUS_PATHOLOGY_CONTROL_FLOW, GUS_PATHOLOGY_MISPREDICT,
	GUS_PATHOLOGY_CONDITIONED,
	/* Memory. */
	GUS_PATHOLOGY_BANDWIDTH, GUS_PATHOLOGY_LATENCY, GUS_PATHOLOGY_STRIDE, GUS_PATHOLOGY_REUSE,
	GUS_PATHOLOGY_CONFLICT, GUS_PATHOLOGY_STREAMS, GUS_PATHOLOGY_TLB, GUS_PATHOLOGY_SPLITS,
	GUS_PATHOLOGY_BLOCKED, GUS_PATHOLOGY_ALIAS, GUS_PATHOLOGY_LOCKS,
	/* Threads. */
	GUS_PATHOLOGY_FALSE_SHARING, GUS_PATHOLOGY_RUNTIME, GUS_PATHOLOGY_IMBALANCE,
	/* What nothing here sees. */
	GUS_PATHOLOGY_LEAKING, GUS_PATHOLOGY_AFFINITY,
	GUS_PATHOLOGIES
};

struct gus_pathology_kind {
	const char *name;               /* the label */
	const char *what;               /* what it is */
	const char *cost;               /* what its cost is of; NULL: it is not detectable here */
	const char *test;               /* how it is told; of what is not detectable why */
	const char *cure;
};
extern const struct gus_pathology_kind gus_pathology_kinds[GUS_PATHOLOGIES];

/* Sets of knobs that no node is, in the lanes behind those of the nodes. */
enum gus_pathology_set {
	GUS_PATHOLOGY_SET_PORTS, GUS_PATHOLOGY_SET_BANDWIDTH, GUS_PATHOLOGY_SET_SPLITS, GUS_PATHOLOGY_SETS
};
/* Fills in all GUS_PATHOLOGY_SETS of them. */
void gus_pathology_sets(struct gus_traced_set *sets);

/* What is known of a region from its recording, beside the trace. */
struct gus_pathology_seen {
	uint64_t samples;               /* of the region */
	/* Loads that were sampled: of all regions; of this one those whose line another core had changed; of them those
	 * of other bytes than were written, which share it by accident. */
	uint64_t told, hitm, apart;
	uint64_t apart_most, hitm_at;   /* of one instruction, and its address in the trace; UINT64_MAX: none */
	uint64_t runtime, all;          /* samples of all: in the runtime of OpenMP, and everywhere */
	double most, mean;              /* samples of the thread that has most of the region, and of its threads */
	unsigned threads;               /* that have some of the region */
};

struct gus_pathology_given {
	const struct gus_traced *traced;
	uint32_t region;
	const struct gus_heard *heard;
	const struct gus_causal *causal;
	int lane;                       /* of GUS_PATHOLOGY_SET_PORTS; the others are behind it */
	double model;                   /* how far the model's time is off in general */
	const struct gus_pathology_seen *seen; /* NULL: there is no recording */
};

struct gus_pathology_found {
	enum gus_pathology kind;
	bool placed;                    /* it is at an instruction: */
	uint64_t offset;                /* in the region's function */
	char insn[96];
	double cost, low, high;         /* T/T' - 1, and its 95 % interval */
	bool worth;                     /* the stop rule */
	char stop[128];                 /* why it is not worth it */
	char advice[320];               /* what to do, with the figures of this place */
};
struct gus_pathologies gus_vec(struct gus_pathology_found);

#endif
