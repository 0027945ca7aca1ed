/* SPDX-License-Identifier: MIT */
/* A passage begins where its loop is entered, or while it goes round, at each power of two of the loop's ops, so that
 * the last one is of warm caches and little is copied in vain. Other code between two stays is in it, as a loop that
 * goes round a few times is never long in one place; when there is too much of that it ends. */
#include "attribution/traced/passages.h"

#include <stdlib.h>

#include "attribution/traced/private.h"
#include "model/analysis/excerpt.h"

enum { LEAST = 64, MOST = 16384, AWAY = 4096 };

/* Of a region: ops so far, from how many on the next passage begins, and the last one. */
struct gus_traced_passing {
	uint64_t ops, next;
	struct gus_excerpt excerpt;
};

/* What a thread takes just now. */
struct gus_traced_passer {
	uint32_t region;                /* whose passage is taken, plus 1; 0: none is */
	uint32_t last;                  /* region of the last step, plus 1 */
	uint32_t own, away;             /* ops of it so far; steps since the last of these */
	struct gus_excerpt excerpt;
};

struct gus_traced_passer *gus_traced_passer_new(void)
{
	return gus_zalloc(sizeof(struct gus_traced_passer));
}

void gus_traced_passer_free(struct gus_traced_passer *now)
{
	if (now)
		gus_excerpt_free(&now->excerpt);
	free(now);
}

/* Regions of steps are numbered from 1: 0 is the warm-up. */
static struct gus_traced_passing *passing_of(struct gus_traced *t, uint32_t region)
{
	if (!region || t->regions.v[region - 1].loop == GUS_TRACED_NONE)
		return NULL;
	while (t->passings.n < region)
		gus_vec_push(&t->passings, NULL);
	if (!t->passings.v[region - 1])
		t->passings.v[region - 1] = gus_zalloc(sizeof(struct gus_traced_passing));
	return t->passings.v[region - 1];
}

static void keep(struct gus_traced *t, struct gus_traced_passer *now)
{
	struct gus_traced_passing *passing = passing_of(t, now->region);
	struct gus_excerpt before;

	now->region = 0;
	if (!passing || now->own < LEAST)
		return;
	before = passing->excerpt;
	passing->excerpt = now->excerpt;
	now->excerpt = before;
	passing->next = 2 * passing->ops;
}

static void begin(struct gus_traced_passer *now, uint32_t region)
{
	gus_excerpt_clear(&now->excerpt);
	now->region = region;
	now->own = now->away = 0;
}

void gus_traced_pass(struct gus_traced *t, struct gus_traced_passer *now, const struct gus_op_steps *feed)
{
	for (size_t i = 0; i < feed->n; i++) {
		const struct gus_op_step *told = &feed->steps[i];
		struct gus_traced_passing *passing = passing_of(t, told->region);

		if (now->region && (now->excerpt.steps.n == MOST || now->away == AWAY))
			keep(t, now);
		if (passing && !now->region && (told->region != now->last ? passing->ops >= passing->next :
						passing->ops == passing->next))
			begin(now, told->region);
		now->last = told->region;
		if (now->region) {
			gus_excerpt_add(&now->excerpt, t->program, told, feed->accesses);
			now->own += told->region == now->region;
			now->away = told->region == now->region ? 0 : now->away + 1;
		}
		if (passing)
			passing->ops++;
	}
}

/* The trace goes on somewhere else: what comes is of the same passage, and its caches as warm. */
void gus_traced_passer_gap(struct gus_traced_passer *now)
{
	if (now->region)
		gus_vec_push(&now->excerpt.steps, (struct gus_op_step){ .op = GUS_TRACED_NONE });
	now->last = 0;
}

void gus_traced_passer_end(struct gus_traced *t, struct gus_traced_passer *now)
{
	keep(t, now);
	now->last = 0;
}

void gus_traced_forget_passages(struct gus_traced *t)
{
	for (size_t i = 0; i < t->passings.n; i++) {
		if (t->passings.v[i])
			gus_excerpt_free(&t->passings.v[i]->excerpt);
		free(t->passings.v[i]);
	}
	gus_vec_free(&t->passings);
}

const struct gus_excerpt *gus_traced_passage(const struct gus_traced *t, uint32_t region)
{
	if (region >= t->passings.n || !t->passings.v[region] || !t->passings.v[region]->excerpt.steps.n)
		return NULL;
	return &t->passings.v[region]->excerpt;
}
