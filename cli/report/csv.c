/* SPDX-License-Identifier: MIT */
/* The report as CSV (RFC 4180): a header line always, the same columns for every view of rows, behind which views of
 * data have their own, and others for a tree. */
#include <inttypes.h>

#include "attribution/profile/touch.h"
#include "attribution/profile/calls.h"
#include "attribution/profile/tree.h"
#include "cli/common/csv.h"
#include "cli/report/render.h"
#include "cli/report/trees.h"

/* Addresses as they are written everywhere: numbers of 64 bits are more than a spreadsheet has. */
static void print_data(struct gus_csv *c, const struct gus_report_data *d)
{
	const struct gus_touch_key *key = d->key;
	char address[32] = "";

	if (key->bytes)
		snprintf(address, sizeof(address), "0x%" PRIx64, key->address);
	gus_csv_text(c, d->source);
	gus_csv_text(c, d->snoop);
	gus_csv_text(c, d->tlb);
	gus_csv_text(c, d->access);
	gus_csv_text(c, d->locked);
	gus_csv_text(c, address);
	gus_csv_number(c, key->bytes != 0, key->bytes);
	gus_csv_number(c, key->pid != 0, key->pid);
	gus_csv_text(c, d->module);
	gus_csv_text(c, d->symbol);
}

static void print_quantile(struct gus_csv *c, bool known, const struct gus_latency_quantile *q)
{
	gus_csv_number(c, known, q->cycles);
	gus_csv_number(c, known && q->has_low, q->low);
	gus_csv_number(c, known && q->has_high, q->high);
}

static void print_loads(struct gus_csv *c, const struct gus_latencies *l)
{
	gus_csv_number(c, l->n != 0, l->n);
	print_quantile(c, l->n != 0, &l->median);
	print_quantile(c, l->n != 0, &l->ninety);
	gus_csv_number(c, l->n != 0, l->longest);
	gus_csv_number(c, l->n != 0, l->sum);
}

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
	gus_csv_number(c, r->view->by & (GUS_BY_THREAD | GUS_BY_PROCESS), row->pid);
	gus_csv_number(c, r->view->by & GUS_BY_THREAD, row->tid);
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
	if (r->view->by & GUS_BY_DATA) {
		print_data(c, &cell.data);
		print_loads(c, &row->loads);
	}
	gus_csv_end(c);
}

/* A line a node, in the order in which they are drawn, each with its own number and its caller's, so that lines may be
 * sorted and put together again. */

static void print_node(struct gus_csv *c, const struct gus_report *r, uint32_t number)
{
	const struct gus_tree_node *n = &r->tree->nodes.v[number];
	const struct gus_callee *f = &r->calls->callees.v[n->callee];
	const uint64_t all = r->profile->weight;

	gus_csv_number(c, true, number);
	gus_csv_number(c, number != 0, n->parent);
	gus_csv_number(c, true, n->depth);
	gus_csv_text(c, gus_trees_kind(f));
	gus_csv_text(c, f->module != GUS_INDEX_NONE ? gus_space_module(r->profile->space, f->module)->path : NULL);
	gus_csv_text(c, f->function);
	gus_csv_number(c, true, f->inlined);
	gus_csv_number(c, true, n->samples);
	gus_csv_number(c, r->units.time.known, gus_scale_apply(&r->units.time, n->weight));
	gus_csv_number(c, true, n->weight);
	gus_csv_fixed(c, true, all ? (double)n->weight / (double)all : 0, 6);
	gus_csv_number(c, true, n->own_samples);
	gus_csv_number(c, true, n->own);
	gus_csv_number(c, true, n->left_out);
	gus_csv_number(c, true, n->left_out_samples);
	gus_csv_number(c, true, n->left_out_weight);
	gus_csv_end(c);
}

static void print_tree(const struct gus_report *r)
{
	struct gus_csv csv = { stdout, ",", false };

	printf("node,parent,depth,kind,module,function,inlined,samples,time_ns,weight,share,own_samples,own,"
	       "omitted_nodes,omitted_samples,omitted_weight\n");
	for (uint32_t i = 0; i < r->tree->nodes.n; i++)
		print_node(&csv, r, i);
}

void gus_render_csv(const struct gus_report *r)
{
	struct gus_csv csv = { stdout, ",", false };
	uint64_t sum = 0;

	if (r->tree) {
		print_tree(r);
		return;
	}
	printf("module,build_id,function,file,line,offset,text,pid,tid,comm,samples,time_ns,cycles,weight,total,share,"
	       "ci95_low,ci95_high,off_ns,waiting_ns,times_off,longest_off_ns%s\n", r->view->by & GUS_BY_DATA ?
	       ",data_source,snoop,tlb,access,locked,data_address,data_bytes,data_pid,data_module,data_symbol,"
	       "timed_loads,latency_median,latency_median_low,latency_median_high,latency_90,latency_90_low,"
	       "latency_90_high,latency_longest,latency_sum" : "");
	for (size_t i = 0; i < r->view->rows.n; i++)
		print_row(&csv, r, i, &sum);
}
