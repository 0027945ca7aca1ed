/* SPDX-License-Identifier: MIT */
/* A folder that a test runs in, which is gone after it. */
#ifndef GUS_TESTS_UNIT_MADE_FOLDER_H
#define GUS_TESTS_UNIT_MADE_FOLDER_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char made_folder[64];

/* Setup and teardown of a test; files that it may leave there are "t" and "t.old". */
static inline int made_folder_enter(void **state)
{
	(void)state;
	strcpy(made_folder, "/tmp/gusprof-test-XXXXXX");
	return mkdtemp(made_folder) && chdir(made_folder) == 0 ? 0 : -1;
}

static inline int made_folder_leave(void **state)
{
	(void)state;
	unlink("t");
	unlink("t.old");
	return chdir("/") == 0 ? rmdir(made_folder) : -1;
}

#endif
