/* SPDX-License-Identifier: MIT */
#include "cli/common/absent.h"

#include <stdio.h>

#include "base/log.h"
#include "base/suggest.h"

#define LISTED 8

void gus_absent_format(const char *asked, const char *const *there, size_t n, char *out, size_t room)
{
	const char *nearest = gus_suggest(asked, there, n);
	size_t used = 0;

	*out = '\0';
	if (nearest) {
		snprintf(out, room, "; the nearest: %s", nearest);
		return;
	}
	for (size_t i = 0; i < n && i < LISTED && used < room; i++)
		used += (size_t)snprintf(out + used, room - used, "%s%s", i ? ", " : "; there are: ", there[i]);
	if (n > LISTED && used < room)
		snprintf(out + used, room - used, " and %zu more", n - LISTED);
}

void gus_absent_tell(const struct gus_log *log, const char *where, const char *asked, const char *const *there,
		     size_t n)
{
	char text[1024];

	gus_absent_format(asked, there, n, text, sizeof(text));
	gus_log(log, GUS_WARN, "no sample is %s '%s'%s", where, asked, text);
}
