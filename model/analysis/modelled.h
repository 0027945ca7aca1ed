/* SPDX-License-Identifier: MIT */
/* What gusprof model finds out about one piece of code: the engine's figures and what is told of each instruction. */
#ifndef GUS_MODEL_ANALYSIS_MODELLED_H
#define GUS_MODEL_ANALYSIS_MODELLED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/analysis/agreement.h"
#include "model/analysis/bounds.h"
#include "model/analysis/causality.h"
#include "model/analysis/functional.h"
#include "model/analysis/saturation.h"
#include "model/analysis/variant.h"

struct gus_sensitivity;

enum { GUS_MODELLED_WEIGHTS = 6 };

/* Who wants to know how much of a work is done that takes a run for each instruction: share is of 1. */
struct gus_modelled_heed {
	void (*done)(void *context, double share); /* NULL: nobody */
	void *context;
};

/* What to run and how. Constant once made: threads may share it. */
struct gus_modelled_settings {
	struct gus_modelled_heed heed;
	const struct gus_uarch *uarch;
	struct gus_core_config config;
	struct gus_core_options options;
	bool stream;                    /* by the stream engine */
	bool both;                      /* by the core engine, and how far the stream engine agrees */
	double reach;                   /* the speedup that a set of knobs has to give; 0: nearly all */
	double weights[GUS_MODELLED_WEIGHTS]; /* of the knobs of the sensitivities; 0: without limit */
	size_t weights_n;               /* 0: they are not asked for */
	uint64_t at;                    /* of a batch: the address of each block */
	uint64_t timeline;              /* iterations to keep the events of */
	bool costs, causality, caches;  /* caches: what accesses hit is found by simulated ones, of cache_config */
	struct gus_cache_config cache_config;
	bool variants[GUS_VARIANTS];
};

/* Of one op, an iteration in the steady state. */
struct gus_modelled_figures {
	double uops[GUS_CORE_PORTS];    /* dispatched to each port */
	double cost;                    /* cycles that are gained without it; of no meaning without costs */
	uint32_t latency;               /* from its inputs to its last result */
};

/* What is to be thought of a figure. */
struct gus_modelled_verdict {
	enum gus_bottleneck bottleneck;
	enum gus_bound broken;          /* the bound that the figure is below: a fault of ours; GUS_BOUNDS: none */
};

struct gus_modelled {
	const struct gus_program *program;
	struct gus_core_result result;
	double cycles;                  /* an iteration */
	struct gus_bounds bounds;
	struct gus_modelled_verdict verdict;
	struct gus_modelled_figures *figures; /* one for each op */
	struct gus_vec(struct gus_core_event) events; /* of the first iterations */
	struct gus_sensitivity *sensitivity; /* by the stream engine at the first weight, the largest first */
	int sensitivity_n;
	double *speedups[GUS_MODELLED_WEIGHTS]; /* of the same knobs, at each weight */
	int *set, set_n;                /* the fewest of them that give nearly all, or what was to be reached */
	double set_speedup, all_speedup;
	struct gus_saturation saturation; /* if the stream engine ran */
	struct gus_agreement agreement; /* if both engines were asked for */
	struct gus_causality causality; /* by the stream engine */
	struct gus_functional functional[GUS_FUNCTIONAL_KNOBS]; /* with caches */
	uint64_t answers[GUS_HITS], unknown_addresses; /* accesses by the level that they hit */
	double variant[GUS_VARIANTS];   /* cycles an iteration of those that were asked for */
	uint64_t instructions;          /* simulated in all runs */
};

/* Cycles an iteration of a program, nothing more. */
int gus_modelled_cycles(const struct gus_program *p, const struct gus_modelled_settings *s, double *cycles,
			struct gus_error *err);
/* The verdict on these cycles of that program. */
struct gus_modelled_verdict gus_modelled_judge(const struct gus_program *p, const struct gus_modelled_settings *s,
					       double cycles);
/* All that the settings ask for. The program is borrowed. On failure there is nothing to free. */
int gus_modelled_run(struct gus_modelled *m, const struct gus_program *p, const struct gus_modelled_settings *s,
		  struct gus_error *err);
void gus_modelled_free(struct gus_modelled *m);

#endif
