/* SPDX-License-Identifier: MIT */
#include "collector/perfdata/notices.h"

#include <stdlib.h>

#include "base/alloc.h"

void gus_perfdata_notices_add(Gusprof__Footer *footer, char *sentence)
{
	footer->notices = gus_resize(footer->notices, footer->n_notices + 1, sizeof(*footer->notices));
	footer->notices[footer->n_notices++] = sentence;
}

void gus_perfdata_notices_count(Gusprof__Footer *footer, uint64_t n, const char *one, const char *many)
{
	if (n)
		gus_perfdata_notices_add(footer, gus_format("%llu %s", (unsigned long long)n, n == 1 ? one : many));
}
