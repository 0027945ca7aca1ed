/* SPDX-License-Identifier: MIT */
/* The renderers of gusprof annotate: functions, their source and their instructions, on stdout. */
#ifndef GUS_CLI_ANNOTATE_RENDER_H
#define GUS_CLI_ANNOTATE_RENDER_H

#include "cli/annotate/view.h"

void gus_annotate_text(const struct gus_annotate *r);
void gus_annotate_csv(const struct gus_annotate *r);
int gus_annotate_json(const struct gus_annotate *r);

#endif
