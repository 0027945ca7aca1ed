/* SPDX-License-Identifier: MIT */
/* What gusprof compare shows, and its renderers. */
#ifndef GUS_CLI_COMPARE_VIEW_H
#define GUS_CLI_COMPARE_VIEW_H

#include "attribution/compared/compared.h"
#include "attribution/compared/measured.h"
#include "cli/model/view.h"
#include "cli/screen/screen.h"

struct gus_compare_view {
	const struct gus_model_view *model;     /* with the trace, and what it is of */
	const struct gus_compared *compared;
	const struct gus_measured *measured;
	const struct gus_screen *screen;
	const char *other_cpu;                  /* the table of the CPU that was measured on, if that is another one */
	bool core;                              /* the modelled cycles are the core engine's */
	uint64_t rows;                          /* regions that are shown; 0: those with a hundredth of either time */
	uint64_t listings;                      /* regions that are shown instruction by instruction */
};

void gus_compare_text(const struct gus_compare_view *v);
void gus_compare_json(const struct gus_compare_view *v);
void gus_compare_csv(const struct gus_compare_view *v);

#endif
