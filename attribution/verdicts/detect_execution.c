/* SPDX-License-Identifier: MIT */
/* What instructions need of the core: ports, dividers, conversions, parts of registers, slots of the front end and of
 * retirement. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attribution/verdicts/facts.h"
#include "model/analysis/sensitivity.h"
#include "model/machine/config.h"

/* Ports are full when they are needed for so much of the time, and decoders matter when they have so many of the
 * blocks; a kind of instruction is many when it is so many of all. */
static const double FULL = 0.75, DECODED = 0.2, MANY = 0.05;
/* Of additions and multiplications the one is that many times the other. */
static const double UNEVEN = 1.5;

static double need_of(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i, uint64_t ports)
{
	const struct gus_op *op = &f->t->program->ops[i->op];
	double need = 0;

	for (uint32_t k = op->uop; i->first && k < op->uop + op->uops_n; k++) {
		const struct gus_uop *u = &f->t->program->uops[k];

		if (u->ports && !(u->ports & ~ports))
			need += i->executed * (u->port_cycles ? u->port_cycles : 1);
	}
	return need / __builtin_popcountll(ports);
}

/* The ports that are needed most, and for what part of the time; of equal ones the fewest. */
static uint64_t busiest(const struct gus_pathology_facts *f, double *part)
{
	const struct gus_stream_resources *groups = &f->t->groups_of_ports;
	uint64_t ports = 0;

	*part = 0;
	for (size_t g = 0; g < groups->n && f->cycles > 0; g++) {
		double need = 0;

		for (size_t i = 0; i < f->insns.n; i++)
			need += need_of(f, &f->insns.v[i], groups->ports[g]);
		if (need / f->cycles > *part * 1.001 || (ports && need / f->cycles > *part * 0.999 &&
		    __builtin_popcountll(groups->ports[g]) < __builtin_popcountll(ports))) {
			*part = need / f->cycles;
			ports = groups->ports[g];
		}
	}
	return ports;
}

enum { NAMED = 3 };

/* Those that need ports most, each instruction once. */
static const struct gus_pathology_insn *name_users(const struct gus_pathology_facts *f, uint64_t ports, char *out,
						   size_t room)
{
	const struct gus_pathology_insn *most[NAMED] = { NULL };
	size_t at = 0;

	for (size_t i = 0; i < f->insns.n; i++) {
		const struct gus_pathology_insn *insn = &f->insns.v[i];

		for (unsigned k = 0; k < NAMED && need_of(f, insn, ports) > 0; k++)
			if (!most[k] || need_of(f, insn, ports) > need_of(f, most[k], ports)) {
				const struct gus_pathology_insn *less = most[k];

				most[k] = insn;
				insn = less;
				if (!insn)
					break;
			}
	}
	*out = 0;
	for (unsigned k = 0; k < NAMED && most[k]; k++)
		at += (size_t)snprintf(out + at, room - at, "%s%.*s at +0x%llx", k ? ", " : "",
				       (int)strcspn(most[k]->text, " "), most[k]->text,
				       (unsigned long long)(most[k]->address - f->function->address));
	return most[0];
}

/* Additions and multiplications of floating point: their cycles, and the ports that they may take. */
struct kind { double need; uint64_t ports; };

static void add_kind(const struct gus_pathology_facts *f, enum gus_insn_class class, struct kind *kind)
{
	for (size_t i = 0; i < f->insns.n; i++) {
		const struct gus_pathology_insn *insn = &f->insns.v[i];
		const struct gus_op *op = &f->t->program->ops[insn->op];

		for (uint32_t k = op->uop; insn->first && insn->info->class == class && k < op->uop + op->uops_n; k++)
			if (f->t->program->uops[k].kind == GUS_UOP_COMPUTE) {
				kind->need += insn->executed;
				kind->ports |= f->t->program->uops[k].ports;
			}
	}
}

/* Whether the busiest ports are those that additions have and multiplications have not, or the other way round. */
static void detect_add_mul(const struct gus_pathology_facts *f, uint64_t ports, const struct gus_pathology_insn *insn,
			   struct gus_pathologies *out)
{
	struct kind add = { 0, 0 }, mul = { 0, 0 };
	const struct kind *more, *less;

	add_kind(f, GUS_INSN_FP_ADD, &add);
	add_kind(f, GUS_INSN_FP_MUL, &mul);
	more = add.need >= mul.need ? &add : &mul;
	less = more == &add ? &mul : &add;
	if (!(more->need > 0) || more->need < UNEVEN * less->need || !(more->ports & ports) || (ports & ~more->ports) ||
	    (less->ports && !(less->ports & ~more->ports)))
		return;
	if (!less->ports && f->core->issue_width && __builtin_popcountll(more->ports) > 1)
		return; /* nobody knows where the others would go, but here they would have these ports, too */
	gus_pathology_add(f, out, GUS_PATHOLOGY_ADD_MUL, insn, gus_pathology_of_set(f, GUS_PATHOLOGY_SET_PORTS, 1),
			  "%s to one: fuse them (fma), or have the %s do some of it", more == &add ?
			  "additions are many, and multiplications few" : "multiplications are many, and additions few",
			  more == &add ? "multipliers" : "adders");
}

static void detect_ports(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	const struct gus_pathology_insn *insn;
	char group[64], users[160];
	double part;
	uint64_t ports = busiest(f, &part);

	if (!ports || part < FULL)
		return;
	insn = name_users(f, ports, users, sizeof(users));
	gus_sensitivity_group_name(f->t->program, ports, group, sizeof(group));
	gus_pathology_add(f, out, GUS_PATHOLOGY_PORTS, insn, gus_pathology_of_set(f, GUS_PATHOLOGY_SET_PORTS, 1),
			  "fewer of what needs %s, which %s for %.0f %% of the time: %s", group,
			  __builtin_popcountll(ports) > 1 ? "are busy" : "is busy", 100 * fmin(part, 1), users);
	detect_add_mul(f, ports, insn, out);
}

/* Of instructions that `takes` says: the sum of what is charged, how often they were executed, and the dearest. */
struct picked { double charged, executed; const struct gus_pathology_insn *most; };

static struct picked pick(const struct gus_pathology_facts *f, bool (*takes)(const struct gus_pathology_facts *f,
			  const struct gus_pathology_insn *i))
{
	struct picked p = { 0, 0, NULL };

	for (size_t i = 0; i < f->insns.n; i++) {
		const struct gus_pathology_insn *insn = &f->insns.v[i];

		if (!takes(f, insn))
			continue;
		p.charged += insn->charged;
		p.executed += insn->executed;
		if (!p.most || insn->charged > p.most->charged)
			p.most = insn;
	}
	return p;
}

static bool divides(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i)
{
	(void)f;
	return i->info->class == GUS_INSN_DIV || i->info->class == GUS_INSN_FP_DIV ||
		i->info->class == GUS_INSN_FP_SQRT;
}

static bool converts(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i)
{
	(void)f;
	return i->info->class == GUS_INSN_CONVERT;
}

static bool locks(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i)
{
	(void)f;
	return i->info->class == GUS_INSN_ATOMIC || (i->info->flags & GUS_INSN_LOCK);
}

/* A byte is merged into a register whose other parts somebody reads. */
static bool merges(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i)
{
	return i->first && (f->t->program->ops[i->op].flags & GUS_OP_MERGES);
}

static bool prefixed(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i)
{
	(void)f;
	return i->info->flags & GUS_INSN_LCP;
}

static void detect_kinds(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	struct picked p = pick(f, divides);

	if (p.most)
		gus_pathology_add(f, out, GUS_PATHOLOGY_DIVIDER, p.most,
				  gus_pathology_of_node(f, GUS_NODE_DIVIDER, 1), "divide less: %.3g divisions and "
				  "roots an iteration; multiply by a reciprocal, hoist it out of the loop, or take "
				  "narrower numbers", p.executed / fmax(f->iterations, 1));
	p = pick(f, converts);
	if (p.most && p.executed >= MANY * f->executed)
		gus_pathology_add(f, out, GUS_PATHOLOGY_CONVERSIONS, p.most, gus_pathology_of_charged(f, p.charged),
				  "keep one type: %.3g conversions an iteration", p.executed / fmax(f->iterations, 1));
	p = pick(f, merges);
	if (p.most)
		gus_pathology_add(f, out, GUS_PATHOLOGY_PARTIAL, p.most, gus_pathology_of_charged(f, p.charged),
				  "zero the register before (movzx, xor): it is written in part and read as a whole");
	p = pick(f, locks);
	if (p.most)
		gus_pathology_add(f, out, GUS_PATHOLOGY_LOCKS, p.most, gus_pathology_of_node(f, GUS_NODE_LOCKS, 1),
				  "lock less often: %.3g locked instructions an iteration; a counter for each thread, "
				  "larger steps", p.executed / fmax(f->iterations, 1));
}

/* A jump that touches a multiple of 32 bytes: Skylake keeps no such code in its uop cache (Intel, "Mitigations for Jump
 * Conditional Code Erratum", 2019). */
static bool crosses(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i)
{
	const struct gus_program_insn *all = f->t->program->insns;
	const struct gus_op *op = &f->t->program->ops[i->op];
	uint64_t first = all[op->insn].offset, behind = i->address + i->info->length;

	return f->core->jcc_erratum && i->number == op->insn + op->insns_n - 1 && (op->flags & GUS_OP_BRANCH) &&
		first / 32 != behind / 32;
}

/* Where uops come from. */
static void detect_front_end(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	struct picked lcp = pick(f, prefixed), jumps = pick(f, crosses);
	struct gus_pathology_cost cost = gus_pathology_of_node(f, GUS_NODE_FRONTEND, 1);
	double executed = 0, cached = 0, missed = 0;

	for (size_t i = 0; i < f->t->blocks.n; i++)
		if (f->t->blocks.v[i].region == f->g->region) {
			executed += (double)f->t->blocks.v[i].executed;
			cached += (double)f->t->blocks.v[i].cached;
			missed += (double)f->t->blocks.v[i].fetch_misses;
		}
	if (lcp.most && f->core->lcp_penalty && executed - cached > DECODED * executed)
		gus_pathology_add(f, out, GUS_PATHOLOGY_FRONT_END, lcp.most, cost, "take 32-bit constants: a "
				  "length-changing prefix is decoded each time");
	else if (jumps.most && executed - cached > DECODED * executed && !(missed > 0))
		gus_pathology_add(f, out, GUS_PATHOLOGY_FRONT_END, jumps.most, cost, "align the loop otherwise "
				  "(-Wa,-mbranches-within-32B-boundaries): its jump touches a multiple of 32 bytes, "
				  "and is decoded each time");
	else if (executed > 0 && executed - cached > DECODED * executed)
		gus_pathology_add(f, out, GUS_PATHOLOGY_FRONT_END, NULL, cost, "make the hot code smaller or "
				  "straighter: %.0f %% of its blocks come from the decoders, with %.2g misses of L1 "
				  "for code a block", 100 * (1 - cached / executed), missed / executed);
}

static void detect_retirement(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	double used = f->cycles > 0 && f->core->issue_width ? (double)f->r->slots / f->cycles /
		f->core->issue_width : 0;

	if (used >= FULL)
		gus_pathology_add(f, out, GUS_PATHOLOGY_RETIRE, NULL, gus_pathology_of_node(f, GUS_NODE_RETIRING, 1),
				  "fewer instructions for the same (vectors, less work): %.0f %% of all slots are used "
				  "already", 100 * fmin(used, 1));
}

void gus_pathology_detect_execution(const struct gus_pathology_facts *f, struct gus_pathologies *out)
{
	detect_ports(f, out);
	detect_kinds(f, out);
	detect_front_end(f, out);
	detect_retirement(f, out);
}
