/* SPDX-License-Identifier: MIT */
/* Samples, switches and side band, in the order of time. A recording has them in batches, each of one CPU and of half a
 * second at most, so those of different CPUs come interleaved by batches, and the times of neighbours overlap. */
#ifndef GUS_ATTRIBUTION_PROFILE_ORDER_H
#define GUS_ATTRIBUTION_PROFILE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "proto/gusprof.pb-c.h"

struct gus_columns;
struct gus_error;
struct gus_reader;
struct gus_sample;
struct gus_switch;

struct gus_order_sink {
	void (*sample)(void *context, const struct gus_sample *sample);
	void (*sw)(void *context, const struct gus_switch *sw); /* NULL: switches are not wanted */
	/* Of the side band those of the kinds that `kinds` has a bit for, 1 << GUSPROF__RECORD__KIND_...: they should
	 * be told about when they happened. One without a time is told where it stands. NULL: none is wanted. */
	void (*record)(void *context, const Gusprof__Record *record);
	uint32_t kinds;
	void *context;
	/* Samples of a batch before they are put in order: what they bring along may be changed. NULL: nobody looks */
	void (*ready)(void *context, struct gus_columns *rows);
};

/* Tells each of them, the earliest first; of equal times side band before samples, else in the order of the file. They
 * live until the call returns. The file is read twice: first for the time at which each batch begins, then for the
 * batches; one is kept until no later one can have anything earlier. So memory is that of the batches that overlap,
 * which grows with CPUs and rates and not with the recording's length; it is bounded by `most` bytes and a batch. What
 * a file asks for beyond that comes too late, and *late says how many did. Damage is the reader's to count. */
int gus_order_each(struct gus_reader *reader, size_t most, const struct gus_order_sink *sink, uint64_t *late,
		   struct gus_error *err);

#endif
