/* SPDX-License-Identifier: MIT */
/* Command lines of a made-up verb: what ends up in its values, and which sentence a wrong one gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cli/common/options.h"

struct values {
	const char *file, *name;
	int level, input;
	unsigned calls;
	struct gus_list list;
	uint64_t pid, count, size;
	int64_t delay;
	double share;
	uint64_t least;
	bool deep, wide, only, either;
};

static int call(const char *argument, void *values, struct gus_error *err)
{
	((struct values *)values)->calls += argument ? (unsigned)strlen(argument) : 100;
	return argument && *argument == 'x' ? gus_fail(err, GUS_E_USAGE, "no x") : 0;
}

static bool is_kind(const char *word)
{
	return strncmp(word, "kind", 4) == 0;
}

enum { COMMAND, PROCESS, A_FILE };
static const struct gus_input inputs[] = {
	{ "a command (--)", .yields = true }, { "a process (-p)" }, { "a file (-i)", .needs = "name" }, { 0 },
};

#define AT(field) offsetof(struct values, field)
static const struct gus_option options[] = {
	{ 'i', "input", "FILE", "", GUS_OPTION_STRING, AT(file), .gives = 1 << A_FILE },
	{ 'p', "pid", "PID", "", GUS_OPTION_NUMBER, AT(pid), .gives = 1 << PROCESS, .bounds = { 1, 100 } },
	{ 0, "name", "NAME", "", GUS_OPTION_STRING, AT(name), .filled = true },
	{ 'l', "level", "LEVEL", "", GUS_OPTION_CHOICE, AT(level), .choices = "low middle high" },
	{ 0, "list", "A[,B]", "", GUS_OPTION_LIST, AT(list), .fit = { .excludes = "deep level=high" } },
	{ 'c', "count", "N", "", GUS_OPTION_NUMBER, AT(count), .fit = { 1 << PROCESS | 1 << A_FILE } },
	{ 0, "size", "SIZE", "", GUS_OPTION_SIZE, AT(size), .fit = { .excludes = "input" } },
	{ 'D', "delay", "MS", "", GUS_OPTION_SIGNED, AT(delay), .bounds = { -1, 5 } },
	{ 0, "share", "PCT", "", GUS_OPTION_PERCENT, AT(share), .bounds = { 0, 50, .above = true } },
	{ 0, "deep", NULL, "", GUS_OPTION_FLAG, AT(deep), .fit = { .needs = "level=low",
								   .why = "all else is shallow" } },
	{ 'w', "wide", NULL, "", GUS_OPTION_FLAG, AT(wide), .fit = { .needs = "--" } },
	{ 'o', "", NULL, "", GUS_OPTION_FLAG, AT(only) },
	{ 0, "call", "[=HOW]", "", GUS_OPTION_CALL, .call = call },
	{ 'k', "kind", "[=KIND]", "", GUS_OPTION_CALL, .call = call, .takes = is_kind },
	{ 0, "either", NULL, "", GUS_OPTION_FLAG, AT(either), .fit = { .needs = "kind level=high" } },
	{ 0, "least", "N", "", GUS_OPTION_NUMBER, AT(least), .bounds = { 3 } },
	{ 0 },
};
static const struct gus_option_rule rules[] = {
	{ "level=m*", { 1 << COMMAND, .why = "there is no other middle" } },
	{ "delay=-1", { .excludes = "wide" } },
	{ 0 },
};

static const struct gus_habit habits[] = {
	{ "--tui", "there is another way" }, { "--level=huge", "low is as much" }, { NULL, NULL },
};

static const struct gus_verb verb = {
	.name = "verb", .synopsis = "...", .options = options, .inputs = inputs, .input_word = "input",
	.input_offset = AT(input), .words_give = 1 << COMMAND, .word = "COMMAND", .many_words = true, .rules = rules,
	.habits = habits,
};

/* What a call says on a file, in said. */
struct capture { int fd, before; FILE *to; };

static struct capture capture(int fd)
{
	struct capture c = { fd, dup(fd), tmpfile() };

	fflush(NULL);
	dup2(fileno(c.to), fd);
	return c;
}

static void captured(struct capture *c, char *said, size_t room)
{
	fflush(NULL);
	dup2(c->before, c->fd);
	close(c->before);
	rewind(c->to);
	said[fread(said, 1, room - 1, c->to)] = '\0';
	fclose(c->to);
}

/* Runs the parser on words separated by blanks, where "''" is an empty one. What it says on stderr goes to said. */
static int parse_as(const struct gus_verb *v, const char *line, struct values *values, char *said, size_t room)
{
	char *copy = gus_format("verb %s", line), *words[16], **argv = words;
	int argc = 0, status = -1, rc;
	struct capture c;

	for (char *at = strtok(copy, " "); at; at = strtok(NULL, " "))
		words[argc++] = strcmp(at, "''") == 0 ? copy + strlen(copy) : at;
	words[argc] = NULL;
	c = capture(2);
	rc = gus_options_parse(v, values, &argc, &argv, &status);
	captured(&c, said, room);
	free(copy);
	assert_int_equal(status, rc ? GUS_EXIT_USAGE : -1);
	return rc;
}

/* The list that was filled is freed; how many words it had is left in its n. */
static void good_as(const struct gus_verb *v, const char *line, struct values *values)
{
	char said[1000];
	size_t n;

	*values = (struct values){ .count = 7 };
	if (parse_as(v, line, values, said, sizeof(said)) != 0)
		fail_msg("%s: %s", line, said);
	assert_string_equal(said, "");
	n = values->list.n;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(values->list.v[i][0], 'a' + i);
	assert_true(!n || !values->list.v[n]);
	gus_list_free(&values->list);
	values->list.n = n;
}

static void good(const char *line, struct values *values)
{
	good_as(&verb, line, values);
}

static void bad_as(const struct gus_verb *v, const char *line, const char *sentence)
{
	char *wanted = gus_format("gusprof: %s\n", sentence), said[1000];
	struct values values = { .count = 7 };

	assert_int_equal(parse_as(v, line, &values, said, sizeof(said)), 1);
	assert_string_equal(said, wanted);
	gus_list_free(&values.list);
	free(wanted);
}

static void bad(const char *line, const char *sentence)
{
	bad_as(&verb, line, sentence);
}

static void test_values(void **state)
{
	struct values v;

	(void)state;
	good("-p 100 --level HIGH --size 3K -D -1 --share 0.25% -- -w x", &v);
	assert_int_equal(v.pid, 100);
	assert_int_equal(v.level, 2);
	assert_int_equal(v.size, 3072);
	assert_int_equal(v.delay, -1);
	assert_true(v.share > 0.2499 && v.share < 0.2501);
	assert_false(v.wide);
	assert_int_equal(v.input, PROCESS);
}

static void test_kinds(void **state)
{
	struct values v;

	(void)state;
	good("--list a,,b --list c, -o x", &v);
	assert_int_equal(v.list.n, 3);
	assert_true(v.only);
	good("--call=ab --call x", &v);
	assert_int_equal(v.calls, 102);
	bad("--call=x y", "no x");
	bad("--least 2 x", "--least takes a number from 3, not '2'");
	good("--least 3 --count 0 --size 0 -p 1", &v);
	assert_int_equal(v.least, 3);
	assert_int_equal(v.count, 0);
	good("--size 2b x", &v);
	assert_int_equal(v.size, 2);
	good("--size 2g x", &v);
	assert_int_equal(v.size, (uint64_t)2 << 30);
}

/* An optional argument may be the next word, if that is one; what is not stays what it was. */
static void test_optional_words(void **state)
{
	static const struct { const char *line; unsigned calls; } lines[] = {
		{ "-k kindest x", 7 }, { "--kind kind x", 4 }, { "--kind=abc x", 3 }, { "-k x", 100 }, { "x -k", 100 },
		{ "x -k kind", 4 }, { "y -k kind -k kinds -o", 9 }, { "-k -- kind", 100 }, { "-k -o kind", 100 },
		{ "--call kind", 100 },
	};
	struct values v;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		good_as(&verb, lines[i].line, &v);
		if (v.calls != lines[i].calls)
			fail_msg("%s: %u, not %u", lines[i].line, v.calls, lines[i].calls);
	}
	bad_as(&verb, "-k kind", "no input was given; verb takes a command (--), a process (-p) or a file (-i)");
}

/* Of several options that are needed one is enough. */
static void test_either(void **state)
{
	struct values v;

	(void)state;
	good("--either -k x", &v);
	good("--either --level high x", &v);
	good("--either --level high -k x", &v);
	bad("--either x", "--either needs --kind");
	bad("--either --level low x", "--either needs --kind");
}

/* Words of getopt's own. */
static void test_no_option(void **state)
{
	struct values v;

	(void)state;
	bad("--bogus x", "verb: unknown or ambiguous option --bogus\nusage: gusprof verb ...\n"
	    "See 'gusprof verb --help'.");
	bad("-Z x", "verb: unknown or ambiguous option -Z\nusage: gusprof verb ...\nSee 'gusprof verb --help'.");
	bad("--no-call x", "verb: unknown or ambiguous option --no-call\nusage: gusprof verb ...\n"
	    "See 'gusprof verb --help'.");
	bad("--pid", "verb: missing argument of option --pid; if it came from pidof or pgrep, no such process runs\n"
	    "usage: gusprof verb ...\nSee 'gusprof verb --help'.");
	bad("--no-cal x", "verb: unknown or ambiguous option --no-cal\nusage: gusprof verb ...\n" /* not --call */
	    "See 'gusprof verb --help'.");
	bad("--levle low", "verb: unknown or ambiguous option --levle; did you mean '--level'?\n"
	    "usage: gusprof verb ...\nSee 'gusprof verb --help'.");
	bad("--levle=low", "verb: unknown or ambiguous option --levle=low; did you mean '--level'?\n"
	    "usage: gusprof verb ...\nSee 'gusprof verb --help'.");
	bad("--tui=x", "verb has no --tui: there is another way");
	bad("-l huge x", "there is no -l huge: low is as much");
	good("x --level low", &v);
}

/* Behind a command's name the options are the command's. */
static void test_command(void **state)
{
	struct gus_verb v = verb;
	struct values values;

	(void)state;
	v.argument_choices = "@command";
	good_as(&v, "x --level high --bogus", &values);
	assert_int_equal(values.level, 0);
	v.argument_choices = "@file";
	good_as(&v, "x --level high", &values);
	assert_int_equal(values.level, 2);
}

static void test_no_inputs(void **state)
{
	static const struct gus_option plain[] = { { 'o', "only", NULL, "", GUS_OPTION_FLAG, AT(only) }, { 0 } };
	struct gus_verb v = { .name = "verb", .options = plain, .input_offset = AT(count) };
	struct values values;

	(void)state;
	good_as(&v, "-o", &values);
	assert_int_equal(values.count, 7);
}

static void test_help(void **state)
{
	static const struct gus_option some[] = {
		{ 'i', "input", "FILE", "The file.", GUS_OPTION_STRING, AT(file) },
		{ 0, "wide", NULL, "Forty-nine columns beside thirty others just fit; one more does not.",
		  GUS_OPTION_FLAG, AT(wide) },
		{ 'o', "", NULL, "Only that one; it has no long name, and it is told in more than a single line.",
		  GUS_OPTION_FLAG, AT(only) },
		{ 0, "no-deep", NULL, "Has no negative form.", GUS_OPTION_FLAG, AT(deep) },
		{ 0, "an-option-whose-name", "[=HOW]", "Is long.", GUS_OPTION_CALL, .call = call },
		{ 0 },
	};
	struct gus_verb v = { .name = "verb", .synopsis = "[OPTION...]", .summary = "It acts.", .options = some };
	struct capture c = capture(1);
	char said[2000];

	(void)state;
	gus_options_help(&v);
	v.details = "More.";
	gus_options_help(&v);
	captured(&c, said, sizeof(said));
#define OPTIONS \
	"usage: gusprof verb [OPTION...]\n\nIt acts.\n\nOptions:\n" \
	"  -i, --input FILE            The file.\n" \
	"      --[no-]wide             Forty-nine columns beside thirty others just fit;\n" \
	"                              one more does not.\n" \
	"  -o                          Only that one; it has no long name, and it is\n" \
	"                              told in more than a single line.\n" \
	"      --no-deep               Has no negative form.\n" \
	"      --an-option-whose-name[=HOW]\n" \
	"                              Is long.\n" \
	"  -h, --help                  Show this help and exit.\n"
	assert_string_equal(said, OPTIONS OPTIONS "\nMore.\n");
}

static void test_bounds(void **state)
{
	struct values v;

	(void)state;
	good("-p 1", &v);
	bad("-p 0", "-p takes a number from 1 to 100, not '0'");
	bad("--pid 101", "--pid takes a number from 1 to 100, not '101'");
	bad("-p 1x", "-p takes a number from 1 to 100, not '1x'");
	good("-D 5 x", &v);
	bad("-D 6 x", "-D takes a number from -1 to 5, not '6'");
	bad("-D -2 x", "-D takes a number from -1 to 5, not '-2'");
	good("--share 50 x", &v);
	bad("--share 50.1 x", "--share takes a percentage above 0 and up to 50, not '50.1'");
	bad("--share 0 x", "--share takes a percentage above 0 and up to 50, not '0'");
	bad("--share 1%% x", "--share takes a percentage above 0 and up to 50, not '1%%'");
	bad("--count -1 x", "--count takes a number, not '-1'");
	bad("--count 18446744073709551616 x", "--count takes a number, not '18446744073709551616'");
	good("-p 1 --count 18446744073709551615", &v);
	assert_true(v.count == UINT64_MAX);
	good("-p 1 --count 010", &v); /* ten, as people count, and not eight */
	assert_int_equal(v.count, 10);
	good("-p 1 --count 0x10", &v);
	assert_int_equal(v.count, 16);
	bad("--count 0x x", "--count takes a number, not '0x'");
	good("--size 15G x", &v);
	bad("--size 17179869184G x", "--size takes a size such as 100M, not '17179869184G'");
	bad("--size 3T x", "--size takes a size such as 100M, not '3T'");
	bad("-l lo x", "-l takes low, middle or high, not 'lo'; did you mean 'low'?");
	bad("-l lower x", "-l takes low, middle or high, not 'lower'; did you mean 'low'?");
	bad("--name '' x", "--name takes NAME, not ''");
}

static void test_input(void **state)
{
	struct values v;

	(void)state;
	bad("", "no input was given; verb takes a command (--), a process (-p) or a file (-i)");
	good("x y", &v);
	assert_int_equal(v.input, COMMAND);
	good("--input f --name n", &v);
	assert_int_equal(v.input, A_FILE);
	bad("-i f", "a file (-i) needs --name");
	bad("-i f -p 1", "a process (-p) and a file (-i) exclude each other: verb takes one input");
	good("-p 1 x", &v); /* the command yields */
	assert_int_equal(v.input, PROCESS);
}

static void test_strict_input(void **state)
{
	static const struct gus_input strict[] = { { "words" }, { "a process (-p)" }, { "a file (-i)" }, { 0 } };
	struct gus_verb v = verb;

	(void)state;
	v.inputs = strict;
	bad_as(&v, "-p 1 x", "words and a process (-p) exclude each other: verb takes one input");
}

/* Without any input it is the first, if the verb says so; a word that is none is still an error. */
static void test_default_input(void **state)
{
	static const struct gus_input some[] = { { "a file (-i)" }, { "a process (-p)" }, { 0 } };
	struct gus_verb v = verb;
	struct values values = { 0 };
	char said[200];

	(void)state;
	v.inputs = some;
	v.words_give = 0;
	assert_int_not_equal(parse_as(&v, "", &values, said, sizeof(said)), 0);
	v.first_by_default = true;
	assert_int_equal(parse_as(&v, "", &values, said, sizeof(said)), 0);
	assert_int_not_equal(parse_as(&v, "word", &values, said, sizeof(said)), 0);
}

static void test_yielding_order(void **state)
{
	static const struct gus_input yielding[] = { { "words", .yields = true }, { "p", .yields = true }, { "i" },
						     { 0 } };
	struct values values = { 0 };
	struct gus_verb v = verb;
	char said[200];

	(void)state;
	v.inputs = yielding;
	assert_int_equal(parse_as(&v, "-p 1 x", &values, said, sizeof(said)), 0);
	assert_int_equal(values.input, 0);
	values = (struct values){ 0 };
	assert_int_equal(parse_as(&v, "-p 1", &values, said, sizeof(said)), 0);
	assert_int_equal(values.input, 1);
}

static void test_fits_input(void **state)
{
	struct values v;

	(void)state;
	good("-p 1 -c 8", &v);
	bad("-c 8 x", "-c is for a process (-p) or a file (-i); here the input is a command (--)");
	good("-c 7 x", &v); /* what is so anyway */
	good("--level middle x", &v);
	bad("--level Middle -p 1", "--level Middle is for a command (--); here the input is a process (-p): there is "
	    "no other middle");
	good("--level high -p 1", &v);
}

static void test_needs(void **state)
{
	struct values v;

	(void)state;
	bad("--deep x", "--deep needs --level low: all else is shallow");
	bad("--deep -l high x", "--deep needs -l low: all else is shallow");
	good("--deep -l low x", &v);
	assert_true(v.deep);
	good("--no-deep x", &v);
	good("--deep --no-deep x", &v);
	bad("--no-deep --deep x", "--deep needs --level low: all else is shallow");
	bad("-w -p 1", "-w needs a command (--)");
	good("-w -p 1 x", &v);
}

static void test_excludes(void **state)
{
	struct values v;

	(void)state;
	good("--list a,b -l low x", &v);
	bad("--list a -l low --deep x", "--list and --deep exclude each other");
	bad("--list a -l HIGH x", "--list and -l HIGH exclude each other");
	good("--list a -l high --level low x", &v); /* the last one counts */
	good("--list '' --deep -l low x", &v);      /* an empty list is none */
	bad("-w --delay -1 x", "--delay -1 and -w exclude each other");
	bad("-w --delay -0x1 x", "--delay -0x1 and -w exclude each other");
	good("-w --delay 1 x", &v);
	bad("--size 3 -i f --name n", "--size and -i exclude each other");
	good("--size 3 --name n x", &v);
}

static void test_words(void **state)
{
	struct values values = { 0 };
	struct gus_verb v = verb;
	char said[200];

	(void)state;
	v.many_words = false;
	assert_int_equal(parse_as(&v, "x", &values, said, sizeof(said)), 0);
	bad_as(&v, "x y", "verb takes one COMMAND, not 'y' too");
	v.word = NULL;
	bad_as(&v, "x", "verb takes no argument, but there is 'x'");
}

static void test_actions(void **state)
{
	static const struct gus_input actions[] = {
		{ "list", .word = "list" }, { "show", .word = "show" }, { "import", .word = "import", .needs = "name" },
			{ 0 }, };
	struct values values = { 0 };
	struct gus_verb v = verb;
	char said[200];

	(void)state;
	v.inputs = actions;
	v.input_word = "action";
	assert_int_equal(parse_as(&v, "show list", &values, said, sizeof(said)), 0);
	assert_int_equal(values.input, 1);
	assert_int_equal(parse_as(&v, "--size 1", &values, said, sizeof(said)), 0);
	assert_int_equal(values.input, 0);
	bad_as(&v, "tell", "verb takes list, show or import, not 'tell'");
	bad_as(&v, "import", "import needs --name");
	bad_as(&v, "list -c 1", "-c is for show or import; here the action is list");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_kinds), cmocka_unit_test(test_no_option),
		cmocka_unit_test(test_command), cmocka_unit_test(test_no_inputs), cmocka_unit_test(test_help),
		cmocka_unit_test(test_bounds), cmocka_unit_test(test_input),
		cmocka_unit_test(test_strict_input), cmocka_unit_test(test_default_input),
		cmocka_unit_test(test_yielding_order),
		cmocka_unit_test(test_fits_input), cmocka_unit_test(test_needs), cmocka_unit_test(test_excludes),
		cmocka_unit_test(test_optional_words), cmocka_unit_test(test_either),
		cmocka_unit_test(test_words), cmocka_unit_test(test_actions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
