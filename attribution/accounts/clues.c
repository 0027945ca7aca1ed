/* SPDX-License-Identifier: MIT */
#include "attribution/accounts/clues.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/proportional/replicates.h"
#include "attribution/traced/finder.h"
#include "attribution/traced/traced.h"
#include "base/error.h"
#include "base/limits.h"
#include "model/code/program.h"
#include "proto/psv.h"
#include "proto/skid.h"

/* All of one size each, as bytes are compared. */
struct place_key { uint64_t module, offset, pid; };
struct thread_key { uint32_t pid, tid; };
struct time_key { uint32_t place, thread, slice, behind, events, unknown; };

/* A slice is so many stretches, in turn with those of others; and so many samples are one where their number is not
 * known. */
enum { ROUNDS = 16, STRETCH = 16 };

/* Where an instruction is, as the trace has it; of one that is fused to the one before it, where that is. */
static uint64_t address_of(const struct gus_traced *t, uint32_t insn)
{
	const struct gus_program *p = t->program;

	return p->insns[p->ops[p->insns[insn].op].insn].offset;
}

static struct gus_clue_place describe(const struct gus_clues *c, const struct gus_place *at, uint32_t pid)
{
	const struct gus_module *module = gus_space_module(c->profile.space, at->module);
	struct gus_clue_place place = { .place = *at, .module = module->path, .offset = at->offset,
		.insn = GUS_CLUE_NONE, .block = GUS_CLUE_NONE };
	struct gus_found found;

	if (!c->finder || !gus_finder_at(c->finder, at, pid, &found))
		return place;
	place.insn = found.insn;
	place.block = found.block;
	place.address = address_of(c->traced, found.insn);
	place.traced_at = c->traced->program->insns[found.insn].offset;
	return place;
}

/* Memory of no file is its process's own. */
static uint32_t place_of(struct gus_clues *c, const struct gus_place *at, uint32_t pid)
{
	bool file = gus_space_module(c->profile.space, at->module)->kind == GUS_MODULE_FILE;
	struct place_key key = { at->module, at->offset, file ? 0 : pid };
	bool is_new;
	uint32_t number = gus_index_add(&c->by_place, &key, &is_new);

	if (is_new)
		gus_vec_push(&c->places, describe(c, at, pid));
	return number;
}

static uint32_t thread_of(struct gus_clues *c, const struct gus_sighting *s)
{
	struct thread_key key = { s->sample->pid, s->sample->tid };
	bool is_new;
	uint32_t number = gus_index_add(&c->by_thread, &key, &is_new);

	if (is_new)
		gus_vec_push(&c->threads, (struct gus_clue_thread){ .pid = key.pid, .tid = key.tid });
	c->threads.v[number].comm = s->comm;
	return number;
}

/* Records of hardware tell events that were, and of some that they were not. Only all nine make a base. */
static struct gus_component told_by(const struct gus_sample *s)
{
	uint16_t proved = s->events & GUS_PSV_ALL, excluded = s->events >> 16 & GUS_PSV_ALL;

	return (struct gus_component){ .events = proved, .unknown = !proved && excluded != GUS_PSV_ALL };
}

/* An address of a branch or its target, as the trace has it. */
static uint64_t map_address(void *context, const struct gus_sample *s, uint64_t address)
{
	struct gus_clues *c = context;
	struct gus_place at = gus_space_find(c->profile.space, s->pid, s->time, address, s->mode);
	const struct gus_clue_place *place;
	uint32_t number;

	if (gus_space_module(c->profile.space, at.module)->kind == GUS_MODULE_KERNEL)
		return 0;
	number = place_of(c, &at, s->pid);
	place = &c->places.v[number];
	return place->insn == GUS_CLUE_NONE ? 0 : c->traced->program->insns[place->insn].offset;
}

/* Real weights never add up to the limit; a file can say anything. */
static uint64_t take_weight(struct gus_clues *c, const struct gus_sample *s)
{
	uint64_t room = GUS_LIMIT_SUM - c->weight, weight = s->period < room ? s->period : room;

	c->weight += weight;
	return weight;
}

/* Of the n-th sample of an event. */
static uint32_t slice_of(const struct gus_clues *c, uint32_t event, uint64_t n)
{
	const Gusprof__Footer *footer = c->profile.footer;
	uint64_t all = footer && event < footer->n_events ? footer->events[event]->samples : 0;
	uint64_t stretches = GUS_REPLICATES_SLICES * ROUNDS;

	if (n >= all)
		return n / STRETCH % GUS_REPLICATES_SLICES;
	return (all > stretches ? n * stretches / all : n) % GUS_REPLICATES_SLICES;
}

static void take_time(struct gus_clues *c, const struct gus_sighting *s, uint32_t place)
{
	const struct gus_sample *sample = s->sample;
	const struct gus_branch *newest = sample->branches_n ? &sample->branches[0] : NULL;
	bool behind = newest && (newest->flags & GUS_BRANCH_MISPREDICTED) && newest->to == sample->ip, is_new;
	struct gus_component what = told_by(sample);
	struct time_key key = { place, thread_of(c, s), slice_of(c, sample->event, c->samples), behind, what.events,
		what.unknown };
	uint32_t number = gus_index_add(&c->by_time, &key, &is_new);

	if (is_new)
		gus_vec_push(&c->time, (struct gus_clue_time){ place, key.thread, key.slice, behind, what, 0 });
	c->time.v[number].weight += take_weight(c, sample);
	c->samples++;
	c->exact += sample->exact;
	if (c->finder) {
		uint64_t address = c->places.v[place].address;

		gus_seen_time(&c->seen, sample, address, map_address, c);
		gus_seen_time(&c->slices[key.slice], sample, address, map_address, c);
	}
}

/* What is not in the traces counts as well, at no address. */
static void take_execution(struct gus_clues *c, const struct gus_sample *s, uint32_t place, enum gus_sampler sampler)
{
	uint64_t address = c->places.v[place].address;

	if (sampler == GUS_SAMPLER_LOADS) {
		gus_seen_execution(&c->loads, s, address);
	} else if (sampler == c->executions) {
		gus_seen_execution(&c->seen, s, address);
		gus_seen_execution(&c->slices[slice_of(c, s->event, c->executed++)], s, address);
	}
}

static void take(void *context, const struct gus_sighting *s)
{
	struct gus_clues *c = context;
	enum gus_sampler sampler = gus_sampler_of(c->profile.header, s->sample->event);

	if (s->sample->event == c->profile.event)
		take_time(c, s, place_of(c, &s->place, s->sample->pid));
	if (c->finder && (sampler == GUS_SAMPLER_OPS || sampler == GUS_SAMPLER_INSNS || sampler == GUS_SAMPLER_LOADS))
		take_execution(c, s->sample, place_of(c, &s->place, s->sample->pid), sampler);
}

/* Of two kinds of samples of executions one is taken, as they count differently. */
static enum gus_sampler find_executions(const Gusprof__Header *h)
{
	enum gus_sampler found = GUS_SAMPLER_OTHER;

	for (uint32_t i = 0; i < h->n_events; i++) {
		enum gus_sampler sampler = gus_sampler_of(h, i);

		if (found == GUS_SAMPLER_OTHER && (sampler == GUS_SAMPLER_OPS || sampler == GUS_SAMPLER_INSNS))
			found = sampler;
	}
	return found;
}

static void begin(void *context, struct gus_profile *p)
{
	struct gus_clues *c = context;
	bool time;

	(void)p;
	c->profile.event = gus_sampler_main(c->profile.header, &time);
	c->executions = find_executions(c->profile.header);
	if (!c->traced)
		return;
	c->finder = gus_finder_new(c->traced, c->profile.space);
	c->slices = gus_zalloc(GUS_REPLICATES_SLICES * sizeof(*c->slices));
	for (unsigned i = 0; i < GUS_REPLICATES_SLICES; i++)
		gus_seen_init(&c->slices[i]);
}

/* Counters beside each other; 0: one of them is not there. */
static double ipc_of(const struct gus_profile *p)
{
	double instructions = 0, cycles = 0;

	for (size_t i = 0; p->footer && i < p->footer->n_events && i < p->header->n_events; i++) {
		const Gusprof__Event *e = p->header->events[i];
		double count = (double)p->footer->events[i]->count;

		if (strcmp(e->unit, "cycles") == 0)
			cycles = count;
		else if (e->type == 0 && e->config == 1) /* PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS */
			instructions = count;
	}
	return cycles > 0 ? instructions / cycles : 0;
}

static void settle(struct gus_clues *c)
{
	const Gusprof__EventTotal *total = gus_profile_total(&c->profile);
	struct gus_skid skid;
	bool tested = gus_profile_skid(&c->profile, &skid);
	uint64_t weight = 0;

	for (size_t i = 0; i < c->time.n; i++)
		weight += c->time.v[i].weight;
	assert(weight == c->weight);
	c->sampler = gus_sampler_of(c->profile.header, c->profile.event);
	c->sight = gus_sampler_sight_of(c->sampler, c->exact > c->samples / 2, tested ? &skid : NULL);
	c->unsampled = total ? gus_saturated(total->missed, 0) : 0;
	c->ipc = ipc_of(&c->profile);
}

int gus_clues_read(struct gus_clues *c, struct gus_reader *reader, const struct gus_symbols_options *symbols,
		   struct gus_traced *t, const struct gus_log *log, struct gus_error *err)
{
	struct gus_visitor visitor = { .begin = begin, .sample = take, .context = c };

	*c = (struct gus_clues){ .traced = t };
	gus_index_init(&c->by_place, sizeof(struct place_key));
	gus_index_init(&c->by_thread, sizeof(struct thread_key));
	gus_index_init(&c->by_time, sizeof(struct time_key));
	gus_seen_init(&c->seen);
	gus_seen_init(&c->loads);
	if (gus_profile_visit(&c->profile, reader, &(struct gus_filter){ .event = GUS_EVENT_ANY }, symbols, log,
			      &visitor, err) != 0) {
		gus_clues_free(c);
		return -1;
	}
	settle(c);
	return 0;
}

void gus_clues_free(struct gus_clues *c)
{
	gus_finder_free(c->finder);
	gus_profile_free(&c->profile);
	gus_seen_free(&c->seen);
	gus_seen_free(&c->loads);
	for (unsigned i = 0; c->slices && i < GUS_REPLICATES_SLICES; i++)
		gus_seen_free(&c->slices[i]);
	free(c->slices);
	gus_index_free(&c->by_place);
	gus_index_free(&c->by_thread);
	gus_index_free(&c->by_time);
	gus_vec_free(&c->places);
	gus_vec_free(&c->threads);
	gus_vec_free(&c->time);
	*c = (struct gus_clues){ .traced = NULL };
}
