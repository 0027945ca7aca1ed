/* SPDX-License-Identifier: MIT */
/* The table by which something that was executed is modelled, what the engines make of it, and how far its figures are
 * off in general. */
#ifndef GUS_CLI_MODEL_TABLE_H
#define GUS_CLI_MODEL_TABLE_H

#include <stdbool.h>

#include "cli/model/expected.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"

struct gus_error;
struct gus_uarch;

struct gus_model_table {
	struct gus_uarch *uarch;
	struct gus_core_config config;
	struct gus_cache_config caches;
	struct gus_model_expectation expectation; /* of the stream engine, on what was traced */
};

/* name: as --uarch takes it; NULL: that of the machine of the recording that is opened by path, which the user calls
 * input, or without one this machine's. -1 with err. Freed with gus_model_table_free in any case. */
int gus_model_table_load(struct gus_model_table *t, const char *name, const char *path, const char *input,
			 struct gus_error *err);
void gus_model_table_free(struct gus_model_table *t);
/* How far the model's cycles are off in general, as a share; 0: nobody knows. */
double gus_model_table_error(const struct gus_model_table *t);
const char *gus_model_table_name(const struct gus_model_table *t);
/* Whether somebody has fitted it to one machine. */
bool gus_model_table_calibrated(const struct gus_model_table *t);

#endif
