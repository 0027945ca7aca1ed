/* SPDX-License-Identifier: MIT */
/* The counts of `gusprof stat` as CSV: a header line always, the same columns whatever was asked for. */
#include "cli/common/csv.h"
#include "cli/stat/view.h"

void gus_stat_csv_header(FILE *out, const char *separator)
{
	static const char *const columns[] = {
		"part", "from_ns", "to_ns", "event", "unit", "count", "evidence", "running", "enabled_ns", "running_ns",
			"runs", "ci95_low", "ci95_high", "min", "max", "derived", "derived_unit", "reason",
	};
	struct gus_csv csv = { out, separator, false };

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		gus_csv_text(&csv, columns[i]);
	gus_csv_end(&csv);
}

static void print_line(struct gus_csv *c, const struct gus_stat_view *v, const struct gus_stat_line *l)
{
	const struct gus_summary *m = &l->summary;
	int digits = v->runs > 1 ? 3 : 0;
	struct gus_derived d = { 0 };
	bool several = l->known && v->runs > 1, derived = gus_stat_derive(v, l, &d);

	gus_csv_text(c, v->interval ? "interval" : "total");
	gus_csv_number(c, true, v->from_ns);
	gus_csv_number(c, true, v->to_ns);
	gus_csv_text(c, l->event->name);
	gus_csv_text(c, l->event->unit);
	gus_csv_fixed(c, l->known, m->mean, digits);
	gus_csv_text(c, gus_stat_evidence(l));
	gus_csv_fixed(c, l->known, gus_count_running(&l->row.count), 6);
	gus_csv_number(c, true, l->row.count.enabled_ns);
	gus_csv_number(c, true, l->row.count.running_ns);
	gus_csv_number(c, true, v->runs);
	gus_csv_fixed(c, several, m->ci95.low, digits);
	gus_csv_fixed(c, several, m->ci95.high, digits);
	gus_csv_fixed(c, several, m->min, digits);
	gus_csv_fixed(c, several, m->max, digits);
	gus_csv_fixed(c, derived, d.value, 6);
	gus_csv_text(c, derived ? d.unit : NULL);
	gus_csv_text(c, gus_stat_reason(l));
	gus_csv_end(c);
}

void gus_stat_csv(FILE *out, const struct gus_stat_view *v, const char *separator)
{
	struct gus_csv csv = { out, separator, false };

	for (size_t i = 0; i < v->lines.n; i++)
		print_line(&csv, v, &v->lines.v[i]);
}
