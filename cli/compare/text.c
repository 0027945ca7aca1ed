/* SPDX-License-Identifier: MIT */
/* What was measured and what was modelled, for people. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/lines.h"
#include "attribution/traced/regions.h"
#include "base/path.h"
#include "cli/common/calibrated.h"
#include "cli/common/print.h"
#include "cli/compare/view.h"
#include "cli/compare/words.h"
#include "cli/model/expected.h"
#include "cli/screen/screen.h"
#include "cli/screen/table.h"
#include "model/tables/uarch.h"

enum { ROWS = 12, INSNS = 48 };

/* "12.3 M" */
static void count_text(char out[32], double n)
{
	static const char *const units[] = { "", " k", " M", " G", " T" };
	size_t u = 0;

	for (; n >= 10000 && u + 1 < sizeof(units) / sizeof(*units); u++)
		n /= 1000;
	snprintf(out, 32, u ? "%.2f%s" : "%.0f%s", n, units[u]);
}

/* A line of the head, folded. text is given up. */
static void fact(const struct gus_compare_view *v, const char *what, char *text)
{
	char *first = gus_format("  %-10s ", what);

	gus_screen_fold(v->screen, stdout, first, "             ", text);
	free(first);
	free(text);
}

static void print_host(const struct gus_compare_view *v)
{
	const Gusprof__Host *h = v->measured->host;

	if (!h)
		return;
	fact(v, "host", gus_format("%s, family %u model %u stepping %u%s%s, Linux %s%s%s",
				   *h->cpu_model ? h->cpu_model : h->machine, h->cpu_family, h->cpu_model_number,
				   h->cpu_stepping, *h->microcode ? ", microcode " : "", h->microcode, h->kernel,
				   *h->hypervisor ? ", under " : "", h->hypervisor));
}

static void print_table(const struct gus_compare_view *v)
{
	const struct gus_uarch *u = v->model->model->uarch;
	char *text = gus_format("%s, %s (", u->name, u->title), *more;

	for (uint32_t i = 0; i < u->files_n; i++) {
		more = gus_format("%s%s%s", text, i ? ", " : "", u->files[i]);
		free(text);
		text = more;
	}
	more = gus_format("%s), %s engine", text, v->core ? "core" : "stream");
	free(text);
	fact(v, "table", more);
	gus_calibrated_text(u);
}

static void print_measured(const struct gus_compare_view *v)
{
	const struct gus_measured *m = v->measured;
	const struct gus_coverage *c = &m->coverage;
	char time[48] = "", runs[64] = "", *text;

	if (m->time.known)
		gus_time_format(time, sizeof(time), gus_scale_apply(&m->time, c->weight / m->runs));
	if (m->runs > 1)
		snprintf(runs, sizeof(runs), " in %u runs", m->runs);
	text = gus_format("%" PRIu64 " sample%s of %s%s%s%s%s; %.1f%% are of code that the trace has executed",
			  c->samples, c->samples == 1 ? "" : "s", m->event, runs, *time ? ", " : "", time,
			  *time ? (m->runs > 1 ? " each" : " of CPU time") : "",
			  100 * (double)c->covered / (double)c->samples);
	fact(v, "measured", text);
	for (size_t i = 0; i < c->elsewhere_n && c->elsewhere[i].samples * 100 >= c->samples; i++)
		fact(v, "", gus_format("%.1f%% are elsewhere: %s", 100 * (double)c->elsewhere[i].samples /
				       (double)c->samples, c->elsewhere[i].name));
}

static void print_cycles(const struct gus_compare_view *v)
{
	const struct gus_measured *m = v->measured;
	const char *rule = m->frequency ? m->frequency->rule : "";
	char *text;

	if (!m->cycles.known)
		text = gus_strdup("are not known: the recording has no frequency of the core");
	else if (m->cycles.evidence == GUS_OBSERVED)
		text = gus_strdup("were counted");
	else
		text = gus_format("are inferred from time, less %.1f%% that samples took, at %.2f to %.2f GHz, as "
				  "timed before and after%s%s%s", 100 * m->cost, m->clock.low, m->clock.high,
				  *rule ? " (" : "", rule, *rule ? ")" : "");
	fact(v, "cycles", text);
}

static void print_looks(const struct gus_compare_view *v)
{
	const struct gus_looks *l = &v->compared->looks;

	if (l->beside)
		fact(v, "", gus_format("another thread was busy on the same core at %u of %u looks, before and behind "
				       "each run", l->beside, l->n));
}

static void print_modelled(const struct gus_compare_view *v)
{
	const struct gus_traced *t = v->model->traced;
	const char *why = gus_model_not_judged(v->model->model->expectation, "all");
	const struct gus_expected_error *e = gus_model_expected(v->model->model->expectation, "all");
	const struct gus_model_windows *w = v->model->windows;
	char instructions[32], windows[64] = "";

	count_text(instructions, (double)(t->instructions - t->warmed));
	if (w && w->taken)
		snprintf(windows, sizeof(windows), " in %u window%s", w->taken, w->taken == 1 ? "" : "s");
	fact(v, "modelled", gus_format("%s instructions%s, %s", instructions, windows, v->model->part ?
				       "a part of what was executed, as if caches had been warm" :
				       "all that a run executes, from cold caches on"));
	if (w && w->taken && w->failed)
		fact(v, "", gus_format("of %u snapshots more there is no window; of the first, as it is: %s", w->failed,
				       w->first.text));
	if (e)
		fact(v, "", gus_format("%s %.1f%%, by %u programs that were measured", e->median < 0 ?
				       "in general it is off, on average, by" : "in general half of all is off by less "
				       "than", e->median < 0 ? e->mean : e->median, e->n));
	else
		fact(v, "", gus_format("how far it is off in general is not known: %s", why));
}

static void print_compared(const struct gus_compare_view *v)
{
	static const char *const texts[] = {
		[GUS_COMPARED_CYCLES] = "cycles of a run, region by region",
		[GUS_COMPARED_PER_INSTRUCTION] = "cycles per instruction, as the trace is a part of the run and "
			"instructions were counted",
		[GUS_COMPARED_SHARES] = "each region against all others, as if these took what was modelled: where one "
			"is too high, others are too low. For cycles the trace has to be of the whole run, or "
			"instructions have to be counted",
	};
	const char *text = texts[v->compared->basis];

	if (!v->measured->cycles.known)
		text = "each region against all others, as cycles are not known";
	fact(v, "compared", gus_strdup(text));
}

static enum gus_colour colour_of(enum gus_trust verdict)
{
	static const enum gus_colour colours[GUS_TRUSTS] = { GUS_COLOUR_GOOD, GUS_COLOUR_NONE, GUS_COLOUR_BAD,
		GUS_COLOUR_NONE };

	return colours[verdict];
}

static void print_whole(const struct gus_compare_view *v)
{
	const struct gus_compared_row *w = &v->compared->whole;
	char measured[32], low[32], high[32], modelled[32];

	count_text(measured, w->measured.value);
	count_text(low, w->measured.ci.low);
	count_text(high, w->measured.ci.high);
	count_text(modelled, w->modelled);
	putchar('\n');
	if (v->compared->basis != GUS_COMPARED_SHARES)
		gus_print("  %s cycles measured (95%%: %s to %s), %s modelled: ", measured, low, high, modelled);
	if (v->compared->basis != GUS_COMPARED_SHARES && gus_figure_tells(&w->ratio))
		printf("measured are %.2f times as many (%.2f to %.2f)\n", w->ratio.value, w->ratio.ci.low,
		       w->ratio.ci.high);
	else if (v->compared->basis != GUS_COMPARED_SHARES)
		printf("too few samples for a ratio\n");
	printf("  %.1f%% of the time is in another region than modelled\n  verdict on the whole: ",
	       100 * v->compared->distance);
	gus_screen_colour(v->screen, stdout, colour_of(w->verdict));
	gus_print("%s", gus_trust_name(w->verdict));
	gus_screen_colour(v->screen, stdout, GUS_COLOUR_NONE);
	printf(" (of the time, by functions: %.0f%% trust, %.0f%% doubtful, %.0f%% do not trust, %.0f%% cannot tell)\n",
	       100 * v->compared->time[GUS_TRUST_FULL], 100 * v->compared->time[GUS_TRUST_DOUBTFUL],
	       100 * v->compared->time[GUS_TRUST_NONE], 100 * v->compared->time[GUS_TRUST_OPEN]);
}

enum { MEASURED, MODELLED, RATIO, LOW, HIGH, PER_MEASURED, PER_MODELLED, VERDICT, REGION, COLUMNS };
static const struct gus_table_column columns[COLUMNS] = {
	{ "measured", .right = true, .pad = 8 }, { "modelled", .right = true, .pad = 8 },
	{ "ratio", .right = true, .pad = 5 }, { "from", .right = true, .pad = 5, .leaves = 3 },
	{ "to", .right = true, .pad = 5, .leaves = 4 }, { "cyc/ins", .right = true, .pad = 7, .leaves = 1 },
	{ "model", .right = true, .pad = 5, .leaves = 2 }, { "verdict", .how = GUS_SHORTEN_END, .pad = 12 },
	{ "region", .how = GUS_SHORTEN_NAME, .comfort = 24, .least = 10 },
};

static char *name_of(const struct gus_compare_view *v, uint32_t region)
{
	const struct gus_traced *t = v->model->traced;
	char name[256];

	gus_traced_region_name(t, region, name, sizeof(name));
	return gus_format("%s  [%s]", name, gus_base_name(t->functions.v[t->regions.v[region].function].module));
}

static void figure(char out[32], bool known, double value, int digits)
{
	if (known && value < 1e6)
		snprintf(out, 32, "%.*f", digits, value);
	else
		snprintf(out, 32, "-");
}

static void add_row(const struct gus_compare_view *v, struct gus_table *table, const struct gus_compared_row *r)
{
	bool absolute = v->compared->basis != GUS_COMPARED_SHARES;
	bool there = r->modelled > 0 && gus_figure_tells(&r->ratio);
	char text[REGION][32], *name = name_of(v, r->region);
	const char *cells[COLUMNS];

	snprintf(text[MEASURED], 32, "%.2f%%", 100 * r->share.value);
	snprintf(text[MODELLED], 32, "%.2f%%", 100 * r->modelled_share);
	figure(text[RATIO], there, r->ratio.value, 2);
	figure(text[LOW], there, r->ratio.ci.low, 2);
	figure(text[HIGH], there, r->ratio.ci.high, 2);
	figure(text[PER_MEASURED], absolute && there && r->instructions,
	       r->measured.value / (double)r->instructions, 2);
	figure(text[PER_MODELLED], r->instructions, r->modelled / (double)r->instructions, 2);
	snprintf(text[VERDICT], 32, "%s", gus_trust_name(r->verdict));
	for (size_t i = 0; i < REGION; i++)
		cells[i] = text[i];
	cells[REGION] = name;
	gus_table_row(table, colour_of(r->verdict), cells);
	free(name);
}

/* Rows that are shown. */
static size_t shown(const struct gus_compare_view *v)
{
	size_t n = 0;

	if (v->rows)
		return v->rows < v->compared->rows.n ? v->rows : v->compared->rows.n;
	while (n < v->compared->rows.n && n < ROWS && fmax(v->compared->rows.v[n].share.value,
							   v->compared->rows.v[n].modelled_share) >= 0.01)
		n++;
	return n;
}

static void print_rows(const struct gus_compare_view *v)
{
	struct gus_table table;

	putchar('\n');
	gus_table_begin(&table, v->screen, stdout, columns, COLUMNS);
	table.coloured = VERDICT;
	for (size_t i = 0; i < shown(v); i++)
		add_row(v, &table, &v->compared->rows.v[i]);
	gus_table_end(&table);
	gus_screen_fold(v->screen, stdout, "  ", "  ", "measured and modelled are shares of the time; ratio is "
			"measured over modelled cycles, with its 95% interval (from, to), above 1 where the model is "
			"too fast, - where too little is known; cyc/ins is cycles per instruction, measured and of "
			"the model");
}

static void print_reasons(const struct gus_compare_view *v, struct gus_compare_reasons *reasons)
{
	for (size_t i = 0; i < reasons->n; i++)
		gus_screen_fold(v->screen, stdout, "    - ", "      ", reasons->v[i]);
	gus_compare_reasons_free(reasons);
}

/* Of each region that is off, what may be the reason. */
static void print_explanations(const struct gus_compare_view *v)
{
	struct gus_compare_reasons reasons = { 0 };
	bool any = false;

	for (size_t i = 0; i < shown(v); i++) {
		const struct gus_compared_row *r = &v->compared->rows.v[i];
		char *name;

		if (r->verdict != GUS_TRUST_DOUBTFUL && r->verdict != GUS_TRUST_NONE)
			continue;
		if (!any)
			printf("\n  what may explain that these are off (as if nothing else were)\n");
		any = true;
		name = name_of(v, r->region);
		gus_screen_fold(v->screen, stdout, "  ", "    ", name);
		free(name);
		gus_compare_reasons_of(v, r, &reasons);
		print_reasons(v, &reasons);
	}
	gus_compare_reasons_common(v, &reasons);
	if (reasons.n)
		printf("\n  of all\n");
	print_reasons(v, &reasons);
}

struct listing { double samples, own, measured; bool absolute; };

static void print_line(const struct gus_traced_line *l, const struct listing *of)
{
	double share = of->samples > 0 ? (double)l->samples / of->samples : 0;
	double own = of->own > 0 ? l->own / of->own : 0, times = (double)l->executed;

	printf("  %12" PRIx64 " %10" PRIu64 "  %6.2f%%", l->address, l->executed, 100 * share);
	if (l->fused)
		printf("    fused");
	else
		printf("  %6.2f%%", 100 * own);
	if (of->absolute && times > 0)
		printf("  %8.2f", share * of->measured / times);
	else
		printf("         -");
	if (l->fused || !(times > 0))
		printf("         -");
	else
		printf("  %8.2f", l->own / times);
	gus_print("  %s\n", l->text);
}

/* Of a long region those with a hundredth of either time. */
static bool is_shown(const struct gus_traced_line *l, size_t n, const struct listing *of)
{
	return n <= INSNS || (double)l->samples >= 0.01 * of->samples || l->own >= 0.01 * of->own;
}

static void print_listing(const struct gus_compare_view *v, const struct gus_compared_row *r)
{
	struct listing of = { .samples = (double)r->samples, .measured = r->measured.value,
		.absolute = v->compared->basis != GUS_COMPARED_SHARES };
	struct gus_traced_lines lines = { 0 };
	char *name = name_of(v, r->region);
	size_t printed = 0;

	gus_traced_lines_find(v->model->traced, r->region, v->measured->coverage.by_insn, &lines);
	for (size_t i = 0; i < lines.n; i++)
		of.own += lines.v[i].own;
	gus_print("\n  instructions of %s\n", name);
	printf("       address      times  measured  model  cyc. each     model\n");
	for (size_t i = 0; i < lines.n; i++)
		if (is_shown(&lines.v[i], lines.n, &of)) {
			print_line(&lines.v[i], &of);
			printed++;
		}
	if (printed < lines.n)
		printf("  %zu more have less than a hundredth of both\n", lines.n - printed);
	gus_vec_free(&lines);
	free(name);
}

static void print_listings(const struct gus_compare_view *v)
{
	size_t n = v->listings < v->compared->rows.n ? v->listings : v->compared->rows.n;

	for (size_t i = 0; i < n; i++)
		print_listing(v, &v->compared->rows.v[i]);
	if (n && v->measured->skids)
		gus_screen_fold(v->screen, stdout, "  ", "  ", "a sample stands behind what the time was spent on, by "
				"an instruction or by many (skid), so of neighbours it is the sum that counts");
}

void gus_compare_text(const struct gus_compare_view *v)
{
	char *title = gus_compare_title(v);

	gus_print("%s: measured and modelled\n\n", title);
	free(title);
	print_host(v);
	print_table(v);
	print_measured(v);
	print_cycles(v);
	print_looks(v);
	print_modelled(v);
	print_compared(v);
	print_whole(v);
	print_rows(v);
	print_explanations(v);
	print_listings(v);
}
