/* SPDX-License-Identifier: MIT */
#include "model/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stream_private.h"

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

/* What the uops may take and all unions of it that overlap: a group beyond that never binds, as it is the sum of its parts. */
void gus_stream_resources_of(const struct gus_program *p, struct gus_stream_resources *r)
{
	r->n = 0;
	for (uint32_t i = 0; i < p->uops_n; i++)
		if (p->uops[i].ports)
			add_group(r, p->uops[i].ports);
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < i; k++)
			if (r->ports[i] & r->ports[k])
				add_group(r, r->ports[i] | r->ports[k]);
}

/* Knobs. */

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

/* Cycles that a line takes on a bus, or a walk of one of the walkers. */
static double bus_cycles(const struct gus_core_config *c, enum stream_bus bus)
{
	const uint32_t bandwidth[STREAM_BUSES] = { [BUS_L2] = c->l2_bandwidth, [BUS_L3] = c->l3_bandwidth, [BUS_MEMORY] = c->memory_bandwidth };

	if (bus == BUS_WALKS)
		return (double)c->page_walk_latency / (c->page_walks ? c->page_walks : 1);
	return bandwidth[bus] ? (double)((c->line_size + bandwidth[bus] - 1) / bandwidth[bus]) : 0;
}

static void prepare_resources(struct stream *s)
{
	size_t units, buses;

	gus_stream_resources_of(s->p, &s->resources);
	units = s->resources.n;
	buses = units + STREAM_UNITS;
	s->resources_n = buses + STREAM_BUSES;
	s->inverse = gus_zalloc(s->resources_n * sizeof(*s->inverse));
	for (size_t lane = 0; lane < GUS_STREAM_LANES; lane++) {
		for (size_t i = 0; i < units; i++)
			s->inverse[i][lane] = ticks(1.0 / __builtin_popcountll(s->resources.ports[i]),
						    weight_of(s->o, lane, GUS_KNOB_PORTS, (uint32_t)i));
		for (size_t i = units; i < buses; i++)
			s->inverse[i][lane] = ticks(1, weight_of(s->o, lane, GUS_KNOB_UNITS, (uint32_t)(i - units)));
		for (unsigned bus = 0; bus < STREAM_BUSES; bus++)
			s->inverse[buses + bus][lane] = ticks(bus_cycles(s->c, bus), bus == BUS_WALKS ?
				weight_of(s->o, lane, GUS_KNOB_TLB, 1) : weight_of(s->o, lane, GUS_KNOB_BANDWIDTH, GUS_HIT_L2 + bus));
	}
}

static void prepare_memory(struct stream *s)
{
	const uint32_t levels[GUS_HITS] = { 0, s->c->l2_latency, s->c->l3_latency, s->c->memory_latency };

	for (size_t lane = 0; lane < GUS_STREAM_LANES; lane++) {
		for (uint32_t level = 0; level < GUS_HITS; level++)
			s->levels[level][lane] = ticks(levels[level], weight_of(s->o, lane, GUS_KNOB_LEVEL_LATENCY, level));
		s->tlb[lane] = ticks(s->c->stlb_latency, weight_of(s->o, lane, GUS_KNOB_TLB, 0));
		s->walk[lane] = ticks(s->c->page_walk_latency, weight_of(s->o, lane, GUS_KNOB_TLB, 1));
		s->penalty[lane] = ticks(s->c->mispredict_penalty, weight_of(s->o, lane, GUS_KNOB_MISPREDICT, 0));
		s->drain[lane] = ticks(s->c->l1d_stores ? 1.0 / s->c->l1d_stores : 0, weight_of(s->o, lane, GUS_KNOB_STORES, 0));
	}
}

static void prepare_uops(struct stream *s)
{
	const struct gus_program *p = s->p;

	s->uops = gus_zalloc((p->uops_n + 1) * sizeof(*s->uops));
	for (uint32_t i = 0; i < p->uops_n; i++) {
		const struct gus_uop *u = &p->uops[i];

		s->uops[i].use = (uint32_t)s->uses.n;
		for (size_t g = 0; u->ports && g < s->resources.n; g++)
			if (!(u->ports & ~s->resources.ports[g]))
				gus_vec_push(&s->uses, (struct stream_use){ (uint16_t)g, u->port_cycles ? u->port_cycles : 1 });
		if (u->unit)
			gus_vec_push(&s->uses, (struct stream_use){ (uint16_t)(s->resources.n + u->unit % STREAM_UNITS), u->unit_cycles });
		s->uops[i].uses_n = (uint32_t)s->uses.n - s->uops[i].use;
	}
}

static void prepare_latencies(struct stream *s)
{
	const struct gus_program *p = s->p;

	s->flows = gus_zalloc((p->flows_n + 1) * sizeof(*s->flows));
	s->latency = gus_zalloc((p->uops_n + 1) * sizeof(*s->latency));
	for (uint32_t i = 0; i < p->ops_n; i++)
		for (uint32_t n = 0; n < p->ops[i].uops_n; n++) {
			uint32_t at = p->ops[i].uop + n;
			const struct gus_uop *u = &p->uops[at];
			uint32_t class = p->insns[p->ops[i].insn].info.class;

			for (size_t lane = 0; lane < GUS_STREAM_LANES; lane++) {
				double weight = u->kind == GUS_UOP_LOAD ? weight_of(s->o, lane, GUS_KNOB_LOAD_LATENCY, 0) :
					weight_of(s->o, lane, GUS_KNOB_LATENCY, class);

				for (unsigned f = 0; f < u->in_n; f++)
					s->flows[u->in + f][lane] = ticks(p->flows[u->in + f].cycles, weight);
				for (unsigned f = 0; f < u->out_n; f++)
					s->flows[u->out + f][lane] = ticks(p->flows[u->out + f].cycles, weight);
				s->latency[at][lane] = ticks(u->latency, weight);
			}
		}
}

void gus_stream_front_costs(const struct gus_core_config *c, enum gus_core_fetch mode,
			    const struct gus_op *op, double costs[FRONTS])
{
	double decode;

	costs[FRONT_ISSUE] = (double)op->slots / c->issue_width;
	costs[FRONT_DECODE] = costs[FRONT_FETCH] = costs[FRONT_UOP_CACHE] = 0;
	if (mode == GUS_CORE_FETCH_DECODERS) {
		decode = 1.0 / c->decode_width;
		/* A complex instruction needs the first decoder: with few others between two of them, half a cycle is lost. */
		if ((op->flags & GUS_OP_COMPLEX) && c->decode_complex && decode < 0.5 / c->decode_complex)
			decode = 0.5 / c->decode_complex;
		costs[FRONT_DECODE] = decode + (double)op->microcoded / c->microcode_width;
		costs[FRONT_FETCH] = 1;
	} else if (mode == GUS_CORE_FETCH_UOP_CACHE) {
		costs[FRONT_UOP_CACHE] = (double)(op->decoded + op->microcoded) / c->uop_cache_width;
	}
}

/* All parts of the front end get faster together: more of them would be more of each. */
static void prepare_ops(struct stream *s, const struct gus_core_options *like)
{
	const struct gus_program *p = s->p;
	enum gus_core_fetch mode = gus_frontend_mode(p, s->c, like);

	s->ops = gus_zalloc(p->ops_n * sizeof(*s->ops));
	s->fronts = gus_zalloc(FRONTS * p->ops_n * sizeof(*s->fronts));
	s->retires = gus_zalloc(p->ops_n * sizeof(*s->retires));
	for (uint32_t i = 0; i < p->ops_n; i++) {
		const struct gus_op *op = &p->ops[i];
		struct stream_op *to = &s->ops[i];
		double costs[FRONTS];

		gus_stream_front_costs(s->c, mode, op, costs);
		for (unsigned f = 0; f < FRONTS; f++)
			to->front[f] = costs[f] > 0;
		for (size_t lane = 0; lane < GUS_STREAM_LANES; lane++) {
			for (unsigned f = 0; f < FRONTS; f++)
				s->fronts[FRONTS * i + f][lane] = ticks(costs[f], weight_of(s->o, lane, GUS_KNOB_ISSUE, 0));
			s->retires[i][lane] = ticks((double)op->slots / s->c->retire_width,
						    weight_of(s->o, lane, GUS_KNOB_RETIRE, 0));
		}
		to->window[WINDOW_ROB] = (uint8_t)(op->rob < 255 ? op->rob : 255);
		to->window[WINDOW_LOADS] = op->loads;
		to->window[WINDOW_STORES] = op->stores;
		for (uint32_t u = 0; u < op->uops_n && !(op->flags & GUS_OP_ELIMINATED) && to->waiting < 255; u++)
			to->waiting = (uint8_t)(to->waiting + (s->uops[op->uop + u].uses_n != 0));
	}
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
	s->sizes[w][i].lanes |= 1u << lane;
	return true;
}

/* What an op may take at once is what a ring needs beyond the size. */
static uint64_t most_taken(const struct stream *s, unsigned w)
{
	uint64_t most = 1;

	for (uint32_t i = 0; i < s->p->ops_n; i++) {
		uint64_t n = w < STREAM_IN_ORDER ? s->ops[i].window[w] : w == WINDOW_RS ? s->ops[i].waiting : s->p->ops[i].memories_n;

		most = n > most ? n : most;
	}
	return most;
}

static int prepare_windows(struct stream *s, struct gus_error *err)
{
	static const enum gus_knob_kind kinds[STREAM_WINDOWS] = { GUS_KNOB_ROB, GUS_KNOB_LOAD_BUFFER, GUS_KNOB_STORE_BUFFER,
		GUS_KNOB_RS, GUS_KNOB_MISS_BUFFERS };
	const uint32_t nominal[STREAM_WINDOWS] = { s->c->rob, s->c->load_buffer, s->c->store_buffer, s->c->rs, s->c->l1d_misses };

	for (unsigned w = 0; w < STREAM_WINDOWS; w++) {
		uint64_t largest = 0, ring = 1;

		for (size_t lane = 0; lane < GUS_STREAM_LANES && nominal[w]; lane++) {
			double weight = weight_of(s->o, lane, kinds[w], 0);
			uint64_t size = weight > 0 ? (uint64_t)llround(nominal[w] * weight) : 0;

			if (!size)
				continue; /* without limit */
			if (w == WINDOW_RS) /* the others are in the exchange, see stream_kernel.h */
				size = size > STREAM_LATE ? size - STREAM_LATE : 1;
			if (!add_size(s, w, size, lane))
				return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: the lanes have more than %d sizes of one window",
						STREAM_SIZES);
			largest = size > largest ? size : largest;
		}
		while (ring < largest + most_taken(s, w) + 1)
			ring *= 2;
		s->mask[w] = ring - 1;
	}
	return 0;
}

static void finish(struct stream *s)
{
	free(s->ops);
	free(s->uops);
	gus_vec_free(&s->uses);
	free(s->inverse);
	free(s->flows);
	free(s->latency);
	free(s->fronts);
	free(s->retires);
}

static int check(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		 struct gus_error *err)
{
	if (!p->ops_n)
		return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: the program is empty");
	if (!c->issue_width || !c->retire_width)
		return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: issue_width and retire_width must be at least 1");
	if (o->lanes_n > GUS_STREAM_LANES)
		return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: %zu lanes, and a pass has %d", o->lanes_n,
				GUS_STREAM_LANES);
	return 0;
}

enum { CACHED_OPS = 300000 };

uint64_t gus_stream_enough(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_memory *memory)
{
	uint64_t slots = 0, ops = 4 * (c->rob ? c->rob : 512);

	for (uint32_t i = 0; i < p->ops_n; i++)
		slots += p->ops[i].slots;
	if (memory && memory->begin)
		return 2 * (CACHED_OPS / (p->ops_n ? p->ops_n : 1) + 1);
	return 2 * (ops / (slots ? slots : 1) + 32);
}

/* Of several lanes the widest kernel; a single one needs no vectors. */
static const struct stream_kernel *choose(size_t lanes)
{
	const struct stream_kernel *k = gus_stream_kernels;

	while (k->lanes > 1 && (lanes == 1 || !k->supported()))
		k++;
	return k;
}

/* Runs all lanes through the same steps: a chunk at a time, which is resolved once and stays in the cache. */
struct passes {
	const struct stream_kernel *kernel;
	const struct stream *s;
	struct stream_resolver *resolver;
	void *states[GUS_STREAM_LANES];
	size_t n;
	uint64_t chunks;
};

static void open_passes(struct passes *all, const struct stream *s)
{
	*all = (struct passes){ .kernel = choose(s->lanes), .s = s, .resolver = gus_alloc(sizeof(*all->resolver)) };
	gus_stream_resolver_open(all->resolver, s);
	for (; all->n * all->kernel->lanes < s->lanes; all->n++)
		all->states[all->n] = all->kernel->open(s, (unsigned)(all->n * all->kernel->lanes));
}

static void close_passes(struct passes *all)
{
	for (size_t i = 0; i < all->n; i++)
		all->kernel->close(all->states[i]);
	gus_stream_resolver_close(all->resolver);
	free(all->resolver);
}

/* Every other stretch goes without the log: what is there of older ops in it is then out of its reader's reach, as if it were the
 * beginning of a run. */
static struct gus_stream_log *log_of_chunk(struct passes *all)
{
	struct gus_stream_log *log = all->s->o->log;

	if (!log || all->chunks / log->stretch % 2) {
		if (log)
			log->skipped += all->resolver->n;
		return NULL;
	}
	if (all->chunks && all->chunks % log->stretch == 0)
		log->resume(log);
	return log;
}

static void run_chunk(struct passes *all, const struct gus_core_step *steps, size_t n)
{
	struct gus_stream_log *log;

	gus_stream_resolve(all->resolver, steps, n);
	log = log_of_chunk(all);
	for (size_t i = 0; i < all->n; i++)
		all->kernel->run(all->states[i], all->s, all->resolver, i ? NULL : log);
	if (log)
		log->read(log, all->s);
	all->chunks++;
}

static void run_iterations(struct passes *all, uint64_t iterations)
{
	uint64_t n;

	for (uint64_t left = iterations * all->s->p->ops_n; left; left -= n) {
		n = left < STREAM_CHUNK ? left : STREAM_CHUNK;
		run_chunk(all, NULL, n);
	}
}

static void read_passes(const struct passes *all, int64_t *ticks_of)
{
	for (size_t i = 0; i < all->n; i++)
		all->kernel->now(all->states[i], ticks_of + i * all->kernel->lanes);
}

static void run_source(struct passes *all, struct gus_stream_result *r)
{
	const struct gus_core_source *source = all->s->o->source;
	struct gus_core_step *steps = gus_alloc(STREAM_CHUNK * sizeof(*steps));
	size_t n;

	do {
		for (n = 0; n < STREAM_CHUNK; n++) {
			steps[n] = (struct gus_core_step){ 0 };
			if (!source->next(source->context, &steps[n]))
				break;
			r->instructions += all->s->p->ops[steps[n].op].insns_n;
			r->iterations += steps[n].last;
		}
		run_chunk(all, steps, n);
	} while (n == STREAM_CHUNK);
	free(steps);
}

static void run_all(const struct stream *s, uint64_t iterations, struct gus_stream_result *r)
{
	struct passes all;
	int64_t half[GUS_STREAM_LANES + 16] = { 0 }, whole[GUS_STREAM_LANES + 16] = { 0 };
	uint64_t half_at = 0;

	open_passes(&all, s);
	if (s->o->source) {
		run_source(&all, r);
	} else {
		half_at = iterations / 2;
		run_iterations(&all, half_at);
		read_passes(&all, half);
		run_iterations(&all, iterations - half_at);
		r->iterations = iterations;
		r->instructions = iterations * s->p->insns_n;
	}
	read_passes(&all, whole);
	close_passes(&all);
	for (size_t lane = 0; lane < s->lanes; lane++) {
		r->cycles[lane] = (double)whole[lane] / GUS_STREAM_TICKS;
		if (r->iterations > half_at)
			r->per_iteration[lane] = (double)(whole[lane] - half[lane]) / GUS_STREAM_TICKS /
				(double)(r->iterations - half_at);
	}
}

int gus_stream_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		   struct gus_stream_result *r, struct gus_error *err)
{
	struct stream s = { .p = p, .c = c, .o = o, .lanes = o->lanes_n ? o->lanes_n : 1 };
	struct gus_core_options like = { .unrolled = o->unrolled, .source = o->source, .fetch = o->fetch };
	uint64_t iterations = o->iterations ? o->iterations : gus_stream_enough(p, c, o->memory);
	int status;

	*r = (struct gus_stream_result){ .lanes = s.lanes };
	if (check(p, c, o, err) != 0)
		return -1;
	if (o->memory && o->memory->begin)
		o->memory->begin(o->memory->context);
	prepare_resources(&s);
	prepare_uops(&s);
	prepare_latencies(&s);
	prepare_memory(&s);
	prepare_ops(&s, &like);
	status = prepare_windows(&s, err);
	if (status == 0)
		run_all(&s, iterations, r);
	finish(&s);
	return status;
}
