/* SPDX-License-Identifier: MIT */
/* The way that code goes: branches that are mispredicted, what they wait for, loops of few turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/verdicts/facts.h"
#include "base/index.h"
#include "model/oracles/cache.h"

/* Of a branch that is taken, or not, less often than this the way is known; with so many others in a loop nothing is
 * vectorised; a loop of fewer turns is short. Loads that go beyond L2 as often as that are
 * far, and what is mispredicted less often than that is foreseen. */
static const double KNOWN = 0.05, FAR = 0.05, WRONG = 0.005;
enum { PATHS = 2, SHORT = 16 };

static bool is_of(const struct gus_pathology_facts *f, const struct gus_traced_block *b)
{
	return b->region == f->g->region && b->executed;
}

/* A branch by its address, as the emulator may have had it at the end of several blocks; block: one of them. */
struct branch { const struct gus_traced_block *block; double branches, taken, mispredicted; };
struct branches gus_vec(struct branch);

static void sum_up(const struct gus_pathology_facts *f, struct branches *out)
{
	struct gus_index places;

	gus_index_init(&places, sizeof(uint64_t));
	for (size_t i = 0; i < f->t->blocks.n; i++) {
		const struct gus_traced_block *b = &f->t->blocks.v[i];
		bool is_new;
		uint32_t k;

		if (!is_of(f, b) || !b->branch)
			continue;
		k = gus_index_add(&places, &b->branch_from, &is_new);
		if (is_new)
			gus_vec_push(out, (struct branch){ b, 0, 0, 0 });
		out->v[k].branches += (double)b->branches;
		out->v[k].taken += (double)b->taken;
		out->v[k].mispredicted += (double)b->mispredicted;
	}
	gus_index_free(&places);
}

static double mispredicted(const struct branches *all)
{
	double n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->v[i].mispredicted;
	return n;
}

/* The instruction that ends a block. */
static const struct gus_pathology_insn *branch_of(const struct gus_pathology_facts *f,
						  const struct gus_traced_block *b)
{
	for (size_t i = 0; i < f->insns.n; i++)
		if (f->insns.v[i].number == b->insn + b->insns_n - 1)
			return &f->insns.v[i];
	return NULL;
}

/* Of a block the load beyond L2 that its branch waits for: backwards over registers, from the flags on. */
static const struct gus_pathology_access *awaited(const struct gus_pathology_facts *f,
						  const struct gus_traced_block *b)
{
	bool needed[GUS_INSN_REGS] = { false };
	size_t i = f->insns.n;

	while (i-- > 0) {
		const struct gus_pathology_insn *insn = &f->insns.v[i];
		bool last = insn->number == b->insn + b->insns_n - 1, makes = last;

		if (insn->block != b)
			continue;
		for (unsigned k = 0; k < insn->info->access_count; k++)
			if ((insn->info->access[k].use & GUS_ACCESS_WRITE) && needed[insn->info->access[k].reg])
				makes = true;
		if (!makes)
			continue;
		for (size_t k = 0; k < f->accesses.n; k++) {
			const struct gus_pathology_access *a = &f->accesses.v[k];

			if (a->insn == insn && a->memory->load && a->missed[GUS_HIT_L3] + a->missed[GUS_HIT_MEMORY] >
			    FAR * (double)a->met->accesses)
				return a;
		}
		for (unsigned k = 0; k < insn->info->access_count; k++)
			if (insn->info->access[k].use & GUS_ACCESS_WRITE)
				needed[insn->info->access[k].reg] = false;
		for (unsigned k = 0; k < insn->info->access_count; k++)
			if (insn->info->access[k].use & GUS_ACCESS_READ)
				needed[insn->info->access[k].reg] = true;
	}
	return NULL;
}

static void detect_mispredictions(const struct gus_pathology_facts *f, const struct branches *branches,
				  struct gus_pathologies *out)
{
	const struct branch *worst = NULL;
	const struct gus_pathology_access *load;
	double share;

	for (size_t i = 0; i < branches->n; i++)
		if (!worst || branches->v[i].mispredicted > worst->mispredicted)
			worst = &branches->v[i];
	if (!worst || !(worst->mispredicted > 0) || worst->mispredicted < WRONG * worst->branches)
		return;
	share = worst->mispredicted / mispredicted(branches);
	load = awaited(f, worst->block);
	gus_pathology_add(f, out, GUS_PATHOLOGY_MISPREDICT, branch_of(f, worst->block),
			  gus_pathology_of_node(f, GUS_NODE_MISPREDICTS, share), "no branch: a conditional move, a "
			  "mask, or sorted data; it goes wrong %.1f %% of the times, with %.0f %% of all "
			  "mispredictions here", 100 * worst->mispredicted / worst->branches, 100 * share);
	if (load)
		gus_pathology_add(f, out, GUS_PATHOLOGY_CONDITIONED, load->insn,
				  gus_pathology_of_node(f, GUS_NODE_MISPREDICTS, share), "load it earlier (prefetch), "
				  "or decide without it: a branch that is mispredicted waits for it, and it goes "
				  "beyond L2 %.0f %% of the times", 100 * (load->missed[GUS_HIT_L3] +
				  load->missed[GUS_HIT_MEMORY]) / (double)load->met->accesses);
}

/* Ways through a loop's body. */
static void detect_paths(const struct gus_pathology_facts *f, const struct branches *branches,
			 struct gus_pathologies *out)
{
	const struct branch *first = NULL;
	double wrong = 0, all = mispredicted(branches);
	unsigned n = 0;

	for (size_t i = 0; i < branches->n; i++) {
		const struct branch *b = &branches->v[i];

		if (b->block->kind != GUS_BRANCH_CONDITIONAL || b->taken <= KNOWN * b->branches ||
		    b->taken >= (1 - KNOWN) * b->branches || gus_pathology_goes_back(f, b->block))
			continue;
		n++;
		wrong += b->mispredicted;
		first = first && first->mispredicted >= b->mispredicted ? first : b;
	}
	if (n >= PATHS && f->r->loop != GUS_TRACED_NONE)
		gus_pathology_add(f, out, GUS_PATHOLOGY_CONTROL_FLOW, branch_of(f, first->block),
				  gus_pathology_of_node(f, GUS_NODE_MISPREDICTS, all > 0 ? wrong / all : 0), "one way "
				  "through the loop: %u branches in it go now here, now there; masks, or loops for "
				  "each case", n);
}

static void detect_trips(const struct gus_pathology_facts *f, const struct branches *branches,
			 struct gus_pathologies *out)
{
	double trips = f->entered > 0 ? f->iterations / f->entered : 0, wrong = 0, share;
	const double all = mispredicted(branches);
	const struct gus_traced_block *back = NULL;
	const struct gus_pathology_insn *insn;

	for (size_t i = 0; i < branches->n; i++)
		if (branches->v[i].block->kind == GUS_BRANCH_CONDITIONAL &&
		    gus_pathology_goes_back(f, branches->v[i].block)) {
			wrong += branches->v[i].mispredicted;
			back = branches->v[i].block;
		}
	insn = back ? branch_of(f, back) : NULL;
	if (!insn || !(trips > 0) || trips >= SHORT)
		return;
	share = all > 0 ? wrong / all : 0;
	gus_pathology_add(f, out, GUS_PATHOLOGY_SHORT_TRIPS, insn,
			  gus_pathology_dearer(gus_pathology_of_node(f, GUS_NODE_MISPREDICTS, share),
					       gus_pathology_of_charged(f, insn->charged)),
			  "unroll it as a whole, or join it with the loop around it: %.1f turns each time", trips);
}

void gus_pathology_detect_control(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	struct branches branches = { 0 };

	sum_up(f, &branches);
	detect_mispredictions(f, &branches, out);
	detect_paths(f, &branches, out);
	detect_trips(f, &branches, out);
	gus_vec_free(&branches);
}
