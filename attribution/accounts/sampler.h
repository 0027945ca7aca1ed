/* SPDX-License-Identifier: MIT */
/* What the samples of an event tell: where time passes, or what was executed. And where a sampler of time sees it,
 * which is not where it belongs (attribution/proportional/spread.h). */
#ifndef GUS_ATTRIBUTION_ACCOUNTS_SAMPLER_H
#define GUS_ATTRIBUTION_ACCOUNTS_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/proportional/spread.h"
#include "proto/gusprof.pb-c.h"

struct gus_skid;

enum gus_sampler {
	GUS_SAMPLER_OTHER,      /* nothing that is made use of here */
	GUS_SAMPLER_TIME,       /* a clock, or cycles */
	GUS_SAMPLER_DISPATCHED, /* cycles as well, each at what was dispatched in it: IBS */
	GUS_SAMPLER_OPS,        /* executions, each op being as likely as any other: IBS by ops, SPE */
	GUS_SAMPLER_INSNS,      /* executions, each instruction being as likely */
	GUS_SAMPLER_LOADS,      /* executions of loads, each as likely; how often others are executed is not told */
};

/* Of an event of a recording, as far as its header tells. */
enum gus_sampler gus_sampler_of(const Gusprof__Header *h, uint32_t event);
/* The event whose samples are of time: the one that is shown by itself, if it is, else the first. If none is, it is the
 * one that is shown, and *time is false. */
uint32_t gus_sampler_main(const Gusprof__Header *h, bool *time);

/* Where samples of time see it. known is false where no rule says whose time it is that they see. */
struct gus_sampler_sight {
	bool known;
	enum gus_spread_sight sight;
	double early;           /* as struct gus_spread_seen, like the next */
	bool runs;
	const char *told;       /* for people: how that is known */
};
/* exact: the hardware vouches for the addresses of most samples. skid: what a self-test before the recording found;
 * NULL: there was none. */
struct gus_sampler_sight gus_sampler_sight_of(enum gus_sampler sampler, bool exact, const struct gus_skid *skid);

#endif
