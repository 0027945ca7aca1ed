/* SPDX-License-Identifier: MIT */
/* Which knobs of a traced run are turned. There are as many as lanes beside the nominal one. Those of windows, widths,
 * caches and branches are always among them. The rest goes to ports, units and latencies of classes, those first that
 * the code needs most, in cycles that it would take if nothing else took any. What code needs changes: now and then,
 * ever more rarely, lanes whose knob has gained nothing so far are given to what is needed by then. A knob that was not
 * there before has missed little: what code did not need could not have gained.
 *
 * Of sets each has a lane from the beginning, and at a look what its code has come to need is added. */
#include <stdio.h>
#include <stdlib.h>

#include "attribution/traced/private.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"

/* Steps between two looks: a part of all until then, so that there are few of them, and that a phase which is to be
 * seen beside the whole run has its lanes after a small part of itself. */
enum { LOOK_PART = 64, LOOK_MOST = 1 << 22 };
static const double GAINED = 1e-4;      /* what is less is nothing */

struct demand { double groups[GUS_STREAM_GROUPS], units[64], classes[GUS_INSN_CLASSES]; };

static bool is_flexible(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_PORTS || k->kind == GUS_KNOB_UNITS || k->kind == GUS_KNOB_LATENCY;
}

static void add_op(const struct gus_traced *t, const struct gus_op *op, double times, struct demand *d)
{
	const struct gus_stream_resources *groups = &t->groups_of_ports;

	for (uint32_t i = op->uop; i < op->uop + op->uops_n; i++) {
		const struct gus_uop *u = &t->program->uops[i];

		for (size_t g = 0; u->ports && g < groups->n; g++)
			if (!(u->ports & ~groups->ports[g]))
				d->groups[g] += times * (u->port_cycles ? u->port_cycles : 1) /
					__builtin_popcountll(groups->ports[g]);
		d->units[u->unit % 64] += u->unit ? times * u->unit_cycles : 0;
		if (u->kind == GUS_UOP_COMPUTE) /* a fourth, as most latencies are hidden */
			d->classes[t->program->insns[op->insn].info.class] += times * u->latency / 4;
	}
}

/* What was executed since the last look, which is forgotten. */
static void find_demand(struct gus_traced *t, struct demand *d)
{
	*d = (struct demand){ { 0 }, { 0 }, { 0 } };
	for (size_t i = 0; i < t->blocks.n; i++) {
		struct gus_traced_block *b = &t->blocks.v[i];

		for (uint32_t k = 0; b->recently && k < b->ops.ops_n; k++)
			add_op(t, &t->program->ops[b->ops.op + k], (double)b->recently, d);
		b->recently = 0;
	}
}

static double demand_of(const struct demand *d, const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_PORTS ? d->groups[k->number] : k->kind == GUS_KNOB_UNITS ? d->units[k->number % 64] :
		d->classes[k->number];
}

/* All knobs that there are now, by demand; those that are always turned first. Returns how many; the caller frees
 * them. */
static int list_knobs(struct gus_traced *t, const struct demand *d, struct gus_sensitivity **knobs)
{
	int n = gus_sensitivity_list(t->program, &t->groups_of_ports, t->options.config, true, true, t->options.weight,
				     knobs);

	for (int i = 0; i < n; i++)
		(*knobs)[i].speedup = is_flexible(&(*knobs)[i].knob) ? demand_of(d, &(*knobs)[i].knob) : 1e300;
	gus_sensitivity_sort(*knobs, (size_t)n);
	return n;
}

static void push_knob(struct gus_traced *t, int i, const struct gus_sensitivity *knob)
{
	const struct gus_traced_set *set = &t->options.sets[i];
	struct gus_knob turned = knob->knob;

	if (!set->has(set->context, knob))
		return;
	if (set->weight)
		turned.weight = set->weight(set->context, knob);
	gus_vec_push(&t->sets[i + 1], turned);
}

/* What sets are of by now. False if nothing was added. */
static bool fill_sets(struct gus_traced *t)
{
	/* What no list has, as it is no capacity of its own. */
	const double weight = t->options.weight;
	const struct gus_sensitivity more[] = { { .knob = { GUS_KNOB_PREDICTED, 0, weight } },
		{ .knob = { GUS_KNOB_FETCH, 0, weight } },
		{ .knob = { GUS_KNOB_HELD, GUS_HELD_BY_DIVISIONS, weight } },
		{ .knob = { GUS_KNOB_HELD, GUS_HELD_BY_FENCES, weight } },
		{ .knob = { GUS_KNOB_HELD, GUS_HELD_BY_LOCKS, weight } } };
	struct gus_sensitivity *knobs;
	bool added = false;
	int n = gus_sensitivity_list(t->program, &t->groups_of_ports, t->options.config, true, true, t->options.weight,
				     &knobs);

	for (int i = 0; i < t->knobs_n; i++) {
		size_t before = t->sets[i + 1].n;

		t->sets[i + 1].n = 0;
		for (int k = 0; k < n; k++)
			push_knob(t, i, &knobs[k]);
		for (size_t k = 0; k < sizeof(more) / sizeof(*more); k++)
			push_knob(t, i, &more[k]);
		t->lanes[i + 1] = (struct gus_stream_lane){ t->sets[i + 1].v, t->sets[i + 1].n };
		added |= t->sets[i + 1].n > before;
	}
	free(knobs);
	return added;
}

static void choose_sets(struct gus_traced *t)
{
	t->knobs_n = t->options.sets_n;
	t->knobs = gus_zalloc((size_t)t->knobs_n * sizeof(*t->knobs));
	for (int i = 0; i < t->knobs_n; i++)
		snprintf(t->knobs[i].name, sizeof(t->knobs[i].name), "%s", t->options.sets[i].name);
	fill_sets(t);
}

void gus_traced_choose_knobs(struct gus_traced *t)
{
	struct gus_sensitivity *knobs;
	struct demand d;
	int n;

	if (t->options.sets_n) {
		choose_sets(t);
		return;
	}
	for (size_t i = 0; i < t->early.n; i++)
		t->blocks.v[t->early.v[i].step.block].recently++;
	find_demand(t, &d);
	n = list_knobs(t, &d, &knobs);
	t->knobs = gus_zalloc(GUS_TRACED_KNOBS * sizeof(*t->knobs));
	for (; t->knobs_n < GUS_TRACED_KNOBS; t->knobs_n++) {
		if (t->knobs_n < n)
			t->knobs[t->knobs_n] = knobs[t->knobs_n];
		t->lanes[t->knobs_n + 1] = (struct gus_stream_lane){ &t->knobs[t->knobs_n].knob, t->knobs_n < n };
	}
	free(knobs);
}

/* What each lane gains so far, in all threads. */
static void find_gains(const struct gus_traced *t, double gains[GUS_STREAM_LANES])
{
	double all[GUS_STREAM_LANES] = { 0 }, cycles[GUS_STREAM_LANES];

	for (size_t i = 0; i < t->threads.n; i++) {
		if (!t->threads.v[i])
			continue;
		gus_traced_thread_cycles(t->threads.v[i], cycles);
		for (int lane = 0; lane <= t->knobs_n; lane++)
			all[lane] += cycles[lane];
	}
	for (int lane = 0; lane <= t->knobs_n; lane++)
		all[lane] += t->retired[lane];
	for (int lane = 0; lane <= t->knobs_n; lane++)
		gains[lane] = all[lane] > 0 ? all[0] / all[lane] - 1 : 0;
}

static bool is_turned(const struct gus_traced *t, const struct gus_knob *k)
{
	for (int i = 0; i < t->knobs_n; i++)
		if (t->lanes[i + 1].knobs_n && t->knobs[i].knob.kind == k->kind && t->knobs[i].knob.number == k->number)
			return true;
	return false;
}

/* The lane that is missed least: a free one, or one that gains nothing and whose knob is needed less than that much.
 * -1: none. */
static int free_lane(const struct gus_traced *t, const struct demand *d, const double gains[GUS_STREAM_LANES],
		     double than)
{
	int least = -1;

	for (int i = 0; i < t->knobs_n; i++) {
		const struct gus_knob *k = &t->knobs[i].knob;

		if (!t->lanes[i + 1].knobs_n)
			return i;
		if (!is_flexible(k) || gains[i + 1] > GAINED || gains[i + 1] < -GAINED || demand_of(d, k) >= than)
			continue;
		if (least < 0 || demand_of(d, k) < demand_of(d, &t->knobs[least].knob))
			least = i;
	}
	return least;
}

static void turn(struct gus_traced *t)
{
	for (size_t i = 0; i < t->threads.n; i++)
		if (t->threads.v[i])
			gus_traced_thread_turn(t->threads.v[i]);
}

/* Lanes whose knob is not needed go to those that are. False if there are none such. */
static bool swap_knobs(struct gus_traced *t)
{
	double gains[GUS_STREAM_LANES];
	struct gus_sensitivity *knobs;
	bool changed = false;
	struct demand d;
	int n;

	find_demand(t, &d);
	find_gains(t, gains);
	n = list_knobs(t, &d, &knobs);
	for (int i = 0; i < n; i++) {
		int lane;

		if (!is_flexible(&knobs[i].knob) || !(knobs[i].speedup > 0) || is_turned(t, &knobs[i].knob))
			continue;
		lane = free_lane(t, &d, gains, knobs[i].speedup);
		if (lane < 0)
			break;
		t->knobs[lane] = knobs[i];
		t->lanes[lane + 1].knobs_n = 1;
		changed = true;
	}
	free(knobs);
	return changed;
}

void gus_traced_look_at_knobs(struct gus_traced *t)
{
	t->steps_looked_at += t->since;
	t->since = 0;
	if (t->steps_looked_at / LOOK_PART > t->look_after)
		t->look_after = t->steps_looked_at / LOOK_PART < LOOK_MOST ? t->steps_looked_at / LOOK_PART : LOOK_MOST;
	if (t->options.sets_n ? fill_sets(t) : swap_knobs(t))
		turn(t);
}
