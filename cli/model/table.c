/* SPDX-License-Identifier: MIT */
#include "cli/model/table.h"

#include <string.h>

#include "base/error.h"
#include "cli/common/uarch_load.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

static bool is_own_name(const char *name)
{
	return strcmp(name, "host") == 0 || strcmp(name, "nominal") == 0 || gus_uarch_builtin_find(name);
}

int gus_model_table_load(struct gus_model_table *t, const char *name, const char *path, const char *input,
			 struct gus_error *err)
{
	const char *asked = name;

	if (!name && path) {
		name = gus_uarch_of_recording(path, input, err);
		if (!name)
			return -1;
	}
	t->uarch = gus_uarch_load(name, 0, err);
	if (!t->uarch && asked && err->code == GUS_E_NOT_FOUND && !err->sys) /* a name that there is not */
		err->code = GUS_E_USAGE;
	if (!t->uarch)
		return -1;
	gus_core_config_of(&t->config, t->uarch);
	gus_cache_config_of(&t->caches, t->uarch);
	t->expectation = (struct gus_model_expectation){ .table = t->uarch->name, .engine = "stream",
		.setting = "traced" };
	if (t->uarch->valids_n)
		t->expectation.why = "what is known of errors is of tables that were not calibrated";
	else if (name && !is_own_name(name))
		t->expectation.why = "nobody has held the table of this file against a CPU";
	return gus_model_expectation_open(&t->expectation, err);
}

void gus_model_table_free(struct gus_model_table *t)
{
	gus_model_expectation_close(&t->expectation);
	gus_uarch_free(t->uarch);
}

double gus_model_table_error(const struct gus_model_table *t)
{
	const struct gus_expected_error *told = gus_model_expected(&t->expectation, "all");

	return !told ? 0 : (told->median < 0 ? told->mean : told->median) / 100;
}

const char *gus_model_table_name(const struct gus_model_table *t)
{
	return t->uarch->name;
}

bool gus_model_table_calibrated(const struct gus_model_table *t)
{
	return t->uarch->valids_n > 0;
}
