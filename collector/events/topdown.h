/* SPDX-License-Identifier: MIT */
/* Level 1 of the top-down method: what became of the slots in which the core could have issued. Each maker counts it in
 * its own way; here is which events do it on this machine, and what their counts say. */
#ifndef GUS_COLLECTOR_EVENTS_TOPDOWN_H
#define GUS_COLLECTOR_EVENTS_TOPDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/events/event.h"

struct gus_events;

enum gus_topdown_kind {
	GUS_TOPDOWN_NONE,
	GUS_TOPDOWN_METRICS,    /* Intel since Ice Lake: the core counts the shares themselves, beside `slots` */
	GUS_TOPDOWN_DISPATCH,   /* AMD since Zen 4: dispatch slots that got nothing, by the reason */
	GUS_TOPDOWN_STALL_SLOT, /* Arm with STALL_SLOT: the same, by front end and back end */
};

struct gus_topdown {
	enum gus_topdown_kind kind;
	double width;           /* Arm: slots a cycle */
	double frontend, backend, bad; /* Arm: how many cycles of slots a mispredicted branch is moved by */
	size_t first, n;        /* the events that gus_topdown_find appended */
};

/* Shares of the slots; they add up to 1. */
struct gus_topdown_shares { double retiring, bad_speculation, frontend, backend, smt; };

/* Appends the events that count it on this machine, if it can. uarch: the name of the CPU's table, or NULL. False, and
 * nothing appended, if not. */
bool gus_topdown_find(struct gus_topdown *t, struct gus_events *events, struct gus_pmus *pmus, const char *uarch);

/* What the counts of its n events say, in their order. False if they say nothing (no slot was counted). */
bool gus_topdown_shares(const struct gus_topdown *t, const double *counts, struct gus_topdown_shares *shares);

#endif
