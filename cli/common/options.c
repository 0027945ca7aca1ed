/* SPDX-License-Identifier: MIT */
#include "cli/common/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

/* getopt_long's tables, made from ours: value i is option i, value NEGATIVE + i its negative form. */
enum { VALUE_BASE = 256, NEGATIVE = 4096 };

struct tables {
	char letters[256];
	struct gus_vec(struct option) longs;
	struct gus_vec(char *) names; /* of negative forms */
};

static const struct gus_option help_option = {
	'h', "help", NULL, "Show this help and exit.", GUS_OPTION_FLAG, 0, NULL, NULL
};

static bool takes_argument(const struct gus_option *o)
{
	return o->argument && o->argument[0] != '[';
}

static bool has_negative(const struct gus_option *o)
{
	return o->kind == GUS_OPTION_FLAG && *o->name && strncmp(o->name, "no-", 3) != 0;
}

static void add_option(struct tables *t, const struct gus_option *o, int number)
{
	int argument = takes_argument(o) ? required_argument : o->argument ? optional_argument : no_argument;
	size_t used = strlen(t->letters);

	if (*o->name)
		if (*o->name)
		gus_vec_push(&t->longs, (struct option){ o->name, argument, NULL, VALUE_BASE + number });
	if (has_negative(o)) {
		char *name = gus_format("no-%s", o->name);

		gus_vec_push(&t->names, name);
		gus_vec_push(&t->longs, (struct option){ name, no_argument, NULL, VALUE_BASE + NEGATIVE + number });
	}
	if (o->letter)
		snprintf(t->letters + used, sizeof(t->letters) - used, "%c%s", o->letter,
			 argument == required_argument ? ":" : "");
}

/* '+': options end at the first other word, so that the workload's own are not taken; ':' for own messages. */
static struct tables make_tables(const struct gus_verb *verb)
{
	bool command = verb->argument_choices && strcmp(verb->argument_choices, "@command") == 0;
	const struct gus_option *options = verb->options;
	struct tables t = { 0 };

	snprintf(t.letters, sizeof(t.letters), "%s:h", command ? "+" : "");

	for (int i = 0; options[i].name; i++)
		add_option(&t, &options[i], i);
	gus_vec_push(&t.longs, (struct option){ "help", no_argument, NULL, 'h' });
	gus_vec_push(&t.longs, (struct option){ 0 });
	return t;
}

static void free_tables(struct tables *t)
{
	for (size_t i = 0; i < t->names.n; i++)
		free(t->names.v[i]);
	gus_vec_free(&t->names);
	gus_vec_free(&t->longs);
}

static int parse_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 ? 0 : -1;
}

static int parse_signed(const char *text, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 0);
	return *text && end != text && *end == '\0' && errno == 0 ? 0 : -1;
}

/* perf's sizes: a number with B, K, M or G, powers of 1024. */
static int parse_size(const char *text, uint64_t *value)
{
	static const char units[] = "BKMG";
	const char *unit;
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)text[0]) || errno)
		return -1;
	if (*end == '\0')
		return 0;
	unit = strchr(units, toupper((unsigned char)*end));
	if (!unit || end[1] != '\0')
		return -1;
	return __builtin_mul_overflow(*value, (uint64_t)1 << 10 * (unit - units), value) ? -1 : 0;
}

static void list_add(struct gus_list *list, const char *text)
{
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, ",");

		if (length) {
			list->v = gus_resize(list->v, list->n + 2, sizeof(*list->v));
			list->v[list->n++] = gus_strndup(at, length);
			list->v[list->n] = NULL;
		}
		at += length + (at[length] == ',');
	}
}

void gus_list_free(struct gus_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i]);
	free(list->v);
	*list = (struct gus_list){ 0 };
}

static int apply(const struct gus_option *o, bool negative, const char *argument, void *values, struct gus_error *err)
{
	void *value = (char *)values + o->offset;
	int rc = 0;

	switch (o->kind) {
	case GUS_OPTION_FLAG:
		*(bool *)value = !negative;
		break;
	case GUS_OPTION_STRING:
		*(const char **)value = argument;
		break;
	case GUS_OPTION_LIST:
		list_add(value, argument);
		break;
	case GUS_OPTION_NUMBER:
		rc = parse_number(argument, value);
		break;
	case GUS_OPTION_SIGNED:
		rc = parse_signed(argument, value);
		break;
	case GUS_OPTION_SIZE:
		rc = parse_size(argument, value);
		break;
	case GUS_OPTION_CALL:
		return o->call(argument, values, err);
	}
	if (rc != 0)
		return gus_fail(err, GUS_E_USAGE, "--%s takes %s, not '%s'", o->name,
				o->kind == GUS_OPTION_SIZE ? "a size such as 100M" : "a number", argument);
	return 0;
}

static int usage(const struct gus_verb *verb, const char *trouble, const char *word)
{
	fprintf(stderr, "gusprof: %s: %s%s\nusage: gusprof %s %s\nSee 'gusprof %s --help'.\n", verb->name, trouble, word,
		verb->name, verb->synopsis, verb->name);
	return GUS_EXIT_USAGE;
}

/* One answer of getopt_long. 0 to go on, 1 when the verb is over with *status. */
static int handle(const struct gus_verb *verb, int got, void *values, char **argv, int *status)
{
	struct gus_error err = { 0 };
	char letter[3] = { '-', (char)optopt, '\0' };
	int number = got - VALUE_BASE;
	bool negative = number >= NEGATIVE;

	if (got == 'h') {
		gus_options_help(verb);
		*status = 0;
		return 1;
	}
	if (got == '?' || got == ':') {
		bool missing = got == ':';
		const char *word = optopt && optopt < VALUE_BASE ? letter : argv[optind - 1];

		*status = usage(verb, missing ? "missing argument of option " : "unknown or ambiguous option ", word);
		return 1;
	}
	if (number < 0) /* a letter */
		for (number = 0; verb->options[number].letter != got; number++)
			;
	else if (negative)
		number -= NEGATIVE;
	if (apply(&verb->options[number], negative, optarg, values, &err) == 0)
		return 0;
	*status = usage(verb, err.text, "");
	return 1;
}

int gus_options_parse(const struct gus_verb *verb, void *values, int *argc, char ***argv, int *status)
{
	struct tables t = make_tables(verb);
	int got, over = 0;

	optind = 0; /* glibc: start afresh */
	opterr = 0;
	while (!over && (got = getopt_long(*argc, *argv, t.letters, t.longs.v, NULL)) != -1)
		over = handle(verb, got, values, *argv, status);
	*argc -= optind;
	*argv += optind;
	free_tables(&t);
	return over;
}

/* Help. */

enum { HELP_COLUMN = 30, HELP_WIDTH = 80 };

static void print_wrapped(const char *text, int column)
{
	bool first = true;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (!first && column + 1 + (int)length >= HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (!first) {
			column += printf(" ");
		}
		column += printf("%.*s", (int)length, text);
		text += length;
		text += strspn(text, " ");
		first = false;
	}
	printf("\n");
}

static void print_option(const struct gus_option *o)
{
	char left[128];
	int used = 0;

	if (o->letter)
		used = snprintf(left, sizeof(left), *o->name ? "  -%c, " : "  -%c", o->letter);
	else
		used = snprintf(left, sizeof(left), "      ");
	used += snprintf(left + used, sizeof(left) - (size_t)used, "%s%s%s%s%s", *o->name ? "--" : "", has_negative(o) && o != &help_option ? "[no-]" : "",
			 o->name, takes_argument(o) ? " " : "", o->argument ? o->argument : "");
	if (used + 2 > HELP_COLUMN)
		printf("%s\n%*s", left, HELP_COLUMN, "");
	else
		printf("%-*s", HELP_COLUMN, left);
	print_wrapped(o->help, HELP_COLUMN);
}

void gus_options_help(const struct gus_verb *verb)
{
	printf("usage: gusprof %s %s\n\n%s\n\nOptions:\n", verb->name, verb->synopsis, verb->summary);
	for (const struct gus_option *o = verb->options; o->name; o++)
		print_option(o);
	print_option(&help_option);
	if (verb->details)
		printf("\n%s\n", verb->details);
}

void gus_complain(const struct gus_error *err)
{
	fprintf(stderr, "gusprof: %s\n", err->text);
}

static void emit(enum gus_level level, const char *text, void *context)
{
	(void)context;
	fprintf(stderr, "gusprof: %s%s\n", level == GUS_WARN ? "warning: " : "", text);
}

const struct gus_log *gus_cli_log(int verbosity)
{
	static const struct gus_log logs[] = {
		{ GUS_WARN, emit, NULL },
		{ GUS_NOTE, emit, NULL },
		{ GUS_DEBUG, emit, NULL },
	};

	return &logs[verbosity < 0 ? 0 : verbosity > 0 ? 2 : 1];
}
