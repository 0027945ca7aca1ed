/* SPDX-License-Identifier: MIT */
/* Where names may come from, as the options of verbs that show names say it. */
#ifndef GUS_CLI_COMMON_NAMING_H
#define GUS_CLI_COMMON_NAMING_H

#include "cli/common/options.h"

struct gus_naming_options {
	bool cache;         /* true unless the user says otherwise */
	char *folder;       /* where answers are remembered; NULL if they are not to be */
};

/* Their rows in the table of a verb whose values have them as member. */
#define GUS_NAMING_OPTIONS(values, member) \
	{ 0, "cache", NULL, "Remember what debug information says, in ~/.cache/gusprof or the folder that GUSPROF_CACHE " \
	  "names, so that the next look at the same program is quick (the default).", GUS_OPTION_FLAG, \
	  offsetof(values, member.cache) }

/* Fills in what follows from the options and the environment. */
void gus_naming_begin(struct gus_naming_options *options);
void gus_naming_end(struct gus_naming_options *options);

#endif
