/* SPDX-License-Identifier: MIT */
#include "model/machine/options.h"

#include <stdio.h>

const char *gus_core_reason_name(enum gus_core_reason reason)
{
	static const char *const names[GUS_CORE_REASONS] = {
		[GUS_CORE_NOTHING] = "none", [GUS_CORE_FRONT_END] = "front_end", [GUS_CORE_BOUNDARY] = "loop_boundary",
		[GUS_CORE_MISPREDICT] = "mispredict", [GUS_CORE_ROB] = "rob", [GUS_CORE_RS] = "rs",
		[GUS_CORE_LOAD_BUFFER] = "load_buffer", [GUS_CORE_STORE_BUFFER] = "store_buffer",
		[GUS_CORE_BRANCH_BUFFER] = "branch_buffer", [GUS_CORE_REGISTERS] = "registers",
		[GUS_CORE_SERIALISED] = "serialised", [GUS_CORE_EXECUTION] = "execution",
		[GUS_CORE_OPERAND] = "operand", [GUS_CORE_MEMORY] = "memory",
	};

	return names[reason];
}

const char *gus_commit_name(enum gus_commit state)
{
	static const char *const names[GUS_COMMITS] = { "compute", "stalled", "drained", "flushed" };

	return names[state];
}

const char *gus_core_psv_text(unsigned psv, char *text)
{
	static const char *const names[GUS_CORE_PSV_EVENTS] = { "DR-L1", "DR-TLB", "DR-SQ", "FL-MB", "FL-EX", "FL-MO",
		"ST-L1", "ST-TLB", "ST-LLC" };
	size_t n = 0;

	for (unsigned i = 0; i < GUS_CORE_PSV_EVENTS; i++)
		if (psv >> i & 1)
			n += (size_t)snprintf(text + n, GUS_CORE_PSV_TEXT - n, "%s%s", n ? "+" : "", names[i]);
	if (!n)
		snprintf(text, GUS_CORE_PSV_TEXT, "base");
	return text;
}
