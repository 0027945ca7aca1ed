/* SPDX-License-Identifier: MIT */
/* A branch predictor: direction of conditional branches by a bimodal table and tagged tables of ever longer history
 * (after Seznec's TAGE), targets of indirect ones in the same way (ITTAGE) over a branch target buffer, and a stack
 * of return addresses. It is told each branch with its outcome, in order, and says whether it would have been
 * mispredicted.
 *
 * The predictors of real cores are not published. The default sizes are those of none of them, and roughly what
 * recent cores are believed to hold; what this says about a branch is whether its history decides it, not what one
 * core makes of it. There is no statistical corrector: of a branch that is taken in two of three by chance 36 % go
 * wrong, where 33 would do. */
#ifndef GUS_MODEL_ORACLES_BRANCH_H
#define GUS_MODEL_ORACLES_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_core_config;
struct gus_error;

enum gus_branch_kind {
	GUS_BRANCH_CONDITIONAL, GUS_BRANCH_JUMP, GUS_BRANCH_INDIRECT, GUS_BRANCH_CALL, GUS_BRANCH_CALL_INDIRECT,
	GUS_BRANCH_RETURN, GUS_BRANCH_KINDS
};

enum { GUS_BRANCH_TABLES_MAX = 16, GUS_BRANCH_HISTORY_MAX = 2048, GUS_BRANCH_PATH_MAX = 8,
	GUS_BRANCH_LATE_MAX = 4096, GUS_BRANCH_QUICK_HISTORY = 32 };

/* Tagged tables; their histories grow geometrically from the first to the last. */
struct gus_branch_tagged {
	uint32_t tables;                /* 0: none, the plain table decides */
	uint32_t entry_bits, tag_bits;  /* of each: 2^entry_bits entries */
	uint32_t history_min, history_max;
};
struct gus_branch_config {
	uint32_t base_bits;             /* 2^base_bits two-bit counters */
	struct gus_branch_tagged direction, target;
	uint32_t btb_entries, btb_ways; /* true LRU */
	uint32_t return_depth;
	/* What tells targets of an indirect branch apart. 0: directions and targets, as the tables' histories hold.
	 * Else directions, and which direct branches were among the last so many that were taken, at most
	 * GUS_BRANCH_PATH_MAX: earlier targets do not. */
	uint32_t target_path;
	/* What is foreseen at once, until the tables have said what they know: by two-bit counters, and of branches
	 * that these are wrong about by so many entries, a power of two, of one history of GUS_BRANCH_QUICK_HISTORY
	 * directions. 0: the tables are as fast. */
	uint32_t quick_entries;
	/* For machines that no table describes: the last so many branches have not been learnt from yet, at most
	 * GUS_BRANCH_LATE_MAX. Directions, targets and returns that histories have are known at once. */
	uint32_t train_late;
	bool narrow;                    /* does without AVX2 also where there is some: no verdict depends on that */
};
/* 2^13 counters, 8 tables of 2^10 over histories of 4 to 256; 5 of 2^9 over 4 to 64 for targets; 4096 targets; 16
 * returns. */
void gus_branch_config_default(struct gus_branch_config *c);
/* The same, with what is known of a machine: indirect_path as target_path, branch_histories as the entries of all
 * tables of directions together, to a power of two, branch_history as their longest history, branch_quick as
 * quick_entries if there is a branch_override. */
void gus_branch_config_of(struct gus_branch_config *c, const struct gus_core_config *machine);

struct gus_branch_outcome {
	uint64_t pc, next, target;      /* next: of the instruction behind it; target: where it went if taken */
	enum gus_branch_kind kind;
	bool taken;                     /* all but conditional ones always are */
};
struct gus_branch_verdict { /* bits, as bytes that are written apart cannot be read together at once */
	bool mispredicted : 1;
	bool unknown : 1;               /* never seen before: before the window it may have been learnt */
	bool late : 1;                  /* taken and direct, its target not in the buffer: the decoder finds it */
	bool overridden : 1;            /* predicted well, but not at once (gus_branch_config's quick_entries) */
};
struct gus_branch_counts { uint64_t executed, taken, mispredicted, unknown, late; /* unknown: of the mispredicted */ };

struct gus_branch_predictor;
/* NULL with err if the sizes make none. One thread at a time. */
struct gus_branch_predictor *gus_branch_new(const struct gus_branch_config *config, struct gus_error *err);
void gus_branch_free(struct gus_branch_predictor *p);
struct gus_branch_verdict gus_branch_run(struct gus_branch_predictor *p, const struct gus_branch_outcome *o);
/* GUS_BRANCH_KINDS of them. */
const struct gus_branch_counts *gus_branch_totals(const struct gus_branch_predictor *p);
void gus_branch_count_anew(struct gus_branch_predictor *p);

#endif
