/* SPDX-License-Identifier: MIT */
/* gusprof report --topdown: what became of issue slots, over time, or by thread, function and so on. */
#ifndef GUS_CLI_REPORT_SLOTS_H
#define GUS_CLI_REPORT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/slots/parts.h"

struct gus_error;
struct gus_profile;
struct gus_report;

/* Parts, one list a kind of cores. */
struct gus_report_slots { struct gus_vec(struct gus_slots_parts) kinds; };

/* Over time, in at most that many parts: by the frames of a recording, or where it has none by its samples. -1 with
 * err, GUS_E_NOT_FOUND, if it has neither. */
int gus_report_slots_by_time(struct gus_report_slots *s, const struct gus_profile *p, size_t parts,
			     struct gus_error *err);
/* By the rows of the report's view, the most slots first; by its samples. Likewise. */
int gus_report_slots_by_rows(struct gus_report_slots *s, const struct gus_report *r, struct gus_error *err);
void gus_report_slots_free(struct gus_report_slots *s);

void gus_render_slots_text(const struct gus_report *r, const struct gus_report_slots *s);
void gus_render_slots_csv(const struct gus_report_slots *s);
/* by: what parts are. 0, or -1. */
int gus_render_slots_json(const struct gus_report *r, const struct gus_report_slots *s, const char *by);

#endif
