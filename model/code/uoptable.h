/* SPDX-License-Identifier: MIT */
/* A plain table of uops as input: a loop written down by hand, or by another tool, without machine code. The form is
 * that of UFS' input (Palomares 2015, Table 7.7). Pure: text in, program out.
 *
 * A line is an instruction, its columns are separated by blanks, # begins a comment:
 *
 *	ID TYPE INPUTS OUTPUTS LATENCY PORTS [EXCLUSIVE]
 *
 *	1  mov   x1         x10    1    5
 *	2  int   rax        rdi    1    0,5
 *	8  load  rsi,rdi    x15    4    2,3
 *	9  div   x1,x2      x2     21   0      21
 *	41 store rsi,rdi;x8 -      1+3  2,3+4
 *	54 cmp+jle rdx,rax  flags  1    5
 *
 * ID is any word without blanks, unique. TYPE decides which buffers the uops take:
 *
 *	load            takes a load buffer entry
 *	store           two uops, address and data, and a store buffer entry
 *	jCC jmp branch  take a branch entry; of the last line it is the branch that closes the loop
 *	nop             executes nothing. With an output it is a zero idiom, with an input and an output an eliminated
 *	                move;
 *	                latency and ports are then `-`
 *	load+TYPE       a load fused with its operation, or with a branch
 *	TYPE+jCC        a fused pair: one uop with a branch entry
 *
 * All other words compute. What they say matters to variants only, which have to know a division: mov, lea, int, add,
 * sub, cmp, test, mul, fma, div, sqrt, shuffle.
 *
 * INPUTS and OUTPUTS are registers separated by commas, `-` for none; those that begin with x, y, z or v are vector
 * registers, k masks, `flags` the flags, all others general ones. PORTS are those that the uop may take, by name or by
 * what stands behind its p. EXCLUSIVE is for how many cycles the uop keeps its port's unit from others that have a
 * figure there (a divider); a uop with a choice of ports keeps the whole port for so long (a wide load that takes two
 * halves).
 *
 * A store and a load with an operation are two uops: their inputs are separated by a semicolon (ADDRESS;DATA,
 * ADDRESS;OTHERS), their latencies, ports and exclusive cycles by a plus. They are one in the renamer where the table
 * has micro_fusion. That is undone by its rule `unlaminate`: `inputs`, if the instruction reads more than two registers
 * (Sandy Bridge, Ivy Bridge); `operands`, if its operation begins with v and inputs and outputs are four or more
 * (Haswell); where the table has no such rule, by micro_fusion_indexed, an address of two or more registers being
 * indexed. */
#ifndef GUS_MODEL_CODE_UOPTABLE_H
#define GUS_MODEL_CODE_UOPTABLE_H

#include <stddef.h>

struct gus_error;
struct gus_program;
struct gus_uarch;

/* name is for messages ("FILE"); u gives the rules of fusion and the ports, which must exist there (5 is its port p5).
 * The program borrows u. NULL with err: line and what is wrong. */
struct gus_program *gus_uoptable_program(const struct gus_uarch *u, const char *name, const char *text, size_t size,
					 struct gus_error *err);

#endif
