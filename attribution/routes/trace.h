/* SPDX-License-Identifier: MIT */
/* A walk over routes, written as a trace, so that what a recording lets one infer is run as what was executed is. */
#ifndef GUS_ATTRIBUTION_ROUTES_TRACE_H
#define GUS_ATTRIBUTION_ROUTES_TRACE_H

struct gus_error;

struct gus_routes;
struct gus_space;
struct gus_trace;
struct gus_walk;

/* In memory; the space says which modules the routes are of, target what the trace calls their ISA (gus_traced_target).
 * NULL with err. Closed with gus_trace_close, before the walk. */
struct gus_trace *gus_walk_trace(struct gus_walk *walk, const char *target, const struct gus_space *space,
				 struct gus_error *err);

#endif
