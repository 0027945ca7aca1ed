/* SPDX-License-Identifier: MIT */
/* What the kernels of the stream engine read: resources, costs in ticks of each lane, sizes of windows. Made once for
 * a program, or piece by piece for one that grows.
 *
 * A machine is the nominal one with some knobs turned, and what an op costs it is a number of ticks for each thing
 * that the op needs. Many ops need the same: a multiplication's latency of 3 cycles turned by the knob of its class
 * is the same 32 numbers wherever it is. So costs are kept once, by (cycles, knob, number of the knob), and ops, uops
 * and flows hold the number of theirs:
 *
 *	op -------> front[], retire ---\
 *	  uop ----> latency ------------+--> costs:  0 | nothing          [    0     0     0 ... ]
 *	    flow -> latency, lateness --/            1 | 3 cycles, MUL    [ 15120 15120  7560 ... ]  lane 2 at weight 2
 *	                                             2 | 1/4 cycle, ISSUE [  1260  1096  1260 ... ]  lane 1 at 1.15
 *
 * That keeps them in the cache, and to turn knobs anew touches some hundreds of them and no op.
 *
 * The resource mapping (section 3.1.1 of the paper, "Execution ports", after its reference [20]): instead of a choice
 * of ports a uop has a list of resources, each used up together. A group of n ports takes 1/n of a cycle for a use,
 * and 5040 ticks a cycle make that a whole number for each n up to ten. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/core/frontend.h"
#include "model/stream/private.h"
#include "model/stream/stream.h"
#include "model/tables/uarch.h"

/* Resources. */

static bool add_group(struct gus_stream_resources *r, uint64_t ports)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->ports[i] == ports)
			return false;
	if (r->n == GUS_STREAM_GROUPS)
		return false;
	r->ports[r->n++] = ports;
	return true;
}

/* What the uops may take and all unions of it that overlap. It is Hall's condition: ports suffice if and only if for
 * each set of them the uops that can go nowhere else fit into it. Sets that are no union of what uops may take have
 * no uop more than a smaller set, and a union of parts that do not overlap is full only if a part is. */
void gus_stream_resources_add(const struct gus_program *p, uint32_t first_uop, struct gus_stream_resources *r)
{
	size_t n = r->n;

	for (uint32_t i = first_uop; i < p->uops_n; i++)
		if (p->uops[i].ports)
			add_group(r, p->uops[i].ports);
	for (size_t i = n; i < r->n; i++)
		for (size_t k = 0; k < i; k++)
			if (r->ports[i] & r->ports[k])
				add_group(r, r->ports[i] | r->ports[k]);
}

void gus_stream_resources_of(const struct gus_program *p, struct gus_stream_resources *r)
{
	r->n = 0;
	gus_stream_resources_add(p, 0, r);
}

/* Knobs. */

/* Of several knobs of one kind and number in a lane the last one counts. */
static double weight_of(const struct gus_stream_options *o, size_t lane, enum gus_knob_kind kind, uint32_t number)
{
	double weight = 1;

	if (lane >= o->lanes_n)
		return 1;
	for (size_t i = 0; i < o->lanes[lane].knobs_n; i++) {
		const struct gus_knob *knob = &o->lanes[lane].knobs[i];

		if (knob->kind == kind && knob->number == number)
			weight = knob->weight;
	}
	return weight;
}

static int32_t ticks(double cycles, double weight)
{
	return weight > 0 ? (int32_t)lround(cycles * GUS_STREAM_TICKS / weight) : 0;
}

/* Costs. */

struct cost_key { double cycles; uint32_t kind, number; };

static struct stream_cost turned(const struct stream *s, const struct cost_key *key)
{
	enum gus_knob_kind kind = (enum gus_knob_kind)key->kind;
	struct stream_cost c;

	for (size_t lane = 0; lane < GUS_STREAM_LANES; lane++) {
		double weight = weight_of(s->o, lane, kind, key->number);

		if (kind == GUS_KNOB_FETCH)
			weight *= weight_of(s->o, lane, GUS_KNOB_ISSUE, 0);
		c.ticks[lane] = ticks(key->cycles, weight);
	}
	return c;
}

/* The number of a cost, the same one for the same cycles turned by the same knob. */
static uint32_t cost(struct stream *s, double cycles, enum gus_knob_kind kind, uint32_t number)
{
	struct cost_key key = { cycles, kind, number };
	bool is_new;
	uint32_t id;

	if (!(cycles < 0) && !(cycles > 0))
		return 0;
	id = gus_index_add(&s->cost_numbers, &key, &is_new) + 1;
	if (is_new)
		gus_vec_push(&s->costs, turned(s, &key));
	return id;
}

/* Cycles that a line takes on a bus, or a walk of one of the walkers. */
static double bus_cycles(const struct gus_core_config *c, enum stream_bus bus)
{
	const uint32_t bandwidth[STREAM_BUSES] = { [BUS_L2] = c->l2_bandwidth, [BUS_L3] = c->l3_bandwidth,
						  [BUS_MEMORY] = c->memory_bandwidth };

	if (bus == BUS_WALKS)
		return (double)c->page_walk_latency / (c->page_walks ? c->page_walks : 1);
	return bandwidth[bus] ? (double)c->line_size / bandwidth[bus] : 0;
}

/* One use of each resource, of those from `from` on. */
static void prepare_resources(struct stream *s, size_t from)
{
	s->resources_n = STREAM_GROUPS_AT + s->resources.n;
	for (size_t lane = 0; lane < GUS_STREAM_LANES; lane++)
		for (size_t i = from; i < s->resources_n; i++) {
			double cycles = 1, weight;

			if (i < STREAM_BANKS_AT) {
				cycles = bus_cycles(s->c, (enum stream_bus)i);
				weight = i == BUS_WALKS ? weight_of(s->o, lane, GUS_KNOB_TLB, 1) :
					weight_of(s->o, lane, GUS_KNOB_BANDWIDTH, (uint32_t)(GUS_HIT_L2 + i));
			} else if (i < STREAM_UNITS_AT) {
				cycles = s->c->l1d_bank_ports ? 1.0 / s->c->l1d_bank_ports : 0;
				weight = weight_of(s->o, lane, GUS_KNOB_BANKS, 0);
			} else if (i < STREAM_GROUPS_AT) {
				weight = weight_of(s->o, lane, GUS_KNOB_UNITS, (uint32_t)(i - STREAM_UNITS_AT));
			} else {
				cycles /= __builtin_popcountll(s->resources.ports[i - STREAM_GROUPS_AT]);
				weight = weight_of(s->o, lane, GUS_KNOB_PORTS, (uint32_t)(i - STREAM_GROUPS_AT));
			}
			s->inverse[i].ticks[lane] = ticks(cycles, weight);
		}
}

/* What is left of a use in that lane, in shares of STREAM_SHARE. */
static int32_t share_of(double weight)
{
	return weight > 0 ? (int32_t)lround(STREAM_SHARE / weight) : 0;
}

/* What a load meets by its place: a store that feeds it, the end of a line, a store at the same place of a page. */
static void prepare_hazards(struct stream *s, size_t lane)
{
	double splits = weight_of(s->o, lane, GUS_KNOB_LINE_SPLITS, 0);

	for (unsigned kind = 0; kind < GUS_FORWARDINGS; kind++)
		s->forwards[kind][lane] = ticks(gus_forwarding_cycles(s->c, (enum gus_forwarding)kind),
						weight_of(s->o, lane, GUS_KNOB_FORWARD, kind == GUS_FORWARD_BLOCKED));
	s->split[lane] = ticks(s->c->line_split_penalty, splits);
	s->page_split[lane] = ticks(s->c->page_split_penalty, splits);
	s->forward_address[lane] = ticks(s->c->store_forward_address > s->c->store_forward_latency ?
					 s->c->store_forward_address - s->c->store_forward_latency : 0,
					 weight_of(s->o, lane, GUS_KNOB_FORWARD, 0));
	s->split_share[lane] = share_of(splits);
	s->alias[lane] = ticks(s->c->alias_penalty, weight_of(s->o, lane, GUS_KNOB_ALIAS, 0));
}

/* Of what would be mispredicted in that lane all below it still is. */
static int32_t mispredicted(const struct gus_stream_options *o, size_t lane)
{
	double weight = weight_of(o, lane, GUS_KNOB_PREDICTED, 0);

	return weight > 1 ? (int32_t)(STREAM_CHANCE / weight) : weight > 0 ? STREAM_CHANCE : 0;
}

static void prepare_memory(struct stream *s)
{
	const uint32_t levels[GUS_HITS] = { 0, s->c->l2_latency, s->c->l3_latency, s->c->memory_latency };

	for (size_t lane = 0; lane < GUS_STREAM_LANES; lane++) {
		for (uint32_t level = 0; level < GUS_HITS; level++)
			s->levels[level][lane] = ticks(levels[level],
						       weight_of(s->o, lane, GUS_KNOB_LEVEL_LATENCY, level));
		s->tlb[lane] = ticks(s->c->stlb_latency, weight_of(s->o, lane, GUS_KNOB_TLB, 0));
		s->walk[lane] = ticks(s->c->page_walk_latency, weight_of(s->o, lane, GUS_KNOB_TLB, 1));
		s->penalty[lane] = ticks(s->c->mispredict_penalty, weight_of(s->o, lane, GUS_KNOB_MISPREDICT, 0));
		s->mispredicted[lane] = mispredicted(s->o, lane);
		s->drain[lane] = ticks(s->c->l1d_stores ? 1 : 0, weight_of(s->o, lane, GUS_KNOB_STORES, 0));
		for (uint32_t held = 0; held < GUS_HELD_BYS; held++)
			s->held[held][lane] = share_of(weight_of(s->o, lane, GUS_KNOB_HELD, held));
		prepare_hazards(s, lane);
	}
}

enum gus_held_by gus_stream_held_by(const struct gus_uop *u, enum gus_insn_class class)
{
	if (class == GUS_INSN_FENCE || class == GUS_INSN_SYSTEM)
		return GUS_HELD_BY_FENCES;
	if (class == GUS_INSN_ATOMIC)
		return GUS_HELD_BY_LOCKS;
	return u->kind == GUS_UOP_COMPUTE && gus_insn_class_divides(class) ? GUS_HELD_BY_DIVISIONS : GUS_HELD_BY_NONE;
}

/* All groups that hold the uop's ports, and its unit. Port cycles are uses: a uop that blocks its port for two cycles
 * uses each of them twice. */
static void prepare_uses(struct stream *s, uint32_t number)
{
	const struct gus_uop *u = &s->p->uops[number];
	struct stream_uop *to = &s->uops.v[number];

	to->use = (uint32_t)s->uses.n;
	for (size_t g = 0; u->ports && g < s->resources.n; g++)
		if (!(u->ports & ~s->resources.ports[g]))
			gus_vec_push(&s->uses, (struct stream_use){ (uint16_t)(STREAM_GROUPS_AT + g), u->port_cycles ?
								   u->port_cycles : 1, u->port_cycles > 1 ?
								   to->held : GUS_HELD_BY_NONE });
	if (u->unit)
		gus_vec_push(&s->uses, (struct stream_use){ (uint16_t)(STREAM_UNITS_AT + u->unit % STREAM_UNITS),
							   u->unit_cycles, u->unit_cycles > 1 ?
							   to->held : GUS_HELD_BY_NONE });
	to->uses_n = (uint32_t)s->uses.n - to->use;
}

static void prepare_uop(struct stream *s, uint32_t number, uint32_t class)
{
	const struct gus_uop *u = &s->p->uops[number];
	enum gus_knob_kind kind = u->kind == GUS_UOP_LOAD ? GUS_KNOB_LOAD_LATENCY : GUS_KNOB_LATENCY;
	struct stream_uop *to = &s->uops.v[number];

	to->held = (uint8_t)gus_stream_held_by(u, (enum gus_insn_class)class);
	class = u->kind == GUS_UOP_LOAD ? 0 : class;
	prepare_uses(s, number);
	to->latency = cost(s, u->latency, kind, class);
	to->station = (uint8_t)gus_stream_station(s->c, s->p, u);
	for (unsigned f = 0; f < u->in_n; f++)
		s->flows.v[u->in + f] = cost(s, s->p->flows[u->in + f].cycles, kind, class);
	for (unsigned f = 0; f < u->out_n; f++)
		s->flows.v[u->out + f] = cost(s, s->p->flows[u->out + f].cycles, kind, class);
}

/* What the sequencer takes of an op, and the ways there and back. */
static double microcode_cycles(const struct gus_core_config *c, const struct gus_op *op, uint32_t ways)
{
	return op->microcoded ? (op->microcoded + c->microcode_width - 1) / c->microcode_width + ways : 0;
}

/* The loop buffer issues no iteration beside the last of those that it holds: what is left free of slots there, shared
 * by all of them. */
static double boundary_cycles(const struct stream *s)
{
	unsigned unroll = gus_frontend_unroll(s->p, s->c), slots = unroll * gus_program_slots(s->p);

	double width = s->c->issue_width;

	return unroll ? (ceil(slots / width) * width - slots) / width / unroll : 0;
}

/* Of code that is fed, or that the uop cache has in part, an op has the costs of both ways. */
void gus_stream_front_costs(const struct stream *s, const struct gus_op *op, double costs[FRONTS])
{
	const struct gus_core_config *c = s->c;
	bool decoders = s->mode == GUS_CORE_FETCH_DECODERS || s->mode == GUS_CORE_FETCH_MIXED;
	bool cache = s->mode == GUS_CORE_FETCH_UOP_CACHE || s->mode == GUS_CORE_FETCH_MIXED ||
		(s->fed && c->uop_cache_width);

	costs[FRONT_ISSUE] = (double)op->slots / c->issue_width;
	costs[FRONT_DECODE] = costs[FRONT_FETCH] = costs[FRONT_UOP_CACHE] = costs[FRONT_LINES] = 0;
	costs[FRONT_PREDICTION] = gus_prediction_cycles(c, s->p, op);
	if (s->mode == GUS_CORE_FETCH_LOOP && op == s->p->ops + s->p->ops_n - 1)
		costs[FRONT_ISSUE] += boundary_cycles(s);
	if (decoders) {
		costs[FRONT_DECODE] = 1 + microcode_cycles(c, op, c->microcode_switch_decoders);
		costs[FRONT_FETCH] = 1;
	}
	if (cache && c->uop_cache_window && c->uop_cache_line)
		costs[FRONT_LINES] = 1 + microcode_cycles(c, op, c->microcode_switch);
	else if (cache)
		costs[FRONT_UOP_CACHE] = (double)(op->decoded + op->microcoded) / c->uop_cache_width;
}

/* What an op takes of a window at once, as much as its ring has room for beyond the window: the entry that it waits
 * for must not be one that it gives back itself. */
static uint8_t taken(const struct stream *s, unsigned w, uint64_t entries)
{
	uint64_t most = s->fed ? s->mask[w] - s->sizes[w][0].entries : 255;

	if (!s->sizes_n[w] && w != WINDOW_STORES) /* nobody waits for them; stores leave all the same */
		return 0;
	for (unsigned i = 1; i < s->sizes_n[w] && s->fed; i++)
		most = s->mask[w] - s->sizes[w][i].entries < most ? s->mask[w] - s->sizes[w][i].entries : most;
	most = most < 255 ? most : 255;
	return (uint8_t)(entries < most ? entries : most);
}

static bool is_of_accesses(enum gus_knob_kind kind)
{
	return kind == GUS_KNOB_LEVEL_LATENCY || kind == GUS_KNOB_BANDWIDTH || kind == GUS_KNOB_TLB ||
		kind == GUS_KNOB_FORWARD || kind == GUS_KNOB_LINE_SPLITS || kind == GUS_KNOB_ALIAS;
}

/* How many times as long as on the nominal machine an access takes at most in any lane, where it is turned down. */
static double slowest(const struct stream *s)
{
	double least = 1;

	for (size_t lane = 0; lane < s->o->lanes_n; lane++)
		for (size_t i = 0; i < s->o->lanes[lane].knobs_n; i++) {
			const struct gus_knob *k = &s->o->lanes[lane].knobs[i];

			if (is_of_accesses(k->kind) && k->weight > 0 && k->weight < least)
				least = k->weight;
		}
	return 1 / least;
}

/* An access: a walk, the buses, the farthest level, and all that may put it off. */
static double longest_access(const struct stream *s)
{
	const struct gus_core_config *c = s->c;
	double lines = 0;

	for (unsigned bus = 0; bus < STREAM_BUSES; bus++)
		lines += bus_cycles(c, (enum stream_bus)bus);
	return s->slowest * (lines + c->page_walk_latency + c->stlb_latency + c->l2_latency + c->l3_latency +
			     c->memory_latency + c->line_split_penalty + c->page_split_penalty + c->alias_penalty +
			     c->store_forward_latency + c->store_forward_computed + c->store_forward_vector +
			     c->store_forward_address + c->store_forward_blocked);
}

/* Cycles that an op cannot take more than, from its dispatch on. Of code, uops of an instruction wait for each other in
 * at most four steps (program_uops.c); in tables of uops they may all do so. What a line that is crossed takes twice is
 * there twice. */
static double longest(const struct stream *s, const struct gus_op *op)
{
	const struct gus_core_config *c = s->c;
	double busy = 0, latest = 0, costs[FRONTS], front = 0;

	for (uint32_t i = op->uop; i < op->uop + op->uops_n; i++) {
		const struct gus_uop *u = &s->p->uops[i];
		double cycles = u->latency;

		for (unsigned f = 0; f < u->out_n; f++)
			cycles = fmax(cycles, s->p->flows[u->out + f].cycles);
		latest = s->p->uarch ? fmax(latest, 4 * cycles) : latest + cycles;
		busy += 2 * (u->port_cycles + u->unit_cycles);
	}
	gus_stream_front_costs(s, op, costs);
	for (unsigned f = 0; f < FRONTS; f++)
		front += costs[f];
	return busy + latest + front + c->l2_latency + c->mispredict_penalty + op->memories_n * longest_access(s);
}

/* The same of whatever instruction may have a row of the table, for code that is fed: which one comes nobody knows when
 * the engine is opened, and later nobody could refuse it. A pair that fuses has two instructions' accesses. */
static double longest_of_row(const struct stream *s, const struct gus_uarch_row *row)
{
	const struct gus_uarch *u = s->p->uarch;
	const struct gus_core_config *c = s->c;
	struct gus_op op = { .slots = (uint16_t)(row->fused > row->uops ? row->fused : row->uops),
		.decoded = UINT8_MAX, .microcoded = (uint16_t)row->microcoded };
	double busy = 0, latest = fmax(row->latency, row->loadlat), costs[FRONTS], front = 0;

	for (uint32_t i = 0; i < row->pairs_n; i++)
		latest = fmax(latest, u->pairs[row->pairs + i].cycles);
	for (uint32_t i = 0; i < row->uses_n; i++)
		busy += fmax(2 * GUS_UARCH_CENTI, 2.0 * u->uses[row->uses + i].cycles);
	for (uint32_t i = 0; i < row->units_n; i++)
		busy += 2.0 * u->uses[row->units + i].cycles;
	gus_stream_front_costs(s, &op, costs);
	for (unsigned f = 0; f < FRONTS; f++)
		front += costs[f];
	return (busy + 4 * latest) / GUS_UARCH_CENTI + front + c->l2_latency + c->mispredict_penalty +
		2 * GUS_INSN_MEMORIES * longest_access(s);
}

static int check_longest(const struct stream *s, struct gus_error *err)
{
	const struct gus_uarch *u = s->fed ? s->p->uarch : NULL;

	for (uint32_t i = 0; i < s->p->ops_n; i++)
		if (longest(s, &s->p->ops[i]) > STREAM_LONGEST)
			return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: an instruction may take %.0f "
					"cycles, and more than %d cannot be counted",
					longest(s, &s->p->ops[i]), STREAM_LONGEST);
	for (uint32_t i = 0; u && i < u->rows_n; i++)
		if (longest_of_row(s, &u->rows[i]) > STREAM_LONGEST)
			return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: an instruction of row %s may "
					"take %.0f cycles, and more than %d cannot be counted", u->rows[i].id,
					longest_of_row(s, &u->rows[i]), STREAM_LONGEST);
	return 0;
}

/* All parts of the front end get faster together: more of them would be more of each. */
static void prepare_op(struct stream *s, uint32_t number)
{
	const struct gus_op *op = &s->p->ops[number];
	const uint64_t entries[STREAM_IN_ORDER] = { op->rob, op->loads, op->stores, gus_op_results(op),
		op->results[GUS_REGFILE_INT], op->results[GUS_REGFILE_VECTOR], op->results[GUS_REGFILE_MASK] };
	struct stream_op to = { .wide = op->slots > s->c->issue_width };
	double costs[FRONTS];

	gus_stream_front_costs(s, op, costs);
	for (unsigned f = 0; f < FRONTS; f++) {
		to.front[f] = cost(s, costs[f], f == FRONT_ISSUE ? GUS_KNOB_ISSUE : GUS_KNOB_FETCH, 0);
		to.fronts = (uint8_t)(to.fronts | (costs[f] > 0) << f);
	}
	s->slow |= longest(s, op) > STREAM_SLOW;
	to.retire = cost(s, (double)op->slots / s->c->retire_width, GUS_KNOB_RETIRE, 0);
	for (uint32_t u = 0; u < op->uops_n; u++)
		prepare_uop(s, op->uop + u, s->p->insns[op->insn].info.class);
	for (uint32_t u = 0; u < op->uops_n && !(op->flags & GUS_OP_ELIMINATED); u++) {
		const struct stream_uop *uop = &s->uops.v[op->uop + u];

		if (to.waiting[uop->station] < 255)
			to.waiting[uop->station] = (uint8_t)(to.waiting[uop->station] + (uop->uses_n != 0));
	}
	for (unsigned w = 0; w < STREAM_IN_ORDER; w++)
		to.window[w] = taken(s, w, entries[w]);
	for (unsigned w = 0; w < STREAM_IN_ORDER; w++)
		to.windows = (uint8_t)(to.windows | (to.window[w] != 0) << w);
	for (unsigned part = 0; part < GUS_CORE_STATIONS; part++)
		to.waiting[part] = taken(s, WINDOW_RS + part, to.waiting[part]);
	s->ops.v[number] = to;
}

/* Size and lane are found or added; false if there are too many sizes. */
static bool add_size(struct stream *s, unsigned w, uint64_t entries, size_t lane)
{
	unsigned i = 0;

	while (i < s->sizes_n[w] && s->sizes[w][i].entries != entries)
		i++;
	if (i == STREAM_SIZES)
		return false;
	if (i == s->sizes_n[w])
		s->sizes[w][s->sizes_n[w]++] = (struct stream_size){ entries, 0 };
	s->sizes[w][i].lanes |= UINT64_C(1) << lane;
	return true;
}

/* What an op may take at once is what a ring needs beyond the size (kernel.h draws one). Of code that grows it
 * is not known, and wider ops are cut: those are microcode. */
static uint64_t most_taken(const struct stream *s, unsigned w)
{
	enum { FED = 24, FED_MISSES = 255 };
	uint64_t most = 1;

	for (uint32_t i = 0; i < s->p->ops_n && !s->fed; i++) {
		const struct gus_op *op = &s->p->ops[i];
		const uint32_t takes[STREAM_WINDOWS] = { op->rob, op->loads, op->stores, gus_op_results(op),
			op->results[GUS_REGFILE_INT], op->results[GUS_REGFILE_VECTOR], op->results[GUS_REGFILE_MASK],
			op->uops_n, op->memories_n };

		most = takes[w] > most ? takes[w] : most;
	}
	return !s->fed ? most : w == WINDOW_MISSES ? FED_MISSES : FED;
}

/* Of each window its sizes, with the lanes that have each, and its ring: a power of two that holds the largest and
 * the widest op. */
static int prepare_windows(struct stream *s, struct gus_error *err)
{
	static const enum gus_knob_kind kinds[STREAM_WINDOWS] = { GUS_KNOB_ROB, GUS_KNOB_LOAD_BUFFER,
								 GUS_KNOB_STORE_BUFFER,
		GUS_KNOB_REGISTERS, GUS_KNOB_REGISTERS, GUS_KNOB_REGISTERS, GUS_KNOB_REGISTERS, GUS_KNOB_RS,
		GUS_KNOB_RS, GUS_KNOB_RS, GUS_KNOB_RS, GUS_KNOB_MISS_BUFFERS };
	const uint32_t nominal[STREAM_WINDOWS] = { s->c->rob, s->c->load_buffer, s->c->store_buffer, s->c->renames,
		s->c->int_renames, s->c->vector_renames, s->c->mask_renames,
		s->c->rs, s->c->rs_int, s->c->rs_vector, s->c->rs_memory, s->c->l1d_misses };

	for (unsigned w = 0; w < STREAM_WINDOWS; w++) {
		unsigned part = w - WINDOW_RS, places = 0;
		uint64_t largest = 0, ring = 1;

		if (w >= WINDOW_RS && w < WINDOW_RS_END)
			places = s->late[part] = gus_stream_late(nominal[w]);
		for (size_t lane = 0; lane < GUS_STREAM_LANES && nominal[w]; lane++) {
			double weight = weight_of(s->o, lane, kinds[w], 0);
			uint64_t size = weight > 0 ? (uint64_t)llround(nominal[w] * weight) : 0;

			if (!size)
				continue; /* without limit */
			if (places && size <= places)
				s->closed[part][lane] = (uint8_t)(places + 1 - size);
			size = size > places ? size - places : 1;
			if (!add_size(s, w, size, lane))
				return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: the lanes have "
						"more than %d sizes of one window", STREAM_SIZES);
			largest = size > largest ? size : largest;
		}
		while (ring < largest + most_taken(s, w) + 1)
			ring *= 2;
		s->mask[w] = ring - 1;
		if (s->o->log)
			s->o->log->given[w] = gus_zalloc(ring * sizeof(*s->o->log->given[w]));
	}
	return 0;
}

void gus_stream_prepare_more(struct stream *s)
{
	const struct gus_program *p = s->p;
	size_t resources = s->resources_n;
	uint32_t first = s->ops_n;

	if (s->o->groups)
		s->resources = *s->o->groups;
	else
		gus_stream_resources_add(p, s->uops_n, &s->resources);
	prepare_resources(s, resources);
	if (s->resources_n > resources) { /* older uops may be in the new groups, too */
		s->uses.n = 0;
		for (uint32_t i = 0; i < s->uops_n; i++)
			prepare_uses(s, i);
	}
	gus_vec_reserve(&s->ops, p->ops_n);
	gus_vec_reserve(&s->uops, p->uops_n);
	gus_vec_reserve(&s->flows, p->flows_n);
	s->ops.n = s->ops_n = p->ops_n;
	s->uops.n = s->uops_n = p->uops_n;
	s->flows.n = s->flows_n = p->flows_n;
	for (uint32_t i = first; i < p->ops_n; i++)
		prepare_op(s, i);
}

void gus_stream_prepare_again(struct stream *s)
{
	prepare_resources(s, 0);
	for (uint32_t i = 1; i < s->costs.n; i++)
		s->costs.v[i] = turned(s, gus_index_key(&s->cost_numbers, i - 1));
	s->turned++;
}

void gus_stream_choose_fetch(struct stream *s)
{
	struct gus_core_options like = { .unrolled = s->o->unrolled, .source = s->o->source, .fetch = s->o->fetch };

	s->mode = !s->fed ? gus_frontend_mode(s->p, s->c, &like) :
		s->c->fetch_bytes && s->c->decode_width && s->c->predecode_width ? GUS_CORE_FETCH_DECODERS :
			GUS_CORE_FETCH_IDEAL;
	if (s->mode != GUS_CORE_FETCH_MIXED)
		return;
	s->kept = gus_zalloc(s->p->ops_n * sizeof(*s->kept));
	gus_uop_lines_kept(s->c, s->p, s->kept);
}

int gus_stream_prepare(struct stream *s, struct gus_error *err)
{
	gus_index_init(&s->cost_numbers, sizeof(struct cost_key));
	gus_vec_push(&s->costs, (struct stream_cost){ { 0 } });
	s->slowest = slowest(s);
	gus_stream_choose_fetch(s);
	prepare_memory(s);
	if (prepare_windows(s, err) != 0 || check_longest(s, err) != 0)
		return -1;
	gus_stream_prepare_more(s);
	return 0;
}

void gus_stream_unprepare(struct stream *s)
{
	gus_vec_free(&s->ops);
	gus_vec_free(&s->uops);
	gus_vec_free(&s->uses);
	gus_vec_free(&s->flows);
	gus_vec_free(&s->costs);
	gus_index_free(&s->cost_numbers);
	free(s->kept);
}
