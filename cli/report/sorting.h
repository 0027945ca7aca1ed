/* SPDX-License-Identifier: MIT */
/* The order of a report's rows, as --sort says it. A view comes sorted by weight and, among equals, in an order of its
 * own; keys only rearrange it stably. */
#ifndef GUS_CLI_REPORT_SORTING_H
#define GUS_CLI_REPORT_SORTING_H

#include <stddef.h>

#include "attribution/profile/rows.h"

struct gus_error;

/* Numbers the highest first, but for places and tasks; names as strcmp has them. */
enum gus_sort { GUS_SORT_SHARE, GUS_SORT_SAMPLES, GUS_SORT_TOTAL, GUS_SORT_NAME, GUS_SORT_MODULE, GUS_SORT_LINE,
	GUS_SORT_OFFSET, GUS_SORT_PID, GUS_SORT_TID,
	GUS_SORT_ADDRESS,        /* the lowest that was asked for */
	GUS_SORT_LATENCY,        /* the median of loads */
	GUS_SORT_SUM,            /* of their latencies */
	GUS_SORT_LONGEST,        /* one of them, or of times off the CPU */
	GUS_SORTS };

struct gus_sorting {
	enum gus_sort keys[16];
	size_t n;
};

/* Words with commas between them; "" is no key. What perf's --sort says, which is what a row is, is an error that says
 * where that is here. */
int gus_sorting_parse(struct gus_sorting *s, const char *text, struct gus_error *err);
/* An error if rows of that have nothing of what a key is about; by: enum gus_by. */
int gus_sorting_fits(const struct gus_sorting *s, unsigned by, enum gus_weighs weighs, struct gus_error *err);
void gus_sorting_apply(const struct gus_sorting *s, struct gus_view *v, const struct gus_profile *p);
/* By what the rows stand before all else. */
enum gus_sort gus_sorting_first(const struct gus_sorting *s);

#endif
