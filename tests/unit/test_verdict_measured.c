/* SPDX-License-Identifier: MIT */
/* Trees that counters have measured as nodes of verdicts: which node is which on which CPU, what is not measured there,
 * verdicts against such a tree, and where a model's own says something else. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/topdown/builtin.h"
#include "attribution/topdown/tree.h"
#include "attribution/verdicts/measured.h"
#include "attribution/verdicts/verdict.h"
#include "model/tables/cpus.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/* What events count on CPUs whose tables differ. Those that are not named have counted 0. */
struct given { const char *event; double value; };
struct machine {
	struct gus_cpu_id cpu;
	const char *pmu;
	double slots;
	unsigned level;
	struct given given[16];
};
static const struct machine sapphire_rapids = { { .vendor = "GenuineIntel", .family = 6, .model = 0x8f }, "cpu", 0, 3,
	{ { "slots", 6000 }, { "retiring_slots", 2400 }, { "bad_slots", 600 }, { "fe_slots", 1200 },
	  { "be_slots", 1800 }, { "mispredict_slots", 480 }, { "latency_slots", 900 }, { "memory_slots", 1200 },
	  { "cycles", 1000 }, { "loads_bound", 400 }, { "stalls_l1_miss", 300 }, { "stalls_l2_miss", 250 },
	  { "stalls_l3_miss", 120 } } };
/* Eight slots a cycle; 500 of the other thread. */
static const struct machine zen5 = { { .vendor = "AuthenticAMD", .family = 26, .model = 2 }, "cpu", 0, 1,
	{ { "cycles", 1000 }, { "fe_slots", 1000 }, { "be_slots", 3000 }, { "smt_slots", 500 },
	  { "retired_ops", 3000 }, { "dispatched", 3500 } } };
static const struct machine neoverse_n1 = { { .midr = 0x413fd0c1 }, "armv8_pmuv3_0", 0, 1,
	{ { "cycles", 1000 }, { "fe_stalls", 200 }, { "be_stalls", 500 } } };

static void tree_of(const struct machine *m, struct gus_topdown_tables *tables, struct gus_topdown_tree *tree)
{
	const struct gus_topdown_pmu pmu = { m->pmu, NULL, 0, m->slots };
	const struct gus_topdown_host host = { .cpu = &m->cpu, .pmus = &pmu, .pmus_n = 1 };
	struct gus_topdown_count counts[128] = { { 0 } };
	uint32_t list[128];
	size_t n;

	assert_int_equal(gus_topdown_find(tables, &host, NULL), 0);
	assert_int_equal(tables->n, 1);
	n = gus_topdown_events(tables->v[0], m->level, list);
	for (size_t i = 0; i < n; i++) {
		counts[i].known = true;
		for (const struct given *g = m->given; g->event; g++)
			if (strcmp(g->event, tables->v[0]->events.v[list[i]].name) == 0)
				counts[i].value = g->value;
	}
	gus_topdown_evaluate(tree, tables->v[0], m->level, counts, NULL, 0);
}

struct wanted { enum gus_node node; double share; bool cycles; };

/* Nodes that are wanted are measured, and no others. */
static void expect(const struct machine *machine, const struct wanted *wanted, size_t n, double beside)
{
	struct gus_topdown_tables tables = { 0 };
	struct gus_topdown_tree tree;
	struct gus_causal_measured m;
	size_t known = 0;

	tree_of(machine, &tables, &tree);
	assert_true(gus_causal_measured_make(&m, tables.v[0], &tree));
	for (size_t i = 0; i < n; i++) {
		const struct gus_causal_share *s = &m.nodes[wanted[i].node];

		if (!s->known || !near(s->value, wanted[i].share) || s->cycles != wanted[i].cycles)
			fail_msg("%s is %g%s", gus_nodes[wanted[i].node].name, s->value, s->known ? "" : ", not known");
		assert_true(near(s->low, s->value) && near(s->high, s->value) && !s->bounded);
	}
	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		known += m.nodes[i].known;
	assert_int_equal(known, n);
	assert_true(near(m.beside, beside));
	gus_topdown_tree_free(&tree);
	gus_topdown_tables_free(&tables);
}

static void machines(void **state)
{
	static const struct wanted intel[] = { { GUS_NODE_FRONTEND, 0.2, false },
		{ GUS_NODE_FETCH_LATENCY, 0.15, false },
		{ GUS_NODE_FETCH_BANDWIDTH, 0.05, false }, { GUS_NODE_SPECULATION, 0.1, false },
		{ GUS_NODE_MISPREDICTS, 0.08, false }, { GUS_NODE_CLEARS, 0.02, false },
		{ GUS_NODE_BACKEND, 0.3, false }, { GUS_NODE_MEMORY, 0.2, false }, { GUS_NODE_CORE, 0.1, false },
		{ GUS_NODE_RETIRING, 0.4, false }, { GUS_NODE_L1, 0.1, true }, { GUS_NODE_L2, 0.05, true },
		{ GUS_NODE_L3, 0.13, true }, { GUS_NODE_DRAM, 0.12, true } };
	static const struct wanted amd[] = { { GUS_NODE_FRONTEND, 0.125, false }, { GUS_NODE_BACKEND, 0.375, false },
		{ GUS_NODE_SPECULATION, 0.0625, false }, { GUS_NODE_RETIRING, 0.375, false } };
	static const struct wanted arm[] = { { GUS_NODE_FRONTEND, 0.2, true }, { GUS_NODE_BACKEND, 0.5, true } };

	(void)state;
	expect(&sapphire_rapids, intel, sizeof(intel) / sizeof(*intel), 0);
	expect(&zen5, amd, sizeof(amd) / sizeof(*amd), 0.0625);
	expect(&neoverse_n1, arm, sizeof(arm) / sizeof(*arm), 0);
}

/* Of every node of every table it is said which of ours it is, or that it is none; a node that is has the same level
 * and, where that is one of ours as well, the same parent. */
static void all_tables(void **state)
{
	const char *text, *name;
	size_t size, nodes = 0;

	(void)state;
	for (size_t i = 0; (name = gus_topdown_builtin(i, &text, &size)); i++) {
		char *copy = strndup(text, size), *left = copy, *line;

		while ((line = strsep(&left, "\n"))) {
			char node[64], parent[64];
			enum gus_node is, above;
			unsigned level;
			const char *at = *line == '[' ? strchr(line, ']') + 2 : line;

			if (sscanf(at, "node %63s %63s %u", node, parent, &level) != 3)
				continue;
			nodes++;
			if (!gus_causal_measured_node(node, &is))
				fail_msg("%s: nobody has said what %s is", name, node);
			if (is == GUS_NODE_NONE)
				continue;
			assert_int_equal(gus_nodes[is].level, level);
			assert_true(strcmp(parent, "-") == 0 || gus_causal_measured_node(parent, &above));
			assert_true(strcmp(parent, "-") == 0 ? level == 1 : gus_nodes[is].parent == above);
		}
		free(copy);
	}
	assert_true(nodes > 60);
	assert_false(gus_causal_measured_node("front", &(enum gus_node){ 0 }));
}

/* Nothing is known of a tree whose counters did not run. */
static void none(void **state)
{
	struct machine m = neoverse_n1;
	struct gus_topdown_tables tables = { 0 };
	struct gus_topdown_tree tree;
	struct gus_causal_measured out;

	(void)state;
	m.given[0].value = 0; /* no cycles to have a share of */
	tree_of(&m, &tables, &tree);
	assert_false(gus_causal_measured_make(&out, tables.v[0], &tree));
	gus_topdown_tree_free(&tree);
	gus_topdown_tables_free(&tables);
}

/* Verdicts. The model has all slots in ports; counters have half of them in memory, and nothing below that. */

static const double own[GUS_NODES_OF_TREE] = { [GUS_NODE_RETIRING] = 10, [GUS_NODE_BACKEND] = 90, [GUS_NODE_CORE] = 90,
	[GUS_NODE_DIVIDER] = 50, [GUS_NODE_PORTS] = 40 };
static const struct gus_causal_measured half_memory = { .nodes = {
	[GUS_NODE_RETIRING] = { true, false, false, 0.3, 0.3, 0.3 },
	[GUS_NODE_SPECULATION] = { true, false, false, 0.1, 0.1, 0.1 },
	[GUS_NODE_BACKEND] = { true, false, false, 0.6, 0.6, 0.6 },
	[GUS_NODE_MEMORY] = { true, false, false, 0.5, 0.45, 0.55 },
	[GUS_NODE_CORE] = { true, false, false, 0.02, 0.02, 0.02 },
} };

static struct gus_causal verdict_of(const double *slots, const double *speedups,
				    const struct gus_causal_measured *measured)
{
	static const double errors[GUS_NODES], residuals[GUS_NODES];
	struct gus_causal_given g = { slots, speedups, speedups, errors, residuals, 0.1, measured };
	struct gus_causal v;

	gus_causal_make(&v, &g);
	return v;
}

static void against_measured(void **state)
{
	static const double gains[GUS_NODES] = { [GUS_NODE_BACKEND] = 0.9, [GUS_NODE_MEMORY] = 0.8,
		[GUS_NODE_DRAM] = 0.75, [GUS_NODE_L3] = 0.01, [GUS_NODE_CORE] = 0.3, [GUS_NODE_PORTS] = 0.3 };
	struct gus_causal v = verdict_of(own, gains, &half_memory);

	(void)state;
	assert_true(near(v.nodes[GUS_NODE_MEMORY].share, 0.5) && near(v.nodes[GUS_NODE_MEMORY].promise, 1));
	assert_true(near(v.nodes[GUS_NODE_MEMORY].modelled, 0) && near(v.nodes[GUS_NODE_CORE].modelled, 0.9));
	assert_int_equal(v.nodes[GUS_NODE_MEMORY].label, GUS_LABEL_CONFIRMED);
	assert_int_equal(v.nodes[GUS_NODE_SPECULATION].label, GUS_LABEL_RULED_OUT);
	assert_int_equal(v.nodes[GUS_NODE_CORE].label, GUS_LABEL_UNSEEN); /* the model alone has slots there */
	/* Below memory nothing is measured: that which is worth it is by its gain alone, the rest is nothing. */
	assert_false(v.nodes[GUS_NODE_DRAM].known);
	assert_int_equal(v.nodes[GUS_NODE_DRAM].label, GUS_LABEL_CONFIRMED);
	assert_int_equal(v.nodes[GUS_NODE_L3].label, GUS_LABEL_NONE);
	assert_int_equal(v.nodes[GUS_NODE_PORTS].label, GUS_LABEL_UNSEEN); /* as what is above it has no slots */
	assert_int_equal(v.nodes[GUS_NODE_CLEARS].label, GUS_LABEL_NONE); /* no knob, and no counter */
	assert_int_equal(v.cause, GUS_NODE_DRAM);
	/* A cause is by its gains: where the slots are is no matter. */
	assert_int_equal(verdict_of(own, gains, NULL).cause, GUS_NODE_DRAM);
	assert_true(verdict_of(own, gains, NULL).nodes[GUS_NODE_DRAM].known);
}

/* A tree alone: nothing was turned up, so nothing is resolvable, and nothing is a cause. */
static void without_gains(void **state)
{
	struct gus_causal v = verdict_of(NULL, NULL, &half_memory);

	(void)state;
	assert_false(v.gains);
	assert_int_equal(v.cause, GUS_NODE_NONE);
	assert_int_equal(v.nodes[GUS_NODE_MEMORY].label, GUS_LABEL_OPEN);
	assert_int_equal(v.nodes[GUS_NODE_CORE].label, GUS_LABEL_NONE); /* 2 % are nothing */
	assert_int_equal(v.nodes[GUS_NODE_DRAM].label, GUS_LABEL_NONE); /* not measured */
	assert_int_equal(v.nodes[GUS_NODE_ROB].label, GUS_LABEL_NONE);
	assert_true(near(v.nodes[GUS_NODE_MEMORY].share, 0.5));
}

/* A tenth of the slots, beyond the measured interval, is said; of the part that was modelled. */
static void disputes(void **state)
{
	struct gus_causal_measured m = { .nodes = {
		[GUS_NODE_RETIRING] = { true, false, false, 0.40, 0.38, 0.42 },
		[GUS_NODE_BACKEND] = { true, false, false, 0.60, 0.58, 0.62 },
		[GUS_NODE_FRONTEND] = { true, true, false, 0.9, 0.9, 0.9 }, /* of cycles: another thing */
		[GUS_NODE_MEMORY] = { true, false, false, 0.6, 0.6, 0.6 } } };
	double modelled[GUS_NODES_OF_TREE] = { [GUS_NODE_RETIRING] = 0.521, [GUS_NODE_BACKEND] = 0.481 };
	struct gus_causal_dispute out[GUS_NODES_OF_TREE];

	(void)state;
	assert_int_equal(gus_causal_disputes(&m, modelled, 1, out), 1);
	assert_int_equal(out[0].node, GUS_NODE_RETIRING); /* 0.521 > 0.42 + 0.1; 0.481 > 0.58 - 0.1 */
	assert_true(near(out[0].modelled, 0.521) && near(out[0].low, 0.38) && near(out[0].high, 0.42));
	modelled[GUS_NODE_RETIRING] = 0.519;
	assert_int_equal(gus_causal_disputes(&m, modelled, 1, out), 0);
	modelled[GUS_NODE_BACKEND] = 0.479;
	assert_int_equal(gus_causal_disputes(&m, modelled, 1, out), 1);
	assert_int_equal(out[0].node, GUS_NODE_BACKEND);
	modelled[GUS_NODE_SPECULATION] = 1; /* not measured */
	assert_int_equal(gus_causal_disputes(&m, modelled, 1, out), 1);
	/* Half of the time is another: of this half between (0.58 - 0.5) / 0.5 and all may be the back end's. */
	modelled[GUS_NODE_BACKEND] = 0.07;
	assert_int_equal(gus_causal_disputes(&m, modelled, 0.5, out), 0);
	modelled[GUS_NODE_BACKEND] = 0.05;
	assert_int_equal(gus_causal_disputes(&m, modelled, 0.5, out), 1);
	assert_true(near(out[0].low, 0.16) && near(out[0].high, 1));
	assert_int_equal(gus_causal_disputes(&m, modelled, 0, out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines), cmocka_unit_test(all_tables), cmocka_unit_test(none),
		cmocka_unit_test(against_measured), cmocka_unit_test(without_gains), cmocka_unit_test(disputes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
