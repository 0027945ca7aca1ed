/* SPDX-License-Identifier: MIT */
#include "attribution/stacks/stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const event_names[GUS_TEA_EVENTS] = {
	[GUS_DR_L1] = "DR-L1", [GUS_DR_TLB] = "DR-TLB", [GUS_DR_SQ] = "DR-SQ",
	[GUS_FL_MB] = "FL-MB", [GUS_FL_EX] = "FL-EX", [GUS_FL_MO] = "FL-MO",
	[GUS_ST_L1] = "ST-L1", [GUS_ST_TLB] = "ST-TLB", [GUS_ST_LLC] = "ST-LLC",
};

static const char *const level_names[GUS_SERVED_LEVELS] = {
	[GUS_SERVED_L1] = "L1", [GUS_SERVED_FILL] = "fill", [GUS_SERVED_L2] = "L2", [GUS_SERVED_L3] = "L3",
	[GUS_SERVED_PEER] = "peer", [GUS_SERVED_MEMORY] = "memory", [GUS_SERVED_FAR_MEMORY] = "far-memory",
	[GUS_SERVED_REMOTE_CACHE] = "remote-cache", [GUS_SERVED_REMOTE_MEMORY] = "remote-memory",
	[GUS_SERVED_IO] = "io",
};

/* The canonical order, as a number. */
static uint32_t rank(struct gus_component what)
{
	return (uint32_t)what.unknown << 31 | (uint32_t)what.events << 8 | what.served;
}

void gus_stack_add(struct gus_stack *s, struct gus_component what, enum gus_evidence evidence, uint64_t weight)
{
	size_t at = 0;

	while (at < s->n && rank(s->v[at].what) < rank(what))
		at++;
	if (at == s->n || rank(s->v[at].what) != rank(what)) {
		/* A stack has few parts, often one, and there is one for each row: no more room than is needed. */
		gus_vec_reserve(s, s->n + 1);
		memmove(s->v + at + 1, s->v + at, (s->n - at) * sizeof(*s->v));
		s->v[at] = (struct gus_stack_part){ what, evidence, 0 };
		s->n++;
	}
	s->v[at].weight += weight;
	if (s->v[at].evidence < evidence)
		s->v[at].evidence = evidence;
}

void gus_stack_check(const struct gus_stack *s, uint64_t height)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->v[i].weight;
	assert(sum == height);
	(void)height;
}

void gus_stack_free(struct gus_stack *s)
{
	gus_vec_free(s);
}

void gus_component_key(struct gus_component what, char key[GUS_COMPONENT_KEY_MAX])
{
	char *end = stpcpy(key, what.unknown ? "unknown" : what.events ? "" : "base");

	for (unsigned i = 0; i < GUS_TEA_EVENTS; i++)
		if (what.events >> i & 1)
			end = stpcpy(stpcpy(end, end > key ? "+" : ""), event_names[i]);
	if (what.served)
		stpcpy(stpcpy(end, "@"), level_names[what.served]);
}
