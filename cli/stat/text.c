/* SPDX-License-Identifier: MIT */
/* The counts of `gusprof stat` as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/common/print.h"
#include "cli/stat/view.h"
#include "collector/stat/stat_target.h"

#define NAME_WIDTH 26

/* With a comma between thousands, for people; the point is a point in every locale. */
static void grouped(char *text, size_t room, double value, int digits)
{
	char plain[64];
	size_t used = 0, whole;

	gus_fixed_format(plain, sizeof(plain), value < 0 ? -value : value, digits);
	whole = strcspn(plain, ".");
	if (value < 0)
		text[used++] = '-';
	for (size_t i = 0; plain[i] && used + 2 < room; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = plain[i];
	}
	text[used] = '\0';
}

/* Clocks in ms, all else as it was counted; a mean of several runs may be a fraction. */
static void count_text(const struct gus_stat_view *v, const struct gus_stat_line *l, double value, char *text,
		       size_t room)
{
	if (gus_event_is_clock(l->event))
		grouped(text, room, value / 1e6, 2);
	else
		grouped(text, room, value, v->runs > 1 && value < 1000 ? 1 : 0);
}

static void rate_text(double value, char *text, size_t room)
{
	static const struct { double scale; const char *prefix; } prefixes[] = { { 1e9, " G" }, { 1e6, " M" },
		{ 1e3, " K" } };
	char number[32];
	size_t i = 0;

	while (i < 3 && value < prefixes[i].scale)
		i++;
	gus_fixed_format(number, sizeof(number), i < 3 ? value / prefixes[i].scale : value, 3);
	snprintf(text, room, "%s%s/s", number, i < 3 ? prefixes[i].prefix : " ");
}

static void derived_text(const struct gus_derived *d, char *text, size_t room)
{
	char number[32];

	if (strcmp(d->name, "rate") == 0) {
		rate_text(d->value, text, room);
		return;
	}
	gus_fixed_format(number, sizeof(number), d->value, d->unit[0] == '%' ? 2 : 3);
	snprintf(text, room, "%s %s", number, d->unit);
}

static void print_spread(FILE *out, const struct gus_stat_view *v, const struct gus_stat_line *l)
{
	char low[48], high[48], min[48], max[48];

	count_text(v, l, l->summary.ci95.low, low, sizeof(low));
	count_text(v, l, l->summary.ci95.high, high, sizeof(high));
	count_text(v, l, l->summary.min, min, sizeof(min));
	count_text(v, l, l->summary.max, max, sizeof(max));
	gus_text_print(out, "  95%%: %s .. %s  all: %s .. %s", low, high, min, max);
}

/* One event, behind what the caller has printed on the line. */
static void print_line(FILE *out, const struct gus_stat_view *v, const struct gus_stat_line *l)
{
	bool clock = gus_event_is_clock(l->event);
	const char *reason = gus_stat_reason(l);
	struct gus_derived d;
	char text[64], running[32];

	if (!l->known) {
		gus_text_print(out, "%18s    %-*s  # %s\n", l->row.state == GUS_TALLY_ABSENT ? "<not supported>" :
			"<not counted>",
			NAME_WIDTH, l->event->name, reason);
		return;
	}
	count_text(v, l, l->summary.mean, text, sizeof(text));
	gus_text_print(out, "%18s %s %-*s", text, clock ? "ms" : "  ", NAME_WIDTH, l->event->name);
	if (gus_stat_derive(v, l, &d)) {
		derived_text(&d, text, sizeof(text));
		gus_text_print(out, "  # %-26s", text);
	} else {
		fprintf(out, "  %-28s", "");
	}
	if (l->row.count.running_ns < l->row.count.enabled_ns) {
		gus_fixed_format(running, sizeof(running), 100 * gus_count_running(&l->row.count), 1);
		gus_text_print(out, "  (scaled: counted %s %% of the time)", running);
	}
	if (reason)
		gus_text_print(out, "  (%s)", reason);
	if (v->runs > 1)
		print_spread(out, v, l);
	putc('\n', out);
}

static void print_target(FILE *out, const struct gus_stat_view *v)
{
	const struct gus_stat_target *t = v->target;

	switch (t->kind) {
	case GUS_STAT_COMMAND:
		putc('\'', out);
		for (size_t i = 0; v->command[i]; i++)
			gus_text_print(out, i ? " %s" : "%s", v->command[i]);
		putc('\'', out);
		break;
	case GUS_STAT_CPUS:
		if (t->cpus)
			gus_text_print(out, "CPUs %s", t->cpus);
		else
			fprintf(out, "all CPUs");
		break;
	default:
		fprintf(out, t->kind == GUS_STAT_THREADS ? "thread" : "process");
		for (size_t i = 0; i < t->ids.n; i++)
			fprintf(out, "%s%d", i ? "," : t->ids.n > 1 ? (t->kind == GUS_STAT_THREADS ? "s " : "es ") :
				" ", (int)t->ids.v[i]);
	}
}

static void print_seconds(FILE *out, const struct gus_stat_view *v, const struct gus_series *series, const char *what)
{
	struct gus_summary s = gus_series_summary(series);
	char mean[32], low[32], high[32];

	if (!s.n)
		return;
	gus_fixed_format(mean, sizeof(mean), s.mean / 1e9, 6);
	gus_text_print(out, "%18s s  %s", mean, what);
	if (v->runs > 1) {
		gus_fixed_format(low, sizeof(low), s.ci95.low > 0 ? s.ci95.low / 1e9 : 0, 6);
		gus_fixed_format(high, sizeof(high), s.ci95.high / 1e9, 6);
		gus_text_print(out, "  95%%: %s .. %s", low, high);
	}
	putc('\n', out);
}

/* Events of the default list that this machine has not, in one line for each reason. */
static void print_missing(FILE *out, const struct gus_stat_view *v)
{
	for (size_t i = 0; i < v->lines.n; i++) {
		const struct gus_stat_line *l = &v->lines.v[i];
		bool before = false;

		if (l->known)
			continue;
		for (size_t k = 0; k < i; k++)
			before |= !v->lines.v[k].known && gus_stat_reason(&v->lines.v[k]) == gus_stat_reason(l);
		if (before)
			continue;
		fprintf(out, "# ");
		for (size_t k = i, n = 0; k < v->lines.n; k++)
			if (!v->lines.v[k].known && gus_stat_reason(&v->lines.v[k]) == gus_stat_reason(l))
				gus_text_print(out, "%s%s", n++ ? ", " : "", v->lines.v[k].event->name);
		gus_text_print(out, " %s\n", gus_stat_reason(l));
	}
}

static void print_topdown(FILE *out, const struct gus_stat_view *v)
{
	struct gus_topdown_shares s;
	const struct { const char *name; double share; } parts[] = {
		{ "retiring", 0 }, { "bad speculation", 0 }, { "front end", 0 }, { "back end", 0 },
			{ "the other thread of the core", 0 },
	};
	double shares[5];
	char text[32];

	if (!gus_stat_topdown(v, &s))
		return;
	shares[0] = s.retiring;
	shares[1] = s.bad_speculation;
	shares[2] = s.frontend;
	shares[3] = s.backend;
	shares[4] = s.smt;
	fprintf(out, "\n Issue slots:\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (i == 4 && v->topdown.kind != GUS_TOPDOWN_DISPATCH)
			continue;
		gus_fixed_format(text, sizeof(text), 100 * shares[i], 1);
		gus_text_print(out, "%18s %%  %s\n", text, parts[i].name);
	}
}

static void print_interval(FILE *out, const struct gus_stat_view *v)
{
	char at[32];

	gus_fixed_format(at, sizeof(at), (double)v->to_ns / 1e9, 6);
	for (size_t i = 0; i < v->lines.n; i++) {
		if (gus_stat_is_topdown(v, &v->lines.v[i]) || (v->by_default && !v->lines.v[i].known))
			continue;
		gus_text_print(out, "%14s s", at);
		print_line(out, v, &v->lines.v[i]);
	}
}

void gus_stat_text(FILE *out, const struct gus_stat_view *v)
{
	if (v->interval) {
		print_interval(out, v);
		return;
	}
	fprintf(out, "\n Counts of ");
	print_target(out, v);
	if (v->runs > 1)
		fprintf(out, ", mean of %zu runs with its 95 %% interval, and the least and the most", v->runs);
	fprintf(out, ":\n\n");
	for (size_t i = 0; i < v->lines.n; i++)
		if (!gus_stat_is_topdown(v, &v->lines.v[i]) && (v->lines.v[i].known || !v->by_default))
			print_line(out, v, &v->lines.v[i]);
	print_topdown(out, v);
	putc('\n', out);
	print_seconds(out, v, &v->elapsed, "elapsed");
	if (v->target->kind == GUS_STAT_COMMAND) {
		print_seconds(out, v, &v->user, "user");
		print_seconds(out, v, &v->system, "system");
	}
	putc('\n', out);
	if (v->by_default)
		print_missing(out, v);
	if (v->missed)
		fprintf(out, "# %zu threads were born while gusprof attached; some of them may not be counted\n",
			v->missed);
}
