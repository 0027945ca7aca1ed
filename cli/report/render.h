/* SPDX-License-Identifier: MIT */
/* The report's renderers: the same view as text, JSON or CSV, on stdout; and the parts of them that other verbs have
 * too. */
#ifndef GUS_CLI_REPORT_RENDER_H
#define GUS_CLI_REPORT_RENDER_H

#include <jansson.h>

#include "cli/report/view.h"

void gus_render_text(const struct gus_report *r);
/* The lines with '#' above the rows: the run, its totals, notices. */
void gus_render_text_head(const struct gus_report *r);
void gus_render_csv(const struct gus_report *r);
int gus_render_json(const struct gus_report *r);

/* What every verb that reads a recording says about it: the object "recording" of DESIGN.md section 8. */
json_t *gus_json_recording(const struct gus_report *r);
/* What its samples stand for: the object "total". */
json_t *gus_json_total(const struct gus_report *r);

#endif
