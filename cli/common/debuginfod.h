/* SPDX-License-Identifier: MIT */
/* Debug files from servers, by build id (debuginfod, of elfutils). Their library is loaded when it is asked for: it
 * brings along curl and what that needs, for something that most never ask for, and a program that lacks it works. It
 * keeps what it gets in a cache of its own, ~/.cache/debuginfod_client. */
#ifndef GUS_CLI_COMMON_DEBUGINFOD_H
#define GUS_CLI_COMMON_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_debuginfod;
struct gus_error;

/* NULL with err if there is no library or no server to ask. */
struct gus_debuginfod *gus_debuginfod_begin(struct gus_error *err);
void gus_debuginfod_end(struct gus_debuginfod *d);

/* The path of the file with the debug information of that build id, which the caller frees; NULL with err. wait is
 * called at least once a second with the bytes that are there and those that there will be (0: not known), and ends it
 * by false. */
char *gus_debuginfod_find(struct gus_debuginfod *d, const uint8_t *build_id, size_t size,
			  bool (*wait)(long done, long all, void *context), void *context, struct gus_error *err);

#endif
