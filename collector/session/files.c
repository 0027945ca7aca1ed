/* SPDX-License-Identifier: MIT */
/* The files of a recording: how each begins, what stands in its footer, and how parts are named. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/output_file.h"
#include "collector/host/frequency.h"
#include "collector/session/header.h"
#include "collector/session/private.h"

int gus_session_create_file(struct session *s, uint64_t start_ns)
{
	struct gus_header header = {
		.options = s->o, .counters = &s->counters, .frequency = &s->before, .child = launches(s) ?
			s->child.pid : 0,
		.part = s->part,
	};

	s->start_ns = start_ns;
	s->writer = gus_header_create(&header, start_ns, s->err);
	return s->writer ? 0 : -1;
}

static const char *const end_names[] = {
	[GUS_ENDED_EXIT] = "exit", [GUS_ENDED_INTERRUPT] = "interrupt", [GUS_ENDED_MAX_SIZE] = "max-size",
	[GUS_ENDED_ERROR] = "error", [GUS_ENDED_TARGET] = "target", [GUS_ENDED_CONTROL] = "control",
	[GUS_ENDED_PART] = "part",
};

static uint64_t ppm(double share)
{
	return share > 0 ? (uint64_t)(share * 1e6 + 0.5) : 0;
}

static void describe_overhead(struct session *s, Gusprof__Overhead *m)
{
	struct gus_session_result *r = s->result;
	struct gus_usage u = gus_session_usage(s);

	r->target_ns = s->o->costs.sample_ns ? u.target_ns : 0;
	r->spent = gus_governor_spending(&s->o->costs, &u);
	r->switches = u.switches;
	r->switches_spent = gus_governor_switches_spent(&s->o->costs, &u);
	r->hz = s->o->overhead > 0 ? s->governor.hz : 0;
	r->hz_changes = s->governor.changes;
	r->around_ns = gus_session_own_ns(s) - s->trace.own_ns - (u.recorder_ns - gus_session_paused_beyond(s));
	gusprof__overhead__init(m);
	m->samples_ppm = ppm(r->spent.samples);
	m->following_ppm = ppm(r->spent.following);
	m->recorder_ppm = ppm(r->spent.recorder);
	m->got_ppm = m->samples_ppm + m->following_ppm + m->recorder_ppm;
	m->target_ns = u.target_ns;
	m->hz_first = s->governor.first_hz;
	m->hz_last = r->hz;
	m->changes = r->hz_changes;
	m->around_ns = r->around_ns;
}

static int write_footer(struct session *s, enum gus_session_end ended_by)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__EventTotal **pointers = gus_alloc(s->o->events->n * sizeof(*pointers));
	struct gus_writer *writer = s->writer;
	Gusprof__Frequency after;
	Gusprof__Overhead overhead;
	int rc;

	for (size_t i = 0; i < s->o->events->n; i++)
		pointers[i] = &s->lanes.totals[i];
	gus_frequency_measure(&after);
	describe_overhead(s, &overhead);
	footer.end_ns = s->ended_ns ? s->ended_ns : gus_counters_now(&s->counters);
	if (s->counters.plan.features & GUS_ATTR_SWITCH) {
		footer.watched_from_ns = s->watched_from > s->start_ns ? s->watched_from : s->start_ns;
		footer.watched_until_ns = s->watched_until ? s->watched_until : s->next_start;
	}
	footer.events = pointers;
	footer.n_events = s->o->events->n;
	footer.exit_status = (uint32_t)s->result->exit_status;
	footer.exit_signal = (uint32_t)s->result->exit_signal;
	footer.ended_by = (char *)(uintptr_t)end_names[ended_by];
	footer.frequency = &after;
	footer.recorder_cpu_ns = gus_session_own_ns(s);
	footer.overhead = s->result->target_ns ? &overhead : NULL;
	s->parts_bytes += gus_writer_size(writer);
	for (size_t i = 0; i < s->o->events->n; i++)
		s->result->samples += s->lanes.totals[i].samples;
	for (size_t i = 0; i < s->o->events->n; i++)
		s->result->lost += s->lanes.totals[i].lost;
	s->result->counted += s->lanes.totals[0].count;
	s->result->missed += s->lanes.totals[0].missed;
	s->result->period = gus_lanes_period(&s->lanes, 0);
	s->writer = NULL;
	rc = gus_writer_finish(writer, &footer, s->err);
	free(pointers);
	return rc;
}

/* perf's names: the time at which the part ended, to a hundredth of a second; later if there is one already. */
static int name_part(struct session *s)
{
	uint64_t now = gus_clock_ns(CLOCK_REALTIME);
	struct gus_output_place place;
	struct stat st;
	char *name = NULL;
	int rc;

	if (gus_output_find(&place, s->o->output, "cannot name the part", s->err) != 0)
		return -1;
	do {
		time_t seconds = (time_t)(now / 1000000000);
		struct tm t;
		char stamp[32];

		localtime_r(&seconds, &t);
		strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &t);
		free(name);
		name = gus_format("%s.%s%02u", place.name, stamp, (unsigned)(now % 1000000000 / 10000000));
		now += 10000000;
	} while (fstatat(place.folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	rc = renameat(place.folder, place.name, place.folder, name);
	if (rc != 0)
		gus_fail_errno(s->err, errno, "cannot name the part %s", name);
	else
		gus_log(s->o->log, GUS_NOTE, "part %u is %s%s", s->part, s->o->output, name + strlen(place.name));
	gus_output_close(&place);
	free(name);
	return rc;
}

/* What was sampled gets its names now: where the programs are tomorrow, nobody knows. */
static int write_names(struct session *s, enum gus_session_end ended_by)
{
	const struct gus_session_namer *namer = s->o->namer;
	uint64_t records_now = gus_counters_now(&s->counters), now = gus_clock_ns(CLOCK_MONOTONIC);
	const struct gus_session_seen seen = { .visits = &s->visits, .kept = &s->kept, .made = &s->made,
					       .clock = records_now ? (int64_t)(records_now - now) : 0,
					       .last = ended_by != GUS_ENDED_PART };
	int rc;

	if (!namer)
		return 0;
	gus_made_look(&s->made, now, records_now, true);
	rc = namer->name(namer->context, s->writer, &seen, s->err);
	gus_visits_free(&s->visits);
	gus_visits_init(&s->visits);
	return rc;
}

int gus_session_look_beside(struct session *s, bool last)
{
	for (const struct gus_session_beside *b = s->o->beside; b; b = b->next)
		if (b->look(b->context, s->writer, gus_counters_now(&s->counters), last, s->err) != 0)
			return -1;
	return 0;
}

int gus_session_end_file(struct session *s, enum gus_session_end ended_by)
{
	if (gus_session_look_beside(s, true) != 0)
		return -1;
	if (gus_lanes_end_file(&s->lanes, s->writer, s->err) != 0 || write_names(s, ended_by) != 0 ||
	    write_footer(s, ended_by) != 0)
		return -1;
	return s->part ? name_part(s) : 0;
}

int gus_session_describe_living(struct session *s)
{
	struct gus_sideband sideband = { 0 };
	Gusprof__Sideband message;
	uint64_t now = gus_counters_now(&s->counters), boot = gus_clock_ns(CLOCK_BOOTTIME);
	int rc;

	gus_living_describe(&s->living, s->start_ns, boot - (now - s->start_ns), now, &sideband);
	if (s->living.left_out)
		gus_log(s->o->log, GUS_WARN, "the processes have more mappings of code than gusprof keeps: %llu are "
			"left out, and samples in them have no module", (unsigned long long)s->living.left_out);
	s->living.left_out = 0;
	for (size_t i = 0; s->o->namer && i < sideband.records.n; i++)
		s->o->namer->told(s->o->namer->context, sideband.records.v[i]);
	for (size_t i = 0; s->part <= 1 && i < sideband.records.n; i++) { /* later files tell again what is known */
		if (sideband.records.v[i]->kind_case == GUSPROF__RECORD__KIND_MMAP)
			gus_made_note(&s->made, sideband.records.v[i]);
		if (s->o->unwinder)
			s->o->unwinder->told(s->o->unwinder->context, sideband.records.v[i]);
	}
	gus_made_settle(&s->made);
	message = gus_sideband_message(&sideband);
	rc = gus_writer_sideband(s->writer, &message, s->err);
	gus_sideband_free(&sideband);
	return rc;
}

void gus_session_next_part(struct session *s)
{
	uint64_t start_ns = gus_counters_now(&s->counters);
	int rc = gus_session_drain(s);

	s->next_start = start_ns;
	if (rc == 0)
		rc = gus_session_drain(s); /* samples of CPUs wait for the second one */
	if (s->o->overwrite)
		gus_lanes_snapshot(&s->lanes, s->now);
	if (rc != 0 || gus_session_end_file(s, GUS_ENDED_PART) != 0) {
		gus_session_fail_writing(s);
		return;
	}
	s->part++;
	gus_lanes_begin_file(&s->lanes);
	if (gus_session_create_file(s, start_ns) != 0 || gus_session_describe_living(s) != 0)
		gus_session_fail_writing(s);
	s->next_part = s->o->switch_output == GUS_SWITCH_TIME ? s->now + s->o->switch_at : UINT64_MAX;
}
