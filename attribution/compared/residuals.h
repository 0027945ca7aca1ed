/* SPDX-License-Identifier: MIT */
/* Whether what the model misses in many regions follows from a few forms of instructions that they have in common: a
 * regression of missed cycles on how often each form is executed.
 *
 * There are far more forms than regions, so some form fits any differences whatever they are from, and how well it fits
 * says nothing. What says something is whether the fit foretells a region that it has not seen: each region is left out
 * once, the forms are chosen and fitted anew on the others, and what is told of it is held against what was missed
 * there. That share, predicted, is what a report goes by. */
#ifndef GUS_ATTRIBUTION_COMPARED_RESIDUALS_H
#define GUS_ATTRIBUTION_COMPARED_RESIDUALS_H

#include <stddef.h>

enum { GUS_RESIDUALS_FORMS = 3 };
/* Of fewer regions nothing is told, nor if less is explained or predicted. */
enum { GUS_RESIDUALS_LEAST = 8 };
static const double GUS_RESIDUALS_EXPLAINED = 0.5;

struct gus_residuals {
	size_t regions, forms;
	const double *missed;   /* by region: cycles measured less those modelled */
	const double *errors;   /* by region: standard error of that, not 0 */
	const double *counts;   /* regions rows of forms: executions */
};

struct gus_residuals_fit {
	size_t n;                              /* forms; 0: none helps */
	size_t form[GUS_RESIDUALS_FORMS];      /* their numbers, the one that helps most first */
	double cycles[GUS_RESIDUALS_FORMS];    /* that each execution of it takes more than modelled */
	double explained, predicted;           /* parts of 1; predicted is 0 at least */
};

/* Forms are taken one by one, each time the one that explains most, until a further one explains less than a twentieth;
 * coefficients by ridge regression, so that forms that always come together share what they explain. */
void gus_residuals_fit(const struct gus_residuals *r, struct gus_residuals_fit *fit);

#endif
