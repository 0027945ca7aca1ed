/* SPDX-License-Identifier: MIT */
/* The trees of a report with -g: of all samples, or of each row's. */
#ifndef GUS_CLI_REPORT_TREES_H
#define GUS_CLI_REPORT_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/profile/tree.h"

struct gus_callee;
struct gus_calls;
struct gus_error;
struct gus_view;

/* What -g says. */
enum gus_trees_kind {
	GUS_TREES_NONE,
	GUS_TREES_EACH,  /* below each row one of its samples */
	GUS_TREES_ROWS,   /* below each row its callers and callees, by row */
	GUS_TREES_FOLDED, /* no rows: stacks, a line each */
	GUS_TREES_TOTALS, /* rows and what they take with all that they call, nothing below them */
};

struct gus_trees_how {
	enum gus_trees_kind kind;
	bool said;               /* -g was given, perhaps for none */
	bool ordered, down;      /* whether the direction was said, and which it is: from the outermost callers down */
	struct gus_tree_limits limits;
};
#define GUS_TREES_DEFAULTS { .limits = { .least = 0.005 } }

/* perf's words, separated by commas: caller, callee, graph, fractal, function, percent, rows, folded, none, and a
 * threshold in percent. NULL: none of them. 0 or -1. */
int gus_trees_parse(struct gus_trees_how *g, const char *text, struct gus_error *err);
/* Whether a word is nothing but such words, and so no name of a file. */
bool gus_trees_takes(const char *word);

/* Trees of rows. */
struct gus_trees;

/* children: of functions not only the samples in them, but also those in what they call. view: in its last order. */
struct gus_trees *gus_trees_new(const struct gus_calls *calls, const struct gus_view *view,
				const struct gus_trees_how *graph, bool children);
void gus_trees_free(struct gus_trees *trees);
/* The tree of a row; who asks frees it. Its weight is the row's, or with children its total: asserted. */
void gus_trees_row(struct gus_trees *trees, size_t row, struct gus_tree *tree);

/* What a node reads like: a function, or in brackets the module of code that has no name. The caller frees it. */
char *gus_trees_name(const struct gus_calls *calls, uint32_t callee);
/* As JSON and CSV have it. */
const char *gus_trees_kind(const struct gus_callee *callee);

#endif
