/* SPDX-License-Identifier: MIT */
/* A recording from its first to its last byte: launch or attach, counters, rings, frames, end. */
#ifndef GUS_COLLECTOR_SESSION_SESSION_H
#define GUS_COLLECTOR_SESSION_SESSION_H

#include "collector/session/options.h"

struct gus_error;

/* Records. 0 if the file is whole; -1 if not, or if nothing was recorded; result is filled in either way. */
int gus_session_record(const struct gus_session_options *options, struct gus_session_result *result,
		       struct gus_error *err);

#endif
