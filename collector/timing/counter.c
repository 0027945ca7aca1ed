/* SPDX-License-Identifier: MIT */
#include "collector/timing/counter.h"

#include <stdlib.h>
#include <unistd.h>

#include "collector/events/attr.h"
#include "collector/events/event.h"
#include "collector/events/pmu.h"
#include "collector/host/clock.h"
#include "collector/kernel/perf.h"

#define UNITS 256               /* of a chain, to try it */
#define WRONG 0.05              /* what it may count beside the chain's cycles, as a part of them */

bool gus_timing_counter_read(int fd, uint64_t *cycles)
{
	return gus_perf.read(fd, cycles, sizeof(*cycles)) == sizeof(*cycles);
}

static bool counts(int fd)
{
	double least = 0;

	if (gus_perf.ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		return false;
	for (unsigned i = 0; i < 5; i++) {
		uint64_t start, end;
		double cycles;

		if (!gus_timing_counter_read(fd, &start))
			return false;
		gus_clock_run(GUS_CLOCK_ADDS, UNITS);
		if (!gus_timing_counter_read(fd, &end))
			return false;
		cycles = (double)(end - start);
		if (!i || cycles < least)
			least = cycles;
	}
	return least > (1 - WRONG) * UNITS * GUS_CLOCK_UNIT && least < (1 + WRONG) * UNITS * GUS_CLOCK_UNIT;
}

static int open_event(const struct gus_event *e)
{
	struct gus_attr_plan plan = { 0 };
	union gus_attr a;
	int fd;

	gus_attr_fill(&a, e, &plan, true);
	gus_attr_silence(&a);
	a.kernel.pinned = 1; /* always, or not at all: no turns with others */
	a.kernel.read_format = 0;
	fd = gus_attr_open(&a, 0, -1, -1);
	if (fd >= 0 && !counts(fd)) {
		gus_perf.close(fd);
		fd = -1;
	}
	return fd < 0 ? -1 : fd;
}

int gus_timing_counter_open(void)
{
	struct gus_events events = { 0 };
	struct gus_pmus pmus;
	int fd = -1;

	gus_pmus_init(&pmus, "/sys");
	if (gus_events_parse(&events, "cycles:u", &pmus, NULL) == 0) /* of cores of several kinds one for each */
		for (size_t i = 0; i < events.n && fd < 0; i++)
			fd = open_event(&events.v[i]);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	return fd;
}
