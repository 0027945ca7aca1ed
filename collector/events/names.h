/* SPDX-License-Identifier: MIT */
/* The names of events that the kernel has for every machine, as perf writes them. */
#ifndef GUS_COLLECTOR_EVENTS_NAMES_H
#define GUS_COLLECTOR_EVENTS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A part of a text, not terminated; borrowed. */
struct gus_text {
	const char *at;
	size_t length;
};

static inline bool gus_text_is(struct gus_text s, const char *word)
{
	return strlen(word) == s.length && memcmp(word, s.at, s.length) == 0;
}

struct gus_event_name {
	const char *name, *alias; /* alias may be NULL */
	uint32_t type;            /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	uint64_t config;
};

/* The entry of a name or alias, or NULL. */
const struct gus_event_name *gus_event_name_find(struct gus_text name);
/* Entry number i, or NULL behind the last. */
const struct gus_event_name *gus_event_name_at(size_t i);

/* The config of a cache event, CACHE[-OPERATION][-RESULT]; false if s is none. */
bool gus_event_cache_parse(struct gus_text s, uint64_t *config);

#endif
