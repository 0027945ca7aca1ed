/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/turned.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/program.h"
#include "model/machine/config.h"

bool turned_is_slow(const struct gus_knob *knob)
{
	return knob->kind == GUS_KNOB_LATENCY || knob->kind == GUS_KNOB_LOAD_LATENCY || knob->kind == GUS_KNOB_UNITS;
}

/* At half the pace. What can come to nothing, and would then be no limit, stays at one. */

static uint32_t half(uint32_t width)
{
	return width > 1 ? width / 2 : width;
}

static void slow_config(struct gus_core_config *c)
{
	uint32_t *widths[] = { &c->issue_width, &c->retire_width, &c->predecode_width, &c->decode_width,
		&c->decode_uops,
		&c->decode_complex, &c->microcode_width, &c->uop_cache_width, &c->l1d_stores };
	uint32_t *times[] = { &c->issue_delay, &c->l1d_latency, &c->store_forward_latency, &c->store_forward_vector,
		&c->store_forward_blocked, &c->line_split_penalty, &c->alias_penalty, &c->mispredict_penalty,
			&c->microcode_switch,
		&c->lcp_penalty, &c->l2_latency, &c->l3_latency, &c->memory_latency, &c->stlb_latency,
			&c->page_walk_latency };

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
		*widths[i] = half(*widths[i]);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		*times[i] *= 2;
}

static bool is_turned(const struct gus_knob *knob, const struct gus_uop *u, uint32_t class)
{
	if (u->kind == GUS_UOP_LOAD)
		return knob->kind == GUS_KNOB_LOAD_LATENCY;
	return knob->kind == GUS_KNOB_LATENCY && knob->number == class;
}

static void slow_uop(struct gus_program *p, struct gus_uop *u, const struct gus_knob *knob, uint32_t class)
{
	u->port_cycles = (uint16_t)(2 * (u->port_cycles ? u->port_cycles : 1));
	if (knob->kind != GUS_KNOB_UNITS || knob->number != u->unit % 32)
		u->unit_cycles *= 2;
	if (is_turned(knob, u, class))
		return;
	u->latency *= 2;
	for (unsigned i = 0; i < u->in_n; i++)
		p->flows[u->in + i].cycles *= 2;
	for (unsigned i = 0; i < u->out_n; i++)
		p->flows[u->out + i].cycles *= 2;
}

static void slow_program(struct gus_program *p, const struct gus_knob *knob)
{
	for (uint32_t i = 0; i < p->ops_n; i++)
		for (uint32_t n = 0; n < p->ops[i].uops_n; n++)
			slow_uop(p, &p->uops[p->ops[i].uop + n], knob, p->insns[p->ops[i].insn].info.class);
}

/* Ports. */

/* As many new ports as the mask has, with the names of the old ones (which decide about schedulers). 0 if there is no
 * room. */
static uint64_t add_ports(struct gus_program *p, uint64_t like, uint8_t *copy_of)
{
	uint32_t n = (uint32_t)__builtin_popcountll(like);
	uint64_t made = 0;
	const char **names;

	if (p->ports_n + n > GUS_CORE_PORTS)
		return 0;
	names = gus_alloc((p->ports_n + n) * sizeof(*names));
	memcpy(names, p->port_names, p->ports_n * sizeof(*names));
	for (; like; like &= like - 1) {
		uint32_t old = (uint32_t)__builtin_ctzll(like);

		names[p->ports_n] = p->port_names[old];
		copy_of[p->ports_n] = (uint8_t)old;
		made |= 1ull << p->ports_n++;
	}
	free((void *)p->port_names);
	p->port_names = names;
	return made;
}

/* The parts of a group: the largest groups within it that are not the whole. */
static size_t parts_of(const struct gus_stream_resources *r, uint64_t group, uint64_t *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		bool largest = r->ports[i] != group && !(r->ports[i] & ~group);

		for (size_t k = 0; k < r->n && largest; k++)
			if (k != i && r->ports[k] != group && !(r->ports[k] & ~group) && r->ports[k] != r->ports[i] &&
			    !(r->ports[i] & ~r->ports[k]))
				largest = false;
		if (largest)
			parts[n++] = r->ports[i];
	}
	return n;
}

/* The part that a uop belongs to: of several the one with the fewest ports. */
static size_t part_of(const uint64_t *parts, size_t n, uint64_t ports)
{
	size_t best = n;

	for (size_t i = 0; i < n; i++)
		if (!(ports & ~parts[i]) &&
		    (best == n || __builtin_popcountll(parts[i]) < __builtin_popcountll(parts[best])))
			best = i;
	return best;
}

static uint64_t mapped(uint64_t ports, uint64_t made, const uint8_t *copy_of)
{
	uint64_t result = 0;

	for (; made; made &= made - 1)
		if (ports >> copy_of[__builtin_ctzll(made)] & 1)
			result |= made & -made;
	return result;
}

static bool double_ports(struct gus_program *p, uint64_t group, const struct gus_stream_resources *r)
{
	uint64_t parts[GUS_STREAM_GROUPS], own[GUS_STREAM_GROUPS] = { 0 }, more;
	uint8_t copy_of[GUS_CORE_PORTS] = { 0 };
	size_t n = parts_of(r, group, parts);

	more = add_ports(p, group, copy_of);
	for (size_t i = 1; i < n && more; i++) {
		bool overlaps = false;

		for (size_t k = 0; k < i; k++)
			overlaps |= (parts[k] & parts[i]) != 0;
		if (overlaps && !(own[i] = add_ports(p, parts[i], copy_of)))
			return false;
	}
	for (uint32_t i = 0; i < p->uops_n; i++) {
		uint64_t ports = p->uops[i].ports;
		size_t part = !ports || (ports & ~group) ? n : part_of(parts, n, ports);

		if (ports == group)
			p->uops[i].ports |= more;
		else if (part < n && own[part])
			p->uops[i].ports = mapped(ports, own[part], copy_of);
	}
	return more != 0;
}

/* Sizes. */

static void double_sizes(struct gus_core_config *c, const struct gus_knob *knob)
{
	enum gus_knob_kind kind = knob->kind;
	uint32_t *const front[] = { &c->issue_width, &c->predecode_width, &c->fetch_bytes, &c->decode_width,
		&c->decode_uops,
		&c->decode_complex, &c->microcode_width, &c->uop_cache_width, &c->uop_cache_window,
			&c->queue_size };

	for (size_t i = 0; i < sizeof(front) / sizeof(*front) && kind == GUS_KNOB_ISSUE; i++)
		*front[i] *= 2;
	c->retire_width *= kind == GUS_KNOB_RETIRE ? 2 : 1;
	c->rob *= kind == GUS_KNOB_ROB ? 2 : 1;
	c->load_buffer *= kind == GUS_KNOB_LOAD_BUFFER ? 2 : 1;
	c->store_buffer *= kind == GUS_KNOB_STORE_BUFFER ? 2 : 1;
	c->l1d_stores *= kind == GUS_KNOB_STORES ? 0 : 1;
	if (kind == GUS_KNOB_FORWARD && !knob->number)
		c->store_forward_latency = (c->store_forward_latency + 1) / 2;
	if (kind == GUS_KNOB_FORWARD && knob->number)
		c->store_forward_blocked = (c->store_forward_blocked + 1) / 2;
	if (kind == GUS_KNOB_RS) {
		c->rs *= 2;
		c->rs_int *= 2;
		c->rs_vector *= 2;
		c->rs_memory *= 2;
	}
}

/* What is beyond L1, and mispredictions, take an oracle; the loops have none. */
static bool has_counterpart(enum gus_knob_kind kind)
{
	return kind != GUS_KNOB_MISS_BUFFERS && kind != GUS_KNOB_LEVEL_LATENCY && kind != GUS_KNOB_BANDWIDTH &&
		kind != GUS_KNOB_TLB &&
		kind != GUS_KNOB_MISPREDICT;
}

struct gus_program *turned_program(const struct gus_program *p, const struct gus_knob *knob, bool slow,
				   struct gus_core_config *c)
{
	struct gus_program *made = gus_program_copy(p);
	struct gus_stream_resources r;

	gus_stream_resources_of(p, &r);
	if (!has_counterpart(knob->kind) ||
	    (knob->kind == GUS_KNOB_PORTS && !double_ports(made, r.ports[knob->number], &r))) {
		gus_program_free(made);
		return NULL;
	}
	double_sizes(c, knob);
	if (slow) {
		slow_config(c);
		slow_program(made, knob);
	}
	return made;
}

/* The new ports are the first: the engine dispatches in their order, and so what waits for them can go in the same
 * cycle. */
struct gus_program *turned_timeless(const struct gus_program *p, uint32_t op)
{
	struct gus_program *made = gus_program_copy(p);
	struct gus_op *o = &made->ops[op];
	uint32_t n = o->uops_n;
	const char **names = gus_alloc((p->ports_n + n) * sizeof(*names));

	for (uint32_t i = 0; i < p->ports_n + n; i++)
		names[i] = p->port_names[i < n ? 0 : i - n];
	free((void *)made->port_names);
	made->port_names = names;
	made->ports_n += n;
	for (uint32_t i = 0; i < made->uops_n; i++)
		made->uops[i].ports <<= n;
	for (uint32_t i = 0; i < n; i++) {
		struct gus_uop *u = &made->uops[o->uop + i];

		u->ports = u->ports ? 1ull << i : 0;
		u->unit = 0;
		u->unit_cycles = u->latency = 0;
		u->port_cycles = 1;
		for (unsigned f = 0; f < u->in_n; f++)
			made->flows[u->in + f].cycles = 0;
		for (unsigned f = 0; f < u->out_n; f++)
			made->flows[u->out + f].cycles = 0;
	}
	return made;
}
