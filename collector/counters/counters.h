/* SPDX-License-Identifier: MIT */
/* The open events of one target: each event on each CPU and for each task that is watched, with one ring a CPU that
 * all of them share. Inheritance follows new tasks, and the kernel allows an inherited event to be read through a
 * ring only one CPU at a time; hence a descriptor an event, CPU and task. The rings belong to events of our own that
 * do nothing, so they outlive every task. */
#ifndef GUS_COLLECTOR_COUNTERS_COUNTERS_H
#define GUS_COLLECTOR_COUNTERS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/index.h"
#include "collector/counters/aux.h"
#include "collector/events/attr.h"
#include "collector/events/period.h"
#include "collector/records/records.h"

struct gus_log;
struct gus_target;

struct gus_error;

struct gus_events;
struct gus_tids;

/* An event on a CPU for a task. Its place in the list is the slot that records give its id. */
struct gus_counter {
	int fd;                 /* -1 once it has been replaced */
	uint64_t id;            /* the kernel's */
	uint32_t event;
	pid_t task;             /* that it was opened for; -1 for all */
	uint32_t cpu;
	bool leader;
	bool silent;            /* it only counts */
	bool wide;              /* it samples whatever runs on the CPU: what it counts is not the target's */
	/* when it was, because another counts the same; 0 if it was not, or for another reason */
	uint64_t closed;
	uint64_t period;        /* in force, of a jittered clock; see gus_counters_weight */
};

/* A task that has counters of its own, and since and until when they are what counts it. */
struct gus_opened {
	uint64_t from, until;
	size_t first;           /* of its counters in the list; they stand together */
};

/* What counters that have been closed had counted. */
struct gus_counted {
	uint64_t count, running_ns, enabled_ns, lost;
};

struct gus_counters {
	struct gus_events *events;       /* borrowed */
	struct gus_target *target;       /* borrowed */
	pid_t child;                     /* the launched command's process, or 0 */
	struct gus_attr_plan plan;
	bool separate;                   /* the side band has events of its own */
	struct gus_vec(struct gus_counter) list;
	size_t open;                     /* of the list: those that have not been replaced */
	struct gus_vec(int) tracking;    /* these events */
	struct gus_rings gus_vec(struct gus_ring) rings;   /* a CPU each, in ascending order */
	struct gus_auxes gus_vec(struct gus_aux) auxes;    /* likewise, of what hardware writes; some have none */
	struct gus_rings flights;        /* likewise, of samples in a flight recorder; else empty */
	struct gus_vec(int) holders;     /* the events that own the rings */
	struct gus_records records;
	struct gus_random random;
	struct gus_index opened_ids;     /* pid_t, and beside them: */
	struct gus_vec(struct gus_opened) opened;
	uint64_t first_hz;               /* the governed rate that recording began with; 0: it is in force */
	bool changed;                    /* the rate has, since tasks may have inherited the old one */
	/* The CPUs are sampled, and the tasks' own events only count and carry the side band. */
	bool by_cpu;
	/* Events of a plan take turns. */
	bool on;                         /* samples are taken */
	unsigned turn;
	uint64_t turned;                 /* CLOCK_MONOTONIC of the last change of these two, or look at the times */
	struct gus_vec(uint64_t) on_ns;  /* by event: until then, in its turns */
	bool may_repeat;                 /* tasks can have inherited events beside their own */
	struct gus_vec(uint64_t) repeated; /* weight of samples that came twice, by event */
	struct gus_vec(struct gus_counted) closed; /* by event */
};

struct gus_counters_options {
	struct gus_cargo cargo;
	bool switches;
	bool late;              /* do not count before gus_counters_enable */
	bool pausable;          /* nor, perhaps, all the time: the side band goes on meanwhile */
	bool overwrite;         /* samples go round in a ring of their own, which is read on demand */
	bool by_cpu;            /* sample the CPUs from the beginning */
	bool as_they_are;       /* never change the events to leave out the kernel */
	size_t ring_bytes;
	pid_t child;            /* a launched workload that has not become its command yet; 0: the target is another */
};

/* Opens everything. Where the kernel may not be watched, watches user space only, says so, and changes the events
 * accordingly. */
int gus_counters_open(struct gus_counters *c, struct gus_events *events, struct gus_target *target,
		      const struct gus_counters_options *options, const struct gus_log *log, struct gus_error *err);
void gus_counters_close(struct gus_counters *c);
/* The rings alone, and the events that own them; for open.c. */
void gus_counters_close_rings(struct gus_counters *c);

/* Starts the side band, where it has events of its own. A launched command starts it by itself. */
void gus_counters_track(struct gus_counters *c);
void gus_counters_enable(struct gus_counters *c);
void gus_counters_pause(struct gus_counters *c);   /* samples only */
void gus_counters_disable(struct gus_counters *c); /* all */

/* Goes on to the next turn: switches the events on and off whose turn it is or was. */
void gus_counters_turn(struct gus_counters *c);
/* Nanoseconds between two turns; UINT64_MAX if all events are always on. */
uint64_t gus_counters_turn_interval(const struct gus_counters *c);
/* Recording has begun now: what was before is in nobody's turn. */
void gus_counters_begin_turns(struct gus_counters *c);

/* Hardware had no more room for what it writes: there is some again, and the counter in that slot goes on. */
void gus_counters_resume(struct gus_counters *c, uint32_t slot);

/* Appends the tasks to be watched, as they are now; false if there are none any more. */
typedef bool gus_task_lister(struct gus_tids *tasks, void *context);

/* Opens the events anew for each task that is listed and closes the old ones: the only way in which a new rate reaches
 * the copies that tasks have inherited. now is a time of the records' clock. -1 if nothing could be opened; then all is
 * as it was. */
int gus_counters_renew(struct gus_counters *c, gus_task_lister *list, void *context, uint64_t now,
		       struct gus_error *err);

/* Whether the CPUs can be sampled in place of the tasks: what runs there is told apart by the births and ends that the
 * tasks' own events tell, which are those of all CPUs and all tasks that inherit. A flight recorder's rings are read
 * once, and who lived when is not known to the end then. Events that want a counter for themselves leave none for the
 * second one. */
bool gus_counters_can_go_wide(const struct gus_counters *c, bool overwrite);
/* Goes over to that: opens the events anew, silent, for each task that is listed, and beside them on each CPU for all
 * that runs there; then closes the old ones. now is a time of the records' clock. -1 with err if that could not be
 * (above all: not allowed); then all is as it was. enable: begin at once. */
int gus_counters_go_wide(struct gus_counters *c, gus_task_lister *list, void *context, uint64_t now, bool enable,
			 struct gus_error *err);
/* Starts the events of the CPUs, which no command's start switches on. */
void gus_counters_enable_wide(struct gus_counters *c);
/* Whether a sample is of whatever runs on a CPU. */
static inline bool gus_counters_is_wide(const struct gus_counters *c, uint32_t slot)
{
	return c->by_cpu && c->list.v[slot].wide;
}

/* Closes the counters from number `from` to before `to`, and with them the copies that tasks have inherited, and
 * remembers what they have counted. Their places in the list stay. */
void gus_counters_retire(struct gus_counters *c, size_t from, size_t to);

/* Gives each jittered event a new period. Drain the rings just before: what is in them still has the old one.
 *
 * The kernel starts the new period from zero, so the part of the old one that had elapsed is counted in no sample: on
 * average half a period for each counter whose task has run on its CPU since the last time, also if it is not there
 * now. gus_counters_redraw_samples keeps that below 1 in 500 of the time that was counted, however many tasks, CPUs and
 * other programs share it; gus_counters_redraw_interval keeps the work of it below a thousandth of a CPU. */
void gus_counters_redraw(struct gus_counters *c);
/* How many samples there must be between two redraws. */
uint64_t gus_counters_redraw_samples(const struct gus_counters *c);
/* Nanoseconds between redraws; UINT64_MAX if nothing is jittered. */
uint64_t gus_counters_redraw_interval(const struct gus_counters *c);

/* Makes every governed event sample hz times a second of CPU time, and those of a plan beside them as much less
 * often than planned as that is less than the rate that recording began with. It reaches the events that were
 * opened, at once, and the tasks that inherit from them later; not those that have inherited already (but see
 * gus_counters_renew). */
void gus_counters_set_rate(struct gus_counters *c, uint64_t hz);

/* Samples each n-th time only that a task leaves its CPU. It reaches whom gus_counters_set_rate does, by the same
 * ways. */
void gus_counters_thin(struct gus_counters *c, uint64_t n);

/* Whether a sample was not taken at the rate in force, because its task has inherited another one. */
bool gus_counters_is_stale(const struct gus_counters *c, const struct gus_record *record);

/* What a sample stands for. Mostly the period that the kernel recorded. But after a redraw, kernels up to 6.18 at least
 * go on to record the first period in samples of a clock, though its timer runs with the new one; copies of the event
 * that tasks inherited are not redrawn and record their own period truly. */
uint64_t gus_counters_weight(const struct gus_counters *c, const struct gus_record *record);

/* Whether the sample is one that another event has taken as well: a thread that was born while we attached can have
 * inherited the events of its creator before it was given its own. When that shows, its own one on that CPU is
 * closed, and so are the copies that its children have of it. (It shows when the thread is sampled. Until then, if
 * it has children itself, those count twice: a creator of threads that is born in just these milliseconds and does
 * nothing afterwards.) */
bool gus_counters_repeats(struct gus_counters *c, const struct gus_record *record);
/* The task has ended; its number may come back with another one. */
void gus_counters_task_ended(struct gus_counters *c, uint32_t tid, uint64_t time);

/* Adds up what the counters themselves say of each event since they were opened: count, running, enabled, and lost
 * where the kernel tells. */
void gus_counters_totals(const struct gus_counters *c, Gusprof__EventTotal *totals);
/* CPU time that the first event has seen, in ns. Costs a call a counter. */
uint64_t gus_counters_running(const struct gus_counters *c);

/* Whether times are of CLOCK_MONOTONIC; else of the kernel's own clock. */
bool gus_counters_monotonic(const struct gus_counters *c);
/* Now, in the clock of the records; 0 if it cannot be read here. */
uint64_t gus_counters_now(const struct gus_counters *c);

#endif
