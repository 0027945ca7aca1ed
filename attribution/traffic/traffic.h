/* SPDX-License-Identifier: MIT */
/* The traffic of memory: what counters of memory controllers have counted, as bytes and rates, by socket and direction,
 * of a whole run and over its time; live, or out of a recording (proto/FORMAT.md, TRAFFIC).
 *
 * A rate is the sum of those of its counters, each over the time that it ran, so that counters which took turns are
 * scaled. Where one of them never ran the sum is unknown. */
#ifndef GUS_ATTRIBUTION_TRAFFIC_TRAFFIC_H
#define GUS_ATTRIBUTION_TRAFFIC_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "proto/gusprof.pb-c.h"
#include "proto/traffic.h"

#define GUS_TRAFFIC_SOCKETS UINT32_MAX /* all of them together */
enum { GUS_TRAFFIC_ALL = GUS_DIRECTIONS, GUS_TRAFFIC_SUMS }; /* a direction: all of them together */

struct gus_traffic_counter {
	char *event;
	enum gus_direction direction;
	uint32_t socket;
	double bytes;           /* a count; above 0 */
};

/* Of one counter. running is less than enabled where it took turns with others. */
struct gus_traffic_count { uint64_t value, enabled_ns, running_ns; };

/* What went on in a piece of the time, by direction; not known where a counter of that direction did not run. */
struct gus_traffic_piece {
	uint64_t to, ns;        /* its end, and how long it was */
	double bytes[GUS_TRAFFIC_SUMS];
	bool known[GUS_TRAFFIC_SUMS];
};

/* The highest rate of a reading, in bytes a second, and the end of that reading; known: there is one. */
struct gus_traffic_peak { double rate; uint64_t at; bool known; };

struct gus_traffic {
	char *title;            /* of what counts, for people */
	struct gus_vec(struct gus_traffic_counter) counters;
	struct gus_vec(struct gus_traffic_count) total; /* one a counter */
	struct gus_vec(uint32_t) sockets; /* that have counters, ascending */
	struct gus_vec(struct gus_traffic_piece) pieces; /* two become one when there are GUS_TRAFFIC_PIECES */
	size_t merged;          /* readings in each piece but the last, which has `last` */
	size_t last;
	struct gus_traffic_peak peaks[GUS_TRAFFIC_SUMS];
};

enum { GUS_TRAFFIC_PIECES = 256 };

/* Of a socket and a direction, or of all of them. */
struct gus_traffic_sum {
	bool counted;           /* there are counters of it */
	bool known;             /* each of them ran */
	uint64_t bytes;         /* scaled where they took turns */
	double rate;            /* bytes a second */
	uint64_t enabled_ns, running_ns; /* over all of them */
};

void gus_traffic_add_counter(struct gus_traffic *t, const char *event, enum gus_direction direction, uint32_t socket,
			     double bytes);
/* The same counters, without any counts. */
void gus_traffic_copy(struct gus_traffic *to, const struct gus_traffic *from);
/* A reading: what each has counted since the one before, and when that ended. */
void gus_traffic_add(struct gus_traffic *t, const struct gus_traffic_count *counts, uint64_t time);
/* A frame of a recording. False if it contradicts itself, or what was added before: then it adds nothing. */
bool gus_traffic_add_recorded(struct gus_traffic *t, const Gusprof__Traffic *message);
void gus_traffic_free(struct gus_traffic *t);

/* Sockets that have counters, ascending: number i, or GUS_TRAFFIC_SOCKETS behind the last. */
uint32_t gus_traffic_socket(const struct gus_traffic *t, size_t i);
/* direction: enum gus_direction, or GUS_TRAFFIC_ALL; socket: one, or GUS_TRAFFIC_SOCKETS. */
struct gus_traffic_sum gus_traffic_of(const struct gus_traffic *t, uint32_t socket, unsigned direction);

#endif
