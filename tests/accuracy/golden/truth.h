/* SPDX-License-Identifier: MIT */
/* What was true of a run: the cycles of each instruction by what happened to it (model/core/pics.h), and what TEA's
 * authors show of theirs: how often events came, how long stalls without any event are. It is streamed; what is kept is
 * in proportion to the code. Written to a file, it is all that scoring needs. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_TRUTH_H
#define GUS_TESTS_ACCURACY_GOLDEN_TRUTH_H

#include "base/alloc.h"
#include "model/machine/options.h"

struct gus_error;
struct gus_pics;
struct gus_program;

enum { GOLDEN_STALLS = 4096 };  /* lengths that are told apart, in cycles */

/* Executions of an op, and those that had each event. */
struct golden_executed { uint64_t all, with[GUS_CORE_PSV_EVENTS]; };

/* While it runs. */
struct golden_truth_run {
	const struct gus_program *p;
	struct gus_pics *pics;
	const struct gus_core_listener *listener;
	struct gus_vec(struct golden_executed) executed; /* by op */
	uint64_t with_events, with_several;     /* executions */
	uint64_t stalls[GOLDEN_STALLS];         /* without an event, by length */
	uint64_t stalled;                       /* cycles so far, of what retires next */
	uint16_t first_psv;                     /* of the first that ended in this cycle */
	bool any;
	uint64_t commit[GUS_COMMITS];           /* cycles, by our own count */
};
void golden_truth_begin(struct golden_truth_run *t, const struct gus_program *p);
void golden_truth_cycle(struct golden_truth_run *t, const struct gus_core_cycle *cycle);
void golden_truth_retire(struct golden_truth_run *t, const struct gus_core_retired *op);
void golden_truth_end(struct golden_truth_run *t);

/* Of a file, or on its way into one: by address. */
struct golden_cell { uint64_t address; uint64_t ticks; uint16_t psv; uint8_t state; };
struct golden_place { uint64_t address; uint32_t block, loop, function; uint64_t executed, with[GUS_CORE_PSV_EVENTS]; };
struct golden_truth {
	struct gus_vec(struct golden_cell) cells;       /* by address, events, state */
	struct gus_vec(struct golden_place) places;     /* by address */
	struct gus_vec(char *) functions, loops;        /* names */
	uint64_t cycles, instructions, with_events, with_several;
	uint64_t stalls[GOLDEN_STALLS];
};
/* Adds a run, whose instructions it takes from the program. */
void golden_truth_add(struct golden_truth *t, const struct golden_truth_run *run);
/* After the last: in order. Cells of the same instruction and events are one, and ticks are those of all cycles (but
 * for those of which nothing retired): asserted. */
void golden_truth_settle(struct golden_truth *t);
int golden_truth_write(const struct golden_truth *t, const char *path, struct gus_error *err);
int golden_truth_read(struct golden_truth *t, const char *path, struct gus_error *err);
void golden_truth_free(struct golden_truth *t);
/* NULL: nothing was executed there. */
const struct golden_place *golden_truth_place(const struct golden_truth *t, uint64_t address);

#endif
