/* SPDX-License-Identifier: MIT */
/* The counts of `gusprof stat` as JSON, schema gusprof.stat/1 (DESIGN.md section 8): one object, or with -I one a
 * line. */
#include <math.h>

#include "attribution/topdown/tree.h"
#include "cli/bandwidth/bandwidth.h"
#include "cli/common/json.h"
#include "cli/common/topdown.h"
#include "cli/slots/slots.h"
#include "cli/stat/view.h"
#include "collector/events/event.h"
#include "collector/stat/stat_target.h"
#include "config.h"

static const char *const kinds[] = {
	[GUS_STAT_COMMAND] = "command", [GUS_STAT_PROCESSES] = "process", [GUS_STAT_THREADS] = "thread",
	[GUS_STAT_CPUS] = "cpu",
};

static json_t *words(char *const *command)
{
	json_t *list = json_array();

	for (; command && *command; command++) {
		json_t *word = gus_json_text(*command);

		json_array_append_new(list, json_is_null(word) ? json_string("") : word);
	}
	return list;
}

static json_t *target(const struct gus_stat_view *v)
{
	json_t *o = json_object(), *ids = json_array();

	for (size_t i = 0; i < v->target->ids.n; i++)
		json_array_append_new(ids, json_integer(v->target->ids.v[i]));
	json_object_set_new(o, "kind", gus_json_word(kinds[v->target->kind]));
	json_object_set_new(o, "ids", ids);
	json_object_set_new(o, "cpus", gus_json_text(v->target->cpus));
	json_object_set_new(o, "command", words(v->command));
	return o;
}

/* A count is a whole number, a mean of several or a scaled one may not be. */
static json_t *count(bool known, double value)
{
	if (!known)
		return json_null();
	return value == floor(value) && value < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *row(const struct gus_stat_view *v, const struct gus_stat_line *l)
{
	const struct gus_summary *m = &l->summary;
	const char *reason = gus_stat_reason(l);
	bool several = l->known && v->runs > 1;
	struct gus_derived d;
	json_t *o = json_object(), *derived = json_null();

	if (gus_stat_derive(v, l, &d)) {
		derived = json_object();
		json_object_set_new(derived, "name", gus_json_word(d.name));
		json_object_set_new(derived, "value", json_real(d.value));
		json_object_set_new(derived, "unit", gus_json_word(d.unit));
	}
	json_object_set_new(o, "event", gus_json_text(l->event->name));
	json_object_set_new(o, "unit", gus_json_word(l->event->unit));
	json_object_set_new(o, "count", count(l->known, m->mean));
	json_object_set_new(o, "evidence", gus_json_word(gus_stat_evidence(l)));
	json_object_set_new(o, "running", l->known ? json_real(gus_count_running(&l->row.count)) : json_null());
	json_object_set_new(o, "enabled_ns", json_integer((json_int_t)l->row.count.enabled_ns));
	json_object_set_new(o, "running_ns", json_integer((json_int_t)l->row.count.running_ns));
	json_object_set_new(o, "ci95", several ? gus_json_pair(m->ci95.low, m->ci95.high) : json_null());
	json_object_set_new(o, "min", count(several, m->min));
	json_object_set_new(o, "max", count(several, m->max));
	json_object_set_new(o, "derived", derived);
	json_object_set_new(o, "reason", gus_json_text(reason));
	return o;
}

/* One object a kind of cores, or null. */
static json_t *topdown(const struct gus_stat_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->topdown->n; i++) {
		struct gus_topdown_tree tree;

		if (!gus_stat_topdown(v, &v->topdown->v[i], &tree))
			continue;
		json_array_append_new(list, gus_slots_json(v->topdown->v[i].table, &tree));
		gus_topdown_tree_free(&tree);
	}
	if (json_array_size(list))
		return list;
	json_decref(list);
	return json_null();
}

static json_t *nanoseconds(const struct gus_series *series)
{
	struct gus_summary s = gus_series_summary(series);

	return count(s.n > 0, floor(s.mean + 0.5));
}

static json_t *interval(const struct gus_stat_view *v)
{
	json_t *o;

	if (!v->interval)
		return json_null();
	o = json_object();
	json_object_set_new(o, "from_ns", json_integer((json_int_t)v->from_ns));
	json_object_set_new(o, "to_ns", json_integer((json_int_t)v->to_ns));
	return o;
}

int gus_stat_json(FILE *out, const struct gus_stat_view *v, bool indent)
{
	json_t *o = json_object(), *rows = json_array();
	struct gus_summary elapsed = gus_series_summary(&v->elapsed);
	bool ended = v->command && !v->interval;

	for (size_t i = 0; i < v->lines.n; i++)
		json_array_append_new(rows, row(v, &v->lines.v[i]));
	json_object_set_new(o, "schema", json_string("gusprof.stat/1"));
	json_object_set_new(o, "by", json_string(PACKAGE_NAME " " PACKAGE_VERSION));
	json_object_set_new(o, "target", target(v));
	json_object_set_new(o, "runs", json_integer((json_int_t)v->runs));
	json_object_set_new(o, "interval", interval(v));
	json_object_set_new(o, "elapsed_ns", nanoseconds(&v->elapsed));
	json_object_set_new(o, "elapsed_ci95", v->runs > 1 ? gus_json_pair(elapsed.ci95.low, elapsed.ci95.high) :
			    json_null());
	json_object_set_new(o, "user_ns", nanoseconds(&v->user));
	json_object_set_new(o, "system_ns", nanoseconds(&v->system));
	json_object_set_new(o, "exit_status", ended ? json_integer(v->exit_status) : json_null());
	json_object_set_new(o, "exit_signal", ended ? json_integer(v->exit_signal) : json_null());
	json_object_set_new(o, "user_only", json_boolean(v->user_only));
	json_object_set_new(o, "threads_missed", json_integer((json_int_t)v->missed));
	json_object_set_new(o, "rows", rows);
	json_object_set_new(o, "topdown", topdown(v));
	json_object_set_new(o, "memory_traffic", gus_bandwidth_json(v->traffic));
	return gus_json_print(o, out, indent);
}
