/* SPDX-License-Identifier: MIT */
/* The report as CSV (RFC 4180): a header line always, the same columns for every view. */
#include "cli/common/csv.h"
#include "cli/report/render.h"

static void print_row(struct gus_csv *c, const struct gus_report *r, size_t i, uint64_t *sum)
{
	const struct gus_row *row = &r->view->rows.v[i];
	const bool timed = r->profile->weighs != GUS_WEIGHS_EVENTS;
	struct gus_report_cell cell;

	gus_report_cell(r, i, sum, &cell);
	if (!gus_report_shown(r, row))
		return;
	gus_csv_text(c, cell.module);
	gus_csv_text(c, cell.build_id);
	gus_csv_text(c, row->function);
	gus_csv_text(c, row->file);
	gus_csv_number(c, row->line != 0, row->line);
	gus_csv_number(c, row->has_offset, row->offset);
	gus_csv_text(c, cell.text);
	gus_csv_number(c, r->view->by == GUS_BY_THREAD || r->view->by == GUS_BY_PROCESS, row->pid);
	gus_csv_number(c, r->view->by == GUS_BY_THREAD, row->tid);
	gus_csv_text(c, row->comm);
	gus_csv_number(c, true, row->samples);
	gus_csv_number(c, r->units.time.known, cell.time_ns);
	gus_csv_number(c, r->units.cycles.known, cell.cycles);
	gus_csv_number(c, true, row->weight);
	gus_csv_number(c, r->graph != NULL, row->total);
	gus_csv_fixed(c, true, row->share, 6);
	gus_csv_fixed(c, true, row->ci95.low, 6);
	gus_csv_fixed(c, true, row->ci95.high, 6);
	gus_csv_number(c, timed, row->off.ns);
	gus_csv_number(c, timed, row->off.waiting);
	gus_csv_number(c, timed, row->off.times);
	gus_csv_number(c, timed, row->off.longest);
	gus_csv_end(c);
}

void gus_render_csv(const struct gus_report *r)
{
	struct gus_csv csv = { stdout, ",", false };
	uint64_t sum = 0;

	printf("module,build_id,function,file,line,offset,text,pid,tid,comm,samples,time_ns,cycles,weight,total,share,"
	       "ci95_low,ci95_high,off_ns,waiting_ns,times_off,longest_off_ns\n");
	for (size_t i = 0; i < r->view->rows.n; i++)
		print_row(&csv, r, i, &sum);
}
