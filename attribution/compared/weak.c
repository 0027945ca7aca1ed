/* SPDX-License-Identifier: MIT */
#include "attribution/compared/weak.h"

#include <math.h>
#include <stdlib.h>

#include "attribution/traced/traced.h"
#include "base/alloc.h"
#include "model/code/program.h"

/* Sums, which shares are made of in the end. */
struct sums { double unknown, beyond, accesses, mispredicted; };

static void add_block(const struct gus_traced *t, const struct gus_traced_block *b, struct sums *s)
{
	for (uint32_t k = 0; k < b->insns_n; k++) {
		const struct gus_program_insn *insn = &t->program->insns[b->insn + k];

		if (t->program->ops[insn->op].flags & GUS_OP_UNKNOWN)
			s->unknown += (double)b->executed;
	}
	for (uint32_t i = b->memory; i < b->memory + b->memories_n; i++) {
		const struct gus_traced_memory *m = &t->memories.v[i];

		s->accesses += (double)m->accesses;
		s->beyond += (double)m->hits[GUS_HIT_L3] + (double)m->hits[GUS_HIT_MEMORY];
	}
	s->mispredicted += (double)b->mispredicted;
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static struct gus_compared_weak weak_of(const struct sums *s, uint64_t instructions, double cycles, double other)
{
	double apart = other > 0 ? fabs(cycles - other) : 0; /* 0: the other end was not followed */

	return (struct gus_compared_weak){ share(s->unknown, (double)instructions), share(apart, fmax(cycles, other)),
		share(s->beyond, s->accesses), 1000 * share(s->mispredicted, (double)instructions) };
}

struct gus_compared_weak *gus_compared_weak_find(const struct gus_traced *t)
{
	struct gus_compared_weak *weak = gus_zalloc((t->regions.n + 1) * sizeof(*weak));
	struct sums *sums = gus_zalloc((t->regions.n + 1) * sizeof(*sums)), *all = &sums[t->regions.n];

	for (size_t i = 0; i < t->blocks.n; i++)
		if (t->blocks.v[i].executed)
			add_block(t, &t->blocks.v[i], &sums[t->blocks.v[i].region]);
	for (size_t i = 0; i < t->regions.n; i++) {
		const struct gus_traced_region *r = &t->regions.v[i];

		weak[i] = weak_of(&sums[i], r->instructions, r->cycles[0], r->other_cycles);
		all->unknown += sums[i].unknown;
		all->beyond += sums[i].beyond;
		all->accesses += sums[i].accesses;
		all->mispredicted += sums[i].mispredicted;
	}
	weak[t->regions.n] = weak_of(all, t->instructions - t->warmed, t->cycles[0], t->other_cycles);
	free(sums);
	return weak;
}
