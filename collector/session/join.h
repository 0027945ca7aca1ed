/* SPDX-License-Identifier: MIT */
/* What the kernel knows of a sample's callers, joined with what others found out, to one chain in the kernel's form:
 * behind PERF_CONTEXT_KERNEL its own, behind PERF_CONTEXT_USER those of user space, innermost first, without the place
 * that was sampled itself. */
#ifndef GUS_COLLECTOR_SESSION_JOIN_H
#define GUS_COLLECTOR_SESSION_JOIN_H

#include <stdint.h>

#include "base/alloc.h"

struct gus_sample;

/* A sample's new chain. It lives until the next call. */
struct gus_join { struct gus_vec(uint64_t) chain; };

void gus_join_free(struct gus_join *j);

/* frames are all that there are of user space, behind the kernel's own. Where a sample is of the kernel, the place in
 * user space that called it comes first, as its registers say. */
void gus_join_append(struct gus_join *j, struct gus_sample *sample, const uint64_t *frames, uint32_t n);

/* frame is the innermost caller in user space, which the kernel's frame pointers have passed over. */
void gus_join_leaf(struct gus_join *j, struct gus_sample *sample, uint64_t frame);

/* By the calls that the CPU keeps, the newest first, which the sample is left without. They are where calls stand, and
 * a chain has where they return to. How long a call is, only the code could tell, so it is taken as one byte: what is
 * looked up is the byte before, and that is the call. */
void gus_join_branches(struct gus_join *j, struct gus_sample *sample);

#endif
