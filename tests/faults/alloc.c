/* SPDX-License-Identifier: MIT */
/* Allocations that fail. The C library's own are called by names that nobody else has, as a lookup by dlsym would
 * allocate itself. */
#include <errno.h>
#include <stdlib.h>

#include "tests/faults/faults.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool fails(void)
{
	if (!faults_meet(FAULT_alloc))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	int old = errno;
	void *got = memalign(alignment, size);

	errno = old;
	if (!got)
		return ENOMEM;
	*out = got;
	return 0;
}
