/* SPDX-License-Identifier: MIT */
/* Signals while recording or counting: they come in through a descriptor, so that they have one place in the loop
 * and interrupt nothing. */
#ifndef GUS_COLLECTOR_SESSION_SIGNALS_H
#define GUS_COLLECTOR_SESSION_SIGNALS_H

#include <stdbool.h>

#include "collector/target/child.h"

struct gus_error;

struct gus_inbox {
	int fd;                    /* readable when there is a signal */
	bool caught;               /* signals come in there */
	struct gus_signals before; /* how they were, and how a command shall begin */
};

/* SIGINT, SIGTERM, SIGCHLD, SIGUSR2 if snapshots can be asked for, and SIGHUP unless it was ignored (nohup). A
 * closed stderr must not kill a recording: SIGPIPE is off. */
int gus_inbox_open(struct gus_inbox *inbox, bool snapshots, struct gus_error *err);
/* All as it was. */
void gus_inbox_close(struct gus_inbox *inbox);

#endif
