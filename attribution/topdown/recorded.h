/* SPDX-License-Identifier: MIT */
/* Trees of the top-down method out of a recording: its frames of counts (proto/FORMAT.md, SLOTS), by the tables that
 * this program has for the machine that it was made on. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_RECORDED_H
#define GUS_ATTRIBUTION_TOPDOWN_RECORDED_H

#include "attribution/topdown/readings.h"
#include "attribution/topdown/tree.h"
#include "proto/gusprof.pb-c.h"

struct gus_topdown_kind {
	char *title, *pmu;
	struct gus_topdown *table;      /* NULL: there is none that has these events */
	unsigned level;
	size_t first, n;                /* its events in a reading */
};

struct gus_topdown_recorded {
	struct gus_vec(struct gus_topdown_kind) kinds;
	size_t events;                  /* of a reading */
	struct gus_topdown_readings readings;
	struct gus_vec(struct gus_topdown_count) total;
};

/* Adds a frame; host: of the recording, or NULL if it does not say. False if it contradicts itself, or what was added
 * before: then it adds nothing. */
bool gus_topdown_recorded_add(struct gus_topdown_recorded *r, const Gusprof__Slots *message,
			      const Gusprof__Host *host);
/* The tree of a kind that has a table. The caller frees it. */
void gus_topdown_recorded_tree(const struct gus_topdown_recorded *r, const struct gus_topdown_kind *kind,
			       struct gus_topdown_tree *tree);
void gus_topdown_recorded_free(struct gus_topdown_recorded *r);

#endif
