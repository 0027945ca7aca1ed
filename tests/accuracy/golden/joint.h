/* SPDX-License-Identifier: MIT */
/* Where a run of the core engine spends its cycles, beside where samplers would have seen it spend them.
 *
 * A cycle belongs to an instruction, and to what had happened to it, by TEA's policies (model/core/pics.h). A sampler
 * that is triggered in that cycle sees some instruction: one of PEBS the next that retires, an interrupt that one or
 * some behind it. How many cycles of each cell are seen at which instruction is all that it takes to find, from what
 * was seen, to whom it belongs (tests/accuracy/golden/spread.h).
 *
 *	cycle      1        2        3        4        5
 *	retires    a b      -        c        -        d
 *	is of      a/2 b/2  c        c        c        d        c: a mispredicted branch
 *	next       a        c        c        d        d
 *	interrupt  c        d        d        ...
 */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_JOINT_H
#define GUS_TESTS_ACCURACY_GOLDEN_JOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_core_listener;
struct golden_joint;
struct gus_program;

/* Where a cycle is seen: 0: at the next that retires; 1: at the first behind all that retires with it, which is where
 * an interrupt lands; 2, 3: one, two instructions behind that. */
enum { GOLDEN_JOINT_SKIDS = 4 };

/* To whom a cycle belongs: to executions of an instruction, of which there were so many, each with these events. */
struct golden_joint_cell { uint64_t address; uint16_t psv; uint64_t ticks, executed; };
/* Of a cell so many ticks are seen at an instruction. behind: what retired before that was a branch that was
 * mispredicted and taken. */
struct golden_joint_pair { uint64_t address; bool behind; uint32_t cell; uint64_t ticks; };

struct golden_joint *golden_joint_new(void);
void golden_joint_free(struct golden_joint *j);
/* For a run of a program, which is borrowed until golden_joint_leave and may grow. Several may be listened to, one
 * behind the other or at the same time, as threads are, each with a number of its own: they add up. */
const struct gus_core_listener *golden_joint_listen(struct golden_joint *j, uint32_t stream,
						    const struct gus_program *p);
void golden_joint_leave(struct golden_joint *j, uint32_t stream);

const struct golden_joint_cell *golden_joint_cells(const struct golden_joint *j, size_t *n);
/* Of one skid; the ticks of all pairs of a cell are its ticks, but for what was seen of no instruction as the run was
 * over. */
const struct golden_joint_pair *golden_joint_pairs(const struct golden_joint *j, unsigned skid, size_t *n);

#endif
