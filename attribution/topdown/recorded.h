/* SPDX-License-Identifier: MIT */
/* Trees of the top-down method out of a recording: its frames of counts (proto/FORMAT.md, SLOTS), by the tables that
 * this program has for the machine that it was made on. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_RECORDED_H
#define GUS_ATTRIBUTION_TOPDOWN_RECORDED_H

#include "attribution/topdown/kinds.h"
#include "attribution/topdown/readings.h"
#include "attribution/topdown/tree.h"
#include "proto/gusprof.pb-c.h"

struct gus_topdown_kind {
	char *title, *pmu;
	struct gus_topdown *table;      /* NULL: there is none that has these events */
	unsigned level;
	struct gus_topdown_kind_span span; /* its events in a reading */
};

struct gus_topdown_recorded {
	struct gus_vec(struct gus_topdown_kind) kinds;
	struct gus_vec(struct gus_topdown_kind_span) spans; /* by kind */
	size_t events;                  /* of a reading */
	bool tasks;                     /* they are of tasks, wherever these ran, and not of whole CPUs */
	uint64_t start_ns;              /* when the recording began, by the clock of the readings */
	struct gus_topdown_readings readings;
	struct gus_vec(struct gus_topdown_count) total;
};

/* Adds a frame; header: of the recording, NULL: it has none. False if it contradicts itself, or what was added before:
 * then it adds nothing. */
bool gus_topdown_recorded_add(struct gus_topdown_recorded *r, const Gusprof__Slots *message,
			      const Gusprof__Header *header);
/* The tree of a kind that has a table, and of a stretch of its readings. The caller frees it. */
void gus_topdown_recorded_tree(const struct gus_topdown_recorded *r, const struct gus_topdown_kind *kind,
			       struct gus_topdown_tree *tree);
void gus_topdown_recorded_part(const struct gus_topdown_recorded *r, const struct gus_topdown_kind *kind,
			       const struct gus_topdown_stretch *stretch, struct gus_topdown_tree *tree);
void gus_topdown_recorded_free(struct gus_topdown_recorded *r);

#endif
