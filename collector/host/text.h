/* SPDX-License-Identifier: MIT */
/* The small files of /proc and /sys. */
#ifndef GUS_COLLECTOR_HOST_TEXT_H
#define GUS_COLLECTOR_HOST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first size - 1 bytes of a small file, terminated, without a newline at the end; false if it cannot be read. */
bool gus_read_text(const char *path, char *text, size_t size);

/* Samples a second that the kernel allows an event now; UINT64_MAX where it does not say. It lowers this by itself when
 * sampling takes too long, at any moment, and an event that asks for more it refuses to open (EINVAL). */
uint64_t gus_read_rate_limit(void);

#endif
