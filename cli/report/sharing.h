/* SPDX-License-Identifier: MIT */
/* What is shown of lines that threads share by accident: as text, JSON (gusprof.sharing/1) or CSV, on stdout. */
#ifndef GUS_CLI_REPORT_SHARING_H
#define GUS_CLI_REPORT_SHARING_H

#include "cli/report/view.h"

struct gus_sharing;

/* r: of the same profile; it has no rows. */
void gus_render_sharing_text(const struct gus_report *r, const struct gus_sharing *s);
void gus_render_sharing_csv(const struct gus_sharing *s);
int gus_render_sharing_json(const struct gus_report *r, const struct gus_sharing *s);

#endif
