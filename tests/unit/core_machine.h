/* SPDX-License-Identifier: MIT */
/* A machine for tests of the core engine's rules: a table of uops, a core that is wide and has no ends but for what
 * a case sets, and all that it tells. Cycles follow from the rules: what is issued in cycle c is dispatched from c +
 * 1 on, and of a producer with latency L that is dispatched in d consumers are dispatched from d + L on. */
#ifndef GUS_TESTS_CORE_MACHINE_H
#define GUS_TESTS_CORE_MACHINE_H

#include "model/core/core.h"

enum { EVENTS = 8192, CYCLES = 12000 };

struct core_machine {
	struct gus_uarch *u;
	struct gus_program *p;
	struct gus_core_config c;
	struct gus_core_options o;
	struct gus_core_result r;
	struct gus_core_event event[EVENTS];    /* in the order of retirement, which is that of the program */
	struct gus_core_cycle cycle[CYCLES];
	size_t events_n, cycles_n;
};

extern struct core_machine m; /* of the case that runs */

/* Ports p0 to p7, fusion as Haswell has it, four slots a cycle; runs once, all uops are always there. */
void make(const char *text);
/* The same on a table of one's own. */
void make_on(const char *rules, const char *text);
void run(void);
void drop(void);

/* Of the n-th uop that retires, from 0. */
int port_of(size_t n);
uint64_t issued(size_t n);
uint64_t dispatched(size_t n);
uint64_t completed(size_t n);

#endif
