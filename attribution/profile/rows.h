/* SPDX-License-Identifier: MIT */
/* A view of a profile: its cells gathered into rows by code, by task, by the data that were asked for, or by several of
 * these at once, each with its share and interval. The rows' samples and weights add up to the profile's. */
#ifndef GUS_ATTRIBUTION_PROFILE_ROWS_H
#define GUS_ATTRIBUTION_PROFILE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/by.h"
#include "attribution/profile/latencies.h"
#include "attribution/profile/profile.h"
#include "attribution/stacks/stack.h"
#include "attribution/statistics/interval.h"
#include "base/index.h"

/* Strings are interned in the view and live as long as it does. */
struct gus_row {
	uint32_t module;          /* number in the profile's space; GUS_INDEX_NONE of tasks */
	const char *function;     /* NULL if not known, or not asked by this view */
	const char *file;
	uint32_t line;
	uint64_t offset;          /* of the instruction, or the lowest start of the function; in the module's file */
	bool has_offset;
	uint32_t thread;          /* index into the profile's threads, by thread only */
	const char *comm;         /* of tasks: what they are called; else NULL */
	uint32_t pid, tid;        /* of a thread, and of a process the first */
	uint32_t touch;           /* number among the profile's accesses, by data only */
	struct gus_latencies loads; /* how long loads took, of a profile that has kept accesses */
	uint64_t samples, weight; /* of the row itself */
	struct gus_stack stack;   /* of the weight; its unknown part is always there, also if it is 0 */
	uint64_t total;           /* weight with everything it called; equals weight without chains, and where rows are
				   * not of code alone */
	double share;             /* weight over the profile's */
	struct gus_interval ci95; /* of the share; of time off the CPU, which is observed, what was inferred of it */
	struct gus_off off;       /* of the weight, in a profile of time */
};

/* One caller or callee of a row, by weight. */
struct gus_edge {
	uint32_t from, to;        /* rows: the caller, the called */
	uint64_t weight;          /* of the samples whose path has this call, each counted once */
};

struct gus_view {
	unsigned by;              /* enum gus_by, settled */
	struct gus_rows gus_vec(struct gus_row) rows; /* by weight, then by name: the same input, the same order */
	struct gus_edges gus_vec(struct gus_edge) by_callee; /* only with chains, by function */
	struct gus_edges by_caller; /* the same, sorted by caller, then weight */
	struct gus_vec(uint32_t) of_cell; /* by cell of the profile: its row */
	struct gus_strings strings;
};

/* Makes the view; by: enum gus_by. inlines: a sample belongs to the innermost inlined function; else to the symbol that
 * has the code. */
void gus_view_make(struct gus_view *v, struct gus_profile *p, unsigned by, bool inlines);
void gus_view_free(struct gus_view *v);

/* The interval of the share of so much weight of the profile's. */
struct gus_interval gus_view_interval(const struct gus_profile *p, uint64_t weight);

/* Rearranges the rows; where order says 0 they stay as they are. */
void gus_view_sort(struct gus_view *v,
		   int (*order)(const struct gus_row *, const struct gus_row *, const void *context),
		   const void *context);

/* The callers of a row, or the functions that it calls: *n of them, the heaviest first. Valid until the next sort. */
const struct gus_edge *gus_view_callers(const struct gus_view *v, uint32_t row, size_t *n);
const struct gus_edge *gus_view_callees(const struct gus_view *v, uint32_t row, size_t *n);

#endif
