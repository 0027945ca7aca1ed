/* SPDX-License-Identifier: MIT */
#include "collector/timing/places.h"

#include <stdlib.h>
#include <string.h>

#include "collector/timing/arena.h"

void gus_timing_places_clear(struct gus_timing_places *p, bool huge)
{
	struct gus_timing_arena_places *a = &p->of[huge];

	for (size_t i = 0; i < a->held.n; i++)
		free((void *)(uintptr_t)a->held.v[i].holds.what);
	a->held.n = 0;
	a->used = 0;
}

void gus_timing_places_free(struct gus_timing_places *p)
{
	for (int huge = 0; huge < 2; huge++) {
		gus_timing_places_clear(p, huge);
		gus_vec_free(&p->of[huge].held);
	}
}

void gus_timing_places_reset(struct gus_timing_places *p, uint64_t size, uint64_t size_huge)
{
	gus_timing_places_clear(p, false);
	gus_timing_places_clear(p, true);
	p->of[false].size = size;
	p->of[true].size = size_huge;
}

static bool holds(const struct gus_timing_place *at, const struct gus_timing_job *job)
{
	return at->size >= job->arena && at->holds.fill == job->fill && at->holds.what_size == job->what_size &&
		(!job->what_size || memcmp(at->holds.what, job->what, job->what_size) == 0);
}

bool gus_timing_places_take(struct gus_timing_places *p, const struct gus_timing_job *job, uint64_t *start,
			    bool *fresh)
{
	struct gus_timing_arena_places *a = &p->of[job->huge];
	uint64_t size = (job->arena + GUS_ARENA_HUGE - 1) & ~(GUS_ARENA_HUGE - 1);
	struct gus_timing_place at = { a->used, size, *job };
	void *what;

	for (size_t i = 0; i < a->held.n; i++)
		if (holds(&a->held.v[i], job)) {
			*start = a->held.v[i].start;
			*fresh = false;
			return true;
		}
	if (job->arena > a->size || size > a->size - a->used)
		return false;
	what = gus_alloc(job->what_size + 1);
	if (job->what_size)
		memcpy(what, job->what, job->what_size);
	at.holds.what = what;
	gus_vec_push(&a->held, at);
	a->used += size;
	*start = at.start;
	*fresh = true;
	return true;
}
