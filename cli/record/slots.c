/* SPDX-License-Identifier: MIT */
#include "cli/record/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/record/carry.h"
#include "collector/stat/attach.h"
#include "collector/target/target.h"
#include "proto/writer.h"

static int open_tally(void *context, pid_t child, struct gus_error *err)
{
	struct gus_record_slots *s = context;
	struct gus_attachment how;

	if (gus_stat_attach(&s->tally, &s->events, &s->target, child, &how, err) != 0)
		return -1;
	s->open = true;
	for (size_t i = 0; i < s->events.n; i++)
		if (s->tally.states[i] != GUS_TALLY_OPEN)
			return gus_fail_errno(err, s->tally.reasons[i], "cannot count %s for --topdown; gusprof doctor "
					      "says more", s->events.v[i].name);
	if (how.user_only)
		gus_log(s->log, GUS_NOTE, "slots are counted without the kernel, which this user may not watch");
	return 0;
}

/* A command switches its counters on itself, when it begins. */
static void start_tally(void *context, bool launched)
{
	if (!launched)
		gus_tally_enable(&((struct gus_record_slots *)context)->tally);
}

/* The strings of generated messages are not const, but nobody writes to them here. */
static char *borrow(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void describe(const struct gus_topdown_counted *c, Gusprof__SlotsKind *m, char **names)
{
	uint32_t *list = gus_alloc((c->table->events.n + 1) * sizeof(*list));

	gus_topdown_events(c->table, c->level, list);
	gusprof__slots_kind__init(m);
	m->table = c->table->name;
	m->title = c->table->title;
	m->pmu = c->table->pmu;
	m->level = c->level;
	m->smt = c->table->smt;
	m->watchdog = c->table->watchdog;
	m->slots_per_cycle = (uint32_t)c->table->pmu_slots;
	m->n_events = c->n;
	m->events = names;
	for (size_t i = 0; i < c->n; i++)
		names[i] = borrow(c->table->events.v[list[i]].name);
	free(list);
}

static int write_readings(struct gus_record_slots *s, struct gus_writer *writer, struct gus_error *err)
{
	size_t kinds_n = s->told ? 0 : s->counted.n, names_n = 0;
	Gusprof__SlotsKind *kind = gus_alloc((kinds_n + 1) * sizeof(*kind));
	Gusprof__SlotsKind **kinds = gus_alloc((kinds_n + 1) * sizeof(Gusprof__SlotsKind *));
	Gusprof__Slots m = GUSPROF__SLOTS__INIT;
	char **names;
	int rc;

	for (size_t i = 0; i < s->counted.n; i++)
		names_n += s->counted.v[i].n;
	names = gus_alloc((names_n + 1) * sizeof(char *));
	for (size_t i = 0; i < kinds_n; i++) {
		describe(&s->counted.v[i], &kind[i], names + s->counted.v[i].first);
		kinds[i] = &kind[i];
	}
	m.n_kinds = kinds_n;
	m.kinds = kinds;
	m.n_readings = s->readings.list.n;
	m.readings = s->readings.list.v;
	rc = gus_writer_message(writer, GUS_FRAME_SLOTS, &m.base, err);
	s->told = true;
	free(kind);
	free(kinds);
	free(names);
	gus_record_readings_drop(&s->readings);
	return rc;
}

static void take_reading(struct gus_record_slots *s, uint64_t time)
{
	struct gus_count *swap = s->before;

	gus_tally_read(&s->tally, s->now);
	for (size_t i = 0; i < s->events.n; i++)
		s->before[i] = gus_count_since(s->now[i], s->before[i]);
	gus_record_readings_add(&s->readings, time, s->before, s->events.n);
	s->before = s->now;
	s->now = swap;
}

static int look(void *context, struct gus_writer *writer, uint64_t time, bool last, struct gus_error *err)
{
	struct gus_record_slots *s = context;
	int rc = 0;

	if (!s->open || !gus_record_readings_due(&s->readings, time, last))
		return 0;
	take_reading(s, time);
	if (last || gus_record_readings_full(&s->readings))
		rc = write_readings(s, writer, err);
	if (last)
		s->told = false; /* another file says it again */
	return rc;
}

static int set_target(struct gus_record_slots *s, const struct gus_target *target, struct gus_error *err)
{
	static const enum gus_stat_kind kinds[] = {
		[GUS_TARGET_COMMAND] = GUS_STAT_COMMAND, [GUS_TARGET_PROCESSES] = GUS_STAT_PROCESSES,
		[GUS_TARGET_THREADS] = GUS_STAT_THREADS, [GUS_TARGET_SYSTEM] = GUS_STAT_CPUS,
	};

	if (target->kind == GUS_TARGET_CGROUP || (target->kind != GUS_TARGET_SYSTEM && target->cpus))
		return gus_fail(err, GUS_E_USAGE, "--topdown counts a command, processes, threads or CPUs, and no "
				"cgroup, nor tasks on some CPUs only");
	s->target.kind = kinds[target->kind];
	s->target.cpus = target->cpus;
	for (size_t i = 0; i < target->watches.n; i++)
		gus_vec_push(&s->target.ids, target->watches.v[i].id);
	return 0;
}

int gus_record_slots_init(struct gus_record_slots *s, unsigned level, const struct gus_target *target,
			  struct gus_pmus *pmus, const struct gus_log *log, struct gus_error *err)
{
	*s = (struct gus_record_slots){ .beside = { open_tally, start_tally, look, s, NULL }, .log = log };
	if (set_target(s, target, err) != 0 || gus_topdown_here(&s->tables, pmus, err) != 0 ||
	    gus_topdown_count(&s->counted, &s->tables, level, &s->events, pmus, err) != 0)
		return -1;
	if (!s->counted.n)
		return gus_topdown_refuse(&s->tables, err);
	s->now = gus_zalloc(s->events.n * sizeof(*s->now));
	s->before = gus_zalloc(s->events.n * sizeof(*s->before));
	return 0;
}

static int open_nothing(void *context, pid_t child, struct gus_error *err)
{
	(void)context;
	(void)child;
	(void)err;
	return 0;
}

static void start_nothing(void *context, bool launched)
{
	(void)context;
	(void)launched;
}

/* Once a file. */
static int tell_tables(void *context, struct gus_writer *writer, uint64_t time, bool last, struct gus_error *err)
{
	struct gus_record_slots *s = context;
	int rc = s->told ? 0 : write_readings(s, writer, err);

	(void)time;
	s->told &= !last;
	return rc;
}

int gus_record_slots_carry(struct gus_record_slots *s, struct gus_events *events, const struct gus_target *target,
			   struct gus_pmus *pmus, struct gus_choice *choice, const struct gus_log *log,
			   struct gus_error *err)
{
	bool inherit = target->kind == GUS_TARGET_COMMAND || target->kind == GUS_TARGET_PROCESSES;

	*s = (struct gus_record_slots){ .beside = { open_nothing, start_nothing, tell_tables, s, NULL }, .log = log };
	if (gus_topdown_here(&s->tables, pmus, err) != 0)
		return -1;
	return gus_record_carry(events, &s->counted, &s->tables, inherit, pmus, choice, err);
}

void gus_record_slots_free(struct gus_record_slots *s)
{
	if (s->open)
		gus_tally_close(&s->tally);
	gus_record_readings_free(&s->readings);
	free(s->now);
	free(s->before);
	gus_events_free(&s->events);
	gus_vec_free(&s->counted);
	gus_topdown_tables_free(&s->tables);
	gus_vec_free(&s->target.ids);
}
