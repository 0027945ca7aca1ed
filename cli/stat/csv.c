/* SPDX-License-Identifier: MIT */
/* The counts of `gusprof stat` as CSV: a header line always, the same columns whatever was asked for. */
#include <inttypes.h>
#include <string.h>

#include "cli/common/print.h"
#include "cli/stat/view.h"

static void field(FILE *out, const char *text, const char *separator)
{
	bool quote;

	if (!text)
		return;
	quote = strpbrk(text, "\"\r\n") || strstr(text, separator);
	if (quote)
		putc('"', out);
	for (; *text; text++) {
		if (quote && *text == '"')
			putc('"', out);
		putc(*text, out);
	}
	if (quote)
		putc('"', out);
}

static void number(FILE *out, bool known, double value, int digits)
{
	char text[64];

	if (!known)
		return;
	gus_format_fixed(text, sizeof(text), value < 0 ? -value : value, digits);
	fprintf(out, "%s%s", value < 0 ? "-" : "", text);
}

void gus_stat_csv_header(FILE *out, const char *separator)
{
	static const char *const columns[] = {
		"part", "from_ns", "to_ns", "event", "unit", "count", "evidence", "running", "enabled_ns", "running_ns", "runs",
		"ci95_low", "ci95_high", "min", "max", "derived", "derived_unit", "reason",
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		if (i)
			fprintf(out, "%s", separator);
		field(out, columns[i], separator);
	}
	putc('\n', out);
}

static void print_line(FILE *out, const struct gus_stat_view *v, const struct gus_stat_line *l, const char *s)
{
	const struct gus_summary *m = &l->summary;
	int digits = v->runs > 1 ? 3 : 0;
	struct gus_derived d = { 0 };
	bool several = l->known && v->runs > 1, derived = gus_stat_derive(v, l, &d);

	fprintf(out, "%s%s%" PRIu64 "%s%" PRIu64 "%s", v->interval ? "interval" : "total", s, v->from_ns, s, v->to_ns, s);
	field(out, l->event->name, s);
	fprintf(out, "%s%s%s", s, l->event->unit, s);
	number(out, l->known, m->mean, digits);
	fprintf(out, "%s%s%s", s, gus_stat_evidence(l), s);
	number(out, l->known, gus_count_running(&l->row.count), 6);
	fprintf(out, "%s%" PRIu64 "%s%" PRIu64 "%s%zu%s", s, l->row.count.enabled_ns, s, l->row.count.running_ns, s, v->runs, s);
	number(out, several, m->ci95.low, digits);
	fprintf(out, "%s", s);
	number(out, several, m->ci95.high, digits);
	fprintf(out, "%s", s);
	number(out, several, m->min, digits);
	fprintf(out, "%s", s);
	number(out, several, m->max, digits);
	fprintf(out, "%s", s);
	number(out, derived, d.value, 6);
	fprintf(out, "%s", s);
	field(out, derived ? d.unit : NULL, s);
	fprintf(out, "%s", s);
	field(out, gus_stat_reason(l), s);
	putc('\n', out);
}

void gus_stat_csv(FILE *out, const struct gus_stat_view *v, const char *separator)
{
	for (size_t i = 0; i < v->lines.n; i++)
		print_line(out, v, &v->lines.v[i], separator);
}
