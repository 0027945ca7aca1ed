/* SPDX-License-Identifier: MIT */
/* A directed graph by chance, as arrays: the ends of the edges of vertex v are end[first[v]] .. end[first[v + 1] - 1].
 * Few vertices are the end of many edges, as in graphs of the world: the end is drawn as a square. */
#ifndef GUS_TESTS_GRAPH_H
#define GUS_TESTS_GRAPH_H

#include "chance.h"

struct graph {
	uint32_t vertices, edges;
	uint32_t *first, *end;
};

static inline struct graph graph_make(uint32_t vertices, uint32_t degree)
{
	struct graph g = { .vertices = vertices, .first = chance_room(vertices + 1, sizeof(*g.first)) };

	for (uint32_t v = 0; v < vertices; v++)
		g.first[v + 1] = g.first[v] + 1 + chance_below(2 * degree - 1);
	g.edges = g.first[vertices];
	g.end = chance_room(g.edges, sizeof(*g.end));
	for (uint32_t e = 0; e < g.edges; e++) {
		uint64_t x = chance_below(1 << 20);
		uint32_t near = (uint32_t)((x * x >> 20) * vertices >> 20);

		/* Scattered, so that the frequent ones are not neighbours in memory. */
		g.end[e] = (uint32_t)((near * 2654435761ull) % vertices);
	}
	return g;
}

static inline void graph_drop(struct graph *g)
{
	free(g->first);
	free(g->end);
}

#endif
