/* SPDX-License-Identifier: MIT */
/* Which pieces of code go into a recording, where in their module they are, and from when on.
 *
 * Only what was sampled does: a runtime makes a hundred times as much. Where a file tells no times, how long it was
 * when it was looked at says when a piece was not yet told. That is believed only where there was other code at the
 * address before: runtimes tell late, as they write by the megabyte, and most code is never replaced. */
#ifndef GUS_SYMBOLIZER_JIT_CHOOSE_H
#define GUS_SYMBOLIZER_JIT_CHOOSE_H

#include "symbolizer/jit/jit.h"

/* The file had so many bytes at that time. */
struct gus_jit_growth { uint64_t size, time; };

struct gus_jit_wish {
	const uint64_t *hits;           /* addresses that were sampled, ascending */
	size_t hits_n;
	bool all;                       /* take every piece, as not all hits are known */
	int64_t clock;                  /* to add to a piece's own time */
	uint64_t since;                 /* when the process began to have code of its own */
	const struct gus_jit_growth *growth; /* ascending */
	size_t growth_n;
	uint64_t offset;                /* the first of the module that is free */
	size_t most;                    /* pieces */
};

/* A piece is at its address from that time on. */
struct gus_jit_note { uint64_t time; uint32_t piece; };

struct gus_jit_choice {
	struct gus_vec(struct gus_jit_note) notes; /* of those at one time, the later ones lie over the earlier ones */
	struct gus_vec(uint32_t) origins;          /* whose code is in the module, ascending */
	struct gus_vec(uint64_t) offsets;          /* by number of a piece; only those of origins mean something */
	uint64_t end;                              /* the first offset that is free afterwards */
	uint64_t left_out;                         /* pieces beyond `most` */
};

void gus_jit_choose(struct gus_jit_choice *choice, const struct gus_jit *jit, const struct gus_jit_wish *wish);
void gus_jit_choice_free(struct gus_jit_choice *choice);

#endif
