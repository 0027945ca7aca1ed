/* SPDX-License-Identifier: MIT */
/* What if a loop were vectorised: VP3 of Palomares, "Combining static and dynamic approaches to model loop performance
 * in HPC" (2015), chapter 6, from one passage of a trace through the scalar loop. The loop and its mock-up (mockup.h)
 * are run by the same engine, whole and by halves: FP, without memory, and LS, without arithmetic, as DECAN has them
 * (model/analysis/variant.h). VP3 makes its figure for the whole of those for the halves, by what was fitted to the
 * scalar loop; here the engine has it of the mock-up itself.
 *
 * What an access of a vector meets is the worst of what those of its elements met, and brings along what all of them
 * brought: as many lines come from where they came. */
#ifndef GUS_ATTRIBUTION_WHATIF_VECTORISED_H
#define GUS_ATTRIBUTION_WHATIF_VECTORISED_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/whatif/mockup.h"
#include "model/machine/options.h"

struct gus_traced;

/* Which halves gain at least THETA. */
enum gus_quadrant { GUS_QUADRANT_NEITHER, GUS_QUADRANT_FP, GUS_QUADRANT_LS, GUS_QUADRANT_BOTH, GUS_QUADRANTS };
static const double GUS_VECTORISED_THETA = 1.2; /* VP3's */
const char *gus_quadrant_name(enum gus_quadrant q);
const char *gus_quadrant_advice(enum gus_quadrant q);
enum gus_quadrant gus_quadrant_of(double fp, double ls, double theta);

/* T_scalar / T_vector, with the interval that the engines' difference and the model's error make of it. */
struct gus_vector_gain { double gain, low, high; };

struct gus_vectorised {
	char *why_not;                          /* what is in the way; NULL: it can be */
	unsigned bytes, turns;                  /* of a vector; of the loop at once */
	double turns_a_stay;
	unsigned instructions, packed;          /* of the body; of them, those that are packed */
	unsigned ways[GUS_PACKING_WAYS];           /* accesses, by how they go through memory */
	bool reorders_fp, masked, crowded;      /* what it takes: see packing.h, mockup.h */
	struct gus_vector_gain whole[GUS_MOCKUP_MODES];
	bool differs[GUS_MOCKUP_MODES];         /* the mode is no other code than `partial` if not */
	/* Of the halves, in the mode partial: 1 of one that the loop has nothing of. ls_by_table: VP3's table 6.1
	 * instead of the buses of the model's machine. */
	struct gus_vector_gain fp, ls;
	double ls_by_table;
	enum gus_quadrant quadrant;
};

/* Asks it of a region. model_error: how far the model is off in general, of 1. Freed with gus_vectorised_free. */
void gus_vectorised_find(struct gus_vectorised *v, const struct gus_traced *t, uint32_t region, double model_error);
void gus_vectorised_free(struct gus_vectorised *v);

/* Table 6.1: how much more of a level's bandwidth vectors reach than scalar accesses do; 1 of L1, which it has not. */
double gus_vectorised_bandwidth(enum gus_hit level, unsigned element_bytes);
/* What is left of a speedup of LS where such shares of its scalar time (their sum at most 1) are transfers from each
 * level. */
double gus_vectorised_scaled(double gain, const double shares[GUS_HITS], unsigned element_bytes);
/* The interval of a gain by two engines, each off by error. */
struct gus_vector_gain gus_vectorised_gain(double stream, double core, double error);

#endif
