/* SPDX-License-Identifier: MIT */
/* Signals while recording or counting: they come in through a descriptor, so that they have one place in the loop
 * and interrupt nothing. */
#ifndef GUS_COLLECTOR_SESSION_SIGNALS_H
#define GUS_COLLECTOR_SESSION_SIGNALS_H

#include <stdbool.h>

#include "base/helper.h"

struct gus_error;
struct signalfd_siginfo;

struct gus_inbox {
	int fd;                    /* readable when there is a signal */
	bool caught;               /* signals come in there */
	struct gus_signals before; /* how they were, and how a command shall begin */
};

/* SIGCHLD, and all signals by which somebody could want to end us: SIGINT and SIGTERM, and those others that were not
 * ignored (SIGHUP is, by nohup). A reader who left stderr must not kill a recording, nor a file that has become too
 * large for our limits, which is an error where it is written: SIGPIPE and SIGXFSZ are off. Signals that say that a
 * program is broken (SIGSEGV, SIGABRT and the like) do what they always do. */
int gus_inbox_open(struct gus_inbox *inbox, struct gus_error *err);
/* Which signals those are; all but SIGCHLD ask us to end. */
void gus_inbox_signals(sigset_t *set);
/* All as it was. */
void gus_inbox_close(struct gus_inbox *inbox);
/* Whether what came through the descriptor is from a key at the terminal, or its end: then our command has it, too. */
bool gus_inbox_from_terminal(const struct signalfd_siginfo *info);

#endif
