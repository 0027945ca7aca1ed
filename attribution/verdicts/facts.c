/* SPDX-License-Identifier: MIT */
#include "attribution/verdicts/facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/oracles/cache.h"

static const double PART_MOST = 0.999, NORMAL = 1.96;

static int by_address(const void *a, const void *b)
{
	const struct gus_pathology_insn *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) :
		x->number < y->number ? -1 : x->number > y->number;
}

static void add_block(struct gus_pathology_facts *f, const struct gus_traced_block *b)
{
	const struct gus_program *p = f->t->program;
	uint64_t at = 0;

	for (uint32_t k = 0; k < b->insns_n; at += b->lengths[k++]) {
		const struct gus_program_insn *insn = &p->insns[b->insn + k];
		struct gus_pathology_insn i = { .block = b, .info = &insn->info, .op = insn->op, .number = b->insn + k,
			.address = insn->offset, .executed = (double)b->executed };
		struct gus_insn text;

		i.first = p->ops[insn->op].insn == i.number;
		if (i.first)
			i.charged = f->t->op_charged[insn->op];
		if (i.first && insn->op == b->ops.op + b->ops.ops_n - 1 && b->ops.taken != insn->op)
			i.charged += f->t->op_charged[b->ops.taken];
		gus_insn_decode(f->t->isa, b->bytes + at, b->size - at, insn->offset, &text);
		snprintf(i.text, sizeof(i.text), "%s", text.text);
		f->executed += i.executed;
		f->charged += i.charged;
		gus_vec_push(&f->insns, i);
	}
}

/* Where causality followed nothing of the region, which is short then, as a sampler would see it. */
static void charge_own(struct gus_pathology_facts *f)
{
	for (size_t i = 0; i < f->insns.n; i++) {
		struct gus_pathology_insn *insn = &f->insns.v[i];
		const struct gus_traced_block *b = insn->block;

		insn->charged = insn->first ? f->t->op_cycles[insn->op] : 0;
		if (insn->first && insn->op == b->ops.op + b->ops.ops_n - 1 && b->ops.taken != insn->op)
			insn->charged += f->t->op_cycles[b->ops.taken];
		f->charged += insn->charged;
	}
}

/* The instructions stand still by now. */
static void add_accesses(struct gus_pathology_facts *f)
{
	const struct gus_program *p = f->t->program;

	for (size_t i = 0; i < f->insns.n; i++) {
		const struct gus_op *op = &p->ops[f->insns.v[i].op];

		for (uint32_t m = op->memory; m < op->memory + op->memories_n; m++) {
			struct gus_pathology_access a = { .insn = &f->insns.v[i], .number = m,
				.memory = &p->memories[m], .met = &f->t->memories.v[m],
				.heard = gus_heard_access(f->g->heard, m) };

			if (op->insn + p->memories[m].instruction != f->insns.v[i].number)
				continue;
			for (unsigned level = GUS_HIT_L2; level < GUS_HITS; level++) {
				a.missed[level] = (double)a.met->hits[level];
				f->missed[level] += a.missed[level];
			}
			gus_vec_push(&f->accesses, a);
		}
	}
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void find_heads(struct gus_pathology_facts *f)
{
	for (size_t i = 0; i < f->t->blocks.n; i++) {
		const struct gus_traced_block *b = &f->t->blocks.v[i];

		if (b->region == f->g->region && b->head && b->executed)
			gus_vec_push(&f->heads, b->address);
	}
	if (f->heads.n)
		qsort(f->heads.v, f->heads.n, sizeof(*f->heads.v), by_number);
}

bool gus_pathology_goes_back(const struct gus_pathology_facts *f, const struct gus_traced_block *b)
{
	return f->heads.n && bsearch(&b->branch_to, f->heads.v, f->heads.n, sizeof(*f->heads.v), by_number);
}

/* Times that the loop's head was come to by none of the loop's own branches. */
static void count_entries(struct gus_pathology_facts *f)
{
	double heads = 0, backs = 0;

	for (size_t i = 0; i < f->t->blocks.n; i++) {
		const struct gus_traced_block *b = &f->t->blocks.v[i];

		if (b->region != f->g->region)
			continue;
		heads += b->head ? (double)b->executed : 0;
		backs += b->taken && gus_pathology_goes_back(f, b) ? (double)b->taken : 0;
	}
	f->entered = heads > backs ? heads - backs : 0;
	if (heads > 0)
		f->iterations = heads;
}

static int by_op(const void *a, const void *b)
{
	const struct gus_pathology_op *x = a, *y = b;

	return x->op != y->op ? (x->op < y->op ? -1 : 1) : x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* Those of each instruction, where it is the first of one; a block's last has that of the taken branch as well. */
static void list_ops(struct gus_pathology_facts *f)
{
	for (uint32_t i = 0; i < f->insns.n; i++) {
		const struct gus_pathology_insn *insn = &f->insns.v[i];
		const struct gus_growing_block *of = &insn->block->ops;

		if (!insn->first)
			continue;
		gus_vec_push(&f->ops, (struct gus_pathology_op){ insn->op, i });
		if (insn->op == of->op + of->ops_n - 1 && of->taken != insn->op)
			gus_vec_push(&f->ops, (struct gus_pathology_op){ of->taken, i });
	}
	if (f->ops.n)
		qsort(f->ops.v, f->ops.n, sizeof(*f->ops.v), by_op);
}

/* Circles. */

static bool is_of_region(const struct gus_pathology_facts *f, uint32_t op)
{
	return gus_pathology_insn_of(f, op) != NULL;
}

static void add_circle(struct gus_pathology_facts *f, const uint32_t *ops, size_t n)
{
	struct gus_pathology_circle c = { .n = n };
	const struct gus_pathology_insn *insn = gus_pathology_insn_of(f, ops[0]);

	for (size_t i = 0; i < n; i++) {
		const struct gus_heard_edge *e = gus_heard_waits(f->g->heard, ops[i]);

		c.ops[i] = ops[i];
		c.regs[i] = e->reg;
		c.memory |= e->memory;
		c.load |= e->loads > e->times / 2;
		c.cycles += e->loads > e->times / 2 ? e->load_cycles / (double)e->loads :
			e->cycles / (double)(e->times - e->loads);
	}
	c.share = insn && insn->executed > 0 && f->cycles > 0 ? c.cycles * insn->executed / f->cycles : 0;
	gus_vec_push(&f->circles, c);
}

/* From an op along what it waits for; seen has by op the number of the walk that came by, and 0 for none. */
static void walk(struct gus_pathology_facts *f, uint32_t op, uint32_t number, uint32_t *seen)
{
	uint32_t ops[GUS_PATHOLOGY_TURN];
	size_t n = 0;

	while (n < GUS_PATHOLOGY_TURN && !seen[op]) {
		const struct gus_heard_edge *e = gus_heard_waits(f->g->heard, op);

		seen[op] = number;
		ops[n++] = op;
		if (!e || !is_of_region(f, e->from))
			return;
		op = e->from;
	}
	if (seen[op] != number)
		return;
	for (size_t i = 0; i < n; i++)
		if (ops[i] == op) {
			add_circle(f, ops + i, n - i);
			return;
		}
}

static void find_circles(struct gus_pathology_facts *f)
{
	uint32_t *seen = gus_zalloc((f->t->program->ops_n + 1ul) * sizeof(*seen));

	for (size_t i = 0; i < f->insns.n; i++)
		if (f->insns.v[i].first)
			walk(f, f->insns.v[i].op, (uint32_t)i + 1, seen);
	free(seen);
}

void gus_pathology_facts_make(struct gus_pathology_facts *f, const struct gus_pathology_given *g)
{
	const struct gus_traced *t = g->traced;

	*f = (struct gus_pathology_facts){ .g = g, .t = t, .r = &t->regions.v[g->region],
		.core = t->options.config, .caches = t->options.caches };
	f->function = &t->functions.v[f->r->function];
	f->cycles = f->r->cycles[0];
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];

		if (b->region != g->region || !b->executed)
			continue;
		f->iterations = fmax(f->iterations, (double)b->executed);
		add_block(f, b);
	}
	if (f->insns.n)
		qsort(f->insns.v, f->insns.n, sizeof(*f->insns.v), by_address);
	if (!(f->charged > 0))
		charge_own(f);
	list_ops(f);
	add_accesses(f);
	find_heads(f);
	if (f->r->loop != GUS_TRACED_NONE)
		count_entries(f);
	f->per_iteration = f->iterations > 0 ? f->cycles / f->iterations : 0;
	find_circles(f);
}

void gus_pathology_facts_free(struct gus_pathology_facts *f)
{
	gus_vec_free(&f->insns);
	gus_vec_free(&f->ops);
	gus_vec_free(&f->heads);
	gus_vec_free(&f->accesses);
	gus_vec_free(&f->circles);
}

const struct gus_pathology_insn *gus_pathology_insn_of(const struct gus_pathology_facts *f, uint32_t op)
{
	size_t low = 0, high = f->ops.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->ops.v[middle].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->ops.n && f->ops.v[low].op == op ? &f->insns.v[f->ops.v[low].insn] : NULL;
}

bool gus_pathology_counts(const struct gus_pathology_insn *i)
{
	const struct gus_insn_info *info = i->info;
	bool alone = info->class == GUS_INSN_ALU || info->class == GUS_INSN_LEA;
	uint8_t written = 0;

	if (!alone || info->memory_count > (info->class == GUS_INSN_LEA))
		return false;
	for (unsigned k = 0; k < info->access_count; k++)
		if ((info->access[k].use & GUS_ACCESS_WRITE) && !(info->access[k].use & GUS_ACCESS_IMPLICIT))
			written = info->access[k].reg;
	for (unsigned k = 0; k < info->access_count; k++)
		if (!(info->access[k].use & GUS_ACCESS_IMPLICIT) && (info->access[k].use & GUS_ACCESS_READ) &&
		    info->access[k].reg != written)
			return false;
	return true;
}

/* x86 tells by the mnemonic's end, arm64 by the letter of its first register. */
bool gus_pathology_scalar(const struct gus_pathology_facts *f, const struct gus_pathology_insn *i, unsigned *bytes)
{
	size_t n = strcspn(i->text, " ");
	const char *operand = i->text + n + strspn(i->text + n, " ");

	if (i->info->class < GUS_INSN_FP_ADD || i->info->class > GUS_INSN_FP_OTHER || (i->info->flags & GUS_INSN_X87))
		return false;
	if (f->t->isa == GUS_ISA_ARM64) {
		*bytes = *operand == 'd' ? 8 : 4;
		return *operand == 'd' || *operand == 's';
	}
	*bytes = n >= 2 && i->text[n - 1] == 'd' ? 8 : 4;
	return n > 2 && i->text[n - 2] == 's' && (i->text[n - 1] == 's' || i->text[n - 1] == 'd');
}

/* Costs. */

static double part_of(double speedup)
{
	return speedup / (1 + speedup);
}

static double speedup_of(double part)
{
	part = fmin(part, PART_MOST);
	return part / (1 - part);
}

/* The interval as those of verdicts: of the logarithm, by the error of what was timed and by the model's. */
static struct gus_pathology_cost cost_of(const struct gus_pathology_facts *f, double speedup, double error,
					 double share)
{
	double gain = log1p(speedup), half = hypot(NORMAL * error / (1 + speedup), f->g->model * gain);

	return (struct gus_pathology_cost){ share * part_of(speedup), share * part_of(expm1(gain - half)),
		share * part_of(expm1(gain + half)) };
}

struct gus_pathology_cost gus_pathology_of_node(const struct gus_pathology_facts *f, enum gus_node node, double share)
{
	const struct gus_causal_node *n = &f->g->causal->nodes[node];

	return (struct gus_pathology_cost){ share * part_of(n->speedup), share * part_of(n->low),
		share * part_of(n->high) };
}

struct gus_pathology_cost gus_pathology_of_set(const struct gus_pathology_facts *f, enum gus_pathology_set set,
					       double share)
{
	int lane = f->g->lane + (int)set;
	double with = f->r->cycles[lane];

	return cost_of(f, with > 0 && f->cycles > with ? f->cycles / with - 1 : 0, f->r->errors[lane], share);
}

struct gus_pathology_cost gus_pathology_of_charged(const struct gus_pathology_facts *f, double charged)
{
	return cost_of(f, speedup_of(f->charged > 0 ? charged / f->charged : 0), 0, 1);
}

struct gus_pathology_cost gus_pathology_dearer(struct gus_pathology_cost a, struct gus_pathology_cost b)
{
	return a.part >= b.part ? a : b;
}

/* What is in front of it; to people. */
static void stop(const struct gus_pathology_facts *f, struct gus_pathology_found *found)
{
	enum gus_node cause = f->g->causal->cause;

	if (cause == GUS_NODE_NONE)
		snprintf(found->stop, sizeof(found->stop), "less than %.0f %%", 100 * GUS_CAUSAL_WORTH);
	else
		snprintf(found->stop, sizeof(found->stop), "less than %.0f %%: %s is in front of it",
			 100 * GUS_CAUSAL_WORTH, gus_nodes[cause].name);
}

void gus_pathology_add(const struct gus_pathology_facts *f, struct gus_pathologies *out, enum gus_pathology kind,
		       const struct gus_pathology_insn *insn, struct gus_pathology_cost cost, const char *advice, ...)
{
	struct gus_pathology_found found = { .kind = kind, .placed = insn != NULL, .cost = speedup_of(cost.part) };
	va_list words;

	found.low = speedup_of(cost.low);
	found.high = speedup_of(cost.high);
	found.worth = found.cost >= GUS_CAUSAL_WORTH;
	if (!found.worth)
		stop(f, &found);
	if (insn) {
		found.offset = insn->address - f->function->address;
		snprintf(found.insn, sizeof(found.insn), "%s", insn->text);
	}
	va_start(words, advice);
	vsnprintf(found.advice, sizeof(found.advice), advice, words);
	va_end(words);
	gus_vec_push(out, found);
}
