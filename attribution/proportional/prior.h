/* SPDX-License-Identifier: MIT */
/* What cycles there could have been, and how likely a model finds each: what is believed before any sample is looked
 * at. A model is wrong about some of its groups (which ops retire together hangs on a cycle more or less), so a cycle
 * of any ops that follow each other is believed in a little, and so is a wait before any of them; which of them there
 * were, samples will say (spread.h). */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_PRIOR_H
#define GUS_ATTRIBUTION_PROPORTIONAL_PRIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_met;
struct gus_groups;

enum gus_prior_kind { GUS_PRIOR_GROUP, GUS_PRIOR_WAIT, GUS_PRIOR_FLUSH };

/* Cycles of one kind. A group: members [first, first + n) of the prior's, which retire in it, the first being the head.
 * Else the head is waited for, and it is of `of`, in an execution that met psv. after: the op behind the head; next:
 * the head of the group behind. */
struct gus_prior_cycle {
	enum gus_prior_kind kind;
	bool behind;            /* as of groups */
	uint16_t psv;
	uint32_t head, after, next, of, first, n;
	double model, way;      /* what the model has of it, and what could be: shares of all that it has */
	double share;           /* of all cycles: both, as gus_prior_weigh has put them together */
};
/* Of a site's executions this share met psv, as so many samples have it (0: as the model has it). */
struct gus_prior_met { uint32_t site; uint16_t psv; double share, samples; };

struct gus_prior {
	struct gus_vec(struct gus_prior_cycle) cycles;          /* their shares add up to 1 */
	struct gus_vec(uint32_t) members;
	struct gus_vec(struct gus_prior_met) met;               /* by site; those of a site add up to 1 */
	struct gus_vec(uint32_t) met_of;                        /* by site, and one more: where its own begin in met */
	struct gus_vec(double) weights;                         /* by site: instructions */
	struct gus_vec(bool) repeats;                           /* by site: as of groups */
	struct gus_vec(bool) reached;                           /* by site: from another op; else traces begin there */
	/* By site: the first of those among which interrupts are not told apart where they land behind integer
	 * instructions that are quick (gus_spread_seen); of others itself. */
	struct gus_vec(uint32_t) runs;
	struct gus_vec(bool) halves;                            /* by site: what is behind its first half, too */
	/* By site: where the second of two fused ones is a site as well, as code that begins there is executed, too;
	 * else UINT32_MAX. */
	struct gus_vec(uint32_t) seconds;
};

struct gus_prior_options {
	unsigned width;         /* ops that retire in one cycle at most; at most GUS_GROUP_MOST */
	/* What could be, beside what the model has: each way to go on from an op, as often as it is executed, as groups
	 * of 1 to width ops (half of it to groups of one, a third to those of two, and so on); and so much of that as
	 * waits. */
	double waits, guessed;  /* guessed: of instructions that the table does not have */
	double spread;          /* of a model's waits, so much more of the same, whatever retires together behind */
};
/* What was found best on the machines for tuning (docs/accuracy.md). */
struct gus_prior_options gus_prior_defaults(unsigned width);

/* events: what executions met by measurement, instead of the model's; NULL: nothing is measured. */
void gus_prior_make(struct gus_prior *p, const struct gus_groups *g, const struct gus_prior_options *o,
		    const struct gus_met *events);
/* Makes the shares: of what could be, so many times as much as it is executed. How much of it there is shows in the
 * samples: gus_spread_fit. */
void gus_prior_weigh(struct gus_prior *p, double ways);
void gus_prior_free(struct gus_prior *p);

#endif
