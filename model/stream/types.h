/* SPDX-License-Identifier: MIT */
/* What goes into the stream engine (model/stream/stream.h) and what comes out: machines as knobs, options, steps of a
 * trace, times. */
#ifndef GUS_MODEL_STREAM_TYPES_H
#define GUS_MODEL_STREAM_TYPES_H

#include <stddef.h>

#include "model/machine/options.h"

enum { GUS_STREAM_TICKS = 5040, GUS_STREAM_LANES = 64, GUS_STREAM_GROUPS = 96 };

/* What a lane's machine has otherwise than the nominal one. A capacity of weight w takes 1/w of the time, a latency
 * of weight w 1/w of its cycles, a window of weight w holds w times as much; 0 is without limit, or no time at all. */
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
	GUS_KNOB_LINE_SPLITS,   /* penalty and second turn on its port of an access that crosses a line */
	GUS_KNOB_ALIAS,         /* penalty of a load that is taken for a store's by the low 12 bits */
	GUS_KNOB_BANKS,         /* of L1: loads a cycle of the same bytes of lines */
	GUS_KNOB_REGISTERS,     /* to rename to, of all files */
	/* The front end alone, up to the queue that issue takes from: a part of GUS_KNOB_ISSUE, so no list has it. */
	GUS_KNOB_FETCH,
	/* For how long instructions of a kind take ports and units, number: enum gus_held_by. That is a part of what
	 * ports and units have, so no list of knobs has it. */
	GUS_KNOB_HELD,
	/* So many times fewer mispredictions (of a weight below 1 as many), by chance: that is no capacity, so no list
	 * of knobs has it. */
	GUS_KNOB_PREDICTED,
	GUS_KNOBS
};
enum gus_held_by { GUS_HELD_BY_NONE, GUS_HELD_BY_DIVISIONS, GUS_HELD_BY_FENCES, GUS_HELD_BY_LOCKS, GUS_HELD_BYS };
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
	const struct gus_core_memory *memory;   /* NULL: all hit L1. Asked in program order, once for all lanes */
	const struct gus_core_branch *branch;   /* NULL: no branch is mispredicted */
	enum gus_core_fetch fetch;              /* as of the core engine */
	enum gus_core_pointers pointers;
	bool unrolled;                          /* as of the core engine: decides where uops come from */
	uint64_t iterations;                    /* without a source; 0: as many as it takes to be steady */
	const struct gus_stream_lane *lanes;    /* NULL: the nominal machine alone */
	size_t lanes_n;                         /* at most GUS_STREAM_LANES */
	struct gus_stream_log *log;             /* for model/analysis/causality.c; else NULL */
	/* Of what is fed: groups of ports as the knobs number them, which the caller keeps up with the program
	 * (gus_stream_resources_add) before new code is fed, so that machines that share knobs share numbers. NULL:
	 * as they are met. */
	const struct gus_stream_resources *groups;
};

/* What the core engine's options say of the same run. */
static inline struct gus_stream_options gus_stream_options_of(const struct gus_core_options *o)
{
	return (struct gus_stream_options){ .source = o->source, .memory = o->memory, .branch = o->branch,
		.fetch = o->fetch, .pointers = o->pointers, .unrolled = o->unrolled, .iterations = o->iterations };
}

struct gus_stream_result {
	uint64_t instructions, iterations;
	double cycles[GUS_STREAM_LANES];        /* of the whole run */
	double per_iteration[GUS_STREAM_LANES]; /* over the second half of it */
	size_t lanes;
};

/* A set of ports that some uops must run in: the groups of the table, or of a table of uops the unions of what its
 * uops may take. */
struct gus_stream_resources {
	uint64_t ports[GUS_STREAM_GROUPS];
	size_t n;
};

/* When the nominal machine did what with an op, in ticks since the beginning: it was issued, the last of its uops
 * began to be executed, all of them were complete, it retired, and, of stores, they had left for L1. */
struct gus_stream_times { int64_t issue, start, end, retire, left; };

#endif
