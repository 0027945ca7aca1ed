/* SPDX-License-Identifier: MIT */
/* The nine events of a performance signature vector, which a sample's column `events` is made of: those that its
 * instruction had, and times 2^16 those that it had not.
 *
 * Source: Gottschall, Eeckhout and Jahre, "TEA: Time-Proportional Event Analysis" (ISCA 2023), table 1. */
#ifndef GUS_PROTO_PSV_H
#define GUS_PROTO_PSV_H

#include <stdint.h>

/* In the order of the paper: what drained the reorder buffer, what flushed it, what stalled its head. */
enum gus_psv_event {
	GUS_PSV_DR_L1 = 1 << 0,         /* missed in L1 for instructions */
	GUS_PSV_DR_TLB = 1 << 1,        /* and in the first TLB for these */
	GUS_PSV_DR_SQ = 1 << 2,         /* a store that found no place to be dispatched to */
	GUS_PSV_FL_MB = 1 << 3,         /* a mispredicted branch */
	GUS_PSV_FL_EX = 1 << 4,         /* an exception */
	GUS_PSV_FL_MO = 1 << 5,         /* read before an older store to the same address had written */
	GUS_PSV_ST_L1 = 1 << 6,         /* missed in L1 for data */
	GUS_PSV_ST_TLB = 1 << 7,        /* and in the first TLB for these */
	GUS_PSV_ST_LLC = 1 << 8,        /* a load that missed in the last cache of its cluster itself */
	GUS_PSV_ALL = (1 << 9) - 1,
};
enum { GUS_PSV_EVENTS = 9 };

struct gus_psv {
	uint16_t proved, excluded;      /* enum gus_psv_event */
};

/* "ST-L1"; of one event. */
const char *gus_psv_name(enum gus_psv_event event);

#endif
