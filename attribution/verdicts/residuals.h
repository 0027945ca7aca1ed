/* SPDX-License-Identifier: MIT */
/* How sure a calibration is of what a node stands for: a table that was fitted to a machine says of each parameter in
 * which interval it lies, and how far what was timed is from what it explains. */
#ifndef GUS_ATTRIBUTION_VERDICTS_RESIDUALS_H
#define GUS_ATTRIBUTION_VERDICTS_RESIDUALS_H

#include "attribution/verdicts/nodes.h"

struct gus_uarch;

/* The root of the mean of the squares, over the fits of the parameters and forms that the node's knobs are of: of each
 * the larger of half its interval's width and its residual, as parts of its value. 0 where the table has no such. */
double gus_node_residual(const struct gus_uarch *u, enum gus_node node);

#endif
