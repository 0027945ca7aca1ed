/* SPDX-License-Identifier: MIT */
/* An event that samples this very thread, with a ring of its own: what is tried here before anybody is recorded. It is
 * opened disabled. */
#ifndef GUS_COLLECTOR_TRIAL_SELF_H
#define GUS_COLLECTOR_TRIAL_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/counters/ring.h"

struct gus_cargo;
struct gus_event;

enum { GUS_SELF_RING_BYTES = 64 << 10 }; /* without stacks */

struct gus_self {
	int fd;
	struct gus_ring ring;
};

/* Its samples bring the cargo along, and are laid out as gus_attr_sample_type says of a plan with that cargo and no
 * features. Returns 0 or -errno. */
int gus_self_open(struct gus_self *self, const struct gus_event *event, uint64_t period,
		  const struct gus_cargo *cargo);
void gus_self_close(struct gus_self *self);

/* Opens an event on this thread without a ring, to see whether the kernel takes it; it stays off. group_fd: its
 * leader's, -1: it leads. inherit: new tasks would inherit it. Returns a descriptor, which the caller closes, or
 * -errno. */
int gus_self_try(const struct gus_event *event, bool inherit, int group_fd);

#endif
