/* SPDX-License-Identifier: MIT */
/* Steps by rules of our own.
 *
 * A rule finds the CFA of a frame, the value that the stack pointer had before it was called; registers that were saved
 * lie below that, and the return address is one of them. One that was saved below the stack pointer of its own frame
 * was restored already (an epilogue; the tables need not say so), or not changed yet: its value is in the register. */
#include "symbolizer/unwind/unwind.h"

#include <elf.h>

#include "symbolizer/unwind/expression.h"
#include "symbolizer/unwind/files.h"
#include "symbolizer/unwind/view.h"
#include "symbolizer/unwind/walk.h"

/* The order of PERF_REG_X86_*: AX BX CX DX SI DI BP SP IP R8 .. R15. */
static const uint8_t x86_order[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 };

bool gus_unwind_regs_of(struct gus_unwind_regs *regs, unsigned machine, const struct gus_sample *sample)
{
	uint32_t n = machine == EM_X86_64 ? sizeof(x86_order) : GUS_UNWIND_REGS;

	if ((machine != EM_X86_64 && machine != EM_AARCH64) || sample->regs_n != n)
		return false;
	regs->machine = machine;
	regs->known = (1ull << n) - 1;
	for (uint32_t i = 0; i < n; i++)
		regs->v[machine == EM_X86_64 ? x86_order[i] : i] = sample->regs[i];
	return true;
}

/* A rule that is applied. */
struct step {
	struct gus_climb *w;
	struct gus_unwind_file *file;
	const struct gus_rule *rule;
	uint64_t sp, cfa;
};

static const enum gus_callers ends[] = {
	[GUS_EXPRESSION_VALUE] = 0,
	[GUS_EXPRESSION_BAD] = GUS_CALLERS_BAD,
	[GUS_EXPRESSION_STACK] = GUS_CALLERS_STACK,
	[GUS_EXPRESSION_WORK] = GUS_CALLERS_WORK,
};

static enum gus_callers run_expression(const struct step *s, int32_t at, const uint64_t *first, uint64_t *value)
{
	uint64_t before = s->w->steps.left;
	enum gus_expression_end end = gus_expression_run(gus_unwind_file_expression(s->file, s->rule, at), &s->w->regs,
							 s->w->view, first, &s->w->steps, value);

	gus_unwind_file_pay(s->file, before - s->w->steps.left);
	s->w->below = true; /* it may have read anything */
	return ends[end];
}

/* Where no stack can be, nothing was cut off. */
static enum gus_callers read_stack(const struct step *s, uint64_t address, uint64_t *value)
{
	if (gus_climb_read(s->w, address, value))
		return 0;
	return (int64_t)address < 0 ? GUS_CALLERS_BAD : GUS_CALLERS_STACK;
}

static enum gus_callers read_register(const struct step *s, unsigned reg, uint64_t *value)
{
	*value = s->w->regs.v[reg];
	return gus_climb_knows(&s->w->regs, reg) ? 0 : GUS_CALLERS_BAD;
}

static enum gus_callers find_cfa(struct step *s)
{
	enum gus_callers end;

	if (s->rule->cfa_how == GUS_CFI_VALUE_EXPRESSION)
		return run_expression(s, s->rule->cfa, NULL, &s->cfa);
	end = read_register(s, s->rule->cfa_register, &s->cfa);
	s->cfa += (uint64_t)(int64_t)s->rule->cfa;
	return !end && s->rule->cfa_how == GUS_CFI_AT_SP ? read_stack(s, s->cfa, &s->cfa) : end;
}

/* What a register of the caller was; 0 if it was found. */
static enum gus_callers find_register(const struct step *s, const struct gus_rule_slot *slot, uint64_t *value)
{
	uint64_t near = (uint64_t)(int64_t)slot->value;
	enum gus_callers end;

	switch (slot->how) {
	case GUS_CFI_AT:
		if (s->cfa + near >= s->sp || s->rule->signal)
			return read_stack(s, s->cfa + near, value);
		return slot->reg == s->rule->ra ? GUS_CALLERS_BAD : read_register(s, slot->reg, value);
	case GUS_CFI_VALUE:
		*value = s->cfa + near;
		return 0;
	case GUS_CFI_REGISTER:
		return read_register(s, (unsigned)near, value);
	case GUS_CFI_AT_SP:
		return read_stack(s, s->sp + near, value);
	case GUS_CFI_AT_EXPRESSION:
		end = run_expression(s, slot->value, &s->cfa, value);
		return end ? end : read_stack(s, *value, value);
	case GUS_CFI_VALUE_EXPRESSION:
		return run_expression(s, slot->value, &s->cfa, value);
	default: /* UNDEFINED: of the return address it says that nothing called this */
		return GUS_CALLERS_WHOLE;
	}
}

/* The registers that rules are about. Only the return address must be found, and what one stack may cost holds. */
static enum gus_callers find_registers(const struct step *s, struct gus_unwind_regs *next)
{
	uint64_t value;

	for (unsigned i = 0; i < s->rule->slots; i++) {
		const struct gus_rule_slot *slot = &s->rule->slot[i];
		enum gus_callers end = find_register(s, slot, &value);

		if (!end)
			gus_climb_set(next, slot->reg, value);
		else if (slot->reg == s->rule->ra || end == GUS_CALLERS_WORK)
			return end;
		else
			next->known &= ~(1ull << slot->reg);
	}
	return gus_climb_knows(next, s->rule->ra) ? 0 : GUS_CALLERS_BAD;
}

/* The outermost function's rule need not have a CFA that makes sense. */
static bool is_outermost(const struct gus_rule *rule, const struct gus_unwind_regs *regs)
{
	if (rule->forks && gus_climb_knows(regs, 0) && !regs->v[0])
		return true;
	for (unsigned i = 0; i < rule->slots; i++)
		if (rule->slot[i].reg == rule->ra && rule->slot[i].how == GUS_CFI_UNDEFINED)
			return true;
	return false;
}

static enum gus_callers apply(struct step *s)
{
	struct gus_climb *w = s->w;
	const struct gus_climb_machine *m = w->machine;
	struct gus_unwind_regs next = w->regs;
	enum gus_callers end;

	if (is_outermost(s->rule, &w->regs))
		return GUS_CALLERS_WHOLE;
	end = find_cfa(s);
	if (end)
		return end;
	w->cfa = s->cfa;
	/* A signal's frame gives all registers back, and the register that a call leaves its return address in is
	 * known as long as the function has not called. */
	if (!s->rule->signal)
		next.known &= m->preserved | (m->links ? 1ull << m->ra : 0);
	next.known &= ~(1ull << m->pc);
	gus_climb_set(&next, m->sp, s->cfa);
	end = find_registers(s, &next);
	if (end)
		return end;
	gus_climb_set(&next, m->pc, next.v[s->rule->ra] & m->addresses);
	if (!s->rule->signal && m->links) /* the call that is returned from has changed it */
		next.known &= ~(1ull << m->ra);
	w->regs = next;
	w->signal = s->rule->signal;
	return 0;
}

enum gus_callers gus_climb_by_rule(void *context, struct gus_climb *w, struct gus_unwind_file *file, uint64_t offset)
{
	static const enum gus_callers without[] = {
		[GUS_UNWIND_NO_FILE] = GUS_CALLERS_FILE,
		[GUS_UNWIND_OTHER_MACHINE] = GUS_CALLERS_ABI,
		[GUS_UNWIND_NO_WORK] = GUS_CALLERS_WORK,
	};
	static const enum gus_callers kinds[] = {
		[GUS_RULE_NONE] = GUS_CALLERS_NO_RULE,
		[GUS_RULE_BAD] = GUS_CALLERS_BAD,
		[GUS_RULE_ELSEWHERE] = GUS_CALLERS_STACK,
	};
	struct step s = { .w = w, .file = file, .sp = w->regs.v[w->machine->sp] };
	enum gus_unwind_knows knows = gus_unwind_file_rule(file, w->regs.machine, offset, w->exact, &w->steps, &s.rule);

	(void)context;
	if (knows != GUS_UNWIND_RULE)
		return without[knows];
	return s.rule->kind == GUS_RULE_STEP ? apply(&s) : kinds[s.rule->kind];
}

uint32_t gus_unwind(const struct gus_unwind_view *view, const struct gus_unwind_regs *regs, uint64_t *out,
		    uint32_t most, uint64_t *callers, struct gus_unwind_rest *rest)
{
	return gus_climb_run(gus_climb_by_rule, NULL, view, regs, out, most, callers, rest);
}
