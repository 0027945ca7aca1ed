/* SPDX-License-Identifier: MIT */
/* Stacks as CSV: a line for each part of each row. */
#include <stdio.h>
#include <stdlib.h>

#include "attribution/accounts/account.h"
#include "cli/common/csv.h"
#include "cli/stacks/stacks.h"
#include "symbolizer/insn/insn.h"

/* Of a recording whose samples all weigh nothing there is none. */
static void put_share(struct gus_csv *c, uint64_t of, uint64_t whole)
{
	gus_csv_fixed(c, whole > 0, whole ? (double)of / (double)whole : 0, 6);
}

static void put_part(struct gus_csv *c, const struct gus_stacks_view *v, const struct gus_sum_row *row, size_t i)
{
	const struct gus_stack_part *part = &row->stack.v[i];
	char *name = gus_stacks_name(v, row), key[GUS_COMPONENT_KEY_MAX];
	uint64_t whole = v->account->weight;
	struct gus_insn insn = { .text = "" };

	if (v->how->unit == GUS_SUM_INSTRUCTION)
		gus_stacks_insn(v, row, &insn);
	gus_component_key(part->what, key);
	gus_csv_text(c, name);
	gus_csv_text(c, row->module);
	gus_csv_number(c, v->how->unit < GUS_SUM_MODULE, row->offset);
	gus_csv_text(c, insn.text);
	put_share(c, row->weight, whole);
	put_share(c, row->bounds.low, whole);
	put_share(c, row->bounds.high, whole);
	put_share(c, row->seen, whole);
	gus_csv_number(c, true, row->fact);
	gus_csv_text(c, key);
	gus_csv_text(c, gus_stacks_cause_of(v, row, &part->what));
	put_share(c, part->weight, whole);
	put_share(c, row->parts.v[i].low, whole);
	put_share(c, row->parts.v[i].high, whole);
	gus_csv_text(c, gus_evidence_name(part->evidence));
	gus_csv_end(c);
	free(name);
}

void gus_stacks_csv(const struct gus_stacks_view *v)
{
	double least = v->how->percent_limit > 0 ? v->how->percent_limit / 100 * (double)v->account->weight : 0;
	struct gus_csv c = { .out = stdout, .separator = "," };

	gus_csv_text(&c, gus_sum_unit_name(v->how->unit));
	puts(",module,offset,text,share,low,high,seen,fact,component,cause,part,part_low,part_high,evidence");
	c.begun = false;
	for (size_t i = 0; i < v->sums->rows.n; i++)
		for (size_t k = 0; k < v->sums->rows.v[i].stack.n && (double)v->sums->rows.v[i].weight >= least; k++)
			put_part(&c, v, &v->sums->rows.v[i], k);
}
