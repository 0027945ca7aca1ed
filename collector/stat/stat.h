/* SPDX-License-Identifier: MIT */
/* One run of `gusprof stat`: counts events of a command, of tasks that run already, or of CPUs, until the command or
 * the tasks have ended or somebody says stop. Nothing is sampled and no file is written. */
#ifndef GUS_COLLECTOR_STAT_STAT_H
#define GUS_COLLECTOR_STAT_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/counters/tally.h"

struct gus_log;
struct gus_stat_target;

struct gus_error;

struct gus_events;

/* What happened to one event in a run, or in a part of one. */
struct gus_stat_row {
	enum gus_tally_state state;
	int reason;            /* errno behind the state, 0 if there is none */
	struct gus_count count;
	/* the kernel does not let us count it; it is what it says of ended children (getrusage) */
	bool from_usage;
};

/* rows: one an event. Times are since counting began. */
struct gus_stat_part { uint64_t from_ns, to_ns; const struct gus_stat_row *rows; };

struct gus_stat_options {
	const struct gus_stat_target *target;
	char *const *command;  /* NULL-terminated; with other targets than it, it only says how long. NULL: none */
	struct gus_events *events; /* changed if the kernel must be left out */
	uint64_t interval_ns;  /* 0: none */
	const struct gus_log *log;
	void (*part)(const struct gus_stat_part *part, void *context); /* after each interval */
	void (*ready)(void *context); /* all is open, nothing has been started; may be NULL */
	void *context;
};

struct gus_stat_result {
	struct gus_stat_row *rows; /* one an event; gus_stat_result_free */
	uint64_t elapsed_ns, user_ns, system_ns; /* the last two of the command and the children that were waited for */
	/* the command was; could not be executed; still is, as we were told not to wait */
	bool started, no_command, running;
	int exit_status, exit_signal; /* of the command */
	int interrupt;         /* the signal that asked us to stop, 0 if none did */
	bool terminal;         /* it came from the terminal: the command had it too */
	bool user_only;        /* the kernel was left out because this user may not watch it */
	size_t missed;         /* threads that were born while we attached and may not have been counted */
};

/* 0 if it counted; -1 if not, with result telling how far it came. */
int gus_stat_run(const struct gus_stat_options *options, struct gus_stat_result *result, struct gus_error *err);
void gus_stat_result_free(struct gus_stat_result *result);

#endif
