/* SPDX-License-Identifier: MIT */
/* What a function prints on standard output, up to 16 KiB, to be freed. */
#ifndef GUS_TESTS_UNIT_PRINTED_H
#define GUS_TESTS_UNIT_PRINTED_H

char *printed(void (*print)(const void *context), const void *context);

#endif
