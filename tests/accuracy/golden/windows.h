/* SPDX-License-Identifier: MIT */
/* Windows of a run's trace, as somebody who records has them: now and then a thread is looked at, and what it does from
 * there on is replayed (`gusprof record --trace auto`). So they begin at moments of time, and not at instructions: a
 * stretch that takes half of the time has half of the moments, however few instructions it executes.
 *
 * A run has a clock for each of its threads, which notes how many instructions have retired at each of its ticks. The
 * clocks stand one behind the other, as threads have their turns by the time that they use, in as many equal parts as
 * there are to be windows; each has one moment, by chance. Of a run that has been without clocks the same is drawn from
 * its trace, by instructions in the place of cycles. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_WINDOWS_H
#define GUS_TESTS_ACCURACY_GOLDEN_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_error;

/* Cycles of a tick (4 us), or instructions; moments are no finer. */
enum { GOLDEN_WINDOWS_TICK = 16384 };

/* Of one thread. */
struct golden_clock { uint64_t cycles, instructions; struct gus_vec(uint64_t) at; /* instructions at tick i */ };

static inline void golden_clock_cycle(struct golden_clock *c)
{
	if (c->cycles++ % GOLDEN_WINDOWS_TICK == 0)
		gus_vec_push(&c->at, c->instructions);
}

/* Of a run; threads in the order in which they come in its trace. Each clock stays where it is. */
struct golden_clocks { struct gus_vec(struct golden_clock *) threads; };
/* That of a thread, which is made if it is not there. */
struct golden_clock *golden_clocks_of(struct golden_clocks *c, uint32_t thread);
void golden_clocks_free(struct golden_clocks *c);

struct golden_windows_options {
	const char *trace, *path;       /* of the run; what is written */
	/* NULL: moments are even over the trace's instructions. */
	const struct golden_clocks *clocks;
	uint64_t n, length;             /* windows; instructions of each, to the end of its last block. 0: 8, 500,000 */
	uint64_t seed;                  /* by which moments are drawn */
	/* Each into a file of its own, PATH.0, PATH.1 and so on, as a window of a recording is: one that was replayed
	 * from a snapshot. None of what nothing was executed of. */
	bool apart;
};
/* Writes a trace (proto/trace.h) that has them, with the mappings of the whole one. Where a window would begin in the
 * one before it, it begins behind that; one that its thread's end comes before is shorter, or none. -1 with err. */
int golden_windows_write(const struct golden_windows_options *o, struct gus_error *err);

#endif
