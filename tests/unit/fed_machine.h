/* SPDX-License-Identifier: MIT */
/* A core engine that a test feeds with what was executed, and all that it tells. */
#ifndef GUS_TESTS_UNIT_FED_MACHINE_H
#define GUS_TESTS_UNIT_FED_MACHINE_H

#include "base/alloc.h"
#include "made_program.h"
#include "model/core/core.h"
#include "model/machine/steps.h"

struct gus_core_hooks;

struct fed_machine {
	struct gus_uarch *u;
	struct gus_core_config c;
	struct gus_program *p;
	const struct gus_core_hooks *hooks;     /* NULL at first */
	struct gus_vec(struct gus_op_step) steps;
	struct gus_vec(struct gus_op_access) accesses;
	/* Of the last run. */
	struct gus_vec(struct gus_core_event) events;
	struct gus_vec(struct gus_core_cycle) cycles;
	uint64_t took;                          /* cycles */
};

/* Skylake's table, and some code. */
void fed_machine_begin(struct fed_machine *m, const void *code, size_t size);
void fed_machine_end(struct fed_machine *m);
/* Another op is executed, from the uop cache, that hits in all it does; what is not so the caller changes after. */
struct gus_op_step *fed_machine_step(struct fed_machine *m, uint32_t op);
/* Its next access. */
struct gus_op_access *fed_machine_access(struct fed_machine *m, uint64_t address);
/* Runs all that was executed, so many steps at a time, and is told of all. */
void fed_machine_run_pieces(struct fed_machine *m, size_t piece);
void fed_machine_run(struct fed_machine *m);
/* The n-th uop (from 0) of the step of that number, from 0. */
const struct gus_core_event *fed_machine_event(const struct fed_machine *m, uint64_t step, unsigned nth);
/* Cycles that retirement had in a state. */
uint64_t fed_machine_cycles(const struct fed_machine *m, enum gus_commit state);

#endif
