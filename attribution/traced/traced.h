/* SPDX-License-Identifier: MIT */
/* A trace, run through the stream engine: caches and a branch predictor find out what its accesses and branches do, and
 * what the engine says is put together by function and by loop. Each thread of the trace is a machine of its own, with
 * caches of its own.
 *
 *	trace --step--> block of ops, accesses with their levels, mispredictions --chunk--> engine --cycles--> regions
 *
 * Every number here is modelled, but for how often what was executed, which the trace tells. */
#ifndef GUS_ATTRIBUTION_TRACED_TRACED_H
#define GUS_ATTRIBUTION_TRACED_TRACED_H

#include "attribution/traced/pics.h"
#include "base/alloc.h"
#include "base/index.h"
#include "base/limits.h"
#include "model/analysis/causality.h"
#include "model/code/growing.h"
#include "model/oracles/branch.h"
#include "model/watch/carried.h"
#include "model/watch/phases.h"
#include "proto/trace.h"
#include "symbolizer/symbols/symbols.h"

struct gus_access_group;
struct gus_agreement;
struct gus_cache_config;
struct gus_cache_total;
struct gus_core_config;
struct gus_core_hooks;
struct gus_core_listener;
struct gus_known_insn;
struct gus_observed;
struct gus_op_steps;
struct gus_rates;
struct gus_sensitivity;
struct gus_traced_match;
struct gus_traced_pool;

struct gus_traced_lengths gus_vec(uint64_t);

/* Knobs that are turned one by one: with the nominal lane as many lanes as two of the widest kernels have. */
enum { GUS_TRACED_KNOBS = 31 };
/* Knobs that are turned together, as one machine: all those that the code could need and that it has. */
struct gus_traced_set {
	const char *name;
	bool (*has)(const void *context, const struct gus_sensitivity *knob);
	const void *context;
	/* What a knob that it has is turned to, which may be less than 1: less bandwidth, more latency. NULL: what the
	 * options say. */
	double (*weight)(const void *context, const struct gus_sensitivity *knob);
};

/* Who is told when the nominal machine did what, of all that is timed: of each thread, by its number here, its steps in
 * order. Region 0 is what only warms the engine; others are numbers in regions, plus 1. */
struct gus_traced_timed {
	void *context;
	void (*steps)(void *context, uint32_t stream, const struct gus_program *program,
		      const struct gus_op_steps *steps, const struct gus_stream_times *times);
};

struct gus_traced_options {
	const struct gus_uarch *uarch;
	const struct gus_core_config *config;
	const struct gus_cache_config *caches;
	const struct gus_branch_config *predictor;
	struct gus_symbols *symbols;            /* borrowed, as all here */
	double weight;                          /* of the knobs that are turned; 0: none is */
	/* Instead of each knob by itself: sets of them, fewer than GUS_STREAM_LANES, in the places of knobs. */
	const struct gus_traced_set *sets;
	int sets_n;                             /* 0: each by itself */
	bool causality;
	bool both;                              /* compare the engines on hot loops */
	bool core;                              /* run the core engine beside, on all that is timed */
	bool passages;                          /* keep one through each loop (passages.h) */
	/* The core engine is the only one, and runs all of the trace: no cycles, errors, charges, phases and knobs but
	 * core_cycles and what listeners are told. What it cannot run is an error. */
	bool alone;
	/* Of the core engine; NULL: the machine is what config says. All threads ask the same ones, and of code by the
	 * caches' time, which goes along with the engine's; or each its own, if hooks_of says which. */
	const struct gus_core_hooks *hooks;
	const struct gus_core_hooks *(*hooks_of)(void *context, uint32_t stream); /* context: listen_context */
	/* Of each thread, by its number here (program_of says whose it is), who listens to its core engine, instead of
	 * what makes the stacks (pics); may be NULL. The address of an op is
	 * program->insns[program->ops[op].insn].offset. Once for each thread, leave is told that it is over: at the end
	 * of its program, as a trace does not say when one of several threads ends. */
	const struct gus_core_listener *(*listen)(void *context, uint32_t stream, const struct gus_program *program);
	void (*leave)(void *context, uint32_t stream); /* may be NULL */
	/* Who is told as well what the core engine is fed with, of each thread, of the program as it is then, so that
	 * other machines can be run on the same. Regions are those here, plus 1, and 0 in the warm-up, of which the
	 * end alone is told; behind the last ones steps is NULL. NULL: nobody. */
	void (*fed)(void *context, uint32_t stream, const struct gus_op_steps *steps);
	void *listen_context;
	const struct gus_traced_timed *timed;   /* NULL: nobody asks */
	bool phases;                            /* follow the run over time */
	/* strides, reuse and footprint of accesses, and dependences through memory */
	bool memory;
	bool all;                               /* the engine runs on all of it, not on a sample (stretches.h) */
	bool warm;                              /* all is told as if nothing had been touched for the first time */
	bool warm_code;                         /* the code is, of which a window that begins anywhere has all for the
						 * first time */
	uint64_t core_cycles_most;              /* of a thread that the core engine runs; 0: all of it */
	/* How many instructions of each thread that were, by stream (0: all), for another run of the same traces, which
	 * knows them. NULL: nobody asks. */
	struct gus_traced_lengths *lengths;
	bool lengths_known;
	bool interval;                          /* also the cycles of the other end: warm caches, or cold ones */
	uint64_t warm_up;                       /* instructions of each thread before what counts */
	/* Lines of long accesses (string instructions) that caches follow in all threads together; 0: 4 GiB of them.
	 * A few bytes of a trace can say that 4 GiB were read. */
	uint64_t long_lines;
	uint32_t threads_most;                  /* machines, see GUS_TRACED_THREADS; 0: so many */
	/* What samples say of accesses and branches, instead of what caches and predictor would do (rates.h); NULL:
	 * nothing. Caches see all accesses, and the predictor all branches, whoever answers. */
	struct gus_observed *observed;
	const struct gus_contended *shared;        /* lines that threads share (contended.h); NULL: none */
	/* What was measured of branches, by block, instead of what the predictor would do; NULL: nothing. */
	bool (*mispredicted)(void *context, uint32_t block, bool taken);
	void *mispredicted_context;
};

/* What is executed from its first instruction to its last. What each step needs stands first and side by side. */
struct gus_traced_block {
	uint64_t address;
	uint64_t executed, cached;              /* times; of them with all uops from the uop cache */
	uint32_t size, insns_n;
	uint32_t insn, memory, memories_n;      /* its first in the program's, and how many accesses */
	uint32_t region;                        /* in regions */
	uint32_t window, windows_n;             /* of the uop cache */
	enum gus_branch_kind kind;
	bool branch, head;                      /* head: the first of its loop */
	bool decided;                           /* what of it has measured rates: rates.h */
	uint8_t rated_branch;                   /* ways of its branch that have */
	uint32_t rated_n;                       /* of its accesses */
	struct gus_growing_block ops;
	uint64_t recently;                      /* executed since the knobs were looked at */
	/* Where its last instruction begins, and where that goes if it is taken, and always goes there. */
	uint64_t branch_from, branch_to;
	/* of its last instruction: unseen: mispredicted for the first time */
	uint64_t branches, taken, mispredicted, unseen;
	uint64_t shared;                        /* accesses to lines that threads share */
	uint64_t measured;                      /* of the branches: answered by what was measured */
	struct gus_vec(struct gus_traced_match) matches; /* of its last step; see match.h */
	uint64_t fetch_misses;                  /* lines of code that had to come from L2 for the decoders */
	const char *module;                     /* path of the file that it is from; NULL: not known */
	uint64_t offset;                        /* in it */
	uint32_t pid;                           /* whose memory it is of, at what time: see gus_traced_moment */
	uint64_t time;
	const uint8_t *bytes, *lengths;
	/* of each instruction, where prefetches are near; NULL: not needed so far */
	struct gus_known_insn *known;
};

/* What an access of an instruction met. */
struct gus_traced_memory {
	/* told: executed with an address; first: of the hits, lines that the trace had not touched before */
	uint64_t accesses, told, hits[GUS_HITS], first[GUS_HITS];
	uint64_t walks, second_tlb, unknown;    /* unknown: executed without an address; after the end */
	uint64_t measured, blind;               /* answered by what was measured; blind: of them, those without one */
	uint64_t line, moves, next;             /* its last line; accesses to another one, and to the one beside it */
	uint64_t rebuilt;                       /* of a prefetch: its address was found out from accesses around it */
};

/* It goes through lines that lie side by side, which prefetchers bring sooner than any model of them knows. */
enum { GUS_TRACED_STREAM_MOVES = 16 };
static inline bool gus_traced_memory_streams(const struct gus_traced_memory *m)
{
	return m->moves >= GUS_TRACED_STREAM_MOVES && m->next >= m->moves - m->moves / 10;
}

enum { GUS_TRACED_NONE = UINT32_MAX };
enum { GUS_TRACED_THREADS = 4096 };     /* that are machines of their own, of some 3 MB each */
enum { GUS_TRACED_CIRCLES = 16 };
static const double GUS_TRACED_HOT = 0.05, GUS_TRACED_APART = 0.10;

/* A function, or a loop in one. Blocks of a loop are not counted with their function, nor those of an inner loop with
 * the outer. */
struct gus_traced_region {
	uint32_t function;                      /* in functions */
	/* in the function's graph; GUS_TRACED_NONE: the function outside its loops */
	uint32_t loop;
	uint64_t instructions, executed;        /* blocks */
	double cycles[GUS_STREAM_LANES];
	double other_cycles;                    /* with the other caches: see the option interval */
	double core_cycles;                     /* by the core engine: see the option core */
	/* Standard errors, as not all of it was timed: of the nominal cycles, and in lane i + 1 of knob i's speedup. */
	double errors[GUS_STREAM_LANES];
	uint64_t slots, fused;                  /* issue slots; instructions that share that of the one before */
	double charged;                         /* by causality */
	/* How far the engines agree on a steady stretch of it, if it is a loop with GUS_TRACED_HOT of the time and it
	 * was asked for; else NULL. The reason is sought from GUS_TRACED_APART on. */
	struct gus_agreement *agreement;
};

struct gus_graph;
struct gus_traced_function {
	const char *name;                       /* NULL: none is known */
	const char *module;                     /* path; "" if there is none */
	struct gus_module of;
	/* offset in the module's file; address of its first byte in the trace */
	uint64_t start, size, address;
	struct gus_graph *graph;                /* of its code; NULL until a loop was sought, or if there is no code */
	uint32_t first_region;                  /* outside of loops; those of the loops lie behind */
};

struct gus_traced_mapping {
	uint64_t start, end, offset;
	struct gus_module module;
};

struct gus_traced_mappings gus_vec(struct gus_traced_mapping);

struct gus_traced_thread;

/* The threads' own. */
struct gus_traced_figures {
	uint32_t stream;
	uint64_t instructions, warmed;          /* without those of the warm-up, and they */
	double cycles[GUS_STREAM_LANES], other_cycles, core_cycles;
	const struct gus_cache_total *cache;
	const struct gus_branch_counts *branches; /* GUS_BRANCH_KINDS of them; NULL: the predictor was not asked */
};

/* What one trace is of: a program, from its beginning to its end, or to the next one that its process executes. */
struct gus_traced_program {
	uint32_t pid;
	const char *name;                       /* as the kernel would call it; "" if that is not known */
	uint64_t instructions;                  /* without those of the warm-up */
	double cycles;
	size_t threads;
	const char *trouble;                    /* why its trace is not whole; NULL: it is */
	bool over;                              /* private: nothing of it comes any more */
};

struct gus_traced {
	struct gus_traced_options options;
	enum gus_isa isa;
	struct gus_growing *growing;
	const struct gus_program *program;
	struct gus_vec(struct gus_traced_block) blocks; /* by the trace's numbers */
	struct gus_vec(struct gus_traced_memory) memories; /* by the program's */
	/* by the program's instructions: their accesses */
	struct gus_vec(struct gus_traced_own { uint32_t first; uint32_t n; }) own;
	struct gus_vec(struct gus_traced_region) regions;
	struct gus_vec(bool) prefetches;        /* by region: it has software prefetches */
	struct gus_vec(struct gus_traced_function) functions;
	struct gus_vec(struct gus_traced_thread *) threads; /* by stream; NULL: nothing of it yet */
	struct gus_traced_mappings mappings;    /* of the trace whose blocks come next */
	uint32_t pid;                           /* likewise: its process, and the time of its memory; 0: not known */
	uint64_t time;
	struct gus_vec(struct gus_traced_program) programs; /* by trace, in the order in which they began */
	struct gus_vec(uint32_t) program_of;    /* by stream */
	/* of lane i + 1: what was turned; without a name, nothing; of a set its name. Speedups are of the whole */
	struct gus_sensitivity *knobs;
	int knobs_n;
	struct gus_stream_resources groups_of_ports; /* as knobs and hops number them */
	/* After the end. */
	uint64_t instructions, warmed;          /* warmed: of them, those of the warm-up */
	/* whose way is not known: the last of a window, or into code that was not traced */
	uint64_t branches_unknown;
	double cycles[GUS_STREAM_LANES];        /* all threads, one after the other */
	double errors[GUS_STREAM_LANES];        /* as those of regions */
	uint64_t ops_run, ops_timed;            /* without those of the warm-up; equal where there is no such error */
	double other_cycles;
	double core_cycles;                     /* not meaningful if core_stopped */
	/* Where these go, by op, of what was timed and of what warmed the engine before it (pics.h). */
	struct gus_traced_pics pics;
	uint64_t core_ran;                      /* of all these */
	bool core_stopped;                      /* something could not be run by it: a notice says what */
	double *op_cycles;                      /* by op: as a sampler would see them; and ... */
	double *op_charged;                     /* ... by causality */
	/* Of the thread with the most cycles: */
	struct gus_circle circles[GUS_TRACED_CIRCLES];
	size_t circles_n;
	struct gus_phases_found phases;
	struct gus_carried_pair *pairs;         /* dependences through memory, the most frequent first */
	size_t pairs_n;
	struct gus_carried_totals carried;
	struct gus_access_group *groups;        /* by the program's accesses; NULL: not asked for */
	/* As whoever wrote the traces counted and said: */
	uint64_t omitted;                       /* accesses */
	/* What was not followed: bytes of long accesses, and instructions of threads beyond GUS_TRACED_THREADS */
	uint64_t cut_bytes, cut_instructions;
	bool full;                              /* a trace has stopped to grow before the program ended */
	struct gus_vec(char *) notices;         /* what else is not in it; sentences */
	size_t notices_told;                    /* of them, those that the traces have; behind them, our own */
	/* Private: measured rates, by the program's accesses and ops; which accesses have some, and how: their own, or
	 * those of a pool, which is 0 for none and else its number and 1; by region, for stores and for loads, samples
	 * of all accesses that have too few. */
	struct gus_rates *rates, *pooled;       /* pooled: by pool */
	struct gus_vec(struct gus_traced_rated { uint32_t pool; uint8_t known; }) rated;
	struct gus_traced_pool *pools;
	uint32_t pools_n;
	/* Steps before the lanes are chosen. */
	/* steps since the knobs were looked at, and after how many they are again */
	uint64_t since, look_after;
	uint64_t steps_looked_at;               /* in all, up to the last look */
	struct gus_vec(struct gus_traced_early { struct gus_trace_step step; size_t accesses; }) early;
	struct gus_vec(struct gus_trace_access) early_accesses;
	bool running;
	struct gus_stream_lane lanes[GUS_STREAM_LANES];
	struct gus_vec(struct gus_knob) sets[GUS_STREAM_LANES]; /* by lane: the set's */
	uint32_t window_bytes;
	uint64_t long_lines;                    /* of long accesses, so far */
	uint32_t machines;                      /* threads that are not NULL */
	/* Threads that are over: their figures, in the order in which they ended; their cycles, by lane; the most that
	 * one of them took. */
	struct gus_vec(struct gus_traced_figures) figures;
	double retired[GUS_STREAM_LANES];
	double longest;
	uint64_t taken;                         /* instructions of the traces so far, the warm-up's as well */
	bool thinned;                           /* of a trace stretches alone were taken */
	uint32_t op_room;                       /* of op_cycles and op_charged */
	struct gus_vec(struct gus_traced_kept *) kept; /* by region: excerpts of loops; NULL: none yet */
	struct gus_vec(struct gus_traced_passing *) passings; /* likewise: passages through them */
	/* places of instructions that were executed, once it was asked for them, ... */
	struct gus_index windows_blocks;        /* of windows of a process: blocks by what they are */
	struct gus_vec(uint32_t) learned_as;    /* by these: their numbers */
	struct gus_budget code;                 /* instructions that may still be learned */
	bool code_is_bound;                     /* by the first trace */
	struct gus_index covered;
	struct gus_vec(uint32_t) covered_by;     /* ... and the blocks that they are of */
	struct gus_strings strings;
	struct gus_vec(uint8_t) window_lines;   /* of the uop cache, by window; 0: decoders have it */
};

/* What traces call the code of an ISA: "x86_64"; "" if they have no name for it. */
const char *gus_traced_target(enum gus_isa isa);
/* Whether code for a target, such as "x86_64", can be run on a CPU. -1 with err, which says of what. */
int gus_traced_check(const struct gus_uarch *u, const char *what, const char *target, struct gus_error *err);
void gus_traced_open(struct gus_traced *t, const struct gus_traced_options *options);
void gus_traced_close(struct gus_traced *t);
/* What is mapped in the next trace, if it does not say so itself. Copied. */
void gus_traced_map(struct gus_traced *t, uint64_t start, uint64_t length, uint64_t offset, const char *path,
		    const void *build_id, size_t build_id_size);
/* Whose memory the next trace is of, and at what time of CLOCK_MONOTONIC: of code that a process makes for itself there
 * may be another function at the same address later. */
void gus_traced_moment(struct gus_traced *t, uint32_t pid, uint64_t time);
/* A trace that is read beside others. It is borrowed until the end of the source. NULL with err if it is of another ISA
 * than the table. */
struct gus_traced_source;
struct gus_traced_source *gus_traced_source_new(struct gus_traced *t, struct gus_trace *trace, struct gus_error *err);
/* Before it is read: of this share of all windows, the first among them, each gives this share, in stretches of so many
 * instructions that are even over it, and the first in any case. What is left out is read, and its code learned. */
void gus_traced_source_thin(struct gus_traced_source *s, uint64_t stretch, double share, double windows);
/* Reads until all of a frame with steps is taken, and waits for as much: 1; 0: the trace is over; -1 with err, and what
 * was read until then counts. */
int gus_traced_source_read(struct gus_traced_source *s, struct gus_error *err);
void gus_traced_source_end(struct gus_traced_source *s);

/* Reads all of a trace; of several the threads are apart. -1 with err if it stops before its end, is of another ISA
 * than the table, or cannot be run: what was read until then counts. */
int gus_traced_read(struct gus_traced *t, struct gus_trace *trace, struct gus_error *err);
/* After the last one: adds up. -1 with err if it cannot be run. */
int gus_traced_end(struct gus_traced *t, struct gus_error *err);
/* Whether it is about lines that threads share: an access to one takes longer than a hundred others. */
enum { GUS_TRACED_SHARED_EVERY = 1000 };
static inline bool gus_traced_block_shares(const struct gus_traced_block *b)
{
	return b->shared && b->shared >= b->executed / GUS_TRACED_SHARED_EVERY;
}

/* The block that executed the instruction most often which begins at that offset of a file; GUS_TRACED_NONE if none was
 * executed there. After the end. */
uint32_t gus_traced_block_at(struct gus_traced *t, const char *module, uint64_t offset);

/* How many threads there were; the i-th that ended. After the end. */
size_t gus_traced_threads(const struct gus_traced *t);
void gus_traced_thread(const struct gus_traced *t, size_t i, struct gus_traced_figures *out);

#endif
