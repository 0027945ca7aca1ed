/* SPDX-License-Identifier: MIT */
/* The rows of a comparison as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/traced/regions.h"
#include "attribution/traced/traced.h"
#include "cli/common/calibrated.h"
#include "cli/common/csv.h"
#include "cli/compare/view.h"
#include "cli/compare/words.h"
#include "model/tables/uarch.h"

static void print_row(const struct gus_compare_view *v, const struct gus_compared_row *r)
{
	bool absolute = v->compared->basis != GUS_COMPARED_SHARES;
	bool there = r->modelled > 0 && gus_figure_tells(&r->ratio) && (absolute || r->region != GUS_TRACED_NONE);
	const struct gus_traced *t = v->model->traced;
	const Gusprof__Host *h = v->measured->host;
	struct gus_csv c = { stdout, ",", false };
	char name[256] = "";

	if (r->region != GUS_TRACED_NONE)
		gus_traced_region_name(t, r->region, name, sizeof(name));
	gus_csv_text(&c, name);
	gus_csv_text(&c, r->region == GUS_TRACED_NONE ? "" : t->functions.v[t->regions.v[r->region].function].module);
	gus_csv_number(&c, true, r->samples);
	gus_csv_fixed(&c, true, r->share.value, 6);
	gus_csv_fixed(&c, true, r->modelled_share, 6);
	gus_csv_fixed(&c, absolute, r->measured.value, 0);
	gus_csv_fixed(&c, absolute, r->measured.ci.low, 0);
	gus_csv_fixed(&c, absolute && r->measured.value > 0, r->measured.ci.high, 0);
	gus_csv_fixed(&c, true, r->modelled, 0);
	gus_csv_fixed(&c, isfinite(r->error), r->error, 4);
	gus_csv_number(&c, true, r->instructions);
	gus_csv_fixed(&c, there, r->ratio.value, 4);
	gus_csv_fixed(&c, there, r->ratio.ci.low, 4);
	gus_csv_fixed(&c, there, r->ratio.ci.high, 4);
	gus_csv_text(&c, gus_trust_name(r->verdict));
	gus_csv_text(&c, gus_compared_basis_name(v->compared->basis));
	gus_csv_text(&c, gus_evidence_name(v->compared->evidence));
	gus_csv_text(&c, v->model->model->uarch->name);
	gus_csv_text(&c, gus_calibrated_file(v->model->model->uarch));
	gus_csv_text(&c, h ? h->cpu_model : NULL);
	gus_csv_text(&c, h ? h->microcode : NULL);
	gus_csv_end(&c);
}

/* The whole first, without a name. */
void gus_compare_csv(const struct gus_compare_view *v)
{
	printf("region,module,samples,share,modelled_share,cycles,cycles_low,cycles_high,modelled_cycles,"
	       "modelled_error,instructions,ratio,ratio_low,ratio_high,verdict,basis,evidence,"
	       "table,calibration,cpu,microcode\n");
	print_row(v, &v->compared->whole);
	for (size_t i = 0; i < v->compared->rows.n && (!v->rows || i < v->rows); i++)
		print_row(v, &v->compared->rows.v[i]);
}
