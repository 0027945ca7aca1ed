/* SPDX-License-Identifier: MIT */
/* Stacks for people: a row an instruction, or whatever else was asked for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/accounts/account.h"
#include "base/path.h"
#include "cli/common/print.h"
#include "cli/model/view.h"
#include "cli/stacks/stacks.h"
#include "symbolizer/insn/insn.h"

static const double LEAST = 0.5;        /* percent */
enum { PARTS = 4 };                     /* of a stack that are printed */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_explained(const struct gus_stacks_view *v)
{
	const struct gus_account *a = v->account;
	unsigned windows = v->model && v->model->windows ? v->model->windows->taken : 0;

	if (a->explained)
		gus_print("# %.1f %% of the time is in code that %s executed: there it is moved to what the CPU waited "
			  "for or retired (inferred), and split by a model of the CPU (modelled)\n",
			  percent(a->explained, a->weight), windows ? "the recording's snapshots" :
			  v->partly ? "stretches of its trace" : "its trace");
	if (a->solution.width > v->width)
		gus_print("# the table has %u ops that retire in a cycle, which cannot have executed so much; up to %u "
			  "can\n", v->width, a->solution.width);
	if (a->explained < a->weight)
		gus_print("# %.1f %% stays where samples were seen, and nothing but their records tells why: %s\n",
			  percent(a->weight - a->explained, a->weight),
			  v->why ? v->why : !v->clues->sight.known ? "of such samples it cannot be told" :
			  "no window has executed that code, or it is the kernel's");
}

static void print_head(const struct gus_stacks_view *v)
{
	gus_print("# %" PRIu64 " sample%s of %s; %s\n", v->clues->samples, v->clues->samples == 1 ? "" : "s", v->event,
		  v->clues->sight.told);
	print_explained(v);
	if (v->clues->unsampled)
		gus_print("# %.1f %% more was not sampled, as tasks ended before their next sample\n",
			  percent(v->clues->unsampled, v->account->weight + v->clues->unsampled));
}

static int by_part(const void *a, const void *b)
{
	const struct gus_stack_part *x = a, *y = b;

	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

static void print_stack(const struct gus_sum_row *row)
{
	struct gus_stack parts = { 0 };
	char key[GUS_COMPONENT_KEY_MAX];

	gus_vec_append(&parts, row->stack.v, row->stack.n);
	if (parts.n)
		qsort(parts.v, parts.n, sizeof(*parts.v), by_part);
	for (size_t i = 0; i < parts.n && i < PARTS && percent(parts.v[i].weight, row->weight) >= 0.5; i++) {
		gus_component_key(parts.v[i].what, key);
		gus_print("%s%s %.0f%%", i ? ", " : "", key, percent(parts.v[i].weight, row->weight));
	}
	gus_vec_free(&parts);
}

static void print_insn(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	struct gus_insn insn;

	if (row->function)
		gus_print("%s+0x%" PRIx64, row->function, row->offset - row->start);
	else
		gus_print("0x%" PRIx64, row->offset);
	gus_stacks_insn(v, row, &insn);
	gus_print(" [%s]%s%s", gus_base_name(row->module), *insn.text ? "  " : "", insn.text);
}

static void print_name(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	const struct gus_clue_thread *t = row->thread == GUS_CLUE_NONE ? NULL : &v->clues->threads.v[row->thread];

	if (t)
		gus_print("%s (pid %" PRIu32 ", tid %" PRIu32 ")", t->comm, t->pid, t->tid);
	else if (v->how->unit == GUS_SUM_MODULE)
		gus_print("%s", row->module);
	else if (v->how->unit == GUS_SUM_INSTRUCTION)
		print_insn(v, row);
	else if (row->file)
		gus_print("%s:%" PRIu32 " %s [%s]", gus_base_name(row->file), row->line,
			  row->function ? row->function : "", gus_base_name(row->module));
	else if (row->function && (row->loop || v->how->unit == GUS_SUM_BLOCK))
		gus_print("%s, %s at +0x%" PRIx64 " [%s]", row->function, row->loop ? "loop" : "block",
			  row->offset - row->start, gus_base_name(row->module));
	else if (row->function)
		gus_print("%s [%s]", row->function, gus_base_name(row->module));
	else
		gus_print("0x%" PRIx64 " [%s]", row->offset, gus_base_name(row->module));
}

static void print_row(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	uint64_t whole = v->account->weight;

	printf("%6.2f%% %6.2f-%6.2f%% %6.2f%%  ", percent(row->weight, whole), percent(row->bounds.low, whole),
	       percent(row->bounds.high, whole), percent(row->seen, whole));
	print_name(v, row);
	printf("  ");
	print_stack(row);
	if (v->account->explained && row->evidence == GUS_OBSERVED && v->how->unit != GUS_SUM_THREAD)
		printf(" (as seen)");
	printf("\n");
}

void gus_stacks_text(const struct gus_stacks_view *v)
{
	const char *unit = gus_sum_unit_name(v->how->unit);
	const struct gus_account *a = v->account;
	double least = v->how->percent_limit > 0 ? v->how->percent_limit : LEAST;
	uint64_t left = 0;
	size_t n = 0;

	print_head(v);
	gus_print("#  share  95 %% of the time   seen  %s, and what it was subjected to while the time passed\n", unit);
	for (size_t i = 0; i < v->sums->rows.n; i++) {
		const struct gus_sum_row *row = &v->sums->rows.v[i];

		if (row->fact && percent(row->weight, a->weight) >= least) {
			print_row(v, row);
			continue;
		}
		left += row->weight;
		n++;
	}
	if (n)
		gus_print("%6.2f%% in %zu %ss with less than %g %% each, or with too few samples to tell\n",
			  percent(left, a->weight), n, unit, least);
}
