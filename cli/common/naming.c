/* SPDX-License-Identifier: MIT */
#include "cli/common/naming.h"

#include <stdlib.h>

#include "base/alloc.h"

/* The value of a variable that is a path from the root on; relative ones are to be ignored, as the XDG base directory
 * specification has it. */
static const char *whole_path(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value == '/' ? value : NULL;
}

static char *cache_folder(const struct gus_naming_options *options)
{
	const char *own = getenv("GUSPROF_CACHE"), *folder;

	if (!options->cache)
		return NULL;
	if (own)
		return *own ? gus_strdup(own) : NULL;
	folder = whole_path("XDG_CACHE_HOME");
	if (folder)
		return gus_format("%s/gusprof", folder);
	folder = whole_path("HOME");
	return folder ? gus_format("%s/.cache/gusprof", folder) : NULL;
}

void gus_naming_begin(struct gus_naming_options *options)
{
	options->folder = cache_folder(options);
}

void gus_naming_end(struct gus_naming_options *options)
{
	free(options->folder);
}
