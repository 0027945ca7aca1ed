/* SPDX-License-Identifier: MIT */
/* The names of events that the kernel has for every machine, as perf writes them. */
#ifndef GUS_COLLECTOR_EVENTS_NAMES_H
#define GUS_COLLECTOR_EVENTS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/piece.h"

struct gus_event_name {
	const char *name, *alias; /* alias may be NULL */
	uint32_t type;            /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	uint64_t config;
};

/* The entry of a name or alias, or NULL. */
const struct gus_event_name *gus_event_name_find(struct gus_piece name);
/* Entry number i, or NULL behind the last. */
const struct gus_event_name *gus_event_name_at(size_t i);

/* The config of a cache event, CACHE[-OPERATION][-RESULT]; false if s is none. */
bool gus_event_cache_parse(struct gus_piece s, uint64_t *config);

#endif
