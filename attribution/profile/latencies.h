/* SPDX-License-Identifier: MIT */
/* How long loads took, each value kept as it is: what is asked of them are quantiles, which a sum does not tell. Equal
 * ones of a cell are counted together, so they take room by how many different ones there are. */
#ifndef GUS_ATTRIBUTION_PROFILE_LATENCIES_H
#define GUS_ATTRIBUTION_PROFILE_LATENCIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

/* So many loads of what has that number took so many cycles. */
struct gus_latency {
	uint32_t of, n;
	uint64_t cycles;
};

struct gus_latency_list {
	struct gus_latency_values gus_vec(struct gus_latency) all;
	/* Private. */
	size_t settled;   /* of all: in order, and each once */
	uint32_t *recent; /* where some of them are, by what they are; NULL until there is one */
};

void gus_latency_add(struct gus_latency_list *list, uint32_t of, uint64_t cycles);
/* Orders all by number and cycles, each pair once: a count that has no room in n excepted. */
void gus_latency_settle(struct gus_latency_list *list);
/* The same loads, of what had number i now under to[i], settled; those that are not among the n, or have none
 * (UINT32_MAX), are left out. */
struct gus_latency_list gus_latency_regrouped(const struct gus_latency_list *list, const uint32_t *to, size_t n);
void gus_latency_free(struct gus_latency_list *list);

/* A quantile and what its 95 % interval is, which is open where there are too few values. */
struct gus_latency_quantile {
	uint64_t cycles, low, high;
	bool has_low, has_high;
};

struct gus_latencies {
	uint64_t n;           /* loads that told how long they took; 0: the others say nothing */
	struct gus_latency_quantile median, ninety; /* of them; 50 and 90 % */
	uint64_t longest;
	uint64_t sum;         /* of all of them; what is more than fits is UINT64_MAX */
};

/* Of n entries that are ordered by their cycles. */
struct gus_latencies gus_latencies_of(const struct gus_latency *ordered, size_t n);

#endif
