/* SPDX-License-Identifier: MIT */
#include "attribution/observed/observed.h"

#include <math.h>
#include <stdlib.h>

#include "attribution/observed/kinds.h"
#include "attribution/observed/ranges.h"
#include "attribution/profile/profile.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "base/limits.h"
#include "proto/data_source.h"
#include "proto/psv.h"

/* What counters say of an instruction, by which of them. */
struct counted { uint64_t samples[GUS_OBSERVED_COUNTS], weight[GUS_OBSERVED_COUNTS]; };

struct gus_observed {
	struct gus_strings modules;             /* paths */
	struct gus_index places;
	struct gus_vec(struct gus_observed_insn) insns; /* by number of a place, and so is the next */
	struct gus_vec(struct counted) counted; /* as far as some was counted, and so is the next */
	struct gus_vec(uint64_t) into;          /* mispredicted branches of stacks that lead there */
	struct gus_observed_ranges ranges;
	uint32_t counters;                      /* that there were: a bit for each enum gus_observed_count */
	bool ways_told;                         /* records of ops have the targets of branches */
	/* Of stacks with cycles: those of their branches, and those that all samples stand for. */
	uint64_t stack_cycles, cycles;
	struct gus_vec(struct gus_observed_event) events;
	struct gus_vec(double) turns;           /* by event: the recording's time by that in which it was on */
	struct gus_observed_totals totals;
	/* While it is read. */
	struct gus_profile *profile;
	struct gus_vec(uint32_t) numbers;       /* of modules of the space, in ours, plus 1; 0: none yet */
};

/* Places. */

static uint32_t module_of(struct gus_observed *o, uint32_t module)
{
	while (o->numbers.n <= module)
		gus_vec_push(&o->numbers, 0);
	if (!o->numbers.v[module])
		o->numbers.v[module] = 1 + gus_strings_add(&o->modules, gus_space_module(o->profile->space,
											 module)->path);
	return o->numbers.v[module] - 1;
}

/* GUS_INDEX_NONE: it is in no file, or there are too many. */
static uint32_t number_of(struct gus_observed *o, struct gus_place at)
{
	struct gus_observed_place key = { 0, at.offset };
	bool is_new;
	uint32_t number;

	if (gus_space_module(o->profile->space, at.module)->kind != GUS_MODULE_FILE)
		return GUS_INDEX_NONE;
	key.module = module_of(o, at.module);
	if (o->places.n >= GUS_LIMIT_OBSERVED)
		return gus_index_find(&o->places, &key);
	number = gus_index_add(&o->places, &key, &is_new);
	if (is_new)
		gus_vec_push(&o->insns, (struct gus_observed_insn){ 0 });
	return number;
}

/* Accesses. */

/* GUS_HITS: it is not told, or is none that a model has. What missed in a level is of the next one, or beyond. */
static enum gus_hit level_of(const struct gus_data_source *d)
{
	static const uint8_t levels[GUS_DATA_LEVELS] = { [GUS_DATA_LEVEL_UNKNOWN] = GUS_HITS,
		[GUS_DATA_L0] = GUS_HIT_L1, [GUS_DATA_L1] = GUS_HIT_L1, [GUS_DATA_LINE_BUFFER] = GUS_HIT_L1,
		[GUS_DATA_L2] = GUS_HIT_L2, [GUS_DATA_L2_MISS_BUFFER] = GUS_HIT_L2, [GUS_DATA_CORE_CACHE] = GUS_HIT_L3,
		[GUS_DATA_L3] = GUS_HIT_L3, [GUS_DATA_L4] = GUS_HIT_MEMORY, [GUS_DATA_MEMORY_SIDE] = GUS_HIT_MEMORY,
		[GUS_DATA_OTHER_CACHE] = GUS_HIT_MEMORY, [GUS_DATA_ANY_CACHE] = GUS_HITS,
		[GUS_DATA_RAM] = GUS_HIT_MEMORY, [GUS_DATA_PERSISTENT] = GUS_HIT_MEMORY,
		[GUS_DATA_EXTENSION] = GUS_HIT_MEMORY, [GUS_DATA_IO] = GUS_HITS, [GUS_DATA_UNCACHED] = GUS_HITS };

	if (d->missed)
		return d->level == GUS_DATA_L3 ? GUS_HIT_MEMORY : d->level == GUS_DATA_L2 ? GUS_HIT_L3 :
			d->level == GUS_DATA_L1 ? GUS_HIT_L2 : GUS_HITS;
	return d->remote && d->level != GUS_DATA_LEVEL_UNKNOWN ? GUS_HIT_MEMORY : (enum gus_hit)levels[d->level];
}

static void count_access(struct gus_observed *o, struct gus_observed_access *a, const struct gus_data_source *d)
{
	const enum gus_hit level = level_of(d);

	if (level == GUS_HITS)
		return;
	a->samples++;
	a->hits[level]++;
	a->beyond += d->missed && level != GUS_HIT_MEMORY;
	a->first += d->tlb == GUS_DATA_TLB_FIRST;
	a->second += d->tlb == GUS_DATA_TLB_SECOND;
	a->either += d->tlb == GUS_DATA_TLB_EITHER;
	a->walked += d->tlb == GUS_DATA_TLB_WALK;
	o->totals.accesses++;
}

static void take_access(struct gus_observed *o, uint32_t number, const struct gus_sample *s)
{
	const struct gus_data_source d = gus_data_source_of_kernel(s->data_source);

	if (d.does & GUS_DATA_LOADS)
		count_access(o, &o->insns.v[number].loads, &d);
	if (d.does & GUS_DATA_STORES)
		count_access(o, &o->insns.v[number].stores, &d);
}

/* Branches. */

static void count_branch(struct gus_observed_branch *b, bool mispredicted)
{
	b->samples++;
	b->executed++;
	b->mispredicted += mispredicted;
}

/* The record of an op has a branch of its own if that was taken; whether what fell through was one knows who knows the
 * code. */
static void take_op_branch(struct gus_observed *o, uint32_t number, const struct gus_sample *s)
{
	const bool proved = s->events & GUS_PSV_FL_MB, told = proved || (s->events >> 16 & GUS_PSV_FL_MB);
	const bool taken = s->branches_n == 1 && s->branches[0].from == s->ip;
	struct gus_observed_insn *insn = &o->insns.v[number];

	if (!told)
		return;
	count_branch(&insn->all, proved);
	count_branch(taken ? &insn->taken : &insn->fallen, proved);
	o->ways_told |= taken;
	o->totals.branches += taken;
}

static void count_into(struct gus_observed *o, uint32_t number)
{
	while (o->into.n <= number)
		gus_vec_push(&o->into, 0);
	o->into.v[number]++;
}

static uint32_t branch_place(struct gus_observed *o, const struct gus_sample *s, uint64_t address)
{
	if (address >> 63)
		return GUS_INDEX_NONE;
	return number_of(o, gus_space_find(o->profile->space, s->pid, s->time, address, GUS_MODE_USER));
}

/* From the oldest to the newest. */
static void take_stack(struct gus_observed *o, const struct gus_sample *s, bool cycles)
{
	uint32_t reached = GUS_INDEX_NONE;

	for (uint32_t i = s->branches_n; i-- > 0;) {
		const struct gus_branch *b = &s->branches[i];
		const uint32_t from = branch_place(o, s, b->from), to = branch_place(o, s, b->to);
		const bool wrong = b->flags & GUS_BRANCH_MISPREDICTED;

		if (reached != GUS_INDEX_NONE && from != GUS_INDEX_NONE)
			gus_observed_ranges_add(&o->ranges, &o->places, reached, from);
		reached = to;
		o->stack_cycles += cycles ? b->cycles : 0;
		if (from == GUS_INDEX_NONE || !(b->flags & (GUS_BRANCH_MISPREDICTED | GUS_BRANCH_PREDICTED)))
			continue;
		count_branch(&o->insns.v[from].taken, wrong);
		o->totals.branches++;
		if (wrong && to != GUS_INDEX_NONE)
			count_into(o, to);
	}
	o->cycles = gus_saturated(o->cycles, cycles && s->branches_n ? s->period : 0);
}

/* Samples. */

/* Of an event that is on in some turns only (Event.turns): how many times longer the recording was, by what was timed,
 * or in a recording without its end by the order of turns. */
static double turns_of(const struct gus_profile *p, size_t event)
{
	const Gusprof__Event *e = p->header->events[event];
	uint64_t own = 0, whole = 0;

	if (!e->turns || !e->turns_of)
		return 1;
	for (size_t i = 0; p->footer && i < p->footer->n_events && i < p->header->n_events; i++) {
		own = i == event ? p->footer->events[i]->on_ns : own;
		whole = p->footer->events[i]->on_ns > whole ? p->footer->events[i]->on_ns : whole;
	}
	return own ? (double)whole / (double)own : (double)e->turns_of / (double)__builtin_popcount(e->turns);
}

static void take_counted(struct gus_observed *o, uint32_t number, enum gus_observed_count count, uint64_t period)
{
	while (o->counted.n <= number)
		gus_vec_push(&o->counted, (struct counted){ 0 });
	o->counted.v[number].samples[count]++;
	o->counted.v[number].weight[count] = gus_saturated(o->counted.v[number].weight[count], period);
}

static void take(void *context, const struct gus_sighting *seen)
{
	struct gus_observed *o = context;
	const struct gus_sample *s = seen->sample;
	struct gus_observed_event event = s->event < o->events.n ? o->events.v[s->event] :
		(struct gus_observed_event){ .kind = GUS_OBSERVED_NOTHING };
	uint32_t number;

	if (event.kind == GUS_OBSERVED_TIME)
		take_stack(o, s, event.cycles);
	if (event.kind == GUS_OBSERVED_NOTHING || event.kind == GUS_OBSERVED_TIME || !s->exact)
		return;
	number = number_of(o, seen->place);
	if (number == GUS_INDEX_NONE)
		return;
	if (event.kind == GUS_OBSERVED_COUNTED) {
		take_counted(o, number, event.count, (uint64_t)fmin((double)s->period * o->turns.v[s->event],
								    (double)GUS_LIMIT_SUM));
		return;
	}
	take_access(o, number, s);
	if (event.kind == GUS_OBSERVED_OPS && !(event.apart && gus_data_source_of_kernel(s->data_source).does))
		take_op_branch(o, number, s);
}

static void begin(void *context, struct gus_profile *p)
{
	struct gus_observed *o = context;

	o->profile = p;
	o->numbers.n = o->events.n = o->turns.n = 0;
	for (size_t i = 0; i < p->header->n_events; i++) {
		struct gus_observed_event event = gus_observed_event_of(p->header->events[i]);

		gus_vec_push(&o->events, event);
		gus_vec_push(&o->turns, turns_of(p, i));
		o->counters |= event.kind == GUS_OBSERVED_COUNTED ? 1u << event.count : 0;
	}
}

/* Whether there were all counters from one to another: only then is it known of how many each is a part. */
static bool has_all(const struct gus_observed *o, enum gus_observed_count first, enum gus_observed_count last)
{
	for (unsigned i = first; i <= last; i++)
		if (!(o->counters >> i & 1))
			return false;
	return true;
}

static void settle_loads(struct gus_observed *o, struct gus_observed_access *a, const struct counted *c)
{
	static const uint8_t levels[] = { [GUS_OBSERVED_L1] = GUS_HIT_L1, [GUS_OBSERVED_BUFFER] = GUS_HIT_L1,
		[GUS_OBSERVED_L2] = GUS_HIT_L2, [GUS_OBSERVED_L3] = GUS_HIT_L3,
		[GUS_OBSERVED_MEMORY] = GUS_HIT_MEMORY };

	for (unsigned i = GUS_OBSERVED_L1; i <= GUS_OBSERVED_MEMORY; i++) {
		a->samples += c->samples[i];
		a->hits[levels[i]] = gus_saturated(a->hits[levels[i]], c->weight[i]);
		o->totals.accesses += c->samples[i];
	}
}

/* More may seem to have been mispredicted than executed, as both are samples. */
static void settle_branches(struct gus_observed *o, struct gus_observed_branch *b, const struct counted *c)
{
	const uint64_t executed = c->weight[GUS_OBSERVED_BRANCHES], wrong = c->weight[GUS_OBSERVED_MISPREDICTED];

	b->samples += c->samples[GUS_OBSERVED_BRANCHES];
	b->executed = gus_saturated(b->executed, executed);
	b->mispredicted = gus_saturated(b->mispredicted, wrong < executed ? wrong : executed);
	o->totals.branches += c->samples[GUS_OBSERVED_BRANCHES];
}

void gus_observed_settle(struct gus_observed *o)
{
	const bool loads = has_all(o, GUS_OBSERVED_L1, GUS_OBSERVED_MEMORY);
	const bool branches = has_all(o, GUS_OBSERVED_BRANCHES, GUS_OBSERVED_MISPREDICTED);

	for (size_t i = 0; i < o->counted.n; i++) {
		if (loads)
			settle_loads(o, &o->insns.v[i].loads, &o->counted.v[i]);
		if (branches)
			settle_branches(o, &o->insns.v[i].all, &o->counted.v[i]);
	}
	for (size_t i = 0; !o->ways_told && i < o->insns.n; i++)
		o->insns.v[i].fallen = (struct gus_observed_branch){ 0 };
	gus_observed_ranges_settle(&o->ranges);
}

struct gus_observed *gus_observed_new(void)
{
	struct gus_observed *o = gus_zalloc(sizeof(*o));

	gus_strings_init(&o->modules);
	gus_index_init(&o->places, sizeof(struct gus_observed_place));
	return o;
}

int gus_observed_add(struct gus_observed *o, struct gus_reader *reader, const struct gus_symbols_options *symbols,
		     const struct gus_log *log, struct gus_error *err)
{
	struct gus_visitor visitor = { .begin = begin, .sample = take, .context = o };
	struct gus_profile profile;
	int rc = gus_profile_visit(&profile, reader, &(struct gus_filter){ .event = GUS_EVENT_ANY }, symbols, log,
				   &visitor, err);

	if (rc == 0)
		gus_profile_free(&profile);
	o->profile = NULL;
	return rc;
}

void gus_observed_free(struct gus_observed *o)
{
	if (!o)
		return;
	gus_strings_free(&o->modules);
	gus_index_free(&o->places);
	gus_vec_free(&o->insns);
	gus_vec_free(&o->counted);
	gus_vec_free(&o->into);
	gus_observed_ranges_free(&o->ranges);
	gus_vec_free(&o->events);
	gus_vec_free(&o->turns);
	gus_vec_free(&o->numbers);
	free(o);
}

const struct gus_observed_insn *gus_observed_at(struct gus_observed *o, const char *module, uint64_t offset)
{
	struct gus_observed_place key = { gus_strings_add(&o->modules, module), offset };
	uint32_t number = gus_index_find(&o->places, &key);

	return number == GUS_INDEX_NONE ? NULL : &o->insns.v[number];
}

/* What stacks say of falling through, where what is behind mispredicted branches was sampled as well. */
static void add_fallen(const struct gus_observed *o, struct gus_observed_branch *fallen, struct gus_observed_place at,
		       uint64_t behind)
{
	const uint64_t passed = gus_observed_ranges_past(&o->ranges, at);
	const struct gus_observed_place next = { at.module, behind };
	const uint32_t number = gus_index_find(&o->places, &next);
	double wrong = 0;

	if (!(o->counters >> GUS_OBSERVED_BEHIND & 1) || !o->stack_cycles || !passed)
		return;
	if (number < o->counted.n)
		wrong = (double)o->counted.v[number].weight[GUS_OBSERVED_BEHIND] * (double)o->stack_cycles /
			(double)o->cycles;
	if (number < o->into.n)
		wrong -= (double)o->into.v[number];
	fallen->samples += passed;
	fallen->executed += passed;
	fallen->mispredicted += wrong > 0 ? wrong < (double)passed ? (uint64_t)(wrong + 0.5) : passed : 0;
}

struct gus_observed_insn gus_observed_branch_at(struct gus_observed *o, const char *module, uint64_t offset,
						uint64_t behind)
{
	const struct gus_observed_place at = { gus_strings_add(&o->modules, module), offset };
	const struct gus_observed_insn *insn = gus_observed_at(o, module, offset);
	struct gus_observed_insn found = insn ? *insn : (struct gus_observed_insn){ 0 };

	add_fallen(o, &found.fallen, at, behind);
	return found;
}

void gus_observed_access_add(struct gus_observed_access *to, const struct gus_observed_access *more)
{
	to->samples += more->samples;
	for (unsigned i = 0; i < GUS_HITS; i++)
		to->hits[i] = gus_saturated(to->hits[i], more->hits[i]);
	to->beyond += more->beyond;
	to->first += more->first;
	to->second += more->second;
	to->either += more->either;
	to->walked += more->walked;
}

struct gus_observed_totals gus_observed_totals(const struct gus_observed *o)
{
	return o->totals;
}

const char *gus_observed_why_not(const struct gus_observed *o, uint32_t event)
{
	return event < o->events.n ? o->events.v[event].why : NULL;
}
