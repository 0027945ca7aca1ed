/* SPDX-License-Identifier: MIT */
/* Command line options as a table: parsing, --help, the bash completion, the check of the manual pages and that of what
 * fits what all read it.
 *
 * What fits what. A verb works on one input: gusprof model on a command, a process, a file or some code, gusprof record
 * on what it watches. A verb's table of inputs says what there are, and the table of options says of each option
 *
 *   gives     the input that it names, such as --pid of a process
 *   fit       the inputs that it is for, the option that it needs, and those that it excludes
 *
 * Where that holds for one value of an option only (--data caches), it stands in the verb's table of rules instead. All
 * of this is checked in one place, cli/common/option_rules.c, when all words have been read. So verbs need not, each
 * kind of mistake has one form of message, and a verb finds the number of its input in its values:
 *
 *   --phases is for a command (--), a process (-p) or a file (-i); here the input is a block (--block)
 *   -D -1 needs --control: there is no way to start sampling later on without it
 *   -F and -c exclude each other: samples come at a rate or every so many events
 *
 * What an option takes is in the table, too: bounds of numbers, and words of a CHOICE.
 *
 * An option counts as given if it says anything but what is so without it: --no-phases and --per 1 fit everything. */
#ifndef GUS_CLI_COMMON_OPTION_TABLE_H
#define GUS_CLI_COMMON_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_error;

enum gus_option_kind {
	GUS_OPTION_FLAG,   /* bool; --no-NAME is its negative form */
	GUS_OPTION_STRING, /* const char *, borrowed from argv; the last one wins */
	GUS_OPTION_CHOICE, /* int: the number of a word among the choices, in upper or lower case */
	GUS_OPTION_LIST,   /* struct gus_list: may be given several times, commas separate */
	GUS_OPTION_NUMBER, /* uint64_t */
	GUS_OPTION_SIGNED, /* int64_t */
	GUS_OPTION_SIZE,   /* uint64_t: bytes, with B, K, M or G */
	GUS_OPTION_PERCENT, /* double; a sign behind the number is taken */
	GUS_OPTION_CALL,   /* call() does it */
};

struct gus_list { char **v; size_t n; }; /* v is NULL-terminated, or NULL if empty */

/* What goes with an option. Names of options are without dashes, separated by blanks, and NAME=PATTERN is the option
 * with a value like this, as fnmatch(3) has it, or, of a number, equal to this. "--" is the words that are no
 * options. */
struct gus_option_fit {
	unsigned inputs;      /* bits 1 << number: those that it is for; 0: all */
	const char *needs;    /* this must be given; of several one */
	const char *excludes; /* none of these may */
	const char *why;      /* stands behind the message; NULL: it says enough */
};

/* What values there are; most 0 is no end. */
struct gus_option_bounds {
	double least, most;
	bool above;           /* least itself is none of them */
};

struct gus_option {
	char letter;          /* 0 for none */
	const char *name;     /* without dashes; "" if it has only a letter */
	const char *argument; /* as --help shows it, e.g. "FILE"; NULL: takes none; "[=MODE]": optional, call() only */
	const char *help;     /* one or more sentences; wrapped when printed */
	enum gus_option_kind kind;
	size_t offset;        /* of the value in the verb's struct */
	int (*call)(const char *argument, void *values, struct gus_error *err);
	const char *choices;  /* words separated by blanks, or NULL: those of a CHOICE; else for completion only */
	struct gus_option_bounds bounds; /* of a NUMBER, SIGNED or PERCENT */
	bool filled;          /* of a STRING: it is not empty */
	unsigned gives;       /* bit of the input that it names; 0: none */
	struct gus_option_fit fit;
	bool (*takes)(const char *word); /* of an optional argument: whether a word of its own behind it is one */
};

/* One of the things that a verb can work on, by its number, from 0; the table ends with a NULL name. */
struct gus_input {
	const char *name;     /* with how it is given: "a command (--)" */
	bool yields;          /* it is the input only if no other one is given: a command beside -p says how long to
			       * watch. Of several of these it is the first */
	const char *word;     /* it is given by this word, the first that is no option; NULL: it is not. Of a verb whose
			       * inputs are words the first input is what it is without one */
	const char *needs;    /* an option that must be given with it, or NULL */
};

/* What fits an option with a value like this. */
struct gus_option_rule {
	const char *option;   /* as in gus_option_fit, with =PATTERN; the table ends with NULL */
	struct gus_option_fit fit;
};

/* What people type who know another profiler, and what to do here instead. */
struct gus_habit {
	const char *word;     /* "--tui", "-k", "--call-graph=dwarf"; of verbs, a name; the table ends with NULL */
	const char *answer;   /* behind "gusprof: report has no --tui: " */
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
	const struct gus_input *inputs;   /* NULL: there is but one */
	const char *input_word;           /* what these are here: "input", "target", "action" */
	size_t input_offset;              /* of an int in the verb's struct: the number of the input */
	bool first_by_default;            /* without any input it is the first */
	unsigned words_give;              /* bit of the input that words are which are no options */
	const char *word;                 /* what such a word is, in capitals: "FILE"; NULL: there are none */
	bool many_words;                  /* there may be more than one */
	const struct gus_option_rule *rules; /* or NULL */
	const struct gus_habit *habits;   /* options that it has not; or NULL */
};

#endif
