/* SPDX-License-Identifier: MIT */
/* Where lines lie in the caches' sets, and how many streams there are at a time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/verdicts/facts.h"
#include "model/oracles/cache.h"

/* Lines that would fit into so much of a cache, in no more of its sets than that, and are fetched again so many times:
 * they are in each other's way. */
static const double FITS = 1, CROWDED = 0.5, AGAIN = 3;
enum { PAGE = 4096 };

static unsigned sets_used(const uint64_t sets[GUS_HEARD_SETS / 64])
{
	unsigned n = 0;

	for (unsigned i = 0; i < GUS_HEARD_SETS / 64; i++)
		n += (unsigned)__builtin_popcountll(sets[i]);
	return n;
}

/* All that misses in the region, together. */
static struct gus_heard_places *sum_up(const struct gus_pathology_facts *f)
{
	struct gus_heard_places *all = gus_zalloc(sizeof(*all));

	for (size_t i = 0; i < f->accesses.n; i++) {
		const struct gus_heard_places *p = f->accesses.v[i].heard ? f->accesses.v[i].heard->places : NULL;

		for (unsigned k = 0; p && k < GUS_HITS; k++)
			all->misses[k] += p->misses[k];
		for (unsigned level = 0; p && level < 2; level++)
			for (unsigned k = 0; k < GUS_HEARD_SETS / 64; k++)
				all->sets[level][k] |= p->sets[level][k];
		for (unsigned k = 0; p && k < GUS_HEARD_LINES / 64; k++)
			all->lines[k] |= p->lines[k];
	}
	return all;
}

static const struct gus_pathology_access *most_missed(const struct gus_pathology_facts *f)
{
	const struct gus_pathology_access *most = NULL;
	double of_most = 0;

	for (size_t i = 0; i < f->accesses.n; i++) {
		const double *missed = f->accesses.v[i].missed;
		double all = missed[GUS_HIT_L2] + missed[GUS_HIT_L3] + missed[GUS_HIT_MEMORY];

		if (all > of_most && f->accesses.v[i].heard && f->accesses.v[i].heard->places) {
			most = &f->accesses.v[i];
			of_most = all;
		}
	}
	return most;
}

static void detect_conflicts(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	static const enum gus_node beyond[2][2] = { { GUS_NODE_L2, GUS_NODE_L3 }, { GUS_NODE_L3, GUS_NODE_DRAM } };
	const struct gus_pathology_access *most = most_missed(f);
	struct gus_heard_places *all = sum_up(f);
	double lines = gus_heard_lines(all->lines);

	for (unsigned level = 2; most && level-- > 0;) { /* L2 first: what it has not L1 has not either */
		const struct gus_cache_level *l = &f->caches->level[level];
		double sets = l->ways ? (double)l->bytes / f->caches->line_size / l->ways : 0, missed = 0;
		unsigned used = sets_used(all->sets[level]);

		for (unsigned k = level + 1; k < GUS_HITS; k++)
			missed += (double)all->misses[k];
		if (!(sets > 0) || used > CROWDED * fmin(sets, GUS_HEARD_SETS) || lines <= (double)used * l->ways ||
		    lines > FITS * sets * l->ways || missed < AGAIN * lines)
			continue;
		gus_pathology_add(f, out, GUS_PATHOLOGY_CONFLICT, most->insn, gus_pathology_dearer(
				  gus_pathology_of_node(f, beyond[level][0], 1),
				  gus_pathology_of_node(f, beyond[level][1], 1)), "pad the rows (by %u bytes), so that "
				  "they do not begin a power of two apart: %.0f lines go into %u of the %.0f sets of "
				  "L%u, which hold %u",
				  f->caches->line_size, lines, used, sets, level + 1, used * l->ways);
		break;
	}
	free(all);
}

/* Accesses that go on line by line, each array once: those near each other with the same stride are one stream. */
static void detect_streams(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	const struct gus_pathology_access *streams[64], *most = NULL;
	unsigned n = 0, ways = f->caches->level[0].ways;

	for (size_t i = 0; i < f->accesses.n && n < 64; i++) {
		const struct gus_pathology_access *a = &f->accesses.v[i];
		bool known = !a->heard || !a->heard->stride || !gus_traced_memory_streams(a->met);

		for (unsigned k = 0; k < n && !known; k++)
			known = streams[k]->heard->stride == a->heard->stride &&
				llabs((int64_t)(streams[k]->heard->last - a->heard->last)) < PAGE;
		if (known)
			continue;
		streams[n++] = a;
		if (!most || a->missed[GUS_HIT_L2] + a->missed[GUS_HIT_L3] + a->missed[GUS_HIT_MEMORY] >
		    most->missed[GUS_HIT_L2] + most->missed[GUS_HIT_L3] + most->missed[GUS_HIT_MEMORY])
			most = a;
	}
	if (!ways || n <= ways)
		return;
	gus_pathology_add(f, out, GUS_PATHOLOGY_STREAMS, most->insn, gus_pathology_dearer(
			  gus_pathology_of_node(f, GUS_NODE_L2, 1), gus_pathology_dearer(
			  gus_pathology_of_node(f, GUS_NODE_L3, 1), gus_pathology_of_node(f, GUS_NODE_DRAM, 1))),
			  "split the loop, or put arrays together: %u streams at a time, and L1 has %u ways", n, ways);
}

void gus_pathology_detect_places(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	detect_conflicts(f, out);
	detect_streams(f, out);
}
