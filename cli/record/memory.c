/* SPDX-License-Identifier: MIT */
#include "cli/record/memory.h"

#include <stdlib.h>

#include "cli/common/uarch_load.h"
#include "proto/writer.h"

static int open_counters(void *context, pid_t child, struct gus_error *err)
{
	(void)child; /* it is all of the machine that is counted */
	return gus_uncore_open(&((struct gus_record_memory *)context)->uncore, err);
}

static void start_counters(void *context, bool launched)
{
	(void)launched;
	gus_uncore_enable(&((struct gus_record_memory *)context)->uncore);
}

/* The strings of generated messages are not const, but nobody writes to them here. */
static void describe(const struct gus_event *event, const struct gus_uncore_counter *c, Gusprof__TrafficCounter *m)
{
	gusprof__traffic_counter__init(m);
	m->event = event->name;
	m->direction = (uint32_t)c->row->direction;
	m->socket = c->socket;
	m->cpu = (uint32_t)c->cpu;
	m->bytes = c->bytes;
}

static int write_readings(struct gus_record_memory *s, struct gus_writer *writer, struct gus_error *err)
{
	const struct gus_uncore *u = &s->uncore;
	size_t n = u->counters.n, told = s->told ? 0 : n;
	Gusprof__TrafficCounter *counter = gus_alloc((told + 1) * sizeof(*counter));
	Gusprof__TrafficCounter **counters = gus_alloc((told + 1) * sizeof(Gusprof__TrafficCounter *));
	char *title = gus_format("%s, %s, %zu counters", u->family->title, u->family->pmu, n);
	Gusprof__Traffic m = GUSPROF__TRAFFIC__INIT;
	int rc;

	for (size_t i = 0; i < told; i++) {
		describe(&u->events.v[i], &u->counters.v[i], &counter[i]);
		counters[i] = &counter[i];
	}
	m.n_counters = told;
	m.counters = counters;
	m.n_readings = s->readings.list.n;
	m.readings = s->readings.list.v;
	if (told)
		m.title = title;
	rc = gus_writer_message(writer, GUS_FRAME_TRAFFIC, &m.base, err);
	s->told = true;
	free(counter);
	free(counters);
	free(title);
	gus_record_readings_drop(&s->readings);
	return rc;
}

static int look(void *context, struct gus_writer *writer, uint64_t time, bool last, struct gus_error *err)
{
	struct gus_record_memory *s = context;
	struct gus_count *counts;
	int rc = 0;

	if (!s->uncore.open || !gus_record_readings_due(&s->readings, time, last))
		return 0;
	counts = gus_alloc((s->uncore.counters.n + 1) * sizeof(*counts));
	gus_uncore_read(&s->uncore, counts);
	gus_record_readings_add(&s->readings, time, counts, s->uncore.counters.n);
	free(counts);
	if (last || gus_record_readings_full(&s->readings))
		rc = write_readings(s, writer, err);
	if (last)
		s->told = false; /* another file says it again */
	return rc;
}

int gus_record_memory_init(struct gus_record_memory *s, struct gus_pmus *pmus, struct gus_error *err)
{
	*s = (struct gus_record_memory){ .beside = { .open = open_counters, .start = start_counters, .look = look,
						     .context = s } };
	return gus_uncore_find(&s->uncore, gus_uarch_host_cpu(), pmus, err);
}

void gus_record_memory_free(struct gus_record_memory *s)
{
	gus_record_readings_free(&s->readings);
	gus_uncore_free(&s->uncore);
}
