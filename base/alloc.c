/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whoever asked may hold any lock, so nothing of what stands at exit is done, and nothing here allocates. */
void gus_alloc_failed(size_t size)
{
	char text[96];
	int n = snprintf(text, sizeof(text), "gusprof: out of memory: cannot get %zu bytes\n", size);

	if (write(STDERR_FILENO, text, (size_t)n) != n) {
		/* The status says it, too: 125 is that of each failure of our own. */
	}
	_exit(125);
}

static void *or_die(void *memory, size_t size)
{
	if (!memory)
		gus_alloc_failed(size);
	return memory;
}

void *gus_alloc(size_t size)
{
	return or_die(malloc(size ? size : 1), size);
}

void *gus_zalloc(size_t size)
{
	return or_die(calloc(1, size ? size : 1), size);
}

void *gus_resize(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		or_die(NULL, (size_t)-1);
	return or_die(realloc(old, bytes ? bytes : 1), bytes);
}

char *gus_strdup(const char *text)
{
	return gus_strndup(text, strlen(text));
}

char *gus_strndup(const char *text, size_t length)
{
	size_t used = strnlen(text, length);
	char *copy = gus_alloc(used + 1);

	memcpy(copy, text, used);
	copy[used] = '\0';
	return copy;
}

char *gus_format(const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return or_die(text, 0);
}
