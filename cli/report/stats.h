/* SPDX-License-Identifier: MIT */
/* How many records of each kind a recording has, as perf report --stats counts them: as text, JSON (gusprof.stats/1) or
 * CSV, on stdout. */
#ifndef GUS_CLI_REPORT_STATS_H
#define GUS_CLI_REPORT_STATS_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"

struct gus_error;
struct gus_reader;
struct gus_damage;

struct gus_stats {
	struct gus_strings names;          /* of kinds: "SAMPLE" */
	struct gus_vec(uint64_t) of_kind;  /* by their numbers there, from 1 */
	struct gus_vec(uint64_t) samples;  /* by event */
	uint64_t total;                    /* of all kinds */
	uint64_t lost;                     /* what records of losses say that the kernel dropped */
	const struct gus_damage *damage;   /* the reader's */
};

/* Reads all of it. -1 if that failed; damage is none. The reader must be there as long as these are. */
int gus_stats_count(struct gus_stats *s, struct gus_reader *reader, struct gus_error *err);
void gus_stats_free(struct gus_stats *s);

void gus_stats_text(const struct gus_stats *s, const struct gus_reader *reader);
void gus_stats_csv(const struct gus_stats *s, const struct gus_reader *reader);
int gus_stats_json(const struct gus_stats *s, const struct gus_reader *reader);

#endif
