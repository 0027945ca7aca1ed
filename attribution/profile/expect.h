/* SPDX-License-Identifier: MIT */
/* Tells the symbolizer which places of a profile it will be asked about, callers included. */
#ifndef GUS_ATTRIBUTION_PROFILE_EXPECT_H
#define GUS_ATTRIBUTION_PROFILE_EXPECT_H

struct gus_profile;

/* Before inlines or lines are asked for: what takes long is then done for all of them at once, by several threads. */
void gus_profile_expect(struct gus_profile *p);

#endif
