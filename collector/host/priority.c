/* SPDX-License-Identifier: MIT */
#include "collector/host/priority.h"

#include <sys/resource.h>

#define NICE (-15)

struct gus_priority gus_priority_raise(void)
{
	struct gus_priority p = { getpriority(PRIO_PROCESS, 0) };

	if (p.before > NICE)
		setpriority(PRIO_PROCESS, 0, NICE); /* refused to most users: then we take our turn like everybody */
	return p;
}

void gus_priority_restore(const struct gus_priority *p)
{
	setpriority(PRIO_PROCESS, 0, p->before);
}
