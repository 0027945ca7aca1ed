/* SPDX-License-Identifier: MIT */
/* Shortest ways with a binary heap: `dijkstra SOURCES`. A graph of 2^15 vertices whose edges have lengths by chance;
 * the comparisons of the heap are by chance, too. */
#include <string.h>

#include "graph.h"

enum { VERTICES = 1 << 15, DEGREE = 6 };

struct entry { uint32_t distance, vertex; };

struct heap { struct entry *v; uint32_t n; };

static void push(struct heap *h, struct entry e)
{
	uint32_t i = h->n++;

	for (; i && h->v[(i - 1) / 2].distance > e.distance; i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = e;
}

static struct entry pop(struct heap *h)
{
	struct entry least = h->v[0], last = h->v[--h->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && h->v[child + 1].distance < h->v[child].distance)
			child++;
		if (h->v[child].distance >= last.distance)
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = last;
	return least;
}

static uint64_t search(const struct graph *g, const uint16_t *length, uint32_t *distance, struct heap *heap,
		       uint32_t source)
{
	uint64_t sum = 0;

	memset(distance, 0xff, g->vertices * sizeof(*distance));
	distance[source] = 0;
	push(heap, (struct entry){ 0, source });
	while (heap->n) {
		struct entry at = pop(heap);

		if (at.distance != distance[at.vertex])
			continue; /* a shorter way was found since */
		sum += at.distance;
		for (uint32_t e = g->first[at.vertex]; e < g->first[at.vertex + 1]; e++) {
			uint32_t to = g->end[e], far = at.distance + length[e];

			if (far < distance[to]) {
				distance[to] = far;
				push(heap, (struct entry){ far, to });
			}
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct graph g = graph_make(VERTICES, DEGREE);
	uint32_t *distance = chance_room(VERTICES, sizeof(*distance));
	uint16_t *length = chance_room(g.edges, sizeof(*length));
	struct heap heap = { chance_room(g.edges + 1, sizeof(*heap.v)), 0 };
	uint64_t sum = 0;

	for (uint32_t e = 0; e < g.edges; e++)
		length[e] = (uint16_t)(1 + chance_below(1000));
	for (unsigned left = chance_passes(argc, argv); left; left--)
		sum = sum * 31 + search(&g, length, distance, &heap, chance_below(VERTICES));
	printf("dijkstra %llu\n", (unsigned long long)sum);
	free(distance);
	free(length);
	free(heap.v);
	graph_drop(&g);
	return 0;
}
