/* SPDX-License-Identifier: MIT */
/* cli/compare/words: what is said of a row that is off, or open, and of all of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/compare/words.h"
#include "made_comparison.h"

/* What is said of a row, or (NULL) of all, one after the other with a bar between them. */
static void expect_reasons(const struct made *s, const struct gus_compared_row *row, const char *wanted)
{
	struct gus_compare_reasons reasons = { 0 };
	char text[2048] = "";

	if (row)
		gus_compare_reasons_of(&s->v, row, &reasons);
	else
		gus_compare_reasons_common(&s->v, &reasons);
	for (size_t i = 0; i < reasons.n; i++) {
		strcat(text, i ? " | " : "");
		strcat(text, reasons.v[i]);
	}
	gus_compare_reasons_free(&reasons);
	if (strcmp(text, wanted) != 0)
		fail_msg("\"%s\" is not \"%s\"", text, wanted);
}

static void knobs_that_would_do(void **state)
{
	struct made *s = *state;
	struct gus_compared_row *r = &s->c.rows.v[HOT];

	expect_reasons(s, r, "no capacity alone, doubled or halved, would make the model meet it");
	r->verdict = GUS_TRUST_DOUBTFUL;
	expect_reasons(s, r, "no capacity alone, doubled or halved, would make the model meet it");
	s->t.knobs_n = 0; /* nobody has asked */
	expect_reasons(s, r, "");
	s->t.knobs_n = KNOBS;
	r->knobs[0] = (struct gus_compared_knob){ 0, 0.72 };
	r->knobs[1] = (struct gus_compared_knob){ 1, 0.8 };
	r->knobs_n = 1;
	expect_reasons(s, r, "the model alone would meet it with reorder buffer 0.72 times as much");
	r->knobs_n = 2; /* a time is longer where there is less of what it takes */
	expect_reasons(s, r, "the model alone would meet it with reorder buffer 0.72 times as much; or latency mul "
		       "1.25 times as long");
	r->verdict = GUS_TRUST_FULL;
	expect_reasons(s, r, "");
}

/* From which figure on a weakness is worth a word, and just below it. */
static void weaknesses(void **state)
{
	static const struct { struct gus_compared_weak weak; double error; const char *said; } cases[] = {
		{ { 0.0099, 0.099, 0.0099, 2.99 }, 0.049, "" }, { { 0, 0, 0, 0 }, INFINITY, "" },
		{ { .unknown = 0.011 }, 0, "1.1% of its instructions have no row in the table" },
		{ { .first = 0.101 }, 0, "10% of its cycles are of what is touched for the first time, of which nobody "
		  "knows where it was" },
		{ { .beyond = 0.011 }, 0, "1.1% of its accesses go to L3 or memory, which it shares with whatever else "
		  "runs" },
		{ { .mispredicted = 3 }, 0, "3.0 branches in 1000 instructions are mispredicted, by a predictor that "
		  "is the model's and not the CPU's" },
		{ { .unknown = 0 }, 0.051, "its modelled cycles are a sample themselves, within 5%" },
		{ { .unknown = 0 }, 0.6, "its modelled cycles are a sample themselves, within 60%" },
		{ { .unknown = 0.5, .mispredicted = 20 }, 0, "50.0% of its instructions have no row in the table | "
		  "20.0 branches in 1000 instructions are mispredicted, by a predictor that is the model's and not the "
		  "CPU's" },
	};
	struct made *s = *state;

	s->t.knobs_n = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		s->c.rows.v[HOT].weak = cases[i].weak;
		s->c.rows.v[HOT].error = cases[i].error;
		expect_reasons(s, &s->c.rows.v[HOT], cases[i].said);
	}
	/* The same of the whole, unless that is right. */
	s->m.coverage.kernel = 250;
	expect_reasons(s, NULL, "");
	s->c.whole.weak.unknown = 0.5;
	expect_reasons(s, NULL, "");
	s->c.whole.verdict = GUS_TRUST_DOUBTFUL;
	expect_reasons(s, NULL, "50.0% of its instructions have no row in the table");
}

/* Its function is right as a whole; or nothing was seen of it, as the CPU executes something else in its place. */
static void what_is_elsewhere_in_truth(void **state)
{
	struct made *s = *state;
	struct gus_compared_row *r = &s->c.rows.v[HOT];

	r->function_verdict = GUS_TRUST_FULL;
	r->function_ratio.value = 1.05;
	expect_reasons(s, r, "with all loops of its function together the ratio is 1.05: what is off is to which of "
		       "them the time is told");
	r->function_verdict = GUS_TRUST_NONE;
	r->samples = 0;
	expect_reasons(s, r, "it was never sampled: the model sees far more time there than there was");
	s->t.functions.v[0].name = "__strlen_avx2";
	s->m.coverage.elsewhere_n = 1;
	strcpy(s->m.coverage.elsewhere[0].name, "__strlen_evex [app]");
	expect_reasons(s, r, "it was never sampled: it is the library's variant for the CPU that the emulator shows, "
		       "and this one has __strlen_evex [app]");
	strcpy(s->m.coverage.elsewhere[0].name, "__strlen_avx2 [app]");
	expect_reasons(s, r, "it was never sampled: it is the way through the function that the CPU takes which the "
		       "emulator shows, and this one takes another");
}

static void why_nothing_is_known(void **state)
{
	struct made *s = *state;
	struct gus_compared_row *r = &s->c.rows.v[HOT];

	r->verdict = GUS_TRUST_OPEN;
	expect_reasons(s, r, "800 samples of it: the interval is wider than a factor of 1.3");
	r->shared = true; /* and the interval is as narrow as any */
	expect_reasons(s, r, "it took longer than modelled, which may be the doing of the other thread that was busy "
		       "on the same core");
	r->ratio.value = 0.7; /* of shares */
	expect_reasons(s, r, "all else took longer than modelled, which may be the doing of the other thread that was "
		       "busy on the same core");
	r->shared = false;
	r->samples = 1;
	expect_reasons(s, r, "1 sample of it: the interval is wider than a factor of 1.3");
	s->traced.part = true;
	expect_reasons(s, r, "1 sample of it: the interval is wider than a factor of 1.3");
	s->c.basis = GUS_COMPARED_SHARES;
	expect_reasons(s, r, "1 sample of it, and few windows: the interval is wider than a factor of 1.3");
	r->share.value = 0.9;
	expect_reasons(s, r, "1 sample of it, and few windows: the interval is wider than a factor of 1.3");
	r->share.value = 0.92;
	expect_reasons(s, r, "it has 92.0% of the time, so there is nothing beside it that it could be held against");
	r->modelled_share = 0.95;
	expect_reasons(s, r, "it has 95.0% of the modelled time, so there is nothing beside it that it could be held "
		       "against");
}

static void what_all_have_in_common(void **state)
{
	struct made *s = *state;

	s->m.coverage.kernel = 250;
	expect_reasons(s, NULL, "");
	s->c.common_of = 9;
	s->c.common = (struct gus_compared_common){ 0, 0.8, 0.61 };
	expect_reasons(s, NULL, "of all capacities one explains most of what the model misses in 9 regions, 61% of it: "
		       "reorder buffer 0.80 times as much");
	s->c.common.knob = -1;
	s->c.forms = (struct gus_residuals_fit){ .n = 1, .cycles = { 2 }, .explained = 0.8, .predicted = 0.7 };
	expect_reasons(s, NULL, "forms of instructions that 9 regions have in common explain 80% of what the model "
		       "misses there, and foretell 70% of it in a region that is left out: a form without a row (+2.00 "
		       "cycles each)");
	s->hashes[0] = s->p->insns[0].info.form;
	s->c.forms.n = 2;
	s->c.forms.cycles[1] = -0.5;
	expect_reasons(s, NULL, "forms of instructions that 9 regions have in common explain 80% of what the model "
		       "misses there, and foretell 70% of it in a region that is left out: IMUL (R64, R64) (+2.00 "
		       "cycles each), IMUL (R64, R64) (-0.50 cycles each)");
}

/* What is needed to tell more of rows that are open, by what was measured. */
static void what_would_tell_more(void **state)
{
	static const char *const words[] = { "x" };
	struct made *s = *state;

	s->m.coverage.kernel = 250;
	s->c.rows.v[HOT].verdict = s->c.rows.v[COLD].verdict = GUS_TRUST_OPEN;
	expect_reasons(s, NULL, "of 2 functions or loops nothing can be told (cannot tell): there are too few samples, "
		       "or windows: record for longer");
	s->c.rows.v[COLD].share.value = s->c.rows.v[COLD].modelled_share = 0.009;
	s->traced.command = words;
	s->traced.command_n = 1;
	expect_reasons(s, NULL, "of 1 function or loop nothing can be told (cannot tell): there are too few samples: "
		       "with four times as many runs (-r 8), or a run four times as long, intervals would be about "
		       "half as wide");
	s->c.rows.v[COLD].modelled_share = 0.01;
	s->c.basis = GUS_COMPARED_SHARES;
	expect_reasons(s, NULL, "of 2 functions or loops nothing can be told (cannot tell): there are too few samples, "
		       "or windows: trace more of the run (--trace-options), or all of it");
	s->traced.windows = &s->windows;
	s->windows.taken = 3;
	expect_reasons(s, NULL, "of 2 functions or loops nothing can be told (cannot tell): there are too few samples, "
		       "or windows, of which there are 3: record for longer");
	s->process = (struct gus_model_process){ .pid = 7, .snapshots = 5, .spread_ms = 201 };
	expect_reasons(s, NULL, "of 2 functions or loops nothing can be told (cannot tell): there are too few samples, "
		       "or windows, of which there are 3: with --snapshots 20 --duration 8 intervals would be about "
		       "half as wide");
	s->process.spread_ms = 200;
	expect_reasons(s, NULL, "of 2 functions or loops nothing can be told (cannot tell): there are too few samples, "
		       "or windows, of which there are 3: with --snapshots 20 --duration 4 intervals would be about "
		       "half as wide");
}

/* Beyond three times, whatever it is of: but of cycles only, which the amount of work is in. */
static void of_a_command_that_runs_by_the_clock(void **state)
{
	static const char said[] = "a command that runs for a time, and not for an amount of work, does less while it "
		"is emulated: if this is one, the ratios say only how much less. Give it an amount, or compare its "
		"shares (gusprof compare -p PID)";
	struct made *s = *state;

	s->m.coverage.kernel = 250;
	s->c.basis = GUS_COMPARED_CYCLES;
	s->c.whole.ratio.ci.low = 2.9;
	expect_reasons(s, NULL, "");
	s->c.whole.ratio.ci.low = 3.1;
	expect_reasons(s, NULL, said);
	s->c.basis = GUS_COMPARED_SHARES;
	expect_reasons(s, NULL, "");
}

/* Of one that has all of the time no samples are too few. */
static void one_that_has_all(void **state)
{
	static const char *const words[] = { "x" };
	struct made *s = *state;

	s->m.coverage.kernel = 250;
	s->c.basis = GUS_COMPARED_SHARES;
	s->c.rows.v[HOT].verdict = GUS_TRUST_OPEN;
	s->c.rows.v[HOT].share.value = 0.97;
	expect_reasons(s, NULL, "one loop or function has 97.0% of the time, and nothing beside it that it could be "
		       "held against: whether the model is right on it takes cycles, so the trace of a whole run "
		       "(gusprof compare -- COMMAND) or a recording of cycles and instructions");
	s->traced.command = words;
	s->traced.command_n = 1;
	s->c.rows.v[HOT].modelled_share = 0.98;
	expect_reasons(s, NULL, "one loop or function has 98.0% of the modelled time, and nothing beside it that it "
		       "could be held against: whether the model is right on it takes cycles, so the trace of a whole "
		       "run (this one is a part, or was cut) or a recording of cycles and instructions");
	s->c.rows.n = 0;
	expect_reasons(s, NULL, "");
}

/* From a hundredth on. Of 1250 samples 1000 are covered. */
static void what_the_model_leaves_out(void **state)
{
	struct made *s = *state;

	expect_reasons(s, NULL, "20.0% of the samples are of code of the program that the trace has not executed: it "
		       "took another way there, or a library has variants of a function whose names are not known");
	s->m.coverage.kernel = 238;
	expect_reasons(s, NULL, "");
	s->m.coverage.kernel_weight = 25000;
	expect_reasons(s, NULL, "1.0% of the time is the kernel's, with its page faults and system calls, which the "
		       "model does not know");
	s->m.coverage.kernel_weight = 24999;
	expect_reasons(s, NULL, "");
	s->v.other_cpu = "znver3";
	expect_reasons(s, NULL, "the CPU that was measured is znver3's, not skylake's: this does not judge the model");
	s->v.other_cpu = NULL;
	/* 125 of 250 elsewhere are of what the trace has another variant of, and 12 of one that is too rare. */
	s->m.coverage.kernel = 0;
	s->t.regions.v[HOT].cycles[0] = 12000;
	s->t.functions.v[0].name = "__strlen_avx2";
	s->m.coverage.elsewhere_n = 3;
	s->m.coverage.elsewhere[0] = (struct gus_coverage_function){ "__strlen_evex [app]", 125 };
	s->m.coverage.elsewhere[1] = (struct gus_coverage_function){ "other [app]", 100 };
	s->m.coverage.elsewhere[2] = (struct gus_coverage_function){ "__strlen_sse2 [app]", 12 };
	expect_reasons(s, NULL, "10.0% of the samples are of __strlen_evex [app], in whose place the trace has "
		       "__strlen_avx2: the library has a variant of the function for each kind of CPU, and the "
		       "emulator shows another CPU than this one | 10.0% of the samples are of other code of the "
		       "program that the trace has not executed: it took another way there, or a library has variants "
		       "of a function whose names are not known");
	s->m.coverage.elsewhere[0] = (struct gus_coverage_function){ "__strlen_evex [app]", 125 };
	s->m.coverage.elsewhere[2] = (struct gus_coverage_function){ "__strlen_avx2 [app]", 115 };
	expect_reasons(s, NULL, "10.0% of the samples are of __strlen_evex [app], in whose place the trace has "
		       "__strlen_avx2: the library has a variant of the function for each kind of CPU, and the "
		       "emulator shows another CPU than this one | 9.2% of the samples are of __strlen_avx2 [app], "
		       "where the trace took another way: it goes by what the CPU has, and the emulator shows another "
		       "CPU than this one");
	s->m.coverage.elsewhere_n = 1;
	s->m.coverage.elsewhere[0] = (struct gus_coverage_function){ "__strlen_avx2 [app]", 245 };
	expect_reasons(s, NULL, "19.6% of the samples are of __strlen_avx2 [app], where the trace took another way: it "
		       "goes by what the CPU has, and the emulator shows another CPU than this one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(knobs_that_would_do, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(weaknesses, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(what_is_elsewhere_in_truth, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(why_nothing_is_known, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(what_all_have_in_common, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(of_a_command_that_runs_by_the_clock, made_comparison,
						made_comparison_free),
		cmocka_unit_test_setup_teardown(what_would_tell_more, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(one_that_has_all, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(what_the_model_leaves_out, made_comparison, made_comparison_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
