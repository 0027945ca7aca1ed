/* SPDX-License-Identifier: MIT */
/* Bytes as a file, for parsers that take a path: one of memory, which stays open and is filled anew for each input. */
#ifndef GUS_TESTS_FUZZ_FOREIGN_FILE_H
#define GUS_TESTS_FUZZ_FOREIGN_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct foreign_file {
	int fd;         /* 0: not yet made */
	char path[32];
};

static inline const char *foreign_file(struct foreign_file *f, const uint8_t *bytes, size_t size)
{
	if (!f->fd) {
		f->fd = memfd_create("foreign", MFD_CLOEXEC);
		snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	}
	if (f->fd <= 0 || ftruncate(f->fd, 0) != 0 || pwrite(f->fd, bytes, size, 0) != (ssize_t)size)
		abort();
	return f->path;
}

#endif
