/* SPDX-License-Identifier: MIT */
#include "cli/record/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NEARLY 8 /* part of the frames that may be missing of a stack that has too many */

void gus_remembered_free(struct gus_remembered *r)
{
	for (size_t i = 0; i < GUS_REMEMBERED_THREADS; i++) {
		free(r->threads[i]);
		free(r->deep[i]);
	}
	*r = (struct gus_remembered){ 0 };
}

static void keep(struct gus_remembered_stack **s, uint32_t pid, uint32_t tid, const uint64_t *addresses,
		 const uint64_t *frames, uint32_t n)
{
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

void gus_remembered_keep(struct gus_remembered *r, uint32_t pid, uint32_t tid, const uint64_t *addresses,
			 const uint64_t *frames, uint32_t n)
{
	keep(&r->threads[tid & (GUS_REMEMBERED_THREADS - 1)], pid, tid, addresses, frames, n);
}

void gus_remembered_keep_deep(struct gus_remembered *r, uint32_t pid, uint32_t tid, const uint64_t *addresses,
			      const uint64_t *frames, uint32_t n)
{
	keep(&r->deep[tid & (GUS_REMEMBERED_THREADS - 1)], pid, tid, addresses, frames, n);
}

/* The frames of a stack grow outwards but where a signal changed stacks, so all are looked at. */
static uint32_t find(const struct gus_remembered_stack *s, uint64_t address, uint64_t frame)
{
	uint32_t i = 0;

	while (i < s->n && (s->frames[i] != frame || s->addresses[i] != address))
		i++;
	return i;
}

/* How many of s are behind the last of those n, in *from on; 0 if that is not in it. */
static uint32_t behind(const struct gus_remembered_stack *s, uint32_t pid, uint32_t tid, const uint64_t *addresses,
		       const uint64_t *frames, uint32_t n, uint32_t *from)
{
	if (!s || s->pid != pid || s->tid != tid || !n || !frames[n - 1])
		return 0;
	*from = find(s, addresses[n - 1], frames[n - 1]) + 1;
	return *from < s->n ? s->n - *from : 0;
}

static void append(const struct gus_remembered_stack *s, uint32_t from, uint32_t outer, uint64_t *addresses,
		   uint64_t *frames, uint32_t n)
{
	memcpy(addresses + n, s->addresses + from, outer * sizeof(*addresses));
	memcpy(frames + n, s->frames + from, outer * sizeof(*frames));
}

uint32_t gus_remembered_join(const struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t *addresses,
			     uint64_t *frames, uint32_t n, uint32_t most)
{
	const struct gus_remembered_stack *s = r->threads[tid & (GUS_REMEMBERED_THREADS - 1)];
	uint32_t from, outer = behind(s, pid, tid, addresses, frames, n, &from);

	if (!outer || outer > most - n)
		return n;
	append(s, from, outer, addresses, frames, n);
	return n + outer;
}

uint32_t gus_remembered_join_deep(const struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t *addresses,
				  uint64_t *frames, uint32_t n, uint32_t most)
{
	const struct gus_remembered_stack *s = r->deep[tid & (GUS_REMEMBERED_THREADS - 1)];
	uint32_t from, outer = behind(s, pid, tid, addresses, frames, n, &from);

	outer = outer < most - n ? outer : most - n;
	if (!outer || n + outer < most - most / NEARLY)
		return n;
	append(s, from, outer, addresses, frames, n);
	/* A marker is before what was interrupted, and not the last. */
	return n + outer - (addresses[n + outer - 1] == GUS_REMEMBERED_MARKER);
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
