/* SPDX-License-Identifier: MIT */
/* One recording while it runs, between the files of session alone. */
#ifndef GUS_COLLECTOR_SESSION_PRIVATE_H
#define GUS_COLLECTOR_SESSION_PRIVATE_H

#include <poll.h>
#include <time.h>

#include "collector/counters/counters.h"
#include "collector/host/clock.h"
#include "collector/session/control.h"
#include "collector/session/kept.h"
#include "collector/session/lanes.h"
#include "collector/session/made.h"
#include "collector/session/session.h"
#include "collector/session/visits.h"
#include "collector/snapshot/snapshot.h"
#include "collector/snapshot/stored.h"
#include "collector/target/child.h"
#include "collector/target/signals.h"

#define GUS_TRACE_SHARE 4       /* snapshots may cost that part of what recording may, ... */
#define GUS_TRACE_PAUSES_NS 60000000ULL /* ... beside so long that the target stands still in all */

struct session {
	const struct gus_session_options *o;
	struct gus_session_result *result;
	struct gus_inbox inbox;
	struct gus_child child;
	struct gus_control control;
	struct gus_counters counters;
	struct gus_living living;
	struct gus_lanes lanes;
	struct gus_visits visits;   /* of the present file, for the namer */
	struct gus_kept kept;
	struct gus_made made;
	struct gus_governor governor;
	struct gus_writer *writer;
	struct gus_vec(struct pollfd) polls; /* the signals, the control, the targets, then the rings */
	Gusprof__Frequency before;
	uint64_t now, next_tick, next_redraw, next_govern, next_part, enable_at;
	uint64_t next_turn;         /* UINT64_MAX: no event takes turns */
	uint64_t govern_ns;                /* between two looks at the rate: it grows */
	uint64_t redraw_samples;    /* how many there must be by the next redraw */
	uint64_t start_ns;          /* of the present file, in the records' clock */
	uint64_t next_start;        /* of the next file, while this one is ended for it */
	uint64_t ended_ns;          /* of the last file, before what is done for it at its end; 0 until then */
	uint64_t watched_from, watched_until; /* of all files: when the events were on, in that clock; 0: not yet */
	/* CPU time of this program when recording began and ended; the latter 0 until then */
	uint64_t own_before, own_after;
	uint64_t stale, sampled;    /* counts of lanes when the rate was looked at last */
	uint64_t parts_bytes;       /* of files that are finished */
	unsigned part, renewals;
	unsigned stops;             /* times that we were asked to stop */
	bool recording;             /* samples are taken and written, or could be */
	bool sampling;              /* the events are on */
	bool turning;               /* the first turn has been told */
	struct {
		struct gus_turns turns;
		struct gus_shelf shelf;
		struct gus_vec(struct gus_stored) kept; /* in the order of time */
		uint64_t undrained;     /* bytes that were copied since rings were emptied */
		uint64_t begun, busy;   /* when it began, and CPU time of the machine then */
		uint64_t next;          /* time of the next look; UINT64_MAX: none */
		uint64_t piece, gap_ns; /* when the piece of time begins that it is in, and how long that is */
		uint64_t paused_ns, last_pause_ns, pause_most_ns; /* that threads stood still */
		double pause_ns_a_byte;
		uint64_t own_ns;        /* our CPU time */
		double own_ns_a_byte;
		uint64_t light_ns;      /* of that, for those of which large memory is of an earlier look */
		uint64_t spared;        /* bytes that the present one, if it is such, may still copy late */
		const struct gus_snapshot *taking; /* the present one */
		bool stale;             /* so much of its memory has changed since the earlier look that it is none */
		uint64_t again_ns;      /* since the beginning: when all may be copied beyond what is left */
		uint64_t holders_ns;    /* of that, the processes' that held threads */
		unsigned taken, looks;  /* snapshots, also forgotten ones, and tries */
		struct gus_session_no_snapshot none;
	} trace;
	struct {
		uint64_t n;             /* each how many switches one is sampled; 0: each, from the beginning */
		struct gus_usage last;  /* at the last look */
	} thin;
	struct {
		uint64_t next, look_ns; /* time of the next look, UINT64_MAX: none; from then to the one after */
		/* what had been by the last look */
		double count, running_ns;
		uint64_t weight, ended, busy;
		bool said;              /* that it would cost too much */
	} wide;
	struct gus_error *err;
};

/* CPU time of this program until now, and of what it has begun for itself. */
static inline uint64_t gus_session_own_ns(const struct session *s)
{
	return gus_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + s->trace.holders_ns;
}

/* How long the target stood still for snapshots, beyond what it may for each recording. */
static inline uint64_t gus_session_paused_beyond(const struct session *s)
{
	return s->trace.paused_ns > GUS_TRACE_PAUSES_NS ? s->trace.paused_ns - GUS_TRACE_PAUSES_NS : 0;
}

static inline bool launches(const struct session *s)
{
	return s->o->target->kind == GUS_TARGET_COMMAND;
}

/* Empties the rings into the lanes, and full lanes into the file; -1: s->err says why that cannot be written. */
int gus_session_drain(struct session *s);
/* Notes a moment in the side band. */
void gus_session_mark(struct session *s, const char *kind, const char *name);
/* s->err says why the file cannot be written any more: this is told, and sampling stops. */
void gus_session_fail_writing(struct session *s);

/* files.c: the file, or one after the other. */
int gus_session_create_file(struct session *s, uint64_t start_ns);
/* What lives, and that the kernel has told about before this file began, or will not tell about. */
int gus_session_describe_living(struct session *s);
/* What is counted beside the samples: looked at, and the last time of a file written to its end. */
int gus_session_look_beside(struct session *s, bool last);
/* Lanes are drained, and in them is all that belongs to this file. */
int gus_session_end_file(struct session *s, enum gus_session_end ended_by);
/* Ends this file and begins the next one, at the moment of the last look into the rings. */
void gus_session_next_part(struct session *s);

/* trace.c: a snapshot of a thread that runs, if there is one and the cost allows it. */
void gus_session_trace_begin(struct session *s);
void gus_session_trace(struct session *s);
/* What came of it, into the result; and that nobody needs it any more. */
void gus_session_trace_tell(const struct session *s);
void gus_session_trace_free(struct session *s);

/* wide.c: whether to sample the CPUs instead. */
/* CPU time of all that has run on the machine, in ns; 0 if it is not known. */
uint64_t gus_session_busy_ns(void);
void gus_session_begin_wide(struct session *s);
void gus_session_look_wide(struct session *s);

/* rate.c: how often to sample. */
/* What has happened so far. */
struct gus_usage gus_session_usage(const struct session *s);
/* Makes the governor's rate that of the events. */
void gus_session_change_rate(struct session *s);
/* A look at the rate: it is kept, changed, or brought to tasks that have inherited another one. */
void gus_session_govern(struct session *s);

#endif
