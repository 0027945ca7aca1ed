/* SPDX-License-Identifier: MIT */
/* The names of the kernel code that was sampled: kept as addresses while recording, looked up once at the end, because
 * the addresses mean nothing on another machine or after the next boot. */
#ifndef GUS_COLLECTOR_SESSION_KERNEL_H
#define GUS_COLLECTOR_SESSION_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "proto/gusprof.pb-c.h"

struct gus_error;

#define GUS_KERNEL_ADDRESSES_MAX 65536 /* distinct ones; a kernel has few hot places */

struct gus_hits {
	struct gus_index addresses; /* u64 */
};

void gus_hits_init(struct gus_hits *k);
void gus_hits_free(struct gus_hits *k);

static inline void gus_hits_add(struct gus_hits *k, uint64_t address)
{
	if (k->addresses.n < GUS_KERNEL_ADDRESSES_MAX)
		gus_index_add(&k->addresses, &address, NULL);
}

/* The symbols around the addresses, by address, from a file like /proc/kallsyms. The caller frees the message with
 * gusprof__kernel_symbols__free_unpacked(..., NULL). If there are none to be had, refusal says why. NULL if no address
 * was added. */
Gusprof__KernelSymbols *gus_hits_symbols(const struct gus_hits *k, const char *path);

#endif
