/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/threads.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/memory/sharing.h"
#include "attribution/profile/profile.h"
#include "attribution/traced/finder.h"
#include "attribution/traced/traced.h"
#include "base/error.h"
#include "base/path.h"
#include "model/code/program.h"
#include "proto/reader.h"

/* Whether a file is the runtime of OpenMP: of GCC, LLVM or Intel. */
static bool is_runtime(const char *path)
{
	static const char *const names[] = { "libgomp.so", "libomp.so", "libiomp5.so" };
	const char *base = gus_base_name(path);

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Samples of a thread in a region. */
struct part { uint32_t region, thread; uint64_t samples; };
struct parts gus_vec(struct part);

static int by_region_and_thread(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->region != y->region ? (x->region < y->region ? -1 : 1) :
		x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void add_up(const struct parts *parts, struct gus_pathology_seen *seen)
{
	for (size_t i = 0, next; i < parts->n; i = next) {
		struct gus_pathology_seen *s = &seen[parts->v[i].region];
		uint64_t samples = 0;

		for (next = i; next < parts->n && by_region_and_thread(&parts->v[i], &parts->v[next]) == 0; next++)
			samples += parts->v[next].samples;
		s->samples += samples;
		s->most = (double)samples > s->most ? (double)samples : s->most;
		s->mean = (double)s->samples / ++s->threads;
	}
}

static void count_threads(struct gus_traced *t, const struct gus_profile *profile, struct gus_pathology_seen *seen)
{
	struct gus_finder *finder = gus_finder_new(t, profile->space);
	struct parts parts = { 0 };
	uint64_t runtime = 0, all = 0;

	for (size_t i = 0; i < profile->cells.n; i++) {
		const struct gus_cell *c = &profile->cells.v[i];
		struct gus_found found;

		all += c->samples;
		if (is_runtime(gus_space_module(profile->space, c->place.module)->path))
			runtime += c->samples;
		if (gus_finder_at(finder, &c->place, profile->threads.v[c->thread].pid, &found))
			gus_vec_push(&parts, (struct part){ t->blocks.v[found.block].region, c->thread, c->samples });
	}
	gus_finder_free(finder);
	if (parts.n)
		qsort(parts.v, parts.n, sizeof(*parts.v), by_region_and_thread);
	add_up(&parts, seen);
	gus_vec_free(&parts);
	for (size_t i = 0; i < t->regions.n; i++) {
		seen[i].runtime = runtime;
		seen[i].all = all;
		seen[i].hitm_at = UINT64_MAX;
	}
}

/* The instruction with the most samples of a region that were held up by bytes of others. */
static void note_hitm(struct gus_traced *t, const struct gus_found *found, const struct gus_sharing_access *a,
		      struct gus_pathology_seen *s)
{
	s->hitm += a->hitm;
	if (a->why != GUS_SHARING_APART)
		return;
	if (a->hitm > s->apart_most) {
		s->apart_most = a->hitm;
		s->hitm_at = t->program->insns[found->insn].offset;
	}
	s->apart += a->hitm;
}

static int add_sharing(struct gus_traced *t, struct gus_reader *reader, const struct gus_log *log,
		       struct gus_pathology_seen *seen, struct gus_error *err)
{
	const Gusprof__Header *h = gus_reader_header(reader);
	struct gus_symbols_options symbols = { .boot_id = h->host ? h->host->boot_id : NULL,
					       .rights = gus_symbols_rights(t->options.symbols) };
	struct gus_error why = { 0 };
	struct gus_finder *finder;
	struct gus_sharing s;

	if (gus_sharing_find(&s, reader, &(struct gus_filter){ .event = GUS_EVENT_ANY }, &symbols, log, &why) != 0) {
		if (why.code == GUS_E_NOT_FOUND)
			return 0;
		*err = why;
		return -1;
	}
	finder = gus_finder_new(t, s.profile.space);
	for (size_t i = 0; i < s.accesses.n; i++) {
		const struct gus_sharing_access *a = &s.accesses.v[i];
		struct gus_found found;

		if (a->hitm && gus_finder_at(finder, &a->code, s.threads.v[a->thread].pid, &found))
			note_hitm(t, &found, a, &seen[t->blocks.v[found.block].region]);
	}
	for (size_t i = 0; i < t->regions.n; i++)
		seen[i].told = s.told;
	gus_finder_free(finder);
	gus_sharing_free(&s);
	return 0;
}

struct gus_pathology_seen *gus_pathology_seen_load(struct gus_traced *t, struct gus_reader *reader,
						   const struct gus_log *log, struct gus_error *err)
{
	const Gusprof__Header *h = gus_reader_header(reader);
	struct gus_symbols_options symbols = { .boot_id = h->host ? h->host->boot_id : NULL,
					       .rights = gus_symbols_rights(t->options.symbols) };
	struct gus_pathology_seen *seen = gus_zalloc((t->regions.n + 1) * sizeof(*seen));
	const struct gus_filter filter = { .event = h->main_event };
	struct gus_profile profile;

	if (gus_profile_load(&profile, reader, &filter, &symbols, log, err) != 0) {
		free(seen);
		return NULL;
	}
	count_threads(t, &profile, seen);
	gus_profile_free(&profile);
	if (add_sharing(t, reader, log, seen, err) == 0)
		return seen;
	free(seen);
	return NULL;
}
