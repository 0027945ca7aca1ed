/* SPDX-License-Identifier: MIT */
#include "collector/counters/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/host/text.h"

#define RECORD_MAX 65536 /* a header's length field has 16 bits */
#define PAGES_MIN 8

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int map(struct gus_ring *ring, int fd, unsigned cpu, size_t size, int protection, struct gus_error *err)
{
	size_t page = page_size();
	char allowed[32] = "516";
	void *base;

	for (;;) {
		base = mmap(NULL, page + size, protection, MAP_SHARED, fd, 0);
		if (base != MAP_FAILED)
			break;
		if (errno != EPERM || size <= PAGES_MIN * page) {
			int sys = errno;

			gus_read_text("/proc/sys/kernel/perf_event_mlock_kb", allowed, sizeof(allowed));
			return gus_fail_errno(err, sys, sys == EPERM ? "cannot get %zu KiB of locked memory for the ring "
					      "of cpu %u, of which all rings of this user together may have "
					      "kernel.perf_event_mlock_kb (%s) a CPU and then RLIMIT_MEMLOCK; raise one "
					      "of them" : "cannot map a ring of %zu KiB for cpu %u%.0s",
					      size >> 10, cpu, allowed);
		}
		size /= 2;
	}
	*ring = (struct gus_ring){ .fd = fd, .cpu = cpu, .base = base, .size = size, .whole = gus_alloc(RECORD_MAX) };
	return 0;
}

int gus_ring_map(struct gus_ring *ring, int fd, unsigned cpu, size_t size, struct gus_error *err)
{
	return map(ring, fd, cpu, size, PROT_READ | PROT_WRITE, err);
}

int gus_ring_map_flight(struct gus_ring *ring, int fd, unsigned cpu, size_t size, struct gus_error *err)
{
	return map(ring, fd, cpu, size, PROT_READ, err); /* not to be written by us: that is how the kernel knows */
}

void gus_ring_unmap(struct gus_ring *ring)
{
	if (ring->base)
		munmap(ring->base, page_size() + ring->size);
	free(ring->whole);
	*ring = (struct gus_ring){ .fd = -1 };
}

/* The size bytes at position at, in one piece. */
static const void *record_at(const struct gus_ring *ring, const uint8_t *data, uint64_t at, size_t size)
{
	size_t offset = at & (ring->size - 1), first = ring->size - offset;

	if (size <= first)
		return data + offset;
	memcpy(ring->whole, data + offset, first);
	memcpy(ring->whole + first, data, size - first);
	return ring->whole;
}

size_t gus_ring_drain(struct gus_ring *ring, void (*take)(const void *record, size_t size, void *context),
		      void *context)
{
	struct perf_event_mmap_page *control = ring->base;
	const uint8_t *data = (const uint8_t *)ring->base + page_size();
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE), tail = control->data_tail, told = tail;
	size_t n = 0;

	if (head == tail)
		return 0;
	ring->bytes += head - tail;
	while (tail < head) {
		struct perf_event_header h;

		memcpy(&h, record_at(ring, data, tail, sizeof(h)), sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail || h.size > ring->size) {
			ring->broken++;
			tail = head;
			break;
		}
		take(record_at(ring, data, tail, h.size), h.size, context);
		tail += h.size;
		n++;
		if (tail - told >= ring->size / 8) { /* to take may be to write: the kernel is not to wait for all of it */
			__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
			told = tail;
		}
	}
	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
	return n;
}

/* The newest record is at the head, and from there on they grow older, until the ring has been gone round, a place that
 * was never written, or what was seen the last time. The oldest may have been written over in part. */
size_t gus_ring_snapshot(struct gus_ring *ring, void (*take)(const void *record, size_t size, void *context),
			 void *context)
{
	struct perf_event_mmap_page *control = ring->base;
	const uint8_t *data = (const uint8_t *)ring->base + page_size();
	struct gus_vec(uint64_t) starts = { 0 };
	uint64_t head, at;
	size_t n;

	ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	for (at = head; at != ring->seen && at - head < ring->size;) {
		struct perf_event_header h;

		memcpy(&h, record_at(ring, data, at, sizeof(h)), sizeof(h));
		if (h.size < sizeof(h) || h.size > ring->size - (at - head))
			break;
		gus_vec_push(&starts, at);
		at += h.size;
	}
	for (n = starts.n; n-- > 0;) {
		struct perf_event_header h;

		memcpy(&h, record_at(ring, data, starts.v[n], sizeof(h)), sizeof(h));
		take(record_at(ring, data, starts.v[n], h.size), h.size, context);
	}
	ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	n = starts.n;
	ring->bytes += at - head;
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

/* The control page describes that clock as a line over the CPU's time stamp counter; lock changes when the kernel
 * changes the line under us. */
bool gus_ring_now(const struct gus_ring *ring, uint64_t *ns)
{
	const struct perf_event_mmap_page *control = ring->base;
	uint32_t lock;

	do {
		uint64_t t, high, low;

		lock = __atomic_load_n(&control->lock, __ATOMIC_ACQUIRE);
		if (!control->cap_user_time_zero)
			return false;
		t = hardware_counter();
		if (control->cap_user_time_short)
			t = control->time_cycles + ((t - control->time_cycles) & control->time_mask);
		high = t >> control->time_shift;
		low = t & ((1ULL << control->time_shift) - 1);
		*ns = control->time_zero + high * control->time_mult + (low * control->time_mult >> control->time_shift);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&control->lock, __ATOMIC_RELAXED) != lock);
	return true;
}
