/* SPDX-License-Identifier: MIT */
/* How accesses go through memory: what waits for levels and why, and what goes wrong in L1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/verdicts/facts.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"

/* An access is told if it has so much of what a level is waited for; of a hundred accesses so many that go wrong are
 * too few to look at. */
static const double PLACE = 0.2, FEW = 0.02, STEADY = 0.5;
static const double SATURATED = 4.0 * GUS_HEARD_LINES; /* bits of so many lines are nearly all set */

static const char *const level_names[GUS_HITS] = { "L1", "L2", "L3", "memory" };

static uint32_t latency_of(const struct gus_pathology_facts *f, unsigned level)
{
	return level == GUS_HIT_MEMORY ? f->caches->memory_latency : f->caches->level[level].latency;
}

/* What the misses of an access would wait for, one after the other. */
static double waiting(const struct gus_pathology_facts *f, const double missed[GUS_HITS])
{
	double cycles = 0;

	for (unsigned level = GUS_HIT_L2; level < GUS_HITS; level++)
		cycles += missed[level] * latency_of(f, level);
	return cycles;
}

static double share_of(const struct gus_pathology_facts *f, const struct gus_pathology_access *a)
{
	double all = waiting(f, f->missed);

	return all > 0 ? waiting(f, a->missed) / all : 0;
}

/* The level that it waits most for. */
static unsigned level_of(const struct gus_pathology_facts *f, const double missed[GUS_HITS])
{
	unsigned most = GUS_HIT_L2;

	for (unsigned level = GUS_HIT_L3; level < GUS_HITS; level++)
		if (missed[level] * latency_of(f, level) > missed[most] * latency_of(f, most))
			most = level;
	return most;
}

static struct gus_pathology_cost cost_of_levels(const struct gus_pathology_facts *f, double share)
{
	static const enum gus_node nodes[GUS_HITS] = { GUS_NODE_L1, GUS_NODE_L2, GUS_NODE_L3, GUS_NODE_DRAM };
	struct gus_pathology_cost cost = { 0, 0, 0 };

	for (unsigned level = GUS_HIT_L2; level < GUS_HITS; level++)
		if (f->missed[level] > 0)
			cost = gus_pathology_dearer(cost, gus_pathology_of_node(f, nodes[level], share));
	return cost;
}

static bool is_steady(const struct gus_pathology_access *a)
{
	return a->heard && (double)a->heard->steady >= STEADY * (double)a->heard->accesses;
}

/* Whether its address waits for what it loaded the turn before. */
static bool is_chased(const struct gus_pathology_facts *f, const struct gus_pathology_access *a)
{
	for (size_t i = 0; i < f->circles.n; i++)
		for (size_t k = 0; f->circles.v[i].load && k < f->circles.v[i].n; k++)
			if (f->circles.v[i].ops[k] == a->insn->op)
				return true;
	return false;
}

/* A register of the address that a load of the region has written. */
static bool is_indirect(const struct gus_pathology_facts *f, const struct gus_pathology_access *a)
{
	for (size_t i = 0; i < f->insns.n; i++) {
		const struct gus_insn_info *info = f->insns.v[i].info;

		for (unsigned k = 0; f->insns.v[i].number != a->insn->number && k < info->access_count; k++)
			if ((info->access[k].use & GUS_ACCESS_WRITE) && info->memory_count &&
			    (info->memory[0].use & GUS_ACCESS_READ) && info->access[k].reg &&
			    (info->access[k].reg == a->memory->base || info->access[k].reg == a->memory->index) &&
			    !(info->flags & GUS_INSN_STACK))
				return true;
	}
	return false;
}

static bool is_on(const struct gus_pathology_circle *c, uint32_t op)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->ops[i] == op)
			return true;
	return false;
}

/* Its address is what a chain of loads has come to, as the rest of a list's node is: nobody knows it earlier. */
static bool hangs_on_chain(const struct gus_pathology_facts *f, const struct gus_pathology_access *a)
{
	for (size_t n = 0; n < f->circles.n; n++)
		for (size_t i = 0; f->circles.v[n].load && i < f->insns.n; i++) {
			const struct gus_insn_info *info = f->insns.v[i].info;

			for (unsigned k = 0; is_on(&f->circles.v[n], f->insns.v[i].op) && k < info->access_count; k++)
				if ((info->access[k].use & GUS_ACCESS_WRITE) && info->access[k].reg &&
				    (info->access[k].reg == a->memory->base || info->access[k].reg == a->memory->index))
					return true;
		}
	return false;
}

/* Bandwidth. */

/* Of bandwidth and latency that which is in front hides the other, so that more of it alone gains nothing. */
static bool is_narrow(const struct gus_pathology_facts *f)
{
	double part = gus_pathology_of_set(f, GUS_PATHOLOGY_SET_BANDWIDTH, 1).part;

	return part >= GUS_CAUSAL_WORTH / (1 + GUS_CAUSAL_WORTH);
}

static const struct gus_pathology_access *most_missed(const struct gus_pathology_facts *f)
{
	const struct gus_pathology_access *most = NULL;

	for (size_t i = 0; i < f->accesses.n; i++)
		if (waiting(f, f->accesses.v[i].missed) > (most ? waiting(f, most->missed) : 0))
			most = &f->accesses.v[i];
	return most;
}

static void detect_bandwidth(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	const struct gus_pathology_access *most = most_missed(f);
	unsigned level = level_of(f, f->missed), holds = level == GUS_HIT_L2 ? 0 : level - 2;

	if (!most || !is_narrow(f))
		return;
	if (!f->caches->level[holds].bytes)
		holds = 0;
	gus_pathology_add(f, out, GUS_PATHOLOGY_BANDWIDTH, most->insn,
			  gus_pathology_of_set(f, GUS_PATHOLOGY_SET_BANDWIDTH, 1), "block it: work on pieces of %llu "
			  "KiB, half of %s, and do with each all that is to be done; it is not how far %s is that "
			  "takes the time, but how much comes at a time",
			  (unsigned long long)(f->caches->level[holds].bytes / 2048), level_names[holds],
			  level_names[level]);
}

/* Latency: how far ahead of its use a line has to be asked for, in iterations. */
static void detect_latency(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	for (size_t i = 0; i < f->accesses.n; i++) {
		const struct gus_pathology_access *a = &f->accesses.v[i];
		unsigned level = level_of(f, a->missed);
		double distance = f->per_iteration > 0 ? ceil(latency_of(f, level) / f->per_iteration) : 0;

		if (!a->memory->load || share_of(f, a) < PLACE || is_chased(f, a) || hangs_on_chain(f, a) ||
		    is_narrow(f) ||
		    waiting(f, a->missed) < FEW * (double)a->met->accesses)
			continue;
		gus_pathology_add(f, out, GUS_PATHOLOGY_LATENCY, a->insn, cost_of_levels(f, share_of(f, a)),
				  "prefetch it %.0f iteration%s ahead%s: %s takes %u cycles, and an iteration %.1f",
				  fmax(distance, 1), distance > 1 ? "s" : "", is_indirect(f, a) ?
				  " (its index is there by then, if that is loaded ahead as well)" : "",
				  level_names[level], latency_of(f, level), f->per_iteration);
	}
}

/* Lines of which little is used. */
static void detect_strides(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	uint32_t line = f->caches->line_size;

	for (size_t i = 0; i < f->accesses.n; i++) {
		const struct gus_pathology_access *a = &f->accesses.v[i];
		int64_t stride = is_steady(a) ? llabs(a->heard->stride) : 0;
		double used;

		if (stride <= (int64_t)(a->heard ? a->heard->bytes : 0) || share_of(f, a) < PLACE)
			continue;
		used = fmin(stride >= line ? a->heard->bytes : (double)a->heard->bytes * line / (double)stride, line);
		gus_pathology_add(f, out, GUS_PATHOLOGY_STRIDE, a->insn,
				  cost_of_levels(f, share_of(f, a) * (1 - used / line)), "go from one element to the "
				  "next (other order of loops, arrays instead of structures): strides of %lld bytes "
				  "use %.0f of a line's %u", (long long)a->heard->stride, used, line);
	}
}

/* Lines that were there before, and are fetched again. */
static void detect_reuse(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	for (size_t i = 0; i < f->accesses.n; i++) {
		const struct gus_pathology_access *a = &f->accesses.v[i];
		double again = 0, lines, all = a->missed[GUS_HIT_L3] + a->missed[GUS_HIT_MEMORY];

		if (!a->heard || !a->heard->places || share_of(f, a) < PLACE)
			continue;
		lines = gus_heard_lines(a->heard->places->lines);
		if (lines > SATURATED) /* so many that nobody knows how many */
			continue;
		for (unsigned level = GUS_HIT_L2; level < GUS_HITS; level++)
			again += (double)a->heard->places->misses[level];
		if (again < 2 * lines || all < FEW * (double)a->met->accesses)
			continue;
		gus_pathology_add(f, out, GUS_PATHOLOGY_REUSE, a->insn,
				  cost_of_levels(f, share_of(f, a) * (1 - lines / again)), "use it again before it is "
				  "gone (blocking, loops joined): each of its %.0f lines was fetched %.1f times", lines,
				  again / lines);
	}
}

static void detect_tlb(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	const struct gus_pathology_access *most = NULL;
	double all = 0, of_most = 0;

	for (size_t i = 0; i < f->accesses.n; i++) {
		const struct gus_pathology_access *a = &f->accesses.v[i];
		double missed = (double)a->met->walks + (double)a->met->second_tlb;

		all += missed;
		if (missed > of_most) {
			most = a;
			of_most = missed;
		}
	}
	if (!most || of_most < FEW * (double)most->met->accesses)
		return;
	gus_pathology_add(f, out, GUS_PATHOLOGY_TLB, most->insn, gus_pathology_of_node(f, GUS_NODE_TLB, 1),
			  "huge pages (madvise, hugetlbfs), or what is used together on fewer pages: %.0f %% of its "
			  "accesses miss the first TLB, %.0f %% the second; it has %.0f %% of all such misses",
			  100 * of_most / (double)most->met->accesses, 100 * (double)most->met->walks /
			  (double)most->met->accesses, 100 * of_most / all);
}

/* L1. */

static void detect_splits(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	const struct gus_pathology_access *most = NULL;

	for (size_t i = 0; i < f->accesses.n; i++)
		if (f->accesses.v[i].heard && f->accesses.v[i].heard->splits &&
		    (!most || f->accesses.v[i].heard->splits > most->heard->splits))
			most = &f->accesses.v[i];
	if (!most || (double)most->heard->splits < FEW * (double)most->heard->accesses)
		return;
	gus_pathology_add(f, out, GUS_PATHOLOGY_SPLITS, most->insn,
			  gus_pathology_of_set(f, GUS_PATHOLOGY_SET_SPLITS, 1), "align it to %u bytes (aligned_alloc, "
			  "or turns before the loop): %.0f %% of its accesses of %u bytes cross a line, %.1f %% a page",
			  most->heard->bytes, 100 * (double)most->heard->splits / (double)most->heard->accesses,
			  most->heard->bytes, 100 * (double)most->heard->page_splits / (double)most->heard->accesses);
}

static void name_store(const struct gus_pathology_facts *f, uint32_t op, char *out, size_t room)
{
	const struct gus_pathology_insn *insn = op == GUS_HEARD_NONE ? NULL : gus_pathology_insn_of(f, op);

	if (insn)
		snprintf(out, room, "the store at +0x%llx (%s)", (unsigned long long)(insn->address -
			 f->function->address), insn->text);
	else
		snprintf(out, room, "a store elsewhere");
}

/* Loads that a store puts off, because it has a part of their bytes, or seems to. */
static void detect_put_off(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	const struct gus_pathology_insn *blocked = NULL, *aliased = NULL;
	const struct gus_heard_op *by = NULL, *with = NULL;
	char store[160];

	for (size_t i = 0; i < f->insns.n; i++) {
		const struct gus_heard_op *op = f->insns.v[i].first ? gus_heard_op(f->g->heard, f->insns.v[i].op) :
			NULL;

		if (op && (double)op->blocked > FEW * (double)op->executed && (!by || op->blocked > by->blocked)) {
			blocked = &f->insns.v[i];
			by = op;
		}
		if (op && (double)op->aliased > FEW * (double)op->executed && (!with || op->aliased > with->aliased)) {
			aliased = &f->insns.v[i];
			with = op;
		}
	}
	if (blocked) {
		name_store(f, by->blocked_by, store, sizeof(store));
		gus_pathology_add(f, out, GUS_PATHOLOGY_BLOCKED, blocked,
				  gus_pathology_of_node(f, GUS_NODE_FORWARDING, 1), "load what was stored in the same "
				  "size and place: %s has only a part of its bytes, %.0f %% of the times", store,
				  100 * (double)by->blocked / (double)by->executed);
	}
	if (aliased) {
		name_store(f, with->aliased_with, store, sizeof(store));
		gus_pathology_add(f, out, GUS_PATHOLOGY_ALIAS, aliased, gus_pathology_of_node(f, GUS_NODE_ALIASES, 1),
				  "place the arrays at another distance, not a multiple of 4,096 bytes (add %u): it is "
				  "taken for %s %.0f %% of the times", f->caches->line_size, store,
				  100 * (double)with->aliased / (double)with->executed);
	}
}

void gus_pathology_detect_memory(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	if (waiting(f, f->missed) > 0) {
		detect_bandwidth(f, out);
		detect_latency(f, out);
		detect_strides(f, out);
		detect_reuse(f, out);
	}
	detect_tlb(f, out);
	detect_splits(f, out);
	detect_put_off(f, out);
}
