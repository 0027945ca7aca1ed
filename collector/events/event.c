/* SPDX-License-Identifier: MIT */
#include "collector/events/event.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/events/period.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

bool gus_event_is_clock(const struct gus_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK || e->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool gus_event_is_hardware(const struct gus_event *e)
{
	return e->type != PERF_TYPE_SOFTWARE && e->type != PERF_TYPE_TRACEPOINT && e->type != PERF_TYPE_BREAKPOINT;
}

const char *gus_event_unit(const struct gus_event *e)
{
	if (gus_event_is_clock(e))
		return "ns";
	if (e->cycles || (e->type == PERF_TYPE_HARDWARE && (uint32_t)e->config == PERF_COUNT_HW_CPU_CYCLES))
		return "cycles";
	return strcmp(e->base, "cpu-cycles") == 0 ? "cycles" : "events";
}

void gus_event_rename(struct gus_event *e)
{
	const struct { bool on; char letter; } flags[] = {
		{ e->user, 'u' }, { e->kernel, 'k' }, { e->hv, 'h' }, { e->guest, 'G' }, { e->host, 'H' },
		{ e->no_idle, 'I' }, { e->precise > 0, 'p' }, { e->precise > 1, 'p' }, { e->precise > 2, 'p' },
		{ e->precise_best, 'P' }, { e->pinned, 'D' }, { e->exclusive, 'e' },
	};
	char suffix[COUNT(flags) + 1];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(flags); i++)
		if (flags[i].on)
			suffix[n++] = flags[i].letter;
	suffix[n] = '\0';
	free(e->name);
	e->name = gus_format("%s%s%s", e->base, n && e->base[strlen(e->base) - 1] != '/' ? ":" : "", suffix);
	e->unit = gus_event_unit(e);
}

void gus_event_free(struct gus_event *e)
{
	free(e->asked);
	free(e->base);
	free(e->name);
	free(e->cpus);
	free(e->pmu);
	*e = (struct gus_event){ 0 };
}

void gus_events_free(struct gus_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		gus_event_free(&events->v[i]);
	gus_vec_free(events);
}

void gus_event_set_rate(struct gus_event *e, uint64_t frequency, uint64_t period)
{
	if (!e->period && !e->frequency) {
		/* A tracepoint is an event that happened: perf counts each one unless told otherwise, so do we. */
		if (!period && e->type == PERF_TYPE_TRACEPOINT)
			period = 1;
		e->period = period;
		e->frequency = period ? 0 : frequency;
	}
	if (e->frequency)
		gus_event_change_rate(e, e->frequency);
}

void gus_event_bring_counts(struct gus_event *event, bool bring)
{
	if (bring)
		event->extra |= PERF_SAMPLE_READ;
	else
		event->extra &= ~(uint64_t)PERF_SAMPLE_READ;
}

void gus_event_change_rate(struct gus_event *e, uint64_t frequency)
{
	e->frequency = frequency;
	if (gus_event_is_clock(e)) {
		e->period = gus_period_prime(1000000000 / frequency);
		e->jitter = true;
	}
}

bool gus_event_exclude_kernel(struct gus_event *e)
{
	if (e->user || e->kernel || e->hv)
		return false;
	e->user = true;
	gus_event_rename(e);
	return true;
}
