/* SPDX-License-Identifier: MIT */
/* gusprof: finds the verb and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/screen/pager.h"
#include "cli/verbs.h"
#include "config.h"

static const struct gus_verb *const verbs[] = {
	&gus_verb_record,
	&gus_verb_report,
	&gus_verb_annotate,
	&gus_verb_diff,
	&gus_verb_script,
	&gus_verb_dump,
	&gus_verb_export,
	&gus_verb_import,
	&gus_verb_uarch,
	&gus_verb_model,
	&gus_verb_calibrate,
	&gus_verb_compare,
	&gus_verb_explain,
	&gus_verb_stat,
	&gus_verb_doctor,
};

static const struct gus_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

/* What other profilers call what we have, or have and we have not. */
static const struct gus_habit habits[] = {
	{ "list", "'gusprof doctor' shows which events this machine has; -e takes perf's names" },
	{ "top", "there is no live view; 'gusprof record -a -- sleep 5' and 'gusprof report' show the last five "
	  "seconds" },
	{ "load", "'gusprof report FILE' shows a recording" },
	{ "evlist", "'gusprof dump --type header FILE' shows a recording's events" },
	{ "buildid-list", "'gusprof report --by module --format json FILE' shows build ids" },
	{ "archive", "recordings need none for the kernel's names" },
	{ "inject", "there is nothing to inject: recordings are whole when they are written" },
	{ "trace", "there is no tracing of system calls; 'perf trace' and strace do that" },
	{ "mem", "'gusprof model -- ./app' says what its memory accesses cost" },
	{ "c2c", "'gusprof model -- ./app' says what its memory accesses cost, of each thread alone" },
	{ "lock", "there is no analysis of locks; 'perf lock' does that" },
	{ "sched", "there is none; 'gusprof report --by thread' shows switches and time on CPU" },
	{ "timechart", "there is none; 'gusprof report --time' shows a part of a recording" },
	{ "flamegraph", "'gusprof script --folded FILE' writes the stacks that flamegraph.pl and others draw" },
	{ NULL, NULL },
};

static int unknown_verb(const char *name)
{
	const char *names[sizeof(verbs) / sizeof(*verbs) + 1] = { [sizeof(verbs) / sizeof(*verbs)] = "help" };
	const char *answer = gus_habit_find(habits, name);
	char meant[128];

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		names[i] = verbs[i]->name;
	gus_suggest_format(gus_suggest(name, names, sizeof(names) / sizeof(*names)), meant, sizeof(meant));
	if (answer)
		gus_text_print(stderr, "gusprof: there is no verb '%s': %s\n", name, answer);
	else if (access(name, X_OK) == 0 && strchr(name, '/'))
		gus_text_print(stderr, "gusprof: '%s' is not a verb: 'gusprof record -- %s' samples that program\n",
			       name, name);
	else
		gus_text_print(stderr, "gusprof: '%s' is not a verb or an option of gusprof%s\n", name,
			       *meant ? meant : "; see 'gusprof --help'");
	return GUS_EXIT_USAGE;
}

static void print_help(FILE *to)
{
	fprintf(to, "usage: gusprof VERB [OPTION...] [ARG...]\n\n"
		    "A sampling profiler: which instructions does the time go to, and why.\n\nVerbs:\n");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		gus_text_print(to, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	fprintf(to, "  %-10s %s\n", "help", "Show this text, or a verb's options; help stacks says what stacks mean.");
	fprintf(to, "\nTo begin with:\n"
		    "  gusprof record -- ./app    run ./app and sample it into gusprof.data\n"
		    "  gusprof report             show where its time went\n\n"
		    "gusprof --version shows the version; gusprof(1) is the manual.\n");
}

/* For the completion and the checks of the documentation: a line an option, tabs between name, argument, choices. */
static int list_options(const char *name)
{
	const struct gus_verb *verb = find_verb(name);

	if (!verb)
		return GUS_EXIT_USAGE;
	for (const struct gus_option *o = verb->options; o->name; o++) {
		if (*o->name)
			gus_text_print(stdout, "--%s\t%s\t%s\n", o->name, o->argument ? o->argument : "",
				  o->choices ? o->choices : "");
		if (o->kind == GUS_OPTION_FLAG && *o->name && strncmp(o->name, "no-", 3) != 0)
			gus_text_print(stdout, "--no-%s\t\t\n", o->name);
		if (o->letter)
			gus_text_print(stdout, "-%c\t%s\t%s\n", o->letter, o->argument ? o->argument : "",
				  o->choices ? o->choices : "");
	}
	printf("--help\t\t\n-h\t\t\n");
	if (verb->argument_choices)
		gus_text_print(stdout, "\t\t%s\n", verb->argument_choices);
	return 0;
}

static int list_verbs(void)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		gus_text_print(stdout, "%s\n", verbs[i]->name);
	printf("help\n");
	return 0;
}

static int help(const char *name)
{
	const struct gus_verb *verb = name ? find_verb(name) : NULL;

	if (name && strcmp(name, "stacks") == 0) { /* no verb, but asked about as one is */
		gus_topic_stacks();
		return 0;
	}
	if (name && !verb)
		return unknown_verb(name);
	if (verb)
		gus_options_help(verb);
	else
		print_help(stdout);
	return 0;
}

/* A full disk or a closed pipe behind stdout must not look like success. */
static int flushed(int status)
{
	int why;

	gus_pager_end();
	why = fflush(stdout) != 0 ? errno : 0;
	if (!why && !ferror(stdout))
		return status;
	/* What was refused before is not tried again, and its reason is not known any more. */
	gus_text_print(stderr, "gusprof: cannot write the output%s%s\n", why ? ": " : "", why ? strerror(why) : "");
	return status ? status : GUS_EXIT_OWN_FAILURE;
}

/* Where one of the three is closed, the next file that is opened would take its number, and have what is printed, or be
 * closed as the pager's. What is in its place is for the other direction: to read or write it fails as before, and what
 * is executed has it closed as we had. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct gus_verb *verb;

	/* It runs commands, writes files and reads others' memory, each for whoever asks. */
	if (getuid() != geteuid() || getgid() != getegid()) {
		fprintf(stderr, "gusprof: cannot run set-user-ID or set-group-ID: whoever starts it could do anything "
			"with these rights; take the mode away, and give CAP_PERFMON instead\n");
		_exit(GUS_EXIT_OWN_FAILURE); /* what libraries do at the end is not done with these rights either */
	}
	fill_standard_descriptors();
	if (!name) {
		print_help(stderr);
		return GUS_EXIT_USAGE;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-v") == 0 || strcmp(name, "version") == 0) {
		printf("gusprof %s\n", PACKAGE_VERSION);
		return flushed(0);
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return flushed(help(argc > 2 ? argv[2] : NULL));
	if (strcmp(name, "--list-verbs") == 0)
		return flushed(list_verbs());
	if (strcmp(name, "--list-options") == 0 && argc > 2)
		return flushed(list_options(argv[2]));
	verb = find_verb(name);
	if (!verb)
		return unknown_verb(name);
	return flushed(verb->run(argc - 1, argv + 1));
}
