/* SPDX-License-Identifier: MIT */
/* Samples of a profile by the names of their functions. Unlike what a filter asks of samples (attribution/profile/
 * profile.h) this can only be told when places have names, so it is done to cells, when all have been added up. */
#ifndef GUS_ATTRIBUTION_PROFILE_SELECTION_H
#define GUS_ATTRIBUTION_PROFILE_SELECTION_H

#include <stdbool.h>

#include "attribution/profile/profile.h"
#include "base/index.h"

/* Whether a function is meant by a name or a pattern (glob(7)). */
bool gus_selection_means(const char *pattern, const char *function);

/* Keeps what is in functions that one of the patterns means; the other samples count as filtered. inlines: as in
 * gus_view_make. All names that there were, each once, are added to names. */
void gus_selection_functions(struct gus_profile *p, const char *const *patterns, bool inlines,
			     struct gus_strings *names);

#endif
