/* SPDX-License-Identifier: MIT */
/* A host of calibration that is a table's machine (model/calibration/replica.h), for tests of fits, which are then
 * judged by the table. */
#ifndef GUS_TESTS_UNIT_SIMULATED_HOST_H
#define GUS_TESTS_UNIT_SIMULATED_HOST_H

#include "model/calibration/host.h"
#include "model/calibration/replica.h"
#include "model/machine/config.h"

struct gus_uarch;

struct simulated_host {
	struct gus_core_config config;
	struct gus_replica replica;
	uint64_t micros;                /* that it has run so far */
	/* One time of ten is later, by up to so many cycles a pass, as if something had disturbed it. */
	double noise;
	uint64_t chance;
};

/* The host refers to both. */
void simulated_host_of(struct simulated_host *s, const struct gus_uarch *u, struct gus_calibration_host *host);

#endif
