/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/diff/diff.h"
#include "cli/screen/screen.h"
#include "cli/screen/table.h"

enum { CHANGE, INTERVAL, SHARE, BEFORE, AFTER, NAME, WHAT, COLUMNS };
enum { PARTS = 3, SHOWN = 50 };

/* In the unit of the view: seconds, per cent, or counts. */
static char *amount(const struct gus_diff_view *v, double x, const char *plus)
{
	if (v->normalised)
		return gus_format(*plus ? "%+.2f%%" : "%.2f%%", 100 * x);
	if (!v->a->ns)
		return gus_format(*plus ? "%+.4g" : "%.4g", x);
	return gus_format(*plus ? "%+.3f s" : "%.3f s", x / 1e9);
}

static char *interval_of(const struct gus_diff_view *v, const struct gus_difference_value *x)
{
	char *low = amount(v, x->low, "+"), *high = amount(v, x->high, "+");
	char *text = gus_format("%s .. %s", low, high);

	free(low);
	free(high);
	return text;
}

static char *share_of(const struct gus_difference_row *row)
{
	return row->a.value > 0 ? gus_format("%+.1f%%", 100 * row->change.value / row->a.value) : gus_strdup("new");
}

/* Its largest changes that are more than chance. */
static char *parts_of(const struct gus_diff_view *v, const struct gus_difference_row *row)
{
	char *text = gus_strdup("");
	int n = 0;

	for (size_t i = 0; i < row->parts.n && n < PARTS; i++) {
		char key[GUS_COMPONENT_KEY_MAX], *by, *more;

		if (!gus_difference_is_sure(&row->parts.v[i].change))
			continue;
		gus_component_key(row->parts.v[i].what, key);
		by = amount(v, row->parts.v[i].change.value, "+");
		more = gus_format("%s%s%s %s", text, n++ ? ", " : "", key, by);
		free(by);
		free(text);
		text = more;
	}
	return text;
}

static void put_row(const struct gus_diff_view *v, struct gus_table *table, const struct gus_difference_row *row)
{
	char *cells[COLUMNS] = {
		[CHANGE] = amount(v, row->change.value, "+"),
		[INTERVAL] = interval_of(v, &row->change),
		[SHARE] = share_of(row),
		[BEFORE] = amount(v, row->a.value, ""),
		[AFTER] = amount(v, row->b.value, ""),
		[NAME] = gus_strdup((row->of[1] ? row->of[1] : row->of[0])->name),
		[WHAT] = parts_of(v, row),
	};

	gus_table_row(table, !row->sure ? GUS_COLOUR_NONE : row->change.value > 0 ? GUS_COLOUR_BAD : GUS_COLOUR_GOOD,
		      (const char *const *)cells);
	for (size_t i = 0; i < COLUMNS; i++)
		free(cells[i]);
}

static void say(const struct gus_screen *screen, char *text)
{
	gus_screen_fold(screen, stdout, "# ", "#   ", text);
	free(text);
}

static void say_side(const struct gus_diff_view *v, const struct gus_screen *screen, const char *which,
		     const struct gus_diff_side *side)
{
	char *total = amount(v, side->rows.total.value, "");
	char *more = v->pairs > 1 ? gus_format(" and %zu more", v->pairs - 1) : gus_strdup("");

	say(screen, gus_format("%s: %s%s, %llu samples of %s, %s%s", which, side->input, more,
			       (unsigned long long)side->samples, side->event, total, *more ? " on average" : ""));
	free(more);
	free(total);
}

static void say_program(const struct gus_diff_view *v, const struct gus_screen *screen)
{
	if (v->b->called)
		say(screen, gus_format("program: %s -> %s, which are one here, by its new name", v->a->program,
				       v->b->program));
}

static void say_total(const struct gus_diff_view *v, const struct gus_screen *screen)
{
	const struct gus_difference_row *t = &v->differences->total;
	char *change, *interval, *share;

	if (v->normalised) {
		say(screen, gus_format("normalised by %s", v->normalised));
		return;
	}
	change = amount(v, t->change.value, "+");
	interval = interval_of(v, &t->change);
	share = share_of(t);
	say(screen, gus_format("total: %s (%s), 95 %% of the time %s%s", change, share, interval, t->sure ? "" :
			       ": that may be chance"));
	free(change);
	free(interval);
	free(share);
}

void gus_diff_text(const struct gus_diff_view *v)
{
	static const struct gus_table_column columns[COLUMNS] = {
		[CHANGE] = { .title = "change", .right = true, .pad = 9 },
		[INTERVAL] = { .title = "95 % of the time", .right = true, .pad = 20, .leaves = 3 },
		[SHARE] = { .title = "of it", .right = true, .pad = 7 },
		[BEFORE] = { .title = "before", .right = true, .pad = 8, .leaves = 2 },
		[AFTER] = { .title = "after", .right = true, .pad = 8, .leaves = 2 },
		[NAME] = { .title = "", .how = GUS_SHORTEN_NAME, .pad = 32, .comfort = 32, .least = 16 },
		[WHAT] = { .title = "by component", .how = GUS_SHORTEN_END, .comfort = 24, .least = 12, .leaves = 1 },
	};
	struct gus_screen screen = gus_screen_of(stdout, v->screen);
	struct gus_table table;
	size_t shown = 0, chance = 0, more = 0;

	say_side(v, &screen, "before", v->a);
	say_side(v, &screen, "after", v->b);
	say_program(v, &screen);
	say_total(v, &screen);
	gus_table_begin(&table, &screen, stdout, columns, COLUMNS);
	for (size_t i = 0; i < v->differences->rows.n; i++) {
		const struct gus_difference_row *row = &v->differences->rows.v[i];

		chance += !row->sure;
		if (!row->sure && !v->all)
			continue;
		if (shown++ < SHOWN || v->all)
			put_row(v, &table, row);
		else
			more++;
	}
	gus_table_end(&table);
	if (more)
		say(&screen, gus_format("%zu %ss more have changed (--all)", more, gus_sum_unit_name(v->unit)));
	say(&screen, gus_format("%zu %s%s by no more than may be chance%s", chance, gus_sum_unit_name(v->unit),
				chance == 1 ? " differs" : "s differ", v->all || !chance ? "" : " (--all)"));
}
