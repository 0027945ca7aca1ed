/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/turn.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analysis/sensitivity.h"
#include "model/machine/options.h"
#include "model/tables/uarch.h"

/* What a knob is of the configuration. */
enum kind { MORE, SHORTER, UNLIMITED };
static const struct turned_setting {
	enum gus_knob_kind knob;
	uint32_t number;
	size_t setting;
	enum kind kind;
	uint32_t least;         /* of what gets shorter, where 0 would mean something else */
} settings[] = {
#define AT(name) offsetof(struct gus_core_config, name)
	/* All parts of the front end together, as the stream engine has it; with issue they are turned as well, as each
	 * node that has the one has the other. */
	{ GUS_KNOB_ISSUE, 0, AT(issue_width), MORE, 0 }, { GUS_KNOB_FETCH, 0, AT(predecode_width), MORE, 0 },
	{ GUS_KNOB_FETCH, 0, AT(fetch_bytes), MORE, 0 }, { GUS_KNOB_FETCH, 0, AT(decode_queue), MORE, 0 },
	{ GUS_KNOB_FETCH, 0, AT(decode_width), MORE, 0 }, { GUS_KNOB_FETCH, 0, AT(decode_uops), MORE, 0 },
	{ GUS_KNOB_FETCH, 0, AT(decode_complex), MORE, 0 }, { GUS_KNOB_FETCH, 0, AT(lcp_penalty), SHORTER, 0 },
	{ GUS_KNOB_FETCH, 0, AT(microcode_width), MORE, 0 }, { GUS_KNOB_FETCH, 0, AT(microcode_switch), SHORTER, 0 },
	{ GUS_KNOB_FETCH, 0, AT(microcode_switch_decoders), SHORTER, 0 },
	{ GUS_KNOB_FETCH, 0, AT(uop_cache_width), MORE, 0 }, { GUS_KNOB_FETCH, 0, AT(uop_cache_reads), MORE, 0 },
	{ GUS_KNOB_FETCH, 0, AT(queue_size), MORE, 0 }, { GUS_KNOB_ISSUE, 0, AT(move_elimination_slots), MORE, 0 },
	{ GUS_KNOB_FETCH, 0, AT(predicted_branches), UNLIMITED, 0 },
	{ GUS_KNOB_FETCH, 0, AT(branch_override), SHORTER, 0 },
	{ GUS_KNOB_RETIRE, 0, AT(retire_width), MORE, 0 },
	{ GUS_KNOB_ROB, 0, AT(rob), MORE, 0 },
	{ GUS_KNOB_RS, 0, AT(rs), MORE, 0 }, { GUS_KNOB_RS, 0, AT(rs_int), MORE, 0 },
	{ GUS_KNOB_RS, 0, AT(rs_int_port), MORE, 0 }, { GUS_KNOB_RS, 0, AT(rs_vector), MORE, 0 },
	{ GUS_KNOB_RS, 0, AT(rs_memory), MORE, 0 },
	{ GUS_KNOB_LOAD_BUFFER, 0, AT(load_buffer), MORE, 0 }, { GUS_KNOB_STORE_BUFFER, 0, AT(store_buffer), MORE, 0 },
	{ GUS_KNOB_REGISTERS, 0, AT(renames), MORE, 0 }, { GUS_KNOB_REGISTERS, 0, AT(int_renames), MORE, 0 },
	{ GUS_KNOB_REGISTERS, 0, AT(vector_renames), MORE, 0 }, { GUS_KNOB_REGISTERS, 0, AT(mask_renames), MORE, 0 },
	{ GUS_KNOB_MISS_BUFFERS, 0, AT(l1d_misses), MORE, 0 },
	{ GUS_KNOB_LEVEL_LATENCY, GUS_HIT_L2, AT(l2_latency), SHORTER, 1 },
	{ GUS_KNOB_LEVEL_LATENCY, GUS_HIT_L3, AT(l3_latency), SHORTER, 1 },
	{ GUS_KNOB_LEVEL_LATENCY, GUS_HIT_MEMORY, AT(memory_latency), SHORTER, 1 },
	{ GUS_KNOB_BANDWIDTH, GUS_HIT_L2, AT(l2_bandwidth), MORE, 0 },
	{ GUS_KNOB_BANDWIDTH, GUS_HIT_L3, AT(l3_bandwidth), MORE, 0 },
	{ GUS_KNOB_BANDWIDTH, GUS_HIT_MEMORY, AT(memory_bandwidth), MORE, 0 },
	{ GUS_KNOB_TLB, 0, AT(stlb_latency), SHORTER, 0 }, { GUS_KNOB_TLB, 1, AT(page_walk_latency), SHORTER, 1 },
	{ GUS_KNOB_MISPREDICT, 0, AT(mispredict_penalty), SHORTER, 0 },
	{ GUS_KNOB_STORES, 0, AT(l1d_stores), MORE, 0 },
	{ GUS_KNOB_FORWARD, 0, AT(store_forward_latency), SHORTER, 1 },
	{ GUS_KNOB_FORWARD, 0, AT(store_forward_computed), SHORTER, 1 },
	{ GUS_KNOB_FORWARD, 0, AT(store_forward_vector), SHORTER, 1 },
	{ GUS_KNOB_FORWARD, 0, AT(store_forward_address), SHORTER, 1 },
	{ GUS_KNOB_FORWARD, 1, AT(store_forward_blocked), SHORTER, 1 },
	{ GUS_KNOB_LINE_SPLITS, 0, AT(line_split_penalty), SHORTER, 0 },
	{ GUS_KNOB_LINE_SPLITS, 0, AT(page_split_penalty), SHORTER, 0 },
	{ GUS_KNOB_ALIAS, 0, AT(alias_penalty), SHORTER, 0 },
	{ GUS_KNOB_BANKS, 0, AT(l1d_bank_ports), MORE, 0 },
#undef AT
};

static bool has(enum gus_node node, enum gus_knob_kind kind, uint32_t number, const char *name)
{
	struct gus_sensitivity knob = { .knob = { .kind = kind, .number = number } };

	snprintf(knob.name, sizeof(knob.name), "%s", name);
	return node != GUS_NODE_NONE && gus_node_has(&gus_nodes[node], &knob);
}

static uint32_t shorter(uint32_t cycles, unsigned times, uint32_t least)
{
	uint32_t left = (cycles + times / 2) / times;

	return left > least ? left : least;
}

void golden_turn_config(struct gus_core_config *c, enum gus_node node, unsigned times)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		const struct turned_setting *s = &settings[i];
		uint32_t *value = (uint32_t *)(void *)((char *)c + s->setting);

		if (!*value || !has(node, s->knob, s->number, "")) /* 0: there is no such limit */
			continue;
		*value = s->kind == MORE ? *value * times : s->kind == UNLIMITED ? 0 : shorter(*value, times, s->least);
	}
}

unsigned golden_turn_ports(enum gus_node node, unsigned times)
{
	return has(node, GUS_KNOB_PORTS, 0, "") ? times : 1;
}

bool golden_turn_predicts(enum gus_node node)
{
	return has(node, GUS_KNOB_PREDICTED, 0, "");
}

/* Code. */

/* A branch has a twin for when it is taken, with the same flows. */
static void turn_flows(struct golden_turned *t, uint32_t first, uint32_t n, unsigned times)
{
	for (uint32_t i = first > t->flows_turned ? first : t->flows_turned; i < first + n; i++) {
		int cycles = t->flows.v[i].cycles;

		t->flows.v[i].cycles = (int16_t)((cycles + (int)times / 2) / (int)times);
	}
}

/* Whose ports and units are turned with it, and not all ports. */
static uint32_t held_by(const struct gus_uop *u, enum gus_insn_class class)
{
	if (class == GUS_INSN_FENCE || class == GUS_INSN_SYSTEM)
		return GUS_HELD_BY_FENCES;
	if (class == GUS_INSN_ATOMIC)
		return GUS_HELD_BY_LOCKS;
	return u->kind == GUS_UOP_COMPUTE && gus_insn_class_divides(class) ? GUS_HELD_BY_DIVISIONS : GUS_HELD_BY_NONE;
}

static void turn_uop(struct golden_turned *t, const struct gus_program *p, struct gus_uop *u, uint32_t class,
		     enum gus_node node, unsigned times)
{
	enum gus_knob_kind latency = u->kind == GUS_UOP_LOAD ? GUS_KNOB_LOAD_LATENCY : GUS_KNOB_LATENCY;

	const uint32_t by = held_by(u, (enum gus_insn_class)class);
	const bool held = by != GUS_HELD_BY_NONE && has(node, GUS_KNOB_HELD, by, "");

	if ((held || has(node, GUS_KNOB_PORTS, 0, "")) && u->port_cycles)
		u->port_cycles = (uint16_t)shorter(u->port_cycles, times, 1);
	if (u->unit && (held || has(node, GUS_KNOB_UNITS, u->unit, p->uarch->units[u->unit - 1])))
		u->unit_cycles = (uint16_t)shorter(u->unit_cycles, times, 1);
	if (!has(node, latency, latency == GUS_KNOB_LATENCY ? class : 0, ""))
		return;
	u->latency = (uint16_t)shorter(u->latency, times, 0);
	turn_flows(t, u->in, u->in_n, times);
	turn_flows(t, u->out, u->out_n, times);
	if (u->in + u->in_n > t->flows_turned)
		t->flows_turned = u->in + u->in_n;
	if (u->out + u->out_n > t->flows_turned)
		t->flows_turned = u->out + u->out_n;
}

void golden_turned_grow(struct golden_turned *t, const struct gus_program *p, enum gus_node node, unsigned times)
{
	uint32_t op = t->program.ops_n;

	t->program = *p;
	if (t->same)
		return;
	gus_vec_append(&t->uops, p->uops + t->uops.n, p->uops_n - t->uops.n);
	gus_vec_append(&t->flows, p->flows + t->flows.n, p->flows_n - t->flows.n);
	t->program.uops = t->uops.v;
	t->program.flows = t->flows.v;
	for (; op < p->ops_n; op++)
		for (uint32_t i = 0; i < p->ops[op].uops_n; i++)
			turn_uop(t, p, &t->uops.v[p->ops[op].uop + i], p->insns[p->ops[op].insn].info.class, node,
				 times);
}

/* Whether it has anything of the code. */
static bool is_of_code(enum gus_node node)
{
	bool any = has(node, GUS_KNOB_PORTS, 0, "") || has(node, GUS_KNOB_LOAD_LATENCY, 0, "") ||
		has(node, GUS_KNOB_UNITS, 1, "divider") || has(node, GUS_KNOB_UNITS, 1, "lock") ||
		has(node, GUS_KNOB_UNITS, 1, "other");

	for (uint32_t by = 0; by < GUS_HELD_BYS; by++)
		any |= by != GUS_HELD_BY_NONE && has(node, GUS_KNOB_HELD, by, "");
	for (uint32_t class = 0; class < GUS_INSN_CLASSES; class++)
		any |= has(node, GUS_KNOB_LATENCY, class, "");
	return any;
}

void golden_turned_init(struct golden_turned *t, const struct gus_program *p, enum gus_node node, unsigned times)
{
	*t = (struct golden_turned){ .same = !is_of_code(node) };
	golden_turned_grow(t, p, node, times);
}

void golden_turned_free(struct golden_turned *t)
{
	gus_vec_free(&t->uops);
	gus_vec_free(&t->flows);
}
