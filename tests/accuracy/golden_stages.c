/* SPDX-License-Identifier: MIT */
/* Cycles of an out-of-order core whose every micro-op's stages are known, through our own policies: a table of stages
 * on standard input, and cycles of each static micro-op by state on standard output. See golden-stages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/program.h"
#include "model/core/pics.h"

/* A micro-op that was committed: cycles in which it entered the ROB, was complete, and retired. */
struct stages { uint32_t did; int64_t rob, complete, retired; char cause[8]; };

/* Ticks by state, and those of cycles in which commit was blocked although the oldest was complete: by the oldest, and
 * by what retired before it. */
struct sums { uint64_t states[GUS_COMMITS], blocked, blocked_before; };

struct golden {
	struct gus_program program;             /* each micro-op is an instruction */
	struct gus_pics *pics;
	const struct gus_core_listener *listener;
	struct gus_vec(struct stages) lines;
	struct gus_vec(struct sums) sums;
	int64_t cycles;
};

/* Fields, from 0: 3 did, 4 fetch, and behind fetch 8 rob, 10 cmp, 11 ret; 14 cause. */
static void read_line(struct golden *g, char *line)
{
	char *fields[19] = { NULL }, *rest = line;
	struct stages s = { 0 };
	int64_t fetch;

	for (unsigned i = 0; i < 19; i++)
		fields[i] = strsep(&rest, "\t\n");
	if (!fields[14] || line[0] < '0' || line[0] > '9')
		return;
	fetch = strtoll(fields[4], NULL, 10);
	s.did = (uint32_t)strtoul(fields[3], NULL, 10);
	s.rob = fetch + strtoll(fields[8], NULL, 10);
	s.complete = fetch + strtoll(fields[10], NULL, 10);
	s.retired = fetch + strtoll(fields[11], NULL, 10);
	snprintf(s.cause, sizeof(s.cause), "%s", fields[14]);
	gus_vec_push(&g->lines, s);
	while (g->sums.n <= s.did)
		gus_vec_push(&g->sums, (struct sums){ .blocked = 0 });
}

static void read_all(struct golden *g)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		const char *cycles = line[0] == '#' ? strstr(line, " cycles ") : NULL;

		if (cycles)
			g->cycles = strtoll(cycles + 8, NULL, 10);
		else
			read_line(g, line);
	}
	g->program.ops_n = (uint32_t)g->sums.n;
	g->program.ops = gus_zalloc((g->sums.n + 1) * sizeof(*g->program.ops));
	for (uint32_t i = 0; i < g->program.ops_n; i++)
		g->program.ops[i].insns_n = 1;
}

/* What the cycle was, of which `next` is the oldest that has not retired. */
static struct gus_core_cycle state_of(struct golden *g, size_t next, int64_t cycle)
{
	const struct stages *h = &g->lines.v[next];
	struct gus_core_cycle told = { .cycle = (uint64_t)cycle };

	if (h->rob <= cycle && cycle < h->complete + 2) { /* two cycles lie between completion and retirement */
		told.state = GUS_COMMIT_STALLED;
	} else if (h->rob <= cycle) { /* commit waits until the wrong path has left */
		told.state = GUS_COMMIT_FLUSHED;
		g->sums.v[h->did].blocked++;
		/* Of what was before the first nothing is known: it is the first one's. */
		g->sums.v[g->lines.v[next ? next - 1 : 0].did].blocked_before++;
	} else if (strchr(h->cause, 'M')) {
		told.state = GUS_COMMIT_FLUSHED;
		told.of_next = true;
	} else {
		told.state = strpbrk(h->cause, "BATX") ? GUS_COMMIT_FLUSHED : GUS_COMMIT_DRAINED;
	}
	return told;
}

static void run(struct golden *g)
{
	size_t next = 0;

	for (int64_t cycle = 0; cycle < g->cycles && next < g->lines.n; cycle++) {
		struct gus_core_cycle told = { .cycle = (uint64_t)cycle, .state = GUS_COMMIT_COMPUTE };

		if (g->lines.v[next].retired > cycle)
			told = state_of(g, next, cycle);
		for (; next < g->lines.n && g->lines.v[next].retired == cycle; next++)
			g->listener->retire(g->listener->context, &(struct gus_core_retired){
				.iteration = next, .op = g->lines.v[next].did, .ends = true });
		g->listener->cycle(g->listener->context, &told);
	}
}

static void print(struct golden *g)
{
	const struct gus_pics_cell *cells;
	uint64_t pending;
	size_t n;

	cells = gus_pics_cells(g->pics, &n);
	for (size_t i = 0; i < n; i++)
		g->sums.v[cells[i].op].states[cells[i].state] += cells[i].ticks;
	printf("cycles %" PRIu64, gus_pics_cycles(g->pics, &pending));
	printf(" pending %" PRIu64 " first %" PRIu32 "\n", pending, g->lines.n ? g->lines.v[0].did : 0);
	for (size_t i = 0; i < g->sums.n; i++) {
		const struct sums *s = &g->sums.v[i];

		printf("%zu", i);
		for (unsigned state = 0; state < GUS_COMMITS; state++)
			printf(" %.6f", (double)s->states[state] / GUS_PICS_TICKS);
		printf(" %" PRIu64 " %" PRIu64 "\n", s->blocked, s->blocked_before);
	}
}

int main(void)
{
	struct golden g = { .cycles = 0 };

	read_all(&g);
	g.pics = gus_pics_new(&g.program);
	g.listener = gus_pics_listener(g.pics);
	run(&g);
	print(&g);
	gus_pics_free(g.pics);
	gus_vec_free(&g.lines);
	gus_vec_free(&g.sums);
	free(g.program.ops);
	return 0;
}
