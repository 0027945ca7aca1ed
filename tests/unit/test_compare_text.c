/* SPDX-License-Identifier: MIT */
/* cli/compare/text: what was measured and what was modelled, as people read it, of figures that are written down. How
 * columns stand below each other is asked by one case alone; else blanks are compared as one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/expected.h"
#include "made_comparison.h"
#include "made_figure.h"
#include "made_program.h"
#include "printed.h"

static void print_text(const void *view)
{
	gus_compare_text(view);
}

#define SAYS(s, what) expect_printed(print_text, &(s)->v, what, true)
#define OMITS(s, what) expect_printed(print_text, &(s)->v, what, false)

static void what_it_is_of(void **state)
{
	static const char *const words[] = { "gzip", "-9", "f" };
	struct made *s = *state;

	SAYS(s, "a.data: measured and modelled\n\ntable skylake, Intel Skylake, client (skylake.uarch, x86.forms, "
		"skylake.overlay), stream engine\nmeasured");
	s->v.core = true;
	SAYS(s, ", core engine\nmeasured");
	s->traced.windows = &s->windows;
	SAYS(s, "a.data: measured");
	s->process.pid = 77;
	SAYS(s, "process 77: measured");
	s->traced.command = words;
	s->traced.command_n = 3;
	SAYS(s, "gzip -9 f: measured");
	s->m.host = &s->host;
	s->host.machine = (char *)"x86_64";
	s->host.kernel = (char *)"6.1";
	s->host.cpu_family = 6;
	s->host.cpu_model_number = 85;
	s->host.cpu_stepping = 4;
	SAYS(s, "\n\nhost x86_64, family 6 model 85 stepping 4, Linux 6.1\ntable");
	s->host.cpu_model = (char *)"A CPU";
	s->host.microcode = (char *)"0x2a";
	s->host.hypervisor = (char *)"KVM";
	SAYS(s, "\n\nhost A CPU, family 6 model 85 stepping 4, microcode 0x2a, Linux 6.1, under KVM\ntable");
}

static void what_was_measured(void **state)
{
	struct made *s = *state;

	SAYS(s, "\nmeasured 1250 samples of cpu-clock in 2 runs, 1.250 s each; 80.0% are of code that the trace has "
		"executed\ncycles are inferred from time, less 2.0% that samples took, at 3.10 to 3.25 GHz, as timed "
		"before and after\nmodelled");
	s->m.runs = 1;
	SAYS(s, "\nmeasured 1250 samples of cpu-clock, 2.500 s of CPU time; 80.0%");
	s->m.time.known = false;
	SAYS(s, "\nmeasured 1250 samples of cpu-clock; 80.0%");
	s->m.frequency = &s->frequency;
	SAYS(s, " before and after\n");
	s->frequency.rule = (char *)"the mean";
	SAYS(s, " before and after (the mean)\n");
	s->m.cycles.evidence = GUS_OBSERVED;
	SAYS(s, "\ncycles were counted\n");
	s->m.cycles.known = false;
	SAYS(s, "\ncycles are not known: the recording has no frequency of the core\n");
	SAYS(s, "\ncompared each region against all others, as cycles are not known\n");
	/* Functions with a hundredth of the samples. */
	s->m.coverage.samples = 1300;
	s->m.coverage.elsewhere_n = 3;
	s->m.coverage.elsewhere[0] = (struct gus_coverage_function){ "far [lib]", 130 };
	s->m.coverage.elsewhere[1] = (struct gus_coverage_function){ "farther [lib]", 13 };
	s->m.coverage.elsewhere[2] = (struct gus_coverage_function){ "farthest [lib]", 12 };
	SAYS(s, "76.9% are of code that the trace has executed\n10.0% are elsewhere: far [lib]\n1.0% are elsewhere: "
		"farther [lib]\ncycles");
	s->m.coverage.samples = s->m.coverage.covered = 1;
	SAYS(s, "\nmeasured 1 sample of cpu-clock; 100.0%");
}

static void what_was_modelled(void **state)
{
	static const char errors[] = "source a \"a test\"\n"
		"error skylake stream traced all median 8.0 p90 20.0 n 40 source a\n"
		"error skylake core traced all mean 12.0 n 30 source a\n";
	struct made *s = *state;
	struct gus_error err = { 0 };

	SAYS(s, "\nmodelled 4000.00 k instructions, all that a run executes, from cold caches on\nhow far it is off "
		"in general is not known: this is a test\ncompared cycles of a run, region by region\n");
	s->t.warmed = 3990001;
	SAYS(s, "\nmodelled 9999 instructions,");
	s->t.warmed = 3990000;
	SAYS(s, "\nmodelled 10.00 k instructions,");
	s->traced.part = true;
	s->traced.windows = &s->windows;
	s->windows.failed = 3;
	strcpy(s->windows.first.text, "too large");
	SAYS(s, "\nmodelled 10.00 k instructions, a part of what was executed, as if caches had been warm\nhow far");
	s->windows.taken = 1;
	SAYS(s, "instructions in 1 window, a part");
	SAYS(s, "been warm\nof 3 snapshots more there is no window; of the first, as it is: too large\nhow far");
	s->windows.taken = 2;
	s->windows.failed = 0;
	SAYS(s, "instructions in 2 windows, a part of what was executed, as if caches had been warm\nhow far");
	s->c.basis = GUS_COMPARED_PER_INSTRUCTION;
	SAYS(s, "\ncompared cycles per instruction, as the trace is a part of the run and instructions were counted\n");
	s->c.basis = GUS_COMPARED_SHARES;
	SAYS(s, "\ncompared each region against all others, as if these took what was modelled: where one");
	s->expectation = (struct gus_model_expectation){ .table = "skylake", .engine = "stream", .setting = "traced",
		.errors = gus_expected_parse(errors, strlen(errors), &err) };
	assert_non_null(s->expectation.errors);
	SAYS(s, "\nin general half of all is off by less than 8.0%, by 40 programs that were measured\ncompared");
	s->expectation.engine = "core";
	SAYS(s, "\nin general it is off, on average, by 12.0%, by 30 programs that were measured\ncompared");
	gus_expected_free(s->expectation.errors);
}

/* Shares of the whole have no cycles; a ratio that may be anything is none. */
static void the_whole(void **state)
{
	struct made *s = *state;

	SAYS(s, "\n\n19.50 k cycles measured (95%: 18.00 k to 21.00 k), 16.00 k modelled: measured are 1.22 times as "
		"many (1.13 to 1.31)\n5.0% of the time is in another region than modelled\nverdict on the whole: "
		"trust (of the time, by functions: 61% trust, 11% doubtful, 26% do not trust, 3% cannot tell)\n\n");
	s->c.whole.ratio = figure(1.2, 0, 9);
	s->c.whole.verdict = GUS_TRUST_OPEN;
	SAYS(s, ", 16.00 k modelled: too few samples for a ratio\n5.0% of");
	SAYS(s, "\nverdict on the whole: cannot tell (of");
	s->c.basis = GUS_COMPARED_SHARES;
	SAYS(s, "others are too low. For cycles the trace has to be of the whole run, or instructions have to be "
		"counted\n\n5.0% of the time");
}

static void rows(void **state)
{
	struct made *s = *state;
	struct gus_compared_row *hot = &s->c.rows.v[HOT], *cold = &s->c.rows.v[COLD];

	SAYS(s, "\n\n# measured modelled ratio from to cyc/ins model verdict region\n"
		"80.00% 75.00% 1.30 1.27 1.34 5.20 4.00 do not trust hot [app]\n"
		"20.00% 25.00% 0.98 0.90 1.05 7.84 8.00 trust cold [libx.so]\nmeasured and modelled are shares of");
	hot->ratio = figure(1.3, 0, 5);
	cold->ratio = figure(1e6, 1e6 - 1, 3e6);
	SAYS(s, "80.00% 75.00% - - - - 4.00 do not trust hot");
	SAYS(s, "20.00% 25.00% - 999999.00 - 7.84 8.00 trust cold");
	hot->ratio = cold->ratio = figure(1.25, 1, 1.5);
	hot->instructions = 0;
	cold->modelled = 0;
	SAYS(s, "80.00% 75.00% 1.25 1.00 1.50 - - do not trust hot");
	SAYS(s, "20.00% 25.00% - - - - 0.00 trust cold");
	s->c.basis = GUS_COMPARED_SHARES;
	cold->modelled = 4000;
	SAYS(s, "20.00% 25.00% 1.25 1.00 1.50 - 8.00 trust cold");
}

/* As wide as they are where nobody looks; on a screen columns leave one by one, the interval's last. */
static void columns_stand_below_each_other(void **state)
{
	static const struct { unsigned width; const char *title; } cases[] = {
		{ 0, "# measured  modelled  ratio   from     to  cyc/ins  model  verdict       region\n"
		  "    80.00%    75.00%   1.30   1.27   1.34     5.20   4.00  do not trust  hot  [app]\n" },
		{ 84, "# measured  modelled  ratio  from    to  model  verdict       region\n"
		  "    80.00%    75.00%   1.30  1.27  1.34   4.00  do not trust  hot  [app]\n" },
		{ 72, "# measured  modelled  ratio  from    to  verdict       region\n" },
		{ 64, "# measured  modelled  ratio    to  verdict       region\n" },
		{ 56, "# measured  modelled  ratio  verdict       region\n" },
	};
	struct made *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text;
		const char *at;

		s->screen.width = cases[i].width;
		text = printed(print_text, &s->v);
		at = strstr(text, "# measured");
		if (!at || strncmp(at, cases[i].title, strlen(cases[i].title)) != 0)
			fail_msg("on %u cells:\n%.250s", cases[i].width, at ? at : "no title");
		free(text);
	}
}

/* Those with a hundredth of either time, twelve at most; or as many as were asked for. */
static void so_many_rows(void **state)
{
	struct made *s = *state;

	s->c.rows.v[COLD].share.value = 0.01;
	s->c.rows.v[COLD].modelled_share = 0;
	SAYS(s, "1.00% 0.00% 0.98");
	s->c.rows.v[COLD].share.value = 0;
	s->c.rows.v[COLD].modelled_share = 0.01;
	SAYS(s, "0.00% 1.00% 0.98");
	s->c.rows.v[COLD].modelled_share = 0.0099;
	OMITS(s, "cold [");
	s->v.rows = 2;
	SAYS(s, "0.00% 0.99% 0.98");
	s->v.rows = 3; /* of two */
	SAYS(s, "0.00% 0.99% 0.98 0.90 1.05 7.84 8.00 trust cold [libx.so]\nmeasured and");
	s->v.rows = 1;
	OMITS(s, "cold [");
	s->v.rows = 0;
	for (unsigned i = 2; i < 14; i++) {
		gus_vec_push(&s->c.rows, s->c.rows.v[HOT]);
		s->c.rows.v[i].share.value = i / 100.;
		s->c.rows.v[i].modelled_share = 0;
	}
	s->c.rows.v[COLD].modelled_share = 0.5;
	SAYS(s, "11.00% 0.00% 1.30");
	OMITS(s, "12.00% 0.00% 1.30");
}

/* In text they stand below the name of each row that is shown and off, and then those of all. */
static void reasons_are_told_below(void **state)
{
	struct made *s = *state;

	SAYS(s, "\n\nwhat may explain that these are off (as if nothing else were)\nhot [app]\n- no capacity alone, "
		"doubled or halved, would make the model meet it\n\nof all\n- 20.0% of the samples");
	OMITS(s, "the model meet it\ncold");
	s->c.rows.v[HOT].weak.unknown = 0.5;
	SAYS(s, "would make the model meet it\n- 50.0% of its instructions have no row in the table\n\nof all\n");
	s->c.rows.v[HOT].weak.unknown = 0;
	s->c.rows.v[COLD].verdict = s->c.rows.v[COLD].function_verdict = GUS_TRUST_DOUBTFUL;
	SAYS(s, "the model meet it\ncold [libx.so]\n- no capacity");
	s->v.rows = 1;
	SAYS(s, "the model meet it\n\nof all\n");
	s->c.rows.v[HOT].verdict = GUS_TRUST_OPEN;
	OMITS(s, "what may explain");
	s->c.rows.v[HOT].verdict = GUS_TRUST_FULL;
	OMITS(s, "what may explain");
	s->m.coverage.kernel = 250;
	s->c.rows.v[COLD].verdict = GUS_TRUST_FULL;
	OMITS(s, "of all\n");
}

/* Samples by instruction as shares of the region's; the op of a comparison and its branch is the first's. Measured are
 * so many of the region's cycles, each. */
static void instructions(void **state)
{
	static const char skid[] = "\na sample stands behind what the time was spent on, by an instruction or by many";
	struct made *s = *state;

	OMITS(s, "instructions of");
	s->v.listings = 1;
	SAYS(s, "\n\ninstructions of hot [app]\naddress times measured model cyc. each model\n"
		"0 1000 75.00% 75.00% 11.70 9.00 imul rax, rbx\n"
		"4 1000 0.00% 25.00% 0.00 3.00 dec rcx\n"
		"7 1000 25.00% fused 3.90 - jnz 0x0\n");
	OMITS(s, "instructions of cold");
	OMITS(s, skid);
	s->m.skids = true;
	SAYS(s, skid);
	s->v.listings = 0;
	OMITS(s, skid);
	s->v.listings = 3; /* of two */
	SAYS(s, "jnz 0x0\n\ninstructions of cold [libx.so]\naddress times measured model cyc. each model\n"
		"a 500 0.00% 100.00% 0.00 8.00 add rax, rbx\n");
	s->c.basis = GUS_COMPARED_SHARES;
	SAYS(s, "0 1000 75.00% 75.00% - 9.00 imul");
	s->c.rows.v[HOT].samples = 0;
	s->op_cycles[ADD] = 0;
	SAYS(s, "0 1000 0.00% 75.00% - 9.00 imul");
	SAYS(s, "a 500 0.00% 0.00% - 0.00 add rax, rbx\n");
}

/* Of more than 48 those with a hundredth of either. */
static void long_regions(void **state)
{
	enum { LONG = 49 };
	static double own[LONG], charged[LONG];
	uint64_t samples[LONG] = { 0 };
	uint8_t nops[LONG], ones[LONG];
	struct made *s = *state;

	memset(nops, 0x90, sizeof(nops));
	memset(ones, 1, sizeof(ones));
	gus_program_free(s->p);
	s->t.program = s->p = made_program(s->u, nops, sizeof(nops));
	s->t.op_cycles = own;
	s->t.op_charged = charged;
	s->m.coverage.by_insn = samples;
	s->v.listings = 1;
	s->c.rows.v[HOT].samples = 1000;
	samples[1] = 10;
	samples[2] = 9;
	samples[3] = 981;
	own[4] = 1000;
	own[5] = 100000 - 1000 - 999;
	own[6] = 999;
	s->t.blocks.v[0] = (struct gus_traced_block){ .bytes = nops, .lengths = ones, .size = LONG - 1,
		.insns_n = LONG - 1, .ops = { 0, LONG - 1, LONG - 2 }, .executed = 10 };
	SAYS(s, "0 10 0.00% 0.00% 0.00 0.00 nop\n1 10 1.00%");
	OMITS(s, "more have");
	s->t.blocks.v[0].insns_n = s->t.blocks.v[0].size = LONG;
	SAYS(s, " model\n1 10 1.00% 0.00% 15.60 0.00 nop\n3 10 98.10% 0.00% 1530.36 0.00 nop\n4 10 0.00% 1.00% 0.00 "
		"100.00 nop\n5 10 0.00% 98.00% 0.00 9800.10 nop\n45 more have less than a hundredth of both\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_it_is_of, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(what_was_measured, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(what_was_modelled, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(the_whole, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(rows, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(columns_stand_below_each_other, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(so_many_rows, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(reasons_are_told_below, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(instructions, made_comparison, made_comparison_free),
		cmocka_unit_test_setup_teardown(long_regions, made_comparison, made_comparison_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
