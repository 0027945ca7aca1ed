/* SPDX-License-Identifier: MIT */
#include "attribution/stacks/stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
