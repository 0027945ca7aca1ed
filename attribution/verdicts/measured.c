/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/measured.h"

#include <math.h>
#include <string.h>

#include "attribution/topdown/tree.h"

/* Every node of every table (attribution/topdown/tables), by its name there, which means the same in all of them
 * (tests/unit/test_verdict_measured holds the list to that). */
static const struct same { const char *name; enum gus_node node; } same[] = {
	{ "frontend_bound", GUS_NODE_FRONTEND },
	{ "fetch_latency", GUS_NODE_FETCH_LATENCY },
	{ "fetch_bandwidth", GUS_NODE_FETCH_BANDWIDTH },
	{ "bad_speculation", GUS_NODE_SPECULATION },
	{ "branch_mispredicts", GUS_NODE_MISPREDICTS },
	{ "machine_clears", GUS_NODE_CLEARS },
	{ "pipeline_restarts", GUS_NODE_CLEARS }, /* AMD's word: resyncs, as of loads that went too early */
	{ "backend_bound", GUS_NODE_BACKEND },
	{ "memory_bound", GUS_NODE_MEMORY },
	{ "l1_bound", GUS_NODE_L1 },
	{ "l2_bound", GUS_NODE_L2 },
	{ "l3_bound", GUS_NODE_L3 },
	{ "dram_bound", GUS_NODE_DRAM },
	{ "core_bound", GUS_NODE_CORE },
	{ "retiring", GUS_NODE_RETIRING },
	/* Arm parts the front end by what it waits for, code or itself, and not by whether it delivers nothing or too
	 * little. */
	{ "frontend_memory", GUS_NODE_NONE },
	{ "frontend_core", GUS_NODE_NONE },
	{ "issuing", GUS_NODE_NONE },           /* retiring, bad speculation and part of the rest, in cycles */
	{ "smt_contention", GUS_NODE_NONE },
	{ "heavy_operations", GUS_NODE_NONE },
	{ "light_operations", GUS_NODE_NONE },
	{ "microcode_ops", GUS_NODE_NONE },
	{ "fastpath_ops", GUS_NODE_NONE },
	/* AMD's, of cycles, by what retirement waits for: another tree beside. */
	{ "computing", GUS_NODE_NONE },
	{ "empty", GUS_NODE_NONE },
	{ "stalled", GUS_NODE_NONE },
	{ "stalled_on_load", GUS_NODE_NONE },
	{ "stalled_on_other", GUS_NODE_NONE },
	{ "other_reasons", GUS_NODE_NONE },
	{ "store_queue", GUS_NODE_NONE },
};

bool gus_causal_measured_node(const char *name, enum gus_node *node)
{
	*node = GUS_NODE_NONE;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (strcmp(same[i].name, name) == 0) {
			*node = same[i].node;
			return true;
		}
	return false;
}

bool gus_causal_measured_make(struct gus_causal_measured *m, const struct gus_topdown *table,
			      const struct gus_topdown_tree *tree)
{
	bool any = false;

	*m = (struct gus_causal_measured){ .beside = 0 };
	for (size_t i = 0; i < table->nodes.n; i++) {
		const struct gus_topdown_node *from = &table->nodes.v[i];
		const struct gus_topdown_share *s = &tree->shares[i];
		enum gus_node node;

		gus_causal_measured_node(from->name, &node);
		if (!s->known)
			continue;
		if (node == GUS_NODE_NONE) {
			m->beside += from->level == 1 && from->unit == GUS_TOPDOWN_SLOTS ? s->value : 0;
			continue;
		}
		m->nodes[node] = (struct gus_causal_share){ .known = true, .cycles = from->unit == GUS_TOPDOWN_CYCLES,
			.bounded = s->sureness == GUS_TOPDOWN_BOUND, .value = s->value, .low = s->low,
			.high = s->high };
		any |= from->level == 1;
	}
	return any;
}

size_t gus_causal_disputes(const struct gus_causal_measured *m, const double *modelled, double covered,
			   struct gus_causal_dispute out[GUS_NODES_OF_TREE])
{
	size_t n = 0;

	for (unsigned i = 0; i < GUS_NODES_OF_TREE && covered > 0; i++) {
		const struct gus_causal_share *s = &m->nodes[i];
		double low = fmax(0, (s->low - (1 - covered)) / covered), high = fmin(1, s->high / covered);

		if (gus_nodes[i].level != 1 || !s->known || s->cycles)
			continue;
		if (modelled[i] < low - GUS_CAUSAL_DISPUTED || modelled[i] > high + GUS_CAUSAL_DISPUTED)
			out[n++] = (struct gus_causal_dispute){ (enum gus_node)i, modelled[i], low, high };
	}
	return n;
}
