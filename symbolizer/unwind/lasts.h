/* SPDX-License-Identifier: MIT */
/* The last whole stack of each thread, so that its next one is walked only as far as it differs.
 *
 * Nothing is inferred: the same rules, applied to the same registers and the same bytes, find the same callers. So from
 * a frame on that has the registers of a frame of then, with the same bytes of stack between it and the outermost that
 * was read, the callers are those of then. Steps that read below their frame, such as through signals and expressions,
 * end where such a frame may be looked for. */
#ifndef GUS_SYMBOLIZER_UNWIND_LASTS_H
#define GUS_SYMBOLIZER_UNWIND_LASTS_H

#include "base/alloc.h"
#include "symbolizer/unwind/unwind.h"

#define GUS_LASTS_MARKS 160 /* the first few callers, and then each eighth */

/* A frame whose callers are sought: its registers, behind so many callers. */
struct gus_unwind_mark {
	uint32_t at;
	struct gus_unwind_regs regs;
};

struct gus_unwind_last {
	uint32_t pid, tid;
	uint64_t generation;           /* of what is mapped */
	uint64_t ways;                 /* how the callers were found, of GUS_CALLERS_* */
	bool by_zero;                  /* as of a rest */
	uint64_t stack_at, top;        /* the bytes that were copied, up to the last one that was read */
	struct gus_vec(uint8_t) stack;
	uint32_t n, marks;
	uint64_t addresses[GUS_UNWIND_FRAMES_MOST], frames[GUS_UNWIND_FRAMES_MOST];
	struct gus_unwind_mark mark[GUS_LASTS_MARKS];
};

/* All threads', 130 KiB each at most, of 256: of threads that share a place, the last one is kept. */
struct gus_unwind_lasts *gus_unwind_lasts_new(void);
void gus_unwind_lasts_free(struct gus_unwind_lasts *l);
/* What is mapped has changed: nothing of before is used any more. */
void gus_unwind_lasts_forget(struct gus_unwind_lasts *l);

/* The thread's last stack, NULL if there is none, or none of what is mapped now. */
const struct gus_unwind_last *gus_unwind_lasts_get(const struct gus_unwind_lasts *l, uint32_t pid, uint32_t tid);
/* An empty one to be filled during a walk: the last of its thread with gus_unwind_lasts_keep, else the next walk's. */
struct gus_unwind_last *gus_unwind_lasts_begin(struct gus_unwind_lasts *l, uint32_t pid, uint32_t tid);
void gus_unwind_lasts_keep(struct gus_unwind_lasts *l);

/* Notes that these registers are behind n callers; mark does so of some alone. Nothing if last is NULL. */
void gus_unwind_last_note(struct gus_unwind_last *last, uint32_t n, const struct gus_unwind_regs *regs);
void gus_unwind_last_mark(struct gus_unwind_last *last, uint32_t n, const struct gus_unwind_regs *regs);
/* The mark with these registers, if the stack from there on is what it was; else NULL. sp: that register's number;
 * *next: where marks are looked for, from 0 on; they are passed over as the walk goes outwards. */
const struct gus_unwind_mark *gus_unwind_last_find(const struct gus_unwind_last *last,
						   const struct gus_unwind_view *view,
						   const struct gus_unwind_regs *regs, unsigned sp, uint32_t *next);

#endif
