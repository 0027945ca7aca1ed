/* SPDX-License-Identifier: MIT */
#include "cli/report/sorting.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/profile/touch.h"
#include "base/error.h"
#include "base/suggest.h"
#include "cli/report/by.h"

static const char *const names[GUS_SORTS] = { "share", "samples", "total", "name", "module", "line", "offset", "pid",
	"tid", "address", "latency", "sum", "longest" };
/* Other words for the same, and perf's. */
static const struct { const char *word; enum gus_sort key; } synonyms[] = {
	{ "time", GUS_SORT_SHARE }, { "overhead", GUS_SORT_SHARE }, { "weight", GUS_SORT_SUM },
};

/* Words of perf's --sort that say here what a row is are those of --by; and these. */
static const struct { const char *word, *instead; } dimensions[] = {
	{ "parent", "-g" }, { "cpu", "'gusprof script -F cpu,sym'" },
	{ "local_weight", "--by data-source --sort sum, which has latencies" },
};

static int text_order(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !a - !b;
}

static int number_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static const char *module_path(const struct gus_profile *p, const struct gus_row *row)
{
	return row->module == GUS_INDEX_NONE ? "" : gus_space_module(p->space, row->module)->path;
}

/* Keys, and the profile whose rows they order. */
struct keyed { const struct gus_sorting *sorting; const struct gus_profile *profile; };

/* Profiles that keep accesses have one at least. */
static const struct gus_touch *touch_of(const struct keyed *s, const struct gus_row *row)
{
	static const struct gus_touch none;

	return s->profile->touches ? &s->profile->touches->list.v[row->touch] : &none;
}

static int key_order(const struct keyed *s, enum gus_sort key, const struct gus_row *x, const struct gus_row *y)
{
	int order;

	switch (key) {
	case GUS_SORT_SHARE:
		return number_order(y->weight, x->weight);
	case GUS_SORT_SAMPLES:
		return number_order(y->samples, x->samples);
	case GUS_SORT_TOTAL:
		return number_order(y->total, x->total);
	case GUS_SORT_NAME:
		return x->comm ? text_order(x->comm, y->comm) : text_order(x->function, y->function);
	case GUS_SORT_MODULE:
		return text_order(module_path(s->profile, x), module_path(s->profile, y));
	case GUS_SORT_LINE:
		order = text_order(x->file, y->file);
		return order ? order : number_order(x->line, y->line);
	case GUS_SORT_PID:
		return number_order(x->pid, y->pid);
	case GUS_SORT_TID:
		return number_order(x->tid, y->tid);
	case GUS_SORT_ADDRESS:
		return number_order(touch_of(s, x)->lowest, touch_of(s, y)->lowest);
	case GUS_SORT_LATENCY:
		return number_order(y->loads.median.cycles, x->loads.median.cycles);
	case GUS_SORT_SUM:
		return number_order(y->loads.sum, x->loads.sum);
	case GUS_SORT_LONGEST: /* a profile has one of the two */
		return number_order(y->loads.longest + y->off.longest, x->loads.longest + x->off.longest);
	default:
		return number_order(x->offset, y->offset);
	}
}

static int by_keys(const struct gus_row *x, const struct gus_row *y, const void *context)
{
	const struct keyed *s = context;

	for (size_t i = 0; i < s->sorting->n; i++) {
		int order = key_order(s, s->sorting->keys[i], x, y);

		if (order)
			return order;
	}
	return 0;
}

static int unknown_key(const char *text, size_t length, struct gus_error *err)
{
	char *word = gus_strndup(text, length), meant[64];
	const char *by = gus_report_by_of_perf(word), *instead = NULL;

	for (size_t i = 0; i < sizeof(dimensions) / sizeof(*dimensions); i++)
		if (strcmp(dimensions[i].word, word) == 0)
			instead = dimensions[i].instead;
	gus_suggest_format(gus_suggest(word, names, GUS_SORTS), meant, sizeof(meant));
	if (by || instead)
		gus_fail(err, GUS_E_USAGE, "-s says here in which order rows stand, and not what a row is: for perf's "
			 "'%s' use %s%s%s", word, by ? "--by " : "", by ? by : instead,
			 strchr(text, ',') ? "; --by takes several with commas, too" : "");
	else
		gus_fail(err, GUS_E_USAGE, "--sort knows share, samples, total, name, module, line, offset, pid, tid, "
			 "address, latency, sum and longest, not '%s'%s", word, meant);
	free(word);
	return -1;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && strncmp(text, word, length) == 0;
}

int gus_sorting_parse(struct gus_sorting *s, const char *text, struct gus_error *err)
{
	while (*text) {
		size_t length = strcspn(text, ","), key = 0;

		while (key < GUS_SORTS && !is_word(text, length, names[key]))
			key++;
		for (size_t i = 0; i < sizeof(synonyms) / sizeof(*synonyms); i++)
			key = is_word(text, length, synonyms[i].word) ? synonyms[i].key : key;
		if (key == GUS_SORTS)
			return unknown_key(text, length, err);
		if (s->n == sizeof(s->keys) / sizeof(*s->keys))
			return gus_fail(err, GUS_E_USAGE, "--sort takes %zu keys at most", s->n);
		s->keys[s->n++] = (enum gus_sort)key;
		text += length + (text[length] == ',');
	}
	return 0;
}

/* Rows that have nothing of what they are to be ordered by would stand as if they had not been. */
int gus_sorting_fits(const struct gus_sorting *s, unsigned by, enum gus_weighs weighs, struct gus_error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		enum gus_sort key = s->keys[i];
		const bool of_data = key == GUS_SORT_ADDRESS || key == GUS_SORT_LATENCY || key == GUS_SORT_SUM;

		if (by & GUS_BY_DATA || !(of_data || (key == GUS_SORT_LONGEST && weighs == GUS_WEIGHS_EVENTS)))
			continue;
		return gus_fail(err, GUS_E_USAGE, "--sort %s is for rows of accesses to memory%s: --by data-source "
				"and others make them", names[key], of_data ? "" : " and for --off-cpu and --wall");
	}
	return 0;
}

void gus_sorting_apply(const struct gus_sorting *s, struct gus_view *v, const struct gus_profile *p)
{
	if (s->n)
		gus_view_sort(v, by_keys, &(struct keyed){ s, p });
}

enum gus_sort gus_sorting_first(const struct gus_sorting *s)
{
	return s->n ? s->keys[0] : GUS_SORT_SHARE;
}
