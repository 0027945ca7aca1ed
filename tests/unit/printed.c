/* SPDX-License-Identifier: MIT */
#include "printed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"

#define MOST 16384

char *printed(void (*print)(const void *context), const void *context)
{
	int before = dup(1), file = memfd_create("stdout", 0);
	char *text = gus_zalloc(MOST);

	assert_true(before >= 0 && file >= 0);
	fflush(stdout);
	dup2(file, 1);
	print(context);
	fflush(stdout);
	dup2(before, 1);
	close(before);
	assert_true(pread(file, text, MOST - 1, 0) >= 0);
	close(file);
	return text;
}

void expect_printed(void (*print)(const void *context), const void *context, const char *what, bool there)
{
	char *text = printed(print, context), *to = text;

	for (const char *at = text; *at; at++)
		if (*at != ' ' || (to > text && to[-1] != ' ' && to[-1] != '\n' && at[1] != '\n'))
			*to++ = *at;
	*to = '\0';
	if ((strstr(text, what) != NULL) != there)
		fail_msg("\"%s\" is %sin\n%s", what, there ? "not " : "", text);
	free(text);
}
