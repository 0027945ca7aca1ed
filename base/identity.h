/* SPDX-License-Identifier: MIT */
/* What tells a file from every other one, and from itself as it was before it was changed. */
#ifndef GUS_BASE_IDENTITY_H
#define GUS_BASE_IDENTITY_H

#include <stdint.h>

struct stat;

/* Without padding, so its bytes can be compared and kept. All zeroes: there is no file. */
struct gus_identity { uint64_t device, inode, size, seconds, nanoseconds, changed_seconds, changed_nanoseconds; };

/* st: NULL: there is no file. */
struct gus_identity gus_identity_of(const struct stat *st);
/* Of what is there now, behind all links. */
struct gus_identity gus_identity_at(const char *path);

#endif
