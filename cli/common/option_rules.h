/* SPDX-License-Identifier: MIT */
/* Whether all that was said on a command line fits together; cli/common/option_table.h has what the tables say about
 * that. */
#ifndef GUS_CLI_COMMON_OPTION_RULES_H
#define GUS_CLI_COMMON_OPTION_RULES_H

#include "cli/common/option_table.h"

/* What was said of one option, the last time if it was said more than once. */
struct gus_option_said {
	bool given;           /* it says anything but what is so without it */
	bool by_letter;       /* as -p, not --pid: messages repeat that */
	const char *argument; /* borrowed; NULL: there is none */
	double number;        /* of an option that takes one */
};

/* The option as it was written: "-p" or "--pid". */
void gus_option_label(const struct gus_option *option, bool by_letter, char out[64]);

/* said has one for each option of the table. words are those that are no options, n of them. *input becomes the number
 * of the input, or 0 if the verb has but one. -1 with err, GUS_E_USAGE. */
int gus_option_rules_check(const struct gus_verb *verb, const struct gus_option_said *said, int n, char *const *words,
			   int *input, struct gus_error *err);

#endif
