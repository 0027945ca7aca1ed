/* SPDX-License-Identifier: MIT */
/* Golden machines: CPUs that nobody built, drawn from a seed, on which it is known where each cycle belongs.
 *
 * What a table can say of one - widths, windows, latencies, caches, rules - is a table (gusprof-uarch(5)), to be looked
 * at and to be run by anybody. Besides each has at least two traits that no table can express (traits.h), and a
 * predictor that none describes. Whoever attributes samples is given neither. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_MACHINE_H
#define GUS_TESTS_ACCURACY_GOLDEN_MACHINE_H

#include "model/machine/config.h"
#include "model/oracles/branch.h"
#include "model/oracles/cache.h"
#include "tests/accuracy/golden/traits.h"

struct gus_uarch;

struct golden_machine {
	uint64_t seed;
	char *text;                     /* of its table */
	struct gus_uarch *uarch;
	struct gus_core_config config;
	struct gus_cache_config caches;
	struct gus_branch_config predictor;
	struct golden_traits *traits;
};

/* NULL with err if what was drawn makes no machine, which is a mistake of ours. */
struct golden_machine *golden_machine_new(uint64_t seed, struct gus_error *err);
/* One of the built-in tables as it is, without traits. */
struct golden_machine *golden_machine_of(const char *name, struct gus_error *err);
/* A table that somebody has parsed, without traits; it is the machine's from then on, also on failure. */
struct golden_machine *golden_machine_of_table(struct gus_uarch *u, struct gus_error *err);
/* Adds a stress to its traits (GOLDEN_BURSTS, GOLDEN_NEIGHBOUR). */
void golden_machine_stress(struct golden_machine *m, enum golden_trait stress);
/* Takes its traits away, and leaves it its table and its predictor. */
void golden_machine_strip(struct golden_machine *m);
void golden_machine_free(struct golden_machine *m);

#endif
