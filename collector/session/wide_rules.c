/* SPDX-License-Identifier: MIT */
#include "collector/session/wide_rules.h"

#define MISSED_SHARE 0.03          /* of what was counted */
#define SHARED_MISSED 20.0         /* the rate may halve for 5 % that are missed, be a third for 10 %, and so on */
#define SHARED_HZ_MIN 50.0         /* samples a second of the target's time that must be left of a governed one */

/* The tasks that run at the moment have a part of a period before them, which is not missed yet. And what is missing
 * for other reasons, such as a timer that comes late on a busy machine, is not better had from the CPUs: so many tasks
 * must have ended that half of it can be theirs. Where nobody knows how long a period is, it is as long as all that was
 * counted. */
double gus_wide_missed_share(const struct gus_wide_window *w, double period, double cpus)
{
	double missed = w->count - w->weight - period * cpus;

	if (period <= 0)
		period = w->count;
	return missed > MISSED_SHARE * w->count && w->ended * period * cpus > missed / 2 ? missed / w->count : 0;
}

/* They come for each second that a CPU is busy. */
double gus_wide_times(const struct gus_wide_window *w)
{
	return w->busy_ns > w->running_ns ? w->busy_ns / w->running_ns : 1;
}

/* It falls until the cost is what was asked for: that is a price, too, and the more is missed the more of it is paid;
 * but of too few samples nothing is seen. A rate that somebody has asked for stays, and strangers then cost what they
 * cost. */
bool gus_wide_rate_may_fall(uint64_t hz, double times, double missed)
{
	return (double)hz >= SHARED_HZ_MIN * times && times <= 1 + SHARED_MISSED * missed;
}
