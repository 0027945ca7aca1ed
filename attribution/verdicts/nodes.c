/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/nodes.h"

#include "model/stream/types.h"
#include "symbolizer/insn/insn.h"

static bool is_issue(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_ISSUE;
}

static bool is_mispredict(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_MISPREDICT || k->kind == GUS_KNOB_PREDICTED;
}

static bool is_division(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_UNITS || (k->kind == GUS_KNOB_LATENCY &&
		(k->number == GUS_INSN_DIV || k->number == GUS_INSN_FP_DIV));
}

static bool is_chain(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_LATENCY;
}

static bool is_load_chain(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_LOAD_LATENCY;
}

/* Ports, and what is waited for between them. */
static bool is_execution(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_PORTS || (is_chain(k) && !is_division(k)) || k->kind == GUS_KNOB_RS ||
		k->kind == GUS_KNOB_REGISTERS;
}

static bool is_core(const struct gus_knob *k)
{
	return is_execution(k) || is_division(k);
}

static bool is_tlb(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_TLB;
}

static bool is_forwarding(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_FORWARD;
}

static bool is_alias(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_ALIAS;
}

static bool is_l1(const struct gus_knob *k)
{
	return is_load_chain(k) || is_tlb(k) || is_forwarding(k) || is_alias(k) || k->kind == GUS_KNOB_LINE_SPLITS ||
		k->kind == GUS_KNOB_BANKS || k->kind == GUS_KNOB_LOAD_BUFFER;
}

static bool is_level(const struct gus_knob *k, enum gus_hit level)
{
	return (k->kind == GUS_KNOB_LEVEL_LATENCY || k->kind == GUS_KNOB_BANDWIDTH) && k->number == (uint32_t)level;
}

static bool is_l2(const struct gus_knob *k)
{
	return is_level(k, GUS_HIT_L2);
}

static bool is_l3(const struct gus_knob *k)
{
	return is_level(k, GUS_HIT_L3);
}

static bool is_miss_buffer(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_MISS_BUFFERS;
}

static bool is_dram(const struct gus_knob *k)
{
	return is_level(k, GUS_HIT_MEMORY);
}

static bool is_store_buffer(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_STORE_BUFFER;
}

static bool is_store(const struct gus_knob *k)
{
	return is_store_buffer(k) || k->kind == GUS_KNOB_STORES;
}

static bool is_load_buffer(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_LOAD_BUFFER;
}

static bool is_rob(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_ROB;
}

static bool is_rs(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_RS;
}

static bool is_registers(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_REGISTERS;
}

static bool is_memory(const struct gus_knob *k)
{
	return is_l1(k) || is_l2(k) || is_l3(k) || is_dram(k) || is_store(k) || is_miss_buffer(k);
}

static bool is_backend(const struct gus_knob *k)
{
	return is_memory(k) || is_core(k) || is_rob(k);
}

static bool is_width(const struct gus_knob *k)
{
	return k->kind == GUS_KNOB_RETIRE || k->kind == GUS_KNOB_ISSUE;
}

/* What cures it usually, where more than one node has it. */
static const char smaller_code[] = "make the hot code smaller or straighter: fewer and shorter instructions, less "
	"inlining and unrolling, hot paths side by side (profile-guided layout)";
static const char no_branch[] = "make the branch predictable, or none: sort or group the data, conditional moves, "
	"masks";
static const char shorter_chain[] = "shorten the chain of results: several accumulators, another order of the sums, "
	"cheaper instructions on it";
static const char more_at_a_time[] = "have more misses at a time, or ask earlier: prefetch, several independent "
	"searches side by side, no branch that waits for a miss";

const struct gus_node_kind gus_nodes[GUS_NODES] = {
	[GUS_NODE_FRONTEND] = { "frontend_bound", "the front end delivered nothing", 1, GUS_NODE_NONE, is_issue, NULL,
		smaller_code },
	[GUS_NODE_FETCH_LATENCY] = { "fetch_latency", "nothing at all in a cycle", 2, GUS_NODE_FRONTEND, NULL,
		"the model has one capacity for all of the front end", smaller_code },
	[GUS_NODE_FETCH_BANDWIDTH] = { "fetch_bandwidth", "less than the machine takes", 2, GUS_NODE_FRONTEND,
		is_issue, NULL, smaller_code },
	[GUS_NODE_SPECULATION] = { "bad_speculation", "work that was thrown away, and to recover from it", 1,
		GUS_NODE_NONE, is_mispredict, NULL, no_branch },
	[GUS_NODE_MISPREDICTS] = { "branch_mispredicts", "branches that went another way", 2, GUS_NODE_SPECULATION,
		is_mispredict, NULL, no_branch },
	[GUS_NODE_CLEARS] = { "machine_clears", "loads that went too early", 2, GUS_NODE_SPECULATION, NULL,
		"the model has no capacity that machine clears are of",
		"keep stores and the loads that read them apart" },
	[GUS_NODE_BACKEND] = { "backend_bound", "the back end took nothing", 1, GUS_NODE_NONE, is_backend, NULL, NULL },
	[GUS_NODE_MEMORY] = { "memory_bound", "loads and stores", 2, GUS_NODE_BACKEND, is_memory, NULL, NULL },
	[GUS_NODE_L1] = { "l1_bound", "loads that hit L1, or are held up there", 3, GUS_NODE_MEMORY, is_l1, NULL,
		"keep values in registers, and load less often" },
	[GUS_NODE_L2] = { "l2_bound", "loads from L2", 3, GUS_NODE_MEMORY, is_l2, NULL,
		"work on pieces that fit into L1 (blocking), or prefetch" },
	[GUS_NODE_L3] = { "l3_bound", "loads from L3", 3, GUS_NODE_MEMORY, is_l3, NULL,
		"work on pieces that fit into L2 (blocking), or prefetch" },
	[GUS_NODE_DRAM] = { "dram_bound", "loads from memory", 3, GUS_NODE_MEMORY, is_dram, NULL, more_at_a_time },
	[GUS_NODE_STORES] = { "store_bound", "stores that wait to be written", 3, GUS_NODE_MEMORY, is_store, NULL,
		"write whole lines in their order, write less, or past the caches (non-temporal stores)" },
	[GUS_NODE_CORE] = { "core_bound", "execution", 2, GUS_NODE_BACKEND, is_core, NULL, NULL },
	[GUS_NODE_DIVIDER] = { "divider", "divisions and roots", 3, GUS_NODE_CORE, is_division, NULL,
		"divide less: multiply by a reciprocal, hoist it out of the loop, divide vectors or narrower numbers" },
	[GUS_NODE_SERIALISING] = { "serialising", "instructions that let nothing begin behind them", 3, GUS_NODE_CORE,
		NULL, "the model has no capacity that serialising instructions are of", "do it less often" },
	[GUS_NODE_PORTS] = { "ports_utilization", "ports, and what waits for results", 3, GUS_NODE_CORE, is_execution,
		NULL, "fewer instructions for the same: vectors, other instructions for the busiest port" },
	[GUS_NODE_RETIRING] = { "retiring", "what the program is for", 1, GUS_NODE_NONE, is_width, NULL,
		"fewer instructions for the same: vectors, less work" },
	[GUS_NODE_CHAINS] = { "chains", "latencies of results", 0, GUS_NODE_NONE, is_chain, NULL, shorter_chain },
	[GUS_NODE_LOAD_CHAINS] = { "load_chains", "the latency of L1", 0, GUS_NODE_NONE, is_load_chain, NULL,
		"break the chain of loads: indices instead of pointers, several at a time" },
	[GUS_NODE_ROB] = { "reorder_buffer", "the reorder buffer", 0, GUS_NODE_NONE, is_rob, NULL, more_at_a_time },
	[GUS_NODE_RS] = { "reservation_station", "the reservation station", 0, GUS_NODE_NONE, is_rs, NULL,
		"have what waits for a miss wait in fewer instructions, or ask for the miss earlier" },
	[GUS_NODE_LOAD_BUFFER] = { "load_buffer", "the load buffer", 0, GUS_NODE_NONE, is_load_buffer, NULL,
		more_at_a_time },
	[GUS_NODE_STORE_BUFFER] = { "store_buffer", "the store buffer", 0, GUS_NODE_NONE, is_store_buffer, NULL,
		"write whole lines in their order, or spread bursts of stores" },
	[GUS_NODE_MISS_BUFFERS] = { "miss_buffers", "misses at a time", 0, GUS_NODE_NONE, is_miss_buffer, NULL,
		"use all of a line while it is there: other layout, blocking" },
	[GUS_NODE_REGISTERS] = { "registers", "registers to rename to", 0, GUS_NODE_NONE, is_registers, NULL,
		"have fewer results under way" },
	[GUS_NODE_TLB] = { "dtlb", "pages that the first TLB has not", 0, GUS_NODE_NONE, is_tlb, NULL,
		"use huge pages, or keep what is used together on fewer pages" },
	[GUS_NODE_FORWARDING] = { "forwarding", "loads of what was stored just before", 0, GUS_NODE_NONE, is_forwarding,
		NULL, "keep it in a register; load what was stored in the same size and place" },
	[GUS_NODE_ALIASES] = { "aliases", "loads and stores whose low 12 bits are the same", 0, GUS_NODE_NONE, is_alias,
		NULL, "place the arrays at another distance" },
};
