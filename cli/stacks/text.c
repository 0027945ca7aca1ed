/* SPDX-License-Identifier: MIT */
/* Stacks for people: a row an instruction, or whatever else was asked for, with its stack as a bar and in words. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/accounts/account.h"
#include "base/path.h"
#include "cli/common/calibrated.h"
#include "cli/screen/table.h"
#include "cli/slots/slots.h"
#include "cli/stacks/bar.h"
#include "cli/stacks/kept.h"
#include "cli/stacks/stacks.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

static const double LEAST = 0.5;        /* percent */
static const double WIDE = 20;          /* likewise */
enum { PARTS = 4 };                     /* of a stack that are printed */
enum { FEW = 300, MUCH = 5 };   /* samples; percent */

/* Of other units than instructions there is no code, and what stands behind it is in its place. */
enum { SHARE, INTERVAL, SEEN, MODEL, BAR, NAME, CODE, WHAT, COLUMNS };

struct text {
	const struct gus_stacks_view *v;
	struct gus_screen screen;
	uint64_t most;                  /* the height of the first row */
	bool unsure;                    /* some shares are no facts */
	struct gus_vec(char) letters;   /* of all bars */
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* A line, or several. The text is freed. */
static void say(const struct text *t, char *text)
{
	gus_screen_fold(&t->screen, stdout, "# ", "#   ", text);
	free(text);
}

static void add_reason(char **text, uint64_t weight, uint64_t whole, const char *reason)
{
	char *more;

	if (percent(weight, whole) < 0.05)
		return;
	more = gus_format("%s%s%.1f %% %s", *text, **text ? ", " : "", percent(weight, whole), reason);
	free(*text);
	*text = more;
}

/* Whether it can be run again. */
static bool is_of_command(const Gusprof__Header *h)
{
	return h && h->n_command && (!*h->target || strcmp(h->target, "command") == 0);
}

/* Why some stays where it was seen, and what would give more. */
static char *reasons_of(const struct gus_stacks_view *v, unsigned windows)
{
	bool command = is_of_command(v->clues->profile.header);
	uint64_t all = v->account->weight, left = all - v->account->explained - v->kernel - v->unexecuted;
	char *text = gus_strdup("");

	add_reason(&text, v->kernel, all, "is the kernel's");
	add_reason(&text, v->unexecuted, all, !windows ? "is in code that no part of its trace has executed (an "
		   "emulator's CPU may make a library take another variant)" : percent(v->unexecuted, all) < MUCH ?
		   "is in code that no window has executed" : command ?
		   "is in code that no window has executed (record --trace qemu runs it again for that; there are "
		   "more, too, if you record for longer, or with more --overhead)" :
		   "is in code that no window has executed (there are more if you record for longer, or with more "
		   "--overhead)");
	add_reason(&text, left, all, "is behind something that is in none");
	return text;
}

static void say_explained(const struct text *t)
{
	const struct gus_stacks_view *v = t->v;
	const struct gus_account *a = v->account;
	unsigned windows = v->ran ? v->ran->taken : 0;
	char where[64], *reasons;

	snprintf(where, sizeof(where), "%u window%s of it", windows, windows == 1 ? "" : "s");
	if (a->explained)
		say(t, gus_format("%.1f %% of the time is in code that %s executed: there it is moved to what the CPU "
				  "waited for or retired (inferred), and split by a model of the CPU (modelled)",
				  percent(a->explained, a->weight), windows ? where :
				  v->ran->partly ? "stretches of its trace" : "its trace"));
	if (v->ran && v->ran->failed)
		say(t, gus_format("%u more window%s could not be read; of the first, as it is: %s", v->ran->failed,
				  v->ran->failed == 1 ? "" : "s", v->ran->first));
	if (v->ran && v->ran->left_out)
		say(t, gus_format("%" PRIu64 " instructions of the trace were not run, as it has too many threads",
				  v->ran->left_out));
	if (a->solution.width > v->width)
		say(t, gus_format("the table has %u ops that retire in a cycle, which cannot have executed so much; up "
				  "to %u can", v->width, a->solution.width));
	if (a->explained == a->weight)
		return;
	reasons = v->why ? gus_strdup(v->why) : !v->clues->sight.known ?
		gus_strdup("of such samples it cannot be told") : reasons_of(v, windows);
	say(t, gus_format("%.1f %% stays where samples were seen, and nothing but their records tells why%s%s",
			  percent(a->weight - a->explained, a->weight), *reasons ? ": " : "", reasons));
	free(reasons);
}

/* What the model's word is worth. */
static void say_table(const struct text *t)
{
	const struct gus_uarch *u = t->v->uarch;
	long days = u ? gus_calibrated_days(u) : -1;

	if (!u || !t->v->account->explained)
		return;
	if (!gus_calibrated_file(u))
		say(t, gus_format("the model is of %s as such, and not of that machine (gusprof calibrate makes one)",
				  u->name));
	else if (days >= GUS_CALIBRATED_OLD)
		say(t, gus_format("the model is of that machine as it was calibrated %ld days ago", days));
}

/* What makes the rest worth less. */
static void say_quality(const struct text *t)
{
	const struct gus_profile *p = &t->v->clues->profile;

	if (t->v->clues->samples < FEW)
		say(t, gus_strdup("so few samples tell little: record for longer, or with a higher --overhead or -F"));
	if (p->lost)
		say(t, gus_format("%" PRIu64 " records were lost, and what they would have told is not there",
				  p->lost));
	if (p->throttled)
		say(t, gus_format("the kernel paused sampling %" PRIu64 " time%s: what it ran meanwhile has too little",
				  p->throttled, p->throttled == 1 ? "" : "s"));
	say_table(t);
}

static void say_head(const struct text *t)
{
	const struct gus_stacks_view *v = t->v;

	say(t, gus_format("%" PRIu64 " sample%s of %s; %s", v->clues->samples, v->clues->samples == 1 ? "" : "s",
			  v->event, v->clues->sight.told));
	say_quality(t);
	say_explained(t);
	gus_slots_recorded_text(stdout, &t->screen, v->clues->profile.slots);
	if (v->clues->unsampled)
		say(t, gus_format("%.1f %% more was not sampled, as tasks ended before their next sample",
				  percent(v->clues->unsampled, v->account->weight + v->clues->unsampled)));
}

/* A part, with its interval where that is wide. */
static char *part_of(const struct gus_stacks_view *v, const struct gus_sum_row *row, size_t i)
{
	double low = percent(row->parts.v[i].low, row->weight), high = percent(row->parts.v[i].high, row->weight);
	char key[GUS_COMPONENT_KEY_MAX], bounds[32] = "";
	const char *cause;

	gus_component_key(row->stack.v[i].what, key);
	cause = gus_stacks_cause_of(v, row, &row->stack.v[i].what);
	if (!row->stack.v[i].what.unknown && high - low >= WIDE)
		snprintf(bounds, sizeof(bounds), " (%.0f-%.0f)", low, high < 100 ? high : 100);
	return gus_format("%s%s%s %.0f%%%s", key, cause ? ": " : "", cause ? cause : "",
			  percent(row->stack.v[i].weight, row->weight), bounds);
}

static int by_part(const void *a, const void *b, void *context)
{
	const struct gus_stack *s = context;
	const size_t *x = a, *y = b;

	if (s->v[*x].weight != s->v[*y].weight)
		return s->v[*x].weight > s->v[*y].weight ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

char *gus_stacks_parts(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	struct gus_vec(size_t) order = { 0 };
	char *text = gus_strdup("");

	for (size_t i = 0; i < row->stack.n; i++)
		gus_vec_push(&order, i);
	if (order.n)
		qsort_r(order.v, order.n, sizeof(*order.v), by_part, (void *)(uintptr_t)&row->stack);
	for (size_t i = 0; i < order.n && i < PARTS && percent(row->stack.v[order.v[i]].weight, row->weight) >= 0.5;
	     i++) {
		char *part = part_of(v, row, order.v[i]), *more = gus_format("%s%s%s", text, i ? ", " : "", part);

		free(part);
		free(text);
		text = more;
	}
	gus_vec_free(&order);
	return text;
}

/* And how the model alone splits its own. Its account has places of its own, of which there may be more; causes are of
 * the account's, which has the same one. */
static char *with_model(const struct gus_stacks_view *v, const struct gus_sum_row *row, char *text)
{
	const struct gus_sum_row *m = gus_stacks_modelled(v, row);
	struct gus_sum_row here = m ? *m : *row;
	char *parts, *more;

	if (!m)
		return text;
	here.place = row->place;
	parts = gus_stacks_parts(v, &here);
	more = gus_format("%s; model: %s", text, parts);
	free(text);
	free(parts);
	return more;
}

static char *stack_of(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	char *text = with_model(v, row, gus_stacks_parts(v, row)), *more;

	if (!v->account->explained || row->evidence != GUS_OBSERVED || v->how->unit >= GUS_SUM_THREAD)
		return text;
	more = gus_format("%s (as seen)", text);
	free(text);
	return more;
}

/* The whole recording's stack. What is no sample of time says what the accesses or instructions that were sampled met,
 * and not what the CPU waited for meanwhile. */
static void say_all(const struct text *t)
{
	enum gus_sampler sampler = t->v->clues->sampler;
	bool time = sampler == GUS_SAMPLER_TIME || sampler == GUS_SAMPLER_DISPATCHED;
	char *parts = gus_stacks_parts(t->v, t->v->all);

	say(t, time ? gus_format("all of the time: %s", parts) :
		gus_format("all samples of %s, which are not of time: %s", t->v->event, parts));
	free(parts);
}

static bool has_code(const struct gus_stacks_view *v)
{
	return v->how->unit == GUS_SUM_INSTRUCTION;
}

static char *code_of(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	struct gus_insn insn;

	gus_stacks_insn(v, row, &insn);
	return gus_strdup(insn.text);
}

char *gus_stacks_name(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	const struct gus_clue_thread *t = row->thread == GUS_CLUE_NONE ? NULL : &v->clues->threads.v[row->thread];
	const char *module = gus_base_name(row->module);

	if (v->how->unit == GUS_SUM_ALL)
		return gus_strdup("all");
	if (t)
		return gus_format("%s (pid %" PRIu32 ", tid %" PRIu32 ")", t->comm, t->pid, t->tid);
	if (v->how->unit == GUS_SUM_MODULE)
		return gus_strdup(row->module);
	if (has_code(v) && row->function)
		return gus_format("%s+0x%" PRIx64 " [%s]", row->function, row->offset - row->start, module);
	if (row->file)
		return gus_format("%s:%" PRIu32 " %s [%s]", gus_base_name(row->file), row->line,
				  row->function ? row->function : "", module);
	if (row->function && (row->loop || v->how->unit == GUS_SUM_BLOCK))
		return gus_format("%s, %s at +0x%" PRIx64 " [%s]", row->function, row->loop ? "loop" : "block",
				  row->offset - row->start, module);
	if (row->function)
		return gus_format("%s [%s]", row->function, module);
	if (!row->loop && (v->how->unit == GUS_SUM_FUNCTION || v->how->unit == GUS_SUM_LOOP))
		return gus_format("[unknown] [%s]", module);
	return gus_format("0x%" PRIx64 " [%s]", row->offset, module);
}

/* The share of the time that the model alone gives it. */
static char *model_of(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	const struct gus_sum_row *m = gus_stacks_modelled(v, row);

	return m ? gus_format("%.2f%%", percent(m->weight, v->account->weight)) : gus_strdup("-");
}

static void put_row(struct text *t, struct gus_table *table, const struct gus_sum_row *row)
{
	uint64_t whole = t->v->account->weight;
	char bar[GUS_BAR_CELLS + 1], *cells[COLUMNS] = { NULL };
	unsigned n = 0;

	gus_bar(&row->stack, row->weight, t->most, bar);
	gus_vec_append(&t->letters, bar, strlen(bar));
	cells[n++] = gus_format("%s%.2f%%", row->fact ? "" : "~", percent(row->weight, whole));
	cells[n++] = gus_format("%.2f-%6.2f%%", percent(row->bounds.low, whole), percent(row->bounds.high, whole));
	cells[n++] = gus_format("%.2f%%", percent(row->seen, whole));
	if (t->v->modelled)
		cells[n++] = model_of(t->v, row);
	cells[n++] = gus_strdup(bar);
	cells[n++] = gus_stacks_name(t->v, row);
	if (has_code(t->v))
		cells[n++] = code_of(t->v, row);
	cells[n++] = stack_of(t->v, row);
	gus_table_row(table, gus_screen_share_colour((double)row->weight / (double)whole),
		      (const char *const *)cells);
	for (unsigned i = 0; i < n; i++)
		free(cells[i]);
}

static void say_left(const struct text *t, uint64_t left, size_t n, double least, bool bars)
{
	const char *unit = gus_sum_unit_name(t->v->how->unit);

	if (n)
		say(t, gus_format("%.2f%% in %zu %ss with less than %g %% each, or with too few samples to tell",
				  percent(left, t->v->account->weight), n, unit, least));
	if (t->unsure)
		say(t, gus_strdup("~ about so much: the interval is wider than the share itself"));
	if (bars && *t->letters.v)
		say(t, gus_bar_legend(t->letters.v));
}

/* How many there are. */
static size_t make_columns(const struct gus_stacks_view *v, struct gus_table_column columns[COLUMNS])
{
	const struct gus_table_column all[COLUMNS] = {
		[SHARE] = { .title = "share", .right = true, .pad = 7 },
		[INTERVAL] = { .title = "95 % of the time", .right = true, .leaves = 3 },
		[SEEN] = { .title = "seen", .right = true, .pad = 7, .leaves = 2 },
		[MODEL] = { .title = "model", .right = true, .pad = 7, .leaves = 3 },
		[BAR] = { .title = "stack", .pad = GUS_BAR_CELLS, .leaves = 4 },
		[NAME] = { .title = gus_sum_unit_name(v->how->unit), .how = GUS_SHORTEN_NAME, .pad = 32,
			.comfort = 32, .least = 16 },
		[CODE] = { .title = "code", .how = GUS_SHORTEN_END, .pad = 24, .comfort = 24, .least = 12,
			.leaves = 1 },
		[WHAT] = { .title = "subjected to", .how = GUS_SHORTEN_END, .comfort = 24, .least = 12 },
	};
	size_t n = 0;

	for (size_t i = 0; i < COLUMNS; i++)
		if ((i != CODE || has_code(v)) && (i != MODEL || v->modelled))
			columns[n++] = all[i];
	return n;
}

/* What is a fact, and what is as much as that needs, but has an interval that is wider: that is told apart. */
static bool is_shown(const struct gus_stacks_view *v, const struct gus_sum_row *row, double least)
{
	double share = percent(row->weight, v->account->weight);

	return row->fact ? share >= least :
		share >= 2 * least && share / 100 * (double)v->clues->samples >= GUS_REPLICATES_LEAST;
}

void gus_stacks_text(const struct gus_stacks_view *v)
{
	double least = v->how->percent_limit >= 0 ? v->how->percent_limit : LEAST;
	struct text t = { .v = v, .screen = gus_screen_of(stdout, v->how->screen),
		.most = v->sums->rows.n ? v->sums->rows.v[0].weight : 0 };
	struct gus_table_column columns[COLUMNS];
	struct gus_table table;
	uint64_t left = 0;
	size_t n = 0;

	say_head(&t);
	say_all(&t);
	gus_table_begin(&table, &t.screen, stdout, columns, make_columns(v, columns));
	for (size_t i = 0; i < v->sums->rows.n; i++) {
		const struct gus_sum_row *row = &v->sums->rows.v[i];

		if (is_shown(v, row, least)) {
			put_row(&t, &table, row);
			t.unsure |= !row->fact;
			continue;
		}
		left += row->weight;
		n++;
	}
	gus_table_end(&table);
	gus_vec_push(&t.letters, '\0');
	say_left(&t, left, n, least, !(table.gone >> (v->modelled ? BAR : BAR - 1) & 1));
	gus_vec_free(&t.letters);
}
