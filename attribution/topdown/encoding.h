/* SPDX-License-Identifier: MIT */
/* Which event of a recording is which of a table's, by its encoding: a recording of another program's, such as perf's,
 * calls events by names of its own. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_ENCODING_H
#define GUS_ATTRIBUTION_TOPDOWN_ENCODING_H

#include <stdbool.h>

#include "proto/gusprof.pb-c.h"

struct gus_topdown;
struct gus_topdown_event;

/* Whether the recording's event counts what the table's does. */
bool gus_topdown_encoding_is(const struct gus_topdown *table, const struct gus_topdown_event *event,
			     const Gusprof__Event *recorded);

#endif
