/* SPDX-License-Identifier: MIT */
/* A dataflow bound that knows no table and no program, so that it cannot make the mistakes of either: what instructions
 * read and write, as the decoder says it, and one cycle for each that executes. Moves, idioms and additions of
 * constants, which some renamers do, take none, nor does lea; flags, the stack pointer of push and pop, memory, parts
 * of registers and instructions with several results are left out. So it is far below what code takes, and nothing may
 * be below it. */
#ifndef GUS_TESTS_PLAIN_BOUND_H
#define GUS_TESTS_PLAIN_BOUND_H

struct gus_program;

/* Cycles an iteration, in general and vector registers alone. */
double plain_bound(const struct gus_program *p);

#endif
