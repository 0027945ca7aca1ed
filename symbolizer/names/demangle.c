/* SPDX-License-Identifier: MIT */
#include "symbolizer/names/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"

/* A few dozen bytes of substitutions can ask for gigabytes of text. What is longer than a name may be is shown
 * mangled. */
struct text {
	struct gus_vec(char) bytes;
	jmp_buf too_long;
};

static void append(const char *bytes, size_t size, void *context)
{
	struct text *t = context;

	/* The demangler has no way to be stopped from here but this one. It keeps its work on the stack when it prints
	 * through a callback, so nothing is lost. */
	if (t->bytes.n + size > GUS_LIMIT_NAME)
		longjmp(t->too_long, 1);
	gus_vec_append(&t->bytes, bytes, size);
}

/* Rust's legacy names are C++ names to the C++ demangler, so they are tried first. */
static bool print(const char *name, struct text *t)
{
	if (setjmp(t->too_long) != 0)
		return false;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, append, t))
		return true;
	t->bytes.n = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, append, t) != 0;
}

char *gus_demangle(const char *name)
{
	struct text *t;
	char *copy = NULL;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	t = gus_zalloc(sizeof(*t));
	if (print(name, t) && t->bytes.n)
		copy = gus_strndup(t->bytes.v, t->bytes.n);
	gus_vec_free(&t->bytes);
	free(t);
	return copy;
}
