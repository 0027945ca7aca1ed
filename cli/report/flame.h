/* SPDX-License-Identifier: MIT */
/* A flame graph: one page of HTML with the stacks of a profile and a small program that draws them. It needs no
 * network, and its policy (CSP) lets nothing run but that program, which it knows by its hash.
 *
 * The stacks stand in it whole, whatever their number: what is too narrow is left out when it is drawn, as it may be
 * zoomed to. */
#ifndef GUS_CLI_REPORT_FLAME_H
#define GUS_CLI_REPORT_FLAME_H

#include <stdio.h>

#include "cli/report/view.h"

/* Prints the page of a report, whose view may be missing. by: with a task's, the outermost frame of each stack is who
 * had it. The same profile gives the same bytes. */
void gus_flame_print(const struct gus_report *r, enum gus_by by, bool inlines, FILE *out);

#endif
