/* SPDX-License-Identifier: MIT */
/* Who stays behind to end what an emulated command has forked off, if we are killed. Such a process is QEMU, too, and
 * goes on emulating; it is no child of ours, so the kernel does not end it with us (gus_helper_fork). The command's own
 * children that have become other programs run natively and are left alone, as they are when a command is killed. */
#ifndef GUS_TRACING_EMULATOR_SWEEPER_H
#define GUS_TRACING_EMULATOR_SWEEPER_H

#include <sys/types.h>

struct gus_sweeper {
	pid_t pid;              /* -1: there is none */
	int leave;              /* a pipe's end, which is closed when we are no more */
};

/* Before the emulator begins, of whose command line, and that of all it forks off, word is a part that nobody else has.
 * Without a process or a pipe to be had there is no sweeper. */
void gus_sweeper_start(struct gus_sweeper *s, const char *word);
/* There is nothing to be swept up. */
void gus_sweeper_end(struct gus_sweeper *s);

#endif
