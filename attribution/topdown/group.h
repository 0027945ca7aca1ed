/* SPDX-License-Identifier: MIT */
/* What a group of counters had counted when a sample was taken, as proto/FORMAT.md has it (extras, kind 3): times, then
 * of each member its value and id. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_GROUP_H
#define GUS_ATTRIBUTION_TOPDOWN_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PERF_FORMAT_* of the perf_event ABI. */
enum gus_topdown_format {
	GUS_TOPDOWN_FORMAT_ENABLED = 1, GUS_TOPDOWN_FORMAT_RUNNING = 2, GUS_TOPDOWN_FORMAT_ID = 4,
	GUS_TOPDOWN_FORMAT_GROUP = 8, GUS_TOPDOWN_FORMAT_LOST = 16,
};

struct gus_topdown_group {
	const uint64_t *words;          /* borrowed */
	size_t times, each, n;          /* words of times, of each member, and how many of these */
	bool timed;                     /* both times are told; else they are 0 */
	uint64_t enabled_ns, running_ns;
};

/* Whether samples of that read_format bring along which value is whose. */
static inline bool gus_topdown_group_told(uint64_t format)
{
	return format & GUS_TOPDOWN_FORMAT_GROUP && format & GUS_TOPDOWN_FORMAT_ID;
}

/* Of so many words; false if they are none of that format. */
bool gus_topdown_group_read(struct gus_topdown_group *r, const uint64_t *words, size_t n, uint64_t format);

static inline uint64_t gus_topdown_group_value(const struct gus_topdown_group *r, size_t i)
{
	return r->words[r->times + i * r->each];
}

/* Index into Header.events | which of that event's counters << 32. */
static inline uint64_t gus_topdown_group_id(const struct gus_topdown_group *r, size_t i)
{
	return r->words[r->times + i * r->each + 1];
}

#endif
