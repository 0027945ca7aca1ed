/* SPDX-License-Identifier: MIT */
/* The report as CSV (RFC 4180): a header line always, the same columns for every view. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/common/print.h"
#include "cli/report/render.h"

static void field(const char *text)
{
	gus_print_field(text);
	putchar(',');
}

static void number(bool known, uint64_t value)
{
	if (known)
		printf("%" PRIu64, value);
	putchar(',');
}

static void share(double value, char end)
{
	gus_print_share(value);
	putchar(end);
}

static void print_row(const struct gus_report *r, size_t i, uint64_t *sum)
{
	const struct gus_row *row = &r->view->rows.v[i];
	const struct gus_thread *t = r->view->by == GUS_BY_THREAD ? &r->profile->threads.v[row->thread] : NULL;
	struct gus_report_cell cell;

	gus_report_cell(r, i, sum, &cell);
	if (!gus_report_shown(r, row))
		return;
	field(cell.module);
	field(cell.build_id);
	field(row->function);
	field(row->file);
	number(row->line != 0, row->line);
	number(row->has_offset, row->offset);
	field(cell.text);
	number(t != NULL, t ? t->pid : 0);
	number(t != NULL, t ? t->tid : 0);
	field(t ? t->comm : NULL);
	number(true, row->samples);
	number(r->units.time.known, cell.time_ns);
	number(r->units.cycles.known, cell.cycles);
	number(true, row->weight);
	number(r->graph, row->total);
	share(row->share, ',');
	share(row->ci95.low, ',');
	share(row->ci95.high, '\n');
}

void gus_render_csv(const struct gus_report *r)
{
	uint64_t sum = 0;

	printf("module,build_id,function,file,line,offset,text,pid,tid,comm,samples,time_ns,cycles,weight,total,share,"
	       "ci95_low,ci95_high\n");
	for (size_t i = 0; i < r->view->rows.n; i++)
		print_row(r, i, &sum);
}
