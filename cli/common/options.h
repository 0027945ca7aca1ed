/* SPDX-License-Identifier: MIT */
/* Command lines, read as a verb's table of options says, and how the program says what went wrong. */
#ifndef GUS_CLI_COMMON_OPTIONS_H
#define GUS_CLI_COMMON_OPTIONS_H

#include "cli/common/option_table.h"

struct gus_error;

enum {
	GUS_EXIT_OWN_FAILURE = 125, /* this program failed, not the workload */
	GUS_EXIT_USAGE = 129,       /* as perf: an option or an event that does not exist */
	GUS_EXIT_NO_TARGET = 244,   /* as perf: there is no such process */
	GUS_EXIT_NO_COMMAND = 255,  /* as perf: the workload could not be started */
};

/* Fills the struct at values. On return *argc and *argv are the words that are no options. Returns 0 to go on, else
 * *status is the exit status and the verb is over: --help was printed, or an option was wrong and that was said on
 * stderr. */
int gus_options_parse(const struct gus_verb *verb, void *values, int *argc, char ***argv, int *status);

/* --help of a verb, on stdout. */
void gus_options_help(const struct gus_verb *verb);

/* The answer to a word out of a table, which may be NULL; NULL if it has none. */
const char *gus_habit_find(const struct gus_habit *habits, const char *word);

void gus_list_free(struct gus_list *list);

/* A non-negative decimal number at text, which moves behind it. Not strtod: it follows the locale. */
int gus_decimal_parse(const char **text, double *value);

/* One line on stderr, "gusprof: TEXT"; the program's whole way of saying what went wrong. */
void gus_complain(const struct gus_error *err);
/* The log of the command line: warnings and notes go to stderr as "gusprof: ..."; -v adds debug, -q drops notes. */
struct gus_log;
const struct gus_log *gus_cli_log(int verbosity);

#endif
