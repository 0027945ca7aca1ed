/* SPDX-License-Identifier: MIT */
/* The PMU's own count of a thread's cycles in user space, where there is one. Tried, and not believed before it has
 * counted a chain of known length. */
#ifndef GUS_COLLECTOR_TIMING_COUNTER_H
#define GUS_COLLECTOR_TIMING_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Of this thread, from now on; the descriptor, or -1 if there is none that counts. */
int gus_timing_counter_open(void);
/* Its cycles so far. False if it does not count any more. */
bool gus_timing_counter_read(int fd, uint64_t *cycles);

#endif
