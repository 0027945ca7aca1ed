/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/pathology.h"

#include "attribution/traced/traced.h"
#include "model/analysis/sensitivity.h"

const struct gus_pathology_kind gus_pathology_kinds[GUS_PATHOLOGIES] = {
	[GUS_PATHOLOGY_REDUCTION] = { "reduction_chain", "a sum or product that is added to one by one",
		"latencies of results (node chains)",
		"results go round one associative operation for 70 % of the time, on fewer accumulators than its "
		"latency times what the ports begin in a cycle", "so many accumulators" },
	[GUS_PATHOLOGY_CHAIN] = { "chain", "results that go round a loop and are no reduction",
		"latencies of results (node chains)", "likewise, through different operations",
		"another order of operations, cheaper ones" },
	[GUS_PATHOLOGY_LOAD_CHAIN] = { "load_chain", "addresses that wait for the load before",
		"the latency of L1, or memory (nodes load_chains, memory_bound)",
		"likewise, with a load on it", "several chains side by side, indices" },
	[GUS_PATHOLOGY_MEMORY_CHAIN] = { "chain_through_memory", "a value that is stored and loaded again each turn",
		"latencies from stores to loads (node forwarding)", "likewise, from a store to a load",
		"keep it in a register" },
	[GUS_PATHOLOGY_PORTS] = { "port_pressure", "more uops for some ports than these begin",
		"ports alone", "a group of ports is needed for 75 % of the time",
		"other instructions than those that are named" },
	[GUS_PATHOLOGY_ADD_MUL] = { "add_mul_imbalance", "additions or multiplications of floating point alone",
		"ports alone", "the busiest ports are of additions and not of multiplications, or the other way round, "
		"and there are 1.5 times as many of them", "fused operations; balance" },
	[GUS_PATHOLOGY_DIVIDER] = { "divider", "divisions and roots, which units begin one at a time",
		"dividers (node divider)", "there are divisions or roots", "reciprocals, hoisting, narrower numbers" },
	[GUS_PATHOLOGY_CONVERSIONS] = { "conversions", "conversions between types",
		"what causality charges to them", "5 % of the instructions are conversions", "one type" },
	[GUS_PATHOLOGY_PARTIAL] = { "partial_registers", "a register that is written in part",
		"latencies of results (node chains), or what causality charges to merging",
		"what goes round waits for bits that an instruction only keeps, or the machine merges a byte",
		"clear the register before, write all of it" },
	[GUS_PATHOLOGY_FRONT_END] = { "front_end", "code that comes from the decoders",
		"the front end (node frontend_bound)", "20 % of the blocks are not in the uop cache, or prefixes that "
		"change the length are among them", "smaller or straighter code" },
	[GUS_PATHOLOGY_RETIRE] = { "retirement", "all slots do useful work",
		"the width of issue and retirement (node retiring)", "75 % of the slots are used",
		"fewer instructions: vectors, less work" },
	[GUS_PATHOLOGY_UNVECTORISED] = { "unvectorised_loop", "floating point one element at a time",
		"what causality charges to all but accesses that miss, less what a vector still takes",
		"a loop of scalar operations without calls, whose accesses go from one to the next and whose chains "
		"are reductions", "vectors" },
	[GUS_PATHOLOGY_UNROLLING] = { "lack_of_unrolling", "counters and branches beside little work",
		"the width (node retiring), by the share of these in the slots",
		"a loop of 16 slots at most, a quarter of them counters and branches", "unroll" },
	[GUS_PATHOLOGY_SHORT_TRIPS] = { "short_trips", "a loop of few turns each time",
		"mispredictions of its branch back (node branch_mispredicts), or what causality charges to it",
		"fewer than 16 turns from entry to exit", "unroll as a whole, join loops" },
	[GUS_PATHOLOGY_TAIL] = { "peeled_or_rest", "elements that a vector loop leaves to a scalar one",
		"what causality charges to the loop, less one turn each time",
		"a scalar loop of few turns beside a vector loop that has less than 90 % of the elements",
		"padding, masks" },
	[GUS_PATHOLOGY_CONTROL_FLOW] = { "control_flow", "several ways through an innermost loop",
		"their mispredictions (node branch_mispredicts)",
		"two branches in it that are taken 5 to 95 % of the times", "masks, a loop for each case" },
	[GUS_PATHOLOGY_MISPREDICT] = { "mispredicted_branch", "a branch that goes another way than foreseen",
		"mispredictions (node branch_mispredicts), by its share", "the predictor, or what was measured, says "
		"so",
		"no branch, sorted data" },
	[GUS_PATHOLOGY_CONDITIONED] = { "conditioned_load", "a mispredicted branch that waits for a load from far",
		"mispredictions (node branch_mispredicts), by its share",
		"the worst branch waits for a load of its block that goes beyond L2 in 5 % of the times",
		"ask for it earlier" },
	[GUS_PATHOLOGY_BANDWIDTH] = { "bandwidth", "bytes and misses that come at a time",
		"bandwidths of all levels, and misses at a time", "more of these alone gains what is worth it; only "
		"calibrated tables have bandwidths of L3 and memory", "blocking" },
	[GUS_PATHOLOGY_LATENCY] = { "latency", "a load that is asked for too late",
		"its level (nodes l2_bound, l3_bound, dram_bound), by its share",
		"a load with a fifth of the waiting, where neither bandwidth nor a chain of loads is in front",
		"prefetch, so many iterations ahead as its latency is long" },
	[GUS_PATHOLOGY_STRIDE] = { "stride", "bad spatial locality: strides of more than an element",
		"its level, by its share and by the part of a line that is not used",
		"the same stride, longer than the access, in half of all accesses, with a fifth of the waiting",
		"another order of loops, another layout" },
	[GUS_PATHOLOGY_REUSE] = { "reuse", "bad temporal locality: lines that are fetched again and again",
		"its level, by its share and by the part that comes again",
		"twice as many misses as lines, beyond L2", "blocking, joined loops" },
	[GUS_PATHOLOGY_CONFLICT] = { "associativity_conflict", "lines that all want the same sets",
		"the levels behind (nodes l2_bound, l3_bound, dram_bound)",
		"lines that would fit a cache lie in half of its sets or less, and are missed three times as often as "
		"there are lines", "pad rows" },
	[GUS_PATHOLOGY_STREAMS] = { "too_many_streams", "more arrays at a time than L1 has ways",
		"levels (nodes l2_bound, l3_bound, dram_bound)", "so many accesses go on line by line, each in pages "
		"of its own", "split the loop" },
	[GUS_PATHOLOGY_TLB] = { "tlb", "more pages than the first TLB has",
		"TLBs (node dtlb)", "2 % of an instruction's accesses miss it", "huge pages" },
	[GUS_PATHOLOGY_SPLITS] = { "line_splits", "unaligned accesses that cross a line",
		"line splits alone", "2 % of an instruction's accesses do", "align" },
	[GUS_PATHOLOGY_BLOCKED] = { "blocked_forwarding", "a load of what was stored otherwise",
		"latencies from stores to loads (node forwarding)",
		"the core engine has a store before it with a part of its bytes", "the same size and place" },
	[GUS_PATHOLOGY_ALIAS] = { "alias_4k", "a load and a store that are equal in the low 12 bits",
		"such penalties (node aliases)", "the core engine takes the one for the other",
		"another distance of the arrays" },
	[GUS_PATHOLOGY_LOCKS] = { "locks", "locked instructions",
		"what they have to themselves (node locks)", "there are some", "lock less often" },
	[GUS_PATHOLOGY_FALSE_SHARING] = { "false_sharing", "lines that threads share by accident",
		"samples of loads that found their line changed elsewhere (HITM), as a share",
		"20 of them read bytes that no other thread was seen to write; only of recordings with addresses and "
		"levels (record -e pebs, tpebs, ibs, spe)", "lines of their own" },
	[GUS_PATHOLOGY_RUNTIME] = { "openmp_runtime", "time in the runtime of OpenMP",
		"its samples, as a share", "20 samples in libgomp, libomp or libiomp5", "fewer, larger regions" },
	[GUS_PATHOLOGY_IMBALANCE] = { "load_imbalance", "threads that have not the same to do",
		"samples of the slowest thread above the mean, without what chance explains",
		"two threads or more have samples of the region", "another schedule" },
	[GUS_PATHOLOGY_LEAKING] = { "cache_leaking", "pages that all want the same sets of L2 or L3", NULL,
		"which physical page an address has is not in a trace, and may not be read without rights; the model's "
		"sets are those of virtual addresses", "page colouring, huge pages" },
	[GUS_PATHOLOGY_AFFINITY] = { "bad_affinity", "threads far away from their memory", NULL,
		"which node has a page is not recorded, and the model has one socket; gusprof bandwidth by socket, or "
		"samples with remote memory (report --by level), show it", "numactl, first touch by its user" },
};

struct set { const char *name; uint64_t kinds; };
#define KIND(kind) (UINT64_C(1) << GUS_KNOB_##kind)
static const struct set own_sets[GUS_PATHOLOGY_SETS] = {
	[GUS_PATHOLOGY_SET_PORTS] = { "ports alone", KIND(PORTS) },
	[GUS_PATHOLOGY_SET_BANDWIDTH] = { "bandwidth alone", KIND(BANDWIDTH) | KIND(MISS_BUFFERS) },
	[GUS_PATHOLOGY_SET_SPLITS] = { "line splits alone", KIND(LINE_SPLITS) },
};

static bool has(const void *context, const struct gus_sensitivity *knob)
{
	return ((const struct set *)context)->kinds >> knob->knob.kind & 1;
}

void gus_pathology_sets(struct gus_traced_set *sets)
{
	for (unsigned i = 0; i < GUS_PATHOLOGY_SETS; i++)
		sets[i] = (struct gus_traced_set){ own_sets[i].name, has, &own_sets[i] };
}
