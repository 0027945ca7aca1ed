/* SPDX-License-Identifier: MIT */
/* A program of three functions that is executed by hand, so that the number of executions of each of its blocks is
 * known, and the recording that a CPU with a branch stack would have given of it. Its code is in the recording. */
#ifndef GUS_TESTS_UNIT_MADE_STACKS_H
#define GUS_TESTS_UNIT_MADE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/sample.h"

struct gus_symbols;

#define MADE_MODULE "/nowhere/app"
#define MADE_START 1000000000ull
#define MADE_BASE 0x400000ull           /* where the module is mapped */
#define MADE_TEXT 0x1000u               /* offset of its code in the file */
#define MADE_ADDRESS 0x401000u          /* and the address that the file gives to it */
#define MADE_LIBRARY 0x7f0000000000ull  /* another module is mapped, which nobody has */
#define MADE_TWIN 0x600000ull           /* a copy of the module under another name, which the program does not use */
#define MADE_KERNEL 0xffffffffa0000000ull /* made_first, a page of code, and behind it made_second */
#define MADE_BRANCH_ANY 8u              /* PERF_SAMPLE_BRANCH_ANY */
#define MADE_DEPTH 8                    /* branches in a stack */

/* Its blocks: those that are jumped to, and those behind branches. */
enum { F, OUTER, INNER, ODD, NEXT, CALL, BACK, LEAVE, G, M, AGAIN, BLOCKS };
struct made_block { uint8_t at, size, insns; };
extern const struct made_block made_blocks[BLOCKS];
extern const uint8_t made_code[];

/* The machine: it counts blocks and notes the last branches. A sample comes each MADE_DEPTH - 1 branches, so that the
 * newest of a stack is the oldest of the next one, and each range is in one stack. */
struct made_machine {
	struct gus_columns *samples;
	uint64_t count[BLOCKS], mispredicted, branches;
	struct gus_branch last[MADE_DEPTH]; /* the newest first */
};

/* Runs it so that nothing is left over: its samples, and what was executed between the first and the last branch. */
void made_run(struct made_machine *k, struct gus_columns *samples);
void made_sample(struct gus_columns *samples, uint64_t ip, uint64_t period, const struct gus_branch *stack, uint32_t n);
/* One of thread 11, at that offset in the kernel, whose code nobody has. */
void made_kernel_sample(struct gus_columns *samples, uint64_t offset);
/* Writes the recording; false if it cannot. */
bool made_write(const char *path, const struct gus_columns *samples, uint64_t branch_type);
/* What a recording with the program in it tells of its names and its code. */
void made_add_image(struct gus_symbols *symbols);

#endif
