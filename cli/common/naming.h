/* SPDX-License-Identifier: MIT */
/* Where names may come from, as the options of verbs that show names say it. */
#ifndef GUS_CLI_COMMON_NAMING_H
#define GUS_CLI_COMMON_NAMING_H

#include "cli/common/options.h"

struct gus_error;
struct gus_fetch;
struct gus_log;
struct gus_naming;
struct gus_profile;
struct gus_space;

struct gus_naming_options {
	bool cache;          /* true unless the user says otherwise */
	bool debuginfod;
	uint64_t patience_s; /* for debuginfod, in all */
};

/* The folder of files by build id that perf keeps, its row and what it comes to: as the user says, else ~/.debug, NULL
 * if there is no home. The caller frees it. */
#define GUS_NAMING_BUILD_IDS(values, member) \
	{ 0, "buildid-dir", "DIR", "Where perf has kept copies of what it recorded, for files that are gone or have " \
	  "changed; ~/.debug by default.", GUS_OPTION_STRING, offsetof(values, member), .choices = "@dir" }
char *gus_naming_build_ids(const char *option);

#define GUS_NAMING_KALLSYMS(values, member) \
	{ 0, "kallsyms", "FILE", "A copy of /proc/kallsyms of the kernel that was recorded, for its functions that " \
	  "have no names in the recording.", GUS_OPTION_STRING, offsetof(values, member), .choices = "@file" }

#define GUS_NAMING_DEFAULTS { .cache = true, .patience_s = 30 }

/* Their rows in the table of a verb whose values have them as member. */
#define GUS_NAMING_OPTIONS(values, member) \
	{ 0, "cache", NULL, "Remember what debug information says and what --stacks finds out, in " \
	  "~/.cache/gusprof or the folder that GUSPROF_CACHE names, so that the next look is quick (the default).", \
	  GUS_OPTION_FLAG, offsetof(values, member.cache) }, \
	{ 0, "debuginfod", NULL, "Ask the servers that DEBUGINFOD_URLS names for the debug information of modules " \
	  "that have at least a hundredth of the samples and none here.", GUS_OPTION_FLAG, \
	  offsetof(values, member.debuginfod) }, \
	{ 0, "debuginfod-time", "SECONDS", "How long to wait for them in all; 30 by default.", GUS_OPTION_NUMBER, \
	  offsetof(values, member.patience_s), .bounds = { 1, 86400 }, .fit = { .needs = "debuginfod" } }

/* What follows from the options and the environment. NULL with err if that cannot be. */
struct gus_naming *gus_naming_begin(const struct gus_naming_options *options, const struct gus_log *log,
				    struct gus_error *err);
void gus_naming_end(struct gus_naming *n);

/* The folder where answers are remembered; NULL if they are not to be. */
const char *gus_naming_cache(const struct gus_naming *n);
/* How to get debug files from elsewhere; NULL: not at all. */
const struct gus_fetch *gus_naming_fetch(const struct gus_naming *n);
/* Which modules are worth it: before the first question about names. weights: of all, by the space's module. */
void gus_naming_weigh(struct gus_naming *n, const struct gus_space *space, const uint64_t *weights, size_t modules,
		      uint64_t all);
void gus_naming_weigh_profile(struct gus_naming *n, const struct gus_profile *profile);

#endif
