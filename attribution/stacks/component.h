/* SPDX-License-Identifier: MIT */
/* What an instruction was subjected to while time passed: the components of cycle stacks (stack.h).
 *
 * A component is a set of TEA's nine events, not one of them: where two met, as a miss in the TLB and one in the cache
 * by the same load, nothing tells their times apart, and the time belongs to the pair. The empty set is the base: the
 * instruction met nothing, and took what it takes. Records of memory accesses also say where the data came from; that
 * level is a part of the component, because a miss that the L2 serves and one that another socket serves call for
 * different cures. */
#ifndef GUS_ATTRIBUTION_STACKS_COMPONENT_H
#define GUS_ATTRIBUTION_STACKS_COMPONENT_H

#include <stdbool.h>
#include <stdint.h>

/* TEA's table 1. What stands in front says why no instruction could retire. DR: nothing was there to be retired
 * (drained). FL: what followed was thrown away (flushed). ST: the oldest instruction was not done yet (stalled). */
enum gus_tea_event {
	GUS_DR_L1,      /* missed the L1 instruction cache */
	GUS_DR_TLB,     /* missed the L1 instruction TLB */
	GUS_DR_SQ,      /* a store found the store queue full and could not be dispatched */
	GUS_FL_MB,      /* a mispredicted branch */
	GUS_FL_EX,      /* caused an exception */
	GUS_FL_MO,      /* a load that was done before an older store to its address */
	GUS_ST_L1,      /* missed the L1 data cache */
	GUS_ST_TLB,     /* missed the L1 data TLB */
	GUS_ST_LLC,     /* a load that missed the last-level cache */
	GUS_TEA_EVENTS
};

/* Where an access was served, as the hardware says: the kernel's data source (Intel), IBS's DataSrc, SPE's data source
 * packet. These are what at least two of them tell apart; finer ones go to their neighbour where the record is read. */
enum gus_served {
	GUS_SERVED_NONE,          /* no access to memory, or nothing is said of it */
	GUS_SERVED_L1,
	GUS_SERVED_FILL,          /* a line that was on its way already: Intel's fill buffers, AMD's MAB */
	GUS_SERVED_L2,
	GUS_SERVED_L3,
	GUS_SERVED_PEER,          /* a cache of another core of the same node */
	GUS_SERVED_MEMORY,        /* that of the node */
	GUS_SERVED_FAR_MEMORY,    /* slower memory of the node: CXL, persistent memory */
	GUS_SERVED_REMOTE_CACHE,  /* of another node */
	GUS_SERVED_REMOTE_MEMORY,
	GUS_SERVED_IO,
	GUS_SERVED_LEVELS
};

struct gus_component {
	uint16_t events;         /* a bit for each enum gus_tea_event; none: base */
	uint8_t served;          /* enum gus_served */
	bool unknown;            /* nothing is known; events and served are 0 */
};

/* The name of a component in reports: "base", "unknown", "ST-L1+ST-TLB", and with a level "ST-L1@L2", "base@L1". No two
 * components have the same name. */
#define GUS_COMPONENT_KEY_MAX 71
void gus_component_key(struct gus_component what, char key[GUS_COMPONENT_KEY_MAX]);

#endif
