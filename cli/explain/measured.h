/* SPDX-License-Identifier: MIT */
/* What counters have measured of a recording that is explained: the tree of the whole, and, where samples bring counts
 * along, of each function. */
#ifndef GUS_CLI_EXPLAIN_MEASURED_H
#define GUS_CLI_EXPLAIN_MEASURED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/profile.h"
#include "attribution/topdown/sums.h"
#include "attribution/topdown/tree.h"
#include "attribution/verdicts/measured.h"
#include "base/alloc.h"

struct gus_error;
struct gus_screen;
struct gus_symbols_options;
struct gus_traced;

/* A tree of one kind of cores. */
struct gus_explain_tree {
	const struct gus_topdown *table;
	const char *pmu;
	uint64_t readings;              /* that it is of; 0: there is none, and the rest says nothing */
	bool sampled;                   /* these are differences between samples: what is whose is inferred */
	struct gus_causal_measured nodes;
};

struct gus_explain_counts {
	struct gus_profile profile;
	bool loaded;
	struct gus_reader *reader;      /* whose header the profile has: closed with all this; NULL: another's */
	uint64_t length_ns;             /* of the recording */
	/* Of each kind of cores the tree of the whole, and that of most slots: NULL if nothing was counted. */
	struct gus_vec(struct gus_explain_tree) wholes;
	const struct gus_explain_tree *whole;
	struct gus_vec(struct gus_topdown_sums) parts; /* by kind of profile.sampled, once they were added up */
};

/* Reads the recording, which is open, to its end. -1 with err. Freed with gus_explain_counts_free in any case. */
int gus_explain_counts_load(struct gus_explain_counts *c, struct gus_reader *reader,
			    const struct gus_symbols_options *symbols, struct gus_error *err);
/* The same of what is at path, by the names that any report has. False if it cannot be read: who has read it before has
 * said why. */
bool gus_explain_counts_open(struct gus_explain_counts *c, const char *path);
void gus_explain_counts_free(struct gus_explain_counts *c);

/* Adds counts that samples have up by the trace's functions, or by rows of a view of the profile. */
void gus_explain_counts_by_function(struct gus_explain_counts *c, struct gus_traced *t);
void gus_explain_counts_by_row(struct gus_explain_counts *c, const uint32_t *row_of_cell);
/* The tree of one of them, of those cores on which it had most slots; without readings where there are too few. */
struct gus_explain_tree gus_explain_counts_part(const struct gus_explain_counts *c, uint32_t number);

/* The trees of the whole: above all regions, in lines that begin with '#'; as a list, or null. */
void gus_explain_counts_text(const struct gus_explain_counts *c, const struct gus_screen *screen);
json_t *gus_explain_counts_json(const struct gus_explain_counts *c);

#endif
