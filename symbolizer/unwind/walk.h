/* SPDX-License-Identifier: MIT */
/* The walk from frame to frame, which both engines share: where a stack ends and why, what is a frame, frame pointers
 * where tables have nothing. How tables are asked is the engine's. */
#ifndef GUS_SYMBOLIZER_UNWIND_WALK_H
#define GUS_SYMBOLIZER_UNWIND_WALK_H

#include "base/limits.h"
#include "symbolizer/unwind/unwind.h"

/* What differs between machines: numbers of registers, and a bit for each that a function gives back as it was. */
struct gus_climb_machine {
	unsigned sp, fp, pc, ra;          /* ra: the column of tables for the return address */
	uint64_t preserved;
	uint64_t addresses;               /* bits that an address of code can have */
	bool links;                       /* a call leaves its return address in a register */
};

/* A frame, and what became of it. */
struct gus_climb {
	const struct gus_unwind_view *view;
	const struct gus_climb_machine *machine;
	struct gus_unwind_regs regs;      /* of the frame whose caller is sought; then of the caller */
	bool exact;                       /* the frame is where the processor is, or was interrupted */
	struct gus_budget steps;
	uint64_t cfa;                     /* of the frame, as soon as it is known; 0 before */
	bool signal;                      /* the frame was a signal's: its caller was interrupted */
	/* Of all steps so far: where what they read of the stack ends, and whether one, since this was last set to
	 * false, read what may lie below its frame. */
	uint64_t top;
	bool below;
};

/* A step by tables from w->regs, whose code is at that offset of the file (of an inexact frame: what is returned to).
 * Returns 0 with the caller's regs (pc among them), cfa and signal; GUS_CALLERS_NO_RULE if tables have nothing about
 * it, GUS_CALLERS_FILE if they are not at hand; else why the stack ends here, with regs as they were. */
typedef enum gus_callers gus_climb_step(void *context, struct gus_climb *w, struct gus_unwind_file *file,
				       uint64_t offset);

/* gus_unwind's own, which needs no context. */
gus_climb_step gus_climb_by_rule;

/* As gus_unwind, by that step. */
uint32_t gus_climb_run(gus_climb_step *step, void *context, const struct gus_unwind_view *view,
		      const struct gus_unwind_regs *regs, uint64_t *out, uint32_t most, uint64_t *callers,
		      struct gus_unwind_rest *rest);

/* A word of the stack; false if it was not copied. */
bool gus_climb_read(struct gus_climb *w, uint64_t address, uint64_t *value);

static inline bool gus_climb_knows(const struct gus_unwind_regs *regs, unsigned reg)
{
	return regs->known >> reg & 1;
}

static inline void gus_climb_set(struct gus_unwind_regs *regs, unsigned reg, uint64_t value)
{
	regs->v[reg] = value;
	regs->known |= 1ull << reg;
}

#endif
