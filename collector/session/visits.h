/* SPDX-License-Identifier: MIT */
/* Where in user space samples were: places of processes, each with how often and when. They are kept while
 * recording, because at its end the recording takes the names of this code along, and of what is sampled most first.
 *
 * There is room for so many places, whatever runs. When there are more, half of the visits are forgotten, and from
 * then on one in two is noted, by chance; then one in four, and so on. So what is kept is always an even sample of all
 * visits: code that has one in a thousand of them is there, however many processes with addresses of their own had
 * it. */
#ifndef GUS_COLLECTOR_SESSION_VISITS_H
#define GUS_COLLECTOR_SESSION_VISITS_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"

#define GUS_VISITS_MAX (1u << 17) /* places: 7 MB; ten minutes of a busy machine at 4 kHz have some 100,000 */

struct gus_visit_place {
	uint64_t address;
	uint32_t pid, zero;
};

struct gus_visit {
	uint64_t first, last;     /* their times in the recording's clock, between which files may have changed */
	uint64_t count;           /* of those that were noted */
};

struct gus_visits {
	struct gus_index places;  /* struct gus_visit_place */
	struct gus_vec(struct gus_visit) list; /* by number of the place */
	uint64_t seen;            /* visits in all */
	uint64_t stride;          /* one in so many is noted; a power of two */
	uint64_t coins;           /* of the next choice */
	uint32_t most;            /* places */
};

void gus_visits_init(struct gus_visits *v);
void gus_visits_free(struct gus_visits *v);
void gus_visits_add(struct gus_visits *v, uint32_t pid, uint64_t address, uint64_t time);

#endif
