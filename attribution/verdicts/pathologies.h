/* SPDX-License-Identifier: MIT */
/* Which pathologies a region has (attribution/verdicts/pathology.h). */
#ifndef GUS_ATTRIBUTION_VERDICTS_PATHOLOGIES_H
#define GUS_ATTRIBUTION_VERDICTS_PATHOLOGIES_H

#include "attribution/verdicts/pathology.h"

/* Those that the region has, worth or not, the most expensive first. Freed with gus_vec_free. */
void gus_pathologies_find(const struct gus_pathology_given *g, struct gus_pathologies *out);

#endif
