/* SPDX-License-Identifier: MIT */
/* Lines of caches that threads take from each other. A load that finds its line changed by another core (HITM) had to
 * wait for it to come from there. What the other wrote may be what the load reads: then the threads share it in truth,
 * and only another algorithm helps. Or it may be other bytes of the line, which are there by accident: false sharing,
 * which goes away when they are put on lines of their own.
 *
 * A sample of a load does not say which bytes the other core wrote. Samples of stores do, if the recording has them: a
 * load was held up
 *
 *   same     by bytes that it reads: another thread was seen to write them
 *   apart    by other bytes of its line: others were seen to write there, and nobody but itself to write its own
 *   likely   the same, as no store of others was seen in the line at all, and all that they read lies elsewhere
 *   unknown  no other thread was seen there, or others read the same bytes and nobody was seen to write
 *
 * Bytes are those that the instruction moves, where the sample's address of code is exact and its bytes are at hand;
 * else the first one alone. */
#ifndef GUS_ATTRIBUTION_MEMORY_SHARING_H
#define GUS_ATTRIBUTION_MEMORY_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/profile.h"
#include "attribution/profile/touch.h"
#include "base/alloc.h"
#include "base/index.h"

enum gus_sharing_why { GUS_SHARING_UNKNOWN, GUS_SHARING_SAME, GUS_SHARING_LIKELY, GUS_SHARING_APART, GUS_SHARING_WHYS };

struct gus_sharing_thread { uint32_t pid, tid; const char *comm; };

/* What one thread did at one place of code to some bytes of a line. */
struct gus_sharing_access {
	uint32_t line, thread;        /* numbers */
	uint32_t offset, size;        /* in the line; size 0: not known */
	struct gus_place code;
	uint64_t samples, loads, stores; /* what is both, as an addition in memory, counts as both */
	uint64_t hitm;                /* of the samples: another core had changed the line */
	enum gus_sharing_why why;     /* of these */
};

struct gus_sharing_line {
	uint32_t touch;               /* number in touches: address, whose, and what is there */
	uint32_t first, n;            /* its accesses: those that were held up most first */
	uint32_t threads;             /* so many */
	uint64_t samples, loads, stores, hitm;
	uint64_t by_why[GUS_SHARING_WHYS]; /* of hitm; adds up to it (asserted) */
};

struct gus_sharing {
	struct gus_profile profile;   /* names of code, and what is to be said of the recording */
	struct gus_touches touches;   /* lines, by number */
	struct gus_vec(struct gus_sharing_thread) threads;
	struct gus_vec(struct gus_sharing_access) accesses;
	struct gus_vec(struct gus_sharing_line) lines; /* those with HITM: candidates first, the most hit first */
	size_t candidates;            /* of the lines: some of it is apart, or likely */
	uint64_t samples, told, snooped, hitm; /* samples; that tell of an access; what other caches had; HITM */
	uint64_t unplaced;            /* HITM without an address, or of lines for which there was no room */
	/* Private. */
	struct gus_index thread_index, access_index;
};

/* Of all events, or of filter->event. Reads the recording twice: which lines there are, then who uses them; so memory
 * grows with such lines and with who uses them. -1 with err; GUS_E_NOT_FOUND if no sample tells of what is asked. */
int gus_sharing_find(struct gus_sharing *s, struct gus_reader *reader, const struct gus_filter *filter,
		     const struct gus_symbols_options *options, const struct gus_log *log, struct gus_error *err);
void gus_sharing_free(struct gus_sharing *s);

#endif
