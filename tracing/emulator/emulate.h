/* SPDX-License-Identifier: MIT */
/* A command under QEMU's user-mode emulator with our plugin, whose trace comes through a pipe while it runs. */
#ifndef GUS_TRACING_EMULATOR_EMULATE_H
#define GUS_TRACING_EMULATOR_EMULATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "tracing/emulator/sweeper.h"

struct gus_error;
struct gus_signals;

/* Which machine's program a command executes, such as "x86_64". NULL with err if it is none that can be traced. */
const char *gus_command_target(char *const *argv, struct gus_error *err);
struct gus_emulation {
	pid_t pid;
	int trace;              /* the pipe's end: whoever reads it closes it */
	const char *target;     /* "x86_64": whose ELF the command is */
	int status;             /* as waitpid says, after the end */
	struct gus_sweeper sweeper;
	int listener;           /* where traces of what it becomes and of its children come in; -1: nowhere */
	/* Set before the start. */
	bool follows;           /* what it executes in its place is emulated and traced as well */
	bool children;          /* with follows: and so is what it forks off */
	bool quiet;             /* the plugin says in the trace only what the trace is not */
	bool silent;            /* it reads nothing, and what it prints is lost */
	bool reads;             /* with silent: it reads what we would */
	bool out_is_err;        /* what it prints goes to standard error, whatever it prints it to */
	const struct gus_signals *signals; /* that it begins with; NULL: with ours */
};

/* Whether emulator and plugin are there for programs of a target. -1 with err: what to install. */
int gus_emulation_check(const char *target, const char *emulator, struct gus_error *err);

/* Starts it; it is killed when the calling thread ends (gus_helper_fork), with all that it has forked off. Options are
 * those of the plugin, beginning with a comma, or "". emulator: its path; NULL: qemu-TARGET is looked for. -1 with err
 * if the command is no ELF of a known machine, or emulator or plugin are not there: what to install. */
int gus_emulation_start(struct gus_emulation *e, char *const *argv, const char *emulator, const char *options,
			struct gus_error *err);
/* The next of the traces that come in, as one to be read: a descriptor, closed on exec. -1: there is none now. */
int gus_emulation_next(const struct gus_emulation *e);
/* Waits for its end, after which signals may still be sent to its pid: nobody else has it yet. */
void gus_emulation_wait(const struct gus_emulation *e);
/* The same, and takes its status. No trace comes in any more. */
void gus_emulation_end(struct gus_emulation *e);

#endif
