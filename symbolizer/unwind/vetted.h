/* SPDX-License-Identifier: MIT */
/* What of a file's unwind entries libunwind may see. It is made for files that are in order: a program of call frame
 * information that says nothing of the CFA ends it by an assertion, a division of the least number by -1 by a signal,
 * and states are put aside without a bound. */
#ifndef GUS_SYMBOLIZER_UNWIND_VETTED_H
#define GUS_SYMBOLIZER_UNWIND_VETTED_H

#include <stdbool.h>
#include <stdint.h>

struct gus_budget;
struct gus_bytes;
struct gus_cfi;
struct gus_cfi_text;

/* Whether the entry's program, run up to that address, leaves rules that libunwind can follow. */
bool gus_vetted_row(const struct gus_cfi *cfi, uint64_t address, struct gus_budget *work);

/* Appends the entry in the form of .eh_frame without an augmentation, as of a function at `at`: a row of a binary
 * search table, then the common part, then the function's. The first byte of out is at out_at, less than 2 GiB away.
 * False, and nothing is appended, if it cannot be told so. */
bool gus_vetted_write(struct gus_bytes *out, uint64_t out_at, const struct gus_cfi_text *text, uint64_t at);

#endif
