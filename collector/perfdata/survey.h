/* SPDX-License-Identifier: MIT */
/* What is in a perf.data file, counted: known before any of it is told, so that header and footer can say it. */
#ifndef GUS_COLLECTOR_PERFDATA_SURVEY_H
#define GUS_COLLECTOR_PERFDATA_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "proto/gusprof.pb-c.h"

struct gus_perfdata_damage;
struct gus_perfdata_record;
struct gus_records;

/* lost: GUS_LIMIT_SUM: that many or more. */
struct gus_perfdata_survey_event { uint64_t samples, lost, throttles; };

struct gus_perfdata_survey {
	struct gus_vec(struct gus_perfdata_survey_event) events;
	uint64_t records;               /* all of them */
	uint64_t strangers;             /* samples whose id is no event's */
	uint64_t bad;                   /* records that are shorter than what they should hold */
	uint64_t guests;                /* samples in guests */
	uint64_t counts;                /* records of perf stat */
	/* of samples, and of what was written behind them; 0 is the last: nothing says when */
	uint64_t first_ns, last_ns;
	uint64_t aux_cut, aux_collided, aux_partial; /* pieces of AUX data whose writer said so */
	bool simpleperf;                /* it is a file of that program's */
	struct gus_index types;         /* of records that nobody here knows */
	struct gus_vec(uint64_t) of_type; /* how many, by their slots */
};

void gus_perfdata_survey_init(struct gus_perfdata_survey *s, size_t events);
void gus_perfdata_survey_free(struct gus_perfdata_survey *s);

/* Takes a record in, whose layout and ids are known by now. */
void gus_perfdata_survey_take(struct gus_perfdata_survey *s, struct gus_records *records,
			      const struct gus_perfdata_record *r);
/* Takes in when a sample was that is no record; 0: nothing says it. */
void gus_perfdata_survey_time(struct gus_perfdata_survey *s, uint64_t time);

/* Says what of the file is not what it could be. */
void gus_perfdata_survey_tell(const struct gus_perfdata_survey *s, const struct gus_perfdata_damage *damage,
			      Gusprof__Footer *footer);

#endif
