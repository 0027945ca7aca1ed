/* SPDX-License-Identifier: MIT */
/* Marks in a gusprof recording, from the program that is recorded. Nothing to link, no privilege, no set-up:
 *
 *     #include "gusprof-mark.h"
 *     gusprof_mark_begin("load");  ...  gusprof_mark_end("load");  gusprof_mark("ready");
 *
 * `gusprof dump --type sideband` shows them, with thread and time. They work however the recording was started (a
 * launched command, -p, -a), and cost three system calls, about a microsecond, whether anybody records or not.
 *
 * How: the thread takes a name that no thread has, for a moment; the kernel tells the recorder of every new name, with
 * the time at which it was given. Limits, which follow from that: 13 bytes of name, the rest is cut off; who looks at
 * the thread's name in that moment (ps, top, a debugger) sees the mark; a seccomp filter must let prctl through. */
#ifndef GUSPROF_MARK_H
#define GUSPROF_MARK_H

#include <string.h>
#include <sys/prctl.h>

static inline void gusprof_mark_(char kind, const char *name)
{
	char before[16] = "", mark[16] = { '\1', kind };

	memcpy(mark + 2, name, strnlen(name, sizeof(mark) - 3));
	if (prctl(PR_GET_NAME, before, 0, 0, 0) != 0 || prctl(PR_SET_NAME, mark, 0, 0, 0) != 0)
		return;
	prctl(PR_SET_NAME, before, 0, 0, 0);
}

static inline void gusprof_mark(const char *name)
{
	gusprof_mark_('p', name);
}

static inline void gusprof_mark_begin(const char *name)
{
	gusprof_mark_('b', name);
}

static inline void gusprof_mark_end(const char *name)
{
	gusprof_mark_('e', name);
}

#endif
