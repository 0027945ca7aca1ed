/* SPDX-License-Identifier: MIT */
/* Breadth-first search: `bfs SOURCES`. A graph of 2^18 vertices and some 2 million edges, 9 MiB; most loads go where an
 * edge leads, and whether a vertex was seen is by chance until most were. */
#include <string.h>

#include "graph.h"

enum { VERTICES = 1 << 18, DEGREE = 8 };

/* The sum of all depths; vertices that are not reached have none. */
static uint64_t search(const struct graph *g, uint32_t source, uint32_t *depth, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;
	uint64_t sum = 0;

	memset(depth, 0, g->vertices * sizeof(*depth));
	queue[tail++] = source;
	depth[source] = 1;
	while (head < tail) {
		uint32_t v = queue[head++];

		sum += depth[v];
		for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
			uint32_t to = g->end[e];

			if (depth[to] == 0) {
				depth[to] = depth[v] + 1;
				queue[tail++] = to;
			}
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct graph g = graph_make(VERTICES, DEGREE);
	uint32_t *depth = chance_room(VERTICES, sizeof(*depth)), *queue = chance_room(VERTICES, sizeof(*queue));
	uint64_t sum = 0;

	for (unsigned left = chance_passes(argc, argv); left; left--)
		sum = sum * 31 + search(&g, chance_below(VERTICES), depth, queue);
	printf("bfs %llu\n", (unsigned long long)sum);
	free(depth);
	free(queue);
	graph_drop(&g);
	return 0;
}
