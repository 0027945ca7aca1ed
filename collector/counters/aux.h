/* SPDX-License-Identifier: MIT */
/* The area that hardware writes into beside a ring (AUX): the kernel tells by records in the ring which bytes of it are
 * new, and we tell by a counter how far we have read. As in a ring each side moves one counter only, the kernel
 * aux_head and we aux_tail; but what is read here is asked for by those records, which were written after the bytes
 * (perf_aux_output_end() of kernel/events/ring_buffer.c), so the head is not looked at. */
#ifndef GUS_COLLECTOR_COUNTERS_AUX_H
#define GUS_COLLECTOR_COUNTERS_AUX_H

#include <stddef.h>
#include <stdint.h>

struct gus_error;
struct gus_ring;
struct perf_event_mmap_page;

struct gus_aux {
	struct perf_event_mmap_page *control; /* of its ring, borrowed; NULL: there is no area */
	uint8_t *data;
	size_t size;      /* a power of two */
	uint8_t *whole;   /* owned: a piece that goes over the end */
	size_t room;
};

/* Gives the ring an area of up to size bytes (a power of two and of pages), by the descriptor of an event that writes
 * to the ring and whose PMU has use for one; if the user's locked memory does not suffice, halves it, down to 16
 * pages. */
int gus_aux_map(struct gus_aux *aux, struct gus_ring *ring, int fd, size_t size, struct gus_error *err);
void gus_aux_unmap(struct gus_aux *aux);

/* The size bytes from offset on, counted from the beginning without end, in one piece; valid until the next call. NULL
 * if the area cannot hold so many. */
const uint8_t *gus_aux_bytes(struct gus_aux *aux, uint64_t offset, uint64_t size);
/* What is before that offset has been read, and may be written over. */
void gus_aux_pass(struct gus_aux *aux, uint64_t offset);

#endif
