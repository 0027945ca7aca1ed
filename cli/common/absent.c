/* SPDX-License-Identifier: MIT */
#include "cli/common/absent.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/suggest.h"

#define LISTED 8

/* The first of those that have part in their names, all of them if it is "". */
static void list(const char *part, const char *begin, const char *const *there, size_t n, char *out, size_t room)
{
	size_t used = 0, found = 0;

	*out = '\0';
	for (size_t i = 0; i < n; i++)
		if (there[i] && strstr(there[i], part) && found++ < LISTED && used < room)
			used += (size_t)snprintf(out + used, room - used, "%s%s", found > 1 ? ", " : begin, there[i]);
	if (found > LISTED && used < room)
		snprintf(out + used, room - used, " and %zu more", found - LISTED);
}

/* Who gives a part of a name, as a function's without its namespace, is told which names have it. */
void gus_absent_format(const char *asked, const char *const *there, size_t n, char *out, size_t room)
{
	const char *nearest = gus_suggest(asked, there, n);

	if (*asked)
		list(asked, "; with that in their names there are: ", there, n, out, room);
	else
		*out = '\0';
	if (*out)
		return;
	if (nearest)
		snprintf(out, room, "; the nearest: %s", nearest);
	else
		list("", "; there are: ", there, n, out, room);
}

void gus_absent_tell(const struct gus_log *log, const char *where, const char *asked, const char *const *there,
		     size_t n)
{
	char text[1024];

	gus_absent_format(asked, there, n, text, sizeof(text));
	gus_log(log, GUS_WARN, "no sample is %s '%s'%s", where, asked, text);
}
