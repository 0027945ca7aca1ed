/* SPDX-License-Identifier: MIT */
/* How a load gets what an earlier store, which has not left for L1 yet, has written. Both engines ask here, so that
 * the rules are the same; when the word is there is their own affair. */
#ifndef GUS_MODEL_CODE_FORWARDING_H
#define GUS_MODEL_CODE_FORWARDING_H

#include <stdint.h>

struct gus_core_config;
struct gus_op;
struct gus_program;

enum gus_forwarding {
	GUS_FORWARD_RENAMED,    /* the load is the register that was stored: no time passes */
	GUS_FORWARD_WORD,       /* store_forward_latency after the data */
	GUS_FORWARD_COMPUTED,   /* store_forward_computed after it, as some operation made it */
	GUS_FORWARD_VECTOR,     /* store_forward_vector after it */
	GUS_FORWARD_BLOCKED,    /* the store does not have all of it: store_forward_blocked after it has left */
	GUS_FORWARDINGS
};

/* Two accesses that share bytes: addresses, how many bytes each has, and which ones they are of the program's. */
struct gus_overlap {
	uint64_t store, load;
	uint32_t store_bytes, load_bytes;
	uint32_t store_memory, load_memory;
};

/* op: the one that loads. */
enum gus_forwarding gus_forwarding_of(const struct gus_core_config *c, const struct gus_program *p,
				      const struct gus_op *op, const struct gus_overlap *o);
/* Cycles of each kind: from the store's data, of what is blocked from when it has left. */
uint32_t gus_forwarding_cycles(const struct gus_core_config *c, enum gus_forwarding kind);

#endif
