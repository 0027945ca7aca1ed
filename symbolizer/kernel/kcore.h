/* SPDX-License-Identifier: MIT */
/* The memory of a kernel as an ELF core file, /proc/kcore: the one place where the code is what is really run, after
 * the kernel has patched it and with its modules. Read piece by piece, since it is as large as the address space. */
#ifndef GUS_SYMBOLIZER_KERNEL_KCORE_H
#define GUS_SYMBOLIZER_KERNEL_KCORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_error;

struct gus_kcore_segment { uint64_t address, size, offset; };

struct gus_kcore {
	int fd;                 /* -1: not open */
	unsigned machine;       /* EM_* */
	struct gus_vec(struct gus_kcore_segment) segments;
};

/* -1 with err if it cannot be opened or is no core file of this kind of machine's byte order; then k is closed. */
int gus_kcore_open(struct gus_kcore *k, const char *path, struct gus_error *err);
void gus_kcore_close(struct gus_kcore *k);
/* Up to size bytes at that address, copied to out; how many there were: less than asked for where a segment ends, 0 if
 * none has it or it cannot be read. */
size_t gus_kcore_read(const struct gus_kcore *k, uint64_t address, void *out, size_t size);

#endif
