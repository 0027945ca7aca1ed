/* SPDX-License-Identifier: MIT */
#include "model/analysis/bounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/values.h"
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
	struct gus_core_options options = { .fetch = which == GUS_BOUND_UOP_CACHE ? GUS_CORE_FETCH_UOP_CACHE :
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
 * uop that is nobody's. */
static size_t loads_of(const struct gus_program *p, struct load *loads)
{
	size_t n = 0;

	for (uint32_t op = 0; op < p->ops_n; op++)
		for (uint32_t i = 0; i < p->ops[op].uops_n; i++) {
			const struct gus_uop *u = &p->uops[p->ops[op].uop + i];
			size_t k = 0;

			if (!u->ports)
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

/* Dependencies: times without any resource. In the long run each register's time grows by the longest cycle that
 * feeds it. */

enum { ROUNDS = 96, WORDS = 64 };

struct times {
	double reg[GUS_PROGRAM_REGS];
	struct { uint64_t address; uint32_t bytes; double time; } words[WORDS]; /* the youngest stores */
	size_t words_n;
	struct gus_values values;
};

static double stored_at(const struct times *t, struct gus_value address, uint32_t bytes)
{
	for (size_t i = t->words_n; address.known && i-- > (t->words_n > WORDS ? t->words_n - WORDS : 0);) {
		uint64_t apart = address.bits - t->words[i % WORDS].address;

		if (apart < t->words[i % WORDS].bytes || -apart < bytes)
			return t->words[i % WORDS].time;
	}
	return 0;
}

static void run_uop(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		    struct times *t, const struct gus_op *op, const struct gus_uop *u)
{
	const struct gus_flow *in = &p->flows[u->in], *out = &p->flows[u->out];
	double start = 0, result = 0;
	struct gus_value address = { 0, false };

	for (unsigned i = 0; i < u->in_n; i++)
		if (t->reg[in[i].reg] - in[i].cycles > start)
			start = t->reg[in[i].reg] - in[i].cycles;
	if (u->kind != GUS_UOP_COMPUTE && u->kind != GUS_UOP_NONE && u->memory < op->memories_n &&
	    o->pointers != GUS_CORE_POINTERS_NONE)
		address = gus_values_address(&t->values, p, op->memory + u->memory);
	if (u->kind == GUS_UOP_LOAD && address.known) {
		double data = stored_at(t, address, p->memories[op->memory + u->memory].bytes);

		if (data)
			result = data + (c->store_forward_zero ? 0 : c->store_forward_latency);
	}
	for (unsigned i = 0; i < u->out_n; i++) {
		double ready = start + out[i].cycles;

		t->reg[out[i].reg] = ready > result ? ready : result;
	}
	if (u->kind == GUS_UOP_STORE_DATA && address.known) {
		t->words[t->words_n % WORDS].address = address.bits;
		t->words[t->words_n % WORDS].bytes = p->memories[op->memory + u->memory].bytes;
		t->words[t->words_n++ % WORDS].time = start;
	}
}

static void run_op(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		   struct times *t, const struct gus_op *op)
{
	if (op->flags & GUS_OP_ELIMINATED) {
		double from = t->reg[op->move_from];

		for (unsigned k = 0; k < op->uops_n; k++)
			for (unsigned i = 0; i < p->uops[op->uop + k].out_n; i++)
				t->reg[p->flows[p->uops[op->uop + k].out + i].reg] = from;
	} else {
		for (unsigned k = 0; k < op->uops_n; k++)
			run_uop(p, c, o, t, op, &p->uops[op->uop + k]);
	}
	for (unsigned k = 0; k < op->insns_n; k++)
		gus_values_step(&t->values, op->insn + k,
				(struct gus_value){ t->values.memory.bits, t->values.memory.known });
}

static void dependencies_bound(const struct gus_program *p, const struct gus_core_config *c,
			       const struct gus_core_options *o, struct gus_bounds *b)
{
	struct times *t = gus_zalloc(sizeof(*t));
	double half[GUS_PROGRAM_REGS] = { 0 };

	gus_values_begin(&t->values, p, o->pointers);
	for (unsigned round = 0; round < ROUNDS; round++) {
		if (round == ROUNDS / 2)
			memcpy(half, t->reg, sizeof(half));
		for (uint32_t i = 0; i < p->ops_n; i++)
			run_op(p, c, o, t, &p->ops[i]);
	}
	gus_values_end(&t->values);
	for (unsigned r = 0; r < GUS_PROGRAM_REGS; r++) {
		double grown = (t->reg[r] - half[r]) / (ROUNDS / 2);

		if (grown > b->cycles[GUS_BOUND_DEPENDENCIES])
			b->cycles[GUS_BOUND_DEPENDENCIES] = grown;
	}
	free(t);
}

int gus_bounds_of(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		  struct gus_bounds *b, struct gus_error *err)
{
	static const enum gus_bound fronts[] = { GUS_BOUND_PREDECODE, GUS_BOUND_DECODE, GUS_BOUND_UOP_CACHE };
	enum gus_core_fetch mode = gus_frontend_mode(p, c, o);
	struct gus_program *idle;
	uint64_t slots = 0;

	*b = (struct gus_bounds){ 0 };
	for (uint32_t i = 0; i < p->ops_n; i++)
		slots += p->ops[i].slots;
	b->cycles[GUS_BOUND_ISSUE] = (double)slots / c->issue_width;
	if (mode == GUS_CORE_FETCH_LOOP && c->loop_boundary)
		b->cycles[GUS_BOUND_ISSUE] = (double)((slots + c->issue_width - 1) / c->issue_width);
	b->cycles[GUS_BOUND_RETIRE] = (double)slots / c->retire_width;
	ports_bound(p, b);
	units_bound(p, b);
	dependencies_bound(p, c, o, b);
	idle = idle_program(p);
	for (size_t i = 0; i < sizeof(fronts) / sizeof(*fronts); i++) {
		bool used = mode == (fronts[i] == GUS_BOUND_UOP_CACHE ? GUS_CORE_FETCH_UOP_CACHE :
				     GUS_CORE_FETCH_DECODERS);

		b->cycles[fronts[i]] = -1;
		if (used && front_end(idle, c, o, fronts[i], &b->cycles[fronts[i]], err) != 0) {
			gus_program_free(idle);
			return -1;
		}
	}
	gus_program_free(idle);
	return 0;
}
