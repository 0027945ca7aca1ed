/* SPDX-License-Identifier: MIT */
/* What samples of an event can say of single instructions: at which level an access hit, whether a branch was
 * mispredicted, in shares of all executions. That needs samples that are a fair choice of these executions, or counts
 * of every kind of them. What is chosen by how long it took, or by what happened to it, is neither.
 *
 *	AMD    ibs_op by ops         fair; by cycles what is dispatched behind a stall, and l3missonly and ldlat leave
 *	                             out
 *	Arm    arm_spe               fair, unless a filter of latencies or of events leaves something out; a filter of
 *	                             operations leaves out whole instructions
 *	Intel  mem-loads, ldlat=N    fair of loads while N is less than a hit of L1 takes; else of slow ones
 *	       mem_load_retired.*    each a count of loads with one thing in common; together, with l1_hit, fb_hit,
 *	                             l2_hit, l3_hit and l3_miss, of all. l1_miss has not what fb_hit has
 *	       br_inst_retired and   counts of branches, and of those that were mispredicted
 *	       br_misp_retired, all
 *	       br_misp_retired.all_branches_cost   likewise, at the instruction behind the branch
 *	any    branch stacks         of taken branches, of an event that comes with time or work
 *
 * Sources: AMD's manual (PPR) on IBS, Arm's (DDI 0487) on PMSLATFR and PMSEVFR, Intel's SDM on the load latency
 * facility and perfmon's tables of events. Pure. */
#ifndef GUS_ATTRIBUTION_OBSERVED_KINDS_H
#define GUS_ATTRIBUTION_OBSERVED_KINDS_H

#include <stdbool.h>

#include "proto/gusprof.pb-c.h"

enum gus_observed_kind {
	GUS_OBSERVED_NOTHING,
	GUS_OBSERVED_OPS,       /* executions, each with its access and its branch */
	GUS_OBSERVED_LOADS,     /* executions of loads */
	GUS_OBSERVED_TIME,      /* nothing of the instruction, but the branches before it are a fair choice */
	GUS_OBSERVED_COUNTED,   /* executions that had one thing in common, see gus_observed_count; each for a period */
};

/* GUS_OBSERVED_L1 to GUS_OBSERVED_MEMORY add up to all loads. */
enum gus_observed_count {
	GUS_OBSERVED_L1, GUS_OBSERVED_BUFFER, GUS_OBSERVED_L2, GUS_OBSERVED_L3, GUS_OBSERVED_MEMORY,
	GUS_OBSERVED_BRANCHES, GUS_OBSERVED_MISPREDICTED,
	GUS_OBSERVED_BEHIND,    /* mispredicted branches, at what was executed behind them */
	GUS_OBSERVED_COUNTS
};

struct gus_observed_event {
	enum gus_observed_kind kind;
	enum gus_observed_count count;
	bool cycles;            /* of time: the event counts cycles */
	bool apart;             /* of executions: what accesses memory is no branch, as Arm's operations are */
	const char *why;        /* of hardware's records that are none: why; else NULL */
};

struct gus_observed_event gus_observed_event_of(const Gusprof__Event *event);

#endif
