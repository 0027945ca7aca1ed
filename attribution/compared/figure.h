/* SPDX-License-Identifier: MIT */
/* Figures that are known within an interval, and what is made of them. Errors that have nothing to do with each other
 * add up as their squares do. */
#ifndef GUS_ATTRIBUTION_COMPARED_FIGURE_H
#define GUS_ATTRIBUTION_COMPARED_FIGURE_H

#include <stdbool.h>

#include "attribution/statistics/interval.h"

/* A figure and its 95 % interval. */
struct gus_figure {
	double value;
	struct gus_interval ci;
};

/* Whether a ratio says anything: what may be nothing at all and may be right as well does not, nor what has no upper
 * end. */
bool gus_figure_tells(const struct gus_figure *ratio);

/* What was measured over what was modelled. error: of the modelled figure, as a share of it, at 95 %. That is not 0;
 * what was measured may be infinite. */
struct gus_figure gus_figure_ratio(const struct gus_figure *measured, double modelled, double error);

/* A share of so many. each: what one of these is worth, and its bounds; other: a further error, as a share. */
struct gus_figure gus_figure_part(const struct gus_figure *share, double of, const struct gus_figure *each,
				  double other);

/* What a share is beside the rest of it, if all the rest is so many: infinite where there is no rest. */
struct gus_figure gus_figure_against(const struct gus_figure *share, double rest);

/* How far that is off, as a share of it, if the share is known from so many samples. */
double gus_figure_against_error(double share, double samples);

#endif
