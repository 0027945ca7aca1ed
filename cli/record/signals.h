/* SPDX-License-Identifier: MIT */
/* Signals that ask us to end, when the session that took them from a descriptor is over: here nobody reads them, so
 * they are met. */
#ifndef GUS_CLI_RECORD_SIGNALS_H
#define GUS_CLI_RECORD_SIGNALS_H

#include <signal.h>

struct gus_record_signals { sigset_t set; struct sigaction before[64 + 1]; };

/* From now on they call this function, which may be called again and again; not two at a time. */
void gus_record_signals_begin(struct gus_record_signals *m, void (*meet)(int number));
void gus_record_signals_end(const struct gus_record_signals *m);

#endif
