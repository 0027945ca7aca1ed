/* SPDX-License-Identifier: MIT */
#include "cli/model/expected.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/common/csv.h"
#include "cli/common/json.h"
#include "cli/common/print.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

int gus_model_expectation_open(struct gus_model_expectation *x, struct gus_error *err)
{
	size_t size = 0;
	const char *text = gus_uarch_builtin.get(gus_uarch_builtin.context, "expected.errors", &size);

	x->errors = gus_expected_parse(text ? text : "", size, err);
	return x->errors ? 0 : -1;
}

void gus_model_expectation_close(struct gus_model_expectation *x)
{
	gus_expected_free(x->errors);
	x->errors = NULL;
}

const struct gus_expected_error *gus_model_expected(const struct gus_model_expectation *x, const char *kind)
{
	return x->why ? NULL : gus_expected_find(x->errors, x->table, x->engine, x->setting, kind);
}

const char *gus_model_not_judged(const struct gus_model_expectation *x, const char *kind)
{
	static const char *const reasons[][2] = {
		{ "unrolled", "nobody has timed blocks, one copy behind the other, on a CPU of this table" },
		{ "loop", "nobody has timed blocks as loops on a CPU of this table" },
		{ "traced", "nobody has timed whole programs on a CPU of this table" },
	};

	if (x->why || gus_model_expected(x, kind))
		return x->why;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (strcmp(x->setting, reasons[i][0]) == 0)
			return reasons[i][1];
	return "nobody has timed such code on a CPU of this table";
}

/* "all" are those of any kind. */
void gus_model_expected_text(const struct gus_model_expectation *x, const char *kind)
{
	const struct gus_expected_error *e = gus_model_expected(x, kind);
	bool any = e && strcmp(e->kind, "all") == 0;

	if (!e)
		gus_print("            not judged: %s\n", gus_model_not_judged(x, kind));
	else if (e->median < 0)
		gus_print("            expected within %.1f%% on average: %" PRIu32 " were measured (%s)\n", e->mean,
			  e->n, e->source);
	else
		gus_print("            expected within %.1f%% (90%%: %.1f%%): %" PRIu32 " %s%s were measured (%s)\n",
			  e->median, e->p90, e->n, any ? "of any kind" : "limited by ", any ? "" : e->kind,
			  e->source);
}

json_t *gus_model_expected_json(const struct gus_model_expectation *x, const char *kind)
{
	const struct gus_expected_error *e = gus_model_expected(x, kind);
	json_t *o;

	if (!e)
		return json_null();
	o = json_object();
	json_object_set_new(o, "median_pct", e->median < 0 ? json_null() : json_real(e->median));
	json_object_set_new(o, "p90_pct", e->p90 < 0 ? json_null() : json_real(e->p90));
	json_object_set_new(o, "mean_pct", e->mean < 0 ? json_null() : json_real(e->mean));
	json_object_set_new(o, "n", json_integer(e->n));
	json_object_set_new(o, "kind", gus_json_word(e->kind));
	json_object_set_new(o, "source", gus_json_word(e->source));
	return o;
}

void gus_model_expected_csv(const struct gus_model_expectation *x, const char *kind, struct gus_csv *c)
{
	const struct gus_expected_error *e = kind ? gus_model_expected(x, kind) : NULL;

	gus_csv_fixed(c, e && e->median >= 0, e ? e->median : 0, 1);
	gus_csv_fixed(c, e && e->p90 >= 0, e ? e->p90 : 0, 1);
}
