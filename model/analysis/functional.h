/* SPDX-License-Identifier: MIT */
/* Knobs that change what happens, not only how long it takes: caches of another size, no prefetchers. Lanes cannot
 * share a pass then, so each is a run of its own by the stream engine, with caches that begin empty; speedups are of
 * the second half of the run. */
#ifndef GUS_MODEL_ANALYSIS_FUNCTIONAL_H
#define GUS_MODEL_ANALYSIS_FUNCTIONAL_H

#include "model/oracles/oracle.h"
#include "model/stream/stream.h"

struct gus_core_config;

/* Caches that are emptied at the beginning of each run, as a memory oracle that counts its answers. */
struct gus_fresh_caches {
	struct gus_cache_config config;
	struct gus_oracle_cache oracle;         /* its own, from the first run on */
	uint64_t answers[GUS_HITS];             /* of the last run */
};
/* -1 with err if the configuration makes no caches. */
int gus_fresh_caches_open(struct gus_fresh_caches *f, const struct gus_cache_config *config,
			  const struct gus_program *p, struct gus_error *err);
void gus_fresh_caches_close(struct gus_fresh_caches *f);
struct gus_core_memory gus_fresh_caches_oracle(struct gus_fresh_caches *f);

struct gus_functional {
	const char *name;
	double cycles;          /* an iteration */
	double speedup;         /* T/T' - 1 */
};
enum { GUS_FUNCTIONAL_KNOBS = 6 };

/* All of them, the largest speedup first. answers: of the nominal caches, beside how many accesses had no known
 * address. -1 with err. */
int gus_functional_run(const struct gus_program *p, const struct gus_core_config *c,
		       const struct gus_cache_config *caches,
		       const struct gus_stream_options *o, struct gus_functional out[GUS_FUNCTIONAL_KNOBS],
		       uint64_t answers[GUS_HITS], uint64_t *unknown, struct gus_error *err);

#endif
