/* SPDX-License-Identifier: MIT */
#include "base/identity.h"

#include <stddef.h>
#include <sys/stat.h>

struct gus_identity gus_identity_of(const struct stat *st)
{
	if (!st)
		return (struct gus_identity){ 0 };
	return (struct gus_identity){ st->st_dev, st->st_ino, (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec,
		(uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_ctim.tv_sec, (uint64_t)st->st_ctim.tv_nsec };
}

struct gus_identity gus_identity_at(const char *path)
{
	struct stat st;

	return gus_identity_of(stat(path, &st) == 0 ? &st : NULL);
}
