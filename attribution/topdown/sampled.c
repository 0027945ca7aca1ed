/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/sampled.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/builtin.h"
#include "attribution/topdown/cpu.h"
#include "attribution/topdown/encoding.h"
#include "attribution/topdown/group.h"
#include "attribution/topdown/recorded.h"
#include "base/limits.h"
#include "proto/sample.h"

#define EVENT_OF(id) ((uint32_t)(id))
/* How much longer than the recording a counter may have been wanted: it was opened just before. */
#define OPENING_NS 1000000000ULL
/* PMUs whose counts samples bring along: kinds of cores are a few, and each PMU's tables are looked for. */
#define PMUS_MOST 64

/* An event of the recording among those of a kind. */
struct gus_topdown_place {
	uint32_t kind, slot;    /* kind: GUS_INDEX_NONE for those of none */
	bool counted;           /* samples have counts of it */
};

struct counter_key { uint64_t leader; uint32_t tid, zero; };

/* Which tables. */

static bool has_counts(const Gusprof__Event *e)
{
	return gus_topdown_group_told(e->read_format);
}

/* Which events have counts in samples: their own, or those of one of their group. Perf's recordings do not say which
 * events are a group; those that are not in it have no samples at the same moments. False: none has. */
static bool find_counted(struct gus_topdown_sampled *s)
{
	const Gusprof__Header *h = s->header;
	struct gus_index groups;
	bool any;

	gus_index_init(&groups, sizeof(uint32_t));
	for (size_t i = 0; i < h->n_events; i++)
		if (has_counts(h->events[i]))
			gus_index_add(&groups, &h->events[i]->group, NULL);
	any = groups.n > 0;
	for (size_t i = 0; i < h->n_events; i++) {
		const Gusprof__Event *e = h->events[i];
		bool with = e->group && gus_index_find(&groups, &e->group) != GUS_INDEX_NONE;

		gus_vec_push(&s->places, (struct gus_topdown_place){ GUS_INDEX_NONE, 0,
			has_counts(e) || with || (h->origin && any) });
	}
	gus_index_free(&groups);
	return any;
}

static bool is_placed(const struct gus_topdown_sampled *s, uint32_t event)
{
	return event < s->places.n && s->places.v[event].kind != GUS_INDEX_NONE;
}

/* Of two events of the recording that are the same to the table the first is it. */
static size_t place_events(struct gus_topdown_sampled *s, const struct gus_topdown *t, const uint32_t *list, size_t n,
			   bool *known)
{
	const Gusprof__Header *h = s->header;
	size_t placed = 0;

	for (uint32_t slot = 0; slot < n; slot++)
		for (uint32_t i = 0; i < h->n_events && !known[slot]; i++)
			if (!is_placed(s, i) && s->places.v[i].counted &&
			    gus_topdown_encoding_is(t, &t->events.v[list[slot]], h->events[i])) {
				s->places.v[i].kind = (uint32_t)s->kinds.n;
				s->places.v[i].slot = slot;
				known[slot] = true;
				placed++;
			}
	return placed;
}

/* The deepest level of which some node depends on known events alone; 0: there is none. */
static unsigned level_of(const struct gus_topdown *t, const bool *known, size_t n)
{
	struct gus_topdown_count *counts = gus_zalloc((n + 1) * sizeof(*counts));
	struct gus_topdown_tree tree;
	unsigned level = 0;

	for (size_t i = 0; i < n; i++)
		counts[i] = (struct gus_topdown_count){ .value = 1, .known = known[i] };
	gus_topdown_evaluate(&tree, t, t->levels, counts, NULL, 0);
	for (size_t i = 0; i < t->nodes.n; i++)
		if (tree.shares[i].known && t->nodes.v[i].level > level)
			level = t->nodes.v[i].level;
	gus_topdown_tree_free(&tree);
	free(counts);
	return level;
}

static void unplace(struct gus_topdown_sampled *s, uint32_t kind)
{
	for (size_t i = 0; i < s->places.n; i++)
		if (s->places.v[i].kind == kind)
			s->places.v[i].kind = GUS_INDEX_NONE;
}

/* Of events of that kind, and those in the group of one that is: what samples need not be what is asked about. */
static void note_format(struct gus_topdown_sampled *s, struct gus_topdown_sampled_kind *kind, uint32_t number)
{
	struct gus_index groups;

	gus_index_init(&groups, sizeof(uint32_t));
	for (size_t i = 0; i < s->places.n; i++)
		if (s->places.v[i].kind == number && s->header->events[i]->group)
			gus_index_add(&groups, &s->header->events[i]->group, NULL);
	for (size_t i = 0; i < s->places.n; i++) {
		const Gusprof__Event *e = s->header->events[i];

		if (!has_counts(e) || (s->places.v[i].kind != number &&
				       gus_index_find(&groups, &e->group) == GUS_INDEX_NONE))
			continue;
		/* Threads that are watched alone have counters of their own as well. */
		kind->by_thread |= e->inherit || strcmp(s->header->target, "thread") == 0;
		kind->timed |= e->read_format & GUS_TOPDOWN_FORMAT_ENABLED &&
			e->read_format & GUS_TOPDOWN_FORMAT_RUNNING;
	}
	gus_index_free(&groups);
}

/* Sums have only the events that there are, as there is one for each cell. */
static void close_ranks(struct gus_topdown_sampled *s, struct gus_topdown_sampled_kind *kind, uint32_t number)
{
	uint32_t *rank = gus_zalloc((kind->events + 1) * sizeof(*rank));

	kind->at = gus_zalloc((kind->events + 1) * sizeof(*kind->at));
	for (uint32_t i = 0; i < kind->events; i++)
		if (kind->known[i]) {
			rank[i] = (uint32_t)kind->n;
			kind->at[kind->n++] = i;
		}
	for (size_t i = 0; i < s->places.n; i++)
		if (s->places.v[i].kind == number)
			s->places.v[i].slot = rank[s->places.v[i].slot];
	free(rank);
}

/* Takes the table over if the recording has events of it. */
static bool take_table(struct gus_topdown_sampled *s, struct gus_topdown *t)
{
	uint32_t *list = gus_alloc((t->events.n + 1) * sizeof(*list)), number = (uint32_t)s->kinds.n;
	struct gus_topdown_sampled_kind kind = { .table = t, .events = gus_topdown_events(t, t->levels, list) };
	size_t placed;

	kind.known = gus_zalloc((kind.events + 1) * sizeof(*kind.known));
	placed = place_events(s, t, list, kind.events, kind.known);
	kind.level = placed ? level_of(t, kind.known, kind.events) : 0;
	free(list);
	if (!kind.level) {
		unplace(s, number);
		free(kind.known);
		return false;
	}
	close_ranks(s, &kind, number);
	kind.change = gus_zalloc((kind.n + 1) * sizeof(*kind.change));
	kind.cells.events = kind.total.events = kind.stretches.events = kind.n;
	note_format(s, &kind, number);
	gus_vec_push(&s->kinds, kind);
	return true;
}

/* Tables for cores with that PMU. What else they depend on, frames of gusprof's say; of others it is taken that one
 * thread had a core to itself. */
static void look_for(struct gus_topdown_sampled *s, const char *pmu, const struct gus_topdown *like)
{
	struct gus_cpu_id cpu = s->header->host ? gus_topdown_cpu(s->header->host) : (struct gus_cpu_id){ 0 };
	const struct gus_topdown_pmu pmus = { pmu, NULL, 0, like ? like->pmu_slots : 0 };
	const struct gus_topdown_host host = { .cpu = &cpu, .smt = like && like->smt,
					       .watchdog = like && like->watchdog, .pmus = &pmus, .pmus_n = 1 };
	struct gus_topdown_tables tables = { 0 };

	gus_topdown_find(&tables, &host, NULL);
	for (size_t i = 0; i < tables.n; i++)
		if (tables.v[i]->pmu && take_table(s, tables.v[i]))
			tables.v[i] = NULL;
	gus_topdown_tables_free(&tables);
}

static const struct gus_topdown *like_of(const struct gus_topdown_recorded *recorded, const char *pmu)
{
	for (size_t i = 0; recorded && i < recorded->kinds.n; i++)
		if (strcmp(recorded->kinds.v[i].pmu, pmu) == 0)
			return recorded->kinds.v[i].table;
	return NULL;
}

/* The PMUs that events with counts name, each once, and where none is named the core's. */
static void find_tables(struct gus_topdown_sampled *s, const struct gus_topdown_recorded *recorded)
{
	const Gusprof__Header *h = s->header;
	struct gus_strings pmus;

	gus_strings_init(&pmus);
	for (uint32_t i = 0; i < h->n_events && pmus.n <= PMUS_MOST; i++) {
		const char *pmu = *h->events[i]->pmu ? h->events[i]->pmu : "cpu";
		uint32_t before = pmus.n;

		if (!s->places.v[i].counted)
			continue;
		gus_strings_add(&pmus, pmu);
		if (pmus.n > before && !is_placed(s, i))
			look_for(s, pmu, like_of(recorded, pmu));
	}
	gus_strings_free(&pmus);
}

struct gus_topdown_sampled *gus_topdown_sampled_new(const Gusprof__Header *header,
						    const struct gus_topdown_recorded *recorded, uint64_t length_ns,
						    size_t parts)
{
	struct gus_topdown_sampled *s = gus_zalloc(sizeof(*s));

	s->header = header;
	s->start_ns = header->clock ? header->clock->start_ns : 0;
	s->length_ns = length_ns;
	s->parts = parts;
	gus_index_init(&s->counters, sizeof(struct counter_key));
	if (find_counted(s))
		find_tables(s, recorded);
	if (s->kinds.n)
		return s;
	gus_topdown_sampled_free(s);
	return NULL;
}

void gus_topdown_sampled_free(struct gus_topdown_sampled *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->kinds.n; i++) {
		struct gus_topdown_sampled_kind *kind = &s->kinds.v[i];

		gus_topdown_free(kind->table);
		free(kind->known);
		free(kind->at);
		free(kind->change);
		gus_topdown_sums_free(&kind->cells);
		gus_topdown_sums_free(&kind->total);
		gus_topdown_sums_free(&kind->stretches);
	}
	gus_vec_free(&s->kinds);
	gus_vec_free(&s->places);
	gus_vec_free(&s->last);
	gus_vec_free(&s->last_at);
	gus_index_free(&s->counters);
	free(s);
}

/* Adding. */

static size_t part_of(const struct gus_topdown_sampled *s, uint64_t time)
{
	double share = s->length_ns && time > s->start_ns ? (double)(time - s->start_ns) / (double)s->length_ns : 0;
	size_t part = (size_t)(share * (double)s->parts);

	return share >= 1 || part >= s->parts ? s->parts - 1 : part;
}

static void add_change(struct gus_topdown_sampled *s, struct gus_topdown_sampled_kind *kind)
{
	const struct gus_topdown_difference d = { kind->change, kind->enabled_ns, kind->running_ns };

	gus_topdown_sums_add(&kind->cells, kind->cell, &d);
	gus_topdown_sums_add(&kind->total, 0, &d);
	if (s->parts)
		gus_topdown_sums_add(&kind->stretches, part_of(s, kind->time), &d);
	s->differences++;
}

/* What nobody has added is left out. */
static void flush(struct gus_topdown_sampled *s, struct gus_topdown_sampled_kind *kind)
{
	if (kind->changed)
		add_change(s, kind);
	memset(kind->change, 0, kind->n * sizeof(*kind->change));
	kind->enabled_ns = kind->running_ns = 0;
	kind->changed = false;
}

/* Samples of members that came at the same moment are put together until something else comes. */
void gus_topdown_sampled_add(struct gus_topdown_sampled *s, uint32_t cell)
{
	if (!s->current)
		return;
	s->current->cell = cell;
	s->current->changed = true;
	s->current = NULL;
}

/* Rows' sums are those of all, as each difference is in one cell. */
void gus_topdown_sampled_settle(struct gus_topdown_sampled *s)
{
	for (size_t k = 0; k < s->kinds.n; k++) {
		struct gus_topdown_sampled_kind *kind = &s->kinds.v[k];
		uint64_t sum = 0;

		flush(s, kind);
		for (size_t i = 0; i < kind->cells.n; i++)
			sum += kind->cells.heads.v[i].differences;
		assert(sum == (kind->total.n ? kind->total.heads.v[0].differences : 0));
		(void)sum;
	}
}

/* Taking. */

/* The kind that the group's first known member is of. */
static struct gus_topdown_sampled_kind *kind_of(struct gus_topdown_sampled *s, const struct gus_topdown_group *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_placed(s, EVENT_OF(gus_topdown_group_id(r, i))))
			return &s->kinds.v[s->places.v[EVENT_OF(gus_topdown_group_id(r, i))].kind];
	return NULL;
}

/* Where the last values of these counters are: their number, the times, the values. NULL: they are too many. New ones
 * are zero. */
static uint64_t *last_of(struct gus_topdown_sampled *s, const struct gus_topdown_group *r, uint32_t tid,
			 bool *is_new)
{
	struct counter_key key = { gus_topdown_group_id(r, 0), tid, 0 };
	uint32_t number = gus_index_find(&s->counters, &key);

	*is_new = number == GUS_INDEX_NONE;
	if (*is_new && s->counters.n >= GUS_LIMIT_PERFDATA_COUNTERS)
		return NULL;
	if (*is_new) {
		number = gus_index_add(&s->counters, &key, NULL);
		gus_vec_push(&s->last_at, s->last.n);
		gus_vec_push(&s->last, r->n);
		for (size_t i = 0; i < r->n + 2; i++)
			gus_vec_push(&s->last, 0);
	}
	return s->last.v[s->last_at.v[number]] == r->n ? &s->last.v[s->last_at.v[number] + 1] : NULL;
}

static bool went_back(const struct gus_topdown_group *r, const uint64_t *last)
{
	bool back = r->enabled_ns < last[0] || r->running_ns < last[1];

	for (size_t i = 0; i < r->n; i++)
		back |= gus_topdown_group_value(r, i) < last[2 + i];
	return back;
}

static void keep(const struct gus_topdown_group *r, uint64_t *last)
{
	last[0] = r->enabled_ns;
	last[1] = r->running_ns;
	for (size_t i = 0; i < r->n; i++)
		last[2 + i] = gus_topdown_group_value(r, i);
}

static bool began_here(const struct gus_topdown_sampled *s, const struct gus_topdown_group *r, uint64_t time)
{
	return r->timed && time >= s->start_ns && r->enabled_ns <= time - s->start_ns + OPENING_NS;
}

/* Metrics of Intel's are fractions of slots that the kernel turns into counts, each time anew: one of them may go back
 * by rounding (icl_update_topdown_event() of arch/x86/events/intel/core.c), and such a reading is none. */
static bool take_reading(struct gus_topdown_sampled *s, const struct gus_sample *sample,
			 const struct gus_topdown_group *r)
{
	struct gus_topdown_sampled_kind *kind = kind_of(s, r);
	uint64_t *last;
	bool is_new;

	if (!kind)
		return false;
	last = last_of(s, r, kind->by_thread ? sample->tid : 0, &is_new);
	if (!last)
		return false;
	if (is_new ? !began_here(s, r, sample->time) : went_back(r, last)) {
		*(is_new ? &s->begun : &s->backward) += 1;
		keep(r, last);
		return false;
	}
	flush(s, kind);
	for (size_t i = 0; i < r->n; i++) {
		uint32_t event = EVENT_OF(gus_topdown_group_id(r, i));

		if (is_placed(s, event) && &s->kinds.v[s->places.v[event].kind] == kind)
			kind->change[s->places.v[event].slot] = gus_topdown_group_value(r, i) - last[2 + i];
	}
	kind->enabled_ns = r->enabled_ns - last[0];
	kind->running_ns = r->running_ns - last[1];
	kind->time = sample->time;
	kind->tid = sample->tid;
	keep(r, last);
	s->current = kind;
	return true;
}

static bool take_member(struct gus_topdown_sampled *s, const struct gus_sample *sample)
{
	struct gus_topdown_place place = s->places.v[sample->event];
	struct gus_topdown_sampled_kind *kind = &s->kinds.v[place.kind];

	if (kind->time != sample->time || kind->tid != sample->tid || kind->change[place.slot])
		flush(s, kind);
	kind->time = sample->time;
	kind->tid = sample->tid;
	kind->change[place.slot] = sample->period;
	s->current = kind;
	return true;
}

bool gus_topdown_sampled_take(struct gus_topdown_sampled *s, const struct gus_sample *sample)
{
	const Gusprof__Event *e = sample->event < s->header->n_events ? s->header->events[sample->event] : NULL;
	size_t bytes = 0;
	const uint64_t *words;
	struct gus_topdown_group r;

	s->current = NULL;
	if (!e)
		return false;
	words = gus_sample_extra(sample, GUS_EXTRA_COUNTS, &bytes, NULL);
	if (words)
		return gus_topdown_group_read(&r, words, bytes / sizeof(*words), e->read_format) &&
			take_reading(s, sample, &r);
	return s->header->origin && is_placed(s, sample->event) && take_member(s, sample);
}
