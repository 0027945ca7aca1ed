/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/pathologies.h"

#include <stdlib.h>

#include "attribution/verdicts/facts.h"

static int by_cost(const void *a, const void *b)
{
	const struct gus_pathology_found *x = a, *y = b;

	if (x->cost > y->cost || x->cost < y->cost)
		return x->cost < y->cost ? 1 : -1;
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : x->offset < y->offset ? -1 : x->offset > y->offset;
}

void gus_pathologies_find(const struct gus_pathology_given *g, struct gus_pathologies *out)
{
	struct gus_pathology_facts f;

	gus_pathology_facts_make(&f, g);
	gus_pathology_detect_chains(&f, out);
	gus_pathology_detect_execution(&f, out);
	gus_pathology_detect_control(&f, out);
	gus_pathology_detect_vectors(&f, out);
	gus_pathology_detect_memory(&f, out);
	gus_pathology_detect_places(&f, out);
	gus_pathology_detect_threads(&f, out);
	gus_pathology_facts_free(&f);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_cost);
}
