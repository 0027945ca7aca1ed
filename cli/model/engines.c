/* SPDX-License-Identifier: MIT */
/* How far the two engines agree on the hot loops of what was executed. */
#include <math.h>
#include <stdio.h>

#include "attribution/traced/regions.h"
#include "cli/common/json.h"
#include "cli/common/print.h"
#include "cli/model/view.h"
#include "model/analysis/agreement.h"

static void warn(const struct gus_traced *t, uint32_t region)
{
	const struct gus_agreement *a = t->regions.v[region].agreement;
	char name[256];

	gus_traced_region_name(t, region, name, sizeof(name));
	printf("  %8.2f  %8.2f  %+6.1f%%  ", a->core, a->stream, 100 * a->difference);
	gus_print("%-22s  %s\n", a->reason < GUS_LIMITS ? gus_machine_limits[a->reason].name : "no limit alone", name);
}

void gus_model_engines_text(const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;
	size_t agree = 0, differ = 0;

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
