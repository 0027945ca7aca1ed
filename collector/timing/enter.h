/* SPDX-License-Identifier: MIT */
/* The way into foreign code and back. */
#ifndef GUS_COLLECTOR_TIMING_ENTER_H
#define GUS_COLLECTOR_TIMING_ENTER_H

#include <stdint.h>

/* Calls code as void f(uint64_t passes, void *arena), and puts right afterwards what a function may not leave changed:
 * registers to be kept, the direction of strings, rounding and masks of floating point. wide, of x86: the core has
 * registers of 256 bits or more, whose upper halves are cleared, as instructions of 128 bits behind such are slow on
 * some cores until that is done. */
void gus_timing_enter(const void *code, uint64_t passes, void *arena, int wide);

#endif
