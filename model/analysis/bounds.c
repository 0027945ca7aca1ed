/* SPDX-License-Identifier: MIT */
#include "model/analysis/bounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/analysis/dataflow.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/core/frontend.h"

const char *gus_bound_name(enum gus_bound bound)
{
	static const char *const names[GUS_BOUNDS] = {
		[GUS_BOUND_PREDECODE] = "predecode", [GUS_BOUND_DECODE] = "decode", [GUS_BOUND_UOP_CACHE] = "uop_cache",
		[GUS_BOUND_ISSUE] = "issue", [GUS_BOUND_PORTS] = "ports", [GUS_BOUND_UNITS] = "units",
		[GUS_BOUND_DEPENDENCIES] = "dependencies", [GUS_BOUND_RETIRE] = "retire",
	};

	return names[bound];
}

/* The front end alone: uops that need nothing, and a back end that takes them as they come. */

static struct gus_program *idle_program(const struct gus_program *p)
{
	struct gus_program *idle = gus_program_copy(p);

	for (uint32_t i = 0; i < idle->uops_n; i++) {
		idle->uops[i].ports = 0;
		idle->uops[i].in_n = idle->uops[i].out_n = 0;
		idle->uops[i].kind = GUS_UOP_NONE;
	}
	for (uint32_t i = 0; i < idle->ops_n; i++)
		idle->ops[i].flags &= (uint16_t)~(GUS_OP_SERIALISING | GUS_OP_ELIMINATED);
	return idle;
}

static int front_end(const struct gus_program *idle, const struct gus_core_config *c, const struct gus_core_options *o,
		     enum gus_bound which, double *cycles, struct gus_error *err)
{
	struct gus_core_config config = *c;
	struct gus_core_options options = { .fetch = which == GUS_BOUND_UOP_CACHE ? gus_frontend_mode(idle, c, o) :
		GUS_CORE_FETCH_DECODERS, .pointers = GUS_CORE_POINTERS_NONE, .unrolled = o->unrolled };
	struct gus_core_result r;

	gus_core_config_infinite(&config);
	config.issue_width = config.retire_width = 1000;
	config.queue_size = 0;
	if (which == GUS_BOUND_PREDECODE) {
		config.decode_width = 64;
		config.decode_uops = config.decode_complex = 0;
		config.decode_fuse_last = 1;
		config.decode_branch_last = config.decode_pop_5c = 0;
		config.microcode_width = 1000000;
		config.microcode_switch = config.microcode_switch_decoders = 0;
	} else if (which == GUS_BOUND_DECODE) {
		config.predecode_width = 64;
		config.fetch_bytes = 4096;
		config.lcp_penalty = 0;
	}
	if (gus_core_run(idle, &config, &options, &r, err) != 0)
		return -1;
	*cycles = r.steady_iterations ? (double)r.steady_cycles / (double)r.steady_iterations : -1;
	return 0;
}

/* Ports: of all sets of ports, the one whose own uops fill it most. Only unions of what uops may take can be that.
 * Its ports are then full in any distribution; the others are filled in the same way with what is left. */

enum { SETS = 4096 };

struct load {
	uint64_t ports;
	double cycles;
};

static size_t add_set(uint64_t *sets, size_t n, uint64_t set)
{
	for (size_t i = 0; i < n; i++)
		if (sets[i] == set)
			return n;
	if (n < SETS)
		sets[n++] = set;
	return n;
}

/* How many cycles the set of ports that is filled most needs, and which it is. That is how long the best
 * distribution takes: by the theorem of maximum flow and minimum cut, uops fit into T cycles if for each set of
 * ports those that can go nowhere else are no more than T a port. */
static double tightest(const struct load *loads, size_t n, uint64_t *ports)
{
	uint64_t *sets = gus_alloc(SETS * sizeof(*sets));
	size_t sets_n = 0;
	double most = 0;

	*ports = 0;
	for (size_t i = 0; i < n; i++) {
		size_t before = sets_n;

		if (!loads[i].ports)
			continue;
		sets_n = add_set(sets, sets_n, loads[i].ports);
		for (size_t k = 0; k < before; k++)
			sets_n = add_set(sets, sets_n, sets[k] | loads[i].ports);
	}
	for (size_t s = 0; s < sets_n; s++) {
		double cycles = 0;

		for (size_t i = 0; i < n; i++)
			if (loads[i].ports && (loads[i].ports & ~sets[s]) == 0)
				cycles += loads[i].cycles;
		cycles /= __builtin_popcountll(sets[s]);
		if (cycles > most + 1e-12) {
			most = cycles;
			*ports = sets[s];
		}
	}
	free(sets);
	return most;
}

/* The program's uops by the ports that they may take. They are asked of the ops: a branch that was fused leaves a
 * uop that is nobody's. A move that the renamer may do takes no port. */
static size_t loads_of(const struct gus_program *p, struct load *loads)
{
	size_t n = 0;

	for (uint32_t op = 0; op < p->ops_n; op++)
		for (uint32_t i = 0; i < p->ops[op].uops_n; i++) {
			const struct gus_uop *u = &p->uops[p->ops[op].uop + i];
			size_t k = 0;

			if (!u->ports || (p->ops[op].flags & GUS_OP_ELIMINATED))
				continue;
			while (k < n && loads[k].ports != u->ports)
				k++;
			loads[k].ports = u->ports;
			loads[k].cycles += u->port_cycles ? u->port_cycles : 1;
			n += k == n;
		}
	return n;
}

static void ports_bound(const struct gus_program *p, struct gus_bounds *b)
{
	struct load *loads = gus_zalloc((p->uops_n + 1) * sizeof(*loads));
	size_t n = loads_of(p, loads);
	bool first = true;

	for (;;) {
		uint64_t set;
		double cycles = tightest(loads, n, &set);

		if (!set)
			break;
		if (first) {
			b->cycles[GUS_BOUND_PORTS] = cycles;
			b->ports = set;
			first = false;
		}
		for (unsigned port = 0; port < GUS_CORE_PORTS; port++)
			if (set >> port & 1)
				b->port[port] = cycles;
		for (size_t i = 0; i < n; i++)
			loads[i].ports = (loads[i].ports & ~set) ? loads[i].ports & ~set : 0;
	}
	free(loads);
}

static void units_bound(const struct gus_program *p, struct gus_bounds *b)
{
	double busy[256] = { 0 };

	for (uint32_t op = 0; op < p->ops_n; op++)
		for (uint32_t i = 0; i < p->ops[op].uops_n; i++)
			if (p->uops[p->ops[op].uop + i].unit)
				busy[p->uops[p->ops[op].uop + i].unit] += p->uops[p->ops[op].uop + i].unit_cycles;
	for (unsigned i = 0; i < 256; i++)
		if (busy[i] > b->cycles[GUS_BOUND_UNITS])
			b->cycles[GUS_BOUND_UNITS] = busy[i];
}

/* Memory is told apart only where it is the dependences that limit: who asks is whoever names the limit. */
static void dependencies_bound(const struct gus_program *p, const struct gus_core_config *c,
			       const struct gus_core_options *o, struct gus_bounds *b)
{
	double all = gus_dataflow_bound(p, c, o->pointers);

	b->cycles[GUS_BOUND_DEPENDENCIES] = b->registers = all;
	if (all > 0 && p->memories_n && o->pointers != GUS_CORE_POINTERS_NONE)
		b->registers = gus_dataflow_bound(p, c, GUS_CORE_POINTERS_NONE);
}

void gus_bounds_behind_front_end(const struct gus_program *p, const struct gus_core_config *c,
				 const struct gus_core_options *o, struct gus_bounds *b)
{
	uint32_t slots = gus_program_slots(p), turns = gus_frontend_unroll(p, c); /* that the loop buffer has as one */

	*b = (struct gus_bounds){ 0 };
	b->cycles[GUS_BOUND_PREDECODE] = b->cycles[GUS_BOUND_DECODE] = b->cycles[GUS_BOUND_UOP_CACHE] = -1;
	b->cycles[GUS_BOUND_ISSUE] = (double)slots / c->issue_width;
	if (turns && gus_frontend_mode(p, c, o) == GUS_CORE_FETCH_LOOP)
		b->cycles[GUS_BOUND_ISSUE] = (double)((slots * turns + c->issue_width - 1) / c->issue_width) / turns;
	b->cycles[GUS_BOUND_RETIRE] = (double)slots / c->retire_width;
	ports_bound(p, b);
	units_bound(p, b);
	dependencies_bound(p, c, o, b);
}

int gus_bounds_of(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		  struct gus_bounds *b, struct gus_error *err)
{
	static const enum gus_bound fronts[] = { GUS_BOUND_PREDECODE, GUS_BOUND_DECODE, GUS_BOUND_UOP_CACHE };
	enum gus_core_fetch mode = gus_frontend_mode(p, c, o);
	struct gus_program *idle = idle_program(p);
	int rc = 0;

	gus_bounds_behind_front_end(p, c, o, b);
	for (size_t i = 0; i < sizeof(fronts) / sizeof(*fronts) && rc == 0; i++) {
		bool cache = mode == GUS_CORE_FETCH_UOP_CACHE || mode == GUS_CORE_FETCH_MIXED;

		if (fronts[i] == GUS_BOUND_UOP_CACHE ? cache : mode == GUS_CORE_FETCH_DECODERS)
			rc = front_end(idle, c, o, fronts[i], &b->cycles[fronts[i]], err);
	}
	gus_program_free(idle);
	return rc;
}

void gus_bounds_confirm(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
			double cycles, struct gus_bounds *b)
{
	enum { LONG = 4096 }; /* iterations: a byte each, and all of a page has been walked */
	double *all = &b->cycles[GUS_BOUND_DEPENDENCIES], grown;

	if (cycles >= *all || o->pointers == GUS_CORE_POINTERS_NONE)
		return;
	grown = gus_dataflow_growth(p, c, o->pointers, LONG);
	*all = grown < *all ? grown : *all;
	b->registers = *all < b->registers ? *all : b->registers; /* a word that is renamed waits for no register */
}

/* Those that hold whatever comes from where, and in which order. */
static const enum gus_bound hard[] = { GUS_BOUND_DEPENDENCIES, GUS_BOUND_PORTS, GUS_BOUND_UNITS, GUS_BOUND_RETIRE };

/* The core engine's runs may end before they are periodic (a hundredth). The stream engine's figure is the mean of half
 * a run: where two limits are nearly alike the second one is not felt before its queue is full, and stores whose words
 * share a place of its table lose each other (model/stream/resolve.c). */
static const double tolerances[] = { 0.01, 0.04 };

enum gus_bound gus_bounds_broken(const struct gus_bounds *b, double cycles, bool stream)
{
	for (size_t i = 0; i < sizeof(hard) / sizeof(*hard); i++)
		if (cycles < b->cycles[hard[i]] * (1 - tolerances[stream]))
			return hard[i];
	return GUS_BOUNDS;
}

const char *gus_bottleneck_name(enum gus_bottleneck bottleneck)
{
	static const char *const names[GUS_BOTTLENECKS] = {
		[GUS_BOTTLENECK_ISSUE] = "issue", [GUS_BOTTLENECK_PORTS] = "ports", [GUS_BOTTLENECK_UNITS] = "units",
		[GUS_BOTTLENECK_DEPENDENCIES] = "dependencies", [GUS_BOTTLENECK_FORWARDING] = "forwarding",
		[GUS_BOTTLENECK_FRONT_END] = "front_end", [GUS_BOTTLENECK_MIXED] = "mixed",
	};

	return names[bottleneck];
}

enum gus_bottleneck gus_bounds_bottleneck(const struct gus_bounds *b, double cycles, bool decoders)
{
	static const enum gus_bottleneck limits[GUS_BOUNDS] = {
		[GUS_BOUND_ISSUE] = GUS_BOTTLENECK_ISSUE, [GUS_BOUND_RETIRE] = GUS_BOTTLENECK_ISSUE,
		[GUS_BOUND_PORTS] = GUS_BOTTLENECK_PORTS, [GUS_BOUND_UNITS] = GUS_BOTTLENECK_UNITS,
		[GUS_BOUND_DEPENDENCIES] = GUS_BOTTLENECK_DEPENDENCIES,
	};
	enum gus_bound most = GUS_BOUND_ISSUE;

	for (enum gus_bound i = GUS_BOUND_ISSUE; i < GUS_BOUNDS; i++)
		if (b->cycles[i] > b->cycles[most])
			most = i;
	/* A twentieth: what order and finite buffers add where one limit is all that matters. */
	if (cycles > b->cycles[most] * 1.05)
		return decoders ? GUS_BOTTLENECK_FRONT_END : GUS_BOTTLENECK_MIXED;
	return most == GUS_BOUND_DEPENDENCIES && b->registers < b->cycles[most] * 0.95 ? GUS_BOTTLENECK_FORWARDING :
		limits[most];
}
