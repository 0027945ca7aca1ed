/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/resonance.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/code/program.h"

enum { EVERY = 97, PART = 8 };          /* a prime: no period is asked in step with the run; of the period */

/* What was there last, in a ring, and how often it was what is there now, by period from the shortest on. */
struct echo {
	uint64_t shortest, periods;
	uint32_t *last;
	uint64_t *heard;
	uint64_t n, asked, mask;
};

struct golden_resonance {
	struct gus_core_listener listener;
	const struct gus_program *p;
	struct echo cycles, slots, instructions;
	uint32_t op;                    /* that retired first in this cycle; UINT32_MAX: none did */
};

static void begin(struct echo *e, uint64_t period)
{
	e->shortest = period - period / PART;
	e->periods = 2 * (period / PART) + 1;
	for (e->mask = 1; e->mask < e->shortest + e->periods; e->mask *= 2)
		;
	e->last = gus_zalloc(e->mask * sizeof(*e->last));
	e->heard = gus_zalloc(e->periods * sizeof(*e->heard));
	e->mask--;
}

static void hear(struct echo *e, uint32_t op)
{
	e->last[e->n & e->mask] = op;
	if (e->n % EVERY == 0 && e->n >= e->shortest + e->periods) {
		e->asked++;
		for (uint64_t i = 0; i < e->periods; i++)
			e->heard[i] += e->last[(e->n - e->shortest - i) & e->mask] == op;
	}
	e->n++;
}

static uint64_t loudest(const struct echo *e, double *share)
{
	uint64_t best = 0;

	for (uint64_t i = 1; i < e->periods; i++)
		best = e->heard[i] > e->heard[best] ? i : best;
	if (share)
		*share = e->asked ? (double)e->heard[best] / (double)e->asked : 0;
	return e->shortest + best;
}

static void on_retire(void *context, const struct gus_core_retired *told)
{
	struct golden_resonance *r = context;

	if (r->op == UINT32_MAX)
		r->op = told->op;
	hear(&r->slots, told->op);
	for (unsigned i = 0; told->ends && i < r->p->ops[told->op].insns_n; i++)
		hear(&r->instructions, told->op);
}

/* Where none retires it is the one that does not, to whom the cycle belongs. */
static void on_cycle(void *context, const struct gus_core_cycle *c)
{
	struct golden_resonance *r = context;

	hear(&r->cycles, r->op == UINT32_MAX ? c->op : r->op);
	r->op = UINT32_MAX;
}

struct golden_resonance *golden_resonance_new(const struct gus_program *p, uint64_t period)
{
	struct golden_resonance *r = gus_zalloc(sizeof(*r));

	r->p = p;
	r->op = UINT32_MAX;
	r->listener = (struct gus_core_listener){ .context = r, .cycle = on_cycle, .retire = on_retire };
	begin(&r->cycles, period);
	begin(&r->slots, 2 * period);
	begin(&r->instructions, 2 * period);
	return r;
}

const struct gus_core_listener *golden_resonance_listener(struct golden_resonance *r)
{
	return &r->listener;
}

struct golden_periods golden_resonance_periods(const struct golden_resonance *r, double *share)
{
	return (struct golden_periods){ loudest(&r->cycles, share), loudest(&r->slots, NULL),
					loudest(&r->instructions, NULL) };
}

static void end(struct echo *e)
{
	free(e->last);
	free(e->heard);
}

void golden_resonance_free(struct golden_resonance *r)
{
	if (!r)
		return;
	end(&r->cycles);
	end(&r->slots);
	end(&r->instructions);
	free(r);
}
