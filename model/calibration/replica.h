/* SPDX-License-Identifier: MIT */
/* A replica: what a table's machine takes for a microbenchmark, by the core engine. All accesses hit L1, and no
 * branch is predicted wrong but those at random, half of them. With it a fit says by how much a host differs from
 * its nearest table where what a parameter counts is not the cycles that one sees. */
#ifndef GUS_MODEL_CALIBRATION_REPLICA_H
#define GUS_MODEL_CALIBRATION_REPLICA_H

#include <stdint.h>

struct gus_core_config;
struct gus_error;
struct gus_micro;
struct gus_uarch;

struct gus_replica {
	const struct gus_uarch *uarch;
	const struct gus_core_config *config;
	uint64_t cycles;        /* that it has run so far */
};

/* Cycles a pass. -1 with err. */
int gus_replica_run(struct gus_replica *r, const struct gus_micro *m, double *cycles, struct gus_error *err);

#endif
