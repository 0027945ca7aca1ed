/* SPDX-License-Identifier: MIT */
#include "attribution/whatif/squash.h"

#include <stdlib.h>

#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/machine/steps.h"
#include "model/stream/types.h"

/* Of one thread: what is in its reorder buffer, as a ring of ops that have not retired when the next one is issued. */
enum { RING = 4096 };

struct gus_squash_thread {
	int64_t retired;                /* by when the last op has, in ticks */
	uint64_t first, behind;         /* in the ring: the oldest, and behind the youngest */
	uint64_t entries;               /* that they have */
	struct { int64_t retire; uint32_t entries; } ring[RING];
};

void gus_squashes_init(struct gus_squashes *s, const struct gus_core_config *config)
{
	*s = (struct gus_squashes){ .width = config->issue_width, .rob = config->rob,
		.depth = config->mispredict_penalty };
}

void gus_squashes_free(struct gus_squashes *s)
{
	for (size_t i = 0; i < s->threads.n; i++)
		free(s->threads.v[i]);
	gus_vec_free(&s->threads);
	gus_vec_free(&s->regions);
}

static struct gus_squash_thread *thread_of(struct gus_squashes *s, uint32_t stream)
{
	while (s->threads.n <= stream)
		gus_vec_push(&s->threads, NULL);
	if (!s->threads.v[stream])
		s->threads.v[stream] = gus_zalloc(sizeof(**s->threads.v));
	return s->threads.v[stream];
}

static struct gus_squash *region_of(struct gus_squashes *s, uint32_t region)
{
	while (s->regions.n <= region)
		gus_vec_push(&s->regions, (struct gus_squash){ .branches = 0 });
	return &s->regions.v[region];
}

/* What has retired by then leaves, and the op comes in. */
static void enter(struct gus_squash_thread *th, const struct gus_op *op, const struct gus_stream_times *times)
{
	while (th->first < th->behind && (th->ring[th->first % RING].retire <= times->issue ||
					  th->behind - th->first == RING))
		th->entries -= th->ring[th->first++ % RING].entries;
	th->ring[th->behind % RING].retire = times->retire;
	th->ring[th->behind++ % RING].entries = op->rob;
	th->entries += op->rob;
}

/* Entries of what was issued up to now and has not retired by a time. */
static uint64_t entries_at(const struct gus_squash_thread *th, int64_t time)
{
	uint64_t left = th->entries;

	for (uint64_t i = th->first; i < th->behind && th->ring[i % RING].retire <= time; i++)
		left -= th->ring[i % RING].entries;
	return left;
}

static void mispredict(const struct gus_squashes *s, const struct gus_squash_thread *th, struct gus_squash *region,
		       const struct gus_stream_times *times)
{
	double resolution = (double)(times->end - times->issue) / GUS_STREAM_TICKS, path = resolution * s->width;
	uint64_t taken = entries_at(th, times->end);
	double room = s->rob > taken ? (double)(s->rob - taken) : 0;

	region->branches++;
	region->resolution += resolution;
	region->lost += path + (double)s->depth * s->width;
	region->squashed += s->rob && room < path ? room : path;
}

void gus_squashes_steps(void *squashes, uint32_t stream, const struct gus_program *program,
			const struct gus_op_steps *steps, const struct gus_stream_times *times)
{
	struct gus_squashes *s = squashes;
	struct gus_squash_thread *th = thread_of(s, stream);

	for (size_t i = 0; i < steps->n; i++) {
		const struct gus_op_step *step = &steps->steps[i];

		enter(th, &program->ops[step->op], &times[i]);
		if (step->region) { /* else it warms the engine */
			struct gus_squash *region = region_of(s, step->region - 1);

			region->cycles += (double)(times[i].retire - th->retired) / GUS_STREAM_TICKS;
			if (step->mispredicted)
				mispredict(s, th, region, &times[i]);
		}
		th->retired = times[i].retire;
	}
}

void gus_squashes_leave(struct gus_squashes *s, uint32_t stream)
{
	if (stream >= s->threads.n)
		return;
	free(s->threads.v[stream]);
	s->threads.v[stream] = NULL;
}

struct gus_squash gus_squashes_of(const struct gus_squashes *s, uint32_t region)
{
	return region < s->regions.n ? s->regions.v[region] : (struct gus_squash){ .branches = 0 };
}
