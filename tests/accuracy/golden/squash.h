/* SPDX-License-Identifier: MIT */
/* What mispredicted branches cost, as gusprof explain estimates it (attribution/whatif/squash.h), against a golden
 * machine, whose engine has a wrong path and knows each slot that it takes. The estimate is by somebody who knows the
 * machine's table, but not its traits: once with branches mispredicted as on the machine (`measured`), and once as the
 * predictor that gusprof makes of the table has them (`modelled`). */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_SQUASH_H
#define GUS_TESTS_ACCURACY_GOLDEN_SQUASH_H

struct golden_machine;
struct gus_error;

struct golden_squash_options {
	const struct golden_machine *machine;
	const char *trace;
};
/* Runs and prints. -1 with err. */
int golden_squash(const struct golden_squash_options *o, struct gus_error *err);

#endif
