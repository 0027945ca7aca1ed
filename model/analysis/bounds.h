/* SPDX-License-Identifier: MIT */
/* "If only X were the limit": cycles an iteration that each part of the machine needs by itself. The time of the core
 * engine is at least the largest of them; what is missing up to it is order and finite buffers. */
#ifndef GUS_MODEL_ANALYSIS_BOUNDS_H
#define GUS_MODEL_ANALYSIS_BOUNDS_H

#include <stdbool.h>

#include "model/machine/config.h"
#include "model/machine/options.h"

struct gus_program;

enum gus_bound {
	GUS_BOUND_PREDECODE,    /* length decoding */
	GUS_BOUND_DECODE,       /* the decoders */
	GUS_BOUND_UOP_CACHE,
	GUS_BOUND_ISSUE,
	GUS_BOUND_PORTS,        /* the best distribution of uops over ports */
	GUS_BOUND_UNITS,        /* dividers and what else is exclusive */
	GUS_BOUND_DEPENDENCIES, /* the longest chain from one iteration to the next */
	GUS_BOUND_RETIRE,
	GUS_BOUNDS
};
const char *gus_bound_name(enum gus_bound bound);

struct gus_bounds {
	double cycles[GUS_BOUNDS];      /* an iteration; negative: does not apply */
	uint64_t ports;                 /* the set of ports that limits GUS_BOUND_PORTS */
	double port[GUS_CORE_PORTS];    /* how a best distribution loads them */
	double registers;               /* GUS_BOUND_DEPENDENCIES without words that pass through memory */
};

int gus_bounds_of(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		  struct gus_bounds *b, struct gus_error *err);
/* All but those of the front end, which do not apply then: a hundredth of the work. */
void gus_bounds_behind_front_end(const struct gus_program *p, const struct gus_core_config *c,
				 const struct gus_core_options *o, struct gus_bounds *b);
/* Where a figure is below the dependences: whether these last, or addresses meet for some iterations only, which makes
 * a chain, or breaks one where a word is renamed. Then the bound is what a long run of the dependences takes. */
void gus_bounds_confirm(const struct gus_program *p, const struct gus_core_config *c,
			const struct gus_core_options *o, double cycles, struct gus_bounds *b);

/* The bound that a steady state of so many cycles is below, of those that no order of things can beat: dependences,
 * ports, units, retirement. GUS_BOUNDS: none, as it has to be; else the engine is wrong, or the bound. stream: it is
 * the stream engine's, of which less is asked. */
enum gus_bound gus_bounds_broken(const struct gus_bounds *b, double cycles, bool stream);

/* What kind of bottleneck code has whose iteration takes so many cycles: the largest bound behind the front end, if it
 * explains the time but for a twentieth. What none explains comes from the front end, where uops come from the
 * decoders, or is mixed: several limits together, order, finite buffers. */
enum gus_bottleneck {
	GUS_BOTTLENECK_ISSUE,        /* issue or retirement */
	GUS_BOTTLENECK_PORTS,
	GUS_BOTTLENECK_UNITS,        /* dividers */
	GUS_BOTTLENECK_DEPENDENCIES, /* through registers */
	GUS_BOTTLENECK_FORWARDING,   /* through memory as well */
	GUS_BOTTLENECK_FRONT_END,
	GUS_BOTTLENECK_MIXED,
	GUS_BOTTLENECKS
};
const char *gus_bottleneck_name(enum gus_bottleneck bottleneck);
enum gus_bottleneck gus_bounds_bottleneck(const struct gus_bounds *b, double cycles, bool decoders);

#endif
