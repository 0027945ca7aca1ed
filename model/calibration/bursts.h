/* SPDX-License-Identifier: MIT */
/* Microbenchmarks of what comes through the front and goes out at the end: bursts between a fence and a chain, which
 * issue takes as fast as it can; drains, which retire behind a jam; and loops, which show what is brought. */
#ifndef GUS_MODEL_CALIBRATION_BURSTS_H
#define GUS_MODEL_CALIBRATION_BURSTS_H

#include <stdbool.h>

#include "symbolizer/insn/insn.h"

struct gus_micro;

enum { GUS_BURST_OTHERS = 2 };  /* instructions beside each pair of compare or subtract and branch */

/* Bursts of n: of loads, of all kinds of uops by turns, of compare and branch, of subtract and branch. */
struct gus_micro *gus_burst_of_loads(enum gus_isa isa, unsigned n);
struct gus_micro *gus_burst_of_all(enum gus_isa isa, unsigned n);
struct gus_micro *gus_burst_of_comparisons(enum gus_isa isa, unsigned n);
struct gus_micro *gus_burst_of_subtractions(enum gus_isa isa, unsigned n);
/* n that are executed and wait for a jam, and a fence behind them. */
struct gus_micro *gus_burst_drain(enum gus_isa isa, unsigned n);
/* A loop of n, of alike lengths so that so many fill each `window` bytes evenly; nops: as nops, where there are. */
struct gus_micro *gus_burst_loop(enum gus_isa isa, unsigned n, unsigned window, unsigned per_window, bool nops);
/* A loop of n of all kinds. */
struct gus_micro *gus_burst_steady(enum gus_isa isa, unsigned n);

#endif
