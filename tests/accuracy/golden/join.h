/* SPDX-License-Identifier: MIT */
/* A recording as gusprof record makes one: samples of several events, and windows of what was executed. Samplers write
 * a file each, and so do windows (windows.h). */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_JOIN_H
#define GUS_TESTS_ACCURACY_GOLDEN_JOIN_H

#include <stddef.h>

struct gus_error;

/* What is said beside samples is the first one's. -1 with err. */
int golden_join(const char *path, const char *const *recordings, size_t recordings_n, const char *const *windows,
		size_t windows_n, struct gus_error *err);

#endif
