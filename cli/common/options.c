/* SPDX-License-Identifier: MIT */
#include "cli/common/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/common/option_rules.h"
#include "cli/common/print.h"

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

int gus_decimal_parse(const char **text, double *value)
{
	const char *at = *text;
	double scale = 1;
	bool digits = false;

	*value = 0;
	for (; isdigit((unsigned char)*at); at++, digits = true)
		*value = *value * 10 + (*at - '0');
	if (*at == '.')
		for (at++; isdigit((unsigned char)*at); at++, digits = true)
			*value += (*at - '0') * (scale /= 10);
	*text = at;
	return digits ? 0 : -1;
}

/* Values by kind: each returns -1 if the text is none of its kind. */

static int parse_string(const struct gus_option *o, const char *text, void *value)
{
	*(const char **)value = text;
	return o->filled && !*text ? -1 : 0;
}

/* The number of a word of the choices. */
static int parse_choice(const struct gus_option *o, const char *text, void *value)
{
	size_t length = strlen(text);
	int number = 0;

	for (const char *at = o->choices; *at; number++) {
		size_t word = strcspn(at, " ");

		if (word == length && strncasecmp(at, text, word) == 0) {
			*(int *)value = number;
			return 0;
		}
		at += word + strspn(at + word, " ");
	}
	return -1;
}

static int parse_list(const struct gus_option *o, const char *text, void *value)
{
	struct gus_list *list = value;

	(void)o;
	while (*text) {
		size_t length = strcspn(text, ",");

		if (length) {
			list->v = gus_resize(list->v, list->n + 2, sizeof(*list->v));
			list->v[list->n++] = gus_strndup(text, length);
			list->v[list->n] = NULL;
		}
		text += length + (text[length] == ',');
	}
	return 0;
}

/* 010 is ten here, as people count, and not eight; 0x10 is sixteen. */
static int base_of(const char *text)
{
	text += *text == '-' || *text == '+';
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

static int parse_number(const struct gus_option *o, const char *text, void *value)
{
	char *end;

	(void)o;
	errno = 0;
	*(uint64_t *)value = strtoull(text, &end, base_of(text));
	return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 ? 0 : -1;
}

static int parse_signed(const struct gus_option *o, const char *text, void *value)
{
	char *end;

	(void)o;
	errno = 0;
	*(int64_t *)value = strtoll(text, &end, base_of(text));
	return *text && end != text && *end == '\0' && errno == 0 ? 0 : -1;
}

/* perf's sizes: a number with B, K, M or G, powers of 1024. */
static int parse_size(const struct gus_option *o, const char *text, void *value)
{
	static const char units[] = "BKMG";
	uint64_t number;
	const char *unit;
	char *end;

	(void)o;
	errno = 0;
	*(uint64_t *)value = number = strtoull(text, &end, base_of(text));
	if (!isdigit((unsigned char)text[0]) || errno)
		return -1;
	if (*end == '\0')
		return 0;
	unit = strchr(units, toupper((unsigned char)*end));
	if (!unit || end[1] != '\0')
		return -1;
	return __builtin_mul_overflow(number, (uint64_t)1 << 10 * (unit - units), (uint64_t *)value) ? -1 : 0;
}

static int parse_percent(const struct gus_option *o, const char *text, void *value)
{
	(void)o;
	if (gus_decimal_parse(&text, value) != 0)
		return -1;
	return text[*text == '%'] ? -1 : 0;
}

static int (*const parsers[])(const struct gus_option *o, const char *text, void *value) = {
	[GUS_OPTION_STRING] = parse_string, [GUS_OPTION_CHOICE] = parse_choice, [GUS_OPTION_LIST] = parse_list,
	[GUS_OPTION_NUMBER] = parse_number, [GUS_OPTION_SIGNED] = parse_signed, [GUS_OPTION_SIZE] = parse_size,
	[GUS_OPTION_PERCENT] = parse_percent,
};

void gus_list_free(struct gus_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i]);
	free(list->v);
	*list = (struct gus_list){ 0 };
}

/* What a value is as a number; 0 of those that are none. */
static double number_of(const struct gus_option *o, const void *value)
{
	switch (o->kind) {
	case GUS_OPTION_FLAG:
		return *(const bool *)value;
	case GUS_OPTION_NUMBER:
	case GUS_OPTION_SIZE:
		return (double)*(const uint64_t *)value;
	case GUS_OPTION_SIGNED:
		return (double)*(const int64_t *)value;
	case GUS_OPTION_PERCENT:
		return *(const double *)value;
	case GUS_OPTION_LIST:
		return (double)((const struct gus_list *)value)->n;
	default:
		return 0;
	}
}

static bool within(const struct gus_option_bounds *b, double number)
{
	return (b->above ? number > b->least : number >= b->least) && (!b->most || number <= b->most);
}

/* "text, json or csv". */
static void list_choices(const char *choices, char *out, size_t room)
{
	size_t used = 0;

	while (*choices && used < room) {
		size_t word = strcspn(choices, " "), gap = strspn(choices + word, " ");
		bool last = !choices[word + gap], next_last = !last && !strchr(choices + word + gap, ' ');

		used += (size_t)snprintf(out + used, room - used, "%.*s%s", (int)word, choices,
					 last ? "" : next_last ? " or " : ", ");
		choices += word + gap;
	}
}

/* "a number from 1 to 1000". */
static void describe_number(const struct gus_option *o, char *out, size_t room)
{
	const struct gus_option_bounds *b = &o->bounds;
	const char *noun = o->kind == GUS_OPTION_PERCENT ? "a percentage" : "a number";
	char most[32] = "";

	if (b->most)
		snprintf(most, sizeof(most), "%s%.0f", b->above ? " and up to " : b->least ? " to " : " up to ",
			 b->most);
	if (b->above || b->least)
		snprintf(out, room, "%s %s %.0f%s", noun, b->above ? "above" : "from", b->least, most);
	else
		snprintf(out, room, "%s%s", noun, most);
}

const char *gus_habit_find(const struct gus_habit *habits, const char *word)
{
	for (; habits && habits->word; habits++)
		if (strcmp(habits->word, word) == 0)
			return habits->answer;
	return NULL;
}

static int refuse(const struct gus_habit *habits, const struct gus_option *o, const struct gus_option_said *said,
		  struct gus_error *err)
{
	char label[64], takes[400], word[64], meant[128] = "";

	gus_option_label(o, said->by_letter, label);
	if (o->kind == GUS_OPTION_CHOICE) {
		const char *answer;

		snprintf(word, sizeof(word), "--%s=%.30s", o->name, said->argument);
		answer = gus_habit_find(habits, word);
		if (answer)
			return gus_fail(err, GUS_E_USAGE, "there is no %s %s: %s", label, said->argument, answer);
		gus_suggest_among(said->argument, o->choices, word, sizeof(word));
		gus_suggest_format(word, meant, sizeof(meant));
	}
	if (o->kind == GUS_OPTION_CHOICE)
		list_choices(o->choices, takes, sizeof(takes));
	else if (o->kind == GUS_OPTION_SIZE)
		snprintf(takes, sizeof(takes), "a size such as 100M");
	else if (o->kind == GUS_OPTION_STRING)
		snprintf(takes, sizeof(takes), "%s", o->argument);
	else
		describe_number(o, takes, sizeof(takes));
	return gus_fail(err, GUS_E_USAGE, "%s takes %s, not '%s'%s", label, takes, said->argument, meant);
}

/* Puts what was said into the verb's values. */
static int apply(const struct gus_option *o, bool negative, void *values, struct gus_option_said *said, double before,
		 const struct gus_habit *habits, struct gus_error *err)
{
	void *value = (char *)values + o->offset;

	said->given = true;
	if (o->kind == GUS_OPTION_CALL)
		return o->call(said->argument, values, err);
	if (o->kind == GUS_OPTION_FLAG)
		*(bool *)value = !negative;
	else if (parsers[o->kind](o, said->argument, value) != 0)
		return refuse(habits, o, said, err);
	said->number = number_of(o, value);
	if (o->kind != GUS_OPTION_STRING && o->kind != GUS_OPTION_CHOICE)
		said->given = said->number != before;
	if ((o->bounds.most || o->bounds.least || o->bounds.above) && !within(&o->bounds, said->number))
		return refuse(habits, o, said, err);
	return 0;
}

static int usage(const struct gus_verb *verb, const char *trouble, const char *word, const char *meant)
{
	gus_text_print(stderr, "gusprof: %s: %s%s%s\nusage: gusprof %s %s\nSee 'gusprof %s --help'.\n", verb->name,
		       trouble, word, meant, verb->name, verb->synopsis, verb->name);
	return GUS_EXIT_USAGE;
}

/* Of a word that is no option: what another profiler's users are told, or what it may have been meant to be. getopt
 * takes any beginning of a name, so one that is none of several is told so. */
static int unknown_option(const struct gus_verb *verb, const struct tables *t, const char *word)
{
	bool is_long = strncmp(word, "--", 2) == 0;
	char *name = gus_strndup(word, strcspn(word, "="));
	const char *answer = gus_habit_find(verb->habits, name), *near = NULL;
	struct gus_vec(const char *) names = { 0 };
	char meant[128], label[80];

	for (size_t i = 0; is_long && i < t->longs.n; i++)
		if (strncmp(word, "--no", 4) != 0 || !t->longs.v[i].name || strncmp(t->longs.v[i].name, "no", 2) == 0)
			gus_vec_push(&names, t->longs.v[i].name); /* never the opposite */
	if (is_long)
		near = gus_suggest(name + 2, names.v, names.n);
	snprintf(label, sizeof(label), "--%s", near ? near : "");
	gus_suggest_format(near ? label : NULL, meant, sizeof(meant));
	gus_vec_free(&names);
	if (answer)
		gus_text_print(stderr, "gusprof: %s has no %s: %s\n", verb->name, name, answer);
	free(name);
	return answer ? GUS_EXIT_USAGE : usage(verb, "unknown or ambiguous option ", word, meant);
}

/* "-p $(pidof x)" without any x. */
static int missing_argument(const struct gus_verb *verb, const char *word)
{
	bool pids = strcmp(word, "-p") == 0 || strcmp(word, "--pid") == 0;

	return usage(verb, "missing argument of option ", word,
		     pids ? "; if it came from pidof or pgrep, no such process runs" : "");
}

static int wrong(const struct gus_error *err)
{
	gus_complain(err);
	return GUS_EXIT_USAGE;
}

/* One command line on its way into a verb's values. */
struct parsing {
	const struct gus_verb *verb;
	void *values;
	int argc;
	struct gus_vec(struct gus_option_said) said; /* by option */
	struct gus_vec(double) before; /* the values that were there */
	struct tables tables;
};

static void begin(struct parsing *p)
{
	for (const struct gus_option *o = p->verb->options; o->name; o++) {
		gus_vec_push(&p->said, (struct gus_option_said){ 0 });
		gus_vec_push(&p->before, number_of(o, (char *)p->values + o->offset));
	}
}

/* One answer of getopt_long. 0 to go on, 1 when the verb is over with *status. */
static int handle(struct parsing *p, int got, char **argv, int *status)
{
	const struct gus_verb *verb = p->verb;
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

		*status = missing ? missing_argument(verb, word) : unknown_option(verb, &p->tables, word);
		return 1;
	}
	if (number < 0) /* a letter */
		for (number = 0; verb->options[number].letter != got; number++)
			;
	else if (negative)
		number -= NEGATIVE;
	if (!optarg && verb->options[number].takes && optind < p->argc && verb->options[number].takes(argv[optind]))
		optarg = argv[optind++];
	p->said.v[number].by_letter = got < VALUE_BASE;
	p->said.v[number].argument = optarg;
	if (apply(&verb->options[number], negative, p->values, &p->said.v[number], p->before.v[number], verb->habits,
		  &err) == 0)
		return 0;
	*status = wrong(&err);
	return 1;
}

/* 0, or 1 when the verb is over with *status. */
static int check(const struct parsing *p, int argc, char **argv, int *status)
{
	const struct gus_verb *verb = p->verb;
	struct gus_error err = { 0 };
	int input;

	if (gus_option_rules_check(verb, p->said.v, argc, argv, &input, &err) != 0) {
		*status = wrong(&err);
		return 1;
	}
	if (verb->inputs)
		*(int *)(void *)((char *)p->values + verb->input_offset) = input;
	return 0;
}

int gus_options_parse(const struct gus_verb *verb, void *values, int *argc, char ***argv, int *status)
{
	struct parsing p = { .verb = verb, .values = values, .argc = *argc, .tables = make_tables(verb) };
	struct tables *t = &p.tables;
	int got, over = 0;

	begin(&p);
	optind = 0; /* glibc: start afresh */
	opterr = 0;
	while (!over && (got = getopt_long(*argc, *argv, t->letters, t->longs.v, NULL)) != -1)
		over = handle(&p, got, *argv, status);
	*argc -= optind;
	*argv += optind;
	if (!over)
		over = check(&p, *argc, *argv, status);
	gus_vec_free(&p.said);
	gus_vec_free(&p.before);
	free_tables(t);
	return over;
}

/* Help. */

enum { HELP_COLUMN = 30, HELP_WIDTH = 80 };

static void print_wrapped(const char *text, int column)
{
	bool first = true;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (!first && column + 1 + length >= HELP_WIDTH) {
			printf("\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (!first) {
			putchar(' ');
			column++;
		}
		gus_print("%.*s", length, text);
		column += length;
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
	used += snprintf(left + used, sizeof(left) - (size_t)used, "%s%s%s%s%s", *o->name ? "--" : "",
			 has_negative(o) && o != &help_option ? "[no-]" : "", o->name, takes_argument(o) ? " " : "",
			 o->argument ? o->argument : "");
	if (used + 2 > HELP_COLUMN)
		gus_print("%s\n%*s", left, HELP_COLUMN, "");
	else
		gus_print("%-*s", HELP_COLUMN, left);
	print_wrapped(o->help, HELP_COLUMN);
}

void gus_options_help(const struct gus_verb *verb)
{
	gus_print("usage: gusprof %s %s\n\n%s\n\nOptions:\n", verb->name, verb->synopsis, verb->summary);
	for (const struct gus_option *o = verb->options; o->name; o++)
		print_option(o);
	print_option(&help_option);
	if (verb->details) {
		putchar('\n');
		fputs(verb->details, stdout);
		putchar('\n');
	}
}

void gus_complain(const struct gus_error *err)
{
	gus_text_print(stderr, "gusprof: %s\n", err->text);
}

static void emit(enum gus_level level, const char *text, void *context)
{
	(void)context;
	gus_text_print(stderr, "gusprof: %s%s\n", level == GUS_WARN ? "warning: " : "", text);
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
