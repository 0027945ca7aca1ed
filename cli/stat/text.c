/* SPDX-License-Identifier: MIT */
/* The counts of `gusprof stat` as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/tree.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/bandwidth/bandwidth.h"
#include "cli/common/print.h"
#include "cli/common/topdown.h"
#include "cli/screen/cells.h"
#include "cli/screen/screen.h"
#include "cli/slots/slots.h"
#include "cli/stat/view.h"
#include "collector/events/event.h"
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

/* A line that is being printed: what does not fit behind it goes below, a little to the right. */
#define BELOW "                        "
struct line { FILE *out; const struct gus_screen *screen; size_t used; };

static void put(struct line *l, const char *text)
{
	size_t cells = gus_cells(text, strlen(text));

	if (l->screen->width && l->used + cells > l->screen->width && l->used > sizeof(BELOW)) {
		gus_text_print(l->out, "\n%s", BELOW);
		l->used = sizeof(BELOW) - 1;
		text += strspn(text, " ");
		cells = gus_cells(text, strlen(text));
	}
	gus_text_print(l->out, "%s", text);
	l->used += cells;
}

/* What needs a line of its own where it does not fit, or several. */
static void put_reason(struct line *l, const char *begin, const char *reason, const char *end)
{
	char *text = gus_format("%s%s%s", begin, reason, end);

	if (!l->screen->width || l->used + gus_cells(text, strlen(text)) <= l->screen->width) {
		gus_text_print(l->out, "%s\n", text);
	} else {
		putc('\n', l->out);
		gus_screen_fold(l->screen, l->out, BELOW, BELOW "  ", text);
	}
	free(text);
}

static void put_spread(struct line *out, const struct gus_stat_view *v, const struct gus_stat_line *l)
{
	char low[48], high[48], min[48], max[48], text[128];

	count_text(v, l, l->summary.ci95.low, low, sizeof(low));
	count_text(v, l, l->summary.ci95.high, high, sizeof(high));
	count_text(v, l, l->summary.min, min, sizeof(min));
	count_text(v, l, l->summary.max, max, sizeof(max));
	snprintf(text, sizeof(text), "  95%%: %s .. %s", low, high);
	put(out, text);
	snprintf(text, sizeof(text), "  all: %s .. %s", min, max);
	put(out, text);
}

static void put_derived(struct line *out, const struct gus_stat_view *v, const struct gus_stat_line *l)
{
	struct gus_derived d;
	char text[64], line[128] = "";
	bool last = out->screen->width && (v->runs <= 1 || out->screen->width < 120);

	if (gus_stat_derive(v, l, &d)) {
		derived_text(&d, text, sizeof(text));
		snprintf(line, sizeof(line), last ? "  # %s" : "  # %-26s", text);
	} else if (!last) {
		snprintf(line, sizeof(line), "  %-28s", "");
	}
	put(out, line);
}

/* Of the events' names, cells for the longest that is shown. */
static int name_width(const struct gus_stat_view *v)
{
	size_t width = 0;

	for (size_t i = 0; i < v->lines.n; i++) {
		size_t cells = strlen(v->lines.v[i].event->name);

		if (v->lines.v[i].known && cells > width)
			width = cells;
	}
	return v->screen->width && width < NAME_WIDTH ? (int)width : NAME_WIDTH;
}

/* One event, behind what the caller has printed on the line, which took so many cells. */
static void print_line(FILE *out, const struct gus_stat_view *v, const struct gus_stat_line *l, size_t before)
{
	struct line line = { out, v->screen, before };
	bool clock = gus_event_is_clock(l->event);
	const char *reason = gus_stat_reason(l);
	char text[64], running[32], more[128], name[256];

	if (!l->known) {
		snprintf(name, sizeof(name), "%18s    %-*s",
			 l->row.state == GUS_TALLY_ABSENT ? "<not supported>" : "<not counted>",
			 v->screen->width ? 0 : NAME_WIDTH, l->event->name);
		put(&line, name);
		put_reason(&line, "  # ", reason, "");
		return;
	}
	count_text(v, l, l->summary.mean, text, sizeof(text));
	snprintf(name, sizeof(name), "%18s %s %-*s", text, clock ? "ms" : "  ", name_width(v), l->event->name);
	put(&line, name);
	put_derived(&line, v, l);
	if (l->row.count.running_ns < l->row.count.enabled_ns) {
		gus_fixed_format(running, sizeof(running), 100 * gus_count_running(&l->row.count), 1);
		snprintf(more, sizeof(more), "  (scaled: counted %s %% of the time)", running);
		put(&line, more);
	}
	if (v->runs > 1)
		put_spread(&line, v, l);
	if (reason)
		put_reason(&line, "  (", reason, ")");
	else
		putc('\n', out);
}

static char *joined(char *text, char *more)
{
	char *all = gus_format("%s%s", text, more);

	free(text);
	free(more);
	return all;
}

/* What was counted, in words. */
static char *target_text(const struct gus_stat_view *v)
{
	static const char *const one[] = { [GUS_STAT_PROCESSES] = "process ", [GUS_STAT_THREADS] = "thread " };
	static const char *const many[] = { [GUS_STAT_PROCESSES] = "processes ", [GUS_STAT_THREADS] = "threads " };
	const struct gus_stat_target *t = v->target;
	char *text;

	switch (t->kind) {
	case GUS_STAT_COMMAND:
		text = gus_strdup("'");
		for (size_t i = 0; v->command[i]; i++)
			text = joined(text, gus_format("%s%s", i ? " " : "", v->command[i]));
		return joined(text, gus_strdup("'"));
	case GUS_STAT_CPUS:
		return t->cpus ? gus_format("CPUs %s", t->cpus) : gus_strdup("all CPUs");
	default:
		text = gus_strdup(t->ids.n > 1 ? many[t->kind] : one[t->kind]);
		for (size_t i = 0; i < t->ids.n; i++)
			text = joined(text, gus_format("%s%d", i ? "," : "", (int)t->ids.v[i]));
		return text;
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

/* Events that nobody asked for by name, and that this machine has not. */
static bool is_missing(const struct gus_stat_view *v, const struct gus_stat_line *l)
{
	return !l->known && (v->by_default || gus_stat_is_topdown(v, l));
}

/* Line i, and all behind it that are missing for the same reason. */
static void print_missing_for(FILE *out, const struct gus_stat_view *v, size_t i)
{
	const char *reason = gus_stat_reason(&v->lines.v[i]);
	char *text = gus_strdup(""), *all;

	for (size_t k = i; k < v->lines.n; k++) {
		char *more;

		if (!is_missing(v, &v->lines.v[k]) || gus_stat_reason(&v->lines.v[k]) != reason)
			continue;
		more = gus_format("%s%s%s", text, *text ? ", " : "", v->lines.v[k].event->name);
		free(text);
		text = more;
	}
	all = gus_format("%s %s", text, reason);
	gus_screen_fold(v->screen, out, "# ", "#   ", all);
	free(all);
	free(text);
}

/* These, in one line for each reason. */
static void print_missing(FILE *out, const struct gus_stat_view *v)
{
	for (size_t i = 0; i < v->lines.n; i++) {
		const struct gus_stat_line *l = &v->lines.v[i];
		bool before = false;

		if (!is_missing(v, l))
			continue;
		for (size_t k = 0; k < i; k++)
			before |= is_missing(v, &v->lines.v[k]) &&
				  gus_stat_reason(&v->lines.v[k]) == gus_stat_reason(l);
		if (before)
			continue;
		print_missing_for(out, v, i);
	}
}

static void print_trees(FILE *out, const struct gus_stat_view *v, const char *before)
{
	for (size_t i = 0; i < v->topdown->n; i++) {
		const struct gus_topdown_counted *counted = &v->topdown->v[i];
		struct gus_topdown_tree tree;
		char amount[96], *head;

		if (!gus_stat_topdown(v, counted, &tree))
			continue;
		gus_slots_amount(&tree, amount);
		head = gus_format("Issue slots (%s)%s:", counted->table->title, amount);
		if (!before) {
			putc('\n', out);
			gus_screen_fold(v->screen, out, " ", "   ", head);
		}
		free(head);
		gus_slots_text(out, v->screen, before, !before, counted->table, &tree);
		gus_topdown_tree_free(&tree);
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
		print_line(out, v, &v->lines.v[i], 16);
	}
	if (v->trees) {
		char *before = gus_format("%14s s", at);

		print_trees(out, v, before);
		free(before);
	}
	if (v->traffic) {
		char *before = gus_format("%14s s", at);

		gus_bandwidth_text(out, v->screen, before, v->traffic);
		free(before);
	}
}

void gus_stat_text(FILE *out, const struct gus_stat_view *v)
{
	char *text, *more, *all;

	if (v->interval) {
		print_interval(out, v);
		return;
	}
	putc('\n', out);
	text = target_text(v);
	more = gus_strdup("");
	if (v->runs > 1)
		more = joined(more, gus_format(", mean of %zu runs with its 95 %% interval, and the least and the most",
					       v->runs));
	all = gus_format("%s%s:", text, more);
	gus_screen_fold(v->screen, out, " Counts of ", "   ", all);
	free(all);
	free(more);
	free(text);
	putc('\n', out);
	for (size_t i = 0; i < v->lines.n; i++)
		if (!gus_stat_is_topdown(v, &v->lines.v[i]) && (v->lines.v[i].known || !v->by_default))
			print_line(out, v, &v->lines.v[i], 0);
	print_trees(out, v, NULL);
	if (v->traffic)
		gus_bandwidth_text(out, v->screen, NULL, v->traffic);
	putc('\n', out);
	print_seconds(out, v, &v->elapsed, "elapsed");
	if (v->target->kind == GUS_STAT_COMMAND) {
		print_seconds(out, v, &v->user, "user");
		print_seconds(out, v, &v->system, "system");
	}
	putc('\n', out);
	print_missing(out, v);
	if (v->missed)
		fprintf(out, "# %zu threads were born while gusprof attached; some of them may not be counted\n",
			v->missed);
}
