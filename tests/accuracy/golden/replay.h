/* SPDX-License-Identifier: MIT */
/* Microbenchmarks that a machine has run, to be run by another: how near its times are. What a calibration buys is how
 * much nearer the calibrated table is than the one that it began from. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_REPLAY_H
#define GUS_TESTS_ACCURACY_GOLDEN_REPLAY_H

#include "base/alloc.h"

struct golden_machine;
struct gus_error;
struct gus_micro;

struct golden_replay { struct gus_vec(struct golden_replayed { struct gus_micro *micro; double cycles; }) all; };

/* Copies it. */
void golden_replay_keep(struct golden_replay *r, const struct gus_micro *k, double cycles);
/* Prints how many of them the machine runs in the same time within 3 % and 10 %, the mean of how far it is off, and the
 * worst. -1 with err if it cannot run one. */
int golden_replay_print(const struct golden_replay *r, const char *what, const struct golden_machine *m,
			struct gus_error *err);
void golden_replay_end(struct golden_replay *r);

#endif
