/* SPDX-License-Identifier: MIT */
#include "cli/record/memory.h"

#include <stdlib.h>

#include "cli/common/uarch_load.h"
#include "proto/writer.h"

#define LEAST_NS 50000000 /* from one reading to the next: housekeeping comes also when a ring is full */
#define READINGS 10 /* in a frame: about a second's, which is what a recorder that is killed loses */

struct gus_memory_reading { uint64_t time; struct gus_count *counts; };

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

/* One of these a reading; three lists in one piece of memory. */
static void fill_reading(const struct gus_memory_reading *r, size_t n, Gusprof__TrafficReading *m, uint64_t *numbers)
{
	gusprof__traffic_reading__init(m);
	m->time = r->time;
	m->n_count = m->n_enabled_ns = m->n_running_ns = n;
	m->count = numbers;
	m->enabled_ns = numbers + n;
	m->running_ns = numbers + 2 * n;
	for (size_t i = 0; i < n; i++) {
		m->count[i] = r->counts[i].value;
		m->enabled_ns[i] = r->counts[i].enabled_ns;
		m->running_ns[i] = r->counts[i].running_ns;
	}
}

static void drop_readings(struct gus_record_memory *s)
{
	for (size_t i = 0; i < s->readings.n; i++)
		free(s->readings.v[i].counts);
	s->readings.n = 0;
}

static int write_readings(struct gus_record_memory *s, struct gus_writer *writer, struct gus_error *err)
{
	const struct gus_uncore *u = &s->uncore;
	size_t n = u->counters.n, told = s->told ? 0 : n;
	Gusprof__TrafficCounter *counter = gus_alloc((told + 1) * sizeof(*counter));
	Gusprof__TrafficCounter **counters = gus_alloc((told + 1) * sizeof(Gusprof__TrafficCounter *));
	Gusprof__TrafficReading *reading = gus_alloc((s->readings.n + 1) * sizeof(*reading));
	Gusprof__TrafficReading **readings = gus_alloc((s->readings.n + 1) * sizeof(Gusprof__TrafficReading *));
	uint64_t *numbers = gus_alloc((3 * n * s->readings.n + 1) * sizeof(*numbers));
	char *title = gus_format("%s, %s, %zu counters", u->family->title, u->family->pmu, n);
	Gusprof__Traffic m = GUSPROF__TRAFFIC__INIT;
	int rc;

	for (size_t i = 0; i < told; i++) {
		describe(&u->events.v[i], &u->counters.v[i], &counter[i]);
		counters[i] = &counter[i];
	}
	for (size_t i = 0; i < s->readings.n; i++) {
		fill_reading(&s->readings.v[i], n, &reading[i], numbers + 3 * n * i);
		readings[i] = &reading[i];
	}
	m.n_counters = told;
	m.counters = counters;
	m.n_readings = s->readings.n;
	m.readings = readings;
	if (told)
		m.title = title;
	rc = gus_writer_message(writer, GUS_FRAME_TRAFFIC, &m.base, err);
	s->told = true;
	free(counter);
	free(counters);
	free(reading);
	free(readings);
	free(numbers);
	free(title);
	drop_readings(s);
	return rc;
}

static int look(void *context, struct gus_writer *writer, uint64_t time, bool last, struct gus_error *err)
{
	struct gus_record_memory *s = context;
	struct gus_memory_reading r = { .time = time };
	int rc = 0;

	if (!s->uncore.open || (!last && time - s->last < LEAST_NS))
		return 0;
	s->last = time;
	r.counts = gus_alloc((s->uncore.counters.n + 1) * sizeof(*r.counts));
	gus_uncore_read(&s->uncore, r.counts);
	gus_vec_push(&s->readings, r);
	if (last || s->readings.n >= READINGS)
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
	drop_readings(s);
	gus_vec_free(&s->readings);
	gus_uncore_free(&s->uncore);
}
