/* SPDX-License-Identifier: MIT */
#include "attribution/stacks/component.h"

#include <string.h>

static const char *const event_names[GUS_TEA_EVENTS] = {
	[GUS_DR_L1] = "DR-L1", [GUS_DR_TLB] = "DR-TLB", [GUS_DR_SQ] = "DR-SQ",
	[GUS_FL_MB] = "FL-MB", [GUS_FL_EX] = "FL-EX", [GUS_FL_MO] = "FL-MO",
	[GUS_ST_L1] = "ST-L1", [GUS_ST_TLB] = "ST-TLB", [GUS_ST_LLC] = "ST-LLC",
};

static const char *const level_names[GUS_SERVED_LEVELS] = {
	[GUS_SERVED_L1] = "L1", [GUS_SERVED_FILL] = "fill", [GUS_SERVED_L2] = "L2", [GUS_SERVED_L3] = "L3",
	[GUS_SERVED_PEER] = "peer", [GUS_SERVED_MEMORY] = "memory", [GUS_SERVED_FAR_MEMORY] = "far-memory",
	[GUS_SERVED_REMOTE_CACHE] = "remote-cache", [GUS_SERVED_REMOTE_MEMORY] = "remote-memory",
	[GUS_SERVED_IO] = "io",
};

void gus_component_key(struct gus_component what, char key[GUS_COMPONENT_KEY_MAX])
{
	char *end = stpcpy(key, what.unknown ? "unknown" : what.events ? "" : "base");

	for (unsigned i = 0; i < GUS_TEA_EVENTS; i++)
		if (what.events >> i & 1)
			end = stpcpy(stpcpy(end, end > key ? "+" : ""), event_names[i]);
	if (what.served)
		stpcpy(stpcpy(end, "@"), level_names[what.served]);
}
