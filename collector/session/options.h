/* SPDX-License-Identifier: MIT */
/* What a recording is asked for, and what became of it. */
#ifndef GUS_COLLECTOR_SESSION_OPTIONS_H
#define GUS_COLLECTOR_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/session/call_graph.h"
#include "collector/session/governor.h"

struct gus_choice;
struct gus_log;
struct gus_priority;
struct gus_skid;
struct gus_stored;
struct gus_target;

struct gus_error;

struct gus_events;

/* When a new file is begun. */
enum gus_switch_output {
	GUS_SWITCH_NEVER,
	GUS_SWITCH_SIGNAL,
	GUS_SWITCH_SIZE,
	GUS_SWITCH_TIME,
};

struct Gusprof__Record;
struct gus_kept;
struct gus_made;
/* Whether the CPUs are sampled, and the target's samples kept, in place of the target's tasks. */
enum gus_sample_cpus {
	GUS_SAMPLE_CPUS_AUTO, /* where tasks end before they are sampled, and it may be done */
	GUS_SAMPLE_CPUS_ALWAYS,
	GUS_SAMPLE_CPUS_NEVER,
};

struct gus_sample;
struct gus_session_result;
struct gus_visits;
struct gus_writer;

/* What was seen of the targets while a file was written. */
struct gus_session_seen {
	const struct gus_visits *visits;  /* where in user space the samples were */
	const struct gus_kept *kept;      /* the files that were executed */
	const struct gus_made *made;      /* what runtimes tell of the code that they made */
	int64_t clock;                    /* to add to a time of CLOCK_MONOTONIC, for one of the records' clock */
	bool last;                        /* there is no further file */
};

/* Who joins what was sampled with its names, which are no room's of the collector. For each file it is told all of the
 * side band, in no order of time, and asked at the end for what the file shall bring along. */
struct gus_session_namer {
	void (*told)(void *context, const struct Gusprof__Record *record);
	/* Writes what it has; the footer is next. -1 with err only if the file cannot be written. */
	int (*name)(void *context, struct gus_writer *writer, const struct gus_session_seen *seen,
		    struct gus_error *err);
	void *context;
};

/* Who finds the callers of samples that bring registers and a piece of the stack along (tables of files, which are no
 * room's of the collector). Before samples of a drain are asked about, it is told the side band of all rings. */
struct gus_session_unwinder {
	/* Once, before all else: the files that are held open, which are added to while it runs. */
	void (*begin)(void *context, const struct gus_kept *kept);
	void (*told)(void *context, const struct Gusprof__Record *record);
	/* The callers in user space of a sample, innermost first, without the place that was sampled itself; before
	 * one that was interrupted rather than called PERF_CONTEXT_USER stands. *callers is what became of it (enum
	 * gus_callers). Returns how many are in out, at most `most`. */
	uint32_t (*callers)(void *context, const struct gus_sample *sample, uint64_t *out, uint32_t most,
			    uint64_t *callers);
	void *context;
};

/* Who counts something beside the samples, and writes it into the same file. */
struct gus_session_beside {
	/* Before the command goes: its process, or 0; counting begins with it, or with `start`. -1 with err ends it. */
	int (*open)(void *context, pid_t child, struct gus_error *err);
	void (*start)(void *context, bool launched); /* right before the command goes, or of what runs already */
	/* Housekeeping, at a time of the records' clock; last: of a file, and another one may be begun. */
	int (*look)(void *context, struct gus_writer *writer, uint64_t time, bool last, struct gus_error *err);
	void *context;
	const struct gus_session_beside *next; /* who else does, or NULL */
};

struct gus_session_options {
	/* NULL-terminated; NULL: none. With a target that is not the command, it only says how long. */
	char *const *command;
	struct gus_target *target;        /* checked */
	const char *output;               /* path of the file */
	int output_fd;                    /* what is written instead, and closed; 0: nothing */
	const char *producer;             /* "gusprof 0.1.0" */
	struct gus_events *events;        /* with their rates set */
	const struct gus_choice *choice;
	struct gus_costs costs;           /* what recording costs here */
	const struct gus_skid *skid;      /* where samples of the first event land beside slow ones; NULL: not tried */
	double overhead;                  /* share of the target's CPU time that it may cost; 0: the rates stay */
	enum gus_sample_cpus sample_cpus;
	uint64_t limit_hz;                /* the kernel's, of the rate */
	bool call_graph, switches;        /* call_graph: of gus_call_graph, whether it is any */
	enum gus_call_graph callers;
	uint32_t stack_bytes;             /* of the stack that a sample brings along; a multiple of 8, below 64 KiB */
	const char *call_graph_choice;    /* what was taken for the user, and why; NULL: nothing was left to us */
	const struct gus_session_unwinder *unwinder; /* for FP and TABLES; NULL: nobody */
	uint64_t branch_type;             /* PERF_SAMPLE_BRANCH_*: which branches samples bring along; 0: none */
	/* a flight recorder: samples are kept in the rings until they are asked for */
	bool overwrite;
	int64_t delay_ms;                 /* before sampling starts, 0 for at once, -1: when told so */
	uint64_t max_size;                /* of all files, 0 for none */
	enum gus_switch_output switch_output;
	uint64_t switch_at;               /* bytes, or ns */
	bool trace;                       /* now and then a snapshot, see struct gus_session_result */
	bool trace_asked;                 /* by the user: that there can be none is a warning */
	uint64_t trace_window;            /* instructions that each is to be replayed for */
	const char *control;              /* as in gus_control_open, or NULL */
	const struct gus_priority *priority; /* what the command is to start with; NULL: ours */
	const struct gus_log *log;
	/* Called when all is over, with the file that still is open: for what else belongs in it. NULL: nothing. -1
	 * with err is told, and the recording is whole all the same. */
	int (*before_end)(void *context, struct gus_writer *writer, const struct gus_session_result *result,
			  struct gus_error *err);
	void *before_end_context;
	const struct gus_session_namer *namer; /* NULL: nobody */
	const struct gus_session_beside *beside; /* likewise */
	void (*ready)(void *context); /* called when all events are open, before the command starts; may be NULL */
	void *ready_context;
};

/* How callers are found, and what samples bring along for that. */
static inline enum gus_call_graph gus_session_callers(const struct gus_session_options *o)
{
	return o->callers == GUS_CALL_GRAPH_NONE && o->call_graph ? GUS_CALL_GRAPH_FP : o->callers;
}

static inline struct gus_cargo gus_session_cargo(const struct gus_session_options *o)
{
	enum gus_call_graph callers = gus_session_callers(o);
	uint32_t leaf = o->unwinder ? GUS_CALL_GRAPH_LEAF_BYTES : 0;

	return gus_call_graph_cargo(callers, callers == GUS_CALL_GRAPH_FP ? leaf : o->stack_bytes, o->branch_type);
}

enum gus_session_end {
	GUS_ENDED_EXIT,                   /* the command ended */
	GUS_ENDED_INTERRUPT,              /* somebody asked us to stop */
	GUS_ENDED_MAX_SIZE,
	GUS_ENDED_ERROR,                  /* the file could not be written any more; the workload ran on to its end */
	GUS_ENDED_TARGET,                 /* the processes or threads that were watched have ended */
	GUS_ENDED_CONTROL,                /* told so by --control */
	GUS_ENDED_PART,                   /* of a file: there is another one behind it */
};

/* Why there are no more snapshots than there are. */
struct gus_session_no_snapshot {
	unsigned dear;          /* times that one was due and would have cost more than snapshots may */
	unsigned failed;        /* tries that failed */
	bool refused;           /* they are not permitted, which has been said */
	char why[256];          /* what the last try said */
};

struct gus_session_result {
	enum gus_session_end ended_by;
	bool started;                     /* recording has begun */
	bool no_command;                  /* it could not be executed */
	bool no_target;                   /* it does not exist */
	bool running;                     /* the command still is: we were told not to wait */
	int exit_status, exit_signal;     /* how it ended; one of them is not 0, or it succeeded */
	int interrupt;                    /* the signal that asked us to stop, 0 if none did */
	bool terminal;                    /* it came from the terminal: the command had it too */
	bool said;                        /* the error has been reported already */
	uint64_t samples, lost, throttles, bytes;
	unsigned parts;                   /* files, if more than one could be; else 0 */
	uint64_t target_ns;               /* CPU time of the target, 0 if it is not known */
	struct gus_spending spent;        /* while it ran */
	uint64_t switches;                /* of the target's tasks, and what they have cost */
	double switches_spent;
	uint64_t around_ns;               /* our own CPU time before and after that */
	uint64_t hz;                      /* rate aimed at in the end, 0 if it was not ours to choose */
	uint64_t hz_changes;
	unsigned snapshots;               /* that are kept, even over the time, until the session returns: */
	struct gus_stored *kept;
	struct gus_visits *visits;        /* for before_end: what code the recording takes the names of along */
	unsigned snapshots_taken;
	uint64_t paused_ns, pause_most_ns; /* that threads stood still, for all of these; and the longest pause */
	uint64_t snapshots_own_ns;        /* CPU time that they have taken this program */
	struct gus_session_no_snapshot no_snapshot;
	/* Of the first event, in its unit: what stands in its total, of all files; and its longest period. */
	uint64_t counted, missed, period;
	uint64_t strangers;               /* samples of CPUs that were not the target's */
	uint64_t taken_away;              /* tasks whose events the kernel closed as they executed a program, */
	uint32_t taken_tid;               /* and one of them */
	char taken_comm[16];
};

#endif
