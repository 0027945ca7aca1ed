/* SPDX-License-Identifier: MIT */
/* One ring of the kernel's, shared with us through memory: the kernel writes records at its head, we read them at
 * its tail. Ownership of the bytes moves by the two counters alone. ring_map.c gets the memory from the kernel;
 * ring.c reads whatever memory it is given, so that tests can be the kernel. */
#ifndef GUS_COLLECTOR_COUNTERS_RING_H
#define GUS_COLLECTOR_COUNTERS_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_error;

struct perf_event_mmap_page;

struct gus_ring {
	int fd;            /* of the event that owns it; borrowed */
	unsigned cpu;
	struct perf_event_mmap_page *control; /* what both sides tell each other; NULL if there is no ring */
	const uint8_t *data;
	size_t size;       /* of the data, a power of two */
	uint64_t broken;   /* times that what the ring said made no sense, and what was in it was dropped */
	uint64_t seen;     /* a flight recorder's head at its last snapshot */
	uint8_t *whole;    /* owned: room for a record that wraps around the end */
};

/* Maps a ring of up to size bytes (a power of two and of pages) for fd; if the user's locked memory does not suffice,
 * halves it, down to eight pages. */
int gus_ring_map(struct gus_ring *ring, int fd, unsigned cpu, size_t size, struct gus_error *err);
/* The same for an event that writes backward: the kernel goes round in it without ever asking us. */
int gus_ring_map_flight(struct gus_ring *ring, int fd, unsigned cpu, size_t size, struct gus_error *err);
void gus_ring_unmap(struct gus_ring *ring);

/* A ring over memory that is laid out as the kernel's: the control page, then size bytes of data. */
void gus_ring_over(struct gus_ring *ring, void *memory, size_t size);

/* Calls take for each record that is in the ring now, whole and 8-byte aligned, then frees their place. Returns how
 * many there were. */
size_t gus_ring_drain(struct gus_ring *ring, void (*take)(const void *record, size_t size, void *context),
		      void *context);

/* One record after the other, for who looks at several rings at once. The head: what the kernel has written until now.
 * The next record before that head, whole and 8-byte aligned, or NULL; it is valid until the ring is looked at again.
 * Having passed it, the kernel may write there. */
uint64_t gus_ring_head(const struct gus_ring *ring);
const void *gus_ring_peek(struct gus_ring *ring, uint64_t head, size_t *size);
void gus_ring_pass(struct gus_ring *ring, size_t size);

/* Of a flight recorder's ring: calls take, oldest first, for each record that it holds and that no call before has
 * seen. Writing is paused meanwhile; what comes then is lost, and counted by the kernel. */
size_t gus_ring_snapshot(struct gus_ring *ring, void (*take)(const void *record, size_t size, void *context),
			 void *context);

/* Now, on the kernel's own clock that records are stamped with when no other was chosen. False if this machine has no
 * way to read it. */
bool gus_ring_now(const struct gus_ring *ring, uint64_t *ns);
/* What that clock showed when the CPU's time stamp counter showed cycles. */
uint64_t gus_ring_time(const struct perf_event_mmap_page *control, uint64_t cycles);

#endif
