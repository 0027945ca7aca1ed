/* SPDX-License-Identifier: MIT */
#include "printed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
