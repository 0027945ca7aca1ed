/* SPDX-License-Identifier: MIT */
/* Following general registers, so that a load can be told from which store its word is.
 *
 * The idea: each instruction becomes one *effect* on one register (a sum, a shift, a load), found once from its form's
 * mnemonic and its accesses; running it is then a line of arithmetic. Where that is not sure to be right the register
 * becomes unknown, and so does what is computed from it: an address is either exactly what the CPU would compute from
 * the stated start, or not known. Flags are not followed, so what depends on them (cmov, setcc, adc) is unknown. */
#include "model/code/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/tables/uarch.h"

enum { STACK_APART = 0x200, FRAME_APART = 0x400 };
enum kind { NOTHING, COPY, ADD, SUB, AND, OR, XOR, SHL, SHR, SAR, IMUL, NEG, NOT, SIGN, LOAD, LOAD_SIGN, LEA, STACK };

/* By the mnemonic in the form's text; the operands are in the accesses. */
static const struct mnemonic {
	const char *name;
	uint8_t kind;
} mnemonics[] = {
	{ "MOV", COPY }, { "MOVZX", COPY }, { "MOVSX", SIGN }, { "MOVSXD", SIGN }, { "ADD", ADD }, { "SUB", SUB },
		{ "AND", AND },
	{ "OR", OR }, { "XOR", XOR }, { "SHL", SHL }, { "SHR", SHR }, { "SAR", SAR }, { "IMUL", IMUL }, { "NEG", NEG },
	{ "NOT", NOT }, { "INC", ADD }, { "DEC", SUB }, { "LEA", LEA }, { "PUSH", STACK }, { "POP", STACK },
};

static uint8_t kind_of(const char *form)
{
	size_t n = strcspn(form, " _");

	for (size_t i = 0; i < sizeof(mnemonics) / sizeof(*mnemonics); i++)
		if (strlen(mnemonics[i].name) == n && memcmp(form, mnemonics[i].name, n) == 0)
			return mnemonics[i].kind;
	return NOTHING;
}

/* arm64's forms are whole texts, as their words say what is shifted or extended. Of both operands of an addition
 * either may be the register that is written, which the accesses do not tell: so there is no subtraction of
 * registers. */
static const struct mnemonic arm64_forms[] = {
	{ "add (x, x, imm)", ADD }, { "sub (x, x, imm)", SUB }, { "add (x, x, x)", ADD }, { "orr (x, x, x) +zr", COPY },
};

static uint8_t arm64_kind_of(const char *form)
{
	for (size_t i = 0; i < sizeof(arm64_forms) / sizeof(*arm64_forms); i++)
		if (strcmp(arm64_forms[i].name, form) == 0)
			return arm64_forms[i].kind;
	return NOTHING;
}

static bool general(enum gus_isa isa, unsigned reg)
{
	return isa == GUS_ISA_ARM64 ? reg >= GUS_A64_X0 && reg <= GUS_A64_SP : reg >= GUS_X86_RAX && reg <= GUS_X86_R15;
}

static void see_operands(struct gus_effect *e, enum gus_isa isa, const struct gus_insn_info *info, bool *loads)
{
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if ((a->use & GUS_ACCESS_ADDRESS) || !general(isa, a->reg) || (a->use & GUS_ACCESS_IMPLICIT))
			continue;
		if ((a->use & GUS_ACCESS_WRITE) && !e->to) {
			e->to = a->reg;
			e->bits = (uint8_t)a->bits;
			if (a->use & GUS_ACCESS_READ)
				e->a = a->reg;
			if (a->use & GUS_ACCESS_HIGH)
				e->kind = NOTHING;
		} else if (a->use & GUS_ACCESS_READ) {
			if (e->a)
				e->b = a->reg;
			else
				e->a = a->reg;
			e->from_bits = (uint8_t)a->bits;
			if (a->use & GUS_ACCESS_HIGH)
				e->kind = NOTHING;
		}
	}
	*loads = false;
	for (unsigned i = 0; i < info->memory_count; i++)
		*loads |= (info->memory[i].use & GUS_ACCESS_READ) != 0;
}

static bool two_operands(unsigned kind)
{
	return kind == ADD || kind == SUB || kind == AND || kind == OR || kind == XOR || kind == IMUL;
}

static void find_effect(struct gus_effect *e, enum gus_isa isa, const struct gus_insn_info *info, const char *form)
{
	bool loads;

	*e = (struct gus_effect){ .kind = isa == GUS_ISA_ARM64 ? arm64_kind_of(form) : kind_of(form),
		.constant = info->immediate, .bits = 64, .from_bits = 64 };
	if (e->kind == NOTHING)
		return;
	see_operands(e, isa, info, &loads);
	if (strncmp(form, "INC", 3) == 0 || strncmp(form, "DEC", 3) == 0)
		e->constant = 1;
	else if (two_operands(e->kind) && !(info->flags & GUS_INSN_IMMEDIATE) && !e->b)
		e->b = e->a; /* both are the same register, which the accesses name once */
	if (e->kind == STACK) {
		e->constant = strncmp(form, "PUSH", 4) == 0 ? -8 : 8;
		return;
	}
	if (!e->to) {
		e->kind = NOTHING;
		return;
	}
	if (loads) {
		e->kind = e->kind == COPY ? LOAD : e->kind == SIGN ? LOAD_SIGN : NOTHING;
		e->from_bits = (uint8_t)(info->memory[0].bits < 64 ? info->memory[0].bits : 64);
	} else if (e->kind == LEA) {
		e->a = info->memory[0].base;
		e->b = info->memory[0].index;
		e->scale = info->memory[0].scale;
		e->constant = info->memory[0].displacement;
	} else if (info->flags & GUS_INSN_ZERO_IDIOM) {
		e->kind = COPY;
		e->a = e->b = 0;
		e->constant = 0;
	} else if ((e->kind == SHL || e->kind == SHR || e->kind == SAR) && !(info->flags & GUS_INSN_IMMEDIATE)) {
		e->kind = NOTHING;
	} else if ((e->kind == IMUL || !(info->flags & GUS_INSN_IMMEDIATE)) && !e->a) {
		e->kind = NOTHING; /* the source is no general register: a segment's, or half of a product */
	}
}

void gus_effect_of(struct gus_effect *e, enum gus_isa isa, const struct gus_insn_info *info, const char *form)
{
	unsigned n = 0;

	*e = (struct gus_effect){ .kind = NOTHING };
	if (form)
		find_effect(e, isa, info, form);
	for (unsigned k = 0; k < info->access_count && n < sizeof(e->writes) - 1; k++)
		if (general(isa, info->access[k].reg) && (info->access[k].use & GUS_ACCESS_WRITE) &&
		    (e->kind == NOTHING || (info->access[k].reg != e->to &&
					    (isa == GUS_ISA_ARM64 || info->access[k].reg != GUS_X86_RSP))))
			e->writes[n++] = info->access[k].reg;
}

bool gus_effect_is_nothing(const struct gus_effect *e)
{
	return e->kind == NOTHING && !e->writes[0];
}

bool gus_effect_adds(const struct gus_effect *e, int64_t *constant)
{
	if (e->bits != 64 || !e->to || e->a != e->to || e->b || (e->kind != ADD && e->kind != SUB && e->kind != LEA))
		return false;
	*constant = e->kind == SUB ? -e->constant : e->constant;
	return true;
}

bool gus_effect_moves_stack(const struct gus_effect *e, int64_t *constant)
{
	*constant = e->constant;
	return e->kind == STACK;
}

/* What is to be added to an operand's displacement: one that is relative to the code counts from the end of its
 * instruction, and what is pushed lies where the stack pointer points afterwards. */
static int64_t shift_of(const struct gus_values *v, const struct gus_program *p, const struct gus_op *op,
			const struct gus_program_memory *m)
{
	const struct gus_program_insn *insn = &p->insns[op->insn + m->instruction];
	int64_t moved;

	if (m->base == GUS_X86_RIP)
		return (int64_t)(insn->offset + insn->info.length);
	if (m->store && !m->load && gus_effect_moves_stack(&v->effects[op->insn + m->instruction], &moved) && moved < 0)
		return moved;
	return 0;
}

/* The general register that a plain store writes; 0: none. */
static unsigned stored_register(const struct gus_program *p, const struct gus_insn_info *info)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if ((info->access[i].use & GUS_ACCESS_READ) &&
		    !(info->access[i].use & (GUS_ACCESS_ADDRESS | GUS_ACCESS_IMPLICIT)) &&
		    general(p->isa, info->access[i].reg) && !(info->access[i].use & GUS_ACCESS_HIGH))
			return info->access[i].reg;
	return 0;
}

static bool is_live(const struct gus_effect *e, const bool *live)
{
	bool any = live[e->to] || (e->kind == STACK && live[GUS_X86_RSP]);

	for (const uint8_t *w = e->writes; *w; w++)
		any |= live[*w];
	return any;
}

/* A register becomes live: whether it was not. 0 is none. */
static bool enliven(bool *live, unsigned reg)
{
	bool is_new = reg && !live[reg];

	live[reg] |= is_new;
	return is_new;
}

static bool loads_something(const struct gus_effect *e)
{
	return e->kind == LOAD || e->kind == LOAD_SIGN || e->kind == STACK;
}

/* What instructions read is live if what they write is, and what is loaded may be what any store wrote. */
static bool enliven_sources(struct gus_values *v, const struct gus_program *p, bool *live)
{
	bool changed = false;

	for (uint32_t i = 0; i < p->insns_n; i++) {
		const struct gus_effect *e = &v->effects[i];

		if (e->kind == NOTHING || !is_live(e, live))
			continue;
		v->loads |= loads_something(e);
		changed |= enliven(live, e->a);
		changed |= enliven(live, e->b);
	}
	for (uint32_t i = 0; v->loads && i < p->insns_n; i++)
		if (p->insns[i].info.class == GUS_INSN_STORE)
			changed |= enliven(live, stored_register(p, &p->insns[i].info));
	return changed;
}

/* Only addresses are asked for, so only registers that become part of one are followed, whatever the order of the
 * instructions. Most of those that compute do not, and need not be run. */
static void drop_dead(struct gus_values *v, const struct gus_program *p)
{
	bool live[UINT8_MAX + 1] = { false };

	for (uint32_t i = 0; i < p->memories_n; i++) {
		enliven(live, p->memories[i].base);
		enliven(live, p->memories[i].index);
	}
	while (enliven_sources(v, p, live))
		;
	for (uint32_t i = 0; i < p->insns_n; i++)
		if (!is_live(&v->effects[i], live))
			v->effects[i] = (struct gus_effect){ .kind = NOTHING };
}

void gus_values_begin(struct gus_values *v, const struct gus_program *p, enum gus_core_pointers pointers)
{
	/* BHive's constant: a page that is mapped, and as a double a denormal that is read as zero. */
	const uint64_t constant = 0x12345600;

	*v = (struct gus_values){ .pointers = pointers };
	if (pointers == GUS_CORE_POINTERS_NONE || !p->uarch || p->isa != GUS_ISA_X86_64)
		return;
	v->effects = gus_zalloc((p->insns_n + 1) * sizeof(*v->effects));
	for (uint32_t i = 0; i < p->insns_n; i++) {
		const struct gus_insn_info *info = &p->insns[i].info;
		const struct gus_uarch_form *form = gus_uarch_form(p->uarch, info->form);

		gus_effect_of(&v->effects[i], p->isa, info, form ? form->text : NULL);
	}
	v->shifts = gus_zalloc((p->memories_n + 1) * sizeof(*v->shifts));
	for (uint32_t i = 0; i < p->ops_n; i++)
		for (unsigned n = 0; n < p->ops[i].memories_n; n++)
			v->shifts[p->ops[i].memory + n] = shift_of(v, p, &p->ops[i],
								   &p->memories[p->ops[i].memory + n]);
	drop_dead(v, p);
	for (unsigned r = GUS_X86_RAX; r <= GUS_X86_R15; r++)
		v->regs[r] = (struct gus_value){ pointers == GUS_CORE_POINTERS_DISTINCT ?
			((uint64_t)r << 36) + ((uint64_t)r * 192) : constant, true };
	/* The stack lies elsewhere in the page: two pointers that are equal to all others would be no stack. */
	if (pointers == GUS_CORE_POINTERS_EQUAL)
		v->regs[GUS_X86_RSP].bits += STACK_APART, v->regs[GUS_X86_RBP].bits += FRAME_APART;
	v->memory = (struct gus_value){ constant, pointers != GUS_CORE_POINTERS_DISTINCT };
}

void gus_values_end(struct gus_values *v)
{
	free(v->effects);
	free(v->shifts);
}

bool gus_values_follows(const struct gus_values *v, uint32_t insn)
{
	return v->effects && !gus_effect_is_nothing(&v->effects[insn]);
}

struct gus_value gus_values_address(const struct gus_values *v, const struct gus_program *p, uint32_t memory)
{
	const struct gus_program_memory *m = &p->memories[memory];
	struct gus_value at = { (uint64_t)m->displacement, v->effects && !m->gather };

	if (v->shifts)
		at.bits += (uint64_t)v->shifts[memory];
	if (m->base == GUS_X86_RIP) {
		at.bits += 0x7f0000000000; /* somewhere else than all registers point to */
		return at;
	}
	if (m->base) {
		at.bits += v->regs[m->base].bits;
		at.known &= v->regs[m->base].known;
	}
	if (m->index) {
		at.bits += v->regs[m->index].bits * m->scale;
		at.known &= v->regs[m->index].known;
	}
	return at;
}

struct gus_value gus_values_stored(const struct gus_values *v, const struct gus_program *p, uint32_t insn)
{
	const struct gus_insn_info *info = &p->insns[insn].info;
	unsigned reg;

	if (!v->effects || info->class != GUS_INSN_STORE || info->vector_bits)
		return (struct gus_value){ 0, false };
	reg = stored_register(p, info);
	if (reg)
		return v->regs[reg];
	if (info->flags & GUS_INSN_IMMEDIATE)
		return (struct gus_value){ (uint64_t)info->immediate, true };
	return (struct gus_value){ 0, false };
}

static uint64_t low(uint64_t value, unsigned bits)
{
	return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

static uint64_t extended(uint64_t value, unsigned bits)
{
	return bits >= 64 || !bits ? value : (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static uint64_t compute(const struct gus_effect *e, uint64_t a, uint64_t b, uint64_t loaded)
{
	unsigned count = (unsigned)b & (e->bits == 64 ? 63 : 31);

	switch (e->kind) {
	case COPY: return e->a ? low(a, e->from_bits) : (uint64_t)e->constant;
	case SIGN: return extended(a, e->from_bits);
	case ADD: return a + b;
	case SUB: return a - b;
	case AND: return a & b;
	case OR: return a | b;
	case XOR: return a ^ b;
	case SHL: return a << count;
	case SHR: return low(a, e->bits) >> count;
	case SAR: return (uint64_t)((int64_t)extended(a, e->bits) >> count);
	case IMUL: return a * b;
	case NEG: return -a;
	case NOT: return ~a;
	case LEA: return (e->a ? a : 0) + (e->b ? b * e->scale : 0) + (uint64_t)e->constant;
	case LOAD: return low(loaded, e->from_bits);
	case LOAD_SIGN: return extended(loaded, e->from_bits);
	default: return 0;
	}
}

void gus_effect_run(const struct gus_effect *e, struct gus_value *regs, struct gus_value loaded)
{
	struct gus_value a, b;
	uint64_t value;
	bool known;

	for (const uint8_t *w = e->writes; *w; w++)
		regs[*w].known = false;
	if (e->kind == STACK)
		regs[GUS_X86_RSP].bits += (uint64_t)e->constant;
	if (e->kind == NOTHING || !e->to) {
		return;
	}
	if (e->kind == STACK) {
		regs[e->to] = loaded;
		return;
	}
	a = regs[e->a];
	b = e->b ? regs[e->b] : (struct gus_value){ (uint64_t)e->constant, true };
	known = (e->kind == LOAD || e->kind == LOAD_SIGN) ? loaded.known :
		(!e->a || a.known) && (!e->b || b.known);
	value = compute(e, a.bits, b.bits, loaded.bits);
	if (e->bits < 32) { /* the rest of the register stays */
		struct gus_value old = regs[e->to];

		regs[e->to] = (struct gus_value){ (old.bits & ~low(~0ull, e->bits)) | low(value, e->bits), known &&
			old.known };
		return;
	}
	regs[e->to] = (struct gus_value){ low(value, e->bits), known };
}

void gus_values_step(struct gus_values *v, uint32_t insn, struct gus_value loaded)
{
	if (v->effects)
		gus_effect_run(&v->effects[insn], v->regs, loaded);
}
