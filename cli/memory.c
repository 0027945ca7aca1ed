/* SPDX-License-Identifier: MIT */
/* Libraries that cannot get memory. DESIGN.md says that this ends the program; but what the libraries that we use do
 * then is theirs to choose, and they choose to carry on: libelf has no symbols, libdw no lines, protobuf-c and zstd
 * find a corrupt frame, Capstone no instruction, and qsort takes another algorithm, which puts equal elements in
 * another order. Each gives an answer that looks right and is not, and none can be asked in every place why.
 *
 * So the program stands before malloc for all of them: what these functions cannot get, nobody goes on without. As the
 * symbols of an executable come before those of all libraries, the C library's own calls come here as well. Whoever
 * comes next in the order of lookup (the C library, or what is preloaded) does the work and frees it.
 *
 * A library that believes the sizes in a foreign file may ask for more than there is on any machine. Such a file must
 * not end the program, so from HUGE_SIZE on the library is told that there is none, and calls the file bad. Within the
 * limits that the readers of those files have, no library needs so much in one piece.
 *
 * Not built with sanitizers, which stand before malloc themselves and end the program, too. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

#define HUGE_SIZE ((size_t)1 << 30)

static void *checked(void *memory, size_t size)
{
	if (!memory && size && size < HUGE_SIZE)
		gus_alloc_failed(size);
	return memory;
}

/* The next function of that name. Older C libraries allocate in dlsym, with calloc, and do without if they get none:
 * hence NULL while one is looked for, in the thread that looks. */
static void *next(const char *name)
{
	static __thread bool busy;
	void *found = NULL;

	if (!busy) {
		busy = true;
		found = dlsym(RTLD_NEXT, name);
		busy = false;
	}
	return found;
}

void *malloc(size_t size)
{
	static void *(*real)(size_t);

	if (!real && !(*(void **)&real = next("malloc")))
		return NULL;
	return checked(real(size), size);
}

void *calloc(size_t count, size_t size)
{
	static void *(*real)(size_t, size_t);
	size_t bytes;

	if (!real && !(*(void **)&real = next("calloc")))
		return NULL;
	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = HUGE_SIZE;
	return checked(real(count, size), bytes);
}

void *realloc(void *old, size_t size)
{
	static void *(*real)(void *, size_t);

	if (!real && !(*(void **)&real = next("realloc")))
		return NULL;
	return checked(real(old, size), size);
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

void *aligned_alloc(size_t alignment, size_t size)
{
	static void *(*real)(size_t, size_t);

	if (!real && !(*(void **)&real = next("aligned_alloc")))
		return NULL;
	return checked(real(alignment, size), size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	static int (*real)(void **, size_t, size_t);
	int error;

	if (!real && !(*(void **)&real = next("posix_memalign")))
		return ENOMEM;
	error = real(out, alignment, size);
	if (error == ENOMEM)
		checked(NULL, size);
	return error;
}
