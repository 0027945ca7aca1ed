/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/walk.h"

#include <elf.h>

#include "symbolizer/unwind/files.h"
#include "symbolizer/unwind/view.h"

/* PERF_CONTEXT_USER in the perf_event ABI: stands before a place that was interrupted. */
#define INTERRUPTED ((uint64_t)-512)

/* Flags are not followed, so x86-64's register 16 is the return address, and the processor's place. */
static const struct gus_climb_machine x86 = { 7, 6, 16, 16, 1 << 3 | 1 << 6 | 1 << 7 | 0xf << 12, UINT64_MAX, false };
/* x19 to x29 and sp. Where return addresses are signed, the signature is in the upper bits. */
static const struct gus_climb_machine arm64 = { 31, 29, 32, 30, 0x7ffull << 19 | 1ull << 31, (1ull << 48) - 1, true };

static bool read_word(const struct gus_climb *w, uint64_t address, uint64_t *value)
{
	return gus_unwind_read(w->view, address, sizeof(*value), value);
}

/* A caller keeps only what its callee must not change. */
static void go_to(struct gus_climb *w, uint64_t keep, uint64_t sp, uint64_t pc)
{
	w->regs.known &= keep;
	gus_climb_set(&w->regs, w->machine->sp, sp);
	gus_climb_set(&w->regs, w->machine->pc, pc & w->machine->addresses);
	w->signal = false;
}

static bool has_rule(struct gus_climb *w, uint64_t address)
{
	struct gus_unwind_code code;
	const struct gus_rule *rule;

	return w->view->code(w->view->context, address - 1, &code) && code.file &&
	       gus_unwind_file_rule(code.file, w->regs.machine, code.offset + 1, false, &w->steps, &rule) ==
		       GUS_UNWIND_RULE && rule->kind == GUS_RULE_STEP;
}

/* By the frame pointer, where it points at the caller's, and the return address stands behind that. Whether it does is
 * not known of code without tables: what it leads to must look like it. Of a function that was interrupted before it
 * made its frame, and of a leaf that has none, the caller is passed over and its caller found: that is what frame
 * pointers can tell. */
static enum gus_callers step_by_pointer(struct gus_climb *w)
{
	unsigned reg = w->machine->fp;
	uint64_t fp = w->regs.v[reg], sp = w->regs.v[w->machine->sp], next, ra;

	if (!gus_climb_knows(&w->regs, reg))
		return GUS_CALLERS_NO_RULE;
	if (!fp && !w->exact) /* the outermost frame has none, by the conventions of both machines */
		return GUS_CALLERS_WHOLE;
	if (fp < sp || fp % 8 || (int64_t)fp < 0)
		return GUS_CALLERS_NO_RULE;
	w->cfa = fp + 16;
	if (!read_word(w, fp, &next) || !read_word(w, fp + 8, &ra))
		return GUS_CALLERS_STACK;
	ra &= w->machine->addresses;
	if (!ra)
		return GUS_CALLERS_WHOLE;
	/* Code that has tables may keep anything in that register. */
	if (next && next <= fp && !has_rule(w, ra))
		return GUS_CALLERS_NO_RULE;
	go_to(w, 0, fp + 16, ra);
	gus_climb_set(&w->regs, reg, next);
	return 0;
}

/* A call through a pointer to nowhere: nothing has happened there yet but the call. */
static enum gus_callers step_from_nowhere(struct gus_climb *w)
{
	const struct gus_climb_machine *m = w->machine;
	uint64_t sp = w->regs.v[m->sp], ra;

	if (!w->exact || (m->links && !gus_climb_knows(&w->regs, m->ra)))
		return GUS_CALLERS_NO_CODE;
	if (m->links) {
		go_to(w, m->preserved, sp, w->regs.v[m->ra]);
		return 0;
	}
	w->cfa = sp + 8;
	if (!read_word(w, sp, &ra))
		return GUS_CALLERS_STACK;
	go_to(w, m->preserved, sp + 8, ra);
	return 0;
}

/* By whatever leads on; *way is which. */
static enum gus_callers step_somehow(gus_climb_step *by_tables, void *context, struct gus_climb *w, uint64_t *way)
{
	uint64_t behind = w->exact ? 0 : 1, pc = w->regs.v[w->machine->pc];
	struct gus_unwind_code code = { 0 };
	enum gus_callers end = GUS_CALLERS_NO_RULE, pointed;

	w->cfa = *way = 0;
	w->signal = false;
	if (!w->view->code(w->view->context, pc - behind, &code))
		return step_from_nowhere(w);
	if (code.file)
		end = by_tables(context, w, code.file, code.offset + behind);
	*way = end ? 0 : GUS_CALLERS_TABLE;
	if (end != GUS_CALLERS_NO_RULE && end != GUS_CALLERS_FILE)
		return end;
	pointed = step_by_pointer(w);
	*way = pointed ? 0 : GUS_CALLERS_POINTER;
	return pointed == GUS_CALLERS_NO_RULE ? end : pointed;
}

/* Whether what was stepped to can be a frame: 0, or the end. It lies above the one that it called. A signal's handler
 * may have a stack of its own, and what it interrupted may be anywhere; and a leaf may have no frame at all, if its
 * return address is in a register: on some machines each call leaves it there, and vfork takes it there on any. */
static enum gus_callers judge(const struct gus_climb *w, uint64_t old_sp)
{
	uint64_t pc = w->regs.v[w->machine->pc], sp = w->regs.v[w->machine->sp];
	struct gus_unwind_code code;

	if (w->signal)
		return 0;
	if ((int64_t)sp < 0 || sp < old_sp || (sp == old_sp && !w->exact))
		return GUS_CALLERS_BAD;
	if (!pc)
		return GUS_CALLERS_WHOLE;
	return w->view->code(w->view->context, pc - 1, &code) ? 0 : GUS_CALLERS_NO_CODE;
}

uint32_t gus_climb_run(gus_climb_step *step, void *context, const struct gus_unwind_view *view,
		      const struct gus_unwind_regs *regs, uint64_t *out, uint32_t most, uint64_t *callers,
		      struct gus_unwind_rest *rest)
{
	struct gus_climb w = { .view = view, .machine = regs->machine == EM_X86_64 ? &x86 : &arm64, .regs = *regs,
			      .steps.left = GUS_LIMIT_UNWIND_WORK, .exact = true };
	struct gus_unwind_regs before;
	enum gus_callers end = 0;
	uint64_t ways = 0, way, room = view->stack_bytes / sizeof(uint64_t) + GUS_LIMIT_UNWIND_FRAMES_BESIDES;
	uint32_t n = 0, frames = 0;

	for (;; frames++) {
		before = w.regs;
		end = step_somehow(step, context, &w, &way);
		if (!end)
			end = frames < room ? judge(&w, before.v[w.machine->sp]) : GUS_CALLERS_BAD;
		if (!end && (frames == GUS_UNWIND_FRAMES_MOST || most - n < 1u + w.signal))
			end = GUS_CALLERS_DEEP;
		if (end)
			break;
		ways |= way;
		for (unsigned i = 0; rest && rest->frames && i < 1u + w.signal; i++)
			rest->frames[n + i] = i == w.signal ? w.cfa : 0;
		if (w.signal)
			out[n++] = INTERRUPTED;
		out[n++] = w.regs.v[w.machine->pc];
		w.exact = w.signal;
	}
	if (end == GUS_CALLERS_STACK && !view->stack_bytes)
		end = GUS_CALLERS_GONE;
	*callers = (uint64_t)end | ways;
	if (rest) {
		rest->regs = before;
		rest->frame = end == GUS_CALLERS_STACK ? w.cfa : 0;
		rest->by_zero = end == GUS_CALLERS_WHOLE && !w.regs.v[w.machine->pc];
	}
	return n;
}
