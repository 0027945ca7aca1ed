/* SPDX-License-Identifier: MIT */
/* cli/annotate/stacks: a function's instructions, lines and loops with the time that an account has of them. The
 * account is the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cli/annotate/stacks.h"
#include "cli/annotate/view.h"
#include "cli/stacks/stacks.h"
#include "symbolizer/space/space.h"

#define SAME(x, y) assert_true((x) > (y) - 1e-12 && (x) < (y) + 1e-12)
#define APP "/app"

/* Of 1000 at a function of APP, and 7 elsewhere. 0x10 is told twice, of which the first counts. */
static const struct gus_sum_row account[] = {
	{ .module = APP, .offset = 0x10, .weight = 600, .bounds = { 500, 700 } },
	{ .module = "/lib", .offset = 0x10, .weight = 7, .bounds = { 7, 7 } },
	{ .module = APP, .offset = 0x10, .weight = 1, .bounds = { 1, 1 } },
	{ .module = APP, .offset = 0x14, .weight = 301, .bounds = { 0, 5000 } },
	{ .module = APP, .offset = 0x18, .weight = 50, .bounds = { 40, 60 } },
	{ .module = APP, .offset = 0x1c, .weight = 49, .bounds = { 49, 49 } },
};

/* In place of cli/stacks: whoever asks is given that, or nothing and an error. */
static struct gus_stacks_how asked;

int gus_stacks_report(const struct gus_stacks_how *how, struct gus_error *err)
{
	struct gus_clues clues = { .sight.told = "by precise samples" };
	struct gus_account all = { .weight = 1007, .explained = 900 };
	struct gus_sums sums = { 0 };

	asked = *how;
	if (!how->input)
		return gus_fail(err, GUS_E_SYSTEM, "there is no recording");
	for (size_t i = 0; i < sizeof(account) / sizeof(*account); i++)
		gus_vec_push(&sums.rows, account[i]);
	how->take(how->take_context,
		  &(struct gus_stacks_view){ .how = how, .clues = &clues, .account = &all, .sums = &sums });
	gus_vec_free(&sums.rows);
	return 0;
}

char *gus_stacks_parts(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	(void)v;
	return gus_format("%d in parts", (int)row->weight);
}

static void an_account_is_asked_by_instruction(void **state)
{
	static const struct { const char *module; uint64_t offset, weight; const char *what; } cases[] = {
		{ APP, 0x10, 600, "600 in parts" }, { "/lib", 0x10, 7, "7 in parts" }, { APP, 0x1c, 49, "49 in parts" },
		{ "/lib", 0x14, 0, NULL }, { "/nobody", 0x10, 0, NULL }, { APP, 0x11, 0, NULL },
	};
	const struct gus_stacks_how how = { .input = "r", .unit = GUS_SUM_LINE, .vs_model = true };
	struct gus_annotate_stacks s;
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_annotate_stacks_make(&s, &how, &err), 0);
	assert_int_equal(asked.unit, GUS_SUM_INSTRUCTION);
	assert_true(asked.vs_model && strcmp(asked.input, "r") == 0);
	assert_string_equal(s.told, "by precise samples");
	assert_int_equal(s.explained, 900);
	assert_int_equal(s.all, 1007);
	assert_int_equal(s.rows.n, 5);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_annotate_stack *row = gus_annotate_stack_at(&s, cases[i].module, cases[i].offset);

		assert_int_equal(row != NULL, cases[i].what != NULL);
		if (!row)
			continue;
		assert_int_equal(row->weight, cases[i].weight);
		assert_string_equal(row->what, cases[i].what);
	}
	gus_annotate_stacks_free(&s);
	assert_int_equal(gus_annotate_stacks_make(&s, &(struct gus_stacks_how){ .input = NULL }, &err), -1);
	assert_string_equal(err.text, "there is no recording");
	gus_annotate_stacks_free(&s);
}

/* Instructions from 0x10 on: two of an inner loop, one of the loop about it, and two of none; of the first two lines,
 * and the last of no line. The last line and the last loop have no instructions. They have samples. */
enum { INSNS = 5, LINES = 3, LOOPS = 3, NONE = UINT32_MAX, OUTER = 0, INNER = 1, LAST = 2 };

/* Behind the last of each there is one that is none of them. */
static void make_function(struct gus_annotated *f, struct gus_module *module)
{
	static const uint32_t lines[INSNS + 1] = { 0, 0, 1, 1, NONE, NONE };
	static const uint32_t loops[INSNS + 1] = { INNER, INNER, OUTER, NONE, NONE, NONE };

	*f = (struct gus_annotated){ .annotation.module = module };
	for (unsigned i = 0; i <= INSNS; i++)
		gus_vec_push(&f->annotation.insns, (struct gus_annotation_insn){ .offset = 0x10 + 4 * i,
				.line = lines[i], .loop = loops[i], .hot = true, .w = { 3, 77, .5, { .4, .6 } } });
	for (unsigned i = 0; i <= LINES; i++)
		gus_vec_push(&f->annotation.lines, (struct gus_annotation_line){ .w = { 6, 77, .5, { .4, .6 } } });
	f->annotation.loops = gus_zalloc((LOOPS + 1) * sizeof(*f->annotation.loops));
	for (unsigned i = 0; i <= LOOPS; i++) {
		gus_vec_push(&f->annotation.graph.loops,
			     (struct gus_graph_loop){ .outer = i == INNER ? OUTER : GUS_GRAPH_NONE });
		f->annotation.loops[i] = (struct gus_weighed){ 9, 77, .5, { .4, .6 } };
	}
	f->annotation.insns.n = INSNS;
	f->annotation.lines.n = LINES;
	f->annotation.graph.loops.n = LOOPS;
}

static void free_function(struct gus_annotated *f)
{
	gus_vec_free(&f->annotation.insns);
	gus_vec_free(&f->annotation.lines);
	gus_vec_free(&f->annotation.graph.loops);
	free(f->annotation.loops);
}

static void expect_weighed(const struct gus_weighed *w, uint64_t samples, uint64_t weight, double low, double high)
{
	assert_int_equal(w->samples, samples);
	assert_int_equal(w->weight, weight);
	SAME(w->share, (double)weight / 1000);
	SAME(w->ci95.low, low);
	SAME(w->ci95.high, high);
}

/* Of 1000 in all; nothing is more than all, and 50 are hot. Of several instructions there is no interval. */
static void a_function_weighs_what_belongs_to_it(void **state)
{
	static const struct { uint64_t weight; double low, high; bool hot; } insns[INSNS] = {
		{ 600, .5, .7, true }, { 301, 0, 1, true }, { 50, .04, .06, true }, { 49, .049, .049, false },
		{ 0, 0, 0, false } };
	struct gus_module module = { .path = APP };
	struct gus_annotate_stacks s;
	struct gus_annotated f;

	(void)state;
	make_function(&f, &module);
	assert_int_equal(gus_annotate_stacks_make(&s, &(struct gus_stacks_how){ .input = "r" }, NULL), 0);
	gus_annotate_stacks_weigh(&s, &f);
	for (unsigned i = 0; i < INSNS; i++) {
		expect_weighed(&f.annotation.insns.v[i].w, 3, insns[i].weight, insns[i].low, insns[i].high);
		assert_int_equal(f.annotation.insns.v[i].hot, insns[i].hot);
	}
	expect_weighed(&f.annotation.lines.v[0].w, 6, 901, .901, .901);
	expect_weighed(&f.annotation.lines.v[1].w, 6, 99, .099, .099);
	expect_weighed(&f.annotation.loops[INNER], 9, 901, .901, .901);
	expect_weighed(&f.annotation.lines.v[LAST].w, 6, 0, 0, 0);
	expect_weighed(&f.annotation.loops[OUTER], 9, 951, .951, .951);
	expect_weighed(&f.annotation.loops[LAST], 9, 0, 0, 0);
	assert_int_equal(f.annotation.insns.v[INSNS].w.weight, 77);
	assert_int_equal(f.annotation.lines.v[LINES].w.weight, 77);
	assert_int_equal(f.annotation.loops[LOOPS].weight, 77);
	gus_annotate_stacks_free(&s);
	free_function(&f);
}

/* All of its samples belong elsewhere: it has no time, which is no share. */
static void a_function_may_have_no_time(void **state)
{
	struct gus_module module = { .path = "/nobody" };
	struct gus_annotate_stacks s;
	struct gus_annotated f;

	(void)state;
	make_function(&f, &module);
	assert_int_equal(gus_annotate_stacks_make(&s, &(struct gus_stacks_how){ .input = "r" }, NULL), 0);
	gus_annotate_stacks_weigh(&s, &f);
	for (unsigned i = 0; i < INSNS; i++) {
		expect_weighed(&f.annotation.insns.v[i].w, 3, 0, 0, 0);
		assert_false(f.annotation.insns.v[i].hot);
	}
	expect_weighed(&f.annotation.lines.v[1].w, 6, 0, 0, 0);
	expect_weighed(&f.annotation.loops[OUTER], 9, 0, 0, 0);
	gus_annotate_stacks_free(&s);
	free_function(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_account_is_asked_by_instruction),
		cmocka_unit_test(a_function_weighs_what_belongs_to_it),
		cmocka_unit_test(a_function_may_have_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
