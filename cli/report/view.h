/* SPDX-License-Identifier: MIT */
/* What a report shows: a view of a profile, and what of it every renderer needs. */
#ifndef GUS_CLI_REPORT_VIEW_H
#define GUS_CLI_REPORT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/rows.h"
#include "attribution/profile/units.h"
#include "cli/report/data.h"

struct gus_calls;
struct gus_trees_how;
struct gus_screen;
struct gus_tree;
struct gus_trees;

struct gus_report {
	const char *path;           /* of the recording */
	struct gus_profile *profile;
	struct gus_view *view;      /* its rows in the order to be printed */
	struct gus_units units;
	const struct gus_trees_how *graph; /* how callers and callees are shown; NULL: not at all */
	const struct gus_calls *calls; /* with trees: of them all, */
	struct gus_trees *trees;    /* those of rows; NULL: there are none, or there is */
	const struct gus_tree *tree; /* one of all samples, in the place of rows */
	bool by_total;              /* rows stand by what they take with all that they call, */
	bool by_longest;            /* or by the longest of their latencies or times */
	double percent_limit;       /* rows below it are left out, and their number is told */
	uint64_t length_ns;         /* of the recording */
	const struct gus_screen *screen; /* of text */
	bool header;                /* all that is known of the recording, not only what it is of */
};

#define GUS_REPORT_BUILD_ID 130     /* hex of 64 bytes and its end */
void gus_report_build_id(const struct gus_module *module, char out[GUS_REPORT_BUILD_ID]);

/* Row i as people and programs see it. Strings live as long as the view; text is filled by gus_report_cell. */
struct gus_report_cell {
	const char *module;         /* "" of tasks */
	struct gus_report_data data; /* of a report whose rows are of data */
	char build_id[GUS_REPORT_BUILD_ID]; /* "" if unknown */
	char text[128];             /* the instruction, or "" */
	uint64_t time_ns, cycles;   /* parts that add up to the totals over all rows in order */
	uint64_t before;            /* weight of the rows before: where its stack begins */
};

/* Rows must be asked for in order from 0, with *sum starting at 0: it carries the running weight. */
void gus_report_cell(const struct gus_report *r, size_t i, uint64_t *sum, struct gus_report_cell *cell);
/* Whether the row is at or above the limit; with a call graph its total counts. */
bool gus_report_shown(const struct gus_report *r, const struct gus_row *row);

/* What JSON calls the stacks that end so, by enum gus_callers; NULL if none do. */
const char *gus_report_ending(size_t i);

/* Notices that a reader must see before believing the numbers: cut, corrupt, lost. Calls say once for each. */
void gus_report_notices(const struct gus_report *r, void (*say)(const char *text, void *context), void *context);
/* The first of these, which are about the file alone. */
void gus_report_damage(const struct gus_damage *d, void (*say)(const char *text, void *context), void *context);
/* Whether more of what was counted is in no sample, as tasks ended before theirs, than is chance. */
bool gus_report_misses(const struct gus_report *r);

/* What rows are of: "events", or the option without its dashes. */
const char *gus_weighs_name(enum gus_weighs weighs);

#endif
