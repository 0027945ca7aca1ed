/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/copied.h"

#include <elf.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "symbolizer/unwind/files.h"
#include "symbolizer/unwind/libunwind.h"
#include "symbolizer/unwind/walk.h"

struct gus_unwind_copied {
	gus_climb_step *step;              /* our own where libunwind is not for that machine */
	struct gus_libunwind *foreign;
};

#ifdef __x86_64__
/* What is no step is the same for both engines, and of code that is recognised rather than looked up the entry may be
 * another's. libunwind asks for the CFA of the outermost function as well, which need not have one, and does not know
 * (DW_CFA_val_offset) or misreads (DW_CFA_val_offset_sf) registers that are a distance from the CFA. */
static bool is_ours(const struct gus_rule *rule)
{
	if (rule->kind != GUS_RULE_STEP || rule->cfa_how == GUS_CFI_AT_SP)
		return true;
	for (unsigned i = 0; i < rule->slots; i++)
		if (rule->slot[i].how == GUS_CFI_VALUE ||
		    (rule->slot[i].reg == rule->ra && rule->slot[i].how == GUS_CFI_UNDEFINED))
			return true;
	return false;
}

static enum gus_callers step(void *context, struct gus_climb *w, struct gus_unwind_file *file, uint64_t offset)
{
	struct gus_unwind_copied *u = context;
	const struct gus_rule *rule = NULL;
	const struct gus_cfi *table = NULL;
	struct gus_cfi_text text;
	uint64_t address, before;
	enum gus_callers end;

	if (gus_unwind_file_rule(file, w->regs.machine, offset, w->exact, &w->steps, &rule) == GUS_UNWIND_RULE &&
	    !is_ours(rule))
		table = gus_unwind_file_cfi(file, w->exact ? offset : offset - 1, &address);
	if (!table || !gus_cfi_text(table, address, &text))
		return gus_climb_by_rule(NULL, w, file, offset);
	/* What a call does not keep is known behind a signal's frame, and some code finds its frame by it. */
	before = w->steps.left;
	end = gus_libunwind_step(u->foreign, table, &text, address, w->view, &w->steps,
			       text.signal ? UINT64_MAX : w->machine->preserved, &w->regs);
	gus_unwind_file_pay(file, before - w->steps.left);
	if (end)
		return end;
	w->cfa = w->regs.v[w->machine->sp];
	w->signal = text.signal;
	return 0;
}
#endif

struct gus_unwind_copied *gus_unwind_copied_new(unsigned machine)
{
	struct gus_unwind_copied *u = gus_zalloc(sizeof(*u));

	u->step = gus_climb_by_rule;
#ifdef __x86_64__
	if (machine == EM_X86_64) {
		u->step = step;
		u->foreign = gus_libunwind_new();
	}
#endif
	(void)machine;
	return u;
}

void gus_unwind_copied_free(struct gus_unwind_copied *u)
{
#ifdef __x86_64__
	if (u)
		gus_libunwind_free(u->foreign);
#endif
	free(u);
}

uint32_t gus_unwind_copied(struct gus_unwind_copied *u, const struct gus_unwind_view *view,
			   const struct gus_unwind_regs *regs, uint64_t *out, uint32_t most, uint64_t *callers)
{
	return gus_climb_run(u->step, u, view, regs, out, most, callers, NULL);
}
