/* SPDX-License-Identifier: MIT */
/* Stacks for people: a row an instruction. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/accounts/account.h"
#include "attribution/profile/profile.h"
#include "attribution/traced/traced.h"
#include "base/path.h"
#include "cli/common/print.h"
#include "cli/model/view.h"
#include "cli/stacks/stacks.h"

static const double LEAST = 0.5;        /* percent */
enum { PARTS = 4 };                     /* of a stack that are printed */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_head(const struct gus_stacks_view *v)
{
	const struct gus_account *a = v->account;
	unsigned windows = v->model->windows ? v->model->windows->taken : 0;

	gus_print("# %" PRIu64 " samples of %s; %s\n", v->profile->samples, v->event, v->sight);
	if (a->explained)
		gus_print("# %.1f %% of the time is in code that %s executed: there it is moved to what the CPU waited "
			  "for or retired (inferred), and split by a model of the CPU (modelled)\n",
			  percent(a->explained, a->weight), windows ? "the recording's snapshots" : "its trace");
	if (a->explained < a->weight)
		gus_print("# %.1f %% is where samples were seen, and why is unknown: %s\n",
			  percent(a->weight - a->explained, a->weight),
			  a->explained ? "no window has executed that code, or it is the kernel's" :
			  "there is neither a trace nor a snapshot of it; record with --trace auto");
	if (v->profile->unsampled)
		gus_print("# %.1f %% more was not sampled, as tasks ended before their next sample\n",
			  percent(v->profile->unsampled, a->weight + v->profile->unsampled));
}

static int by_part(const void *a, const void *b)
{
	const struct gus_stack_part *x = a, *y = b;

	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

static void print_stack(const struct gus_account_row *row)
{
	struct gus_stack parts = { 0 };
	char key[GUS_COMPONENT_KEY_MAX];

	gus_vec_append(&parts, row->stack.v, row->stack.n);
	if (parts.n)
		qsort(parts.v, parts.n, sizeof(*parts.v), by_part);
	for (size_t i = 0; i < parts.n && i < PARTS && parts.v[i].weight; i++) {
		gus_component_key(parts.v[i].what, key);
		gus_print("%s%s %.0f%%", i ? ", " : "", key, percent(parts.v[i].weight, row->weight));
	}
	gus_vec_free(&parts);
}

static void print_row(const struct gus_stacks_view *v, const struct gus_account_row *row)
{
	struct gus_stacks_name name;

	gus_stacks_name(v, row, &name);
	printf("%6.2f%% %6.2f%%  ", percent(row->weight, v->account->weight), percent(row->seen, v->account->weight));
	if (name.function)
		gus_print("%s+0x%" PRIx64, name.function, row->offset - name.start);
	else
		gus_print("0x%" PRIx64, row->offset);
	gus_print(" [%s]  %s  ", gus_base_name(row->module), name.text);
	print_stack(row);
	printf("\n");
}

void gus_stacks_text(const struct gus_stacks_view *v)
{
	const struct gus_account *a = v->account;
	double least = v->how->percent_limit > 0 ? v->how->percent_limit : LEAST;
	uint64_t left = 0;
	size_t n = 0;

	print_head(v);
	printf("# share   seen  instruction, and what it was subjected to while the time passed\n");
	for (size_t i = 0; i < a->rows.n; i++) {
		if (percent(a->rows.v[i].weight, a->weight) >= least) {
			print_row(v, &a->rows.v[i]);
			continue;
		}
		left += a->rows.v[i].weight;
		n++;
	}
	if (n)
		printf("%6.2f%%          in %zu instructions with less than %g %% each\n", percent(left, a->weight), n,
		       least);
}
