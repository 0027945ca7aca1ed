/* SPDX-License-Identifier: MIT */
/* What a recording is, above what is shown of it: two lines, or with --header all there is to say. Each begins with
 * '#', so that whoever reads rows can leave them out. */
#ifndef GUS_CLI_REPORT_HEAD_H
#define GUS_CLI_REPORT_HEAD_H

#include "cli/report/view.h"

void gus_head_print(const struct gus_report *r);

/* Who was watched, in words: the command, or "process 1234 (name)". The caller frees it. */
char *gus_head_target(const struct gus_profile *p);

/* How many samples of what, and what they stand for, in words. The caller frees it. */
char *gus_head_totals(const struct gus_report *r);

#endif
