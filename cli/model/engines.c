/* SPDX-License-Identifier: MIT */
/* How far the two engines agree on the hot loops of what was executed. */
#include <math.h>
#include <stdio.h>

#include "attribution/traced/regions.h"
#include "cli/common/json.h"
#include "cli/common/print.h"
#include "cli/model/view.h"
#include "model/analysis/agreement.h"

static const double SHOWN = 0.01;       /* of the time, of regions that are shown unless it is asked for more */

static void warn(const struct gus_traced *t, uint32_t region)
{
	const struct gus_agreement *a = t->regions.v[region].agreement;
	char name[256];

	gus_traced_region_name(t, region, name, sizeof(name));
	printf("  %8.2f  %8.2f  %+6.1f%%  ", a->core, a->stream, 100 * a->difference);
	gus_print("%-22s  %s\n", a->reason < GUS_LIMITS ? gus_machine_limits[a->reason].name : "no limit alone", name);
}

/* Shares of the whole tell which differences matter. */
static void print_regions(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;

	printf("\nBoth engines on all that was timed\n"
	       "      core    stream   differ  function or loop (shares of each engine's time)\n");
	for (size_t i = 0; i < v->regions_n && (!v->model->rows || i < v->model->rows); i++) {
		const struct gus_traced_region *r = &t->regions.v[v->order[i]];
		char name[256];

		if (!v->model->rows && r->cycles[0] < SHOWN * t->cycles[0])
			break;
		gus_traced_region_name(t, v->order[i], name, sizeof(name));
		printf("  %7.2f%%  %7.2f%%", 100 * r->core_cycles / t->core_cycles, 100 * r->cycles[0] / t->cycles[0]);
		if (r->core_cycles > 0)
			printf("  %+6.1f%%", 100 * (r->cycles[0] / r->core_cycles - 1));
		else
			printf("        -");
		gus_print("  %s\n", name);
	}
}

/* Of one state, by events: those with a hundredth of all, the largest first. */
static void print_state(const struct gus_traced *t, enum gus_commit state, double all)
{
	double ticks[1 << GUS_CORE_PSV_EVENTS] = { 0 }, sum = 0;
	char text[GUS_CORE_PSV_TEXT];

	for (size_t i = 0; i < t->pics.n; i++)
		if (t->pics.v[i].state == state) {
			ticks[t->pics.v[i].psv] += (double)t->pics.v[i].ticks;
			sum += (double)t->pics.v[i].ticks;
		}
	gus_print("  %-8s %6.2f%%", gus_commit_name(state), 100 * sum / all);
	while (true) {
		unsigned most = 0;

		for (unsigned psv = 1; psv < 1 << GUS_CORE_PSV_EVENTS; psv++)
			most = ticks[psv] > ticks[most] ? psv : most;
		if (ticks[most] < SHOWN * all)
			break;
		gus_print("  %s %.2f%%", gus_core_psv_text(most, text), 100 * ticks[most] / all);
		ticks[most] = 0;
	}
	putchar('\n');
}

static void print_stack(const struct gus_traced *t)
{
	double all = 0;

	for (size_t i = 0; i < t->pics.n; i++)
		all += (double)t->pics.v[i].ticks;
	if (!(all > 0))
		return;
	printf("\nCycles of the core engine by what retirement did, and what had happened to the instruction\n");
	for (unsigned state = 0; state < GUS_COMMITS; state++)
		print_state(t, (enum gus_commit)state, all);
}

void gus_model_engines_text(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;
	size_t agree = 0, differ = 0;

	if (v->model->core && !t->core_stopped && t->core_cycles > 0)
		print_stack(t), print_regions(v);
	if (!v->model->both)
		return;
	printf("\nBoth engines on loops with %.0f%% of the time or more, a steady stretch of each\n",
	       100 * GUS_TRACED_HOT);
	for (size_t i = 0; i < v->regions_n; i++) {
		const struct gus_agreement *a = t->regions.v[v->order[i]].agreement;

		if (!a)
			continue;
		if (fabs(a->difference) < GUS_TRACED_APART) {
			agree++;
			continue;
		}
		if (!differ++)
			printf("      core    stream   differ  by this limit           loop (cycles a turn)\n");
		warn(t, v->order[i]);
	}
	if (agree)
		printf("  they agree within %.0f%% on %zu%s\n", 100 * GUS_TRACED_APART, agree, differ ? " others" : "");
	if (!agree && !differ)
		printf("  there is none that goes round for long without leaving\n");
}

json_t *gus_model_engines_json(const struct gus_agreement *a)
{
	json_t *o = a ? json_object() : json_null();

	if (!a)
		return o;
	json_object_set_new(o, "core", json_real(a->core));
	json_object_set_new(o, "stream", json_real(a->stream));
	json_object_set_new(o, "difference", json_real(a->difference));
	json_object_set_new(o, "reason", gus_json_word(a->reason < GUS_LIMITS ?
						       gus_machine_limits[a->reason].name : NULL));
	return o;
}
