/* SPDX-License-Identifier: MIT */
#include "cli/record/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void gus_remembered_free(struct gus_remembered *r)
{
	for (size_t i = 0; i < GUS_REMEMBERED_THREADS; i++)
		free(r->threads[i]);
	*r = (struct gus_remembered){ 0 };
}

void gus_remembered_keep(struct gus_remembered *r, uint32_t pid, uint32_t tid, const uint64_t *addresses,
			 const uint64_t *frames, uint32_t n)
{
	struct gus_remembered_stack **s = &r->threads[tid & (GUS_REMEMBERED_THREADS - 1)];

	if (!n || n > GUS_REMEMBERED_FRAMES)
		return;
	if (!*s)
		*s = gus_alloc(sizeof(**s));
	(*s)->pid = pid;
	(*s)->tid = tid;
	(*s)->n = n;
	memcpy((*s)->addresses, addresses, n * sizeof(*addresses));
	memcpy((*s)->frames, frames, n * sizeof(*frames));
}

/* The frames of a stack grow outwards but where a signal changed stacks, so all are looked at. */
static uint32_t find(const struct gus_remembered_stack *s, uint64_t address, uint64_t frame)
{
	uint32_t i = 0;

	while (i < s->n && (s->frames[i] != frame || s->addresses[i] != address))
		i++;
	return i;
}

uint32_t gus_remembered_join(const struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t *addresses,
			     uint64_t *frames, uint32_t n, uint32_t most)
{
	const struct gus_remembered_stack *s = r->threads[tid & (GUS_REMEMBERED_THREADS - 1)];
	uint32_t from, outer;

	if (!s || s->pid != pid || s->tid != tid || !n || !frames[n - 1])
		return n;
	from = find(s, addresses[n - 1], frames[n - 1]) + 1;
	if (from >= s->n)
		return n;
	outer = s->n - from;
	if (outer > most - n)
		return n;
	memcpy(addresses + n, s->addresses + from, outer * sizeof(*addresses));
	memcpy(frames + n, s->frames + from, outer * sizeof(*frames));
	return n + outer;
}

void gus_remembered_note(struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t top)
{
	struct gus_remembered_depth *d = &r->depths[tid & (GUS_REMEMBERED_THREADS - 1)];

	if (d->pid != pid || d->tid != tid)
		*d = (struct gus_remembered_depth){ .pid = pid, .tid = tid };
	d->tops[d->n++ % GUS_REMEMBERED_TOPS] = top;
}

bool gus_remembered_stays(const struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t frame)
{
	const struct gus_remembered_depth *d = &r->depths[tid & (GUS_REMEMBERED_THREADS - 1)];
	bool stays = d->pid == pid && d->tid == tid && d->n >= GUS_REMEMBERED_TOPS;

	for (size_t i = 0; stays && i < GUS_REMEMBERED_TOPS; i++)
		stays = d->tops[i] < frame;
	return stays;
}
