/* SPDX-License-Identifier: MIT */
/* Kinds have the names of the perf_event ABI, without PERF_RECORD_. MMAP and MMAP2 are one here, as nothing is made of
 * the difference, and so are the two kinds of SWITCH. What a recording of perf's has for perf alone, such as the ends
 * of its rounds, is no record here; JIT and MARK are ours. */
#include "cli/report/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/frames.h"
#include "base/limits.h"
#include "cli/common/csv.h"
#include "cli/common/json.h"
#include "cli/common/print.h"
#include "proto/reader.h"
#include "proto/sample.h"

struct counting {
	struct gus_stats *stats;
	struct gus_reader *reader;
	struct gus_columns rows;
};

static const char *const kinds[] = {
	[GUSPROF__RECORD__KIND_MMAP] = "MMAP", [GUSPROF__RECORD__KIND_COMM] = "COMM",
	[GUSPROF__RECORD__KIND_FORK] = "FORK", [GUSPROF__RECORD__KIND_EXIT] = "EXIT",
	[GUSPROF__RECORD__KIND_KSYMBOL] = "KSYMBOL", [GUSPROF__RECORD__KIND_LOST] = "LOST",
	[GUSPROF__RECORD__KIND_MARK] = "MARK", [GUSPROF__RECORD__KIND_JIT] = "JIT",
};

/* enum perf_event_type: those that nothing here is made of, and are kept as they are. */
static const struct { uint32_t type; const char *name; } kept[] = {
	{ 8, "READ" }, { 12, "ITRACE_START" }, { 16, "NAMESPACES" }, { 18, "BPF_EVENT" }, { 19, "CGROUP" },
	{ 20, "TEXT_POKE" }, { 21, "AUX_OUTPUT_HW_ID" }, { 22, "CALLCHAIN_DEFERRED" },
};

static void add(struct gus_stats *s, const char *name, uint64_t n)
{
	uint32_t number = gus_strings_add(&s->names, name);

	while (s->of_kind.n <= number)
		gus_vec_push(&s->of_kind, 0);
	s->of_kind.v[number] += n;
	s->total += n;
}

static void add_kept(struct gus_stats *s, uint32_t type)
{
	char name[32];

	snprintf(name, sizeof(name), "type %" PRIu32, type);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (kept[i].type == type)
			snprintf(name, sizeof(name), "%s", kept[i].name);
	add(s, name, 1);
}

static void take_record(struct gus_stats *s, const Gusprof__Record *r)
{
	if (r->kind_case == GUSPROF__RECORD__KIND_KEPT)
		add_kept(s, r->kept->type);
	else if (r->kind_case == GUSPROF__RECORD__KIND_THROTTLE)
		add(s, r->throttle->stop ? "THROTTLE" : "UNTHROTTLE", 1);
	else if (r->kind_case < sizeof(kinds) / sizeof(*kinds) && kinds[r->kind_case])
		add(s, kinds[r->kind_case], 1);
	if (r->kind_case == GUSPROF__RECORD__KIND_LOST)
		s->lost = gus_saturated(s->lost, r->lost->count);
}

static void take_sideband(struct counting *c, const struct gus_frame *frame)
{
	Gusprof__Sideband *sideband =
		(Gusprof__Sideband *)gus_frame_message(frame, &gusprof__sideband__descriptor, NULL);

	if (!sideband) {
		gus_reader_bad_payload(c->reader, frame);
		return;
	}
	for (size_t i = 0; i < sideband->n_records; i++)
		take_record(c->stats, sideband->records[i]);
	gusprof__sideband__free_unpacked(sideband, NULL);
}

static void take_rows(struct counting *c, const struct gus_frame *frame)
{
	struct gus_stats *s = c->stats;

	if (gus_frame_rows(frame, &c->rows, NULL) != 0) {
		gus_reader_bad_payload(c->reader, frame);
		return;
	}
	if (c->rows.n)
		add(s, frame->type == GUS_FRAME_SAMPLES ? "SAMPLE" : "SWITCH", c->rows.n);
	for (size_t i = 0; frame->type == GUS_FRAME_SAMPLES && i < c->rows.n; i++) {
		uint32_t event = gus_columns_sample(&c->rows, i).event;

		if (event < s->samples.n)
			s->samples.v[event]++;
	}
}

static void take_frame(void *context, const struct gus_frame *frame)
{
	struct counting *c = context;

	if (frame->type == GUS_FRAME_SIDEBAND)
		take_sideband(c, frame);
	else if (frame->type == GUS_FRAME_AUX)
		add(c->stats, "AUX", 1);
	else
		take_rows(c, frame);
}

int gus_stats_count(struct gus_stats *s, struct gus_reader *reader, struct gus_error *err)
{
	const unsigned types = 1u << GUS_FRAME_SIDEBAND | 1u << GUS_FRAME_SAMPLES | 1u << GUS_FRAME_SWITCHES |
			       1u << GUS_FRAME_AUX;
	struct counting c = { .stats = s, .reader = reader };
	int rc;

	*s = (struct gus_stats){ 0 };
	gus_strings_init(&s->names);
	for (size_t i = 0; i < gus_reader_header(reader)->n_events; i++)
		gus_vec_push(&s->samples, 0);
	rc = gus_frames_each(reader, types, take_frame, &c, err);
	s->damage = gus_reader_damage(reader);
	gus_columns_free(&c.rows);
	return rc;
}

void gus_stats_free(struct gus_stats *s)
{
	gus_strings_free(&s->names);
	gus_vec_free(&s->of_kind);
	gus_vec_free(&s->samples);
}

/* Showing: kinds in the order of the ABI would be nobody's, so the most frequent come first. */

struct kind { const char *name; uint64_t n; };

static int most_first(const void *left, const void *right)
{
	const struct kind *a = left, *b = right;

	return a->n != b->n ? (a->n > b->n ? -1 : 1) : strcmp(a->name, b->name);
}

struct sorted_kinds gus_vec(struct kind);

static struct sorted_kinds sorted(const struct gus_stats *s)
{
	struct sorted_kinds list = { 0 };

	for (uint32_t i = 0; i < s->of_kind.n; i++)
		if (s->of_kind.v[i])
			gus_vec_push(&list, (struct kind){ gus_strings_get(&s->names, i), s->of_kind.v[i] });
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), most_first);
	return list;
}

void gus_stats_text(const struct gus_stats *s, const struct gus_reader *reader)
{
	const Gusprof__Header *header = gus_reader_header(reader);
	struct sorted_kinds list = sorted(s);

	printf("%12" PRIu64 "  records in all\n", s->total);
	for (size_t i = 0; i < list.n; i++)
		gus_print("%12" PRIu64 "  %5.1f%%  %s\n", list.v[i].n, 100 * (double)list.v[i].n / (double)s->total,
			  list.v[i].name);
	if (s->lost)
		printf("%12" PRIu64 "  records that the kernel dropped%s\n", s->lost,
		       s->lost == GUS_LIMIT_SUM ? ", or more" : "");
	for (size_t i = 0; i < s->samples.n; i++)
		gus_print("%12" PRIu64 "  samples of %s\n", s->samples.v[i], header->events[i]->name);
	gus_vec_free(&list);
}

static void print_line(struct gus_csv *c, const char *kind, const char *event, uint64_t n)
{
	gus_csv_text(c, kind);
	gus_csv_text(c, event);
	gus_csv_number(c, true, n);
	gus_csv_end(c);
}

void gus_stats_csv(const struct gus_stats *s, const struct gus_reader *reader)
{
	struct gus_csv csv = { stdout, ",", false };
	struct sorted_kinds list = sorted(s);

	printf("kind,event,records\n");
	for (size_t i = 0; i < list.n; i++)
		print_line(&csv, list.v[i].name, NULL, list.v[i].n);
	for (size_t i = 0; i < s->samples.n; i++)
		print_line(&csv, "SAMPLE", gus_reader_header(reader)->events[i]->name, s->samples.v[i]);
	gus_vec_free(&list);
}

static json_t *counted(const char *what, const char *name, const char *of, uint64_t n)
{
	json_t *o = json_object();

	json_object_set_new(o, what, gus_json_word(name));
	json_object_set_new(o, of, gus_json_number(true, n));
	return o;
}

int gus_stats_json(const struct gus_stats *s, const struct gus_reader *reader)
{
	json_t *o = json_object(), *records = json_array(), *events = json_array();
	struct sorted_kinds list = sorted(s);

	for (size_t i = 0; i < list.n; i++)
		json_array_append_new(records, counted("kind", list.v[i].name, "records", list.v[i].n));
	for (size_t i = 0; i < s->samples.n; i++)
		json_array_append_new(events, counted("event", gus_reader_header(reader)->events[i]->name, "samples",
						      s->samples.v[i]));
	json_object_set_new(o, "schema", json_string("gusprof.stats/1"));
	json_object_set_new(o, "total", gus_json_number(true, s->total));
	json_object_set_new(o, "records", records);
	json_object_set_new(o, "lost", gus_json_number(true, s->lost));
	json_object_set_new(o, "events", events);
	json_object_set_new(o, "whole", json_boolean(!s->damage->cut && !s->damage->corrupt &&
						     !s->damage->missing_frames));
	gus_vec_free(&list);
	return gus_json_print(o, stdout, true);
}
