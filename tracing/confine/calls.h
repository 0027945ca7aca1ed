/* SPDX-License-Identifier: MIT */
/* What an emulator that executes foreign code may ask of the kernel once it has begun: to read and write what is open,
 * memory that is not to be executed, its own signals, the time, and its end. Nothing that opens, executes, connects,
 * traces, or signals anybody else. */
#ifndef GUS_TRACING_CONFINE_CALLS_H
#define GUS_TRACING_CONFINE_CALLS_H

struct gus_error;

/* For all threads of this process, for good. root: an open empty folder (tracing/confine/confine.h), which becomes the
 * root folder where the right to do that was kept; it is closed. What is not allowed fails with EPERM afterwards. -1
 * with err: then this process must not go on. */
int gus_confine_calls(int root, struct gus_error *err);

#endif
