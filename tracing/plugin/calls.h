/* SPDX-License-Identifier: MIT */
/* Which calls of the system matter to a tracer, by their numbers: those that change what is mapped, that make
 * processes, that make another program of this one, and that may end it. */
#ifndef GUS_TRACING_PLUGIN_CALLS_H
#define GUS_TRACING_PLUGIN_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracing/plugin/terms.h"

enum gus_system_call {
	GUS_CALL_OTHER,
	GUS_CALL_MAPS,          /* another mapping, or another place of one */
	GUS_CALL_FORK,
	GUS_CALL_CLONE,         /* a process or a thread, as its first argument says */
	GUS_CALL_EXECVE,        /* the first argument is the program's path */
	GUS_CALL_EXECVEAT,      /* the second, relative to the folder that the first is */
	GUS_CALL_KILL,          /* a signal, perhaps to ourselves */
	GUS_CALL_CLOSE,         /* the first argument is the descriptor */
	GUS_CALL_CLOSE_RANGE,   /* all from the first to the second */
	GUS_CALL_DUP,           /* the second is what the first becomes a copy of, which closes it */
	GUS_CALL_SIGACTION,     /* the second argument, if it is not 0, is where the new action is */
};

/* Of an ISA whose numbers are not known every call may be one that maps. */
enum gus_system_call gus_system_call_of(enum gus_translated_isa isa, int64_t number);

/* Whether a clone with these flags is a process of its own; the emulator makes a vfork a fork. */
bool gus_system_call_clones(uint64_t flags);

#endif
