/* SPDX-License-Identifier: MIT */
/* What `gusprof stat` shows: counts of one run, of several, or of an interval, and what follows from them; and its
 * renderers. */
#ifndef GUS_CLI_STAT_VIEW_H
#define GUS_CLI_STAT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "attribution/statistics/series.h"
#include "attribution/topdown/readings.h"
#include "collector/stat/stat.h"

struct gus_events;
struct gus_screen;
struct gus_topdown_counted;
struct gus_topdown_counted_list;
struct gus_stat_target;
struct gus_traffic;

/* An event over the runs. */
struct gus_stat_line {
	const struct gus_event *event;
	struct gus_stat_row row;   /* its count is the sum over the runs; the state is that of the worst */
	struct gus_series values;  /* one a run, scaled where it was not counted all the time */
	struct gus_summary summary;
	bool known;                /* there is a number */
};

struct gus_stat_view {
	const struct gus_stat_target *target;
	const struct gus_screen *screen; /* of text */
	char *const *command;      /* NULL: none */
	struct gus_vec(struct gus_stat_line) lines;
	struct gus_series elapsed, user, system; /* ns, one a run; the last two empty if nothing was run */
	size_t runs;
	bool by_default;           /* nobody asked for these events: those that are not to be had are only named */
	const struct gus_topdown_counted_list *topdown; /* which lines are of a top-down table */
	struct gus_topdown_readings readings; /* of all lines, from which intervals of top-down trees follow */
	bool trees;                /* they were asked for: intervals have them, too */
	const struct gus_traffic *traffic; /* of memory, of the same time; NULL: it was not asked for */
	bool interval;             /* of a run, from .. to; else the whole */
	uint64_t from_ns, to_ns;
	int exit_status, exit_signal;
	bool user_only;
	size_t missed;
};

/* Something that follows from counts. */
struct gus_derived { const char *name, *unit; double value; };

void gus_stat_view_init(struct gus_stat_view *v, const struct gus_events *events);
void gus_stat_view_free(struct gus_stat_view *v);
/* Adds a run, or the one part that an interval has. */
void gus_stat_view_add(struct gus_stat_view *v, const struct gus_stat_row *rows, uint64_t elapsed_ns);
/* Adds a reading that was taken so long after counting began; times are since the one before. */
void gus_stat_view_read(struct gus_stat_view *v, const struct gus_stat_row *rows, uint64_t at_ns);
/* To be called when all have been added. */
void gus_stat_view_settle(struct gus_stat_view *v);

/* What follows for that line from it and the others; false if nothing does. */
bool gus_stat_derive(const struct gus_stat_view *v, const struct gus_stat_line *line, struct gus_derived *d);
/* What became of the slots by the lines of a table; false if nothing of it is known. The caller frees the tree. */
bool gus_stat_topdown(const struct gus_stat_view *v, const struct gus_topdown_counted *counted,
		      struct gus_topdown_tree *tree);
/* Whether the line is one of those that make up a top-down tree. */
bool gus_stat_is_topdown(const struct gus_stat_view *v, const struct gus_stat_line *line);

/* "observed", "inferred" (it was not counted all the time) or "unknown". */
const char *gus_stat_evidence(const struct gus_stat_line *line);
/* Why there is no number, or where it is from if not from a counter; NULL if there is nothing to say. */
const char *gus_stat_reason(const struct gus_stat_line *line);

void gus_stat_text(FILE *out, const struct gus_stat_view *v);
void gus_stat_csv_header(FILE *out, const char *separator);
void gus_stat_csv(FILE *out, const struct gus_stat_view *v, const char *separator);
/* indent: over several lines. */
int gus_stat_json(FILE *out, const struct gus_stat_view *v, bool indent);

#endif
