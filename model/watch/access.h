/* SPDX-License-Identifier: MIT */
/* How each group of accesses (an instruction, mostly) goes through memory: its stride, how long ago what it touches was
 * touched, and how many lines it touches in all. Told access by access, in bounded memory:
 *
 *	stride     the distance between one address and the next of the group. The most frequent is found if it makes
 *	           up more than a ninth; how often it came is known to within stride_error (Misra and Gries)
 *	reuse      how many other lines anything touched since the same line was touched last, in powers of two. All
 *	           lines are followed up to GUS_ACCESS_FOLLOWED, then a half of them, a quarter, ... chosen by hash,
 *	           each standing for 2, 4, ... (Waldspurger and others, SHARDS): a distance of n lines is then off by
 *	           about one part in sqrt(n / 2^sampled)
 *	footprint  lines of the group: exact up to GUS_ACCESS_COUNTED, then an estimate with a standard deviation of
 *	           about 4 % (Wegman's sampling by hash) */
#ifndef GUS_MODEL_WATCH_ACCESS_H
#define GUS_MODEL_WATCH_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

enum { GUS_ACCESS_REUSE = 40, GUS_ACCESS_FOLLOWED = 8192, GUS_ACCESS_COUNTED = 1024 };

struct gus_access_group {
	uint64_t accesses, stores;      /* stores: of them */
	int64_t stride;                 /* bytes; meaningful if stride_times */
	uint64_t stride_times;          /* of accesses - 1, at least; at most stride_error more */
	uint64_t stride_error;
	/* Lines touched: [0] with none in between, [k] with 2^(k-1) to 2^k - 1. first: never touched before. Sums are
	 * what was sampled times what it stands for, and exact while sampled is 0. */
	uint64_t reuse[GUS_ACCESS_REUSE], first;
	uint64_t lines;
	bool lines_exact;
};

struct gus_access;
/* For groups 0 to groups - 1; line_size a power of two. */
struct gus_access *gus_access_new(uint32_t groups, uint32_t line_size);
/* There are more groups now. */
void gus_access_grow(struct gus_access *a, uint32_t groups);
void gus_access_free(struct gus_access *a);
/* One access; a group beyond the last is a mistake of the caller. */
void gus_access_note(struct gus_access *a, uint32_t group, uint64_t address, uint32_t bytes, bool store);
void gus_access_get(const struct gus_access *a, uint32_t group, struct gus_access_group *out);
/* One of 2^this lines is followed for reuse. */
unsigned gus_access_sampled(const struct gus_access *a);

#endif
