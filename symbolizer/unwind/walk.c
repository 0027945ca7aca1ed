/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/walk.h"

#include <elf.h>
#include <string.h>

#include "symbolizer/unwind/files.h"
#include "symbolizer/unwind/lasts.h"
#include "symbolizer/unwind/view.h"

/* PERF_CONTEXT_USER in the perf_event ABI: stands before a place that was interrupted. */
#define INTERRUPTED ((uint64_t)-512)
#define NEAR 16 /* callers: where a stack differs from the last one in as few, that one is kept */

/* Flags are not followed, so x86-64's register 16 is the return address, and the processor's place. */
static const struct gus_climb_machine x86 = { 7, 6, 16, 16, 1 << 3 | 1 << 6 | 1 << 7 | 0xf << 12, UINT64_MAX, false };
/* x19 to x29 and sp. Where return addresses are signed, the signature is in the upper bits. */
static const struct gus_climb_machine arm64 = { 31, 29, 32, 30, 0x7ffull << 19 | 1ull << 31, (1ull << 48) - 1, true };

bool gus_climb_read(struct gus_climb *w, uint64_t address, uint64_t *value)
{
	if (!gus_unwind_read(w->view, address, sizeof(*value), value))
		return false;
	w->below |= address < w->regs.v[w->machine->sp];
	if (address + sizeof(*value) > w->top)
		w->top = address + sizeof(*value);
	return true;
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
	if (!gus_climb_read(w, fp, &next) || !gus_climb_read(w, fp + 8, &ra))
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
	if (!gus_climb_read(w, sp, &ra))
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

/* The walk, its results and what is kept of it. */
struct run {
	struct gus_climb w;
	const struct gus_unwind_view *view;
	struct gus_unwind_rest *rest;     /* NULL: none */
	uint64_t *out;
	uint32_t n, most, frames;
	uint64_t ways;
	const struct gus_unwind_last *last;
	struct gus_unwind_last *kept;     /* of this walk; NULL: none */
	uint32_t next;                    /* among the last one's marks */
	uint32_t walked;                  /* callers that were not taken from it */
	bool joined, by_zero;
};

static void add(struct run *r, uint64_t address, uint64_t frame)
{
	if (r->rest && r->rest->frames)
		r->rest->frames[r->n] = frame;
	if (r->kept && r->n < GUS_UNWIND_FRAMES_MOST)
		r->kept->frames[r->n] = frame;
	r->out[r->n++] = address;
}

/* Whether the callers from here on are those of the thread's last stack, which are added then. What of them has a mark
 * has one again. */
static bool goes_on_as_last(struct run *r)
{
	const struct gus_unwind_last *last = r->last;
	const struct gus_unwind_mark *mark;
	uint32_t more, from = r->n;

	mark = gus_unwind_last_find(last, r->view, &r->w.regs, r->w.machine->sp, &r->next);
	more = mark ? last->n - mark->at : 0;
	if (!mark || r->frames + more > GUS_UNWIND_FRAMES_MOST || more > r->most - r->n)
		return false;
	for (uint32_t i = mark->at; i < last->n; i++)
		add(r, last->addresses[i], last->frames[i]);
	for (; mark < last->mark + last->marks; mark++)
		gus_unwind_last_note(r->kept, from + (mark->at - last->mark[r->next].at), &mark->regs);
	r->ways |= last->ways;
	r->by_zero = last->by_zero;
	if (last->top > r->w.top)
		r->w.top = last->top;
	return r->joined = true;
}

/* A frame that was not called, and what a step read below its own, are not to be gone on from. */
static void mark_frame(struct run *r)
{
	if (r->w.below || r->w.signal)
		r->kept->marks = 0;
	r->w.below = false;
	if (r->n && !r->w.exact)
		gus_unwind_last_mark(r->kept, r->n, &r->w.regs);
}

static void keep(struct run *r)
{
	struct gus_unwind_last *k = r->kept;
	size_t size = (size_t)(r->w.top - r->view->stack_at);

	/* Where little had to be walked the last one will do for the next as well. */
	if (r->joined && r->walked <= NEAR)
		return;
	/* Markers come beside frames. */
	if (r->n > GUS_UNWIND_FRAMES_MOST || r->w.top < r->view->stack_at || size > r->view->stack_bytes)
		return;
	memcpy(k->addresses, r->out, r->n * sizeof(*r->out));
	k->n = r->n;
	k->ways = r->ways;
	k->by_zero = r->by_zero;
	k->stack_at = r->view->stack_at;
	k->top = r->w.top;
	k->stack.n = 0;
	gus_vec_append(&k->stack, (const uint8_t *)r->view->stack, size);
	gus_unwind_lasts_keep(r->view->lasts);
}

static enum gus_callers walk(struct run *r, gus_climb_step *step, void *context, struct gus_unwind_regs *before)
{
	struct gus_climb *w = &r->w;
	uint64_t way, room = r->view->stack_bytes / sizeof(uint64_t) + GUS_LIMIT_UNWIND_FRAMES_BESIDES;
	enum gus_callers end;

	for (;; r->frames++) {
		if (r->kept)
			mark_frame(r);
		r->walked = r->n;
		if (r->last && r->n && !w->exact && goes_on_as_last(r))
			return GUS_CALLERS_WHOLE;
		*before = w->regs;
		end = step_somehow(step, context, w, &way);
		if (!end)
			end = r->frames < room ? judge(w, before->v[w->machine->sp]) : GUS_CALLERS_BAD;
		if (!end && (r->frames == GUS_UNWIND_FRAMES_MOST || r->most - r->n < 1u + w->signal))
			end = GUS_CALLERS_DEEP;
		if (end)
			return end;
		r->ways |= way;
		if (w->signal)
			add(r, INTERRUPTED, 0);
		add(r, w->regs.v[w->machine->pc], w->cfa);
		w->exact = w->signal;
	}
}

uint32_t gus_climb_run(gus_climb_step *step, void *context, const struct gus_unwind_view *view,
		      const struct gus_unwind_regs *regs, uint64_t *out, uint32_t most, uint64_t *callers,
		      struct gus_unwind_rest *rest)
{
	struct run r = { .view = view, .rest = rest, .out = out, .most = most };
	struct gus_unwind_regs before;
	enum gus_callers end;

	r.w = (struct gus_climb){ .view = view, .machine = regs->machine == EM_X86_64 ? &x86 : &arm64, .regs = *regs,
				  .steps.left = GUS_LIMIT_UNWIND_WORK, .exact = true };
	if (view->lasts) {
		r.last = gus_unwind_lasts_get(view->lasts, view->pid, view->tid);
		r.kept = gus_unwind_lasts_begin(view->lasts, view->pid, view->tid);
	}
	end = walk(&r, step, context, &before);
	if (!r.by_zero)
		r.by_zero = end == GUS_CALLERS_WHOLE && !r.w.regs.v[r.w.machine->pc];
	if (r.kept && end == GUS_CALLERS_WHOLE)
		keep(&r);
	if (end == GUS_CALLERS_STACK && !view->stack_bytes)
		end = GUS_CALLERS_GONE;
	*callers = (uint64_t)end | r.ways;
	if (rest) {
		rest->regs = before;
		rest->frame = end == GUS_CALLERS_STACK ? r.w.cfa : 0;
		rest->by_zero = r.by_zero;
	}
	return r.n;
}
