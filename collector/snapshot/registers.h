/* SPDX-License-Identifier: MIT */
/* What ptrace has of a stopped thread's registers, by kind of machine. */
#ifndef GUS_COLLECTOR_SNAPSHOT_REGISTERS_H
#define GUS_COLLECTOR_SNAPSHOT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/gusprof.pb-c.h"

struct gus_error;

/* The kind of machine that this is, as snapshots call it; NULL if it is one whose registers nobody here knows how to
 * put back. */
const char *gus_registers_machine(void);
/* Into a->registers and a->state, which are freed before; the thread is stopped and ours to trace. -1 with err. */
int gus_registers_take(pid_t tid, Gusprof__Snapshot *a, struct gus_error *err);
/* Whether the thread was stopped in a system call that is not over, or is about to begin one: nothing of its own code
 * comes before that. */
bool gus_registers_in_kernel(pid_t tid, const Gusprof__Snapshot *a);
uint64_t gus_registers_stack(const Gusprof__Snapshot *a);

#endif
