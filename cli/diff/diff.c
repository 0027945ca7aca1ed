/* SPDX-License-Identifier: MIT */
/* gusprof diff: recordings before and after, each as report --stacks has it, held against each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/identity.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/common/naming.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/progress.h"
#include "cli/diff/diff.h"
#include "cli/report/view.h"
#include "cli/screen/screen.h"
#include "cli/stacks/stacks.h"
#include "cli/verbs.h"

enum { FAILED_CONDITION = 1 };
enum { MANY = 3 };      /* pairs: of two Student's t has 12.7 standard errors, and knows next to nothing */
enum format { TEXT, JSON };

struct diff_options {
	int by;                         /* enum gus_sum_unit, in its order */
	int format;
	const char *normalise, *uarch, *build_ids;
	bool all, replay;
	struct gus_vec(struct gus_diff_condition) conditions;
	struct gus_screen_options screen;
	struct gus_naming_options naming;
};

static int call_condition(const char *argument, void *values, struct gus_error *err)
{
	struct gus_diff_condition c;

	if (gus_diff_condition_parse(&c, argument, err) != 0)
		return -1;
	gus_vec_push(&((struct diff_options *)values)->conditions, c);
	return 0;
}

#define AT(field) offsetof(struct diff_options, field)
static const struct gus_option options[] = {
	{ 0, "by", "WHAT", "What a row is: instruction, block, loop, line, function (the default), module or thread.",
	  GUS_OPTION_CHOICE, AT(by), .choices = "instruction block loop line function module thread" },
	{ 0, "normalise", "WHAT", "Compare shares: share, of all time; or a function's name, as multiples of its time. "
	  "Without it times are compared, which are of the same work.", GUS_OPTION_STRING, AT(normalise),
	  .choices = "share", .filled = true },
	{ 0, "fail-on", "CONDITION", "Exit with 1 if something changed by more, as 'total>+2%' or 'parse<-10%': by all "
	  "of the interval of the change, so not by chance. May be given several times.", GUS_OPTION_CALL,
	  .call = call_condition },
	{ 0, "all", NULL, "Show also rows whose change may be chance.", GUS_OPTION_FLAG, AT(all) },
	{ 0, "format", "FORMAT", "text (the default) or json.", GUS_OPTION_CHOICE, AT(format), .choices = "text json" },
	{ 0, "uarch", "NAME|FILE|host|nominal", "The CPU, as of gusprof model; by default that of each recording's "
	  "machine.", GUS_OPTION_STRING, AT(uarch) },
	{ 0, "replay", NULL, "Replay snapshots although somebody else made the recording.", GUS_OPTION_FLAG,
	  AT(replay) },
	GUS_SCREEN_OPTIONS(struct diff_options, screen),
	GUS_NAMING_BUILD_IDS(struct diff_options, build_ids),
	GUS_NAMING_OPTIONS(struct diff_options, naming),
	{ 0 },
};

static void take(void *context, const struct gus_stacks_view *v)
{
	gus_diff_take(context, v);
}

static void warn(const char *text, void *context)
{
	gus_log(context, GUS_WARN, "%s", text);
}

static void tell(const struct gus_damage *damage)
{
	gus_report_damage(damage, warn, (void *)(uintptr_t)gus_cli_log(0));
}

static int read_side(const struct diff_options *o, struct gus_diff_side *side, struct gus_error *err)
{
	char *build_ids = gus_naming_build_ids(o->build_ids);
	struct gus_progress progress = { 0 };
	const struct gus_symbols_options symbols = { .build_ids = build_ids };
	const struct gus_stacks_how how = { .input = side->input, .uarch = o->uarch, .replay = o->replay,
		.symbols = &symbols, .naming = gus_naming_begin(&o->naming, gus_cli_log(0), err),
		.heed = gus_progress_heed(&progress), .unit = (enum gus_sum_unit)o->by, .screen = &o->screen,
		.log = gus_cli_log(0), .tell = tell, .take = take, .take_context = side };
	int rc = how.naming ? gus_stacks_report(&how, err) : -1;

	gus_progress_end(&progress);
	gus_naming_end(how.naming);
	free(build_ids);
	return rc;
}

/* What both sides are divided by. */
static int normalise(const struct diff_options *o, struct gus_diff_side *side, struct gus_error *err)
{
	double whole;

	if (!o->normalise)
		return 0;
	whole = strcmp(o->normalise, "share") == 0 ? side->rows.total.value :
		gus_difference_function(&side->rows, o->normalise);
	if (whole <= 0)
		return gus_fail(err, GUS_E_NOT_FOUND, "--normalise %s: there is no such function in %s", o->normalise,
				side->input);
	gus_difference_scale(&side->rows, 1 / whole);
	return 0;
}

static int check_sides(const struct gus_diff_side *a, const struct gus_diff_side *b, struct gus_error *err)
{
	if (strcmp(a->event, b->event) == 0)
		return 0;
	return gus_fail(err, GUS_E_USAGE, "%s is of %s and %s of %s, which are not the same", a->input, a->event,
			b->input, b->event);
}

static void tell_condition(const struct gus_diff_condition *c, const struct gus_difference_row *of, bool holds)
{
	double whole = of->a.value;
	const char *so = holds ? "it does" : "not for sure";

	if (whole > 0)
		gus_log(gus_cli_log(0), GUS_NOTE, "%s: %+.1f %%, 95 %% of the time %+.1f to %+.1f: %s", c->text,
			100 * of->change.value / whole, fmax(-100, 100 * of->change.low / whole),
			100 * of->change.high / whole, so);
	else
		gus_log(gus_cli_log(0), GUS_NOTE, "%s: it took no time before: %s", c->text, so);
}

/* Each is told of. -1 with err if one is about what is nowhere: a check that cannot fail is none. */
static int check_conditions(const struct diff_options *o, const struct gus_differences *d, bool *any,
			    struct gus_error *err)
{
	for (size_t i = 0; i < o->conditions.n; i++) {
		const struct gus_diff_condition *c = &o->conditions.v[i];
		struct gus_difference_row of;
		bool known, holds = gus_diff_condition_holds(c, d, &of, &known);

		if (!known)
			return gus_fail(err, GUS_E_NOT_FOUND, "--fail-on %s: neither recording has a function '%s'",
					c->text, c->target);
		tell_condition(c, &of, holds);
		*any |= holds;
	}
	return 0;
}

/* One recording and the one that it is held against. */
static int read_pair(const struct diff_options *o, struct gus_diff_side *a, struct gus_diff_side *b,
		     struct gus_error *err)
{
	a->shares = b->shares = o->normalise;
	if (read_side(o, a, err) != 0 || read_side(o, b, err) != 0 || check_sides(a, b, err) != 0)
		return -1;
	gus_difference_level(&a->rows, &b->rows);
	return normalise(o, a, err) != 0 || normalise(o, b, err) != 0 ? -1 : 0;
}

/* v has the sides. */
static int tell_all(const struct diff_options *o, struct gus_diff_view *v, struct gus_error *err)
{
	struct gus_differences d;
	bool failed = false;
	int rc;

	gus_differences_make(&d, &v->a->rows, &v->b->rows);
	v->differences = &d;
	if (o->format == JSON)
		gus_diff_json(v); /* what cannot be written is told at the end, as of all output */
	else
		gus_diff_text(v);
	fflush(stdout);
	rc = check_conditions(o, &d, &failed, err);
	gus_differences_free(&d);
	return rc != 0 ? -1 : failed ? FAILED_CONDITION : 0;
}

/* The first that was given before as well, with which that is; false: there is none. */
static bool find_same(char **inputs, size_t n, const char **first, const char **again)
{
	static const struct gus_identity none;

	for (size_t i = 0; i < n; i++) {
		struct gus_identity x = gus_identity_at(inputs[i]), y;

		for (size_t k = 0; k < i && memcmp(&x, &none, sizeof(x)) != 0; k++) {
			y = gus_identity_at(inputs[k]);
			*first = inputs[k];
			*again = inputs[i];
			if (memcmp(&x, &y, sizeof(x)) == 0)
				return true;
		}
	}
	return false;
}

/* What is given twice is no second measurement, and would narrow intervals for nothing. Against itself one recording
 * can be held, if only by mistake. */
static int check_distinct(char **inputs, size_t pairs, struct gus_error *err)
{
	const char *first, *again;

	if (!find_same(inputs, 2 * pairs, &first, &again))
		return 0;
	if (pairs > 1)
		return gus_fail(err, GUS_E_USAGE, "%s and %s are the same file; of several pairs each is to be a "
				"recording of its own", first, again);
	gus_log(gus_cli_log(0), GUS_WARN, "%s and %s are the same file, of which nothing can have changed", first,
		again);
	return 0;
}

/* A check that cannot fail is none. */
static int check_fit(const struct diff_options *o, struct gus_error *err)
{
	for (size_t i = 0; o->normalise && i < o->conditions.n; i++) {
		const struct gus_diff_condition *c = &o->conditions.v[i];

		if (strcmp(c->target, strcmp(o->normalise, "share") == 0 ? "total" : o->normalise) == 0)
			return gus_fail(err, GUS_E_USAGE, "--fail-on %s says nothing with --normalise %s, by which "
					"'%s' is the same on both sides: leave out one of them", c->text, o->normalise,
					c->target);
	}
	return 0;
}

/* inputs: before and after in turns. */
static int compare(const struct diff_options *o, char **inputs, size_t pairs, struct gus_error *err)
{
	struct gus_diff_side *a = gus_zalloc(2 * pairs * sizeof(*a)), *b = a + pairs, whole[2] = { 0 };
	struct gus_diff_view v = { .a = a, .b = b, .pairs = pairs, .inputs = inputs,
		.unit = (enum gus_sum_unit)o->by, .normalised = o->normalise, .all = o->all, .screen = &o->screen };
	int rc = check_fit(o, err) != 0 ? -1 : check_distinct(inputs, pairs, err);

	for (size_t i = 0; i < pairs && rc == 0; i++) {
		a[i].input = inputs[2 * i];
		b[i].input = inputs[2 * i + 1];
		a[i].many = b[i].many = pairs >= MANY;
		a[i].first = i ? &a[0] : NULL;
		b[i].first = &a[0];
		rc = read_pair(o, &a[i], &b[i], err);
		if (rc == 0)
			rc = check_sides(a, &a[i], err);
	}
	if (rc == 0 && pairs > 1) {
		gus_diff_pool(&whole[0], a, pairs);
		gus_diff_pool(&whole[1], b, pairs);
		v.a = &whole[0];
		v.b = &whole[1];
	}
	if (rc == 0)
		rc = tell_all(o, &v, err);
	for (size_t i = 0; i < 2 * pairs; i++)
		gus_diff_side_free(&a[i]);
	gus_diff_side_free(&whole[0]);
	gus_diff_side_free(&whole[1]);
	free(a);
	return rc;
}

static int run(int argc, char **argv)
{
	struct diff_options o = { .by = GUS_SUM_FUNCTION, .screen = GUS_SCREEN_DEFAULTS,
		.naming = GUS_NAMING_DEFAULTS };
	struct gus_error err = { 0 };
	int status;

	if (gus_options_parse(&gus_verb_diff, &o, &argc, &argv, &status) == 0) {
		status = argc > 0 && argc % 2 == 0 ? compare(&o, argv, (size_t)argc / 2, &err) :
			gus_fail(&err, GUS_E_USAGE, "diff takes two recordings, what was before and what came after, "
				 "or several such pairs, not %d", argc);
		if (status < 0) {
			gus_complain(&err);
			status = err.code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
		}
	}
	for (size_t i = 0; i < o.conditions.n; i++)
		free(o.conditions.v[i].target);
	gus_vec_free(&o.conditions);
	return status;
}

const struct gus_verb gus_verb_diff = {
	.name = "diff",
	.synopsis = "[OPTION...] BEFORE AFTER [BEFORE AFTER]...",
	.summary = "Show what changed between two recordings, or pairs of them.",
	.details = "By function, loop, line, instruction and component, each change with its interval; what may\n"
		   "be chance is counted and not shown. The exit status is 1 if a condition of --fail-on holds.",
	.options = options,
	.run = run,
	.argument_choices = "@file",
	.word = "FILE",
	.many_words = true,
};
