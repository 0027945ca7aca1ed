/* SPDX-License-Identifier: MIT */
#include "attribution/profile/selection.h"

#include <fnmatch.h>
#include <string.h>

bool gus_selection_means(const char *pattern, const char *function)
{
	/* Names have stars and brackets of their own, as operator[] has. */
	return strcmp(pattern, function) == 0 || fnmatch(pattern, function, 0) == 0;
}

struct selecting {
	struct gus_profile *p;
	const char *const *patterns;
	enum gus_depth depth;
	struct gus_strings *names;
	/* Of the place before: cells come sorted by it. */
	struct gus_place place;
	bool begun, wanted;
};

static bool is_wanted(struct selecting *s, struct gus_place place)
{
	struct gus_name names[GUS_NAMES_MAX];

	gus_symbols_names(s->p->symbols, gus_space_module(s->p->space, place.module), place.offset, s->depth, names);
	if (!names[0].function)
		return false;
	gus_strings_add(s->names, names[0].function);
	for (size_t i = 0; s->patterns[i]; i++)
		if (gus_selection_means(s->patterns[i], names[0].function))
			return true;
	return false;
}

static bool keep(void *context, const struct gus_cell *cell)
{
	struct selecting *s = context;

	if (!s->begun || cell->place.module != s->place.module || cell->place.offset != s->place.offset)
		s->wanted = is_wanted(s, cell->place);
	s->begun = true;
	s->place = cell->place;
	return s->wanted;
}

void gus_selection_functions(struct gus_profile *p, const char *const *patterns, bool inlines,
			     struct gus_strings *names)
{
	struct selecting s = {
		.p = p, .patterns = patterns, .names = names,
		.depth = inlines ? GUS_DEPTH_INLINE : GUS_DEPTH_FUNCTION,
	};

	gus_profile_keep(p, keep, &s);
}
