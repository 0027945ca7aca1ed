/* SPDX-License-Identifier: MIT */
#include "cli/report/head.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/common/print.h"
#include "cli/common/recording.h"
#include "cli/common/wording.h"
#include "cli/screen/cells.h"
#include "cli/screen/screen.h"
#include "cli/screen/shorten.h"

#define NAMED 4 /* of several processes, how many are named */

/* Who was watched. */

static void add_command(struct gus_wording *t, const Gusprof__Header *h)
{
	for (size_t i = 0; i < h->n_command; i++)
		gus_wording_add(t, "%s%s", i ? " " : "", h->command[i]);
}

/* What a process was called in the end: whoever attached to a number wants to see what it was. */
static void add_tasks(struct gus_wording *t, const struct gus_profile *p, const char *one, const char *many,
		      bool threads)
{
	const Gusprof__Header *h = p->header;

	gus_wording_add(t, "%s ", h->n_targets == 1 ? one : many);
	for (size_t i = 0; i < h->n_targets && i < NAMED; i++) {
		uint32_t id = h->targets[i], pid = id;
		const char *name;

		for (size_t k = 0; threads && k < p->threads.n; k++)
			if (p->threads.v[k].tid == id)
				pid = p->threads.v[k].pid;
		name = gus_space_comm(p->space, pid, id, UINT64_MAX);
		gus_wording_add(t, "%s%" PRIu32, i ? ", " : "", id);
		if (*name)
			gus_wording_add(t, " (%s)", name);
	}
	if (h->n_targets > NAMED)
		gus_wording_add(t, " and %zu more", h->n_targets - NAMED);
}

char *gus_head_target(const struct gus_profile *p)
{
	const Gusprof__Header *h = p->header;
	struct gus_wording t = { 0 };

	if (strcmp(h->target, "process") == 0)
		add_tasks(&t, p, "process", "processes", false);
	else if (strcmp(h->target, "thread") == 0)
		add_tasks(&t, p, "thread", "threads", true);
	else if (strcmp(h->target, "cgroup") == 0)
		gus_wording_add(&t, "cgroup %s", h->cgroup);
	else if (strcmp(h->target, "system") == 0)
		gus_wording_add(&t, "%s", *h->cpus ? "all" : "all CPUs");
	else
		add_command(&t, h);
	if (*h->cpus)
		gus_wording_add(&t, " on CPUs %s", h->cpus);
	return gus_wording_done(&t);
}

static bool is_command(const Gusprof__Header *h)
{
	return !*h->target || strcmp(h->target, "command") == 0;
}

/* The short form. */

static const char *event_of(const struct gus_profile *p)
{
	if (p->event == GUS_EVENT_ANY)
		return "all events";
	return p->event < p->header->n_events ? p->header->events[p->event]->name : "an event that is not known";
}

/* Parts in a million as a percentage; what is more than all is only said to be so. */
static void share_text(uint64_t ppm, char out[48])
{
	if (ppm > 1000000)
		snprintf(out, 48, "more than the target itself took");
	else
		gus_fixed_format(out, 40, (double)ppm / 1e4, 2);
	if (ppm <= 1000000)
		strcat(out, " %");
}

static void add_duration(struct gus_wording *t, const char *before, uint64_t ns, const char *behind)
{
	char time[48];

	gus_time_format(time, sizeof(time), ns);
	gus_wording_add(t, "%s%s%s", before, time, behind);
}

/* What threads did with their time. */
static void add_time(struct gus_wording *t, const struct gus_wall_sums *w)
{
	gus_wording_add(t, "%" PRIu64 " thread%s", w->threads, w->threads == 1 ? "" : "s");
	add_duration(t, ", ", w->all.wall, " of wall time: ");
	add_duration(t, "", w->all.on, " on a CPU, ");
	add_duration(t, "", gus_life_off(&w->all), " off it (");
	add_duration(t, "", w->all.blocked, " blocked, ");
	add_duration(t, "", w->all.waiting, " waiting for a CPU)");
	if (w->all.unknown)
		add_duration(t, ", ", w->all.unknown, " not known");
}

/* Of the event's samples, if it shared a counter with others: they are those of a part of the time. */
static void add_turns(struct gus_wording *t, const struct gus_profile *p)
{
	const Gusprof__Footer *f = p->footer;

	if (p->event >= p->header->n_events || !p->header->events[p->event]->turns)
		return;
	if (f && p->event < f->n_events && f->events[p->event]->on_ns)
		add_duration(t, ", of which it was on for ", f->events[p->event]->on_ns, ", in turns with others");
	else
		gus_wording_add(t, ", of which it was on for a part, in turns with others");
}

static void add_totals(struct gus_wording *t, const struct gus_report *r)
{
	const struct gus_profile *p = r->profile;
	const Gusprof__Overhead *o = p->footer ? p->footer->overhead : NULL;
	char time[48], length[48], cost[48];

	gus_time_format(length, sizeof(length), r->length_ns);
	if (p->weighs != GUS_WEIGHS_EVENTS) {
		add_time(t, &p->wall);
		gus_wording_add(t, ", in %s", length);
		return;
	}
	gus_wording_add(t, "%" PRIu64 " sample%s of %s", p->samples, p->samples == 1 ? "" : "s", event_of(p));
	if (r->units.time.known) {
		gus_time_format(time, sizeof(time), gus_scale_apply(&r->units.time, p->weight));
		gus_wording_add(t, ", %s of CPU time", time);
	}
	gus_wording_add(t, " in %s", length);
	add_turns(t, p);
	if (o) {
		share_text(o->got_ppm, cost);
		gus_wording_add(t, "; cost %s", cost);
	}
}

char *gus_head_totals(const struct gus_report *r)
{
	struct gus_wording t = { 0 };

	add_totals(&t, r);
	return gus_wording_done(&t);
}

/* A line that is cut where the screen ends. */
static void print_line(const struct gus_report *r, struct gus_wording *t)
{
	const struct gus_screen *s = r->screen;
	char *text = gus_wording_done(t);
	char *shown = s->width && !s->full_names ? gus_shorten(text, GUS_SHORTEN_END, s->width - 2, s->dots) :
		gus_strdup(text);

	gus_print("# %s\n", shown);
	free(shown);
	gus_vec_free(t);
}

static void print_short(const struct gus_report *r)
{
	const Gusprof__Host *host = r->profile->header->host;
	struct gus_wording totals = { 0 }, target = { 0 };
	char *who = gus_head_target(r->profile);

	add_totals(&totals, r);
	/* Sums of time are what such a report is about: none of them is cut off. */
	if (r->profile->weighs == GUS_WEIGHS_EVENTS)
		print_line(r, &totals);
	else
		gus_screen_fold(r->screen, stdout, "# ", "#   ", gus_wording_done(&totals));
	if (host && *host->hostname)
		gus_wording_add(&target, "%s: ", host->hostname);
	gus_wording_add(&target, "%s", who);
	if (target.n)
		print_line(r, &target);
	gus_vec_free(&totals);
	gus_vec_free(&target);
	free(who);
}

/* The long form: a line, folded, for each thing that is known. */

static void print_fact(const struct gus_report *r, const char *what, struct gus_wording *t)
{
	char *first = gus_format("# %-10s", what), *text = gus_wording_done(t);

	if (*text)
		gus_screen_fold(r->screen, stdout, first, "#             ", text);
	free(first);
	gus_vec_free(t);
	*t = (struct gus_wording){ 0 };
}

static void print_host(const struct gus_report *r)
{
	const Gusprof__Header *h = r->profile->header;
	const Gusprof__Clock *c = h->clock;
	time_t at = c ? (time_t)(c->start_realtime_ns / 1000000000) : 0;
	char when[64], length[48];
	struct gus_wording t = { 0 };
	struct tm tm;

	if (h->host) {
		gus_wording_add(&t, "%s, %s, kernel %s", h->host->hostname, h->host->machine, h->host->kernel);
		if (*h->host->cpu_model)
			gus_wording_add(&t, ", %s", h->host->cpu_model);
		if (h->host->cpus_online)
			gus_wording_add(&t, ", %" PRIu32 " CPU%s", h->host->cpus_online,
					h->host->cpus_online == 1 ? "" : "s");
		print_fact(r, "host:", &t);
	}
	gus_time_format(length, sizeof(length), r->length_ns);
	at = at && gmtime_r(&at, &tm) && strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm) ? at : 0;
	if (at)
		gus_wording_add(&t, "%s, for ", when);
	gus_wording_add(&t, "%s", length);
	print_fact(r, at ? "date:" : "length:", &t);
}

static void print_event(const struct gus_report *r)
{
	const struct gus_profile *p = r->profile;
	const Gusprof__Header *h = p->header;
	char time[48], factor[48];
	struct gus_wording t = { 0 };

	gus_wording_add(&t, "%s", event_of(p));
	if (*h->tier)
		gus_wording_add(&t, ", tier %s", h->tier);
	print_fact(r, "event:", &t);
	gus_wording_add(&t, "%s", h->choice);
	print_fact(r, "choice:", &t);
	if (p->weighs != GUS_WEIGHS_EVENTS) {
		add_time(&t, &p->wall);
		print_fact(r, "time:", &t);
		return;
	}
	gus_wording_add(&t, "%" PRIu64, p->samples);
	if (r->units.time.known) {
		gus_time_format(time, sizeof(time), gus_scale_apply(&r->units.time, p->weight));
		gus_wording_add(&t, " for %s of CPU time (%s)", time, gus_evidence_name(r->units.time.evidence));
	}
	print_fact(r, "samples:", &t);
	if (!r->units.cycles.known)
		return;
	gus_fixed_format(factor, sizeof(factor), r->units.cycles.factor, 3);
	gus_wording_add(&t, "%" PRIu64 " (%s", gus_scale_apply(&r->units.cycles, p->weight),
	    gus_evidence_name(r->units.cycles.evidence));
	if (r->units.cycles.evidence == GUS_INFERRED)
		gus_wording_add(&t, " at %s GHz, timed before and after the run", factor);
	gus_wording_add(&t, ")");
	print_fact(r, "cycles:", &t);
}

/* What recording took while it ran, and apart from it what its beginning and end took, which does not grow with it. */
static void print_cost(const struct gus_report *r)
{
	const struct gus_profile *p = r->profile;
	const Gusprof__Overhead *o = p->footer ? p->footer->overhead : NULL;
	double percent = gus_overhead_percent(p);
	char got[48], asked[48], parts[3][48], around[48];
	struct gus_wording t = { 0 };

	if (!o) {
		if (percent >= 0) {
			share_text((uint64_t)(percent * 1e4), got);
			gus_wording_add(&t, "about %s of the CPU time, beginning and end included", got);
		}
		print_fact(r, "cost:", &t);
		return;
	}
	share_text(o->got_ppm, got);
	share_text(o->samples_ppm, parts[0]);
	share_text(o->following_ppm, parts[1]);
	share_text(o->recorder_ppm, parts[2]);
	gus_wording_add(&t, "%s of the CPU time while it ran", got);
	if (p->header->overhead_ppm) {
		share_text(p->header->overhead_ppm, asked);
		gus_wording_add(&t, ", asked %s, at %" PRIu64 " and in the end %" PRIu64 " samples a second", asked,
				o->hz_first, o->hz_last);
	}
	gus_time_format(around, sizeof(around), o->around_ns);
	gus_wording_add(&t, ": samples %s, following tasks %s, recorder %s; its beginning and end took %s more",
			parts[0], parts[1], parts[2], around);
	print_fact(r, "cost:", &t);
}

static void print_long(const struct gus_report *r)
{
	const Gusprof__Header *h = r->profile->header;
	struct gus_wording t = { 0 };
	char *who = gus_head_target(r->profile);

	gus_wording_add(&t, "%s, by %s", gus_recording_name(r->path), h->producer);
	print_fact(r, "file:", &t);
	gus_wording_add(&t, "%s", who);
	print_fact(r, is_command(h) ? "command:" : "target:", &t);
	if (!is_command(h) && h->n_command) {
		gus_wording_add(&t, "for as long as '");
		add_command(&t, h);
		gus_wording_add(&t, "' ran");
		print_fact(r, "duration:", &t);
	}
	print_host(r);
	print_event(r);
	print_cost(r);
	free(who);
}

/* Which others of its events have samples, of which none is in what is shown. How many there are is told in the end:
 * without it nothing is said. */
static void print_others(const struct gus_report *r)
{
	const struct gus_profile *p = r->profile;
	size_t known = p->footer ? p->footer->n_events : 0, others = 0;
	struct gus_wording names = { 0 }, t = { 0 };

	for (uint32_t i = 0; i < known && i < p->header->n_events && p->event != GUS_EVENT_ANY; i++) {
		uint64_t samples = p->footer->events[i]->samples;

		if (i == p->event || !samples)
			continue;
		if (others++ < NAMED)
			gus_wording_add(&names, "%s%s (%" PRIu64 ")", others > 1 ? ", " : "",
					p->header->events[i]->name, samples);
	}
	if (others > NAMED)
		gus_wording_add(&names, " and %zu more", others - NAMED);
	if (others) {
		gus_wording_add(&t, "not shown: the samples of %zu other event%s: %s; --event NAME shows those", others,
		    others == 1 ? "" : "s", gus_wording_done(&names));
		gus_screen_fold(r->screen, stdout, "# ", "#   ", gus_wording_done(&t));
	}
	gus_vec_free(&names);
	gus_vec_free(&t);
}

void gus_head_print(const struct gus_report *r)
{
	if (r->header)
		print_long(r);
	else
		print_short(r);
	if (r->profile->weighs == GUS_WEIGHS_EVENTS)
		print_others(r);
}
