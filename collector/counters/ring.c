/* SPDX-License-Identifier: MIT */
/* Reading the memory of a ring.
 *
 * The idea: two counters that only grow (data_head and data_tail of the control page) say where the kernel has
 * written to and where we have read to; their low bits are the places in the data, whose size is a power of two.
 *
 *      0        tail              head         size
 *      |  free  |  records, ours  |  free      |         all modulo size; a record may go over the end
 *
 * The invariant: the bytes from tail to head are ours, all others are the kernel's, and each side moves one counter
 * only, the kernel the head and we the tail. So nothing has to be locked, but the order counts. We read the head
 * with acquire: then the bytes before it are those that the kernel had written before it moved the head. We write
 * the tail with release: then the kernel, which looks at the tail before it writes, cannot write over a byte before
 * we have read it. The kernel's half is perf_output_put_handle() in its kernel/events/ring_buffer.c, which draws
 * the four barriers; ours is described in perf_event_open(2) and in tools/include/linux/ring_buffer.h of the kernel.
 *
 * A flight recorder's ring has no tail. Its event writes backward (write_backward): the head shrinks, from 0 and so
 * through 2^64 - 1, and each new record comes to lie before the one that was written last. Therefore the head is
 * always the start of a record, whatever the kernel has written over at the other end, and one can walk from the
 * newest to older ones; going forward, the start of the oldest that is still whole could not be found.
 *
 *      head                 + size
 *      | newest | older | ... | oldest, cut |
 *
 * Records that the kernel writes have sizes of a multiple of eight, so a header never goes over the end of the ring. */
#include "collector/counters/ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/kernel/perf.h"

#define RECORD_MAX 65536 /* a header's length field has 16 bits */
#define TELL_PARTS 8     /* the kernel is told of free room after each such part of a ring */

void gus_ring_over(struct gus_ring *ring, void *memory, size_t size)
{
	*ring = (struct gus_ring){
		.fd = -1, .control = memory, .data = (const uint8_t *)memory + sysconf(_SC_PAGESIZE), .size = size,
		.whole = gus_alloc(RECORD_MAX),
	};
}

/* The size bytes at position at, in one piece: where they lie or, if they go over the end, copied together. Valid
 * until the next call. */
static const void *record_at(const struct gus_ring *ring, uint64_t at, size_t size)
{
	size_t offset = at & (ring->size - 1), first = ring->size - offset;

	if (size <= first)
		return ring->data + offset;
	memcpy(ring->whole, ring->data + offset, first);
	memcpy(ring->whole + first, ring->data, size - first);
	return ring->whole;
}

/* The size of the record at position at; 0 if it says one that cannot be, of `left` bytes that there are, or if a
 * ring cannot hold that many. */
static size_t size_at(const struct gus_ring *ring, uint64_t at, uint64_t left)
{
	struct perf_event_header h;

	if (left > ring->size)
		return 0;
	memcpy(&h, record_at(ring, at, sizeof(h)), sizeof(h));
	return h.size < sizeof(h) || h.size > left ? 0 : h.size;
}

static void give_back(struct gus_ring *ring, uint64_t tail)
{
	__atomic_store_n(&ring->control->data_tail, tail, __ATOMIC_RELEASE);
}

uint64_t gus_ring_head(const struct gus_ring *ring)
{
	return __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

const void *gus_ring_peek(struct gus_ring *ring, uint64_t head, size_t *size)
{
	uint64_t tail = ring->control->data_tail;

	if (tail == head)
		return NULL;
	*size = size_at(ring, tail, head - tail);
	if (*size)
		return record_at(ring, tail, *size);
	ring->broken++;
	give_back(ring, head); /* as below: all is dropped */
	return NULL;
}

void gus_ring_pass(struct gus_ring *ring, size_t size)
{
	give_back(ring, ring->control->data_tail + size);
}

/* The tail is read plainly, as nobody else writes it. The head is read once: what the kernel adds while we read
 * waits for the next call, so that a kernel which is as fast as we are does not keep us here. Where what the ring
 * says makes no sense there is no way to find the next record; all is dropped, and the next call begins at this
 * head, where a record will begin. */
size_t gus_ring_drain(struct gus_ring *ring, void (*take)(const void *record, size_t size, void *context),
		      void *context)
{
	uint64_t head = gus_ring_head(ring);
	uint64_t tail = ring->control->data_tail, told = tail;
	size_t n = 0;

	while (tail != head) {
		size_t size = size_at(ring, tail, head - tail);

		if (!size) {
			ring->broken++;
			break;
		}
		take(record_at(ring, tail, size), size, context);
		tail += size;
		n++;
		/* To take may be to write to a disk: the kernel is not to lose records for want of room that is free
		 * already. */
		if (tail - told >= ring->size / TELL_PARTS) {
			give_back(ring, tail);
			told = tail;
		}
	}
	give_back(ring, head);
	return n;
}

/* The walk goes from the head to ever older records until the ring has been gone round, or a place was never written
 * (its size is 0), or what was seen the last time begins, which is where the head was then. The oldest record may
 * have been written over in part; then its size goes beyond what has been gone round, and it is left out. (Pausing
 * keeps new writers out, but one on another CPU may just be at it. It writes below the head that we have read, so
 * over the oldest record only, whose size is therefore looked at once and not again.) */
size_t gus_ring_snapshot(struct gus_ring *ring, void (*take)(const void *record, size_t size, void *context),
			 void *context)
{
	struct gus_vec(uint64_t) starts = { 0 };
	uint64_t head, end;
	size_t n;

	gus_perf.ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	for (end = head; end != ring->seen;) {
		size_t size = size_at(ring, end, ring->size - (end - head));

		if (!size)
			break;
		gus_vec_push(&starts, end);
		end += size;
	}
	for (n = starts.n; n-- > 0; end = starts.v[n])
		take(record_at(ring, starts.v[n], end - starts.v[n]), end - starts.v[n], context);
	gus_perf.ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	n = starts.n;
	ring->seen = head;
	gus_vec_free(&starts);
	return n;
}

#if defined(__x86_64__)
static uint64_t hardware_counter(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
static uint64_t hardware_counter(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}
#else
static uint64_t hardware_counter(void)
{
	return 0;
}
#endif

/* A line over the counter: its slope is time_mult / 2^time_shift ns a cycle, its value at zero time_zero. The
 * product of a whole counter and time_mult would not fit 64 bits, so that the counter is taken apart first;
 * linux/perf_event.h has these lines at cap_user_time_zero. Where the counter has fewer than 64 bits
 * (cap_user_time_short), it may have begun anew since the kernel drew the line: it is continued from time_cycles, of
 * which time_mask are the bits that the hardware has. */
uint64_t gus_ring_time(const struct perf_event_mmap_page *control, uint64_t cycles)
{
	uint64_t high, low;

	if (control->cap_user_time_short)
		cycles = control->time_cycles + ((cycles - control->time_cycles) & control->time_mask);
	high = cycles >> control->time_shift;
	low = cycles & ((1ULL << control->time_shift) - 1);
	return control->time_zero + high * control->time_mult + (low * control->time_mult >> control->time_shift);
}

/* lock is a sequence that the kernel advances before and after it draws another line: what was read between two
 * equal values belongs together. */
bool gus_ring_now(const struct gus_ring *ring, uint64_t *ns)
{
	const struct perf_event_mmap_page *control = ring->control;
	uint32_t lock;

	do {
		lock = __atomic_load_n(&control->lock, __ATOMIC_ACQUIRE);
		if (!control->cap_user_time_zero)
			return false;
		*ns = gus_ring_time(control, hardware_counter());
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&control->lock, __ATOMIC_RELAXED) != lock);
	return true;
}
