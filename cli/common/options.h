/* SPDX-License-Identifier: MIT */
/* Command line options as a table: parsing, --help, the bash completion and the check of the manual pages all read it. */
#ifndef GUS_CLI_COMMON_OPTIONS_H
#define GUS_CLI_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	GUS_EXIT_OWN_FAILURE = 125, /* this program failed, not the workload */
	GUS_EXIT_USAGE = 129,       /* as perf: an option or an event that does not exist */
	GUS_EXIT_NO_TARGET = 244,   /* as perf: there is no such process */
	GUS_EXIT_NO_COMMAND = 255,  /* as perf: the workload could not be started */
};

enum gus_option_kind {
	GUS_OPTION_FLAG,   /* bool; --no-NAME is its negative form */
	GUS_OPTION_STRING, /* const char *, borrowed from argv; the last one wins */
	GUS_OPTION_LIST,   /* struct gus_list: may be given several times, commas separate */
	GUS_OPTION_NUMBER, /* uint64_t */
	GUS_OPTION_SIGNED, /* int64_t */
	GUS_OPTION_SIZE,   /* uint64_t: bytes, with B, K, M or G */
	GUS_OPTION_CALL,   /* call() does it */
};

struct gus_list { char **v; size_t n; }; /* v is NULL-terminated, or NULL if empty */

struct gus_option {
	char letter;          /* 0 for none */
	const char *name;     /* without dashes; "" if it has only a letter */
	const char *argument; /* as --help shows it, e.g. "FILE"; NULL: takes none; "[=MODE]" style: optional, call() only */
	const char *help;     /* one or more sentences; wrapped when printed */
	enum gus_option_kind kind;
	size_t offset;        /* of the value in the verb's struct */
	int (*call)(const char *argument, void *values, struct gus_error *err);
	const char *choices;  /* for completion: words separated by blanks, or NULL */
};

struct gus_verb {
	const char *name;                 /* "record" */
	const char *synopsis;             /* "[OPTION...] -- COMMAND [ARG...]" */
	const char *summary;              /* one line */
	const char *details;              /* more lines for --help, or NULL */
	const struct gus_option *options; /* ends with a NULL name */
	int (*run)(int argc, char **argv); /* argv[0] is the verb; returns the exit status */
	const char *argument_choices;     /* for completion: "@command" or "@file" or NULL. Behind a command's name the
					   * options are the command's; else they may stand anywhere */
};

/* Fills the struct at values. On return *argc and *argv are the words that are no options. Returns 0 to go on, else *status is the exit status and the verb is over: --help was printed, or an
 * option was wrong and that was said on stderr. */
int gus_options_parse(const struct gus_verb *verb, void *values, int *argc, char ***argv, int *status);

/* --help of a verb, on stdout. */
void gus_options_help(const struct gus_verb *verb);

void gus_list_free(struct gus_list *list);

/* One line on stderr, "gusprof: TEXT"; the program's whole way of saying what went wrong. */
void gus_complain(const struct gus_error *err);
/* The log of the command line: warnings and notes go to stderr as "gusprof: ..."; -v adds debug, -q drops notes. */
struct gus_log;
const struct gus_log *gus_cli_log(int verbosity);

#endif
