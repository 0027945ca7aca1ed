/* SPDX-License-Identifier: MIT */
/* What stands at each place of a profile, in the numbers of whoever asks: rows or callees. At one place there may be
 * several functions, each inlined in the next one: a nest. A place is named once, however often it is asked for. */
#ifndef GUS_ATTRIBUTION_PROFILE_NESTS_H
#define GUS_ATTRIBUTION_PROFILE_NESTS_H

#include "attribution/profile/profile.h"
#include "base/index.h"

/* A part of the numbers: the innermost inlined function first, the one that has the code last. Never empty. */
struct gus_nest { size_t first, n; };

struct gus_nests {
	struct gus_profile *profile;
	enum gus_depth depth;           /* of what is asked of names */
	bool whole;                     /* all functions of a place, or only the innermost */
	/* Called once for each of them: the number that it has with whoever asks. */
	uint32_t (*number)(void *context, struct gus_place place, const struct gus_name *name);
	void *context;
	struct gus_vec(uint32_t) numbers;
	/* Private. */
	struct gus_index places;
	struct gus_vec(struct gus_nest) of_place;
};

/* What is said of them stands in *n before. Where inlined calls are asked for, the symbolizer hears here of all places
 * that it will be asked about. */
void gus_nests_begin(struct gus_nests *n);
struct gus_nest gus_nests_at(struct gus_nests *n, struct gus_place place);
void gus_nests_end(struct gus_nests *n);

#endif
