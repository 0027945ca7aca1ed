/* SPDX-License-Identifier: MIT */
#include "cli/report/slots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/recorded.h"
#include "attribution/topdown/sampled.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/path.h"
#include "cli/common/csv.h"
#include "cli/common/json.h"
#include "cli/common/print.h"
#include "cli/report/render.h"
#include "cli/screen/screen.h"
#include "cli/slots/slots.h"

/* Over time, by frames. */

/* Of what was a whole number. */
static uint64_t whole(double value)
{
	return value < (double)GUS_LIMIT_SUM ? (uint64_t)value : GUS_LIMIT_SUM;
}

/* A file's times may be anything. */
static uint64_t since(uint64_t time, uint64_t start)
{
	return time > start ? time - start : 0;
}

static uint64_t *counts_of(const struct gus_topdown_recorded *r, const struct gus_topdown_kind *kind, size_t first,
			   size_t n)
{
	uint64_t *counts = gus_zalloc((kind->span.n + 1) * sizeof(*counts));

	for (size_t k = first; k < first + n; k++)
		for (size_t i = 0; i < kind->span.n; i++)
			counts[i] = gus_saturated(counts[i], whole(r->readings.counts.v[k * r->events +
										     kind->span.first + i].value));
	return counts;
}

static struct gus_slots_parts parts_recorded(const struct gus_topdown_recorded *r, const struct gus_topdown_kind *kind,
					     const struct gus_topdown_stretch *stretches, size_t n)
{
	struct gus_slots_parts p = { .table = kind->table, .pmu = kind->pmu, .evidence = "observed",
				     .level = kind->level };

	p.total.counts = counts_of(r, kind, 0, r->readings.n);
	p.total.readings = r->readings.n;
	gus_topdown_recorded_tree(r, kind, &p.total.tree);
	for (size_t i = 0; i < n; i++) {
		struct gus_slots_part part = {
			.timed = true, .readings = stretches[i].n,
			.from_ns = since(stretches[i].from_ns, r->start_ns),
			.to_ns = since(stretches[i].to_ns, r->start_ns),
			.counts = counts_of(r, kind, stretches[i].first, stretches[i].n),
		};

		gus_topdown_recorded_part(r, kind, &stretches[i], &part.tree);
		gus_vec_push(&p.list, part);
	}
	return p;
}

static void by_frames(struct gus_report_slots *s, const struct gus_topdown_recorded *r, size_t parts)
{
	struct gus_topdown_stretch *stretches = gus_alloc((parts + 1) * sizeof(*stretches));
	size_t n = gus_topdown_readings_cut(&r->readings, r->start_ns, parts, stretches);

	for (size_t i = 0; i < r->kinds.n && n; i++)
		if (r->kinds.v[i].table)
			gus_vec_push(&s->kinds, parts_recorded(r, &r->kinds.v[i], stretches, n));
	free(stretches);
}

/* By samples. */

static struct gus_slots_part part_of(const struct gus_topdown_sampled_kind *kind, const struct gus_topdown_sums *sums,
				     size_t number, bool drawn)
{
	struct gus_slots_part part = { .counts = gus_zalloc((kind->events + 1) * sizeof(*part.counts)) };

	part.readings = number < sums->n ? sums->heads.v[number].differences : 0;
	for (size_t i = 0; i < kind->n && number < sums->n; i++)
		part.counts[kind->at[i]] = sums->counts.v[number * kind->n + i];
	gus_topdown_sums_tree(sums, number, kind->table, kind->at, drawn, &part.tree);
	part.tree.level = kind->level;
	return part;
}

static struct gus_slots_parts parts_sampled(const struct gus_topdown_sampled_kind *kind)
{
	return (struct gus_slots_parts){ .table = kind->table, .pmu = kind->table->pmu, .evidence = "inferred",
					 .level = kind->table->levels, .known = kind->known,
					 .total = part_of(kind, &kind->total, 0, false) };
}

static void by_stretches(struct gus_report_slots *s, const struct gus_topdown_sampled *sampled)
{
	for (size_t k = 0; k < sampled->kinds.n; k++) {
		const struct gus_topdown_sampled_kind *kind = &sampled->kinds.v[k];
		struct gus_slots_parts p = parts_sampled(kind);

		for (size_t i = 0; i < kind->stretches.n; i++) {
			struct gus_slots_part part = part_of(kind, &kind->stretches, i, false);

			part.timed = true;
			part.from_ns = sampled->length_ns / sampled->parts * i;
			part.to_ns = i + 1 < sampled->parts ? sampled->length_ns / sampled->parts * (i + 1) :
				sampled->length_ns;
			gus_vec_push(&p.list, part);
		}
		gus_vec_push(&s->kinds, p);
	}
}

static int has_none(struct gus_error *err, const char *what)
{
	return gus_fail(err, GUS_E_NOT_FOUND, "the recording does not say what became of issue slots%s", what);
}

int gus_report_slots_by_time(struct gus_report_slots *s, const struct gus_profile *p, size_t parts,
			     struct gus_error *err)
{
	*s = (struct gus_report_slots){ 0 };
	if (p->slots && p->slots->readings.n)
		by_frames(s, p->slots, parts);
	if (!s->kinds.n && p->sampled)
		by_stretches(s, p->sampled);
	return s->kinds.n ? 0 : has_none(err, ", or not by a table that this program has: record with --topdown");
}

/* By rows. */

static char *joined(char *text, char *more)
{
	char *all = *text ? gus_format("%s, %s", text, more) : gus_strdup(more);

	free(text);
	free(more);
	return all;
}

static char *label_of(const struct gus_report *r, const struct gus_row *row)
{
	const unsigned by = r->view->by;
	const char *module = row->module == GUS_INDEX_NONE ? NULL :
		gus_base_name(gus_space_module(r->profile->space, row->module)->path);
	char *label = gus_strdup("");

	if (by & GUS_BY_TASK)
		label = joined(label, by & (GUS_BY_THREAD | GUS_BY_PROCESS) ?
			       gus_format("%s (%" PRIu32 ")", row->comm && *row->comm ? row->comm : "[unnamed]",
					  by & GUS_BY_THREAD ? row->tid : row->pid) :
			       gus_strdup(row->comm && *row->comm ? row->comm : "[unnamed]"));
	if (by & (GUS_BY_FUNCTION | GUS_BY_LINE | GUS_BY_INSTRUCTION))
		label = joined(label, gus_strdup(row->function ? row->function : "[unknown]"));
	if (by & (GUS_BY_LINE | GUS_BY_INSTRUCTION) && row->file)
		label = joined(label, gus_format("%s:%" PRIu32, gus_base_name(row->file), row->line));
	if (by & GUS_BY_INSTRUCTION)
		label = joined(label, gus_format("+0x%" PRIx64, row->offset));
	return by & GUS_BY_CODE && module ? joined(label, gus_strdup(module)) : label;
}

static void describe(struct gus_slots_part *part, const struct gus_report *r, const struct gus_row *row)
{
	const unsigned by = r->view->by;

	part->module = row->module == GUS_INDEX_NONE ? NULL : gus_space_module(r->profile->space, row->module)->path;
	part->function = row->function;
	part->file = row->file;
	part->line = row->line;
	part->has_offset = row->has_offset;
	part->offset = row->offset;
	part->comm = row->comm;
	part->pid = by & (GUS_BY_THREAD | GUS_BY_PROCESS) ? row->pid : 0;
	part->tid = by & GUS_BY_THREAD ? row->tid : 0;
	part->label = label_of(r, row);
}

static int by_readings(const void *a, const void *b)
{
	const struct gus_slots_part *x = a, *y = b;

	if (x->tree.slots > y->tree.slots || x->tree.slots < y->tree.slots)
		return x->tree.slots > y->tree.slots ? -1 : 1;
	if (x->readings != y->readings)
		return x->readings > y->readings ? -1 : 1;
	if (x->tid != y->tid || x->pid != y->pid)
		return x->pid < y->pid || (x->pid == y->pid && x->tid < y->tid) ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->label, y->label);
}

/* Sums by row: each cell's goes to the row that it is in. */
static struct gus_topdown_sums sums_of(const struct gus_report *r, const struct gus_topdown_sampled_kind *kind)
{
	struct gus_topdown_sums rows = { .events = kind->n };

	for (size_t i = 0; i < r->profile->cells.n; i++) {
		uint32_t number = r->profile->cells.v[i].number;

		if (number < kind->cells.n && kind->cells.heads.v[number].differences)
			gus_topdown_sums_merge(&rows, r->view->of_cell.v[i], &kind->cells, number);
	}
	return rows;
}

/* What threads had in counters of their own is theirs without any chance in it. */
static struct gus_slots_parts parts_of_rows(const struct gus_report *r, const struct gus_topdown_sampled_kind *kind)
{
	struct gus_topdown_sums rows = sums_of(r, kind);
	bool own = kind->by_thread && gus_by_is_task(r->view->by) && !(r->view->by & GUS_BY_COMM);
	struct gus_slots_parts p = parts_sampled(kind);

	p.evidence = own ? "observed" : "inferred";
	for (size_t i = 0; i < rows.n; i++) {
		struct gus_slots_part part;

		if (!rows.heads.v[i].differences)
			continue;
		part = part_of(kind, &rows, i, !own);
		describe(&part, r, &r->view->rows.v[i]);
		gus_vec_push(&p.list, part);
	}
	gus_topdown_sums_free(&rows);
	if (p.list.n)
		qsort(p.list.v, p.list.n, sizeof(*p.list.v), by_readings);
	return p;
}

/* They stand at the end. */
static void leave_out(struct gus_slots_parts *p, double limit)
{
	while (p->list.n && gus_slots_part_share(p, &p->list.v[p->list.n - 1]) >= 0 &&
	       100 * gus_slots_part_share(p, &p->list.v[p->list.n - 1]) < limit) {
		struct gus_slots_part *part = &p->list.v[--p->list.n];

		p->left_out++;
		p->left_share += gus_slots_part_share(p, part);
		gus_slots_part_free(part);
	}
}

int gus_report_slots_by_rows(struct gus_report_slots *s, const struct gus_report *r, struct gus_error *err)
{
	const struct gus_topdown_sampled *sampled = r->profile->sampled;

	*s = (struct gus_report_slots){ 0 };
	if (!sampled)
		return has_none(err, " by thread or place: its samples bring no counts of them along, or of no table "
				"that this program has; record with --topdown=samples, or --by time");
	for (size_t k = 0; k < sampled->kinds.n; k++) {
		struct gus_slots_parts p = parts_of_rows(r, &sampled->kinds.v[k]);

		leave_out(&p, r->percent_limit);
		gus_vec_push(&s->kinds, p);
	}
	return 0;
}

void gus_report_slots_free(struct gus_report_slots *s)
{
	for (size_t i = 0; i < s->kinds.n; i++)
		gus_slots_parts_free(&s->kinds.v[i]);
	gus_vec_free(&s->kinds);
}

/* Showing. */

/* What samples that could not be used came to. */
static void say_unused(const struct gus_report *r)
{
	const struct gus_topdown_sampled *sampled = r->profile->sampled;
	char *text;

	if (!sampled || (!sampled->begun && !sampled->backward))
		return;
	text = gus_format("of %" PRIu64 " samples with counts %" PRIu64 " are only a beginning, as their counters are "
			  "older than the recording, and in %" PRIu64 " some count went back: what is before these is "
			  "in no row", sampled->differences + sampled->begun + sampled->backward, sampled->begun,
			  sampled->backward);
	gus_screen_fold(r->screen, stdout, "# ", "#   ", text);
	free(text);
}

void gus_render_slots_text(const struct gus_report *r, const struct gus_report_slots *s)
{
	gus_render_text_head(r);
	say_unused(r);
	for (size_t i = 0; i < s->kinds.n; i++) {
		const struct gus_slots_parts *p = &s->kinds.v[i];

		if (!r->profile->slots || !r->profile->slots->readings.n)
			gus_slots_text_headed(stdout, r->screen, p->table, p->pmu, &p->total.tree);
		else
			gus_print("# by time (%s):\n", p->table->title);
		gus_slots_parts_text(stdout, r->screen, p);
	}
}

void gus_render_slots_csv(const struct gus_report_slots *s)
{
	struct gus_csv csv = { stdout, ",", false };

	gus_slots_parts_csv_header(stdout);
	for (size_t i = 0; i < s->kinds.n; i++)
		gus_slots_parts_csv(&csv, &s->kinds.v[i]);
}

int gus_render_slots_json(const struct gus_report *r, const struct gus_report_slots *s, const char *by)
{
	const struct gus_topdown_sampled *sampled = r->profile->sampled;
	json_t *o = json_object(), *kinds = json_array();

	for (size_t i = 0; i < s->kinds.n; i++)
		json_array_append_new(kinds, gus_slots_parts_json(&s->kinds.v[i]));
	json_object_set_new(o, "schema", json_string("gusprof.topdown/1"));
	json_object_set_new(o, "recording", gus_json_recording(r));
	json_object_set_new(o, "by", gus_json_word(by));
	json_object_set_new(o, "begun", gus_json_number(sampled != NULL, sampled ? sampled->begun : 0));
	json_object_set_new(o, "backward", gus_json_number(sampled != NULL, sampled ? sampled->backward : 0));
	json_object_set_new(o, "kinds", kinds);
	return gus_json_print(o, stdout, true);
}
