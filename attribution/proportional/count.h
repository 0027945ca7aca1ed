/* SPDX-License-Identifier: MIT */
/* A number of something at an instruction. */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_COUNT_H
#define GUS_ATTRIBUTION_PROPORTIONAL_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* At a site (groups.h), so many for each cycle. behind: where a mispredicted branch had led there. In a list each site
 * and behind is there once. */
struct gus_site_count { uint32_t site; bool behind; double share; };

#endif
