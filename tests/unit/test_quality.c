/* SPDX-License-Identifier: MIT */
/* What is said first of a recording that is explained: each fact where it matters, and none where it does not, in their
 * order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/compared/measured.h"
#include "attribution/profile/rows.h"
#include "attribution/traced/traced.h"
#include "cli/common/calibrated.h"
#include "cli/common/uarch_load.h"
#include "cli/explain/measured.h"
#include "cli/explain/quality.h"
#include "cli/explain/view.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"

/* In place of cli/common: how old the calibration is, and for which CPU the recording's table would be. */
static long days;
static const char *recorded_on;

long gus_calibrated_days(const struct gus_uarch *u)
{
	(void)u;
	return days;
}

const char *gus_uarch_of_host(const struct Gusprof__Host *host)
{
	(void)host;
	return recorded_on;
}

/* In place of attribution/profile/rows.c: functions with the most samples first. */
static struct gus_row rows[32];
static size_t rows_n;

void gus_view_make(struct gus_view *v, struct gus_profile *p, unsigned by, bool inlines)
{
	(void)p;
	assert_int_equal(by, GUS_BY_FUNCTION);
	assert_false(inlines);
	*v = (struct gus_view){ .by = by };
	v->rows.v = rows;
	v->rows.n = rows_n;
}

void gus_view_free(struct gus_view *v)
{
	v->rows.n = 0;
}

/* A good recording, of a block of a hundred instructions, all with rows, that was executed ten times; and what tests
 * make worse of it. */
enum { INSNS = 100 };
struct good {
	Gusprof__Host host;
	Gusprof__Event event, *events[1];
	Gusprof__EventTotal total, *totals[1];
	Gusprof__Header header;
	Gusprof__Footer footer;
	struct gus_uarch uarch;
	struct gus_uarch_row row;
	struct gus_program_insn insns[INSNS];
	struct gus_program program;
	struct gus_traced_block block;
	struct gus_traced traced;
	struct gus_model_windows windows;
	struct gus_model_view model;
	struct gus_measured measured;
	struct gus_explain_region region;
	struct gus_explain_counts counts;
	struct gus_explain_view v;
};

static char cycles[] = "cycles", function[] = "f";

static void make(struct good *g)
{
	memset(g, 0, sizeof(*g));
	days = -1;
	rows[0] = (struct gus_row){ .function = "f", .share = 1 };
	rows_n = 1;
	recorded_on = "skylake";
	g->host = (Gusprof__Host)GUSPROF__HOST__INIT;
	g->event = (Gusprof__Event)GUSPROF__EVENT__INIT;
	g->event.name = cycles;
	g->total = (Gusprof__EventTotal)GUSPROF__EVENT_TOTAL__INIT;
	g->header = (Gusprof__Header)GUSPROF__HEADER__INIT;
	g->footer = (Gusprof__Footer)GUSPROF__FOOTER__INIT;
	g->header.host = &g->host;
	g->events[0] = &g->event;
	g->totals[0] = &g->total;
	g->header.events = g->events;
	g->footer.events = g->totals;
	g->header.n_events = g->footer.n_events = 1;
	g->uarch.name = "skylake";
	for (unsigned i = 0; i < INSNS; i++)
		g->insns[i].row = &g->row;
	g->program = (struct gus_program){ .insns = g->insns, .insns_n = INSNS };
	g->block = (struct gus_traced_block){ .executed = 10, .insns_n = INSNS };
	g->traced.program = &g->program;
	g->traced.blocks.v = &g->block;
	g->traced.blocks.n = 1;
	g->windows.taken = 8;
	g->model = (struct gus_model_view){ .traced = &g->traced, .windows = &g->windows };
	g->measured.coverage.samples = g->counts.profile.samples = 1000;
	g->measured.coverage.covered = 900;
	g->counts.profile.header = &g->header;
	g->counts.profile.footer = &g->footer;
	g->counts.profile.weight = 100000;
	g->counts.length_ns = 5000000000;
	g->region = (struct gus_explain_region){ .name = function, .samples = 500 };
	g->v = (struct gus_explain_view){ .model = &g->model, .measured = &g->measured, .counts = &g->counts,
		.table = "skylake", .told = 0.1 };
	g->v.regions.v = &g->region;
	g->v.regions.n = 1;
}

/* The words, each behind a blank; of the last fact with a word of `of` its value and its text. */
static void find(const struct good *g, char words[512], const char *of, double *value, char text[512])
{
	struct gus_explain_facts facts = { 0 };

	*words = '\0';
	gus_explain_facts_find(&facts, &g->v, g->v.model ? &g->uarch : NULL);
	for (size_t i = 0; i < facts.n; i++) {
		strcat(strcat(words, " "), facts.v[i].what);
		if (of && strcmp(facts.v[i].what, of) == 0) {
			*value = facts.v[i].value;
			strcpy(text, facts.v[i].text);
		}
	}
	gus_explain_facts_free(&facts);
}

static void expect(const struct good *g, const char *wanted)
{
	char words[512];

	find(g, words, NULL, NULL, NULL);
	assert_string_equal(words, wanted);
}

static void expect_fact(const struct good *g, const char *wanted, const char *of, double value, const char *says)
{
	char words[512], text[512] = "";
	double is = -1;

	find(g, words, of, &is, text);
	assert_string_equal(words, wanted);
	assert_true(isnan(value) ? isnan(is) : fabs(is - value) < 1e-9);
	if (!strstr(text, says))
		fail_msg("%s: %s", of, text);
}

#define ALWAYS " covered table model_error"

static void a_good_one(void **state)
{
	struct good g;

	(void)state;
	make(&g);
	expect_fact(&g, ALWAYS, "covered", 0.9, "90.0 % of the time is in code that 8 windows of it executed");
	expect_fact(&g, ALWAYS, "table", NAN, "the model is of skylake as such");
	expect_fact(&g, ALWAYS, "model_error", 0.1, "off by 10 %");
	g.v.told = 0;
	expect_fact(&g, ALWAYS, "model_error", NAN, "nobody has measured");
}

/* Of each the bound, and what is just not worth a word. */
static void too_little(void **state)
{
	struct good g;

	(void)state;
	make(&g);
	g.counts.length_ns = 1000000000;
	expect(&g, ALWAYS);
	g.counts.length_ns--;
	expect_fact(&g, " short" ALWAYS, "short", 0.999999999, "only 1.00 s long");
	make(&g);
	g.measured.coverage.samples = 200;
	expect(&g, ALWAYS);
	g.measured.coverage.samples = 199;
	expect_fact(&g, " few_samples" ALWAYS, "few_samples", 199, "only 199 samples");
	make(&g);
	g.region.samples = 50;
	expect(&g, ALWAYS);
	g.region.samples = 49;
	expect_fact(&g, " few_samples_of_region" ALWAYS, "few_samples_of_region", 49, "such as f with 49");
}

/* Names that unwind tables make are none. */
static void names(void **state)
{
	struct good g;

	(void)state;
	make(&g);
	rows[0].share = 0.951;
	rows[1] = (struct gus_row){ .share = 0.049 };
	rows_n = 2;
	expect(&g, ALWAYS);
	rows[1].share = 0.05;
	expect_fact(&g, " no_names" ALWAYS, "no_names", 0.05, "5.0 % of the time is in code without a name");
	rows[0].function = "sub_4017c0";
	expect_fact(&g, " no_names" ALWAYS, "no_names", 1.001, "without a name");
	rows[0].function = "sub_total";
	expect_fact(&g, " no_names" ALWAYS, "no_names", 0.05, "without a name");
}

/* Twenty functions. */
static void flat(void **state)
{
	struct good g;

	(void)state;
	make(&g);
	rows_n = 20;
	for (size_t i = 0; i < rows_n; i++)
		rows[i] = (struct gus_row){ .function = "f", .share = i < 1 ? 0.099 : i < 10 ? 0.044 : 0.0505 };
	expect_fact(&g, " flat" ALWAYS, "flat", 0.495, "the largest function has 9.9 % of the time, and the 10 largest "
		    "together 49.5 %");
	rows[0].share = 0.1;
	expect(&g, ALWAYS);
	rows[0].share = 0.099;
	rows[9].share = 0.0491; /* half of it is in ten */
	expect(&g, ALWAYS);
	rows[9].share = 0.044;
	rows_n = 10; /* there are no others to speak of */
	expect(&g, ALWAYS);
}

static void what_is_missing(void **state)
{
	struct good g;
	struct gus_profile *p = &g.counts.profile;

	(void)state;
	make(&g);
	p->lost = 1; /* of 1001 */
	expect(&g, ALWAYS);
	p->missing = 1;
	expect_fact(&g, " lost" ALWAYS, "lost", 2, "2 records were lost");
	make(&g);
	p->throttled = 1;
	expect_fact(&g, " throttled" ALWAYS, "throttled", 1, "paused sampling 1 time:");
	make(&g);
	p->unsampled = 100; /* of 100100 */
	expect(&g, ALWAYS);
	p->unsampled = 25000;
	expect_fact(&g, " unsampled" ALWAYS, "unsampled", 0.2, "20.0 % was not sampled");
	make(&g);
	p->footer = NULL;
	expect_fact(&g, " cut" ALWAYS, "cut", NAN, "was cut");
}

static void taken_turns(void **state)
{
	struct good g;

	(void)state;
	make(&g);
	g.event.turns = 1;
	g.total.on_ns = 1500000000;
	expect_fact(&g, " turns" ALWAYS, "turns", 1.5, "cycles shared its counter: it was on for 1.50 s");
	g.total.on_ns = 0;
	expect_fact(&g, " turns" ALWAYS, "turns", NAN, "for a part of the time");
}

static void the_model(void **state)
{
	struct good g;

	(void)state;
	make(&g);
	g.measured.coverage.covered = 499;
	expect_fact(&g, ALWAYS, "covered", 0.499, "record --trace qemu");
	strcpy(g.measured.coverage.elsewhere[0].name, "g [m]");
	g.measured.coverage.elsewhere_n = 1;
	g.measured.coverage.elsewhere[0].samples = 49;
	expect(&g, ALWAYS);
	g.measured.coverage.elsewhere[0].samples = 50;
	expect_fact(&g, " covered not_executed table model_error", "not_executed", 0.05, "5.0 % in g [m]");
	make(&g);
	g.insns[7].row = NULL;
	expect_fact(&g, " covered no_row table model_error", "no_row", 0.01, "no row of 1.0 %");
	g.block.executed = 0; /* what was not executed does not matter */
	expect(&g, ALWAYS);
}

static void the_table(void **state)
{
	struct good g;

	(void)state;
	make(&g);
	recorded_on = "znver4";
	expect_fact(&g, " covered table other_cpu model_error", "other_cpu", NAN, "another CPU (znver4)");
	recorded_on = NULL; /* not known */
	expect(&g, ALWAYS);
	make(&g);
	days = GUS_CALIBRATED_OLD - 1;
	g.v.calibrated = true;
	expect_fact(&g, ALWAYS, "table", NAN, "as calibrated");
	days = GUS_CALIBRATED_OLD;
	expect_fact(&g, " covered table old_calibration model_error", "old_calibration", 90, "90 days ago");
}

/* Of a model that there is not, nothing is said but why. */
static void no_model(void **state)
{
	struct good g;

	(void)state;
	make(&g);
	g.v.model = NULL;
	g.v.without = "there is nothing to explain: it has no windows";
	expect_fact(&g, " no_model", "no_model", NAN, "no gains: it has no windows");
	g.v.without = "cannot say";
	expect_fact(&g, " no_model", "no_model", NAN, "no gains: cannot say");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_one), cmocka_unit_test(too_little), cmocka_unit_test(what_is_missing),
		cmocka_unit_test(names), cmocka_unit_test(flat), cmocka_unit_test(taken_turns),
		cmocka_unit_test(the_model), cmocka_unit_test(the_table),
		cmocka_unit_test(no_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
