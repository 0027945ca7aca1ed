/* SPDX-License-Identifier: MIT */
/* Which instructions hold a piece of code up: the causality analysis of Gus (section 3.1 and Algorithm 1 of
 * "Performance bottlenecks detection through microarchitectural sensitivity": an instruction that still taints
 * dispatch when it is two reorder buffers old is charged). Here the nominal machine of the stream engine notes for
 * each time what it was constrained by, and the constraints are followed back from the present: what is met more than
 * two reorder buffers ago is charged, not once each but with the cycles that it took, so that the charges add up to
 * the time of the run. Of constraints that are equally late one is followed, drawn from a fixed sequence that moves
 * on every few ops. Not all of a long run is followed, as that takes about as long as the engine itself: of a program
 * that is run again and again each second stretch of 16,384 ops, of a trace that is fed one in eight (there are so
 * many more of them). */
#ifndef GUS_MODEL_ANALYSIS_CAUSALITY_H
#define GUS_MODEL_ANALYSIS_CAUSALITY_H

#include "model/stream/stream.h"

struct gus_core_config;
struct gus_error;
struct gus_program;

/* What carried the time from one event to the next. */
enum gus_hop {
	GUS_HOP_PORTS,          /* number: of a group in gus_stream_resources; cycles of the instruction's uops in it */
	GUS_HOP_UNITS,          /* number: exclusive unit */
	GUS_HOP_LATENCY,        /* of the instruction's result */
	GUS_HOP_LOAD,           /* of its load */
	GUS_HOP_FORWARD,        /* from its store to a load */
	GUS_HOP_ISSUE,          /* its slots in the width of issue */
	GUS_HOP_DECODE, GUS_HOP_FETCH, GUS_HOP_UOP_CACHE, GUS_HOP_PREDICTION,
	GUS_HOP_RETIRE,         /* its slots in the width of retirement */
	GUS_HOP_LEVEL,          /* number: enum gus_hit; what its line took to come from there, beyond L1 */
	GUS_HOP_BUS,            /* number: 0 from L2, 1 from L3, 2 from memory, 3 page walkers; cycles of its lines */
	GUS_HOP_TLB,            /* number: enum gus_tlb */
	GUS_HOP_MISPREDICT,     /* its penalty */
	GUS_HOP_STORES,         /* its stores in the width of L1 */
	GUS_HOP_ROB, GUS_HOP_LOAD_BUFFER, GUS_HOP_STORE_BUFFER, /* its entry was waited for; takes no time of its own */
	GUS_HOP_RS, GUS_HOP_MISS_BUFFER,
	GUS_HOP_REGISTERS,      /* likewise, of a register to rename to */
	GUS_HOP_BANKS,          /* its loads in the banks of L1 */
	GUS_HOP_LINE_SPLIT, GUS_HOP_ALIAS, /* what its load is put off by */
	GUS_HOPS
};

/* cycles and times are per iteration. */
struct gus_cause {
	uint32_t op;            /* of the program */
	enum gus_hop hop;
	uint32_t number;
	double cycles;
	double times;           /* how often it was met */
};

struct gus_causality {
	double cycles;          /* per iteration, of what was followed; the cycles of all causes add up to that */
	struct gus_cause *causes; /* by cycles, largest first; then by times, op, hop, number */
	size_t causes_n;
	double *op_cycles;      /* of each op of the program, all hops together */
	size_t ops_n;
	/* The heaviest cycle that the path goes round in, in order of time, from its first op in the program's order;
	 * e.g. one latency hop of an accumulator. Its cycles are those of one turn. */
	struct gus_cause *chain;
	size_t chain_n;
	double chain_iterations; /* iterations a turn */
	double chain_share;     /* of the time that went round it */
};

/* Runs the nominal machine, and beside it the lanes of the options, whose times go to result unless that is NULL. -1
 * with err, and nothing to be freed. */
int gus_causality_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		      struct gus_causality *out, struct gus_stream_result *result, struct gus_error *err);

/* The same of a trace that is fed. Opened before the engine, with its options, which then have its log. What is
 * gotten is of the whole trace, which took so many cycles, instead of an iteration: the charges add up to them, also
 * where only stretches were followed. The chain is that of the last stretch. */
struct gus_causes;
struct gus_causes *gus_causes_open(const struct gus_core_config *c, struct gus_stream_options *o);
/* Charges from here on: what came before was the warm-up. */
void gus_causes_count_anew(struct gus_causes *causes);
void gus_causes_get(const struct gus_causes *causes, const struct gus_program *p, double cycles,
		    struct gus_causality *out);
/* What the path goes round in, in one place of the trace or another: ops in order of time, from the first in the
 * code, and what carried each hop. Stretches of 512 hops are looked at now and then; circles of more than 24 hops are
 * not told. */
enum { GUS_CIRCLE_STEPS = 24 };
struct gus_circle {
	struct gus_cause steps[GUS_CIRCLE_STEPS];
	size_t n;
	uint64_t ops;           /* executed in a turn */
	double weight;          /* cycles of what was looked at that went round it */
};
/* The heaviest first; returns how many, at most room. */
size_t gus_causes_circles(const struct gus_causes *causes, struct gus_circle *out, size_t room);
void gus_causes_close(struct gus_causes *causes);

void gus_causality_free(struct gus_causality *out);
const char *gus_hop_name(enum gus_hop hop);

#endif
