/* SPDX-License-Identifier: MIT */
/* cli/stacks/text and json: an account as people and programs read it, of rows that are written down. Texts of
 * instructions are the test's. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/accounts/account.h"
#include "cli/common/calibrated.h"
#include "cli/model/view.h"
#include "cli/screen/screen.h"
#include "cli/stacks/kept.h"
#include "cli/stacks/stacks.h"
#include "model/tables/uarch.h"
#include "printed.h"
#include "symbolizer/insn/insn.h"

enum { ROWS = 4, MISS = 1 << GUS_ST_L1, TLB = 1 << GUS_ST_TLB, FLUSH = 1 << GUS_FL_MB };

struct shown {
	struct gus_stacks_how how;
	struct gus_clues clues;
	struct gus_account account;
	struct gus_sums sums;
	struct gus_stacks_ran ran;
	struct gus_uarch uarch;
	struct gus_sum_row all;
	struct gus_stacks_view v;
};

static struct gus_screen_options screen = { .width = 0 };
static const char *calibration;         /* NULL: there is none */
static long days;                       /* that it is old */

/* In place of cli/stacks/stacks.c: of what lies at 0x1010 the model has a twentieth. */
static struct gus_sum_row of_model;
const struct gus_sum_row *gus_stacks_modelled(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	return v->modelled && row->offset == 0x1010 ? &of_model : NULL;
}

/* In place of cli/common/calibrated.c. */
const char *gus_calibrated_file(const struct gus_uarch *u)
{
	(void)u;
	return calibration;
}

long gus_calibrated_days(const struct gus_uarch *u)
{
	(void)u;
	return calibration ? days : -1;
}

/* In place of cli/stacks/stacks.c: what lies at an even offset is known. */
void gus_stacks_insn(const struct gus_stacks_view *v, const struct gus_sum_row *row, struct gus_insn *insn)
{
	(void)v;
	*insn = (struct gus_insn){ 0 };
	if (row->offset % 2 == 0)
		strcpy(insn->text, "imul rax, rbx");
}

const char *gus_stacks_cause_of(const struct gus_stacks_view *v, const struct gus_sum_row *row,
				const struct gus_component *what)
{
	(void)v;
	assert_true(row->place == 0 || row->place == GUS_CLUE_NONE); /* of this account, which has one */
	return what->unknown || what->events ? NULL : "divider";
}

static void part(struct gus_sum_row *row, uint16_t events, bool unknown, enum gus_evidence evidence, uint64_t weight)
{
	gus_stack_add(&row->stack, (struct gus_component){ .events = events, .unknown = unknown }, evidence, weight);
	gus_vec_push(&row->parts, (struct gus_sum_bounds){ weight - 1, weight + 2 });
}

static void row(struct shown *s, struct gus_sum_row r)
{
	r.place = 0;
	r.thread = GUS_CLUE_NONE;
	gus_vec_push(&s->sums.rows, r);
}

/* Of 2000: 1200 are of a product with five components, 780 are the rest of its function's, 15 of code that nobody
 * knows, and 5 are no fact. */
static int setup(void **state)
{
	struct shown *s = gus_zalloc(sizeof(*s));

	row(s, (struct gus_sum_row){ .module = "/usr/bin/app", .function = "work", .start = 0x1000, .offset = 0x1010,
		.seen = 100, .weight = 1200, .bounds = { 1100, 1300 }, .fact = true, .evidence = GUS_INFERRED });
	part(&s->sums.rows.v[0], 0, false, GUS_MODELLED, 40);
	part(&s->sums.rows.v[0], FLUSH, false, GUS_MODELLED, 30);
	part(&s->sums.rows.v[0], MISS, false, GUS_INFERRED, 900);
	part(&s->sums.rows.v[0], MISS | TLB, false, GUS_INFERRED, 200);
	part(&s->sums.rows.v[0], 0, true, GUS_UNKNOWN, 30);
	row(s, (struct gus_sum_row){ .module = "/usr/bin/app", .function = "work", .start = 0x1000, .offset = 0x1015,
		.seen = 1880, .weight = 780, .bounds = { 700, 900 }, .fact = true, .evidence = GUS_INFERRED });
	part(&s->sums.rows.v[1], 0, false, GUS_MODELLED, 780);
	row(s, (struct gus_sum_row){ .module = "", .offset = 0x7001, .seen = 15, .weight = 15, .bounds = { 10, 20 },
		.fact = true, .evidence = GUS_OBSERVED });
	part(&s->sums.rows.v[2], 0, true, GUS_UNKNOWN, 15);
	row(s, (struct gus_sum_row){ .module = "/usr/lib/lib.so", .offset = 0x20, .seen = 5, .weight = 5,
		.bounds = { 0, 20 }, .evidence = GUS_OBSERVED });
	part(&s->sums.rows.v[3], 0, true, GUS_UNKNOWN, 5);
	s->all = (struct gus_sum_row){ .module = "", .weight = 2000, .seen = 2000, .bounds = { 2000, 2000 },
		.fact = true, .place = GUS_CLUE_NONE, .thread = GUS_CLUE_NONE };
	part(&s->all, 0, false, GUS_MODELLED, 1950);
	part(&s->all, 0, true, GUS_UNKNOWN, 50);
	s->uarch.name = "skylake";
	gus_vec_push(&s->clues.threads, (struct gus_clue_thread){ 7, 8, "worker" });
	s->clues.samples = 20;
	s->clues.sampler = GUS_SAMPLER_TIME;
	s->clues.sight = (struct gus_sampler_sight){ .known = true, .told = "each is where it is" };
	s->account.weight = 2000;
	s->account.explained = 1980;
	s->account.solution.width = 6;
	s->how.input = "a.data";
	s->how.screen = &screen;
	s->how.unit = GUS_SUM_INSTRUCTION;
	s->how.percent_limit = -1;
	s->v = (struct gus_stacks_view){ .how = &s->how, .clues = &s->clues, .account = &s->account, .sums = &s->sums,
		.all = &s->all, .ran = &s->ran, .uarch = &s->uarch, .event = "cpu-clock", .width = 6 };
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct shown *s = *state;

	for (size_t i = 0; i < ROWS; i++) {
		gus_stack_free(&s->sums.rows.v[i].stack);
		gus_vec_free(&s->sums.rows.v[i].parts);
	}
	gus_vec_free(&s->sums.rows);
	gus_stack_free(&s->all.stack);
	gus_vec_free(&s->all.parts);
	gus_vec_free(&s->clues.threads);
	free(s);
	return 0;
}

static void print_text(const void *view)
{
	gus_stacks_text(view);
}

#define SAYS(s, what) expect_printed(print_text, &(s)->v, what, true)
#define OMITS(s, what) expect_printed(print_text, &(s)->v, what, false)

static void the_head(void **state)
{
	struct shown *s = *state;

	SAYS(s, "# 20 samples of cpu-clock; each is where it is\n");
	SAYS(s, "\n# 99.0 % of the time is in code that its trace executed: ");
	SAYS(s, "\n# 1.0 % stays where samples were seen, and nothing but their records tells why: 1.0 % is behind "
		"something that is in none\n# all of the time: base: divider 98%, unknown 2%\n"
		"# share 95 % of the time seen stack instruction code subjected to\n");
	s->clues.sampler = GUS_SAMPLER_LOADS;
	SAYS(s, "\n# all samples of cpu-clock, which are not of time: base: divider 98%, unknown 2%\n");
	s->clues.sampler = GUS_SAMPLER_TIME;
	s->v.kernel = 8;
	s->v.unexecuted = 12;
	SAYS(s, "tells why: 0.4 % is the kernel's, 0.6 % is in code that no part of its trace has executed (an "
		"emulator's CPU may make a library take another variant)\n");
	s->ran.partly = true;
	SAYS(s, "in code that stretches of its trace executed: ");
	s->ran.partly = false;
	s->v.width = s->account.solution.width = 4;
	OMITS(s, "retire in a cycle");
	s->account.solution.width = 8;
	SAYS(s, "\n# the table has 4 ops that retire in a cycle, which cannot have executed so much; up to 8 can\n");
	s->ran.windows = true;
	SAYS(s, "in code that its trace executed: ");
	s->ran.taken = 1;
	SAYS(s, "in code that 1 window of it executed: ");
	SAYS(s, "0.6 % is in code that no window has executed\n");
	s->account.explained = 1880;
	s->v.unexecuted = 112;
	SAYS(s, "5.6 % is in code that no window has executed (there are more if you record for longer, or with more "
		"--overhead)\n");
	s->clues.sight.known = false;
	SAYS(s, "tells why: of such samples it cannot be told\n");
	s->v.why = "it is so";
	SAYS(s, "tells why: it is so\n");
	OMITS(s, "too many threads");
	s->ran.left_out = 7;
	SAYS(s, "\n# 7 instructions of the trace were not run, as it has too many threads\n");
	OMITS(s, "was not sampled");
	s->clues.unsampled = 500;
	SAYS(s, "\n# 20.0 % more was not sampled, as tasks ended before their next sample\n");
	s->account.explained = 2000;
	OMITS(s, "stays where");
	s->account.explained = 0;
	s->v.ran = NULL;
	s->v.uarch = NULL;
	OMITS(s, "executed: ");
	SAYS(s, "\n# 100.0 % stays where");
}

/* What makes the figures worth less: few samples, what was lost, a table that nobody has calibrated, or long ago. */
static void the_quality(void **state)
{
	struct shown *s = *state;

	SAYS(s, "\n# so few samples tell little: record for longer, or with a higher --overhead or -F\n");
	s->clues.samples = 300;
	OMITS(s, "so few samples");
	SAYS(s, "\n# the model is of skylake as such, and not of that machine (gusprof calibrate makes one)\n");
	calibration = "own";
	days = GUS_CALIBRATED_OLD - 1;
	OMITS(s, "the model is of");
	days = 100;
	SAYS(s, "\n# the model is of that machine as it was calibrated 100 days ago\n");
	s->account.explained = 0;
	OMITS(s, "the model is of");
	calibration = NULL;
	OMITS(s, "records were lost");
	OMITS(s, "paused sampling");
	s->clues.profile.lost = 3;
	s->clues.profile.throttled = 1;
	SAYS(s, "\n# 3 records were lost, ");
	SAYS(s, "\n# the kernel paused sampling 1 time: ");
}

/* The largest four of a stack, and rows that are worth it: 15 of 2000 are more than half a percent, and what is no fact
 * is not told of by itself, whatever it is. */
static void the_rows(void **state)
{
	struct shown *s = *state;

	SAYS(s, "\n60.00% 55.00- 65.00% 5.00% LLLLLLLLLLLLLLLLLLLLLLb? work+0x10 [app] imul rax, rbx ST-L1 75%, "
		"ST-L1+ST-TLB 17%, base: divider 3%, ");
	OMITS(s, "base: divider 3%, FL-MB 2%, ");
	OMITS(s, "base: divider 3%, unknown 2%, ");
	SAYS(s, "\n39.00% 35.00- 45.00% 94.00% bbbbbbbbbbbbbbbb work+0x15 [app] base: divider 100%\n"
		"0.75% 0.50- 1.00% 0.75% ? "
		"0x7001 [] unknown 100% (as seen)\n# 0.25% in 1 instructions with less than 0.5 % each, or "
		"with too few samples to tell\n");
	s->sums.rows.v[0].parts.v[3] = (struct gus_sum_bounds){ 120, 359 }; /* a tenth to 29.9 % */
	SAYS(s, "ST-L1+ST-TLB 17%, base: divider 3%");
	s->sums.rows.v[0].parts.v[3].high = 361;
	SAYS(s, "ST-L1+ST-TLB 17% (10-30), base: divider 3%");
	s->sums.rows.v[0].parts.v[3].high = 1300;
	SAYS(s, "ST-L1+ST-TLB 17% (10-100), base: divider 3%");
	s->how.percent_limit = .75;
	SAYS(s, "0.75% ? 0x7001");
	s->how.percent_limit = 1;
	SAYS(s, "base: divider 100%\n# 1.00% in 2 instructions with less than 1 % each");
	s->how.percent_limit = .01;
	OMITS(s, "0x20");
	OMITS(s, "~");
	s->clues.samples = 2000;        /* five of them; and twice the least share */
	SAYS(s, "\n~0.25% 0.00- 1.00% 0.25% ? 0x20 [lib.so] imul rax, rbx unknown 100% (as seen)\n# ~ about so much: ");
	s->how.percent_limit = .13;
	OMITS(s, "0x20");
	s->how.percent_limit = .01;
	s->clues.samples = 1999;
	OMITS(s, "0x20");
	s->sums.rows.v[3].fact = true;
	SAYS(s, " 0x20 [lib.so] imul rax, rbx unknown 100% (as seen)\n");
	OMITS(s, " in 1 instructions");
	s->clues.samples = 2000;
	s->sums.rows.v[1].fact = false; /* and what is behind it is one */
	SAYS(s, "\n# ~ about so much: ");
}

/* On a narrow screen code leaves first, and bars last, with their legend. */
static void what_fits(void **state)
{
	struct shown *s = *state;

	SAYS(s, "\n# b base, l ST-L1, ? unknown; capitals: samples tell, small letters: a model does\n");
	screen.width = 110;
	OMITS(s, "imul");
	SAYS(s, " LLLLLLLLLLLLLLLLLLLLLLb? work+0x10 [app] ST-L1 75%, ");
	screen.width = 98;
	SAYS(s, "\n# share 95 % of the time stack instruction subjected to\n");
	SAYS(s, "\n# b base, l ST-L1, ? unknown; ");
	screen.width = 70;
	SAYS(s, "# 20 samples of cpu-clock; each is where it is\n");
	SAYS(s, "\n60.00% work+0x10 [app] ST-L1 75%, ");
	OMITS(s, "b base");
	screen.width = 0;
}

static void the_units(void **state)
{
	struct shown *s = *state;

	s->how.unit = GUS_SUM_FUNCTION;
	SAYS(s, " work [app] ST-L1 75%");
	SAYS(s, " [unknown] [] unknown 100% (as seen)\n");
	SAYS(s, " in 1 functions with");
	OMITS(s, "imul");
	s->how.unit = GUS_SUM_MODULE;
	SAYS(s, " /usr/bin/app ST-L1 75%");
	s->how.unit = GUS_SUM_THREAD;
	s->sums.rows.v[0].thread = 0;
	SAYS(s, " worker (pid 7, tid 8) ST-L1 75%");
	s->how.unit = GUS_SUM_ALL;
	SAYS(s, " all ST-L1 75%");
}

static void print_json(const void *view)
{
	assert_int_equal(gus_stacks_json(view), 0);
}

static json_t *document(const struct shown *s)
{
	char *text = printed(print_json, &s->v);
	json_t *o = json_loads(text, 0, NULL);

	assert_non_null(o);
	free(text);
	return o;
}

static const char *text_of(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	assert_non_null(value);
	return json_is_null(value) ? NULL : json_string_value(value);
}

static int64_t number_of(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	assert_non_null(value);
	return json_is_null(value) ? -1 : json_integer_value(value);
}

static void expect_pair(const json_t *pair, int64_t low, int64_t high)
{
	assert_int_equal(json_array_size(pair), 2);
	assert_int_equal(json_integer_value(json_array_get(pair, 0)), low);
	assert_int_equal(json_integer_value(json_array_get(pair, 1)), high);
}

/* Beside what the model alone has: of its own rows, and nothing of others. */
static void beside_the_model(void **state)
{
	struct shown *s = *state;
	json_t *o, *rows;

	OMITS(s, "model:");
	of_model = (struct gus_sum_row){ .module = "", .weight = 100, .place = 7 }; /* of the model's places */
	part(&of_model, FLUSH, false, GUS_MODELLED, 90);
	part(&of_model, MISS, false, GUS_MODELLED, 10);
	s->v.modelled = &(const struct gus_sums){ .rows = { 0 } };
	SAYS(s, "# share 95 % of the time seen model stack instruction code subjected to\n60.00% 55.00- 65.00% 5.00% "
		"5.00% LLLLLLLLLLLLLLLLLLLLLLb? work+0x10 [app] imul rax, rbx ST-L1 75%, ");
	SAYS(s, "base: divider 3%, FL-MB 2%; model: FL-MB 90%, ST-L1 10%\n"
		"39.00% 35.00- 45.00% 94.00% - bbbbbbbbbbbbbbbb "
		"work+0x15");
	o = document(s);
	rows = json_object_get(o, "rows");
	assert_int_equal(number_of(json_object_get(json_array_get(rows, 0), "model"), "weight"), 100);
	assert_int_equal(number_of(json_object_get(json_object_get(json_array_get(rows, 0), "model"), "stack"),
				   "FL-MB"), 90);
	assert_int_equal(number_of(json_object_get(json_object_get(json_array_get(rows, 0), "model"), "stack"),
				   "ST-L1"), 10);
	assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "model")));
	json_decref(o);
	gus_stack_free(&of_model.stack);
	gus_vec_free(&of_model.parts);
}

static void the_document(void **state)
{
	struct shown *s = *state;
	json_t *o = document(s), *of = json_object_get(o, "recording"), *total = json_object_get(o, "total");

	assert_string_equal(text_of(o, "schema"), "gusprof.stacks/1");
	assert_string_equal(text_of(o, "by"), "instruction");
	assert_string_equal(text_of(of, "path"), "a.data");
	assert_string_equal(text_of(of, "event"), "cpu-clock");
	assert_string_equal(text_of(of, "skid"), "each is where it is");
	assert_int_equal(number_of(of, "samples"), 20);
	assert_int_equal(number_of(total, "weight"), 2000);
	assert_int_equal(number_of(total, "explained"), 1980);
	assert_int_equal(number_of(total, "retire_width"), 6);
	assert_int_equal(number_of(total, "not_sampled"), 0);
	assert_int_equal(number_of(total, "instructions_left_out"), 0);
	assert_true(json_is_false(json_object_get(total, "stretches")));
	assert_null(text_of(total, "why_unexplained"));
	assert_int_equal(number_of(total, "kernel"), 0);
	assert_int_equal(number_of(total, "not_executed"), 0);
	assert_int_equal(number_of(json_object_get(total, "stack"), "base"), 1950);
	assert_string_equal(text_of(json_object_get(total, "evidence"), "unknown"), "unknown");
	expect_pair(json_object_get(json_object_get(total, "stack_bounds"), "base"), 1949, 1952);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), ROWS);
	json_decref(o);
	s->v.why = "it is so";
	s->ran.left_out = 7;
	s->ran.partly = true;
	o = document(s);
	assert_int_equal(number_of(json_object_get(o, "total"), "instructions_left_out"), 7);
	assert_true(json_is_true(json_object_get(json_object_get(o, "total"), "stretches")));
	assert_string_equal(text_of(json_object_get(o, "total"), "why_unexplained"), "it is so");
	json_decref(o);
}

static void a_row(void **state)
{
	struct shown *s = *state;
	json_t *o = document(s), *rows = json_object_get(o, "rows"), *r = json_array_get(rows, 0);

	assert_string_equal(text_of(r, "module"), "/usr/bin/app");
	assert_string_equal(text_of(r, "function"), "work");
	assert_string_equal(text_of(r, "text"), "imul rax, rbx");
	assert_string_equal(text_of(r, "weight_evidence"), "inferred");
	assert_int_equal(number_of(r, "offset"), 0x1010);
	assert_int_equal(number_of(r, "seen"), 100);
	assert_int_equal(number_of(r, "weight"), 1200);
	expect_pair(json_object_get(r, "bounds"), 1100, 1300);
	assert_true(json_is_true(json_object_get(r, "fact")));
	assert_float_equal(json_real_value(json_object_get(r, "share")), .6, 1e-9);
	assert_int_equal(number_of(r, "pid"), -1);
	assert_int_equal(number_of(r, "tid"), -1);
	assert_null(text_of(r, "comm"));
	assert_null(json_object_get(r, "model"));
	assert_int_equal(json_object_size(json_object_get(r, "causes")), 1);
	assert_string_equal(text_of(json_object_get(r, "causes"), "base"), "divider");
	assert_int_equal(json_object_size(json_object_get(r, "stack")), 5);
	assert_int_equal(number_of(json_object_get(r, "stack"), "ST-L1+ST-TLB"), 200);
	assert_string_equal(text_of(json_object_get(r, "evidence"), "base"), "modelled");
	assert_string_equal(text_of(json_object_get(r, "evidence"), "ST-L1"), "inferred");
	expect_pair(json_object_get(json_object_get(r, "stack_bounds"), "ST-L1"), 899, 902);
	r = json_array_get(rows, 3);
	assert_null(text_of(r, "function"));
	assert_true(json_is_false(json_object_get(r, "fact")));
	assert_null(text_of(json_array_get(rows, 1), "text"));
	json_decref(o);
}

static void print_csv(const void *view)
{
	gus_stacks_csv(view);
}

/* A line for each part; what is less than the limit is left out. */
static void lines(void **state)
{
	struct shown *s = *state;

	expect_printed(print_csv, &s->v, "instruction,module,offset,text,share,low,high,seen,fact,component,cause,part,"
		       "part_low,part_high,evidence\nwork+0x10 [app],/usr/bin/app,4112,\"imul rax, rbx\",0.600000,"
		       "0.550000,0.650000,0.050000,1,base,divider,0.020000,0.019500,0.021000,modelled\n", true);
	expect_printed(print_csv, &s->v, "work+0x15 [app],/usr/bin/app,4117,,0.390000", true);
	expect_printed(print_csv, &s->v, "0x20 [lib.so],/usr/lib/lib.so,32,\"imul rax, rbx\",0.002500,0.000000,"
		       "0.010000,0.002500,0,unknown,,0.002500,0.002000,0.003500,unknown\n", true);
	expect_printed(print_csv, &s->v, ",1,FL-MB,,0.015000,0.014500,0.016000,modelled\n", true);
	expect_printed(print_csv, &s->v, ",1,unknown,,0.015000,0.014500,0.016000,unknown\n", true);
	s->how.percent_limit = .25;
	expect_printed(print_csv, &s->v, "lib.so", true);
	s->how.percent_limit = .3;
	expect_printed(print_csv, &s->v, "lib.so", false);
	s->how.unit = GUS_SUM_MODULE;
	expect_printed(print_csv, &s->v, "module,module,offset,", true);
	expect_printed(print_csv, &s->v, "/usr/bin/app,/usr/bin/app,,,0.600000", true);
}

/* What a unit has not is null. */
static void a_row_of_others(void **state)
{
	struct shown *s = *state;
	json_t *o, *r;

	s->how.unit = GUS_SUM_MODULE;
	o = document(s);
	r = json_array_get(json_object_get(o, "rows"), 0);
	assert_string_equal(text_of(o, "by"), "module");
	assert_string_equal(text_of(r, "module"), "/usr/bin/app");
	assert_int_equal(number_of(r, "offset"), -1);
	assert_null(text_of(r, "text"));
	json_decref(o);
	s->how.unit = GUS_SUM_THREAD;
	for (size_t i = 0; i < ROWS; i++)
		s->sums.rows.v[i].thread = 0;
	s->account.weight = 0;
	o = document(s);
	r = json_array_get(json_object_get(o, "rows"), 0);
	assert_null(text_of(r, "module"));
	assert_int_equal(number_of(r, "offset"), -1);
	assert_int_equal(number_of(r, "pid"), 7);
	assert_int_equal(number_of(r, "tid"), 8);
	assert_string_equal(text_of(r, "comm"), "worker");
	assert_float_equal(json_real_value(json_object_get(r, "share")), 0, 1e-9);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_head, setup, teardown),
		cmocka_unit_test_setup_teardown(the_quality, setup, teardown),
		cmocka_unit_test_setup_teardown(the_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(what_fits, setup, teardown),
		cmocka_unit_test_setup_teardown(the_units, setup, teardown),
		cmocka_unit_test_setup_teardown(beside_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(the_document, setup, teardown),
		cmocka_unit_test_setup_teardown(a_row, setup, teardown),
		cmocka_unit_test_setup_teardown(lines, setup, teardown),
		cmocka_unit_test_setup_teardown(a_row_of_others, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
