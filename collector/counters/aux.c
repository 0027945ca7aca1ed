/* SPDX-License-Identifier: MIT */
#include "collector/counters/aux.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/counters/ring.h"
#include "collector/kernel/perf.h"

#define PAGES_MIN 16

/* The kernel wants to be told first where the area shall begin, in pages of the same file as the ring's, and how large
 * it shall be (perf_event_open(2), "aux_offset"). */
int gus_aux_map(struct gus_aux *aux, struct gus_ring *ring, int fd, size_t size, struct gus_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *control = ring->control;
	void *at;

	control->aux_offset = page + ring->size;
	for (;; size /= 2) {
		control->aux_size = size;
		at = gus_perf.mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)control->aux_offset);
		if (at != MAP_FAILED)
			break;
		if (errno != EPERM || size <= PAGES_MIN * page)
			return gus_fail_errno(err, errno, "cannot get %zu KiB of locked memory on cpu %u for what "
					      "hardware writes (kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK)",
					      size >> 10, ring->cpu);
	}
	*aux = (struct gus_aux){ .control = control, .data = at, .size = size };
	return 0;
}

void gus_aux_unmap(struct gus_aux *aux)
{
	if (aux->control)
		gus_perf.munmap(aux->data, aux->size);
	free(aux->whole);
	*aux = (struct gus_aux){ 0 };
}

const uint8_t *gus_aux_bytes(struct gus_aux *aux, uint64_t offset, uint64_t size)
{
	size_t at = offset & (aux->size - 1), first = aux->size - at;

	if (!aux->control || size > aux->size)
		return NULL;
	if (size <= first)
		return aux->data + at;
	if (aux->room < size) {
		free(aux->whole);
		aux->whole = gus_alloc((size_t)size);
		aux->room = (size_t)size;
	}
	memcpy(aux->whole, aux->data + at, first);
	memcpy(aux->whole + first, aux->data, (size_t)size - first);
	return aux->whole;
}

/* With release, so that the kernel cannot write over bytes that we have not read yet; as data_tail of a ring. */
void gus_aux_pass(struct gus_aux *aux, uint64_t offset)
{
	__atomic_store_n(&aux->control->aux_tail, offset, __ATOMIC_RELEASE);
}
