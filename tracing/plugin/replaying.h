/* SPDX-License-Identifier: MIT */
/* The end of a snapshot's replay under QEMU: at its first system call, which is never made, at a signal, or with its
 * window. */
#ifndef GUS_TRACING_PLUGIN_REPLAYING_H
#define GUS_TRACING_PLUGIN_REPLAYING_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/gusprof.pb-c.h"

struct gus_replaying {
	bool begun;             /* the loader is done, the snapshot's own code runs */
	int64_t jump;           /* but for this call of the loader, which comes first; 0: there is none */
	const char *ended_by;   /* "window", "syscall", "signal"; NULL: it goes on */
	uint64_t number, at;    /* of the call or the signal, and where the signal was raised */
};

enum gus_replaying_next { GUS_REPLAYING_LOADS, GUS_REPLAYING_BEGINS, GUS_REPLAYING_ENDS };

/* A system call that is about to be made. */
enum gus_replaying_next gus_replaying_call(struct gus_replaying *r, int64_t number, uint64_t a1, uint64_t a2);
void gus_replaying_window_over(struct gus_replaying *r);
/* Whether code there is the loader's own. */
bool gus_replaying_is_loader(uint64_t address);
void gus_replaying_tell(const struct gus_replaying *r, Gusprof__TraceTotal *total);

#endif
