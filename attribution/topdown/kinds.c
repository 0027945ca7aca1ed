/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/kinds.h"

#include "attribution/topdown/tree.h"

static uint64_t longest(const struct gus_topdown_count *counts, const struct gus_topdown_kind_span *kind)
{
	uint64_t ran = 0;

	for (size_t i = kind->first; i < kind->first + kind->n; i++)
		if (counts[i].known && counts[i].running_ns > ran)
			ran = counts[i].running_ns;
	return ran;
}

/* Only `enabled` is changed, and `longest` does not look at it: the order of kinds does not matter. */
void gus_topdown_kinds_settle(struct gus_topdown_count *counts, const struct gus_topdown_kind_span *kinds, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		uint64_t elsewhere = 0;

		for (size_t other = 0; other < n; other++)
			elsewhere += other != k ? longest(counts, &kinds[other]) : 0;
		for (size_t i = kinds[k].first; i < kinds[k].first + kinds[k].n; i++) {
			uint64_t wanted = counts[i].enabled_ns > elsewhere ? counts[i].enabled_ns - elsewhere : 0;

			counts[i].enabled_ns = wanted > counts[i].running_ns ? wanted : counts[i].running_ns;
		}
	}
}
