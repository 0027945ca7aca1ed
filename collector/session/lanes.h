/* SPDX-License-Identifier: MIT */
/* What has come out of the rings and not yet gone into the file: a lane for each CPU. On the way the records are
 * counted, and looked at for what must be known about them later. */
#ifndef GUS_COLLECTOR_SESSION_LANES_H
#define GUS_COLLECTOR_SESSION_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/session/area.h"
#include "collector/session/call_graph.h"
#include "collector/session/governor.h"
#include "collector/session/hits.h"
#include "collector/session/join.h"
#include "collector/session/living.h"
#include "collector/session/members.h"
#include "proto/sample.h"
#include "proto/writer.h"

struct gus_counters;
struct gus_visits;
struct gus_kept;
struct gus_made;
struct gus_session_unwinder;

struct gus_lane {
	struct gus_columns samples, switches;
	/* Samples of whatever ran on the CPU, of the last drain and of this one. The birth of a sample's task may stand
	 * in another ring, which was drained before it was written: it is there the next time. */
	struct gus_columns held, fresh;
	struct gus_sideband sideband;
	uint64_t midr;                /* of the CPU, if it is Arm's */
	uint64_t since;               /* the oldest of it, 0 if there is none */
};

/* What the samples of an event's tasks stand for, while it is tasks that are sampled. A task's event begins a whole
 * period before its first sample, on each CPU where it runs, so what is missed of it is no chance error: of tasks that
 * are shorter it is everything. Where the CPUs are sampled, nothing is missed. */
struct gus_taken {
	uint64_t weight, longest; /* of all, and of one */
	uint64_t missed;          /* of what was counted until the CPUs took over */
};

struct gus_lanes {
	struct gus_counters *counters; /* borrowed */
	struct gus_living *living;     /* borrowed */
	struct gus_kept *kept;         /* borrowed, as the next; NULL: nobody wants to know */
	struct gus_made *made;
	const struct gus_session_unwinder *unwinder; /* borrowed; NULL: nobody finds callers here */
	enum gus_call_graph callers;   /* how they are found */
	struct gus_join join;          /* the chain of the sample looked at last */
	struct gus_vec(uint64_t) frames; /* what the unwinder says of it */
	struct gus_lane *lane;         /* one a ring */
	size_t n;
	Gusprof__EventTotal *totals;   /* of the present file: samples, lost and throttles of each event */
	Gusprof__EventTotal *before;   /* what the counters said when it began */
	size_t events;
	struct gus_taken *taken; /* of each event, of the whole recording */
	struct gus_members members;    /* of the target, where it is tasks that are watched */
	bool follows;                  /* it is */
	bool settled;                  /* nothing is missed any more, as the CPUs are sampled */
	struct gus_usage usage;        /* of the whole recording; target and recorder are not filled in here */
	struct gus_area_cpus cpus;     /* whose words samples bring along */
	struct gus_hits kernel; /* of the present file */
	uint64_t vdso_low, vdso_high;  /* where processes had theirs */
	bool vdso_sampled;
	struct gus_visits *user;       /* likewise, of user space; NULL: nobody wants to know. Borrowed */
	/* Is told each record of the side band; NULL: nobody */
	void (*told)(void *context, const Gusprof__Record *record);
	void *told_context;
	uint64_t lost, throttles;      /* of the whole recording */
	uint64_t truncated, collided, gaps; /* pieces of areas; likewise */
	uint64_t unknown, bad;         /* records of unknown type, and malformed ones */
	uint64_t repeated;             /* samples that came twice */
	uint64_t strangers;            /* samples of CPUs that are none of the target's */
	uint64_t stale;                /* samples of inherited events at a rate that is not in force any more */
	uint64_t now;                  /* for lanes that are filled */
};

void gus_lanes_init(struct gus_lanes *l, struct gus_counters *counters, struct gus_living *living);
/* The tasks that counters were opened for belong to the target from now on, as they have lived before. */
void gus_lanes_add_opened(struct gus_lanes *l);
/* What the counters say of each event; the caller frees it. */
Gusprof__EventTotal *gus_lanes_counted(const struct gus_lanes *l);
/* The longest that one sample of an event's tasks stood for; before there is one, what it is to stand for, 0 if the
 * kernel decides that. */
uint64_t gus_lanes_period(const struct gus_lanes *l, uint32_t event);
/* The CPUs are sampled from now on. The rings have been drained since, and hold no sample of a task's own event. */
void gus_lanes_settle_missed(struct gus_lanes *l);
void gus_lanes_free(struct gus_lanes *l);

/* Empties all rings into the lanes, and a lane that is full into the file: it never holds more than it was made for,
 * however much a ring has. Of a failure to write, the rest of the rings is kept in the lanes. */
int gus_lanes_drain(struct gus_lanes *l, struct gus_writer *writer, uint64_t now, struct gus_error *err);
/* Takes what the flight recorder's rings hold and no snapshot has taken before. */
void gus_lanes_snapshot(struct gus_lanes *l, uint64_t now);
/* Notes a moment in the side band. */
void gus_lanes_mark(struct gus_lanes *l, const char *kind, const char *name, uint64_t time);

/* Writes the lanes that are due, or all of them. */
int gus_lanes_flush(struct gus_lanes *l, struct gus_writer *writer, bool all, struct gus_error *err);

/* Kernel symbols and images for what was sampled; then everything begins anew, for another file. totals is filled
 * in. */
int gus_lanes_end_file(struct gus_lanes *l, struct gus_writer *writer, struct gus_error *err);
void gus_lanes_begin_file(struct gus_lanes *l);

#endif
