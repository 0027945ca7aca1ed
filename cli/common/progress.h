/* SPDX-License-Identifier: MIT */
/* How far a work is that takes longer than people like to wait without a word: one line on the terminal behind stderr,
 * from the third second on, written over itself and gone at the end. Nothing at all where stderr is none, so that no
 * log has it. */
#ifndef GUS_CLI_COMMON_PROGRESS_H
#define GUS_CLI_COMMON_PROGRESS_H

#include <stdint.h>

/* One work, which may have several parts one after the other. {0} at its beginning. */
struct gus_progress {
	uint64_t begun_ns;      /* 0: it has not begun */
	uint64_t next_ns;       /* when the line is written again */
	int terminal;           /* 1: there is one, -1: there is none, 0: it has not been looked for */
	int shown;              /* the line is there */
};

/* Says so; cheap enough for an inner loop. share: of 1, or negative if nobody knows how much there is. */
void gus_progress(struct gus_progress *p, const char *what, double share);
/* Before anything else is printed, and when the work is done: takes the line away. */
void gus_progress_end(struct gus_progress *p);

#endif
