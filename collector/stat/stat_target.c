/* SPDX-License-Identifier: MIT */
#include "collector/stat/stat_target.h"

#include <linux/perf_event.h>

bool gus_stat_has_usage(const struct gus_stat_target *target, const struct gus_event *e)
{
	return target->kind == GUS_STAT_COMMAND && e->type == PERF_TYPE_SOFTWARE &&
	       e->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}
