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
#include "cli/model/view.h"
#include "cli/screen/screen.h"
#include "cli/stacks/stacks.h"
#include "printed.h"
#include "symbolizer/insn/insn.h"

enum { ROWS = 4, MISS = 1 << GUS_ST_L1, TLB = 1 << GUS_ST_TLB, FLUSH = 1 << GUS_FL_MB };

struct shown {
	struct gus_stacks_how how;
	struct gus_clues clues;
	struct gus_account account;
	struct gus_sums sums;
	struct gus_model_windows windows;
	struct gus_model_view model;
	struct gus_stacks_view v;
};

static struct gus_screen_options screen = { .width = 0 };

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
	(void)v, (void)row;
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
	gus_vec_push(&s->clues.threads, (struct gus_clue_thread){ 7, 8, "worker" });
	s->clues.samples = 20;
	s->clues.sight = (struct gus_sampler_sight){ .known = true, .told = "each is where it is" };
	s->account.weight = 2000;
	s->account.explained = 1980;
	s->account.solution.width = 6;
	s->how.input = "a.data";
	s->how.screen = &screen;
	s->how.unit = GUS_SUM_INSTRUCTION;
	s->how.percent_limit = -1;
	s->v = (struct gus_stacks_view){ .how = &s->how, .clues = &s->clues, .account = &s->account, .sums = &s->sums,
		.model = &s->model, .event = "cpu-clock", .width = 6 };
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

	SAYS(s, "# 20 samples of cpu-clock; each is where it is\n# 99.0 % of the time is in code that its trace "
		"executed: ");
	SAYS(s, "\n# 1.0 % stays where samples were seen, and nothing but their records tells why: no window has "
		"executed that code (an emulator's CPU may have made a library take another variant), or it is the "
		"kernel's\n"
		"# share 95 % of the time seen stack instruction code subjected to\n");
	s->v.partly = true;
	SAYS(s, "in code that stretches of its trace executed: ");
	s->v.partly = false;
	s->v.width = s->account.solution.width = 4;
	OMITS(s, "retire in a cycle");
	s->account.solution.width = 8;
	SAYS(s, "\n# the table has 4 ops that retire in a cycle, which cannot have executed so much; up to 8 can\n");
	s->model.windows = &s->windows;
	SAYS(s, "in code that its trace executed: ");
	s->windows.taken = 1;
	SAYS(s, "in code that 1 window of it executed: ");
	SAYS(s, "no window has executed that code, or it is the kernel's\n");
	s->clues.sight.known = false;
	SAYS(s, "tells why: of such samples it cannot be told\n");
	s->v.why = "it is so";
	SAYS(s, "tells why: it is so\n");
	OMITS(s, "too many threads");
	s->v.left_out = 7;
	SAYS(s, "\n# 7 instructions of the trace were not run, as it has too many threads\n");
	OMITS(s, "was not sampled");
	s->clues.unsampled = 500;
	SAYS(s, "\n# 20.0 % more was not sampled, as tasks ended before their next sample\n");
	s->account.explained = 2000;
	OMITS(s, "stays where");
	s->account.explained = 0;
	s->v.model = NULL;
	OMITS(s, "executed: ");
	SAYS(s, "\n# 100.0 % stays where");
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
	s->sums.rows.v[3].fact = true;
	SAYS(s, " 0x20 [lib.so] imul rax, rbx unknown 100% (as seen)\n");
	OMITS(s, " in 1 instructions");
}

/* On a narrow screen code leaves first, and bars last, with their legend. */
static void what_fits(void **state)
{
	struct shown *s = *state;

	SAYS(s, "\n# b base, l ST-L1, ? unknown; capitals: samples tell, small letters: a model does\n");
	screen.width = 110;
	OMITS(s, "imul");
	SAYS(s, " LLLLLLLLLLLLLLLLLLLLLLb? work+0x10 [app] ST-L1 75%, ");
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
	assert_int_equal(json_array_size(json_object_get(o, "rows")), ROWS);
	json_decref(o);
	s->v.why = "it is so";
	s->v.left_out = 7;
	s->v.partly = true;
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
		cmocka_unit_test_setup_teardown(the_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(what_fits, setup, teardown),
		cmocka_unit_test_setup_teardown(the_units, setup, teardown),
		cmocka_unit_test_setup_teardown(the_document, setup, teardown),
		cmocka_unit_test_setup_teardown(a_row, setup, teardown),
		cmocka_unit_test_setup_teardown(a_row_of_others, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
