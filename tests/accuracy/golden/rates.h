/* SPDX-License-Identifier: MIT */
/* What measured rates are worth (attribution/observed, attribution/traced/rates.h): a golden machine's trace is
 * modelled by somebody who knows its table, but not its traits, and has wrong caches (half as large, of another policy)
 * and a predictor of another kind; then by the same with what emulated samplers recorded of accesses and branches. Both
 * are held against the true cycles of each loop. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_RATES_H
#define GUS_TESTS_ACCURACY_GOLDEN_RATES_H

#include <stdbool.h>

struct gus_error;

struct golden_rates_options {
	const char *folder, *trace;
	const char *only;       /* this one of the variants; NULL: all */
	bool stream;            /* the stream engine, as gusprof model has it; else the core engine on all of it */
	bool each;              /* also each region */
};
/* Runs and prints. -1 with err. */
int golden_rates(const struct golden_rates_options *o, struct gus_error *err);

#endif
