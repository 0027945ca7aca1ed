/* SPDX-License-Identifier: MIT */
#include "symbolizer/names/functions.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/names/demangle.h"

void gus_functions_init(struct gus_functions *f)
{
	memset(f, 0, sizeof(*f));
	gus_strings_init(&f->names);
}

void gus_functions_free(struct gus_functions *f)
{
	gus_vec_free(&f->list);
	gus_ranges_free(&f->ranges);
	gus_strings_free(&f->names);
}

void gus_functions_add(struct gus_functions *f, const struct gus_function *function)
{
	gus_vec_push(&f->list, *function);
	f->list.v[f->list.n - 1].order = (uint32_t)(f->list.n - 1);
}

static int by_address(const void *left, const void *right)
{
	const struct gus_function *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* A name as people read it, NULL if that is as it stands. A few letters can ask for many thousand, so there is an end
 * to how many are demangled; one that has too many to be shown has cost all that a name may have. */
static char *ranked(struct gus_functions *f, const char *name)
{
	char *readable = f->letters.cut ? NULL : gus_demangle(name);

	if (readable)
		gus_budget_charge(&f->letters, strlen(readable));
	else if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		gus_budget_charge(&f->letters, GUS_LIMIT_NAME);
	return readable;
}

/* The ranking of the last resort compares what people read, so mangled names are demangled for it. */
static bool reads_better(struct gus_functions *f, const char *challenger, const char *holder)
{
	char *a = ranked(f, challenger), *b = ranked(f, holder);
	const char *x = a ? a : challenger, *y = b ? b : holder;
	bool better = underscores(x) != underscores(y) ? underscores(x) < underscores(y) : strlen(x) > strlen(y);

	free(a);
	free(b);
	return better;
}

/* Whether of two names for one address the challenger is to be shown. perf ranks in this order, and a user who compares
 * two profilers should see the same names: a size, then strength, then scope, then fewer leading underscores, then
 * length; at last who came first. Of names without a size (the kernel's, all of them) it is the last, since perf gives
 * that one the room up to the next address before it ranks. */
static bool beats(struct gus_functions *f, const struct gus_function *challenger, const struct gus_function *holder)
{
	bool sized = challenger->high > challenger->low;

	if (sized != (holder->high > holder->low))
		return sized;
	if (!sized)
		return true;
	if (challenger->weak != holder->weak)
		return holder->weak;
	if (challenger->global != holder->global)
		return challenger->global;
	if (strcmp(challenger->name, holder->name) == 0)
		return false;
	return reads_better(f, challenger->name, holder->name);
}

/* One function per address; the list is sorted. */
static void drop_aliases(struct gus_functions *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		struct gus_function *next = &f->list.v[i];

		if (!kept || f->list.v[kept - 1].low != next->low)
			f->list.v[kept++] = *next;
		else if (beats(f, next, &f->list.v[kept - 1]))
			f->list.v[kept - 1] = *next;
	}
	f->list.n = kept;
}

/* A name without size inside of a function that has one is a label in hand-written code, not a function. */
static void drop_labels(struct gus_functions *f)
{
	uint64_t covered = 0;
	size_t kept = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		const struct gus_function *next = &f->list.v[i];

		if (next->high == next->low && next->low < covered)
			continue;
		if (next->high > covered)
			covered = next->high;
		f->list.v[kept++] = *next;
	}
	f->list.n = kept;
}

void gus_functions_ready(struct gus_functions *f)
{
	if (f->list.n)
		qsort(f->list.v, f->list.n, sizeof(*f->list.v), by_address);
	f->letters = gus_budget_of(GUS_LIMIT_RANKED, f->list.n);
	drop_aliases(f);
	drop_labels(f);
	for (size_t i = 0; i < f->list.n; i++) {
		struct gus_function *now = &f->list.v[i];

		if (now->high == now->low) {
			now->high = now->limit;
			if (i + 1 < f->list.n && (now[1].low < now->high || !now->limit))
				now->high = now[1].low;
		}
		gus_ranges_add(&f->ranges, now->low, now->high, (uint32_t)i, 0);
	}
	gus_ranges_ready(&f->ranges);
	f->ready = true;
}

struct gus_function *gus_functions_find(struct gus_functions *f, uint64_t address)
{
	const struct gus_range *r = gus_ranges_find(&f->ranges, address);

	return r ? &f->list.v[r->value] : NULL;
}

/* The demangler would drop what follows a mangled name. */
static char *demangle_stub(const char *name)
{
	size_t length = strlen(name), suffix = strlen(GUS_PLT_SUFFIX);
	char *base, *readable, *stub = NULL;

	if (length <= suffix || strcmp(name + length - suffix, GUS_PLT_SUFFIX) != 0)
		return NULL;
	base = gus_strndup(name, length - suffix);
	readable = gus_demangle(base);
	if (readable)
		stub = gus_format("%s%s", readable, GUS_PLT_SUFFIX);
	free(base);
	free(readable);
	return stub;
}

const char *gus_function_name(struct gus_functions *f, struct gus_function *function, bool raw)
{
	char *readable;

	if (raw)
		return function->name;
	if (!function->shown) {
		readable = demangle_stub(function->name);
		if (!readable)
			readable = gus_demangle(function->name);
		function->shown = readable ? gus_strings_get(&f->names, gus_strings_add(&f->names, readable))
					   : function->name;
		free(readable);
	}
	return function->shown;
}
