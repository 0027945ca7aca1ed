/* SPDX-License-Identifier: MIT */
/* How far a work is that takes longer than people like to wait without a word: one line on the terminal behind stderr,
 * from the third second on, written over itself and gone at the end. Where stderr is none, so in a log, nothing at all;
 * but who works for minutes may ask for lines there, so that it is seen that the work goes on: from the fifth second on
 * one each time that it has come a tenth further or to another part, and none within five seconds of the one before. */
#ifndef GUS_CLI_COMMON_PROGRESS_H
#define GUS_CLI_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heed.h"

/* One work, which may have several parts one after the other. {0} at its beginning, but for lines. */
struct gus_progress {
	uint64_t begun_ns;      /* 0: it has not begun */
	uint64_t next_ns;       /* when the line is written again */
	int terminal;           /* 1: there is one, -1: there is none, 0: it has not been looked for */
	int shown;              /* the line is there */
	bool lines;             /* asked for lines where there is no terminal; stays over gus_progress_end */
	int tenth;              /* of the last such line; -1: of an unknown share */
	char part[41];          /* what that said */
	struct gus_heed heed;   /* see below */
};

/* Says so; cheap enough for an inner loop. share: of 1, or negative if nobody knows how much there is. */
void gus_progress(struct gus_progress *p, const char *what, double share);
/* The same for who works elsewhere, as long as p is there. */
const struct gus_heed *gus_progress_heed(struct gus_progress *p);
/* Before anything else is printed, and when the work is done: takes the line away. */
void gus_progress_end(struct gus_progress *p);

#endif
