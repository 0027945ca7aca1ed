/* SPDX-License-Identifier: MIT */
/* The core engine: a cycle-level machine. A front end (length decoding, decoders, uop cache, loop buffer, queue), a renamer
 * with finite buffers, ports with oldest-first dispatch, and retirement in order; every cycle of it can be listened to.
 *
 * The back end is UFS (Palomares, "Combining static and dynamic approaches to model loop performance in HPC", 2015, section
 * 7.4), which it reproduces cycle by cycle with the parameters of that work; what is beyond it (legacy front end, caches,
 * forwarding, mispredictions, late operands) is idle there. A cycle is: retire, dispatch, issue, then the front end; what is
 * freed in a cycle can be used in the next one. */
#ifndef GUS_MODEL_CORE_CORE_H
#define GUS_MODEL_CORE_CORE_H

#include "base/error.h"
#include "model/code/program.h"

/* All sizes, widths and rules, by the names of the parameters of tables. A size of 0 is no limit. */
#define GUS_CORE_SETTINGS(X) \
	X(issue_width) X(retire_width) X(issue_delay) X(loop_boundary) \
	X(rob) X(rs) X(rs_int) X(rs_vector) X(rs_memory) X(load_buffer) X(store_buffer) X(branch_buffer) \
	X(renames) X(int_renames) X(vector_renames) X(mask_renames) \
	X(port_binding) X(move_elimination_slots) \
	X(predecode_width) X(fetch_bytes) X(decode_queue) X(decode_width) X(decode_uops) X(decode_complex) \
	X(decode_fuse_last) X(lcp_penalty) X(microcode_width) X(microcode_switch) \
	X(uop_cache_width) X(uop_cache_line) X(uop_cache_lines) X(uop_cache_window) X(uop_cache_size) X(jcc_erratum) \
	X(queue_size) X(loop_buffer) X(taken_branches) X(mispredict_penalty) \
	X(l1d_latency) X(l1d_stores) X(l1d_bank_ports) X(l1d_misses) X(l2_latency) X(l2_bandwidth) X(l3_latency) X(l3_bandwidth) \
	X(memory_latency) X(memory_bandwidth) X(line_size) X(stlb_latency) X(page_walk_latency) X(page_walks) \
	X(store_forward_latency) X(store_forward_vector) X(store_forward_blocked) X(store_forward_zero) \
	X(line_split_penalty) X(alias_penalty)

struct gus_core_config {
#define X(name) uint32_t name;
	GUS_CORE_SETTINGS(X)
#undef X
};

/* What a table says; what it does not say is unlimited, or for widths the plainest value. */
void gus_core_config_of(struct gus_core_config *c, const struct gus_uarch *u);
/* Sets one by its name. -1 with err if there is none of that name or the value makes no machine. */
int gus_core_config_set(struct gus_core_config *c, const char *name, uint64_t value, struct gus_error *err);
/* All buffers without end, widths and ports as they are. */
void gus_core_config_infinite(struct gus_core_config *c);

enum gus_core_fetch {
	GUS_CORE_FETCH_AUTO,    /* of a loop the best that holds it: loop buffer, uop cache, decoders; of other code the decoders */
	GUS_CORE_FETCH_DECODERS,
	GUS_CORE_FETCH_UOP_CACHE,
	GUS_CORE_FETCH_LOOP,
	GUS_CORE_FETCH_IDEAL,   /* uops are always there */
};

/* Where an access finds its line. */
enum gus_hit { GUS_HIT_L1, GUS_HIT_L2, GUS_HIT_L3, GUS_HIT_MEMORY, GUS_HITS };
enum gus_tlb { GUS_TLB_HIT, GUS_TLB_SECOND, GUS_TLB_WALK };

struct gus_core_access {
	uint64_t iteration;
	uint32_t op;
	uint32_t memory;        /* in program->memories */
	uint64_t address;       /* meaningful if known */
	bool known, store;
};
/* The memory oracle: answers in program order, once for each access. NULL: always L1. */
struct gus_core_memory {
	void *context;
	void (*access)(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb);
	void (*begin)(void *context);   /* a run begins: forget the last one. NULL: its answers do not depend on what was before */
};
/* The branch oracle: whether this execution of a branch is mispredicted. NULL: never. */
struct gus_core_branch {
	void *context;
	bool (*mispredicted)(void *context, uint32_t op, uint64_t iteration);
};
/* The instruction source: which op comes next. NULL: the program, again and again. */
struct gus_core_step {
	uint32_t op;
	bool taken;             /* of a branch */
	bool last;              /* ends an iteration */
	bool addressed;         /* address has the addresses of its accesses, in order */
	uint64_t address[4];
};
struct gus_core_source {
	void *context;
	bool (*next)(void *context, struct gus_core_step *step); /* false: the end */
};

/* What registers hold at the start, which decides what loads get from earlier stores. */
enum gus_core_pointers {
	GUS_CORE_POINTERS_EQUAL,        /* all the same value: as throughput benchmarks set them (BHive) */
	GUS_CORE_POINTERS_DISTINCT,     /* values that do not meet */
	GUS_CORE_POINTERS_NONE,         /* memory carries nothing from store to load (as UFS) */
};

/* What a cycle was for retirement (the commit states of TEA, section 2), and why. */
enum gus_commit { GUS_COMMIT_COMPUTE, GUS_COMMIT_STALLED, GUS_COMMIT_DRAINED, GUS_COMMIT_FLUSHED, GUS_COMMITS };
/* Why issue stopped in a cycle, or what the oldest uop waits for. */
enum gus_core_reason {
	GUS_CORE_NOTHING,       /* the full width was issued */
	GUS_CORE_FRONT_END,     /* no uops: decoders or uop cache did not deliver */
	GUS_CORE_BOUNDARY,      /* the end of an iteration */
	GUS_CORE_MISPREDICT,    /* waiting for the right path */
	GUS_CORE_ROB, GUS_CORE_RS, GUS_CORE_LOAD_BUFFER, GUS_CORE_STORE_BUFFER, GUS_CORE_BRANCH_BUFFER, GUS_CORE_REGISTERS,
	GUS_CORE_SERIALISED,
	GUS_CORE_EXECUTION,     /* of retirement: the oldest runs, or waits for a port or unit */
	GUS_CORE_OPERAND,       /* of retirement: the oldest waits for an operand */
	GUS_CORE_MEMORY,        /* of retirement: the oldest is a load that missed L1 */
	GUS_CORE_REASONS
};
const char *gus_core_reason_name(enum gus_core_reason reason);
const char *gus_commit_name(enum gus_commit state);

struct gus_core_cycle {
	uint64_t cycle;
	uint32_t issued, retired;       /* uops: executed ones; retired counts those of whole slots */
	uint32_t free_rs, free_rob;     /* at the start of the cycle */
	enum gus_commit state;
	enum gus_core_reason stall;     /* why the oldest did not retire */
	enum gus_core_reason stop;      /* why issue did not take its full width */
	uint32_t op;                    /* the oldest not retired; of drained and flushed cycles the next to come; UINT32_MAX: none */
	uint64_t iteration;             /* of that */
};

/* The life of one uop, told when it retires. A uop that needs no port is dispatched when it is issued. */
struct gus_core_event {
	uint64_t iteration;
	uint32_t op, uop;               /* uop in program->uops */
	int port;                       /* -1: none */
	uint64_t issued, dispatched, completed, retired; /* cycles */
};
struct gus_core_listener {
	void *context;
	void (*cycle)(void *context, const struct gus_core_cycle *cycle);   /* may be NULL */
	void (*uop)(void *context, const struct gus_core_event *event);     /* may be NULL */
};

struct gus_core_options {
	enum gus_core_fetch fetch;
	enum gus_core_pointers pointers;
	uint64_t iterations;            /* stop after so many; 0: when it is periodic, or after a bound */
	const struct gus_core_memory *memory;
	const struct gus_core_branch *branch;
	const struct gus_core_source *source;
	const struct gus_core_listener *listener;
	bool unrolled;                  /* each iteration lies behind the one before, as in unrolled code */
};

#define GUS_CORE_PORTS GUS_UARCH_PORTS_MAX
struct gus_core_result {
	uint64_t cycles, iterations;    /* until the last uop of the last iteration retired */
	/* The steady state: so many cycles for so many iterations. Of a run of given iterations the whole run. */
	uint64_t steady_cycles, steady_iterations;
	bool periodic;                  /* the state of the machine came again: the steady state is exact */
	enum gus_core_fetch fetch;      /* what delivered */
	uint64_t dispatched[GUS_CORE_PORTS]; /* uops on each port, in the steady state, as all that follows */
	uint64_t slots;                 /* issued */
	uint64_t commit[GUS_COMMITS];   /* cycles; they sum to steady_cycles */
	uint64_t stop[GUS_CORE_REASONS];/* cycles whose issue stopped short for that; with NOTHING they sum to steady_cycles */
};

/* Runs it. -1 with err if there is no way to (a uop that has no port, a width of 0). Deterministic. */
int gus_core_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		 struct gus_core_result *result, struct gus_error *err);

#endif
