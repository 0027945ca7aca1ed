/* SPDX-License-Identifier: MIT */
/* Commands that come in while recording, a line each, by a FIFO or a descriptor; perf's words. */
#ifndef GUS_COLLECTOR_SESSION_CONTROL_H
#define GUS_COLLECTOR_SESSION_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct gus_error;

enum gus_command {
	GUS_COMMAND_NONE,     /* there is none yet */
	GUS_COMMAND_ENABLE,
	GUS_COMMAND_DISABLE,
	GUS_COMMAND_SNAPSHOT,
	GUS_COMMAND_STOP,
	GUS_COMMAND_PING,
	GUS_COMMAND_EVENTS,   /* "evlist" */
	GUS_COMMAND_UNKNOWN,  /* something else: see line */
};

struct gus_control {
	int in, ack;          /* -1 for none; closed by gus_control_close if opened here */
	bool own;             /* they were */
	bool ended;           /* nothing more will come */
	char text[512];       /* what has come and is not yet a whole line */
	size_t used;
	bool overlong;        /* what came before it of the same line was too long, and is gone */
	char line[64];        /* the last command, as it was written */
};

void gus_control_init(struct gus_control *c);
/* spec is "fifo:PATH[,ACK]", FIFOs that exist, or "fd:N[,M]". */
int gus_control_open(struct gus_control *c, const char *spec, struct gus_error *err);
void gus_control_close(struct gus_control *c);

/* Reads what is there, once; to be called when `in` is readable. */
void gus_control_read(struct gus_control *c);
/* The next command of what has been read. */
enum gus_command gus_control_next(struct gus_control *c);
/* Tells that the last command has been carried out. */
void gus_control_acknowledge(struct gus_control *c);

#endif
