/* SPDX-License-Identifier: MIT */
#include "cli/bandwidth/bandwidth.h"

#include "attribution/traffic/traffic.h"

static const unsigned order[] = { GUS_DIRECTION_READ, GUS_DIRECTION_WRITTEN, GUS_DIRECTION_BOTH };

static void walk_socket(const struct gus_traffic *t, uint32_t socket, gus_bandwidth_visit *visit, void *context)
{
	struct gus_traffic_sum all = gus_traffic_of(t, socket, GUS_TRAFFIC_ALL);
	unsigned directions = 0;

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		struct gus_traffic_sum s = gus_traffic_of(t, socket, order[i]);

		if (!s.counted)
			continue;
		visit(context, socket, order[i], &s);
		directions++;
	}
	if (directions > 1)
		visit(context, socket, GUS_TRAFFIC_ALL, &all);
}

void gus_bandwidth_walk(const struct gus_traffic *t, gus_bandwidth_visit *visit, void *context)
{
	bool several = gus_traffic_socket(t, 1) != GUS_TRAFFIC_SOCKETS;
	uint32_t socket;

	for (size_t i = 0; several && (socket = gus_traffic_socket(t, i)) != GUS_TRAFFIC_SOCKETS; i++)
		walk_socket(t, socket, visit, context);
	walk_socket(t, GUS_TRAFFIC_SOCKETS, visit, context);
}

const char *gus_bandwidth_word(unsigned direction)
{
	static const char *const words[] = {
		[GUS_DIRECTION_BOTH] = "together", [GUS_DIRECTION_READ] = "read", [GUS_DIRECTION_WRITTEN] = "written",
		[GUS_TRAFFIC_ALL] = "all",
	};

	return words[direction];
}

const char *gus_bandwidth_evidence(const struct gus_traffic_sum *sum)
{
	return !sum->known ? "unknown" : sum->running_ns < sum->enabled_ns ? "inferred" : "observed";
}

const char *gus_bandwidth_reason(const struct gus_traffic_sum *sum)
{
	return sum->known ? NULL : "a counter of it never ran: others hold it, or there was no time";
}
