/* SPDX-License-Identifier: MIT */
/* The report as JSON, schema gusprof.report/1 (DESIGN.md section 8). Keys come in a fixed order; what is not known is
 * null. Text that is not UTF-8 has the offending bytes replaced, as JSON can hold nothing else. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/profile/touch.h"
#include "cli/bandwidth/bandwidth.h"
#include "cli/common/json.h"
#include "cli/report/by.h"
#include "cli/report/head.h"
#include "cli/report/render.h"
#include "cli/report/tree_json.h"
#include "cli/report/trees.h"
#include "model/tables/cpus.h"
#include "cli/slots/slots.h"

static void add_notice(const char *text, void *context)
{
	json_array_append_new(context, gus_json_text(text));
}

static json_t *frequency(const struct gus_report *r)
{
	const struct gus_scale *cycles = &r->units.cycles;

	if (!cycles->known || cycles->evidence != GUS_INFERRED)
		return json_null();
	return gus_json_pair(cycles->low * 1e6, cycles->high * 1e6);
}

static json_t *command(const Gusprof__Header *header)
{
	json_t *list = json_array();

	for (size_t i = 0; i < header->n_command; i++) {
		json_t *word = gus_json_text(header->command[i]);

		json_array_append_new(list, json_is_null(word) ? json_string("") : word);
	}
	return list;
}

/* The name of the table for the CPU that was recorded on, NULL if there is none. */
static const char *uarch_of(const Gusprof__Host *host)
{
	struct gus_cpu_id id;

	if (!host)
		return NULL;
	id = (struct gus_cpu_id){ host->cpu_vendor, host->cpu_family, host->cpu_model_number, host->cpu_stepping,
				  host->midr };
	return gus_uarch_of_cpu(&id);
}

/* More than all of it says only that the target was too short to tell. */
static json_t *cost_share(double percent)
{
	return percent >= 0 && percent <= 100 ? json_real(percent) : json_null();
}

/* What recording was to cost and what it did cost while it ran; null where the recording does not say. */
static json_t *cost(const struct gus_profile *p)
{
	const Gusprof__Overhead *m = p->footer ? p->footer->overhead : NULL;
	uint64_t asked = p->header->overhead_ppm;
	json_t *o;

	if (!m)
		return json_null();
	o = json_object();
	json_object_set_new(o, "asked_pct", asked ? json_real((double)asked / 1e4) : json_null());
	json_object_set_new(o, "got_pct", cost_share((double)m->got_ppm / 1e4));
	json_object_set_new(o, "samples_pct", cost_share((double)m->samples_ppm / 1e4));
	json_object_set_new(o, "following_pct", cost_share((double)m->following_ppm / 1e4));
	json_object_set_new(o, "recorder_pct", cost_share((double)m->recorder_ppm / 1e4));
	json_object_set_new(o, "around_ns", json_integer((json_int_t)m->around_ns));
	json_object_set_new(o, "target_ns", json_integer((json_int_t)m->target_ns));
	json_object_set_new(o, "hz_first", gus_json_number(asked != 0, m->hz_first));
	json_object_set_new(o, "hz_last", gus_json_number(asked != 0, m->hz_last));
	json_object_set_new(o, "changes", json_integer((json_int_t)m->changes));
	return o;
}

/* What became of the stacks; null if nobody looked: without -g, and where the kernel followed frame pointers. */
static json_t *callers(const struct gus_endings *e)
{
	json_t *o;

	if (!e->samples)
		return json_null();
	o = json_object();
	json_object_set_new(o, "samples", json_integer((json_int_t)e->samples));
	for (size_t i = 0; i <= GUS_CALLERS_END; i++)
		if (gus_report_ending(i))
			json_object_set_new(o, gus_report_ending(i), json_integer((json_int_t)e->by_end[i]));
	json_object_set_new(o, "remembered", json_integer((json_int_t)e->remembered));
	return o;
}

/* Who was watched: what kind of thing, and of processes and threads their numbers and what they were called. */
static json_t *target(const struct gus_profile *p)
{
	const Gusprof__Header *h = p->header;
	json_t *o = json_object(), *list = json_array();
	char *text = gus_head_target(p);

	for (size_t i = 0; i < h->n_targets; i++)
		json_array_append_new(list, json_integer(h->targets[i]));
	json_object_set_new(o, "kind", gus_json_word(*h->target ? h->target : "command"));
	json_object_set_new(o, "ids", list);
	json_object_set_new(o, "text", gus_json_text(text));
	free(text);
	return o;
}

/* All of them, also those that are not shown; how many samples each has is told in the recording's end. */
static json_t *events_of(const struct gus_profile *p)
{
	const Gusprof__Footer *f = p->footer;
	json_t *list = json_array();

	for (size_t i = 0; i < p->header->n_events; i++) {
		json_t *o = json_object();
		const Gusprof__Event *e = p->header->events[i];
		bool known = f && i < f->n_events, turns = known && e->turns && f->events[i]->on_ns;

		json_object_set_new(o, "name", gus_json_text(e->name));
		json_object_set_new(o, "samples", gus_json_number(known, known ? f->events[i]->samples : 0));
		if (e->turns)
			json_object_set_new(o, "on_ns", gus_json_number(turns, turns ? f->events[i]->on_ns : 0));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *gus_json_recording(const struct gus_report *r)
{
	const struct gus_profile *p = r->profile;
	const Gusprof__Header *h = p->header;
	const Gusprof__Event *e = p->event < h->n_events ? h->events[p->event] : NULL;
	const Gusprof__EventTotal *t = gus_profile_total(p);
	json_t *o = json_object(), *notices = json_array();

	gus_report_notices(r, add_notice, notices);
	json_object_set_new(o, "file", gus_json_text(r->path));
	json_object_set_new(o, "host", gus_json_text(h->host ? h->host->hostname : NULL));
	json_object_set_new(o, "cpu", gus_json_text(h->host ? h->host->cpu_model : NULL));
	json_object_set_new(o, "uarch", gus_json_text(uarch_of(h->host)));
	json_object_set_new(o, "tier", gus_json_text(h->tier));
	json_object_set_new(o, "event", gus_json_text(e ? e->name : NULL));
	json_object_set_new(o, "unit", gus_json_text(e ? e->unit : NULL));
	json_object_set_new(o, "samples", json_integer((json_int_t)p->samples));
	json_object_set_new(o, "counted", gus_json_number(t != NULL, t ? t->count : 0));
	json_object_set_new(o, "unsampled", gus_json_number(t != NULL, p->unsampled));
	json_object_set_new(o, "filtered", json_integer((json_int_t)p->filtered));
	json_object_set_new(o, "lost", json_integer((json_int_t)p->lost));
	json_object_set_new(o, "throttled", json_integer((json_int_t)p->throttled));
	json_object_set_new(o, "time_ns", json_integer((json_int_t)r->length_ns));
	json_object_set_new(o, "overhead_pct", cost_share(gus_overhead_percent(p)));
	json_object_set_new(o, "cost", cost(p));
	json_object_set_new(o, "truncated", json_boolean(p->damage.cut));
	json_object_set_new(o, "corrupt", json_integer((json_int_t)p->damage.corrupt));
	json_object_set_new(o, "missing_frames", json_integer((json_int_t)p->damage.missing_frames));
	json_object_set_new(o, "missing_samples", json_integer((json_int_t)p->missing));
	json_object_set_new(o, "frequency_khz", frequency(r));
	json_object_set_new(o, "command", command(h));
	json_object_set_new(o, "target", target(p));
	json_object_set_new(o, "exit_status",
			    gus_json_number(p->footer != NULL, p->footer ? p->footer->exit_status : 0));
	json_object_set_new(o, "exit_signal",
			    gus_json_number(p->footer != NULL, p->footer ? p->footer->exit_signal : 0));
	json_object_set_new(o, "callers", callers(&p->endings));
	json_object_set_new(o, "events", events_of(p));
	json_object_set_new(o, "notices", notices);
	json_object_set_new(o, "slots", gus_slots_recorded_json(p->slots));
	json_object_set_new(o, "memory_traffic", gus_bandwidth_recorded_json(p->traffic));
	return o;
}

json_t *gus_json_total(const struct gus_report *r)
{
	const struct gus_units *u = &r->units;
	uint64_t weight = r->profile->weight;
	json_t *o = json_object();

	json_object_set_new(o, "time_ns", gus_json_number(u->time.known, gus_scale_apply(&u->time, weight)));
	json_object_set_new(o, "time_evidence", gus_json_word(gus_evidence_name(u->time.evidence)));
	json_object_set_new(o, "cycles", gus_json_number(u->cycles.known, gus_scale_apply(&u->cycles, weight)));
	json_object_set_new(o, "cycles_evidence", gus_json_word(gus_evidence_name(u->cycles.evidence)));
	json_object_set_new(o, "weight", json_integer((json_int_t)weight));
	json_object_set_new(o, "samples", json_integer((json_int_t)r->profile->samples));
	return o;
}

/* The row's stack in cycles: its parts add up to the row's. Empty where there are no cycles. */
static void set_stack(json_t *o, const struct gus_report *r, const struct gus_stack *s, uint64_t before)
{
	json_t *stack = json_object(), *evidence = json_object();

	for (size_t i = 0; i < s->n && r->units.cycles.known; i++) {
		uint64_t cycles = gus_scale_part(&r->units.cycles, &before, s->v[i].weight);
		char key[GUS_COMPONENT_KEY_MAX];

		gus_component_key(s->v[i].what, key);
		json_object_set_new(stack, key, json_integer((json_int_t)cycles));
		json_object_set_new(evidence, key, gus_json_word(gus_evidence_name(s->v[i].evidence)));
	}
	json_object_set_new(o, "stack", stack);
	json_object_set_new(o, "evidence", evidence);
}

/* The row's callers, or what it calls: the other end's function and the weight of the calls. */
static json_t *edges(const struct gus_report *r, uint32_t row, bool callers)
{
	json_t *list = json_array();
	size_t n;
	const struct gus_edge *e = callers ? gus_view_callers(r->view, row, &n) : gus_view_callees(r->view, row, &n);

	for (size_t i = 0; i < n; i++) {
		const struct gus_row *other = &r->view->rows.v[callers ? e[i].from : e[i].to];
		json_t *o = json_object();

		json_object_set_new(o, "module",
				    gus_json_text(gus_space_module(r->profile->space, other->module)->path));
		json_object_set_new(o, "function", gus_json_text(other->function));
		json_object_set_new(o, "weight", json_integer((json_int_t)e[i].weight));
		json_array_append_new(list, o);
	}
	return list;
}

/* What a thread, or all, did with its time: the first is the sum of the next four. */
static json_t *life(const struct gus_life *life)
{
	json_t *o = json_object();

	json_object_set_new(o, "wall_ns", json_integer((json_int_t)life->wall));
	json_object_set_new(o, "on_ns", json_integer((json_int_t)life->on));
	json_object_set_new(o, "blocked_ns", json_integer((json_int_t)life->blocked));
	json_object_set_new(o, "waiting_ns", json_integer((json_int_t)life->waiting));
	json_object_set_new(o, "unknown_ns", json_integer((json_int_t)life->unknown));
	json_object_set_new(o, "switches", json_integer((json_int_t)life->switches));
	json_object_set_new(o, "preempted", json_integer((json_int_t)life->preempted));
	return o;
}

static void set_task(json_t *o, const struct gus_report *r, const struct gus_row *row)
{
	const struct gus_thread *t = &r->profile->threads.v[row->thread];

	if (r->view->by & (GUS_BY_THREAD | GUS_BY_PROCESS))
		json_object_set_new(o, "pid", json_integer((int32_t)row->pid));
	if (r->view->by & GUS_BY_THREAD)
		json_object_set_new(o, "tid", json_integer((int32_t)row->tid));
	json_object_set_new(o, "comm", gus_json_text(row->comm));
	if (!(r->view->by & GUS_BY_THREAD))
		return;
	json_object_set_new(o, "switches", json_integer((json_int_t)t->switches));
	json_object_set_new(o, "on_cpu_ns", json_integer((json_int_t)t->on_cpu_ns));
	json_object_set_new(o, "life", r->profile->weighs == GUS_WEIGHS_EVENTS ? json_null() : life(&t->life));
}

/* What of a row was off the CPU; null of a profile of events. */
static json_t *off(const struct gus_report *r, const struct gus_off *off)
{
	json_t *o;

	if (r->profile->weighs == GUS_WEIGHS_EVENTS)
		return json_null();
	o = json_object();
	json_object_set_new(o, "ns", json_integer((json_int_t)off->ns));
	json_object_set_new(o, "waiting_ns", json_integer((json_int_t)off->waiting));
	json_object_set_new(o, "inferred_ns", json_integer((json_int_t)off->inferred));
	json_object_set_new(o, "longest_ns", json_integer((json_int_t)off->longest));
	json_object_set_new(o, "times", json_integer((json_int_t)off->times));
	return o;
}

static json_t *wall(const struct gus_report *r)
{
	const struct gus_wall_sums *w = &r->profile->wall;
	json_t *o;

	if (r->profile->weighs == GUS_WEIGHS_EVENTS)
		return json_null();
	o = life(&w->all);
	json_object_set_new(o, "threads", json_integer((json_int_t)w->threads));
	json_object_set_new(o, "asleep", json_integer((json_int_t)w->asleep));
	json_object_set_new(o, "asleep_ns", json_integer((json_int_t)w->asleep_ns));
	json_object_set_new(o, "before_ns", json_integer((json_int_t)w->before_ns));
	json_object_set_new(o, "born_ns", json_integer((json_int_t)w->born_ns));
	json_object_set_new(o, "nowhere_ns", json_integer((json_int_t)w->nowhere_ns));
	json_object_set_new(o, "inferred_ns", json_integer((json_int_t)w->inferred_ns));
	return o;
}

static json_t *address(uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, number);
	return gus_json_word(text);
}

static void set_quantile(json_t *o, const char *name, const struct gus_latencies *l,
			 const struct gus_latency_quantile *q)
{
	json_t *pair = json_array();
	char *bounds = gus_format("%s_ci95", name);

	json_array_append_new(pair, gus_json_number(q->has_low, q->low));
	json_array_append_new(pair, gus_json_number(q->has_high, q->high));
	json_object_set_new(o, name, gus_json_number(l->n != 0, q->cycles));
	json_object_set_new(o, bounds, l->n ? pair : json_null());
	if (!l->n)
		json_decref(pair);
	free(bounds);
}

/* In cycles; null where no load told how long it took. */
static json_t *loads(const struct gus_latencies *l)
{
	json_t *o = json_object();

	json_object_set_new(o, "timed", json_integer((json_int_t)l->n));
	set_quantile(o, "median", l, &l->median);
	set_quantile(o, "ninety", l, &l->ninety);
	json_object_set_new(o, "longest", gus_json_number(l->n != 0, l->longest));
	json_object_set_new(o, "sum", gus_json_number(l->n != 0, l->sum));
	return o;
}

static json_t *data(const struct gus_report *r, const struct gus_row *row, const struct gus_report_data *d)
{
	const struct gus_touch_key *key = d->key;
	json_t *o;

	if (!(r->view->by & GUS_BY_DATA))
		return json_null();
	o = json_object();
	json_object_set_new(o, "source", gus_json_text(d->source));
	json_object_set_new(o, "snoop", gus_json_text(d->snoop));
	json_object_set_new(o, "tlb", gus_json_text(d->tlb));
	json_object_set_new(o, "access", gus_json_text(d->access));
	json_object_set_new(o, "locked", key->lock ? json_boolean(key->lock == GUS_TOUCH_LOCKED) : json_null());
	json_object_set_new(o, "address", key->bytes ? address(key->address) : json_null());
	json_object_set_new(o, "bytes", gus_json_number(key->bytes != 0, key->bytes));
	json_object_set_new(o, "pid", gus_json_number(key->pid != 0, key->pid));
	json_object_set_new(o, "shared", json_boolean(key->shared));
	json_object_set_new(o, "module", gus_json_text(d->module));
	json_object_set_new(o, "symbol", gus_json_text(d->symbol));
	json_object_set_new(o, "into", gus_json_number(d->module && !d->whole, d->into));
	json_object_set_new(o, "others", json_boolean(key->beyond));
	json_object_set_new(o, "loads", loads(&row->loads));
	return o;
}

static json_t *row_object(const struct gus_report *r, size_t i, const struct gus_report_cell *cell)
{
	const struct gus_row *row = &r->view->rows.v[i];
	json_t *o = json_object();

	json_object_set_new(o, "module", gus_json_text(cell->module));
	json_object_set_new(o, "build_id", gus_json_text(cell->build_id));
	json_object_set_new(o, "function", gus_json_text(row->function));
	json_object_set_new(o, "file", gus_json_text(row->file));
	json_object_set_new(o, "line", gus_json_number(row->line != 0, row->line));
	json_object_set_new(o, "offset", row->has_offset ? gus_json_address(row->offset) : json_null());
	json_object_set_new(o, "text", gus_json_text(cell->text));
	json_object_set_new(o, "samples", json_integer((json_int_t)row->samples));
	json_object_set_new(o, "time_ns", gus_json_number(r->units.time.known, cell->time_ns));
	json_object_set_new(o, "cycles", gus_json_number(r->units.cycles.known, cell->cycles));
	json_object_set_new(o, "share", json_real(row->share));
	json_object_set_new(o, "ci95", gus_json_pair(row->ci95.low, row->ci95.high));
	set_stack(o, r, &row->stack, cell->before);
	json_object_set_new(o, "weight", json_integer((json_int_t)row->weight));
	json_object_set_new(o, "off", off(r, &row->off));
	json_object_set_new(o, "data", data(r, row, &cell->data));
	if (r->view->by & GUS_BY_TASK)
		set_task(o, r, row);
	if (r->graph) {
		json_object_set_new(o, "total", json_integer((json_int_t)row->total));
		json_object_set_new(o, "callers", edges(r, (uint32_t)i, true));
		json_object_set_new(o, "callees", edges(r, (uint32_t)i, false));
	}
	if (r->trees)
		json_object_set_new(o, "tree", gus_trees_json_row(r, i));
	return o;
}

static json_t *by_name(unsigned by)
{
	char *name = gus_report_by_name(by);
	json_t *word = gus_json_word(name);

	free(name);
	return word;
}

int gus_render_json(const struct gus_report *r)
{
	json_t *o = json_object(), *rows = json_array(), *omitted = json_object();
	uint64_t sum = 0, hidden = 0, hidden_samples = 0, hidden_weight = 0;

	for (size_t i = 0; i < r->view->rows.n; i++) {
		const struct gus_row *row = &r->view->rows.v[i];
		struct gus_report_cell cell;

		gus_report_cell(r, i, &sum, &cell);
		if (gus_report_shown(r, row)) {
			json_array_append_new(rows, row_object(r, i, &cell));
		} else {
			hidden++;
			hidden_samples += row->samples;
			hidden_weight += row->weight;
		}
	}
	json_object_set_new(omitted, "rows", json_integer((json_int_t)hidden));
	json_object_set_new(omitted, "samples", json_integer((json_int_t)hidden_samples));
	json_object_set_new(omitted, "weight", json_integer((json_int_t)hidden_weight));
	json_object_set_new(o, "schema", json_string("gusprof.report/1"));
	json_object_set_new(o, "by", by_name(r->view->by));
	json_object_set_new(o, "recording", gus_json_recording(r));
	json_object_set_new(o, "weighs", gus_json_word(gus_weighs_name(r->profile->weighs)));
	json_object_set_new(o, "total", gus_json_total(r));
	json_object_set_new(o, "wall", wall(r));
	json_object_set_new(o, "rows", rows);
	json_object_set_new(o, "omitted", omitted);
	if (r->tree)
		json_object_set_new(o, "tree", gus_trees_json(r, r->tree));
	return gus_json_print(o, stdout, true);
}
