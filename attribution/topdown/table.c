/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/table.h"

#include <stdlib.h>

#include "base/alloc.h"

void gus_topdown_free(struct gus_topdown *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->events.n; i++)
		free(t->events.v[i].terms);
	for (size_t i = 0; i < t->groups.n; i++)
		free(t->groups.v[i]);
	for (size_t i = 0; i < t->nodes.n; i++) {
		free(t->nodes.v[i].title);
		free(t->nodes.v[i].correction_why);
		free(t->nodes.v[i].within_why);
		gus_vec_free(&t->nodes.v[i].formula);
		gus_vec_free(&t->nodes.v[i].correction);
	}
	for (size_t i = 0; i < t->values.n; i++) {
		free(t->values.v[i].name);
		gus_vec_free(&t->values.v[i].formula);
	}
	for (size_t i = 0; i < t->sources.n; i++) {
		free(t->sources.v[i].name);
		free(t->sources.v[i].text);
	}
	gus_vec_free(&t->events);
	gus_vec_free(&t->groups);
	gus_vec_free(&t->nodes);
	gus_vec_free(&t->values);
	gus_vec_free(&t->sources);
	free(t->name);
	free(t->title);
	free(t->pmu);
	free(t->lacks);
	free(t->root_within_why);
	free(t);
}

size_t gus_topdown_events(const struct gus_topdown *t, unsigned level, uint32_t *list)
{
	size_t n = 0;

	for (uint32_t group = 0; group < t->groups.n; group++)
		for (uint32_t i = 0; i < t->events.n; i++) {
			const struct gus_topdown_event *e = &t->events.v[i];

			if (e->grouped && e->group == group && e->level <= level)
				list[n++] = i;
		}
	return n;
}

char *gus_topdown_spec(const struct gus_topdown *t, unsigned level)
{
	uint32_t *list = gus_alloc((t->events.n + 1) * sizeof(*list));
	size_t n = gus_topdown_events(t, level, list);
	char *spec = gus_strdup("");

	for (size_t i = 0; i < n; i++) {
		const struct gus_topdown_event *e = &t->events.v[list[i]];
		bool first = i == 0 || t->events.v[list[i - 1]].group != e->group;
		bool last = i + 1 == n || t->events.v[list[i + 1]].group != e->group;
		char *longer = gus_format("%s%s%s%s/%s,name=%s/%s", spec, i ? "," : "", first ? "{" : "", t->pmu,
					  e->terms, e->name, last ? "}" : "");

		free(spec);
		spec = longer;
	}
	free(list);
	return spec;
}
