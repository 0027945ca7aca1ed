/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/lasts.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 256 /* a power of two */
#define FIRST 4     /* callers behind which there is always a mark; further out they are rarer, */
#define EVERY 8     /* as registers are those of then soon, and registers take their time to keep */

struct gus_unwind_lasts {
	uint64_t generation;
	struct gus_unwind_last *threads[THREADS];
	struct gus_unwind_last *spare; /* that of the walk under way */
};

struct gus_unwind_lasts *gus_unwind_lasts_new(void)
{
	return gus_zalloc(sizeof(struct gus_unwind_lasts));
}

static void free_last(struct gus_unwind_last *last)
{
	if (last)
		gus_vec_free(&last->stack);
	free(last);
}

void gus_unwind_lasts_free(struct gus_unwind_lasts *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < THREADS; i++)
		free_last(l->threads[i]);
	free_last(l->spare);
	free(l);
}

void gus_unwind_lasts_forget(struct gus_unwind_lasts *l)
{
	l->generation++;
}

const struct gus_unwind_last *gus_unwind_lasts_get(const struct gus_unwind_lasts *l, uint32_t pid, uint32_t tid)
{
	const struct gus_unwind_last *last = l->threads[tid % THREADS];

	return last && last->pid == pid && last->tid == tid && last->generation == l->generation ? last : NULL;
}

struct gus_unwind_last *gus_unwind_lasts_begin(struct gus_unwind_lasts *l, uint32_t pid, uint32_t tid)
{
	if (!l->spare)
		l->spare = gus_zalloc(sizeof(*l->spare));
	l->spare->pid = pid;
	l->spare->tid = tid;
	l->spare->generation = l->generation;
	l->spare->top = 0;
	l->spare->n = l->spare->marks = 0;
	return l->spare;
}

void gus_unwind_lasts_keep(struct gus_unwind_lasts *l)
{
	struct gus_unwind_last **place = &l->threads[l->spare->tid % THREADS], *old = *place;

	*place = l->spare;
	l->spare = old;
}

void gus_unwind_last_note(struct gus_unwind_last *last, uint32_t n, const struct gus_unwind_regs *regs)
{
	if (last && last->marks < GUS_LASTS_MARKS)
		last->mark[last->marks++] = (struct gus_unwind_mark){ n, *regs };
}

void gus_unwind_last_mark(struct gus_unwind_last *last, uint32_t n, const struct gus_unwind_regs *regs)
{
	if (n <= FIRST || n % EVERY == 0)
		gus_unwind_last_note(last, n, regs);
}

static bool are_same(const struct gus_unwind_regs *a, const struct gus_unwind_regs *b)
{
	if (a->known != b->known)
		return false;
	for (uint64_t left = a->known; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);

		if (a->v[reg] != b->v[reg])
			return false;
	}
	return true;
}

/* From there to the last byte that was read. */
static bool same_stack(const struct gus_unwind_last *last, const struct gus_unwind_view *view, uint64_t from)
{
	uint64_t then = from - last->stack_at, now = from - view->stack_at, size = last->top - from;

	if (from < last->stack_at || from < view->stack_at || from > last->top)
		return false;
	return then + size <= last->stack.n && now <= view->stack_bytes && size <= view->stack_bytes - now &&
	       memcmp(last->stack.v + then, (const uint8_t *)view->stack + now, size) == 0;
}

const struct gus_unwind_mark *gus_unwind_last_find(const struct gus_unwind_last *last,
						   const struct gus_unwind_view *view,
						   const struct gus_unwind_regs *regs, unsigned sp, uint32_t *next)
{
	const struct gus_unwind_mark *mark;

	while (*next < last->marks && last->mark[*next].regs.v[sp] < regs->v[sp])
		++*next;
	mark = &last->mark[*next];
	return *next < last->marks && are_same(&mark->regs, regs) && same_stack(last, view, regs->v[sp]) ? mark : NULL;
}
