/* SPDX-License-Identifier: MIT */
/* PageRank by powers: `pagerank ITERATIONS`. Each vertex gets what those that its edges name have to give, 0.85 of it;
 * 2^17 vertices, some million edges, so that the ranks (1 MiB) are gathered from beyond an L1. */
#include "graph.h"

enum { VERTICES = 1 << 17, DEGREE = 8 };

/* What each vertex gives along an edge. */
static void share(const struct graph *g, const double *rank, const uint32_t *leaving, double *given)
{
	for (uint32_t v = 0; v < g->vertices; v++)
		given[v] = leaving[v] ? rank[v] / leaving[v] : 0;
}

/* How much the ranks moved. */
static double iterate(const struct graph *g, double *rank, const double *given)
{
	double moved = 0;

	for (uint32_t v = 0; v < g->vertices; v++) {
		double sum = 0, next;

		for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
			sum += given[g->end[e]];
		next = 0.15 / g->vertices + 0.85 * sum;
		moved += next > rank[v] ? next - rank[v] : rank[v] - next;
		rank[v] = next;
	}
	return moved;
}

int main(int argc, char **argv)
{
	struct graph g = graph_make(VERTICES, DEGREE);
	double *rank = chance_room(VERTICES, sizeof(*rank)), *given = chance_room(VERTICES, sizeof(*given)), moved = 0;
	uint32_t *leaving = chance_room(VERTICES, sizeof(*leaving));

	for (uint32_t e = 0; e < g.edges; e++)
		leaving[g.end[e]]++;
	for (uint32_t v = 0; v < VERTICES; v++)
		rank[v] = 1. / VERTICES;
	for (unsigned left = chance_passes(argc, argv); left; left--) {
		share(&g, rank, leaving, given);
		moved = iterate(&g, rank, given);
	}
	printf("pagerank %.12g %.12g\n", rank[0], moved);
	free(rank);
	free(given);
	free(leaving);
	graph_drop(&g);
	return 0;
}
