/* SPDX-License-Identifier: MIT */
/* cli/compare: what was measured and what was modelled, as people and programs read it, of figures that are written
 * down. How columns stand below each other is not asked: blanks are compared as one. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/compare/view.h"
#include "cli/compare/words.h"
#include "cli/model/expected.h"
#include "made_program.h"
#include "model/analysis/sensitivity.h"
#include "printed.h"

/* imul rax, rbx; dec rcx; jnz back, as one op; a stand-in for that op where the branch is taken; and in another
 * function add rax, rbx. */
static const uint8_t code[] = { 0x48, 0x0f, 0xaf, 0xc3, 0x48, 0xff, 0xc9, 0x75, 0xf7, 0x90, 0x48, 0x01, 0xd8 };
static const uint8_t lengths[] = { 4, 3, 2 }, other_lengths[] = { 3 };
enum { IMUL, BRANCH, TWIN, ADD, OPS, OTHER_AT = 10, INSNS = 5, KNOBS = 2 };
enum { HOT, COLD };

struct made {
	struct gus_uarch *u;
	struct gus_program *p;
	struct gus_traced t;
	struct gus_sensitivity knobs[KNOBS];
	double op_cycles[OPS], op_charged[OPS];
	uint64_t by_insn[INSNS], hashes[1];
	Gusprof__Host host;
	Gusprof__Frequency frequency;
	struct gus_expected_error told;
	struct gus_model_expectation expectation;
	struct gus_model_traced model;
	struct gus_model_process process;
	struct gus_model_windows windows;
	struct gus_model_view traced;
	struct gus_measured m;
	struct gus_compared c;
	struct gus_screen screen;
	struct gus_compare_view v;
};

static struct gus_figure figure(double value, double low, double high)
{
	return (struct gus_figure){ value, { low, high } };
}

/* A loop with 80 % of 1000 samples and 75 % of the modelled time, and a function with the rest; two runs. */
static int setup(void **state)
{
	struct made *s = gus_zalloc(sizeof(*s));
	struct gus_traced *t = &s->t;

	s->u = made_table("skylake");
	s->p = made_program(s->u, code, sizeof(code));
	assert_int_equal(s->p->ops_n, OPS);
	*t = (struct gus_traced){ .program = s->p, .isa = GUS_ISA_X86_64, .instructions = 4000000,
		.cycles = { 16000000 }, .op_cycles = s->op_cycles, .op_charged = s->op_charged, .knobs = s->knobs,
		.knobs_n = KNOBS };
	strcpy(s->knobs[0].name, "reorder buffer");
	s->knobs[0].knob.kind = GUS_KNOB_ROB;
	strcpy(s->knobs[1].name, "latency mul");
	s->knobs[1].knob.kind = GUS_KNOB_LATENCY;
	gus_vec_push(&t->functions, (struct gus_traced_function){ .name = "hot", .module = "/opt/app" });
	gus_vec_push(&t->functions, (struct gus_traced_function){ .name = "cold", .module = "/opt/libx.so" });
	for (uint32_t i = 0; i < 2; i++)
		gus_vec_push(&t->regions, (struct gus_traced_region){ .function = i, .loop = GUS_TRACED_NONE });
	gus_vec_push(&t->blocks, (struct gus_traced_block){ .bytes = code, .lengths = lengths, .size = 9, .insns_n = 3,
		.region = HOT, .ops = { IMUL, 2, TWIN }, .executed = 1000 });
	gus_vec_push(&t->blocks, (struct gus_traced_block){ .address = OTHER_AT, .bytes = code + OTHER_AT,
		.lengths = other_lengths, .size = 3, .insns_n = 1, .insn = 4, .region = COLD, .ops = { ADD, 1, ADD },
		.executed = 500 });
	s->op_cycles[IMUL] = 9000;
	s->op_cycles[BRANCH] = 1000;
	s->op_cycles[TWIN] = 2000;
	s->op_cycles[ADD] = 4000;
	s->by_insn[0] = 600;
	s->by_insn[2] = 200;
	s->expectation.why = "this is a test";
	s->model = (struct gus_model_traced){ .uarch = s->u, .expectation = &s->expectation };
	s->windows.process = &s->process;
	s->traced = (struct gus_model_view){ .model = &s->model, .traced = t, .input = "a.data" };
	gusprof__host__init(&s->host);
	gusprof__frequency__init(&s->frequency);
	s->m = (struct gus_measured){ .runs = 2, .event = (char *)"cpu-clock", .coverage = { .samples = 1250,
		.covered = 1000, .weight = 2500000, .covered_weight = 2000000, .by_insn = s->by_insn },
		.time = { GUS_OBSERVED, true, 1000, 1000, 1000 }, .cycles = { GUS_INFERRED, true, 8, 7, 9 },
		.clock = { 3.1, 3.25 }, .cost = 0.02 };
	s->c = (struct gus_compared){ .basis = GUS_COMPARED_CYCLES, .evidence = GUS_INFERRED, .distance = 0.05,
		.time = { 0.606, 0.106, 0.256, 0.032 }, .common = { -1, 0, 0 }, .hashes = s->hashes };
	gus_vec_push(&s->c.rows, (struct gus_compared_row){ .region = HOT, .samples = 800, .instructions = 3000,
		.share = figure(0.8, 0.78, 0.82), .modelled_share = 0.75, .measured = figure(15600, 15000, 16200),
		.modelled = 12000, .ratio = figure(1.3, 1.27, 1.34), .verdict = GUS_TRUST_NONE,
		.function_ratio = figure(1.3, 1.27, 1.34), .function_verdict = GUS_TRUST_NONE });
	gus_vec_push(&s->c.rows, (struct gus_compared_row){ .region = COLD, .samples = 200, .instructions = 500,
		.share = figure(0.2, 0.18, 0.22), .modelled_share = 0.25, .measured = figure(3920, 3500, 4300),
		.modelled = 4000, .ratio = figure(0.98, 0.9, 1.05), .verdict = GUS_TRUST_FULL,
		.function_ratio = figure(0.98, 0.9, 1.05), .function_verdict = GUS_TRUST_FULL });
	s->c.whole = (struct gus_compared_row){ .region = GUS_TRACED_NONE, .samples = 1000, .instructions = 3500,
		.share = figure(1, 1, 1), .modelled_share = 1, .measured = figure(19500, 18000, 21000),
		.modelled = 16000, .ratio = figure(1.22, 1.13, 1.31), .verdict = GUS_TRUST_FULL };
	s->screen.dots = "..";
	s->v = (struct gus_compare_view){ .model = &s->traced, .compared = &s->c, .measured = &s->m,
		.screen = &s->screen };
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct made *s = *state;

	gus_vec_free(&s->c.rows);
	gus_vec_free(&s->t.functions);
	gus_vec_free(&s->t.regions);
	gus_vec_free(&s->t.blocks);
	gus_program_free(s->p);
	gus_uarch_free(s->u);
	free(s);
	return 0;
}

static void print_text(const void *view)
{
	gus_compare_text(view);
}

static void print_json(const void *view)
{
	gus_compare_json(view);
}

static void print_csv(const void *view)
{
	gus_compare_csv(view);
}

/* Whether it is printed, with one blank for many and none at the ends of lines. */
static void expect(struct made *s, const char *what, bool there)
{
	char *text = printed(print_text, &s->v), *to = text;

	for (const char *at = text; *at; at++)
		if (*at != ' ' || (to > text && to[-1] != ' ' && to[-1] != '\n' && at[1] != '\n'))
			*to++ = *at;
	*to = '\0';
	if ((strstr(text, what) != NULL) != there)
		fail_msg("\"%s\" is %sin\n%s", what, there ? "not " : "", text);
	free(text);
}
#define SAYS(s, what) expect(s, what, true)
#define OMITS(s, what) expect(s, what, false)

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

static const char *line_of(const char *text, unsigned n)
{
	static char line[1024];

	for (; n; n--) {
		text = strchr(text, '\n');
		if (!text)
			return "";
		text++;
	}
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	return line;
}

static void csv(void **state)
{
	static const char *const lines[] = {
		"region,module,samples,share,modelled_share,cycles,cycles_low,cycles_high,modelled_cycles,"
		"modelled_error,instructions,ratio,ratio_low,ratio_high,verdict,basis,evidence,table,calibration,cpu,"
		"microcode",
		",,1000,1.000000,1.000000,19500,18000,21000,16000,0.0000,3500,1.2200,1.1300,1.3100,trust,cycles,"
		"inferred,skylake,,,",
		"hot,/opt/app,800,0.800000,0.750000,15600,15000,16200,12000,0.0000,3000,1.3000,1.2700,1.3400,"
		"do not trust,cycles,inferred,skylake,,,",
		"cold,/opt/libx.so,200,0.200000,0.250000,3920,3500,4300,4000,0.0000,500,0.9800,0.9000,1.0500,trust,"
		"cycles,inferred,skylake,,,", "",
	};
	struct made *s = *state;
	char *text = printed(print_csv, &s->v);

	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_string_equal(line_of(text, i), lines[i]);
	free(text);
	s->m.host = &s->host;
	s->host.cpu_model = (char *)"A CPU";
	s->host.microcode = (char *)"0x2a";
	s->c.basis = GUS_COMPARED_SHARES;
	s->c.rows.v[HOT].ratio = figure(1, 0, 9);
	s->c.rows.v[COLD].error = INFINITY;
	text = printed(print_csv, &s->v);
	/* Shares have no cycles, and of the whole no ratio; what may be anything is empty. */
	assert_string_equal(line_of(text, 1), ",,1000,1.000000,1.000000,,,,16000,0.0000,3500,,,,trust,shares,inferred,"
			    "skylake,,A CPU,0x2a");
	assert_string_equal(line_of(text, 2), "hot,/opt/app,800,0.800000,0.750000,,,,12000,0.0000,3000,,,,"
			    "do not trust,shares,inferred,skylake,,A CPU,0x2a");
	assert_string_equal(line_of(text, 3), "cold,/opt/libx.so,200,0.200000,0.250000,,,,4000,,500,0.9800,0.9000,"
			    "1.0500,trust,shares,inferred,skylake,,A CPU,0x2a");
	free(text);
	/* Without an upper end, as nothing was measured. */
	s->c.basis = GUS_COMPARED_CYCLES;
	s->c.rows.v[HOT].measured = figure(0, 0, INFINITY);
	s->c.rows.v[HOT].modelled = 0;
	s->c.rows.v[COLD].measured = figure(1, 0, 3);
	text = printed(print_csv, &s->v);
	assert_string_equal(line_of(text, 2), "hot,/opt/app,800,0.800000,0.750000,0,0,,0,0.0000,3000,,,,do not trust,"
			    "cycles,inferred,skylake,,A CPU,0x2a");
	assert_string_equal(line_of(text, 3), "cold,/opt/libx.so,200,0.200000,0.250000,1,0,3,4000,,500,0.9800,0.9000,"
			    "1.0500,trust,cycles,inferred,skylake,,A CPU,0x2a");
	free(text);
	s->v.rows = 1;
	text = printed(print_csv, &s->v);
	assert_string_equal(line_of(text, 3), "");
	free(text);
}

/* A document's value by its keys and numbers, with dots between them, as it is written. */
static void expect_json(const json_t *document, const char *path, const char *wanted)
{
	const json_t *o = document;
	char key[64], *text;

	for (const char *at = path; *at; at += strlen(key), at += *at == '.') {
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(at, "."), at);
		o = json_is_array(o) ? json_array_get(o, (size_t)atoi(key)) : json_object_get(o, key);
	}
	text = o ? json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
	if (!text || strcmp(text, wanted) != 0)
		fail_msg("%s is %s, not %s", path, text ? text : "not there", wanted);
	free(text);
}

static json_t *json_of(const struct made *s)
{
	char *text = printed(print_json, &s->v);
	json_t *document = json_loads(text, 0, NULL);

	assert_non_null(document);
	free(text);
	return document;
}

struct value { const char *path, *value; };

static void expect_values(const struct made *s, const struct value *values)
{
	json_t *document = json_of(s);

	for (; values->path; values++)
		expect_json(document, values->path, values->value);
	json_decref(document);
}

static void json_figures(void **state)
{
	static const struct value values[] = {
		{ "schema", "\"gusprof.compared/1\"" }, { "part", "false" }, { "elsewhere_than_modelled", "0.05" },
		{ "time", "{\"trust\":0.606,\"doubtful\":0.106,\"do not trust\":0.256,\"cannot tell\":0.032}" },
		{ "coverage", "{\"samples\":1250,\"covered\":1000,\"kernel\":0,\"elsewhere\":[]}" },
		{ "common", "{\"regions\":0,\"knob\":null,\"explained\":null,\"forms\":{\"forms\":[],\"explained\":"
		  "null,\"predicted\":null}}" },
		{ "regions.0.schema", "\"gusprof.compare/1\"" }, { "regions.0.host", "null" },
		{ "regions.0.table.name", "\"skylake\"" }, { "regions.0.table.of_the_host", "true" },
		{ "regions.0.table.engine", "\"stream\"" },
		{ "regions.0.program", "{\"command\":null,\"pid\":null,\"input\":\"a.data\"}" },
		{ "regions.0.function", "\"hot\"" }, { "regions.0.module", "\"/opt/app\"" },
		{ "regions.0.build_id", "null" }, { "regions.0.offset", "0" }, { "regions.0.loop", "null" },
		{ "regions.0.basis", "\"cycles\"" },
		{ "regions.0.measured", "{\"samples\":800,\"runs\":2,\"event\":\"cpu-clock\",\"share\":0.8,"
		  "\"share_interval\":[0.78,0.82],\"ns\":8e8,\"cycles\":15600.0,\"cycles_interval\":"
		  "[15000.0,16200.0],\"cycles_per_instruction\":5.2,\"ghz\":[3.1,3.25],\"sampling_taken_off\":0.02,"
		  "\"core_looks\":0,\"core_shared\":0,\"evidence\":\"inferred\"}" },
		{ "regions.0.modelled", "{\"cycles\":12000.0,\"cycles_error\":0.0,\"share\":0.75,\"instructions\":3000,"
		  "\"cycles_per_instruction\":4.0,\"caches\":\"cold\",\"expected_error\":null,\"not_judged\":\"this is "
		  "a test\",\"evidence\":\"modelled\"}" },
		{ "regions.0.ratio", "{\"value\":1.3,\"interval\":[1.27,1.34],\"evidence\":\"modelled\"}" },
		{ "regions.0.verdict", "\"do not trust\"" }, { "regions.0.function_ratio", "1.3" },
		{ "regions.0.function_verdict", "\"do not trust\"" },
		{ "regions.0.explanation", "[\"no capacity alone, doubled or halved, would make the model meet it\"]" },
		{ "regions.0.knobs", "[]" }, { "regions.0.instructions", "null" },
		{ "regions.1.function", "\"cold\"" },
		{ "whole.function", "null" }, { "whole.module", "null" }, { "whole.build_id", "null" },
		{ "whole.offset", "null" }, { "whole.loop", "null" }, { "whole.function_ratio", "null" },
		{ "whole.function_verdict", "null" }, { "whole.verdict", "\"trust\"" },
		{ "whole.ratio.value", "1.22" }, { "whole.instructions", "null" }, { NULL, NULL },
	};

	expect_values(*state, values);
}

/* What is not known is null. */
static void json_of_shares(void **state)
{
	static const struct value values[] = {
		{ "part", "true" }, { "regions.0.basis", "\"shares\"" }, { "regions.0.measured.ns", "null" },
		{ "regions.0.measured.cycles", "null" }, { "regions.0.measured.cycles_interval", "null" },
		{ "regions.0.measured.cycles_per_instruction", "null" }, { "regions.0.measured.ghz", "null" },
		{ "regions.0.modelled.cycles_per_instruction", "null" }, { "regions.0.modelled.caches", "\"warm\"" },
		{ "regions.0.ratio.value", "null" }, { "regions.0.ratio.interval", "null" },
		{ "regions.0.function_ratio", "null" }, { "regions.0.offset", "null" },
		{ "regions.1.ratio.value", "0.98" }, { "regions.1.ratio.interval", "[0.9,1.05]" },
		{ "regions.1.modelled.cycles_error", "null" }, { "regions.1.measured.share_interval", "null" },
		{ "regions.1.build_id", "\"00ab10\"" }, { "regions.1.offset", "64" },
		{ "whole.ratio.value", "null" }, { "whole.ratio.interval", "null" }, { NULL, NULL },
	}, infinite[] = {
		{ "regions.0.measured.cycles", "0.0" }, { "regions.0.measured.cycles_interval", "null" },
		{ "regions.0.ratio.value", "null" }, { NULL, NULL },
	};
	struct made *s = *state;
	struct gus_compared_row *hot = &s->c.rows.v[HOT], *cold = &s->c.rows.v[COLD];
	const uint8_t id[] = { 0x00, 0xab, 0x10 };

	s->traced.part = s->model.warm = true;
	s->c.basis = GUS_COMPARED_SHARES;
	s->m.time.known = false;
	s->m.cycles.evidence = GUS_OBSERVED;
	hot->instructions = 0;
	hot->ratio = hot->function_ratio = figure(1, 0, 9);
	cold->error = cold->share.ci.high = INFINITY;
	s->t.functions.v[0].name = NULL;
	s->t.functions.v[1].start = 64;
	s->t.functions.v[1].of = (struct gus_module){ .build_id = id, .build_id_size = sizeof(id) };
	expect_values(s, values);
	s->c.basis = GUS_COMPARED_CYCLES;
	hot->measured = figure(0, 0, INFINITY);
	hot->ratio = figure(1.3, 1.2, 1.4);
	hot->modelled = 0;
	expect_values(s, infinite);
}

static void json_lists(void **state)
{
	static const char *const words[] = { "x", "-y" };
	static const struct value values[] = {
		{ "regions.0.program", "{\"command\":[\"x\",\"-y\"],\"pid\":null,\"input\":\"a.data\"}" },
		{ "regions.0.host", "{\"machine\":\"x86_64\",\"cpu_vendor\":null,\"cpu\":\"A CPU\",\"family\":6,"
		  "\"model\":85,\"stepping\":4,\"midr\":null,\"microcode\":null,\"kernel\":null,\"hypervisor\":null,"
		  "\"cpus\":2}" },
		{ "regions.0.table.engine", "\"core\"" }, { "regions.0.table.of_the_host", "false" },
		{ "regions.0.knobs", "[{\"knob\":\"reorder buffer\",\"is_time\":false,\"times\":0.72},{\"knob\":"
		  "\"latency mul\",\"is_time\":true,\"times\":1.25}]" },
		{ "regions.0.weak", "{\"instructions_without_row\":0.01,\"cycles_of_first_touches\":0.02,"
		  "\"accesses_beyond_l2\":0.03,\"mispredicted_per_1000\":4.0}" },
		{ "regions.0.instructions", "[{\"address\":0,\"text\":\"imul rax, rbx\",\"executed\":1000,\"samples\":"
		  "600,\"fused\":false,\"cycles\":9000.0},{\"address\":4,\"text\":\"dec rcx\",\"executed\":1000,"
		  "\"samples\":0,\"fused\":false,\"cycles\":3000.0},{\"address\":7,\"text\":\"jnz 0x0\",\"executed\":"
		  "1000,\"samples\":200,\"fused\":true,\"cycles\":null}]" },
		{ "regions.1.instructions", "null" },
		{ "common", "{\"regions\":9,\"knob\":{\"knob\":\"reorder buffer\",\"is_time\":false,\"times\":0.8},"
		  "\"explained\":0.6,\"forms\":{\"forms\":[{\"form\":\"IMUL (R64, R64)\",\"cycles_each\":2.0}],"
		  "\"explained\":0.8,\"predicted\":0.7}}" },
		{ "coverage.elsewhere", "[{\"function\":\"__strlen_evex [app]\",\"samples\":125,\"in_place_of\":"
		  "\"__strlen_avx2\"},{\"function\":\"other [app]\",\"samples\":9,\"in_place_of\":null}]" },
		{ NULL, NULL },
	}, process[] = {
		{ "regions.0.program", "{\"command\":null,\"pid\":77,\"input\":null}" },
		{ "regions.0.host.midr", "291" }, { NULL, NULL },
	};
	struct made *s = *state;
	struct gus_compared_row *hot = &s->c.rows.v[HOT];
	json_t *document;

	s->traced.command = words;
	s->traced.command_n = 2;
	s->traced.windows = &s->windows;
	s->process.pid = 77; /* whatever else there is */
	s->m.host = &s->host;
	s->host.machine = (char *)"x86_64";
	s->host.cpu_model = (char *)"A CPU";
	s->host.cpu_family = 6;
	s->host.cpu_model_number = 85;
	s->host.cpu_stepping = 4;
	s->host.cpus_online = 2;
	s->v.core = true;
	s->v.other_cpu = "znver3";
	s->v.listings = 1;
	hot->knobs[0] = (struct gus_compared_knob){ 0, 0.72 };
	hot->knobs[1] = (struct gus_compared_knob){ 1, 0.8 };
	hot->knobs_n = 2;
	hot->weak = (struct gus_compared_weak){ 0.01, 0.02, 0.03, 4 };
	s->c.common_of = 9;
	s->c.common = (struct gus_compared_common){ 0, 0.8, 0.6 };
	s->c.forms = (struct gus_residuals_fit){ .n = 1, .cycles = { 2 }, .explained = 0.8, .predicted = 0.7 };
	s->hashes[0] = s->p->insns[0].info.form;
	s->t.regions.v[HOT].cycles[0] = 12000;
	s->t.functions.v[0].name = "__strlen_avx2";
	s->m.coverage.elsewhere_n = 2;
	s->m.coverage.elsewhere[0] = (struct gus_coverage_function){ "__strlen_evex [app]", 125 };
	s->m.coverage.elsewhere[1] = (struct gus_coverage_function){ "other [app]", 9 };
	expect_values(s, values);
	s->v.rows = 1;
	document = json_of(s);
	assert_int_equal(json_array_size(json_object_get(document, "regions")), 1);
	json_decref(document);
	s->traced.command = NULL;
	s->traced.input = NULL;
	s->host.midr = 0x123;
	expect_values(s, process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_it_is_of, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_modelled, setup, teardown),
		cmocka_unit_test_setup_teardown(the_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(rows, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_stand_below_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(so_many_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(knobs_that_would_do, setup, teardown),
		cmocka_unit_test_setup_teardown(weaknesses, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_elsewhere_in_truth, setup, teardown),
		cmocka_unit_test_setup_teardown(why_nothing_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(what_all_have_in_common, setup, teardown),
		cmocka_unit_test_setup_teardown(what_would_tell_more, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_has_all, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_model_leaves_out, setup, teardown),
		cmocka_unit_test_setup_teardown(reasons_are_told_below, setup, teardown),
		cmocka_unit_test_setup_teardown(instructions, setup, teardown),
		cmocka_unit_test_setup_teardown(long_regions, setup, teardown),
		cmocka_unit_test_setup_teardown(csv, setup, teardown),
		cmocka_unit_test_setup_teardown(json_figures, setup, teardown),
		cmocka_unit_test_setup_teardown(json_of_shares, setup, teardown),
		cmocka_unit_test_setup_teardown(json_lists, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
