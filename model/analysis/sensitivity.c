/* SPDX-License-Identifier: MIT */
#include "model/analysis/sensitivity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

struct list gus_vec(struct gus_sensitivity);

static void add(struct list *l, enum gus_knob_kind kind, uint32_t number, double weight, const char *name,
		const char *which)
{
	struct gus_sensitivity one = { .knob = { kind, number, weight } };

	snprintf(one.name, sizeof(one.name), "%s%s%s", name, which ? " " : "", which ? which : "");
	gus_vec_push(l, one);
}

void gus_sensitivity_group_name(const struct gus_program *p, uint64_t ports, char *out, size_t room)
{
	bool numbered = true;
	size_t n = 0;

	for (uint32_t i = 0; i < p->ports_n; i++)
		if (ports >> i & 1)
			numbered &= p->port_names[i][0] == 'p' && strlen(p->port_names[i]) == 2;
	out[0] = '\0';
	for (uint32_t i = 0; i < p->ports_n && n < room; i++)
		if (ports >> i & 1)
			n += (size_t)snprintf(out + n, room - n, "%s%s", !n ? "" : numbered ? "" : "+",
					      p->port_names[i] + (numbered && n));
}

static void list_ports(struct list *l, const struct gus_program *p, const struct gus_stream_resources *groups,
		       double weight)
{
	char name[56];

	for (size_t i = 0; i < groups->n; i++) {
		gus_sensitivity_group_name(p, groups->ports[i], name, sizeof(name));
		add(l, GUS_KNOB_PORTS, (uint32_t)i, weight, "ports", name);
	}
}

static void list_classes(struct list *l, const struct gus_program *p, double weight)
{
	bool present[GUS_INSN_CLASSES] = { false };

	for (uint32_t i = 0; i < p->ops_n; i++)
		for (uint32_t u = 0; u < p->ops[i].uops_n; u++)
			if (p->uops[p->ops[i].uop + u].kind == GUS_UOP_COMPUTE)
				present[p->insns[p->ops[i].insn].info.class] = true;
	for (uint32_t class = 0; class < GUS_INSN_CLASSES; class++)
		if (present[class])
			add(l, GUS_KNOB_LATENCY, class, weight, "latency", class == GUS_INSN_LOAD ? "after load" :
			    gus_insn_class_name((enum gus_insn_class)class)); /* "latency load" is that of L1 */
}

/* What only counts where not all accesses hit L1, or branches are mispredicted. */
static void list_oracles(struct list *l, const struct gus_core_config *c, bool memory, bool branch, double weight)
{
	static const char *const levels[GUS_HITS] = { "L1", "L2", "L3", "memory" };
	const uint32_t bandwidth[GUS_HITS] = { 0, c->l2_bandwidth, c->l3_bandwidth, c->memory_bandwidth };

	for (uint32_t level = GUS_HIT_L2; memory && level < GUS_HITS; level++) {
		add(l, GUS_KNOB_LEVEL_LATENCY, level, weight, "latency", levels[level]);
		if (bandwidth[level])
			add(l, GUS_KNOB_BANDWIDTH, level, weight, "bandwidth", levels[level]);
	}
	if (memory && c->l1d_misses)
		add(l, GUS_KNOB_MISS_BUFFERS, 0, weight, "miss buffers", NULL);
	if (memory && c->stlb_latency)
		add(l, GUS_KNOB_TLB, 0, weight, "latency second TLB", NULL);
	if (memory && c->page_walk_latency)
		add(l, GUS_KNOB_TLB, 1, weight, "page walks", NULL);
	if (branch)
		add(l, GUS_KNOB_MISPREDICT, 0, weight, "mispredict penalty", NULL);
}

static void list_rest(struct list *l, const struct gus_program *p, const struct gus_core_config *c, double weight)
{
	bool loads = false, stores = false, units[32] = { false };

	for (uint32_t i = 0; i < p->uops_n; i++) {
		loads |= p->uops[i].kind == GUS_UOP_LOAD;
		stores |= p->uops[i].kind == GUS_UOP_STORE_DATA;
		units[p->uops[i].unit % 32] |= p->uops[i].unit != 0;
	}
	for (uint32_t i = 0; i < 32; i++)
		if (units[i])
			add(l, GUS_KNOB_UNITS, i, weight, "unit", p->uarch && i - 1 < p->uarch->units_n ?
			    p->uarch->units[i - 1] : "");
	if (loads)
		add(l, GUS_KNOB_LOAD_LATENCY, 0, weight, "latency load", NULL);
	add(l, GUS_KNOB_ISSUE, 0, weight, "front end", NULL);
	add(l, GUS_KNOB_RETIRE, 0, weight, "retirement", NULL);
	if (c->rob)
		add(l, GUS_KNOB_ROB, 0, weight, "reorder buffer", NULL);
	if (c->rs || c->rs_int || c->rs_vector || c->rs_memory)
		add(l, GUS_KNOB_RS, 0, weight, "reservation station", NULL);
	if (c->load_buffer && loads)
		add(l, GUS_KNOB_LOAD_BUFFER, 0, weight, "load buffer", NULL);
	if (c->store_buffer && stores)
		add(l, GUS_KNOB_STORE_BUFFER, 0, weight, "store buffer", NULL);
	if (c->l1d_stores && stores)
		add(l, GUS_KNOB_STORES, 0, weight, "stores to L1", NULL);
	if (c->renames || c->int_renames || c->vector_renames || c->mask_renames)
		add(l, GUS_KNOB_REGISTERS, 0, weight, "registers", NULL);
	if (loads && c->l1d_bank_ports)
		add(l, GUS_KNOB_BANKS, 0, weight, "banks of L1", NULL);
	if ((loads || stores) && c->line_split_penalty)
		add(l, GUS_KNOB_LINE_SPLITS, 0, weight, "line splits", NULL);
	if (stores && loads && c->alias_penalty)
		add(l, GUS_KNOB_ALIAS, 0, weight, "4K aliases", NULL);
	if (stores && loads && c->store_forward_latency)
		add(l, GUS_KNOB_FORWARD, 0, weight, "store forwarding", NULL);
	if (stores && loads && c->store_forward_blocked)
		add(l, GUS_KNOB_FORWARD, 1, weight, "blocked forwarding", NULL);
}

/* As many knobs as lanes are left beside the nominal one. */
static int run_batch(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		     struct gus_sensitivity *knobs, size_t n, double *nominal, struct gus_error *err)
{
	struct gus_stream_lane lanes[GUS_STREAM_LANES] = { { NULL, 0 } };
	struct gus_stream_options options = *o;
	struct gus_stream_result r;

	for (size_t i = 0; i < n; i++)
		lanes[i + 1] = (struct gus_stream_lane){ &knobs[i].knob, 1 };
	options.lanes = lanes;
	options.lanes_n = n + 1;
	if (gus_stream_run(p, c, &options, &r, err) != 0)
		return -1;
	*nominal = r.per_iteration[0];
	for (size_t i = 0; i < n; i++)
		knobs[i].speedup = r.per_iteration[i + 1] > 0 ? r.per_iteration[0] / r.per_iteration[i + 1] - 1 : 0;
	return 0;
}

/* Each lane the set without one of its knobs; lane 0 the whole set. times[i] of the set without its i-th. */
static int run_without(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		       const struct gus_sensitivity *knobs, const int *set, size_t n, double *times, double *whole,
		       struct gus_error *err)
{
	struct gus_knob *lists = gus_alloc((n + 1) * (n + 1) * sizeof(*lists));
	struct gus_stream_lane lanes[GUS_STREAM_LANES];
	struct gus_stream_options options = *o;
	struct gus_stream_result r;
	int status = 0;

	for (size_t first = 0; first <= n && !status; first += GUS_STREAM_LANES) {
		size_t lanes_n = n + 1 - first < GUS_STREAM_LANES ? n + 1 - first : GUS_STREAM_LANES;

		for (size_t lane = 0; lane < lanes_n; lane++) {
			size_t without = first + lane, k = 0; /* n: without none */

			for (size_t i = 0; i < n; i++)
				if (i != without)
					lists[without * (n + 1) + k++] = knobs[set[i]].knob;
			lanes[lane] = (struct gus_stream_lane){ lists + without * (n + 1), k };
		}
		options.lanes = lanes;
		options.lanes_n = lanes_n;
		status = gus_stream_run(p, c, &options, &r, err);
		for (size_t lane = 0; lane < lanes_n && !status; lane++)
			*(first + lane < n ? &times[first + lane] : whole) = r.per_iteration[lane];
	}
	free(lists);
	return status;
}

static double gain(double before, double after)
{
	return after > 0 ? before / after - 1 : 0;
}

int gus_sensitivity_set(const struct gus_program *p, const struct gus_core_config *c,
			const struct gus_stream_options *o,
			const struct gus_sensitivity *knobs, int n, double target, int *set, double *speedup,
				double *all, struct gus_error *err)
{
	struct gus_stream_result nominal;
	double *times = gus_zalloc(((size_t)n + 1) * sizeof(*times)), whole = 0;
	int left = n, status;

	for (int i = 0; i < n; i++)
		set[i] = i;
	status = gus_stream_run(p, c, o, &nominal, err);
	if (!status)
		status = run_without(p, c, o, knobs, set, (size_t)left, times, &whole, err);
	*all = *speedup = gain(nominal.per_iteration[0], whole);
	if (!(target > 0))
		target = 0.95 * *all;
	if (!status && (*all < target || *all < 0.001))
		left = 0;
	while (!status && left > 1) {
		int least = 0;

		for (int i = 1; i < left; i++)
			if (times[i] < times[least])
				least = i;
		if (gain(nominal.per_iteration[0], times[least]) < target)
			break;
		*speedup = gain(nominal.per_iteration[0], times[least]);
		memmove(set + least, set + least + 1, (size_t)(left - least - 1) * sizeof(*set));
		left--;
		status = run_without(p, c, o, knobs, set, (size_t)left, times, &whole, err);
	}
	free(times);
	return status ? -1 : left;
}

void gus_sensitivity_sort(struct gus_sensitivity *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct gus_sensitivity one = v[i];
		size_t k = i;

		for (; k && v[k - 1].speedup < one.speedup; k--)
			v[k] = v[k - 1];
		v[k] = one;
	}
}

int gus_sensitivity_list(const struct gus_program *p, const struct gus_stream_resources *groups,
			 const struct gus_core_config *c,
			 bool memory, bool branch, double weight, struct gus_sensitivity **out)
{
	struct list l = { 0 };

	list_ports(&l, p, groups, weight);
	list_classes(&l, p, weight);
	list_rest(&l, p, c, weight);
	list_oracles(&l, c, memory, branch, weight);
	*out = l.v;
	return (int)l.n;
}

int gus_sensitivity_run(const struct gus_program *p, const struct gus_core_config *c,
			const struct gus_stream_options *o,
			double weight, struct gus_sensitivity **out, double *nominal, struct gus_error *err)
{
	struct gus_stream_resources groups;
	int n;

	gus_stream_resources_of(p, &groups);
	n = gus_sensitivity_list(p, &groups, c, o->memory != NULL, o->branch != NULL, weight, out);

	for (int i = 0; i < n; i += GUS_STREAM_LANES - 1)
		if (run_batch(p, c, o, *out + i, (size_t)(n - i < GUS_STREAM_LANES - 1 ? n - i : GUS_STREAM_LANES - 1),
			      nominal, err) != 0) {
			free(*out);
			return -1;
		}
	gus_sensitivity_sort(*out, (size_t)n);
	return n;
}
