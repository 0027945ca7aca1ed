/* SPDX-License-Identifier: MIT */
#include "attribution/traced/regions.h"

#include <stdio.h>
#include <stdlib.h>

#include "attribution/traced/traced.h"
#include "model/code/program.h"
#include "symbolizer/insn/loops.h"

void gus_traced_region_name(const struct gus_traced *t, uint32_t region, char *out, size_t room)
{
	const struct gus_traced_region *r = &t->regions.v[region];
	const struct gus_traced_function *f = &t->functions.v[r->function];
	const struct gus_graph *g = f->graph;

	if (r->loop == GUS_TRACED_NONE)
		snprintf(out, room, "%s", f->name ? f->name : "[unknown]");
	else
		snprintf(out, room, "%s, loop at +0x%llx", f->name ? f->name : "[unknown]",
			 (unsigned long long)g->insns.v[g->loops.v[r->loop].head].offset);
}

void gus_traced_branch_name(const struct gus_traced *t, uint32_t block, char *out, size_t room)
{
	const struct gus_traced_block *b = &t->blocks.v[block];
	const struct gus_traced_function *f = &t->functions.v[t->regions.v[b->region].function];
	uint64_t pc = t->program->insns[b->insn + b->insns_n - 1].offset, offset = pc - f->address + f->start;
	struct gus_name names[GUS_NAMES_MAX];

	if (!f->name) {
		snprintf(out, room, "0x%llx", (unsigned long long)pc);
		return;
	}
	gus_symbols_names(t->options.symbols, &f->of, offset, GUS_DEPTH_LINE, names);
	if (names[0].file)
		snprintf(out, room, "%s:%u", names[0].file, names[0].line);
	else
		snprintf(out, room, "%s+0x%llx", f->name, (unsigned long long)(pc - f->address));
}

static const double INTERVAL = 1.96;

double gus_traced_cycles_error(double cycles, const double *errors)
{
	return cycles > 0 ? INTERVAL * errors[0] / cycles : 0;
}

double gus_traced_speedup_error(const struct gus_traced *t, const double *errors)
{
	double widest = 0;

	for (int i = 0; i < t->knobs_n; i++)
		if (errors[i + 1] > widest)
			widest = errors[i + 1];
	return INTERVAL * widest;
}

static int by_cycles(const void *x, const void *y, void *context)
{
	const struct gus_traced *t = context;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	double of_a = t->regions.v[a].cycles[0], of_b = t->regions.v[b].cycles[0];

	if (of_a > of_b || of_b > of_a)
		return of_a > of_b ? -1 : 1;
	return (a > b) - (a < b);
}

uint32_t *gus_traced_order(const struct gus_traced *t, size_t *n)
{
	uint32_t *order = gus_zalloc((t->regions.n + 1) * sizeof(*order));

	*n = 0;
	for (uint32_t i = 0; i < t->regions.n; i++)
		if (t->regions.v[i].executed)
			order[(*n)++] = i;
	qsort_r(order, *n, sizeof(*order), by_cycles, (void *)(uintptr_t)t);
	return order;
}

uint64_t gus_traced_longest_thread(const struct gus_traced *t)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < gus_traced_threads(t); i++) {
		struct gus_traced_figures f;

		gus_traced_thread(t, i, &f);
		longest = f.warmed + f.instructions > longest ? f.warmed + f.instructions : longest;
	}
	return longest;
}

/* What levels and mispredictions rest on. */

static void add_block(struct gus_traced_rests_of *r, const struct gus_traced *t, const struct gus_traced_block *b,
		      bool predicted)
{
	for (uint32_t i = b->memory; i < b->memory + b->memories_n; i++) {
		const struct gus_traced_memory *m = &t->memories.v[i];

		r->accesses.measured += m->measured;
		r->accesses.simulated += m->told - (m->measured - m->blind);
		r->accesses.unknown += m->unknown - m->blind;
	}
	r->branches.measured += b->measured;
	*(predicted ? &r->branches.simulated : &r->branches.unknown) += b->branches - b->measured;
}

struct gus_traced_rests_of gus_traced_rests(const struct gus_traced *t, uint32_t region)
{
	struct gus_traced_rests_of r = { .accesses = { 0 } };

	for (size_t i = 0; i < t->blocks.n; i++)
		if (region == GUS_TRACED_NONE || t->blocks.v[i].region == region)
			add_block(&r, t, &t->blocks.v[i], !t->options.mispredicted);
	return r;
}
