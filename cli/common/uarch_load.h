/* SPDX-License-Identifier: MIT */
/* --uarch NAME|FILE|host|nominal: the table of a CPU by what a user calls it. `host` is this machine's, as it was
 * calibrated if it was, and `nominal` what is known of such CPUs in general. */
#ifndef GUS_CLI_COMMON_UARCH_LOAD_H
#define GUS_CLI_COMMON_UARCH_LOAD_H

#include "model/tables/uarch.h"

struct gus_cpu_features;
struct Gusprof__Host;

#define GUS_UARCH_OPTION_HELP \
	"The CPU: a name of `gusprof uarch list`, a file with a table, host (default) for this one, as calibrated if " \
	"it was, or nominal for this one as if it never was."

/* The name of the built-in table for the CPU of a machine, or NULL; and for this one's. */
const char *gus_uarch_of_host(const struct Gusprof__Host *host);
const char *gus_uarch_host(void);
/* The name of this machine's CPU itself (gus_uarch_cpu), whether there is a table or not; NULL if it is not known. */
const char *gus_uarch_host_cpu(void);
/* What gus_uarch_load takes for the CPU of a recording: this machine's as it was calibrated, if it was made here, else
 * what is known of such CPUs in general. name: what messages call it. NULL with err. */
const char *gus_uarch_of_recording(const char *path, const char *name, struct gus_error *err);
/* The name of the built-in table to begin from where there is none for this machine's CPU. */
const char *gus_uarch_nearest_to_host(enum gus_isa isa, const struct gus_cpu_features *features);
/* what: NULL is host. flags: enum gus_uarch_flags; with PLAIN, host is nominal. A calibration that is there and not
 * used is told of on stderr. */
struct gus_uarch *gus_uarch_load(const char *what, unsigned flags, struct gus_error *err);

/* All of a file, or of the standard input for "-"; what it is stands in the messages. NULL with err if it cannot be
 * read or has limit bytes or more. The caller frees it. */
char *gus_uarch_read(const char *path, const char *what, size_t limit, size_t *size, struct gus_error *err);

#endif
