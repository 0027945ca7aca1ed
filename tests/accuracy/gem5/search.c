/* SPDX-License-Identifier: MIT */
/* Breadth-first search in which a load waits for a branch, and the same with the load in front of it:
 * `search SEARCHES [VERTICES]` does both in turn, and says how many were queued and the least CPU time of each.
 *
 * Of the edges about half lead to what is new, by chance: the branch on it is mispredicted as often as can be, and that
 * is seen only when the load that it waits for has come from far away. Behind it a vertex's degree is read, which lies
 * as far, as what has no edges needs not to be queued. `inside` the branch that load begins, where the branch went the
 * wrong way, when that was seen; `before` it both wait together, and what needs no degree has one read in vain. */
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "../kernels/chance.h"

enum { VERTICES = 1 << 16, DEGREE = 4 };

/* Half of the vertices have no edges, the others twice DEGREE less one at most. */
struct graph {
	uint32_t vertices;
	uint32_t *first, *degree, *end;
	uint32_t *level, *queue;
};

static void make(struct graph *g, uint32_t vertices)
{
	uint32_t edges = 0;

	*g = (struct graph){ vertices, chance_room(vertices, 4), chance_room(vertices, 4),
		chance_room((size_t)vertices * 2 * DEGREE, 4), chance_room(vertices, 4), chance_room(vertices, 4) };
	for (uint32_t v = 0; v < vertices; v++) {
		g->first[v] = edges;
		g->degree[v] = chance() & 1 ? 1 + chance_below(2 * DEGREE - 1) : 0;
		edges += g->degree[v];
	}
	for (uint32_t e = 0; e < edges; e++)
		g->end[e] = chance_below(vertices);
}

static uint32_t begin(struct graph *g, uint32_t source)
{
	memset(g->level, 0, g->vertices * sizeof(*g->level));
	g->level[source] = 1;
	g->queue[0] = source;
	return 1;
}

/* Returns how many were queued. */
static inline __attribute__((always_inline)) uint32_t walk(struct graph *g, uint32_t source, bool before)
{
	uint32_t *level = g->level, *queue = g->queue, tail = begin(g, source);
	const uint32_t *degree = g->degree;

	for (uint32_t head = 0; head < tail; head++) {
		uint32_t v = queue[head], next = level[v] + 1;
		const uint32_t *end = g->end + g->first[v];

		for (uint32_t i = 0; i < degree[v]; i++) {
			uint32_t to = end[i], edges = before ? degree[to] : 0;

			if (before)
				__asm__ volatile("" : "+r"(edges)); /* compilers move a load to where it is used */
			if (!level[to]) {
				level[to] = next;
				if (before ? edges : degree[to])
					queue[tail++] = to;
			}
		}
	}
	return tail;
}

__attribute__((noinline)) uint32_t search_inside(struct graph *g, uint32_t source)
{
	return walk(g, source, false);
}

__attribute__((noinline)) uint32_t search_before(struct graph *g, uint32_t source)
{
	return walk(g, source, true);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One from which much is reached. */
static __attribute__((noinline)) uint32_t find_source(struct graph *g)
{
	uint32_t source;

	do
		source = chance_below(g->vertices);
	while (walk(g, source, false) < g->vertices / 8);
	return source;
}

/* In turn, so that what else the machine does meets both. */
int main(int argc, char **argv)
{
	static const struct { const char *name; uint32_t (*search)(struct graph *g, uint32_t source); } ways[] = {
		{ "inside", search_inside }, { "before", search_before },
	};
	double least[2] = { 1e9, 1e9 };
	uint32_t source, found = 0;
	struct graph g;

	make(&g, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : VERTICES);
	source = find_source(&g);
	for (unsigned left = chance_passes(argc, argv); left; left--)
		for (unsigned i = 0; i < 2; i++) {
			double from = seconds(), took;

			found = ways[i].search(&g, source);
			took = seconds() - from;
			least[i] = took < least[i] ? took : least[i];
		}
	printf("%u of %u queued; inside %.7f s, before %.7f s\n", found, g.vertices, least[0], least[1]);
	return 0;
}
