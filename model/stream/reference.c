/* SPDX-License-Identifier: MIT */
/* The stream engine once more, in doubles, one machine at a time and without any of what makes the other quick: no
 * lanes, no ticks, no taking down of times, no prepared costs. It is what the other is held against. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/stream/private.h"
#include "model/stream/stream.h"

enum { RING = 1 << 14 };

struct reference {
	const struct gus_program *p;
	const struct gus_core_config *c;
	const struct gus_stream_options *o;
	const struct gus_stream_lane *lane;
	struct gus_stream_resources groups;
	double group[GUS_STREAM_GROUPS], unit[32], bank[STREAM_BANKS], reg[GUS_PROGRAM_REGS], front[FRONTS];
	double dispatch, retire;
	double given[STREAM_WINDOWS][RING], late[GUS_CORE_STATIONS][STREAM_LATE], drained;
	unsigned late_at[GUS_CORE_STATIONS];
	uint64_t taken[STREAM_WINDOWS];
	double words[STREAM_WORDS], left[STREAM_WORDS];
	struct stream_resolver *resolver; /* which store a load reads is no question of time */
};

static double scaled(const struct reference *k, double cycles, enum gus_knob_kind kind, uint32_t number)
{
	for (size_t i = k->lane ? k->lane->knobs_n : 0; i-- > 0;)
		if (k->lane->knobs[i].kind == kind && k->lane->knobs[i].number == number)
			return k->lane->knobs[i].weight > 0 ? cycles / k->lane->knobs[i].weight : 0;
	return cycles;
}

/* Entries of a window, 0 for no end. */
static uint64_t entries_of(const struct reference *k, uint32_t nominal, enum gus_knob_kind kind)
{
	for (size_t i = k->lane ? k->lane->knobs_n : 0; i-- > 0;)
		if (k->lane->knobs[i].kind == kind)
			return (uint64_t)llround(nominal * k->lane->knobs[i].weight);
	return nominal;
}

static double later(double a, double b)
{
	return a > b ? a : b;
}

/* From when on of a resource that is used for so long; it is busy from dispatch on at the earliest. */
static double use(struct reference *k, double *resource, double start, double cycles)
{
	start = later(start, *resource);
	*resource = later(*resource, k->dispatch) + cycles;
	return start;
}

/* What puts a load off by its place in L1. */
static double place(struct reference *k, const struct stream_access *a, double start)
{
	for (unsigned b = 0; b < STREAM_BANKS; b++)
		if (a->banks >> b & 1)
			start = use(k, &k->bank[b], start, scaled(k, 1.0 / k->c->l1d_bank_ports, GUS_KNOB_BANKS, 0));
	if ((a->flags & STREAM_ALIAS) && k->left[a->alias] > start)
		start += scaled(k, k->c->alias_penalty, GUS_KNOB_ALIAS, 0);
	return start;
}

/* When the word of a store is there. */
static double forwarded(const struct reference *k, const struct stream_access *a)
{
	bool blocked = a->forwarding == GUS_FORWARD_BLOCKED;

	return (blocked ? k->left[a->word] : k->words[a->word]) +
		scaled(k, gus_forwarding_cycles(k->c, (enum gus_forwarding)a->forwarding), GUS_KNOB_FORWARD, blocked);
}

/* By how much a word is there later after its store's address than after its data. */
static double address_late(const struct reference *k)
{
	double more = (double)k->c->store_forward_address - k->c->store_forward_latency;

	return more > 0 ? scaled(k, more, GUS_KNOB_FORWARD, 0) : 0;
}

static double run_uop(struct reference *k, const struct gus_op *op, const struct gus_uop *u, uint32_t class)
{
	bool accesses = u->kind != GUS_UOP_COMPUTE && u->memory < op->memories_n && k->resolver->tracked;
	const struct stream_access *a = accesses ? &k->resolver->accesses.v[u->memory] : NULL;
	bool load = u->kind == GUS_UOP_LOAD;
	enum gus_knob_kind knob = load ? GUS_KNOB_LOAD_LATENCY : GUS_KNOB_LATENCY;
	uint32_t number = load ? 0 : class;
	bool split = a && (a->flags & STREAM_SPLIT);
	double times = 1 + (split ? scaled(k, 1, GUS_KNOB_LINE_SPLITS, 0) : 0);
	unsigned w = WINDOW_RS + (unsigned)gus_stream_station(k->c, k->p, u);
	double start = k->dispatch, end, forward = 0;
	double held = scaled(k, 1, GUS_KNOB_HELD, gus_stream_held_by(u, (enum gus_insn_class)class));

	for (size_t g = 0; u->ports && g < k->groups.n; g++) {
		double cycles = (u->port_cycles ? u->port_cycles : 1) *
			scaled(k, 1.0 / __builtin_popcountll(k->groups.ports[g]), GUS_KNOB_PORTS, (uint32_t)g) *
			(u->port_cycles > 1 ? held : 1);

		if (u->ports & ~k->groups.ports[g])
			continue;
		start = use(k, &k->group[g], start, cycles * times);
	}
	if (u->unit)
		start = use(k, &k->unit[u->unit % 32], start,
			    times * u->unit_cycles * scaled(k, 1, GUS_KNOB_UNITS, u->unit % 32) *
			    (u->unit_cycles > 1 ? held : 1));
	for (unsigned i = 0; i < u->in_n; i++)
		start = later(start, k->reg[k->p->flows[u->in + i].reg] -
			      scaled(k, k->p->flows[u->in + i].cycles, knob, number));
	if (load && split)
		start += scaled(k, a->flags & STREAM_PAGE_SPLIT ? k->c->page_split_penalty : k->c->line_split_penalty,
				GUS_KNOB_LINE_SPLITS, 0);
	if (load && a && !u->again)
		start = place(k, a, start);
	if (load && a && !u->again && (a->flags & STREAM_FORWARD))
		forward = forwarded(k, a);
	end = later(start + scaled(k, u->latency, knob, number), forward);
	if (u->ports || u->unit)
		k->given[w][k->taken[w]++ % RING] = start;
	for (unsigned i = 0; i < u->out_n; i++)
		k->reg[k->p->flows[u->out + i].reg] =
			later(start + scaled(k, k->p->flows[u->out + i].cycles, knob, number), forward);
	if (u->kind == GUS_UOP_STORE_ADDRESS && a && (a->flags & STREAM_KNOWN))
		k->words[a->stored] = start + address_late(k);
	if (u->kind == GUS_UOP_STORE_DATA && a && (a->flags & STREAM_KNOWN))
		k->words[a->stored] = address_late(k) > 0 ? later(k->words[a->stored], start) : start;
	return end;
}

/* One uop comes to part w of the station, for which `before` uops of its op wait already that have no start yet. */
static void wait_for_entry(struct reference *k, unsigned w, uint32_t nominal, uint64_t before)
{
	uint64_t size = entries_of(k, nominal, GUS_KNOB_RS), last = k->taken[w] + before + 1;
	unsigned places = gus_stream_late(nominal), closed = size && size <= places ? places + 1 - (unsigned)size : 0;
	double *late = k->late[w - WINDOW_RS], t;
	unsigned at = k->late_at[w - WINDOW_RS];

	if (!size)
		return;
	for (unsigned n = 0; n < closed; n++)
		late[gus_stream_late_closed(places, closed, n)] = INFINITY;
	size = closed ? 1 : size - places;
	t = last > size ? k->given[w][(last - size - 1) % RING] : 0;
	k->late_at[w - WINDOW_RS] = at + 1 < places ? at + 1 : 0;
	for (unsigned i = 0; i < STREAM_LATE_LOOKS && i < places && t > k->dispatch; i++) {
		double kept = later(t, late[at]);

		t = kept > t ? t : late[at];
		late[at] = kept;
		at = gus_stream_late_next(places, at, i);
	}
	k->dispatch = later(k->dispatch, t);
}

/* The entries of some uops of an op at once, which go part by part. */
static void wait_for_station(struct reference *k, const struct gus_op *op, uint32_t first, uint32_t n)
{
	const uint32_t nominal[GUS_CORE_STATIONS] = { k->c->rs, k->c->rs_int, k->c->rs_vector, k->c->rs_memory };

	for (unsigned part = 0; part < GUS_CORE_STATIONS && !(op->flags & GUS_OP_ELIMINATED); part++) {
		uint64_t before = 0;

		for (uint32_t u = first; u < first + n; u++) {
			const struct gus_uop *uop = &k->p->uops[op->uop + u];

			if ((uop->ports || uop->unit) && gus_stream_station(k->c, k->p, uop) == part)
				wait_for_entry(k, WINDOW_RS + part, nominal[part], before++);
		}
	}
}

/* One part of the front end. */
static void serve(struct reference *k, enum stream_front part, double cycles, double from)
{
	from -= gus_stream_ahead(part) ? STREAM_FETCH_AHEAD : 0;
	k->front[part] = later(k->front[part], from) +
		scaled(k, part == FRONT_ISSUE ? cycles : scaled(k, cycles, GUS_KNOB_FETCH, 0), GUS_KNOB_ISSUE, 0);
	k->dispatch = later(k->dispatch, k->front[part]);
}

static void run_op(struct reference *k, const struct gus_op *op)
{
	const struct gus_core_config *c = k->c;
	const uint32_t entries[STREAM_IN_ORDER] = { op->rob < 255 ? op->rob : 255, op->loads, op->stores,
		gus_op_results(op), op->results[GUS_REGFILE_INT], op->results[GUS_REGFILE_VECTOR],
		op->results[GUS_REGFILE_MASK] };
	const uint64_t sizes[STREAM_IN_ORDER] = { entries_of(k, c->rob, GUS_KNOB_ROB),
		entries_of(k, c->load_buffer, GUS_KNOB_LOAD_BUFFER),
		entries_of(k, c->store_buffer, GUS_KNOB_STORE_BUFFER), entries_of(k, c->renames, GUS_KNOB_REGISTERS),
		entries_of(k, c->int_renames, GUS_KNOB_REGISTERS),
		entries_of(k, c->vector_renames, GUS_KNOB_REGISTERS),
		entries_of(k, c->mask_renames, GUS_KNOB_REGISTERS) };
	double costs[FRONTS], end;
	const bool wide = op->slots > c->issue_width;

	for (unsigned w = 0; w < STREAM_IN_ORDER; w++)
		if (entries[w] && sizes[w] && k->taken[w] + entries[w] > sizes[w])
			k->dispatch = later(k->dispatch, k->given[w][(k->taken[w] + entries[w] - sizes[w] - 1) % RING]);
	if (!wide)
		wait_for_station(k, op, 0, op->uops_n);
	end = k->dispatch;
	gus_stream_front_costs(k->resolver->s, op, costs);
	for (unsigned f = 0; f < FRONTS; f++)
		if (costs[f] > 0 && (k->resolver->steps[0].fronts >> f & 1))
			serve(k, (enum stream_front)f,
			      f == FRONT_FETCH ? costs[f] * k->resolver->steps[0].fetched :
			      f == FRONT_PREDICTION ? costs[f] * k->resolver->steps[0].predicted : costs[f], end);
	end = k->dispatch;
	for (uint32_t u = 0; u < op->uops_n; u++) {
		const struct gus_uop *uop = &k->p->uops[op->uop + u];

		if (wide) /* they come one by one */
			wait_for_station(k, op, u, 1);
		if (op->flags & GUS_OP_ELIMINATED)
			for (unsigned i = 0; i < uop->out_n; i++)
				k->reg[k->p->flows[uop->out + i].reg] = k->reg[op->move_from];
		else
			end = later(end, run_uop(k, op, uop, k->p->insns[op->insn].info.class));
	}
	k->retire = later(end, k->retire + scaled(k, (double)op->slots / k->c->retire_width, GUS_KNOB_RETIRE, 0));
	if (entries[WINDOW_STORES])
		k->drained = later(k->retire, k->drained +
				   k->resolver->steps[0].commits * scaled(k, 1, GUS_KNOB_STORES, 0));
	for (unsigned n = 0; entries[WINDOW_STORES] && k->resolver->tracked && n < op->memories_n; n++)
		if (k->p->memories[op->memory + n].store && (k->resolver->accesses.v[n].flags & STREAM_KNOWN))
			k->left[k->resolver->accesses.v[n].stored] = k->drained;
	for (unsigned w = 0; w < STREAM_IN_ORDER; w++)
		for (unsigned n = 0; n < entries[w]; n++)
			k->given[w][k->taken[w]++ % RING] = w == WINDOW_STORES ? k->drained : k->retire;
}

/* One machine, from the beginning. */
static void run_lane(const struct stream *s, const struct gus_stream_lane *lane, double *cycles, double *second_half)
{
	struct reference *k = gus_zalloc(sizeof(*k));
	double half = 0;

	k->p = s->p;
	k->c = s->c;
	k->o = s->o;
	k->lane = lane;
	k->resolver = gus_alloc(sizeof(*k->resolver));
	gus_stream_resources_of(s->p, &k->groups);
	gus_stream_resolver_open(k->resolver, s);
	for (uint64_t i = 0; i < s->o->iterations; i++) {
		if (i == s->o->iterations / 2)
			half = k->retire;
		for (uint32_t op = 0; op < s->p->ops_n; op++) {
			gus_stream_resolve(k->resolver, NULL, 1);
			run_op(k, &s->p->ops[op]);
		}
	}
	*cycles = k->retire;
	*second_half = k->retire - half;
	gus_stream_resolver_close(k->resolver);
	free(k->resolver);
	free(k);
}

int gus_stream_reference(const struct gus_program *p, const struct gus_core_config *c,
			 const struct gus_stream_options *o, struct gus_stream_result *r, struct gus_error *err)
{
	size_t lanes = o->lanes_n ? o->lanes_n : 1;
	struct stream s = { .p = p, .c = c, .o = o };
	double largest = 1;

	*r = (struct gus_stream_result){ .lanes = lanes, .iterations = o->iterations,
		.instructions = o->iterations * p->insns_n };
	for (size_t i = 0; i < o->lanes_n && lanes <= GUS_STREAM_LANES; i++)
		for (size_t n = 0; n < o->lanes[i].knobs_n; n++)
			largest = later(largest, o->lanes[i].knobs[n].weight);
	if (o->source || o->memory || o->branch || !o->iterations || largest * c->rob >= RING / 2 ||
	    lanes > GUS_STREAM_LANES)
		return gus_fail(err, GUS_E_USAGE, "cannot run the reference of the stream engine: it takes a number of "
				"iterations, up to %d lanes, and a reorder buffer below %d entries; no source and no "
				"oracles", GUS_STREAM_LANES, RING / 2);
	gus_stream_choose_fetch(&s);
	for (size_t lane = 0; lane < lanes; lane++) {
		double half;

		run_lane(&s, o->lanes_n ? &o->lanes[lane] : NULL, &r->cycles[lane], &half);
		r->per_iteration[lane] = half / (double)(o->iterations - o->iterations / 2);
	}
	free(s.kept);
	return 0;
}
