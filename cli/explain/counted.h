/* SPDX-License-Identifier: MIT */
/* Functions of a recording that has no windows of what was executed: their measured trees are shown all the same, and
 * nothing that a model would add. */
#ifndef GUS_CLI_EXPLAIN_COUNTED_H
#define GUS_CLI_EXPLAIN_COUNTED_H

#include <stdint.h>

struct gus_explain_view;
struct gus_view;

/* Adds a row of a view by function, whose counts were added up by rows, as a region of which nothing was modelled. */
void gus_explain_counted_add(struct gus_explain_view *v, const struct gus_view *view, uint32_t row);

#endif
