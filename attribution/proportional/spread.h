/* SPDX-License-Identifier: MIT */
/* From what samplers saw to whom the time belongs. Each kind of sampler sees cycles, or executions, at instructions by
 * a rule of its own; the cycles that there were (prior.h) are not known. Those are sought that explain all that was
 * seen, and are else as near as can be to what was believed before: by expectation and maximisation of a likelihood of
 * counts under such a prior (Dempster, Laird and Rubin 1977; for images Shepp and Vardi 1982; Green 1990). Several
 * samplers, or counts of executions beside samples of time, are seen by together.
 *
 * That executions are known is half of it: an instruction that is executed often and seldom seen retires behind others,
 * in their cycles; one that is seen more often than it is executed is waited for. */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_SPREAD_H
#define GUS_ATTRIBUTION_PROPORTIONAL_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/proportional/groups.h"
#include "base/alloc.h"

struct gus_prior;
struct gus_spread;

/* What of cycles is seen, and where. */
enum gus_spread_sight {
	GUS_SPREAD_NEXT,        /* each, at the next instruction that retires: PEBS */
	/* Each, where an interrupt lands: behind all that retires in the cycle in which the head does, or right
	 * behind the head; and some on the head itself. */
	GUS_SPREAD_INTERRUPT, GUS_SPREAD_BEHIND,
	GUS_SPREAD_EXECUTED,    /* executions, at their instructions */
	GUS_SPREAD_HEADS,       /* executions that were the head of a group: whose retire latency is not 0 */
	GUS_SPREAD_WAITED,      /* cycles that were waited before the head: what else is in its retire latency */
	GUS_SPREAD_SIGHTS
};

struct gus_spread_seen {
	enum gus_spread_sight sight;
	const struct gus_site_count *counts;
	size_t n;
	bool behind;            /* it is known of each count */
	double samples;         /* that all of it rests on: how much it counts beside others */
	double early;           /* of interrupts: the share of those on the head itself */
	/* Of interrupts: the CPU takes them between two instructions that are one op to the model, so one that comes
	 * while such an op is waited for lands on its second. Else counts there are the op's. */
	bool halves;
	/* Of interrupts: where quick integer instructions follow each other they do not tell these apart. What is seen
	 * behind the third of them and on is one place, and what of it is whose the prior says (gus_prior's runs). */
	bool runs;
};

struct gus_spread_options {
	double strength;        /* of the prior: as if it were so many samples */
	unsigned steps;         /* at most */
	double ways;            /* as gus_prior_weigh; 0: as what was seen of time says */
};
struct gus_spread_options gus_spread_defaults(void);

/* The prior is borrowed, and weighed by the fit. */
struct gus_spread *gus_spread_new(struct gus_prior *prior);
void gus_spread_free(struct gus_spread *s);
/* Adds what was seen, which is copied; time first. Sites that the prior has no such cycles of change nothing. */
void gus_spread_see(struct gus_spread *s, const struct gus_spread_seen *seen);
/* Whether there is any cycle that the i-th thing would be seen of there. */
bool gus_spread_sees(const struct gus_spread *s, size_t i, const struct gus_site_count *there);
/* Finds out how far to believe in the model's groups - as far as it explains what was seen by itself -, and then the
 * cycles. */
void gus_spread_fit(struct gus_spread *s, const struct gus_spread_options *o);

/* What else could have been (replicates.h). From now on the i-th thing that was seen has these counts. */
void gus_spread_recount(struct gus_spread *s, size_t i, const struct gus_site_count *counts, size_t n);
/* After the fit: the cycles again, beginning with these shares, which may be its own. The prior's shares are believed
 * in as they are now. */
void gus_spread_refit(struct gus_spread *s, const double *shares, const struct gus_spread_options *o);
/* After the fit: by kind of cycles. */
const double *gus_spread_shares(const struct gus_spread *s);

/* Time of an instruction in executions that met psv. */
struct gus_spread_cell { uint32_t site; uint16_t psv; double share; };
struct gus_spread_cells gus_vec(struct gus_spread_cell);
/* Of what was seen of time, how far it is from what the prior as it is has it: Kullback and Leibler's divergence. */
double gus_spread_divergence(const struct gus_spread *s);
/* After the fit: how far all that was seen is from what its cycles would show, in nats, of all samples together: half
 * of the deviance of Poisson's counts. Of cycles that are right it is about a half for each place that was seen. */
double gus_spread_deviance(const struct gus_spread *s);
/* After the fit: the stacks of all cycles. Appended by site and psv; they add up to 1. */
void gus_spread_cells(const struct gus_spread *s, struct gus_spread_cells *out);
/* After the fit: whose the counts are that the i-th thing that was seen would have, or some of them, such as a
 * thread's. What comes out adds up to them, but for those that no cycle explains, which are returned. */
double gus_spread_share(const struct gus_spread *s, size_t i, const struct gus_site_count *counts, size_t n,
			struct gus_spread_cells *out);

#endif
