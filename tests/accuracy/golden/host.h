/* SPDX-License-Identifier: MIT */
/* A golden machine as the host of a calibration: it runs microbenchmarks and tells the time, as this machine would, and
 * nothing else. What the fits find can be held against the machine's table then.
 *
 * Passes before those that count (warm) go through caches, predictor and uop cache only; then the core engine runs as
 * many as it takes until the mean is steady, and cycles count from the retirement of the pass before to that of the
 * last one. So there is no noise, and a time is a mean, as that of a long run would be; who asks for the same again
 * gets the same, at no cost. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_HOST_H
#define GUS_TESTS_ACCURACY_GOLDEN_HOST_H

#include <stdint.h>

#include "model/calibration/host.h"

struct golden_machine;

enum { GOLDEN_HOST_KEPT = 4096 };

/* What it has cost so far. */
struct golden_host_spent {
	uint64_t micros, cycles;                /* cycles: of the core engine */
	double seconds;                         /* of our CPU */
};

struct golden_host {
	const struct golden_machine *machine;
	uint64_t cycles_most;                   /* of a microbenchmark, unless it asks for more passes; 0: 300,000 */
	struct golden_host_spent spent;
	/* What it has run takes the same time again. By hash; 0: nothing yet. */
	struct golden_host_kept { uint64_t hash; double cycles; } kept[GOLDEN_HOST_KEPT];
	/* Told of each microbenchmark when it has been run; may be NULL. */
	void (*ran)(void *context, const struct gus_micro *k, double cycles);
	void *ran_context;
};

/* The machine is borrowed, and so is the host by what asks it: h stays where it is. */
void golden_host_open(struct golden_host *h, const struct golden_machine *m, struct gus_calibration_host *host);

#endif
