/* SPDX-License-Identifier: MIT */
#include "model/core/storesets.h"

#include <stdlib.h>

#include "base/alloc.h"

void gus_storesets_begin(struct gus_storesets *s, uint32_t entries)
{
	s->entries = entries;
	s->set = gus_zalloc(entries * sizeof(*s->set));
	s->last = gus_zalloc(entries * sizeof(*s->last));
}

void gus_storesets_end(struct gus_storesets *s)
{
	free(s->set);
	free(s->last);
}

static uint32_t entry_of(const struct gus_storesets *s, uint64_t address)
{
	return (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % s->entries);
}

void gus_storesets_enter(struct gus_storesets *s, uint64_t store, uint64_t number)
{
	uint32_t set = s->set[entry_of(s, store)];

	if (set)
		s->last[set - 1] = number + 1;
}

uint64_t gus_storesets_last(const struct gus_storesets *s, uint64_t load)
{
	uint32_t set = s->set[entry_of(s, load)];

	return set ? s->last[set - 1] : 0;
}

bool gus_storesets_share(const struct gus_storesets *s, uint64_t load, uint64_t store)
{
	uint32_t set = s->set[entry_of(s, load)];

	return set && set == s->set[entry_of(s, store)];
}

/* Where both have one, both take that of the lower number: so those that meet each other in turn end in one set. */
void gus_storesets_join(struct gus_storesets *s, uint64_t load, uint64_t store)
{
	uint32_t *of_load = &s->set[entry_of(s, load)], *of_store = &s->set[entry_of(s, store)];
	uint32_t set = *of_load && (!*of_store || *of_load < *of_store) ? *of_load : *of_store;

	*of_load = *of_store = set ? set : entry_of(s, load) + 1;
}
