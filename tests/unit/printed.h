/* SPDX-License-Identifier: MIT */
/* What a function prints on standard output, up to 16 KiB, to be freed. */
#ifndef GUS_TESTS_UNIT_PRINTED_H
#define GUS_TESTS_UNIT_PRINTED_H

#include <stdbool.h>

char *printed(void (*print)(const void *context), const void *context);
/* Fails unless `what` is there (or is not), with one blank for many and none at the ends of lines. */
void expect_printed(void (*print)(const void *context), const void *context, const char *what, bool there);

#endif
