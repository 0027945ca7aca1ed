/* SPDX-License-Identifier: MIT */
/* Results that go round a loop: sums and products that several accumulators make quicker, and others that want another
 * order, other instructions, or registers instead of memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/verdicts/facts.h"
#include "model/machine/config.h"

static bool is_move(const struct gus_insn_info *info)
{
	return info->class == GUS_INSN_MOV || info->class == GUS_INSN_VEC_MOV;
}

/* a = a op b with any order of all b: floating point as far as one allows that its sums are rounded otherwise. */
static bool is_associative(const struct gus_pathology_insn *i, uint8_t reg)
{
	const char *text = i->text;
	bool written = false;

	for (unsigned k = 0; k < i->info->access_count; k++)
		written |= i->info->access[k].reg == reg && (i->info->access[k].use & GUS_ACCESS_WRITE);
	switch (i->info->class) {
	case GUS_INSN_FP_FMA: /* the sum, and not a factor, has to be what goes round */
		return strstr(text, "231") ? written : strncmp(text, "fmla", 4) == 0 && written;
	case GUS_INSN_FP_ADD:
	case GUS_INSN_FP_MUL:
	case GUS_INSN_ALU:
	case GUS_INSN_MUL:
	case GUS_INSN_VEC_INT:
	case GUS_INSN_VEC_MUL:
	case GUS_INSN_VEC_LOGIC:
		return true;
	default:
		return false;
	}
}

bool gus_pathology_is_reduction(const struct gus_pathology_facts *f, const struct gus_pathology_circle *c,
				const struct gus_pathology_insn **one, unsigned *combining)
{
	*one = NULL;
	*combining = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct gus_pathology_insn *insn = gus_pathology_insn_of(f, c->ops[i]);

		if (is_move(insn->info))
			continue;
		if (!is_associative(insn, c->regs[i]) || (*one && insn->info->class != (*one)->info->class))
			return false;
		*one = *one ? *one : insn;
		++*combining;
	}
	return *one != NULL;
}

/* How many of an op the machine can begin in a cycle: by the ports of the uop that computes. */
static double throughput_of(const struct gus_pathology_facts *f, uint32_t number)
{
	const struct gus_op *op = &f->t->program->ops[number];

	for (uint32_t i = op->uop; i < op->uop + op->uops_n; i++) {
		const struct gus_uop *u = &f->t->program->uops[i];

		if (u->kind == GUS_UOP_COMPUTE && u->ports)
			return (double)__builtin_popcountll(u->ports) / (u->port_cycles ? u->port_cycles : 1);
	}
	return 1;
}

/* Circles that are such reductions, too. */
static unsigned count_like(const struct gus_pathology_facts *f, const struct gus_pathology_insn *one)
{
	unsigned n = 0, combining;

	for (size_t i = 0; i < f->circles.n; i++) {
		const struct gus_pathology_insn *other;

		n += f->circles.v[i].share >= GUS_PATHOLOGY_BINDS &&
			gus_pathology_is_reduction(f, &f->circles.v[i], &other, &combining) &&
			!gus_pathology_counts(other) && other->info->class == one->info->class;
	}
	return n;
}

static void mnemonic_of(const struct gus_pathology_insn *insn, char out[32])
{
	snprintf(out, 32, "%.*s", (int)strcspn(insn->text, " "), insn->text);
}

/* In a turn so many operations, one behind the other, take c->cycles: of as many chains side by side as fill their
 * latency with what the ports can begin none waits. */
static void tell_reduction(const struct gus_pathology_facts *f, const struct gus_pathology_circle *c,
			   const struct gus_pathology_insn *one, unsigned combining, struct gus_pathologies *out)
{
	double latency = c->cycles / combining, throughput = throughput_of(f, one->op);
	unsigned has = count_like(f, one), wants = (unsigned)ceil(latency * throughput - 0.01);
	char name[32];

	mnemonic_of(one, name);
	if (wants <= has)
		return;
	gus_pathology_add(f, out, GUS_PATHOLOGY_REDUCTION, one,
			  gus_pathology_of_node(f, GUS_NODE_CHAINS, 1), "%u accumulators of %s instead of %u: each "
			  "takes %.1f cycles, and %.3g of them can begin in a cycle",
			  wants, name, has, latency, throughput);
}

static void list_steps(const struct gus_pathology_facts *f, const struct gus_pathology_circle *c, char *out,
		       size_t room)
{
	size_t at = 0;

	*out = 0;
	for (size_t i = c->n; i-- > 0 && at + 40 < room;) { /* edges lead backwards */
		char name[32];

		mnemonic_of(gus_pathology_insn_of(f, c->ops[i]), name);
		at += (size_t)snprintf(out + at, room - at, "%s%s", at ? ", " : "", name);
	}
}

/* The one of it that misses most, with its misses: whether it is memory that it waits for. */
static double misses_on(const struct gus_pathology_facts *f, const struct gus_pathology_circle *c)
{
	double all = 0;

	for (size_t k = 0; k < f->accesses.n; k++)
		for (size_t i = 0; i < c->n; i++)
			for (unsigned level = GUS_HIT_L2; f->accesses.v[k].insn->op == c->ops[i] && level < GUS_HITS;
			     level++)
				all += f->accesses.v[k].missed[level];
	return all;
}

static struct gus_pathology_cost cost_of_loads(const struct gus_pathology_facts *f,
					       const struct gus_pathology_circle *c)
{
	struct gus_pathology_cost cost = gus_pathology_of_node(f, GUS_NODE_LOAD_CHAINS, 1);

	if (misses_on(f, c) > 0)
		cost = gus_pathology_dearer(cost, gus_pathology_of_node(f, GUS_NODE_MEMORY, 1));
	return cost;
}

/* The load of a circle of loads. */
static const struct gus_pathology_insn *load_of(const struct gus_pathology_facts *f,
						const struct gus_pathology_circle *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (f->t->program->ops[c->ops[i]].loads)
			return gus_pathology_insn_of(f, c->ops[i]);
	return gus_pathology_insn_of(f, c->ops[0]);
}

/* Where a circle takes the place of another finding is decided by what is on it. */
static void tell_circle(const struct gus_pathology_facts *f, const struct gus_pathology_circle *c,
			struct gus_pathologies *out)
{
	const struct gus_pathology_insn *one, *first = gus_pathology_insn_of(f, c->ops[c->n - 1]);
	unsigned combining;
	char steps[160];

	list_steps(f, c, steps, sizeof(steps));
	if (c->memory)
		gus_pathology_add(f, out, GUS_PATHOLOGY_MEMORY_CHAIN, first,
				  gus_pathology_of_node(f, GUS_NODE_FORWARDING, 1), "keep it in a register: %s go "
				  "round through memory in %.1f cycles", steps, c->cycles);
	else if (c->load)
		gus_pathology_add(f, out, GUS_PATHOLOGY_LOAD_CHAIN, load_of(f, c), cost_of_loads(f, c),
				  "walk several chains side by side, or indices instead of pointers: each address "
				  "waits for the load before, %.1f cycles a turn (%s)", c->cycles, steps);
	else if (gus_pathology_is_reduction(f, c, &one, &combining))
		tell_reduction(f, c, one, combining, out);
	else
		gus_pathology_add(f, out, GUS_PATHOLOGY_CHAIN, first, gus_pathology_of_node(f, GUS_NODE_CHAINS, 1),
				  "reassociate, or take cheaper steps: %s go round in %.1f cycles", steps, c->cycles);
}

static bool told_already(const struct gus_pathologies *out, enum gus_pathology kind)
{
	for (size_t i = 0; i < out->n; i++)
		if (out->v[i].kind == kind)
			return true;
	return false;
}

/* A register that is written in part and never meant to keep the rest: what it waits for is by accident. */
static const struct gus_pathology_insn *false_dependence(const struct gus_pathology_facts *f,
							 const struct gus_pathology_circle *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct gus_pathology_insn *insn = gus_pathology_insn_of(f, c->ops[i]);
		const struct gus_insn_info *info = insn->info;
		bool copies = info->class == GUS_INSN_CONVERT || info->class == GUS_INSN_FP_SQRT ||
			info->class == GUS_INSN_FP_OTHER || info->class == GUS_INSN_MOV || info->class == GUS_INSN_LOAD;

		for (unsigned k = 0; copies && k < info->access_count; k++)
			if (info->access[k].reg == c->regs[i] && (info->access[k].use & GUS_ACCESS_WRITE) &&
			    (info->access[k].use & GUS_ACCESS_KEEP))
				return insn;
	}
	return NULL;
}

/* Which unrolling shortens, and not more counters. */
static bool only_counts(const struct gus_pathology_facts *f, const struct gus_pathology_circle *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->memory || !gus_pathology_counts(gus_pathology_insn_of(f, c->ops[i])))
			return false;
	return true;
}

void gus_pathology_detect_chains(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	for (size_t i = 0; i < f->circles.n; i++) {
		const struct gus_pathology_circle *c = &f->circles.v[i];
		const struct gus_pathology_insn *by_accident = c->memory ? NULL : false_dependence(f, c);
		struct gus_pathologies one = { 0 };

		if (c->share < GUS_PATHOLOGY_BINDS || only_counts(f, c))
			continue;
		if (by_accident)
			gus_pathology_add(f, &one, GUS_PATHOLOGY_PARTIAL, by_accident,
					  gus_pathology_of_node(f, GUS_NODE_CHAINS, 1), "clear the register before, or "
					  "write all of it: what it had waits for the turn before, %.1f cycles",
					  c->cycles);
		else
			tell_circle(f, c, &one);
		if (one.n && !told_already(out, one.v[0].kind)) /* of several that are alike the first */
			gus_vec_push(out, one.v[0]);
		gus_vec_free(&one);
	}
}
