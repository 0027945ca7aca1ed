/* SPDX-License-Identifier: MIT */
/* Which way data go between memory and the rest of the machine, as far as a counter tells: TrafficCounter.direction. */
#ifndef GUS_PROTO_TRAFFIC_H
#define GUS_PROTO_TRAFFIC_H

enum gus_direction {
	GUS_DIRECTION_BOTH,    /* read and written together: the counter does not tell them apart */
	GUS_DIRECTION_READ,    /* from memory */
	GUS_DIRECTION_WRITTEN, /* to it */
	GUS_DIRECTIONS,
};

/* Bytes that a count may stand for at most: no counter that there is counts more at a time than 32 KiB. */
#define GUS_TRAFFIC_BYTES_MOST 0x1p30

#endif
