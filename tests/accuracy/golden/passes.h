/* SPDX-License-Identifier: MIT */
/* When the passes of a sampler are triggered: each by a count of its own, drawn anew after each time. Pairs of periods
 * are as far above the mean as below it, so that the rate is what the period says also after few samples. Only who
 * wants to see what comes of it has periods that are all the same. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_PASSES_H
#define GUS_TESTS_ACCURACY_GOLDEN_PASSES_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "tests/accuracy/golden/draw.h"

struct golden_passes {
	struct golden_draw draw;
	struct golden_pass { uint64_t next; int32_t owed; } *v;
	unsigned n;
	uint64_t period, first;         /* first: the least of next */
	uint64_t fired;
	bool fixed;                     /* all periods are the same */
};

static inline uint64_t golden_passes_period(struct golden_passes *p, struct golden_pass *pass)
{
	int32_t jitter = pass->owed;

	pass->owed = 0;
	if (!jitter && !p->fixed) {
		uint32_t most = (uint32_t)(p->period * 12 / 100);

		jitter = (int32_t)golden_draw_between(&p->draw, 0, 2 * most) - (int32_t)most;
		pass->owed = -jitter;
	}
	return p->period + (uint64_t)(int64_t)jitter;
}

static inline void golden_passes_first(struct golden_passes *p)
{
	p->first = UINT64_MAX;
	for (unsigned i = 0; i < p->n; i++)
		if (p->v[i].next < p->first)
			p->first = p->v[i].next;
}

static inline void golden_passes_begin(struct golden_passes *p, uint64_t seed, const char *what, uint64_t period,
				       unsigned n)
{
	*p = (struct golden_passes){ .draw = golden_draw_begin(seed, what), .period = period, .n = n,
		.v = gus_zalloc(n * sizeof(*p->v)) };
	for (unsigned i = 0; i < n; i++)
		p->v[i].next = 1 + golden_draw_next(&p->draw) % period;
	golden_passes_first(p);
}

/* Up to a count: the pass that fired and *at which count, or -1. Asked again until it is -1. */
static inline int golden_passes_fire(struct golden_passes *p, uint64_t count, uint64_t *at)
{
	unsigned which = 0;

	if (p->first > count)
		return -1;
	while (p->v[which].next != p->first)
		which++;
	*at = p->first;
	p->v[which].next += golden_passes_period(p, &p->v[which]);
	p->fired++;
	golden_passes_first(p);
	return (int)which;
}

static inline void golden_passes_end(struct golden_passes *p)
{
	free(p->v);
}

#endif
