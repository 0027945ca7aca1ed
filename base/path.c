/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <string.h>

const char *gus_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
