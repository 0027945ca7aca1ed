/* SPDX-License-Identifier: MIT */
/* Whether the model is to be trusted where it has been held against a measurement. */
#ifndef GUS_ATTRIBUTION_COMPARED_TRUST_H
#define GUS_ATTRIBUTION_COMPARED_TRUST_H

#include <stdbool.h>

#include "attribution/compared/figure.h"

enum gus_trust {
	GUS_TRUST_FULL,
	GUS_TRUST_DOUBTFUL,
	GUS_TRUST_NONE,
	GUS_TRUST_OPEN,       /* the measurement is too coarse to tell */
	GUS_TRUSTS
};

/* Off by so much at most a ratio is near and good, or far and doubtful; an interval whose ends are farther apart than
 * by that factor says too little. They stand in gusprof-compare(1) as well. */
static const double GUS_TRUST_NEAR = 0.10, GUS_TRUST_FAR = 0.25, GUS_TRUST_WIDE = 1.3;
/* Of the time of which there is a verdict: from so much on that is good all of it is, and so much that is not spoils
 * it. */
static const double GUS_TRUST_MOST = 2.0 / 3, GUS_TRUST_SPOILT = 1.0 / 3;

/* Of what was measured over what was modelled. told: how far figures like the modelled one are off in general, as a
 * share; 0: nobody knows. */
enum gus_trust gus_trust_of(const struct gus_figure *ratio, double told);

/* How often somebody looked whether another thread of the core was busy, and how often one was. */
struct gus_looks { unsigned n, beside; };
/* The share of the time that one may have been, at 95 %; 0 if none was seen. */
double gus_trust_shared(const struct gus_looks *looks);

/* The same, if other threads of the core may have been busy for such a share of the time: that makes what runs beside
 * them take up to twice as long, so of what takes longer than modelled nothing is told that this may be the reason
 * of. against: the ratio is against all else that ran, so that may have taken longer as well: then the same holds of
 * what takes shorter than modelled. */
enum gus_trust gus_trust_beside(const struct gus_figure *ratio, double told, double shared, bool against);

/* Whether the ends of its interval are apart by more than GUS_TRUST_WIDE. */
bool gus_trust_is_wide(const struct gus_figure *ratio);

/* Of a whole of which so much time has each verdict. total: that of all time together; OPEN: there is none, as it is
 * shares that were compared. wide: all time together is not known well either, so where less than half of it has a
 * verdict there is none of the whole, be it as far off as it may. */
enum gus_trust gus_trust_whole(const double time[GUS_TRUSTS], enum gus_trust total, bool wide);

/* "trust", "doubtful", "do not trust", "cannot tell". */
const char *gus_trust_name(enum gus_trust verdict);

#endif
