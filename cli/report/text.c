/* SPDX-License-Identifier: MIT */
/* The report as text that pipes well: notes in lines that start with '#', then a row a line. */
#include <inttypes.h>
#include <stdio.h>

#include "base/path.h"
#include "cli/common/print.h"
#include "cli/report/render.h"

/* How many callers and callees of a row are shown; JSON has them all. */
#define EDGES_SHOWN 5

static void comment(const char *text, void *context)
{
	gus_print("# %s: %s\n", (const char *)context, text);
}

static void print_command(const Gusprof__Header *header)
{
	if (!header->n_command)
		return;
	printf("# command:");
	for (size_t i = 0; i < header->n_command; i++)
		gus_print(" %s", header->command[i]);
	putchar('\n');
}

/* What was asked for and what was got, where the rate was the recorder's to choose. */
static void print_overhead(const struct gus_profile *p)
{
	const Gusprof__Overhead *o = p->footer ? p->footer->overhead : NULL;
	double percent = gus_overhead_percent(p);
	const uint64_t parts[] = { p->header->overhead_ppm, o ? o->got_ppm : 0, o ? o->samples_ppm : 0,
				   o ? o->following_ppm : 0, o ? o->recorder_ppm : 0 };
	char all[48], text[5][48];

	if (percent < 0)
		return;
	if (percent > 100) {
		gus_print("# cost of recording: more than the target itself took\n");
		return;
	}
	gus_fixed_format(all, sizeof(all), percent, 2);
	gus_print("# cost of recording: about %s %% of the CPU time (own time measured, cost per sample probed)\n",
		  all);
	if (!o)
		return;
	for (size_t i = 0; i < 5; i++)
		gus_fixed_format(text[i], sizeof(text[i]), (double)parts[i] / 1e4, 2);
	gus_print("#   while it ran %s %%", text[1]);
	if (p->header->overhead_ppm)
		gus_print(", asked %s %%, at %" PRIu64 " and in the end %" PRIu64 " samples a second", text[0],
			  o->hz_first, o->hz_last);
	gus_print(": samples %s, following tasks %s, recorder %s\n", text[2], text[3], text[4]);
}

static void print_totals(const struct gus_report *r)
{
	const struct gus_profile *p = r->profile;
	const Gusprof__Header *h = p->header;
	char time[48], length[48], percent[48];

	gus_time_format(time, sizeof(time), gus_scale_apply(&r->units.time, p->weight));
	gus_time_format(length, sizeof(length), r->length_ns);
	gus_print("# %" PRIu64 " samples of %s", p->samples,
		  p->event < h->n_events ? h->events[p->event]->name : "an event that is not known");
	if (r->units.time.known)
		gus_print(", %s of CPU time (%s)", time, gus_evidence_name(r->units.time.evidence));
	gus_print(" in %s", length);
	if (h->host)
		gus_print(" on %s", h->host->hostname);
	if (*h->tier)
		gus_print(", tier %s", h->tier);
	putchar('\n');
	if (p->filtered)
		printf("# %" PRIu64 " more samples were left out by the options\n", p->filtered);
	if (r->units.cycles.known) {
		gus_fixed_format(percent, sizeof(percent), r->units.cycles.factor, 3);
		gus_print("# cycles: %" PRIu64 " (%s", gus_scale_apply(&r->units.cycles, p->weight),
			  gus_evidence_name(r->units.cycles.evidence));
		if (r->units.cycles.evidence == GUS_INFERRED)
			gus_print(" at %s GHz, timed before and after the run", percent);
		printf(")\n");
	}
	print_overhead(p);
	if (*h->choice)
		comment(h->choice, (void *)"event");
}

static void print_place(const struct gus_report *r, const struct gus_row *row, const struct gus_report_cell *cell)
{
	if (r->view->by == GUS_BY_THREAD) {
		const struct gus_thread *t = &r->profile->threads.v[row->thread];

		gus_print("%-16s %u/%u", t->comm, t->pid, t->tid);
		return;
	}
	if (r->view->by == GUS_BY_MODULE) {
		gus_print("%s", cell->module);
		return;
	}
	gus_print("%-20s  ", gus_base_name(cell->module));
	if (r->view->by == GUS_BY_INSTRUCTION)
		gus_print("%8" PRIx64 "  %-40s  ", row->offset, cell->text);
	if (r->view->by != GUS_BY_FUNCTION && row->file)
		gus_print("%s:%u  ", gus_base_name(row->file), row->line);
	gus_print("%s", row->function ? row->function : "[unknown]");
}

static void print_edges(const struct gus_report *r, uint32_t row, bool callers)
{
	size_t n;
	const struct gus_edge *e = callers ? gus_view_callers(r->view, row, &n) : gus_view_callees(r->view, row, &n);

	for (size_t i = 0; i < n && i < EDGES_SHOWN; i++) {
		const struct gus_row *other = &r->view->rows.v[callers ? e[i].from : e[i].to];

		printf("        ");
		gus_print_percent((double)e[i].weight / (double)r->profile->weight);
		gus_print("  %s %s\n", callers ? "called by" : "calls    ",
			  other->function ? other->function : "[unknown]");
	}
}

static void print_row(const struct gus_report *r, size_t i, const struct gus_report_cell *cell)
{
	const struct gus_row *row = &r->view->rows.v[i];
	char time[48];

	gus_print_percent(row->share);
	gus_print_percent(row->ci95.low);
	printf(" ..");
	gus_print_percent(row->ci95.high);
	if (r->graph)
		gus_print_percent(r->profile->weight ? (double)row->total / (double)r->profile->weight : 0);
	printf("  %8" PRIu64, row->samples);
	if (r->units.time.known) {
		gus_time_format(time, sizeof(time), cell->time_ns);
		gus_print("  %10s", time);
	}
	printf("  ");
	print_place(r, row, cell);
	putchar('\n');
	if (r->graph && r->view->by == GUS_BY_FUNCTION) {
		print_edges(r, (uint32_t)i, true);
		print_edges(r, (uint32_t)i, false);
	}
}

static void print_columns(const struct gus_report *r)
{
	static const char *const places[] = {
		[GUS_BY_FUNCTION] = "module                function",
		[GUS_BY_MODULE] = "module",
		[GUS_BY_LINE] = "module                line  function",
		[GUS_BY_INSTRUCTION] = ("module                  offset  instruction                               "
					"line  function"),
		[GUS_BY_THREAD] = "thread           pid/tid",
	};

	gus_print("#\n#  share     95%% interval%s   samples  %s%s\n", r->graph ? "     total" : "   ",
		  r->units.time.known ? "      time  " : "", places[r->view->by]);
}

void gus_render_text_head(const struct gus_report *r)
{
	print_command(r->profile->header);
	print_totals(r);
	gus_report_notices(r, comment, (void *)"WARNING");
}

void gus_render_text(const struct gus_report *r)
{
	uint64_t sum = 0, hidden = 0, hidden_weight = 0;

	gus_render_text_head(r);
	if (!r->profile->samples) {
		printf("# no samples%s\n", r->profile->filtered ? " are left" : " were taken: the program was too "
		       "short, or it did not run while it was recorded");
		return;
	}
	print_columns(r);
	for (size_t i = 0; i < r->view->rows.n; i++) {
		struct gus_report_cell cell;

		gus_report_cell(r, i, &sum, &cell);
		if (gus_report_shown(r, &r->view->rows.v[i])) {
			print_row(r, i, &cell);
		} else {
			hidden++;
			hidden_weight += r->view->rows.v[i].weight;
		}
	}
	if (hidden) {
		printf("# %" PRIu64 " rows below the limit are left out, together", hidden);
		gus_print_percent((double)hidden_weight / (double)r->profile->weight);
		putchar('\n');
	}
}
