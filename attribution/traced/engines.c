/* SPDX-License-Identifier: MIT */
/* Both engines on hot loops of a trace. The stream engine serves the trace; of each loop an excerpt is kept while it
 * runs, and at the end those of the loops that hold much of the time are run again by both engines, with what accesses
 * and branches did in the trace.
 *
 * A loop is steady if it is not left for LEAST ops: what is called from it, or a loop inside it, is another region. Of
 * its ops, counted from the first on, an excerpt begins at each power of two, so that what is kept in the end is of a
 * warm machine, and little is copied in vain:
 *
 *	ops of the loop   0   512  1024     2048               4096
 *	excerpts          |--->|    |--->    |------>           |------------->  the last one that is long enough counts
 */
#include <stdlib.h>

#include "attribution/traced/private.h"
#include "base/error.h"
#include "model/analysis/agreement.h"
#include "model/analysis/excerpt.h"

enum { LEAST = 512, MOST = 8192 };

/* Of a region: ops so far, from how many on the next excerpt begins, and the last one. */
struct gus_traced_kept {
	uint64_t ops, next;
	struct gus_excerpt excerpt;
};

struct gus_traced_excerpt {
	uint32_t region;                /* of the last step, plus 1 */
	bool taking;
	struct gus_excerpt excerpt;
};

struct gus_traced_excerpt *gus_traced_excerpt_new(void)
{
	return gus_zalloc(sizeof(struct gus_traced_excerpt));
}

void gus_traced_excerpt_free(struct gus_traced_excerpt *now)
{
	if (now)
		gus_excerpt_free(&now->excerpt);
	free(now);
}

/* Regions of steps are numbered from 1: 0 is the warm-up. */
static struct gus_traced_kept *kept_of(struct gus_traced *t, uint32_t region)
{
	if (!region || t->regions.v[region - 1].loop == GUS_TRACED_NONE)
		return NULL;
	while (t->kept.n < region)
		gus_vec_push(&t->kept, NULL);
	if (!t->kept.v[region - 1])
		t->kept.v[region - 1] = gus_zalloc(sizeof(struct gus_traced_kept));
	return t->kept.v[region - 1];
}

/* The excerpt that was being taken is over. */
static void keep(struct gus_traced *t, struct gus_traced_excerpt *now)
{
	struct gus_traced_kept *kept = now->taking ? kept_of(t, now->region) : NULL;
	struct gus_excerpt before;

	now->taking = false;
	if (!kept || now->excerpt.steps.n < LEAST)
		return;
	before = kept->excerpt;
	kept->excerpt = now->excerpt;
	now->excerpt = before;
	kept->next = 2 * kept->ops;
}

void gus_traced_excerpt_steps(struct gus_traced *t, struct gus_traced_excerpt *now,
			      const struct gus_op_steps *feed)
{
	for (size_t i = 0; i < feed->n; i++) {
		const struct gus_op_step *told = &feed->steps[i];
		struct gus_traced_kept *kept;

		if (told->region != now->region || now->excerpt.steps.n == MOST)
			keep(t, now);
		kept = kept_of(t, told->region);
		if (kept && !now->taking && (told->region != now->region ? kept->ops >= kept->next :
					     kept->ops == kept->next)) {
			gus_excerpt_clear(&now->excerpt);
			now->taking = true;
		}
		now->region = told->region;
		if (now->taking)
			gus_excerpt_add(&now->excerpt, t->program, told, feed->accesses);
		if (kept)
			kept->ops++;
	}
}

void gus_traced_excerpt_end(struct gus_traced *t, struct gus_traced_excerpt *now)
{
	keep(t, now);
	now->region = 0;
}

static void compare(struct gus_traced *t, struct gus_traced_region *r, const struct gus_excerpt *x)
{
	struct gus_error err = { 0 };

	r->agreement = gus_zalloc(sizeof(*r->agreement));
	if (gus_excerpt_compare(x, t->program, t->options.config, GUS_TRACED_APART, r->agreement, &err) == 0)
		return;
	gus_vec_push(&t->notices, gus_format("%s", err.text));
	free(r->agreement);
	r->agreement = NULL;
}

void gus_traced_compare_engines(struct gus_traced *t)
{
	for (size_t i = 0; i < t->kept.n; i++)
		if (t->kept.v[i] && t->kept.v[i]->excerpt.steps.n &&
		    t->regions.v[i].cycles[0] >= GUS_TRACED_HOT * t->cycles[0])
			compare(t, &t->regions.v[i], &t->kept.v[i]->excerpt);
}

void gus_traced_forget_excerpts(struct gus_traced *t)
{
	for (size_t i = 0; i < t->kept.n; i++) {
		if (t->kept.v[i])
			gus_excerpt_free(&t->kept.v[i]->excerpt);
		free(t->kept.v[i]);
	}
	gus_vec_free(&t->kept);
	for (size_t i = 0; i < t->regions.n; i++)
		free(t->regions.v[i].agreement);
}
