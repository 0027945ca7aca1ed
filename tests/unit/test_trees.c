/* SPDX-License-Identifier: MIT */
/* cli/report/trees and how they are shown: words of -g, trees of rows, and trees as text, JSON and CSV, of calls that
 * are made up. What is printed is compared as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cli/report/render.h"
#include "cli/report/tree_json.h"
#include "cli/report/tree_text.h"
#include "cli/report/trees.h"
#include "cli/screen/table.h"
#include "made_calls.h"
#include "printed.h"

/* The words of -g. */

static void words_say_what_is_wanted(void **state)
{
	static const struct { const char *text; struct gus_trees_how how; } all[] = {
		{ NULL, { .kind = GUS_TREES_EACH, .limits.least = 0.005 } },
		{ "", { .kind = GUS_TREES_EACH, .limits.least = 0.005 } },
		{ "caller", { .kind = GUS_TREES_EACH, .ordered = true, .down = true, .limits.least = 0.005 } },
		{ "callee", { .kind = GUS_TREES_EACH, .ordered = true, .limits.least = 0.005 } },
		{ "caller,callee", { .kind = GUS_TREES_EACH, .ordered = true, .limits.least = 0.005 } },
		{ "fractal", { .kind = GUS_TREES_EACH, .limits = { 0.005, GUS_TREE_OF_PARENT, 0 } } },
		{ "fractal,graph", { .kind = GUS_TREES_EACH, .limits.least = 0.005 } },
		{ "rows", { .kind = GUS_TREES_ROWS, .limits.least = 0.005 } },
		{ "folded", { .kind = GUS_TREES_FOLDED, .limits.least = 0.005 } },
		{ "none", { .kind = GUS_TREES_NONE, .limits.least = 0.005 } },
		{ "function,percent", { .kind = GUS_TREES_EACH, .limits.least = 0.005 } },
		{ "0", { .kind = GUS_TREES_EACH } },
		{ "25%", { .kind = GUS_TREES_EACH, .limits.least = 0.25 } },
		{ "caller,12.5", { .kind = GUS_TREES_EACH, .ordered = true, .down = true, .limits.least = 0.125 } },
		{ "100", { .kind = GUS_TREES_EACH, .limits.least = 1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gus_trees_how g = GUS_TREES_DEFAULTS;
		const struct gus_trees_how *want = &all[i].how;

		assert_int_equal(gus_trees_parse(&g, all[i].text, NULL), 0);
		assert_true(g.said);
		assert_int_equal(g.kind, want->kind);
		assert_int_equal(g.ordered, want->ordered);
		assert_int_equal(g.down, want->down);
		assert_int_equal(g.limits.shares, want->limits.shares);
		assert_true(g.limits.least > want->limits.least - 1e-9 && g.limits.least < want->limits.least + 1e-9);
	}
}

static void other_words_are_refused(void **state)
{
	static const struct { const char *text, *says; } all[] = {
		{ "cellar", "not 'cellar'" }, { "calle", "callee" }, { "call", "not 'call'" },
		{ "callers", "not 'callers'" }, { "caller,x", "not 'x'" }, { ",", "not ''" }, { "101", "not '101'" },
		{ "5%%", "not '5%%'" }, { "5x", "not '5x'" }, { "-1", "not '-1'" }, { "flat", "-g folded" },
		{ "caller,address", "gusprof script" }, { "srcline", "+srcline" }, { "branch", "annotate" },
		{ "period", "weights" }, { "count", "numbers of samples" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gus_trees_how g = GUS_TREES_DEFAULTS;
		struct gus_error err = { 0 };

		assert_int_equal(gus_trees_parse(&g, all[i].text, &err), -1);
		assert_int_equal(err.code, GUS_E_USAGE);
		assert_non_null(strstr(err.text, all[i].says));
	}
}

/* What can stand behind -g without being a file's name. */
static void what_is_no_name_of_a_file(void **state)
{
	static const char *const words[] = { "caller", "callee,5%", "0.5", "100%", "flat", "none,graph,3" };
	static const char *const files[] = { "gusprof.data", "caller.data", "caller,data", "callerx", "101", "5x", "",
		"caller,", ",caller", "5%%" };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_true(gus_trees_takes(words[i]));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		assert_false(gus_trees_takes(files[i]));
}

/* Reports. */

struct made {
	struct made_calls *m;
	struct gus_report r;
	struct gus_trees_how how;
	struct gus_screen screen;
	struct gus_tree tree;
	struct gus_view view;
};

static int setup(void **state)
{
	struct made *t = gus_zalloc(sizeof(*t));

	t->m = made_calls_new();
	t->screen.dots = "..";
	t->how.kind = GUS_TREES_EACH;
	t->r.profile = &t->m->profile;
	t->r.calls = &t->m->calls;
	t->r.screen = &t->screen;
	t->r.graph = &t->how;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct made *t = *state;

	gus_trees_free(t->r.trees);
	gus_tree_free(&t->tree);
	gus_view_free(&t->view);
	made_calls_free(t->m);
	free(t);
	return 0;
}

/* main has 1 of 100 itself; work 54 in main, of which 14 are the kernel's; sort 30 that are all in compare, called by
 * main; help 15 that main calls. */
static void fill(struct made *t)
{
	uint32_t in_main = made_path(t->m, 0, MAIN), in_sort = made_path(t->m, in_main, SORT);

	made_sample(t->m, 0, MAIN, 1);
	made_sample(t->m, in_main, WORK, 40);
	made_sample(t->m, made_path(t->m, in_main, WORK), KERNEL, 14);
	made_sample(t->m, in_sort, COMPARE, 30);
	made_sample(t->m, in_main, HELP, 15);
}

/* The one tree of all. */
static void make_tree(struct made *t)
{
	made_calls_add_up(t->m, true);
	t->r.units = gus_units_of(&t->m->profile);
	gus_tree_all(&t->tree, &t->m->calls, &t->how.limits);
	t->r.tree = &t->tree;
}

/* Rows, each with a tree. */
static void make_rows(struct made *t, enum gus_by by, bool children)
{
	made_calls_add_up(t->m, true);
	t->r.units = gus_units_of(&t->m->profile);
	gus_view_make(&t->view, &t->m->profile, by, true);
	t->r.view = &t->view;
	t->r.by_total = children;
	t->r.trees = gus_trees_new(&t->m->calls, &t->view, &t->how, children);
}

static void print_tree(const void *report)
{
	gus_trees_text_table(report);
}

static void print_csv(const void *report)
{
	gus_render_csv(report);
}

static void print_text(const void *report)
{
	gus_render_text(report);
}

/* The first line that has a word, of a text that ends there. */
static const char *line_of(char *text, const char *word)
{
	char *at = strstr(text, word);

	assert_non_null(at);
	at[strcspn(at, "\n")] = '\0';
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

static void prints(void (*print)(const void *report), struct made *t, const char *want)
{
	char *text = printed(print, &t->r);

	assert_string_equal(text, want);
	free(text);
}

/* One tree as text. */

static void a_tree_has_its_figures(void **state)
{
	struct made *t = *state;

	fill(t);
	make_tree(t);
	prints(print_tree, t,
	       "#   total     95% interval     self   samples       time  function\n"
	       "  100.00%  47.11 .. 100.00%    1.00%         5     100 ns  main\n"
	       "   54.00%  15.58 .. 88.19%   40.00%         2      54 ns    work\n"
	       "   14.00%   1.43 .. 64.65%   14.00%         1      14 ns      [k] do_syscall_64\n"
	       "   30.00%   5.61 .. 75.54%                  1      30 ns    qsort\n"
	       "                             30.00%                         cmp;are\n"
	       "   15.00%   1.62 .. 65.40%   15.00%         1      15 ns    help\n");
}

/* What a list leaves out stands behind what it has, one step in; below the root, where all begins, it does not. */
static void what_is_left_out_stands_last(void **state)
{
	struct made *t = *state;

	fill(t);
	made_sample(t->m, 0, WORK, 4);
	made_sample(t->m, 0, HELP, 1);
	t->how.limits.least = 0.2;
	make_tree(t);
	prints(print_tree, t,
	       "#   total     95% interval     self   samples       time  function\n"
	       "   95.24%  44.90 .. 99.80%    0.95%         5     100 ns  main\n"
	       "   51.43%  15.15 .. 86.26%   38.10%         2      54 ns    work\n"
	       "   13.33%   1.41 .. 62.36%                  1      14 ns      (1 more)\n"
	       "   28.57%   5.50 .. 73.33%                  1      30 ns    qsort\n"
	       "                             28.57%                         cmp;are\n"
	       "   14.29%   1.60 .. 63.11%                  1      15 ns    (1 more)\n"
	       "    4.76%   0.20 .. 55.10%                  2       5 ns  (2 more)\n");
}

/* Of the line above there are no intervals. */
static void shares_of_what_is_above(void **state)
{
	struct made *t = *state;

	fill(t);
	t->how.limits.shares = GUS_TREE_OF_PARENT;
	make_tree(t);
	prints(print_tree, t,
	       "#   total     self   samples       time  function\n"
	       "  100.00%    1.00%         5     100 ns  main\n"
	       "   54.00%   40.00%         2      54 ns    work\n"
	       "   25.93%   25.93%         1      14 ns      [k] do_syscall_64\n"
	       "   30.00%                  1      30 ns    qsort\n"
	       "           100.00%                         cmp;are\n"
	       "   15.00%   15.00%         1      15 ns    help\n");
}

/* Names shrink first, then columns leave, and a deep tree still has room for names. */
static void a_tree_fits_its_width(void **state)
{
	struct made *t = *state;

	fill(t);
	t->screen.width = 50;
	make_tree(t);
	prints(print_tree, t,
	       "#   total    self  function\n"
	       "  100.00%   1.00%  main\n"
	       "   54.00%  40.00%    work\n"
	       "   14.00%  14.00%      [k] do_syscall_64\n"
	       "   30.00%            qsort\n"
	       "           30.00%    cmp;are\n"
	       "   15.00%  15.00%    help\n");
}

/* Names that are longer than 40 cells shrink to that before a column leaves. */
static void names_shrink_before_columns_leave(void **state)
{
	struct made *t = *state;
	uint32_t at = 0;
	char *text;

	for (size_t i = 0; i < 30; i++) {
		at = made_path(t->m, at, i % 2 ? MAIN : WORK);
		made_sample(t->m, at, HELP, 1);
	}
	make_tree(t);
	t->screen.width = 92;
	text = printed(print_tree, &t->r);
	assert_string_equal(line_of(text, "total"), "#   total      95% interval   self  samples   time  function");
	free(text);
	t->screen.width = 91;
	text = printed(print_tree, &t->r);
	assert_string_equal(line_of(text, "total"), "#   total      95% interval   self   time  function");
	free(text);
}

/* What counts off the CPU are times, and these are measured: there is no interval. */
static void time_has_no_samples(void **state)
{
	struct made *t = *state;

	made_sample(t->m, 0, MAIN, 7);
	make_tree(t);
	t->m->profile.weighs = GUS_WEIGHS_OFF_CPU;
	prints(print_tree, t, "#   total     self     times       time  function\n"
	       "  100.00%  100.00%         1       7 ns  main\n");
	t->m->profile.weighs = GUS_WEIGHS_WALL;
	prints(print_tree, t, "#   total     self    counts       time  function\n"
	       "  100.00%  100.00%         1       7 ns  main\n");
}

/* An event that is no time has no column of times; what nothing weighs has no share. */
static void without_a_time(void **state)
{
	struct made *t = *state;

	t->m->event.unit = (char *)"instructions";
	fill(t);
	t->how.limits.depth = 1;
	make_tree(t);
	prints(print_tree, t,
	       "#   total     95% interval     self   samples       time  function\n"
	       "  100.00%  47.11 .. 100.00%    1.00%         5             main\n"
	       "   99.00%  46.18 .. 99.99%                  4               (3 more)\n");
}

/* In brackets what has no name, each once. */
static void names_say_what_they_are_of(void **state)
{
	struct made *t = *state;

	made_sample(t->m, 0, NAMELESS, 64);
	made_sample(t->m, 0, VDSO, 32);
	made_sample(t->m, 0, NOWHERE, 16);
	made_sample(t->m, 0, MAIN, 8)->end = GUS_CALLERS_STACK;
	made_sample(t->m, 0, NEST, 4);
	t->how.limits.shares = GUS_TREE_OF_PARENT;
	make_tree(t);
	prints(print_tree, t,
	       "#   total     self   samples       time  function\n"
	       "   51.61%   51.61%         1      64 ns  [app]\n"
	       "   25.81%   25.81%         1      32 ns  [vdso]\n"
	       "   12.90%   12.90%         1      16 ns  [unknown]\n"
	       "    6.45%                  1       8 ns  [truncated]\n"
	       "           100.00%                       main\n"
	       "    3.23%                  1       4 ns  nest\n"
	       "                                         middle (inlined)\n"
	       "           100.00%                       inner (inlined)\n");
}

/* From 5 % red, from 0.5 % green; what has no figure has no colour either. */
static void shares_have_colours(void **state)
{
	struct made *t = *state;
	char *text, *line;

	made_sample(t->m, 0, MAIN, 9500);
	made_sample(t->m, 0, WORK, 450);
	made_sample(t->m, made_path(t->m, 0, HELP), HELP, 50);
	t->screen.colour = true;
	make_tree(t);
	text = printed(print_tree, &t->r);
	line = strchr(text, '\n');
	assert_memory_equal(line, "\n   \033[31m95.00%\033[0m  ", 20);
	line = strchr(line + 1, '\n');
	assert_memory_equal(line, "\n    \033[32m4.50%\033[0m  ", 20);
	line = strchr(line + 1, '\n');
	assert_memory_equal(line, "\n    \033[32m0.50%\033[0m  ", 20);
	line = strchr(line + 1, '\n');
	assert_memory_equal(line, "\n             ", 14);
	free(text);
}

/* Trees of rows. */

/* All rows, each with its tree. */
static void print_rows(const void *report)
{
	const struct gus_report *r = report;
	static const struct gus_table_column column = { "function" };

	for (size_t i = 0; i < r->view->rows.n; i++) {
		const struct gus_row *row = &r->view->rows.v[i];
		const char *cell = row->function ? row->function : row->comm ? row->comm : "-";
		struct gus_table table;
		struct gus_tree tree;

		gus_table_begin(&table, r->screen, stdout, &column, 1);
		gus_table_row(&table, GUS_COLOUR_NONE, &cell);
		gus_trees_row(r->trees, i, &tree);
		gus_trees_text_lines(&table, r, &tree);
		gus_tree_free(&tree);
		gus_table_end(&table);
	}
}

static void rows_print(struct made *t, enum gus_by by, bool children, const char *want)
{
	char *text, *to;

	make_rows(t, by, children);
	text = printed(print_rows, &t->r);
	/* Without the titles. */
	for (char *at = to = text; *at; ) {
		size_t n = strcspn(at, "\n") + 1;

		if (*at != '#') {
			memmove(to, at, n);
			to += n;
		}
		at += n;
	}
	*to = '\0';
	assert_string_equal(text, want);
	free(text);
}

/* Of a function who called it, without itself; a thread's first function nobody. */
static void functions_have_their_callers(void **state)
{
	fill(*state);
	rows_print(*state, GUS_BY_FUNCTION, false,
		   "  work\n          40.00%  main\n"
		   "  cmp;are\n          30.00%  qsort\n                  main\n"
		   "  help\n          15.00%  main\n"
		   "  do_syscall_64\n          14.00%  work\n                  main\n"
		   "  main\n"
		   "  qsort\n");
}

/* From the outermost callers down to the row, which stands there as well. */
static void functions_have_ways_down_to_them(void **state)
{
	struct made *t = *state;

	fill(t);
	t->how.down = true;
	t->how.limits.least = 0.2;
	rows_print(t, GUS_BY_FUNCTION, false,
		   "  work\n          40.00%  main\n                  work\n"
		   "  cmp;are\n          30.00%  main\n                  qsort\n                  cmp;are\n"
		   "  help\n          15.00%  (1 more)\n"
		   "  do_syscall_64\n          14.00%  (1 more)\n"
		   "  main\n           1.00%  (1 more)\n"
		   "  qsort\n");
}

/* By what they take with all that they call: who calls them, and what they call. */
static void totals_have_trees_of_their_own(void **state)
{
	fill(*state);
	rows_print(*state, GUS_BY_FUNCTION, true,
		   "  work\n          54.00%  main\n"
		   "  cmp;are\n          30.00%  qsort\n                  main\n"
		   "  help\n          15.00%  main\n"
		   "  do_syscall_64\n          14.00%  work\n                  main\n"
		   "  main\n"
		   "  qsort\n          30.00%  main\n");
}

static void totals_have_what_they_call(void **state)
{
	struct made *t = *state;

	fill(t);
	t->how.down = true;
	rows_print(t, GUS_BY_FUNCTION, true,
		   "  work\n          14.00%  [k] do_syscall_64\n"
		   "  cmp;are\n  help\n  do_syscall_64\n"
		   "  main\n          54.00%  work\n          14.00%    [k] do_syscall_64\n"
		   "          30.00%  qsort\n                  cmp;are\n          15.00%  help\n"
		   "  qsort\n          30.00%  cmp;are\n");
}

/* main, work, help, work and compare: collapsed, compare is work's, and help is on no way to it. The 10 samples of help
 * itself are; so its row has 50 with all that it calls, and its tree 10. A threshold of nothing shows all of it. */
static void collapsed_recursion_leaves_ways_out(void **state)
{
	static const bool collapse[] = { false, true };
	static const uint64_t in_help[] = { 50, 10 };
	struct made *t = *state;
	uint32_t path = made_path(t->m, 0, MAIN), help;
	bool seen = false;

	path = made_path(t->m, path, WORK);
	made_sample(t->m, path, HELP, 10);
	help = made_path(t->m, path, HELP);
	made_sample(t->m, made_path(t->m, help, WORK), COMPARE, 40);
	t->how.down = true;
	t->how.limits.least = 0;
	gus_view_make(&t->view, &t->m->profile, GUS_BY_FUNCTION, true);
	for (size_t k = 0; k < 2; k++) {
		gus_calls_make(&t->m->calls, &t->m->profile, &(struct gus_calls_options){ true, collapse[k] });
		assert_int_equal(t->m->calls.collapsed, collapse[k]);
		t->r.trees = gus_trees_new(&t->m->calls, &t->view, &t->how, true);
		for (size_t i = 0; i < t->view.rows.n; i++) {
			const struct gus_row *row = &t->view.rows.v[i];
			bool is_help = strcmp(row->function, "help") == 0;
			struct gus_tree tree;

			seen |= is_help;
			gus_trees_row(t->r.trees, i, &tree);
			assert_int_equal(row->total, strcmp(row->function, "cmp;are") == 0 ? 40 : 50);
			assert_int_equal(tree.nodes.v[0].weight, is_help ? in_help[k] : row->total);
			gus_tree_free(&tree);
		}
		gus_trees_free(t->r.trees);
		t->r.trees = NULL;
		if (k == 0)
			gus_calls_free(&t->m->calls);
	}
	assert_true(seen);
}

/* What does not say in which function it is has that in its tree. */
static void tasks_have_trees_with_the_functions(void **state)
{
	struct made *t = *state;
	uint32_t in_main = made_path(t->m, 0, MAIN);

	made_sample(t->m, in_main, WORK, 3);
	made_sample(t->m, in_main, HELP, 1)->thread = 1;
	rows_print(t, GUS_BY_THREAD, false, "  app\n          75.00%  work\n                  main\n"
		   "  worker\n          25.00%  help\n                  main\n");
}

/* Who asks for what a thread takes with its callees means itself. */
static void tasks_call_nothing(void **state)
{
	struct made *t = *state;

	made_sample(t->m, made_path(t->m, 0, MAIN), WORK, 3);
	rows_print(t, GUS_BY_THREAD, true, "  app\n         100.00%  work\n                  main\n");
}

/* Two copies of an inlined function, and it alone, are one row; its totals are below all of them. */
static void inlined_copies_are_one_row(void **state)
{
	struct made *t = *state;

	made_sample(t->m, 0, NEST, 1);
	made_sample(t->m, made_path(t->m, 0, NEST), WORK, 3);
	t->how.down = true;
	rows_print(t, GUS_BY_FUNCTION, true, "  work\n"
		   "  inner\n          75.00%  work\n"
		   "  middle\n         100.00%  inner (inlined)\n          75.00%    work\n"
		   "  nest\n         100.00%  middle (inlined)\n                  inner (inlined)\n"
		   "          75.00%    work\n");
}

/* Code without a name is one function, and not one of those that have a name. */
static void nameless_code_is_a_row(void **state)
{
	struct made *t = *state;

	made_sample(t->m, made_path(t->m, 0, WORK), NAMELESS, 3);
	made_sample(t->m, made_path(t->m, 0, HELP), NAMELESS + 1, 1);
	rows_print(t, GUS_BY_FUNCTION, true, "  -\n          75.00%  work\n          25.00%  help\n"
		   "  work\n  help\n");
}

/* What is missing has no row. */
static void truncated_is_no_row(void **state)
{
	struct made *t = *state;

	made_sample(t->m, made_path(t->m, 0, MAIN), WORK, 1)->end = GUS_CALLERS_BAD;
	rows_print(t, GUS_BY_FUNCTION, true, "  work\n         100.00%  main\n                  [truncated]\n"
		   "  main\n         100.00%  [truncated]\n");
}

/* A line of a tree may be in for half of the width, and its name is shortened to the rest. */
static void lines_of_trees_fit_a_width(void **state)
{
	static const uint64_t calls[] = { MAIN, WORK, HELP, SORT };
	struct made *t = *state;
	uint32_t at = 0;
	char *text;

	for (size_t i = 0; i < 40; i++) {
		at = made_path(t->m, at, calls[i % 4]);
		made_sample(t->m, at, KERNEL, 1);
	}
	t->how.down = true;
	t->screen.width = 60;
	make_rows(t, GUS_BY_THREAD, false);
	text = printed(print_rows, &t->r);
	assert_string_equal(line_of(text, "[k]"),
			    "                                                [k] d..ll_64");
	free(text);
}

/* In rows that stand by their totals the hot ones are those whose total is hot. */
static void the_column_that_sorts_is_coloured(void **state)
{
	struct made *t = *state;
	char *text;

	fill(t);
	t->screen.colour = true;
	t->how.down = true;
	make_rows(t, GUS_BY_FUNCTION, true);
	text = printed(print_text, &t->r);
	assert_string_equal(line_of(text, " main"), "   1.00%   0.01 .. 53.82%  \033[31m100.00%\033[0m         1"
			    "       1 ns  app                   main");
	free(text);
	t->r.by_total = false;
	text = printed(print_text, &t->r);
	assert_string_equal(line_of(text, " main"), "   \033[32m1.00%\033[0m   0.01 .. 53.82%  100.00%         1"
			    "       1 ns  app                   main");
	free(text);
}

/* Trees for programs. */

/* A tree of all there is: a kernel's function in inlined ones, code without a name below what is missing, and what is
 * too light. */
static void fill_kinds(struct made *t)
{
	made_sample(t->m, 0, NEST, 40);
	made_sample(t->m, made_path(t->m, 0, NEST), KERNEL, 20);
	made_sample(t->m, 0, NAMELESS, 3)->end = GUS_CALLERS_FILE;
	made_sample(t->m, 0, WORK, 1);
	t->how.limits.least = 3.0 / 64;
	make_tree(t);
}

/* What is left out has one sample a node. */
static json_t *node(int depth, const char *kind, const char *module, const char *function, bool inlined, int samples,
		    int weight, int own_samples, int own, int nodes_left_out, int weight_left_out)
{
	return json_pack("{s:i, s:s, s:s?, s:s?, s:b, s:i, s:i, s:i, s:i, s:{s:i, s:i, s:i}}", "depth", depth,
			 "kind", kind, "module", module, "function", function, "inlined", inlined, "samples", samples,
			 "weight", weight, "own_samples", own_samples, "own", own, "omitted", "nodes", nodes_left_out,
			 "samples", nodes_left_out, "weight", weight_left_out);
}

static void nodes_are_objects(void **state)
{
	json_t *want = json_array(), *list;

	fill_kinds(*state);
	list = gus_trees_json(&((struct made *)*state)->r, &((struct made *)*state)->tree);
	json_array_append_new(want, node(0, "root", NULL, NULL, false, 4, 64, 0, 0, 1, 1));
	json_array_append_new(want, node(1, "user", "/opt/app", "nest", false, 2, 60, 0, 0, 0, 0));
	json_array_append_new(want, node(2, "user", "/opt/app", "middle", true, 2, 60, 0, 0, 0, 0));
	json_array_append_new(want, node(3, "user", "/opt/app", "inner", true, 2, 60, 1, 40, 0, 0));
	json_array_append_new(want, node(4, "kernel", "[kernel]", "do_syscall_64", false, 1, 20, 1, 20, 0, 0));
	json_array_append_new(want, node(1, "truncated", NULL, NULL, false, 1, 3, 0, 0, 0, 0));
	json_array_append_new(want, node(2, "user", "/opt/app", NULL, false, 1, 3, 1, 3, 0, 0));
	assert_true(json_equal(list, want));
	json_decref(list);
	json_decref(want);
}

/* Numbers lead from a line to its caller's. */
static void nodes_are_lines(void **state)
{
	fill_kinds(*state);
	prints(print_csv, *state,
	       "node,parent,depth,kind,module,function,inlined,samples,time_ns,weight,share,own_samples,own,"
	       "omitted_nodes,omitted_samples,omitted_weight\n"
	       "0,,0,root,,,0,4,64,64,1.000000,0,0,1,1,1\n"
	       "1,0,1,user,/opt/app,nest,0,2,60,60,0.937500,0,0,0,0,0\n"
	       "2,1,2,user,/opt/app,middle,1,2,60,60,0.937500,0,0,0,0,0\n"
	       "3,2,3,user,/opt/app,inner,1,2,60,60,0.937500,1,40,0,0,0\n"
	       "4,3,4,kernel,[kernel],do_syscall_64,0,1,20,20,0.312500,1,20,0,0,0\n"
	       "5,0,1,truncated,,,0,1,3,3,0.046875,0,0,0,0,0\n"
	       "6,5,2,user,/opt/app,,0,1,3,3,0.046875,1,3,0,0,0\n");
}

/* Rows. */

#define ROWS "module,build_id,function,file,line,offset,text,pid,tid,comm,samples,time_ns,cycles,weight,total,share," \
	"ci95_low,ci95_high,off_ns,waiting_ns,times_off,longest_off_ns\n"

static void rows_are_lines(void **state)
{
	struct made *t = *state;

	made_sample(t->m, made_path(t->m, 0, MAIN), WORK, 3);
	made_sample(t->m, 0, NAMELESS, 1);
	made_calls_add_up(t->m, true);
	t->r.units = gus_units_of(&t->m->profile);
	t->r.view = &t->view;
	gus_view_make(&t->view, &t->m->profile, GUS_BY_FUNCTION, true);
	prints(print_csv, t, ROWS
	       "/opt/app,,work,,,256,,,,,1,3,,3,3,0.750000,0.169138,0.977881,,,,\n"
	       "/opt/app,,,,,,,,,,1,1,,1,1,0.250000,0.022119,0.830862,,,,\n"
	       "/opt/app,,main,,,0,,,,,0,0,,0,3,0.000000,0.000000,0.705961,,,,\n");
	t->r.percent_limit = 30;
	prints(print_csv, t, ROWS
	       "/opt/app,,work,,,256,,,,,1,3,,3,3,0.750000,0.169138,0.977881,,,,\n"
	       "/opt/app,,main,,,0,,,,,0,0,,0,3,0.000000,0.000000,0.705961,,,,\n");
	t->r.graph = NULL;
	prints(print_csv, t, ROWS "/opt/app,,work,,,256,,,,,1,3,,3,,0.750000,0.169138,0.977881,,,,\n");
}

static void tasks_are_lines(void **state)
{
	struct made *t = *state;

	made_sample(t->m, 0, WORK, 3);
	made_sample(t->m, 0, MAIN, 1)->thread = 1;
	t->r.units = gus_units_of(&t->m->profile);
	t->r.view = &t->view;
	t->r.graph = NULL;
	gus_view_make(&t->view, &t->m->profile, GUS_BY_THREAD, true);
	prints(print_csv, t, ROWS
	       ",,,,,,,10,10,app,1,3,,3,,0.750000,0.169138,0.977881,,,,\n"
	       ",,,,,,,10,11,worker,1,1,,1,,0.250000,0.022119,0.830862,,,,\n");
	gus_view_free(&t->view);
	gus_view_make(&t->view, &t->m->profile, GUS_BY_PROCESS, true);
	prints(print_csv, t, ROWS ",,,,,,,10,,app,2,4,,4,,1.000000,0.294039,1.000000,,,,\n");
}

/* Of time there is what was off the CPU. */
static void times_are_lines(void **state)
{
	struct made *t = *state;

	made_sample(t->m, 0, WORK, 30)->off = (struct gus_off){ .ns = 20, .waiting = 5, .times = 2, .longest = 15 };
	t->m->profile.weighs = GUS_WEIGHS_WALL;
	t->r.units = gus_units_of(&t->m->profile);
	t->r.view = &t->view;
	t->r.graph = NULL;
	gus_view_make(&t->view, &t->m->profile, GUS_BY_MODULE, true);
	prints(print_csv, t, ROWS "/opt/app,,,,,,,,,,1,30,,30,,1.000000,0.676037,1.000000,20,5,2,15\n");
}

static void nothing_is_a_root_in_lines(void **state)
{
	struct made *t = *state;

	t->m->event.unit = (char *)"instructions"; /* which is no time */
	make_tree(t);
	prints(print_csv, t,
	       "node,parent,depth,kind,module,function,inlined,samples,time_ns,weight,share,own_samples,own,"
	       "omitted_nodes,omitted_samples,omitted_weight\n"
	       "0,,0,root,,,0,0,,0,0.000000,0,0,0,0,0\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_say_what_is_wanted),
		cmocka_unit_test(other_words_are_refused),
		cmocka_unit_test(what_is_no_name_of_a_file),
		TEST(a_tree_has_its_figures),
		TEST(what_is_left_out_stands_last),
		TEST(shares_of_what_is_above),
		TEST(a_tree_fits_its_width),
		TEST(time_has_no_samples),
		TEST(without_a_time),
		TEST(names_say_what_they_are_of),
		TEST(shares_have_colours),
		TEST(functions_have_their_callers),
		TEST(functions_have_ways_down_to_them),
		TEST(totals_have_trees_of_their_own),
		TEST(totals_have_what_they_call),
		TEST(collapsed_recursion_leaves_ways_out),
		TEST(tasks_have_trees_with_the_functions),
		TEST(tasks_call_nothing),
		TEST(inlined_copies_are_one_row),
		TEST(names_shrink_before_columns_leave),
		TEST(nameless_code_is_a_row),
		TEST(truncated_is_no_row),
		TEST(lines_of_trees_fit_a_width),
		TEST(the_column_that_sorts_is_coloured),
		TEST(nodes_are_objects),
		TEST(nodes_are_lines),
		TEST(rows_are_lines),
		TEST(tasks_are_lines),
		TEST(times_are_lines),
		TEST(nothing_is_a_root_in_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
