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
#include "cli/common/option_rules.h"

struct values {
	int input, level;
	const char *file, *name;
	struct gus_list list;
	uint64_t pid, count, size;
	int64_t delay;
	double share;
	bool deep, wide;
};

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
	{ 0, "size", "SIZE", "", GUS_OPTION_SIZE, AT(size) },
	{ 'D', "delay", "MS", "", GUS_OPTION_SIGNED, AT(delay), .bounds = { -1, 5 } },
	{ 0, "share", "PCT", "", GUS_OPTION_PERCENT, AT(share), .bounds = { 0, 50, .above = true } },
	{ 0, "deep", NULL, "", GUS_OPTION_FLAG, AT(deep), .fit = { .needs = "level=low",
								   .why = "all else is shallow" } },
	{ 'w', "wide", NULL, "", GUS_OPTION_FLAG, AT(wide), .fit = { .needs = "--" } },
	{ 0 },
};
static const struct gus_option_rule rules[] = {
	{ "level=m*", { 1 << COMMAND, .why = "there is no other middle" } },
	{ "delay=-1", { .excludes = "wide" } },
	{ 0 },
};

static const struct gus_verb verb = {
	.name = "verb", .synopsis = "...", .options = options, .inputs = inputs, .input_word = "input",
	.input_offset = AT(input), .words_give = 1 << COMMAND, .word = "COMMAND", .many_words = true, .rules = rules,
};

/* Runs the parser on words separated by blanks, where "''" is an empty one. What it says on stderr goes to said. */
static int parse_as(const struct gus_verb *v, const char *line, struct values *values, char *said, size_t room)
{
	char *copy = gus_format("verb %s", line), *words[16], **argv = words;
	int argc = 0, status = -1, before = dup(2), rc;
	FILE *to = tmpfile();

	for (char *at = strtok(copy, " "); at; at = strtok(NULL, " "))
		words[argc++] = strcmp(at, "''") == 0 ? copy + strlen(copy) : at;
	words[argc] = NULL;
	dup2(fileno(to), 2);
	rc = gus_options_parse(v, values, &argc, &argv, &status);
	fflush(stderr);
	dup2(before, 2);
	close(before);
	rewind(to);
	said[fread(said, 1, room - 1, to)] = '\0';
	fclose(to);
	free(copy);
	assert_int_equal(status, rc ? GUS_EXIT_USAGE : -1);
	return rc;
}

static void good(const char *line, struct values *values)
{
	char said[1000];

	*values = (struct values){ .count = 7 };
	if (parse_as(&verb, line, values, said, sizeof(said)) != 0)
		fail_msg("%s: %s", line, said);
	assert_string_equal(said, "");
	gus_list_free(&values->list);
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
	good("--size 15G x", &v);
	bad("--size 17179869184G x", "--size takes a size such as 100M, not '17179869184G'");
	bad("--size 3T x", "--size takes a size such as 100M, not '3T'");
	bad("-l lo x", "-l takes low, middle or high, not 'lo'");
	bad("-l lower x", "-l takes low, middle or high, not 'lower'");
	bad("--name '' x", "--name takes NAME, not ''");
}

static void test_input(void **state)
{
	struct values v;

	(void)state;
	bad("", "no input was given; verb takes a command (--), a process (-p) or a file (-i)");
	good("x y", &v);
	assert_int_equal(v.input, COMMAND);
	good("-i f --name n", &v);
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
}

static void test_words(void **state)
{
	struct gus_verb v = verb;

	(void)state;
	v.many_words = false;
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
		cmocka_unit_test(test_values), cmocka_unit_test(test_bounds), cmocka_unit_test(test_input),
		cmocka_unit_test(test_strict_input), cmocka_unit_test(test_yielding_order),
		cmocka_unit_test(test_fits_input), cmocka_unit_test(test_needs), cmocka_unit_test(test_excludes),
		cmocka_unit_test(test_words), cmocka_unit_test(test_actions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
