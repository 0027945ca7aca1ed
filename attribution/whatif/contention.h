/* SPDX-License-Identifier: MIT */
/* What if somebody else took a share of the bandwidth of a level of memory: a machine of the model, as knobs that are
 * turned down, and what a piece of code loses on it.
 *
 * The share s is of what one core has by itself (the table's bandwidth of the level, which a calibration measures), so
 * that of s = 1/4 three quarters are left. The others' lines are also in the way of single ones: a line waits until
 * those of others that are before it have gone by. For requests that come by chance and take the same time D each, as a
 * line takes on a bus, that is on the mean D s / (2 (1 - s)) (L. Kleinrock, "Queueing Systems", volume 1, 1975, section
 * 5.6: M/G/1, with service times that are all the same), which the latency of the level grows by. The code's own lines
 * wait for each other in the engine's own queue (model/stream).
 *
 * What is not in it: what others throw out of a cache that they share, more than one line of theirs in a burst, and
 * that a controller prefers one of two. */
#ifndef GUS_ATTRIBUTION_WHATIF_CONTENTION_H
#define GUS_ATTRIBUTION_WHATIF_CONTENTION_H

#include <stdbool.h>

#include "model/machine/options.h"

struct gus_core_config;
struct gus_sensitivity;

/* Beyond this share queues are longer than anything that has been measured. */
static const double GUS_CONTENTION_MOST = 0.95;

struct gus_contention {
	enum gus_hit level;             /* L3 or memory */
	double share;                   /* 0 to GUS_CONTENTION_MOST */
	double line;                    /* cycles of a line on the level's bus, without others; 0: not known */
	double latency;                 /* cycles of the level, without others */
};

/* "L3" or "memory". */
const char *gus_contention_level_name(enum gus_hit level);
/* What the table says of the level. Without a bandwidth there, line is 0, and nothing can be said. */
void gus_contention_make(struct gus_contention *c, enum gus_hit level, double share,
			 const struct gus_core_config *config);
/* By how many cycles a line comes later because of others. */
double gus_contention_wait(const struct gus_contention *c);
/* As struct gus_traced_set has them; contention: a struct gus_contention. */
bool gus_contention_has(const void *contention, const struct gus_sensitivity *knob);
double gus_contention_weight(const void *contention, const struct gus_sensitivity *knob);

/* How much longer it takes: T'/T - 1, with its 95 % interval. */
struct gus_contention_loss { double loss, low, high; };
/* cycles: without others; with: beside them; error: standard error of cycles / with - 1, of what was timed; model: how
 * far the model's time of such code is off in general, which is taken as such a part of the loss. */
void gus_contention_judge(double cycles, double with, double error, double model, struct gus_contention_loss *out);

#endif
