/* SPDX-License-Identifier: MIT */
/* Processes and files that exist only for this one, and end when it ends, by whatever it is ended: SIGKILL can be
 * caught by nobody, so nothing here depends on a handler or on anybody who tidies up. A process is killed by the kernel
 * when its parent ends (PR_SET_PDEATHSIG in prctl(2)); a file never has a name. Whoever needs either takes it from
 * here. */
#ifndef GUS_BASE_HELPER_H
#define GUS_BASE_HELPER_H

#include <signal.h>
#include <sys/types.h>

struct gus_error;

/* As fork(2), but the child is killed when the thread that called this ends (not only its process: call it from a
 * thread that lasts), and is so also across execve, unless what it executes has raised rights. It has none of our
 * signal handlers; signals that are ignored or blocked here are so there. */
pid_t gus_helper_fork(void);

/* Runs a function in a process that shares all our memory (CLONE_VM), and waits for its end; meanwhile nothing else of
 * this thread runs, so the function may allocate and write where it likes. Signals for us wait until then. What stops
 * us, or our process group, does not stop it: it is in a session of its own, and all signals are blocked there. If we
 * are killed it is killed. 0 if the function returned, -1 with err. */
int gus_helper_run(void (*function)(void *context), void *context, struct gus_error *err);

/* How this process was when it started, which is how a command that it runs shall begin. */
struct gus_signals {
	sigset_t mask;
	struct sigaction chld, pipe, xfsz;
};
void gus_signals_note(struct gus_signals *s);
void gus_signals_restore(const struct gus_signals *s);

/* A file without a name, empty, open for reading and writing: in $TMPDIR or /tmp, where it can be large, and if no such
 * file can be made there, in memory. /proc/self/fd/N is how others can open it. -1 with err; what: for the message. */
int gus_scratch_open(const char *what, struct gus_error *err);

#endif
