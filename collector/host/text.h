/* SPDX-License-Identifier: MIT */
/* The small files of /proc and /sys. */
#ifndef GUS_COLLECTOR_HOST_TEXT_H
#define GUS_COLLECTOR_HOST_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The first size - 1 bytes of a small file, terminated, without a newline at the end; false if it cannot be read. */
bool gus_read_text(const char *path, char *text, size_t size);

#endif
