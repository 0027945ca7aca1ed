/* SPDX-License-Identifier: MIT */
/* From what a CPU can count to what is opened on it: groups of events, of which some are always on and the others
 * take turns, and what would be known of TEA's events then. The kernel would let events take turns as well, but
 * tells nobody when which was on; ours are switched by us, and who switches writes down when.
 *
 * Rules. Heights never take turns. Top-down takes none as long as every other event still has a counter beside it,
 * else it takes turns as a whole, and only where it fits nowhere as a whole in pieces. Everything that is on
 * together fits (collector/plan/fit.h), with the watchdog's counter gone, so the kernel never has to multiplex. Of
 * FRONTEND_RETIRED one value is on at a time. Where an event fits into more than one turn it is on in all of them.
 *
 * Cores of several kinds are planned each by itself: an event of one PMU counts nothing on cores of another, and
 * their cycles are not of one length. Pure: the same question gives the same plan on any machine. */
#ifndef GUS_COLLECTOR_PLAN_MAKE_H
#define GUS_COLLECTOR_PLAN_MAKE_H

struct gus_error;
struct gus_plan;
struct gus_plan_wish;

/* Plans what was wished. 0, or -1 with err: GUS_E_UNSUPPORTED if the CPU has no such mode. gus_plan_free either
 * way. */
int gus_plan_make(struct gus_plan *plan, const struct gus_plan_wish *wish, struct gus_error *err);

#endif
