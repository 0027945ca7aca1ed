/* SPDX-License-Identifier: MIT */
/* One frame by libunwind: from the registers in a function to those of its caller, as the function's unwind entry says.
 *
 * libunwind finds its way through another process by calling for memory, registers and tables. The process that it sees
 * here is made up: the functions that were met, each at an address of its own, however many processes have it and
 * wherever they do; their unwind entries, written anew in the one simplest form; and the copy of a stack, where it was.
 * What libunwind remembers of an address then serves all samples of a recording, and all that it is given of a file has
 * been read by us before: it asserts where tables contradict themselves, divides by what they say, and takes memory for
 * each state that they put aside. */
#ifndef GUS_SYMBOLIZER_UNWIND_LIBUNWIND_H
#define GUS_SYMBOLIZER_UNWIND_LIBUNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/unwind/unwind.h"

struct gus_budget;
struct gus_cfi;
struct gus_cfi_text;

/* libunwind's address space with what it remembers. Of one thread. */
struct gus_libunwind;

struct gus_libunwind *gus_libunwind_new(void);
void gus_libunwind_free(struct gus_libunwind *s);

/* regs, in the function of that entry, at an address of its file, become its caller's: those that are wanted, a bit
 * for each, its place and its stack pointer, so far as they are known. Returns GUS_CALLERS_UNTOLD, which is 0, if all
 * is well, GUS_CALLERS_WHOLE if the entry says that nothing called it, or why no caller is found; regs are then as
 * they were. table must live as long as s. */
enum gus_callers gus_libunwind_step(struct gus_libunwind *s, const struct gus_cfi *table,
				     const struct gus_cfi_text *text, uint64_t address,
				     const struct gus_unwind_view *view, struct gus_budget *work, uint64_t wanted,
				     struct gus_unwind_regs *regs);

#endif
