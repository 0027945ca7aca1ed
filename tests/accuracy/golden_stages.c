/* SPDX-License-Identifier: MIT */
/* Cycles of an out-of-order core whose every micro-op's stages are known, through our own policies: a table of stages
 * on standard input, and cycles of each static micro-op by state on standard output. See golden-stages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/core/pics.h"
#include "tests/accuracy/golden/stages.h"

/* Ticks by state, and those of cycles in which commit was blocked although the oldest was complete: by the oldest, and
 * by what retired before it. */
struct sums { uint64_t states[GUS_COMMITS], blocked, blocked_before; };

struct golden {
	struct golden_stages stages;
	struct gus_pics *pics;
	struct sums *sums;
	uint32_t before;                /* the micro-op that retired last */
};

static void on_retire(void *context, const struct gus_core_retired *op)
{
	struct golden *g = context;
	const struct gus_core_listener *listener = gus_pics_listener(g->pics);

	g->before = op->op % g->stages.dids_n;
	listener->retire(listener->context, op);
}

static void on_cycle(void *context, const struct gus_core_cycle *cycle)
{
	struct golden *g = context;
	const struct gus_core_listener *listener = gus_pics_listener(g->pics);

	if (cycle->state == GUS_COMMIT_FLUSHED && cycle->stall == GUS_CORE_ROB) {
		g->sums[cycle->op].blocked++;
		g->sums[g->before].blocked_before++;
	}
	listener->cycle(listener->context, cycle);
}

static void print(const struct golden *g)
{
	const struct gus_pics_cell *cells;
	uint64_t pending;
	size_t n;

	cells = gus_pics_cells(g->pics, &n);
	for (size_t i = 0; i < n; i++)
		g->sums[cells[i].op % g->stages.dids_n].states[cells[i].state] += cells[i].ticks;
	printf("cycles %" PRIu64, gus_pics_cycles(g->pics, &pending));
	printf(" pending %" PRIu64 " first %" PRIu32 "\n", pending, g->stages.lines.v[0].did);
	for (size_t i = 0; i < g->stages.dids_n; i++) {
		const struct sums *s = &g->sums[i];

		printf("%zu", i);
		for (unsigned state = 0; state < GUS_COMMITS; state++)
			printf(" %.6f", (double)s->states[state] / GUS_PICS_TICKS);
		printf(" %" PRIu64 " %" PRIu64 "\n", s->blocked, s->blocked_before);
	}
}

int main(void)
{
	struct golden g = { .before = 0 };
	struct gus_core_listener listener = { .context = &g, .cycle = on_cycle, .retire = on_retire };
	struct gus_error err = { 0 };

	if (golden_stages_read(&g.stages, stdin, NULL, 0, &err) != 0) {
		fprintf(stderr, "golden_stages: %s\n", err.text);
		golden_stages_free(&g.stages);
		return 1;
	}
	g.pics = gus_pics_new(&g.stages.program);
	g.sums = gus_zalloc(g.stages.dids_n * sizeof(*g.sums));
	/* Of what was before the first nothing is known: it is the first one's. */
	g.before = g.stages.lines.v[0].did;
	golden_stages_tell(&g.stages, &listener);
	print(&g);
	gus_pics_free(g.pics);
	free(g.sums);
	golden_stages_free(&g.stages);
	return 0;
}
