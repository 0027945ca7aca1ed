/* SPDX-License-Identifier: MIT */
#include "proto/psv.h"

const char *gus_psv_name(enum gus_psv_event event)
{
	static const char *const names[GUS_PSV_EVENTS] = { "DR-L1", "DR-TLB", "DR-SQ", "FL-MB", "FL-EX", "FL-MO",
		"ST-L1", "ST-TLB", "ST-LLC" };

	return names[__builtin_ctz(event)];
}
