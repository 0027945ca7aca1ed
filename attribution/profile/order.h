/* SPDX-License-Identifier: MIT */
/* Samples in the order of time. A recording has them in batches, each of one CPU and of half a second at most, so those
 * of different CPUs come interleaved by batches, and the times of neighbours overlap. */
#ifndef GUS_ATTRIBUTION_PROFILE_ORDER_H
#define GUS_ATTRIBUTION_PROFILE_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct gus_error;
struct gus_reader;
struct gus_sample;

/* Calls take for each sample, the earliest first; of equal times in the order of the file. The sample lives until take
 * returns. The file is read twice: first for the time at which each batch begins, then for the batches; one is kept
 * until no later one can have anything earlier. So memory is that of the batches that overlap, which grows with CPUs
 * and rates and not with the recording's length; it is bounded by `most` bytes and a batch. What a file asks for beyond
 * that comes too late, and *late says how many samples did. Damage is the reader's to count. */
int gus_order_each(struct gus_reader *reader, size_t most, void (*take)(void *context, const struct gus_sample *sample),
		   void *context, uint64_t *late, struct gus_error *err);

#endif
