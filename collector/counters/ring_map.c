/* SPDX-License-Identifier: MIT */
/* Rings are got from the kernel by mapping the descriptor of the event that owns them (perf_event_open(2), "MMAP
 * layout"): one control page, then a power of two of data pages. */
#include "collector/counters/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "collector/host/text.h"
#include "collector/kernel/perf.h"

#define PAGES_MIN 8

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int explain(struct gus_error *err, int sys, size_t size, unsigned cpu)
{
	char allowed[32] = "516";

	if (sys != EPERM)
		return gus_fail_errno(err, sys, "cannot map a ring of %zu KiB for cpu %u", size >> 10, cpu);
	gus_read_text("/proc/sys/kernel/perf_event_mlock_kb", allowed, sizeof(allowed));
	return gus_fail_errno(err, sys, "cannot get %zu KiB of locked memory for the ring of cpu %u, of which all "
			      "rings of this user together may have kernel.perf_event_mlock_kb (%s) a CPU and then "
			      "RLIMIT_MEMLOCK; raise one of them", size >> 10, cpu, allowed);
}

/* The kernel says EPERM, and nothing else, where the memory that may be locked does not suffice. */
static int map(struct gus_ring *ring, int fd, unsigned cpu, size_t size, int protection, struct gus_error *err)
{
	size_t page = page_size();
	void *memory;

	for (;; size /= 2) {
		memory = gus_perf.mmap(NULL, page + size, protection, MAP_SHARED, fd, 0);
		if (memory != MAP_FAILED)
			break;
		if (errno != EPERM || size <= PAGES_MIN * page)
			return explain(err, errno, size, cpu);
	}
	gus_ring_over(ring, memory, size);
	ring->fd = fd;
	ring->cpu = cpu;
	return 0;
}

int gus_ring_map(struct gus_ring *ring, int fd, unsigned cpu, size_t size, struct gus_error *err)
{
	return map(ring, fd, cpu, size, PROT_READ | PROT_WRITE, err);
}

/* Not to be written by us: by that the kernel knows that nobody will ever move a tail, and writes over what is
 * oldest. */
int gus_ring_map_flight(struct gus_ring *ring, int fd, unsigned cpu, size_t size, struct gus_error *err)
{
	return map(ring, fd, cpu, size, PROT_READ, err);
}

void gus_ring_unmap(struct gus_ring *ring)
{
	if (ring->control)
		gus_perf.munmap(ring->control, page_size() + ring->size);
	free(ring->whole);
	*ring = (struct gus_ring){ .fd = -1 };
}
