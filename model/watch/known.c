/* SPDX-License-Identifier: MIT */
#include "model/watch/known.h"

#include <string.h>

static bool whole(const struct gus_insn_info *info, unsigned reg)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].reg == reg && (info->access[i].use & GUS_ACCESS_ADDRESS) &&
		    info->access[i].bits != 64)
			return false;
	return true;
}

/* A push is at what the stack pointer holds after it, so its operand says nothing of what it held before. */
static struct gus_known_operand prepare_operand(enum gus_isa isa, const struct gus_insn_info *info,
						const struct gus_insn_memory *m)
{
	struct gus_known_operand o = { .displacement = m->displacement, .base = m->base, .index = m->index,
		.scale = m->scale };
	bool pushed = (info->flags & GUS_INSN_STACK) && (m->use & GUS_ACCESS_IMPLICIT) && (m->use & GUS_ACCESS_WRITE);

	o.relative = m->base == (isa == GUS_ISA_ARM64 ? (unsigned)GUS_A64_PC : (unsigned)GUS_X86_RIP);
	o.usable = !pushed && m->base < 64 && m->index < 64 && !m->segment && !(m->use & GUS_ACCESS_GATHER) &&
		(!m->index || m->scale) && whole(info, m->base) &&
		whole(info, m->index);
	if (o.relative)
		o.base = 0;
	return o;
}

void gus_known_prepare(struct gus_known_insn *insn, enum gus_isa isa, const struct gus_insn_info *info,
		       const char *form)
{
	*insn = (struct gus_known_insn){ .prefetch = info->flags & GUS_INSN_PREFETCH,
		.forgets = info->class == GUS_INSN_SYSTEM };
	gus_effect_of(&insn->effect, isa, info, form);
	for (unsigned i = 0; i < info->memory_count; i++)
		if (insn->prefetch || (info->memory[i].use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE)))
			insn->operand[insn->operands++] = prepare_operand(isa, info, &info->memory[i]);
}

void gus_known_forget(struct gus_known *k)
{
	memset(k->regs, 0, sizeof(k->regs));
	memset(k->sums, 0, sizeof(k->sums));
	k->summed = 0;
}

/* Sums. General registers have the numbers below 64 in all ISAs. */

static void count_summed(struct gus_known *k)
{
	k->summed = 0;
	for (unsigned i = 0; i < GUS_KNOWN_SUMS; i++)
		if (k->sums[i].scale)
			k->summed |= UINT64_C(1) << k->sums[i].base | UINT64_C(1) << k->sums[i].index;
}

static struct gus_known_sum *find_sum(struct gus_known *k, const struct gus_known_operand *o)
{
	for (unsigned i = 0; i < GUS_KNOWN_SUMS; i++)
		if (k->sums[i].scale == o->scale && k->sums[i].base == o->base && k->sums[i].index == o->index)
			return &k->sums[i];
	return NULL;
}

static void learn_sum(struct gus_known *k, const struct gus_known_operand *o, uint64_t sum)
{
	struct gus_known_sum *s = find_sum(k, o);

	if (s) {
		k->wrong += s->sum != sum;
		s->sum = sum;
		return;
	}
	s = &k->sums[k->oldest];
	k->oldest = (k->oldest + 1) % GUS_KNOWN_SUMS;
	k->learnt++;
	*s = (struct gus_known_sum){ .sum = sum, .base = o->base, .index = o->index, .scale = o->scale };
	count_summed(k);
}

/* A register changes: sums that hold it change with it, or are gone. */
static void change_sums(struct gus_known *k, unsigned reg, bool adds, int64_t constant)
{
	if (!(k->summed >> reg & 1))
		return;
	for (unsigned i = 0; i < GUS_KNOWN_SUMS; i++) {
		struct gus_known_sum *s = &k->sums[i];

		if (!s->scale || (s->base != reg && s->index != reg))
			continue;
		if (!adds)
			s->scale = 0;
		else
			s->sum += (uint64_t)constant * ((s->base == reg) + (s->index == reg ? s->scale : 0u));
	}
	if (!adds)
		count_summed(k);
}

/* Learning. */

static void learn(struct gus_known *k, unsigned reg, uint64_t bits)
{
	struct gus_value *v = &k->regs[reg];

	k->learnt += !v->known;
	k->wrong += v->known && v->bits != bits;
	*v = (struct gus_value){ bits, true };
}

/* The index, of what it times the scale is. Its uppermost bits do not show; it is taken for one that is not that
 * large. */
static void learn_index(struct gus_known *k, const struct gus_known_operand *o, uint64_t product)
{
	if (product % o->scale) { /* scales are powers of two */
		k->wrong++;
		k->regs[o->base].known = false;
		return;
	}
	learn(k, o->index, (uint64_t)((int64_t)product / o->scale));
}

static void learn_both(struct gus_known *k, const struct gus_known_operand *o, uint64_t sum)
{
	struct gus_value *base = &k->regs[o->base], *index = &k->regs[o->index];

	if (base->known && index->known) {
		if (base->bits + index->bits * o->scale != sum) {
			k->wrong++;
			base->known = index->known = false; /* one of them is not what we believed */
			learn_sum(k, o, sum);
		}
	} else if (base->known) {
		learn_index(k, o, sum - base->bits);
	} else if (index->known) {
		learn(k, o->base, sum - index->bits * o->scale);
	} else {
		learn_sum(k, o, sum);
	}
}

static void learn_access(struct gus_known *k, const struct gus_known_operand *o, uint64_t address)
{
	uint64_t sum = address - (uint64_t)o->displacement;

	if (!o->usable || o->relative || (!o->base && !o->index))
		return;
	if (!o->index)
		learn(k, o->base, sum);
	else if (o->base)
		learn_both(k, o, sum);
	else if (sum % o->scale)
		k->wrong++;
	else
		learn(k, o->index, (uint64_t)((int64_t)sum / o->scale));
}

void gus_known_step(struct gus_known *k, const struct gus_known_insn *insn, const uint64_t *addresses, unsigned n)
{
	const struct gus_effect *e = &insn->effect;
	int64_t constant = 0;
	bool adds;

	if (!insn->prefetch)
		for (unsigned i = 0; i < n && i < insn->operands; i++)
			learn_access(k, &insn->operand[i], addresses[i]);
	if (insn->forgets) {
		gus_known_forget(k);
		return;
	}
	if (gus_effect_is_nothing(e))
		return;
	for (const uint8_t *w = e->writes; *w; w++)
		change_sums(k, *w, false, 0);
	adds = gus_effect_adds(e, &constant);
	if (e->to)
		change_sums(k, e->to, adds, constant);
	if (gus_effect_moves_stack(e, &constant))
		change_sums(k, GUS_X86_RSP, true, constant);
	gus_effect_run(e, k->regs, (struct gus_value){ 0, false });
}

struct gus_value gus_known_prefetch(struct gus_known *k, const struct gus_known_insn *insn, uint64_t end)
{
	const struct gus_known_operand *o = &insn->operand[0];
	struct gus_value at = { (uint64_t)o->displacement + (o->relative ? end : 0), insn->operands && o->usable };
	const struct gus_known_sum *s = o->base && o->index ? find_sum(k, o) : NULL;
	bool parts = (!o->base || k->regs[o->base].known) && (!o->index || k->regs[o->index].known);

	k->prefetches++;
	if (parts)
		at.bits += (o->base ? k->regs[o->base].bits : 0) + (o->index ? k->regs[o->index].bits * o->scale : 0);
	else if (s)
		at.bits += s->sum;
	else
		at.known = false;
	k->unknown += !at.known;
	return at;
}
