/* SPDX-License-Identifier: MIT */
/* The workload: a process that waits, before it becomes the command, until its counters are open. */
#ifndef GUS_COLLECTOR_TARGET_CHILD_H
#define GUS_COLLECTOR_TARGET_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct gus_error;
struct gus_signals;

struct gus_child {
	pid_t pid;
	int go, failed;      /* pipes: one byte releases it; errno comes back if it could not become the command */
	bool running;        /* it has not been waited for */
	int status;          /* as waitpid says, once it has */
};

/* Whether command can be found the way execvp would; GUS_E_NOT_FOUND or GUS_E_PERMISSION if not. */
int gus_child_find(const char *command, struct gus_error *err);

/* The file that execvp would take for it, or NULL; the caller frees it. */
char *gus_child_path(const char *command);

/* Forks the waiting process. argv is NULL-terminated; it starts with those signals. traceable: processes of ours may
 * trace it, where they otherwise might not as they are not its parents. */
int gus_child_fork(struct gus_child *child, char *const *argv, const struct gus_signals *signals, bool traceable,
		   struct gus_error *err);

/* Lets it become the command; returns when it has, or -1 with why it could not (it is gone then). */
int gus_child_start(struct gus_child *child, const char *command, struct gus_error *err);

/* Takes note if it has ended; with wait, waits for that. Returns whether it is over. */
bool gus_child_reap(struct gus_child *child, bool wait);

/* Asks it to end, unless it has: by SIGTERM, and by SIGCONT, as a command that is stopped would hear of it no sooner
 * than somebody else lets it go on. */
void gus_child_ask_to_end(const struct gus_child *child);

/* For a process that was never released: it goes away. Closes what is open in any case. */
void gus_child_close(struct gus_child *child);

#endif
