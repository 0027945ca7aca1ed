/* SPDX-License-Identifier: MIT */
/* Parts of a recording, each with what became of its issue slots: stretches of time, or rows of a report. All three
 * renderers show the same list. */
#ifndef GUS_CLI_SLOTS_PARTS_H
#define GUS_CLI_SLOTS_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "attribution/topdown/tree.h"
#include "base/alloc.h"

struct gus_csv;
struct gus_screen;

/* What it is of: what was not asked for, or is not known, is NULL or 0. Strings are borrowed, but for the label. */
struct gus_slots_part {
	bool timed;
	uint64_t from_ns, to_ns;        /* since the recording began */
	const char *module, *function, *file, *comm;
	uint32_t line, pid, tid;
	bool has_offset;
	uint64_t offset;
	char *label;                    /* the same in words, for people */
	uint64_t readings;              /* or differences between readings */
	uint64_t *counts;               /* one an event, as counted; owned */
	struct gus_topdown_tree tree;
};

/* Of one kind of cores. */
struct gus_slots_parts {
	const struct gus_topdown *table;
	const char *pmu;
	const char *evidence;           /* of what is whose: "observed" or "inferred" */
	unsigned level;                 /* of the table, down to which events are counted */
	const bool *known;              /* by event, which of them are; NULL: all */
	struct gus_slots_part total;
	struct gus_vec(struct gus_slots_part) list;
	uint64_t left_out;              /* parts below the limit, */
	double left_share;              /* and how many of the slots they have together */
};

void gus_slots_part_free(struct gus_slots_part *part);
void gus_slots_parts_free(struct gus_slots_parts *p);

/* Its share of all slots; negative: not known. */
double gus_slots_part_share(const struct gus_slots_parts *p, const struct gus_slots_part *part);
void gus_slots_parts_text(FILE *out, const struct gus_screen *screen, const struct gus_slots_parts *p);
json_t *gus_slots_parts_json(const struct gus_slots_parts *p);
void gus_slots_parts_csv_header(FILE *out);
void gus_slots_parts_csv(struct gus_csv *csv, const struct gus_slots_parts *p);

#endif
