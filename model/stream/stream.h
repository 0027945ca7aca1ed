/* SPDX-License-Identifier: MIT */
/* The stream engine: Gus (Algorithm 1 of "Performance bottlenecks detection through microarchitectural sensitivity"). It takes
 * instructions one by one and keeps for each resource, register and recent memory word the earliest time at which it is available;
 * each instruction raises some of them. There are no cycles, so it is quick, and times are additive, so that many machines
 * that differ in capacities alone can be run in one pass: a time is a vector, one lane a machine.
 *
 * What memory and branches do (the two oracles of the core engine) is the same for all lanes, only the times are not.
 *
 * Ports are conjunctive resources: a uop on p01 uses p01, p015, p0156 and each other group that holds its ports, a group of n
 * ports for 1/n of a cycle; the buses between the levels of the caches and the page walkers are resources alike. The windows (reorder
 * buffer, load and store buffers, reservation station, miss buffers) are rings of the times at which their entries are given
 * back.
 *
 * Times are ticks of 1/5040 cycle in 32 bits, taken down together before they overflow, so that a run of any length is
 * exact; 5040 has all divisors that groups of ports need up to ten. */
#ifndef GUS_MODEL_STREAM_STREAM_H
#define GUS_MODEL_STREAM_STREAM_H

#include "model/core/core.h"

enum { GUS_STREAM_TICKS = 5040, GUS_STREAM_LANES = 32, GUS_STREAM_GROUPS = 96 };

/* What a lane's machine has otherwise than the nominal one. A capacity of weight w takes 1/w of the time, a latency of weight w
 * 1/w of its cycles, a window of weight w holds w times as much; 0 is without limit, or no time at all. */
enum gus_knob_kind {
	GUS_KNOB_NONE,
	GUS_KNOB_PORTS,         /* number: of a group of ports in gus_stream_resources */
	GUS_KNOB_UNITS,         /* exclusive units; number: which */
	GUS_KNOB_ISSUE,         /* front end and issue width */
	GUS_KNOB_RETIRE,
	GUS_KNOB_ROB,
	GUS_KNOB_LOAD_BUFFER,
	GUS_KNOB_STORE_BUFFER,
	GUS_KNOB_LATENCY,       /* number: class of the instruction (enum gus_insn_class) */
	GUS_KNOB_LOAD_LATENCY,  /* L1 */
	GUS_KNOB_RS,            /* reservation station */
	GUS_KNOB_MISS_BUFFERS,
	GUS_KNOB_LEVEL_LATENCY, /* number: enum gus_hit, from L2 */
	GUS_KNOB_BANDWIDTH,     /* number: likewise */
	GUS_KNOB_TLB,           /* number: 0 the second level's latency, 1 page walks */
	GUS_KNOB_MISPREDICT,    /* penalty */
	GUS_KNOB_STORES,        /* to L1 a cycle */
	GUS_KNOB_FORWARD,       /* latency from a store to a load that reads it; number: 1 where that is blocked */
	GUS_KNOBS
};
struct gus_knob {
	enum gus_knob_kind kind;
	uint32_t number;
	double weight;
};

struct gus_stream_log;
struct gus_stream_resources;

/* One machine: some knobs turned together. */
struct gus_stream_lane {
	const struct gus_knob *knobs;
	size_t knobs_n;
};

struct gus_stream_options {
	const struct gus_core_source *source;   /* NULL: the program again and again */
	const struct gus_core_memory *memory;   /* NULL: all accesses hit L1. Asked in program order, once for each, for all lanes */
	const struct gus_core_branch *branch;   /* NULL: no branch is mispredicted */
	enum gus_core_fetch fetch;              /* as of the core engine */
	enum gus_core_pointers pointers;
	bool unrolled;                          /* as of the core engine: decides where uops come from */
	uint64_t iterations;                    /* without a source; 0: as many as it takes to be steady */
	const struct gus_stream_lane *lanes;    /* NULL: the nominal machine alone */
	size_t lanes_n;                         /* at most GUS_STREAM_LANES */
	struct gus_stream_log *log;             /* for model/analysis/causality.c; else NULL */
	/* Of what is fed: groups of ports as the knobs number them, which the caller keeps up with the program (gus_stream_resources_add)
	 * before new code is fed, so that machines that share knobs share numbers. NULL: as they are met. */
	const struct gus_stream_resources *groups;
};

/* What the core engine's options say of the same run. */
static inline struct gus_stream_options gus_stream_options_of(const struct gus_core_options *o)
{
	return (struct gus_stream_options){ .source = o->source, .memory = o->memory, .branch = o->branch, .fetch = o->fetch,
		.pointers = o->pointers, .unrolled = o->unrolled, .iterations = o->iterations };
}

struct gus_stream_result {
	uint64_t instructions, iterations;
	double cycles[GUS_STREAM_LANES];        /* of the whole run */
	double per_iteration[GUS_STREAM_LANES]; /* over the second half of it */
	size_t lanes;
};

/* A set of ports that some uops must run in: the groups of the table, or of a table of uops the unions of what its uops may take. */
struct gus_stream_resources {
	uint64_t ports[GUS_STREAM_GROUPS];
	size_t n;
};
void gus_stream_resources_of(const struct gus_program *p, struct gus_stream_resources *r);
/* And those of its uops from first_uop on; what is there keeps its number. */
void gus_stream_resources_add(const struct gus_program *p, uint32_t first_uop, struct gus_stream_resources *r);

/* -1 with err if it cannot be run. Deterministic, and lane k of many is the same to the tick as lane 0 of a run of its
 * own. */
int gus_stream_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		   struct gus_stream_result *r, struct gus_error *err);

/* A trace, fed to the engine step by step: what is executed is told, and may be code that has just been met. */

enum { GUS_STREAM_CHUNK = 2048 };       /* steps at a time */

/* What an op does to memory, in the order of its accesses in the program: memories_n of them. */
struct gus_stream_access {
	uint64_t address;               /* meaningful if known */
	uint32_t bytes;                 /* 0: as the instruction says */
	uint8_t level, tlb;             /* enum gus_hit, enum gus_tlb */
	bool known;
};
struct gus_stream_told {
	uint32_t op;
	uint32_t access;                /* the first of its accesses */
	uint32_t region;                /* whatever the caller tells apart */
	bool taken, mispredicted;       /* of a branch */
	bool cached;                    /* its uops come from the uop cache rather than from decoders */
};
struct gus_stream_feed {
	const struct gus_stream_told *steps;
	const struct gus_stream_access *accesses;
	size_t n;                       /* at most GUS_STREAM_CHUNK */
};
/* When the nominal machine did what with an op, in ticks since the beginning: it was issued, the last of its uops began to be executed, all
 * of them were complete, it retired, and, of stores, they had left for L1. */
struct gus_stream_times { int64_t issue, start, end, retire, left; };

struct gus_stream_engine;
/* The options' lanes, groups and log count, nothing else. The program (model/code/growing.h), configuration and all that the options point to are
 * borrowed. NULL with err. */
struct gus_stream_engine *gus_stream_open(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
					  struct gus_error *err);
void gus_stream_close(struct gus_stream_engine *e);
/* Runs all lanes through the steps; times, of as many, may be NULL. */
void gus_stream_feed(struct gus_stream_engine *e, const struct gus_stream_feed *feed, struct gus_stream_times *times);
/* Cycles so far, by lane; of a region: cycles from the retirement of what was before to that of its own. All regions add up to
 * the whole, to the tick. */
void gus_stream_cycles(const struct gus_stream_engine *e, double cycles[GUS_STREAM_LANES]);
void gus_stream_region_cycles(const struct gus_stream_engine *e, uint32_t region, double cycles[GUS_STREAM_LANES]);
/* Likewise of an op, on the nominal machine: as a sampler that waits for what retires next would see it. */
double gus_stream_op_cycles(const struct gus_stream_engine *e, uint32_t op);
/* Knobs of the lanes that turn ports, units or latencies are others from here on: what they point to was changed. */
void gus_stream_turn_again(struct gus_stream_engine *e);

/* The same in doubles, one machine at a time and written plainly: what the engine is held against. Without a source and
 * without oracles. */
int gus_stream_reference(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
			 struct gus_stream_result *r, struct gus_error *err);

#endif
