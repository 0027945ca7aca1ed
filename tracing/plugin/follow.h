/* SPDX-License-Identifier: MIT */
/* How tracing goes on where a program executes another one, or forks. QEMU's user-mode emulators hand both to the
 * kernel, so what is executed would run natively. Before that happens we execute the emulator ourselves, with the
 * program behind it: all that the kernel does at an execve (close what is to be closed, end the other threads, keep the
 * ignored signals and the number of the process) it does for the emulator then, and so for the program. Each program
 * has a trace of its own. Where it goes is asked of whoever listens at an abstract socket: a connection is made while
 * the trace before is still open, so that the listener, when that ends, has the next one already. */
#ifndef GUS_TRACING_PLUGIN_FOLLOW_H
#define GUS_TRACING_PLUGIN_FOLLOW_H

#include "tracing/plugin/terms.h"
#include "tracing/program/program.h"

/* What execve and execveat are given: addresses in the program's memory. */
struct gus_follow_call {
	int folder;             /* AT_FDCWD, or what the path is relative to */
	int flags;
	uint64_t path, argv, envp;
};

/* The command line and environment of the emulator that is to be executed. */
struct gus_follow {
	struct gus_words words, environment;
};

/* A connection to the listener of that name (without the byte 0 that it begins with): closed on exec. -1 with errno. */
int gus_follow_connect(const char *name);

/* Text of the program's memory, which lies at a distance in ours, if all of it is there. */
bool gus_follow_read_text(uint64_t distance, uint64_t address, char *text, size_t size);

/* What is to be executed instead of the program. self: the program that runs. fd: what the next trace goes to. NULL,
 * or why it cannot be, as gus_executed_resolve says it; "" if the kernel will refuse it as well. Freed in any case. */
const char *gus_follow_prepare(struct gus_follow *f, const struct gus_follow_call *call, uint64_t distance,
			       const char *self, enum gus_translated_isa isa, int fd);
/* Executes it, with those signals ignored (bit 0 is signal 1); returns with errno if that failed. */
void gus_follow_execute(const struct gus_follow *f, uint64_t ignored);

/* Signals that are ignored here: asked before the emulator has begun, which takes care of fatal ones itself, and makes
 * the kernel forget that the program was begun with them ignored. */
uint64_t gus_follow_ignored(void);
/* What is ignored after a call of rt_sigaction with that action, of which 0 is none. */
uint64_t gus_follow_heed(uint64_t ignored, uint64_t signal, uint64_t action, uint64_t distance);
void gus_follow_free(struct gus_follow *f);

#endif
