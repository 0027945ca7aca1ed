/* SPDX-License-Identifier: MIT */
/* The expected error beside a figure, as text, JSON and CSV, or why there is none. */
#ifndef GUS_CLI_MODEL_EXPECTED_H
#define GUS_CLI_MODEL_EXPECTED_H

#include <jansson.h>

#include "model/tables/expected.h"

struct gus_csv;
struct gus_error;

/* Which measurements tell of the figures of one run. */
struct gus_model_expectation {
	struct gus_expected *errors;
	const char *table, *engine, *setting;
	const char *why;        /* none do, and this is why; NULL: those of that table, engine and setting, if any */
};

/* -1 with err if what the program carries cannot be read. Closed in any case; the words are borrowed. */
int gus_model_expectation_open(struct gus_model_expectation *x, struct gus_error *err);
void gus_model_expectation_close(struct gus_model_expectation *x);

/* NULL: not judged. kind: as gus_bottleneck_name, or "all". */
const struct gus_expected_error *gus_model_expected(const struct gus_model_expectation *x, const char *kind);
/* Why there is none, for people; NULL if there is one. */
const char *gus_model_not_judged(const struct gus_model_expectation *x, const char *kind);
/* A line under the figure, which begins in its column. */
void gus_model_expected_text(const struct gus_model_expectation *x, const char *kind);
/* An object, or null. */
json_t *gus_model_expected_json(const struct gus_model_expectation *x, const char *kind);
/* Two fields: of what half of such figures are off less, and of what nine of ten; empty if that is not known, and
 * without a kind, as there is no figure then. */
void gus_model_expected_csv(const struct gus_model_expectation *x, const char *kind, struct gus_csv *c);

#endif
