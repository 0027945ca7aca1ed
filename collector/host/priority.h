/* SPDX-License-Identifier: MIT */
/* A recorder that waits for its turn behind three hundred busy threads attaches late and loses records. It takes little
 * time, so it may come first, where the user's rights allow that: for this process only, never for what it starts. */
#ifndef GUS_COLLECTOR_HOST_PRIORITY_H
#define GUS_COLLECTOR_HOST_PRIORITY_H

struct gus_priority { int before; };

struct gus_priority gus_priority_raise(void);
/* As it was; a child forked now has that. */
void gus_priority_restore(const struct gus_priority *p);

#endif
