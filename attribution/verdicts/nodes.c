/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/nodes.h"

#include <string.h>

#include "model/analysis/sensitivity.h"
#include "symbolizer/insn/insn.h"

/* Knobs as bits: one for each kind, and for those that have numbers one for each number, or for some of them
 * together. */
#define KIND(kind) (UINT64_C(1) << GUS_KNOB_##kind)
#define LEVEL(hit) (UINT64_C(1) << (32 + (hit))) /* latency and bandwidth of a level */
#define DIVIDER (UINT64_C(1) << 48)              /* divisions and roots: latencies, ports and units */
#define RESULT (UINT64_C(1) << 49)               /* of all other results */

#define FENCE (UINT64_C(1) << 50)                /* of what waits for all that is before it, and all behind waits for */
#define LOCK (UINT64_C(1) << 51)                 /* of locked instructions, and of the unit that they have */
#define UNIT_OTHER (UINT64_C(1) << 52)           /* exclusive units, but for locks and dividers */

#define MISPREDICTS (KIND(MISPREDICT) | KIND(PREDICTED))
#define CHAINS (DIVIDER | RESULT)                /* or a chain of divisions would be more than its divisions */
#define EXECUTION (KIND(PORTS) | RESULT | KIND(RS) | KIND(REGISTERS) | UNIT_OTHER)
#define CORE (EXECUTION | DIVIDER | FENCE)
#define L1 (KIND(LOAD_LATENCY) | KIND(TLB) | KIND(FORWARD) | KIND(ALIAS) | KIND(LINE_SPLITS) | KIND(BANKS) | \
	KIND(LOAD_BUFFER) | LOCK)
#define L2 LEVEL(GUS_HIT_L2)
#define L3 LEVEL(GUS_HIT_L3)
#define DRAM LEVEL(GUS_HIT_MEMORY)
#define STORES (KIND(STORE_BUFFER) | KIND(STORES))
#define MEMORY (L1 | L2 | L3 | DRAM | STORES | KIND(MISS_BUFFERS))
#define BACKEND (MEMORY | CORE | KIND(ROB))
#define WIDTH (KIND(RETIRE) | KIND(ISSUE) | KIND(FETCH)) /* issue's knob turns all that is before it, too */

/* Latencies, by who has them. */
static uint64_t of_class(enum gus_insn_class class)
{
	if (class == GUS_INSN_FENCE || class == GUS_INSN_SYSTEM)
		return FENCE;
	return class == GUS_INSN_ATOMIC ? LOCK : gus_insn_class_divides(class) ? DIVIDER : RESULT;
}

static uint64_t of_held(uint32_t held)
{
	return held == GUS_HELD_BY_DIVISIONS ? DIVIDER : held == GUS_HELD_BY_FENCES ? FENCE : LOCK;
}

static uint64_t bits_of(const struct gus_sensitivity *s)
{
	const struct gus_knob *k = &s->knob;

	if (k->kind == GUS_KNOB_UNITS)
		return strstr(s->name, "divider") ? DIVIDER : strstr(s->name, "lock") ? LOCK : UNIT_OTHER;
	if (k->kind == GUS_KNOB_HELD)
		return of_held(k->number);
	if (k->kind == GUS_KNOB_LATENCY)
		return of_class((enum gus_insn_class)k->number);
	if (k->kind == GUS_KNOB_LEVEL_LATENCY || k->kind == GUS_KNOB_BANDWIDTH)
		return k->number < GUS_HITS ? LEVEL(k->number) : 0;
	return UINT64_C(1) << k->kind;
}

bool gus_node_has(const void *node, const struct gus_sensitivity *knob)
{
	return ((const struct gus_node_kind *)node)->knobs & bits_of(knob);
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
	[GUS_NODE_FRONTEND] = { "frontend_bound", "slots that the front end left empty", 1, GUS_NODE_NONE, KIND(FETCH),
		NULL, smaller_code },
	[GUS_NODE_FETCH_LATENCY] = { "fetch_latency", "nothing at all in a cycle", 2, GUS_NODE_FRONTEND, 0,
		"the model has one capacity for all of the front end", smaller_code },
	[GUS_NODE_FETCH_BANDWIDTH] = { "fetch_bandwidth",
		"decoders and uop cache, which deliver less than the machine takes", 2, GUS_NODE_FRONTEND, KIND(FETCH),
		NULL, smaller_code },
	[GUS_NODE_SPECULATION] = { "bad_speculation", "work that was thrown away, and to recover from it", 1,
		GUS_NODE_NONE, MISPREDICTS, NULL, no_branch },
	[GUS_NODE_MISPREDICTS] = { "branch_mispredicts", "branches that went another way", 2, GUS_NODE_SPECULATION,
		MISPREDICTS, NULL, no_branch },
	[GUS_NODE_CLEARS] = { "machine_clears", "loads that went too early", 2, GUS_NODE_SPECULATION, 0,
		"the model has no capacity that machine clears are of",
		"keep stores and the loads that read them apart" },
	[GUS_NODE_BACKEND] = { "backend_bound", "memory and execution together", 1, GUS_NODE_NONE, BACKEND, NULL,
		"look at the parts below that gain most: one change seldom cures several" },
	[GUS_NODE_MEMORY] = { "memory_bound", "loads and stores", 2, GUS_NODE_BACKEND, MEMORY, NULL,
		"ask for less memory (blocking, other layout) or earlier (prefetch, several searches side by side); "
		"the levels below say which" },
	[GUS_NODE_L1] = { "l1_bound", "loads that hit L1, or are held up there", 3, GUS_NODE_MEMORY, L1, NULL,
		"keep values in registers, and load less often" },
	[GUS_NODE_L2] = { "l2_bound", "loads from L2", 3, GUS_NODE_MEMORY, L2, NULL,
		"work on pieces that fit into L1 (blocking), or prefetch" },
	[GUS_NODE_L3] = { "l3_bound", "loads from L3", 3, GUS_NODE_MEMORY, L3, NULL,
		"work on pieces that fit into L2 (blocking), or prefetch" },
	[GUS_NODE_DRAM] = { "dram_bound", "loads from memory", 3, GUS_NODE_MEMORY, DRAM, NULL, more_at_a_time },
	[GUS_NODE_STORES] = { "store_bound", "stores that wait to be written", 3, GUS_NODE_MEMORY, STORES, NULL,
		"write whole lines in their order, write less, or past the caches (non-temporal stores)" },
	[GUS_NODE_CORE] = { "core_bound", "execution", 2, GUS_NODE_BACKEND, CORE, NULL,
		"fewer or cheaper instructions, and shorter chains of results; the parts below say which" },
	[GUS_NODE_DIVIDER] = { "divider", "divisions and roots", 3, GUS_NODE_CORE, DIVIDER, NULL,
		"divide less: multiply by a reciprocal, hoist it out of the loop, divide vectors or narrower numbers" },
	[GUS_NODE_SERIALISING] = { "serialising", "instructions that let nothing begin behind them", 3, GUS_NODE_CORE,
		FENCE, NULL, "do it less often; a weaker fence, or none where an ordered or locked access does" },
	[GUS_NODE_PORTS] = { "ports_utilization", "ports, and what waits for results", 3, GUS_NODE_CORE, EXECUTION,
		NULL, "fewer instructions for the same: vectors, other instructions for the busiest port" },
	[GUS_NODE_RETIRING] = { "retiring", "what the program is for", 1, GUS_NODE_NONE, WIDTH, NULL,
		"fewer instructions for the same: vectors, less work" },
	[GUS_NODE_CHAINS] = { "chains", "latencies of results", 0, GUS_NODE_NONE, CHAINS, NULL, shorter_chain },
	[GUS_NODE_LOAD_CHAINS] = { "load_chains", "the latency of L1", 0, GUS_NODE_NONE, KIND(LOAD_LATENCY), NULL,
		"break the chain of loads: indices instead of pointers, several at a time" },
	[GUS_NODE_ROB] = { "reorder_buffer", "the reorder buffer", 0, GUS_NODE_NONE, KIND(ROB), NULL, more_at_a_time },
	[GUS_NODE_RS] = { "reservation_station", "the reservation station", 0, GUS_NODE_NONE, KIND(RS), NULL,
		"have what waits for a miss wait in fewer instructions, or ask for the miss earlier" },
	[GUS_NODE_LOAD_BUFFER] = { "load_buffer", "the load buffer", 0, GUS_NODE_NONE, KIND(LOAD_BUFFER), NULL,
		more_at_a_time },
	[GUS_NODE_STORE_BUFFER] = { "store_buffer", "the store buffer", 0, GUS_NODE_NONE, KIND(STORE_BUFFER), NULL,
		"write whole lines in their order, or spread bursts of stores" },
	[GUS_NODE_MISS_BUFFERS] = { "miss_buffers", "misses at a time", 0, GUS_NODE_NONE, KIND(MISS_BUFFERS), NULL,
		"use all of a line while it is there: other layout, blocking" },
	[GUS_NODE_REGISTERS] = { "registers", "registers to rename to", 0, GUS_NODE_NONE, KIND(REGISTERS), NULL,
		"have fewer results under way" },
	[GUS_NODE_TLB] = { "dtlb", "pages that the first TLB has not", 0, GUS_NODE_NONE, KIND(TLB), NULL,
		"use huge pages, or keep what is used together on fewer pages" },
	[GUS_NODE_FORWARDING] = { "forwarding", "loads of what was stored just before", 0, GUS_NODE_NONE, KIND(FORWARD),
		NULL, "keep it in a register; load what was stored in the same size and place" },
	[GUS_NODE_ALIASES] = { "aliases", "loads and stores whose low 12 bits are the same", 0, GUS_NODE_NONE,
		KIND(ALIAS), NULL, "place the arrays at another distance" },
	[GUS_NODE_LOCKS] = { "locks", "locked instructions", 0, GUS_NODE_NONE, LOCK, NULL,
		"lock less often: counters for each thread that are added up later, larger steps" },
};
