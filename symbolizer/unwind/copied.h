/* SPDX-License-Identifier: MIT */
/* The same as gus_unwind by libunwind, for stacks that a recording keeps. libunwind is built for one machine: on x86-64
 * it unwinds x86-64's stacks, and other stacks are left to our own engine, as all of them on other machines. */
#ifndef GUS_SYMBOLIZER_UNWIND_COPIED_H
#define GUS_SYMBOLIZER_UNWIND_COPIED_H

#include "symbolizer/unwind/unwind.h"

/* What a thread needs for it: libunwind's address space with its caches. */
struct gus_unwind_copied;

struct gus_unwind_copied *gus_unwind_copied_new(unsigned machine);
void gus_unwind_copied_free(struct gus_unwind_copied *u);
uint32_t gus_unwind_copied(struct gus_unwind_copied *u, const struct gus_unwind_view *view,
			   const struct gus_unwind_regs *regs, uint64_t *out, uint32_t most, uint64_t *callers);

#endif
