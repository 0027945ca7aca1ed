/* SPDX-License-Identifier: MIT */
/* cli/report/text: the report as people read it, of rows that are written down. How columns stand below each other is
 * test_screen's matter: blanks are compared as one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/report/render.h"
#include "cli/report/trees.h"
#include "cli/screen/screen.h"
#include "made_calls.h"
#include "printed.h"

struct made {
	struct made_calls *m;
	struct gus_report r;
	struct gus_trees_how how;
	struct gus_screen screen;
	struct gus_view view;
	uint32_t app, odd;      /* modules: /opt/app and /opt/odd/ */
};

/* A profile of 1,000 ns of cpu-clock in 20 samples, whose rows the cases write. */
static int setup(void **state)
{
	struct made *t = gus_zalloc(sizeof(*t));
	struct gus_profile *p;

	t->m = made_calls_new();
	p = &t->m->profile;
	t->app = made_sample(t->m, 0, MAIN, 0)->place.module;
	t->odd = made_sample(t->m, 0, ODD, 0)->place.module;
	p->samples = 20;
	p->weight = 1000;
	t->screen.dots = "..";
	t->view.by = GUS_BY_FUNCTION;
	t->how.kind = GUS_TREES_ROWS;
	t->r = (struct gus_report){ .profile = p, .view = &t->view, .screen = &t->screen,
		.units = gus_units_of(p) };
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct made *t = *state;

	gus_view_free(&t->view);
	made_calls_free(t->m);
	free(t);
	return 0;
}

/* A row of the program, of so much of the thousand; the fields that a case is about it sets itself. */
static struct gus_row *add_row(struct made *t, const char *function, uint64_t weight)
{
	const double share = (double)weight / 1000;

	gus_vec_push(&t->view.rows, (struct gus_row){ .module = t->app, .function = function, .weight = weight,
		.total = weight, .samples = weight / 50, .share = share,
		.ci95 = { share / 2, share + (1 - share) / 2 } });
	return &t->view.rows.v[t->view.rows.n - 1];
}

static void print_text(const void *report)
{
	gus_render_text(report);
}

/* What is printed, with one blank for many and none at the ends of lines; of it what is behind the head, or all. */
static char *squeezed(struct made *t, bool all)
{
	char *text = printed(print_text, &t->r), *to = text, *begin;

	for (const char *at = text; *at; at++)
		if (*at != ' ' || (to > text && to[-1] != ' ' && to[-1] != '\n' && at[1] != '\n'))
			*to++ = *at;
	*to = '\0';
	begin = strstr(text, "#\n");
	if (!all && begin)
		memmove(text, begin + 2, strlen(begin + 2) + 1);
	return text;
}

static void prints(struct made *t, const char *want)
{
	char *text = squeezed(t, false);

	assert_string_equal(text, want);
	free(text);
}

static void says(struct made *t, const char *line, bool does)
{
	char *text = squeezed(t, true);

	if ((strstr(text, line) != NULL) != does)
		fail_msg("\"%s\" is %sin\n%s", line, does ? "not " : "", text);
	free(text);
}

static void by_function(void **state)
{
	struct made *t = *state;

	t->view.by = GUS_BY_FUNCTION;
	add_row(t, "work", 600);
	add_row(t, NULL, 400)->module = t->odd;
	prints(t, "# share 95% interval samples time module function\n"
	       "60.00% 30.00 .. 80.00% 12 600 ns app work\n"
	       "40.00% 20.00 .. 70.00% 8 400 ns /opt/odd/ [unknown]\n"); /* what ends in a slash has no last name */
	t->view.rows.v[1].module = t->app;
	t->m->event.unit = (char *)"instructions"; /* which are no time */
	t->r.units = gus_units_of(t->r.profile);
	t->r.graph = &t->how;
	t->view.rows.v[0].total = 1000;
	prints(t, "# share 95% interval total samples module function\n"
	       "60.00% 30.00 .. 80.00% 100.00% 12 app work\n"
	       "40.00% 20.00 .. 70.00% 40.00% 8 app [unknown]\n");
}

static void by_module_line_and_instruction(void **state)
{
	struct made *t = *state;
	struct gus_row *row = add_row(t, "work", 1000);

	row->ci95 = (struct gus_interval){ 0.5, 1 };
	row->file = "/src/far/file.c";
	row->line = 77;
	row->offset = 0x1a0;
	t->view.by = GUS_BY_MODULE;
	prints(t, "# share 95% interval samples time module\n"
	       "100.00% 50.00 .. 100.00% 20 1.0 us /opt/app\n");
	t->view.by = GUS_BY_LINE;
	prints(t, "# share 95% interval samples time module line function\n"
	       "100.00% 50.00 .. 100.00% 20 1.0 us app file.c:77 work\n");
	t->view.by = GUS_BY_INSTRUCTION; /* its code is nowhere */
	prints(t, "# share 95% interval samples time module offset instruction line function\n"
	       "100.00% 50.00 .. 100.00% 20 1.0 us app 1a0 file.c:77 work\n");
	row->file = NULL;
	prints(t, "# share 95% interval samples time module offset instruction line function\n"
	       "100.00% 50.00 .. 100.00% 20 1.0 us app 1a0 work\n");
}

static void by_task(void **state)
{
	static const struct { enum gus_by by; const char *prints; } cases[] = {
		{ GUS_BY_THREAD, "# share 95% interval samples time name pid/tid\n"
		  "70.00% 35.00 .. 85.00% 14 700 ns worker 10/11\n"
		  "30.00% 15.00 .. 65.00% 6 300 ns [unnamed] 20/20\n" },
		{ GUS_BY_PROCESS, "# share 95% interval samples time name pid\n"
		  "70.00% 35.00 .. 85.00% 14 700 ns worker 10\n"
		  "30.00% 15.00 .. 65.00% 6 300 ns [unnamed] 20\n" },
		{ GUS_BY_COMM, "# share 95% interval samples time name\n"
		  "70.00% 35.00 .. 85.00% 14 700 ns worker\n30.00% 15.00 .. 65.00% 6 300 ns [unnamed]\n" },
	};
	struct made *t = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct gus_row *row = add_row(t, NULL, i ? 300 : 700);

		row->module = GUS_INDEX_NONE;
		row->comm = i ? "" : "worker";
		row->pid = i ? 20 : 10;
		row->tid = i ? 20 : 11;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		t->view.by = cases[i].by;
		prints(t, cases[i].prints);
	}
}

/* Off the CPU times are measured: there are no samples and no interval. A row of wall time says how much of it is
 * which; one that never left the CPU has no mean. */
static void of_time(void **state)
{
	struct made *t = *state;
	struct gus_row *row = add_row(t, "wait", 800);

	row->off = (struct gus_off){ .ns = 500, .waiting = 120, .longest = 300, .times = 4 };
	add_row(t, "run", 200);
	t->r.profile->weighs = GUS_WEIGHS_WALL;
	prints(t, "# share time on CPU off CPU for a CPU times module function\n"
	       "80.00% 800 ns 300 ns 500 ns 120 ns 4 app wait\n"
	       "20.00% 200 ns 200 ns 0 ns 0 ns 0 app run\n");
	t->r.profile->weighs = GUS_WEIGHS_OFF_CPU;
	prints(t, "# share time for a CPU times mean longest module function\n"
	       "80.00% 800 ns 120 ns 4 125 ns 300 ns app wait\n"
	       "20.00% 200 ns 0 ns 0 app run\n");
}

/* The heaviest five of each, and how much of all they are. */
static void who_calls_and_is_called(void **state)
{
	struct made *t = *state;

	for (unsigned i = 0; i < 8; i++)
		add_row(t, (const char *[]){ "a", "b", "c", NULL, "e", "f", "g", "h" }[i], i ? 100 : 300);
	for (uint32_t i = 1; i < 7; i++) {
		gus_vec_push(&t->view.by_callee, (struct gus_edge){ .from = i, .to = 0, .weight = 70 - 10 * i });
		gus_vec_push(&t->view.by_caller, (struct gus_edge){ .from = 7, .to = i, .weight = 7 - i });
	}
	t->r.graph = &t->how;
	t->r.percent_limit = 20; /* the first row alone */
	prints(t, "# share 95% interval total samples time module function\n"
	       "30.00% 15.00 .. 65.00% 30.00% 6 300 ns app a\n"
	       "6.00% called by b\n5.00% called by c\n4.00% called by [unknown]\n3.00% called by e\n"
	       "2.00% called by f\n"
	       "# 7 rows below the limit are left out, together 70.00%\n");
	memmove(t->view.rows.v, t->view.rows.v + 7, sizeof(*t->view.rows.v)); /* what calls them is the first now */
	t->view.rows.v[0].weight = t->view.rows.v[0].total = 300;
	for (size_t i = 0; i < 6; i++)
		t->view.by_caller.v[i].from = 0;
	t->view.by_callee.n = 0;
	says(t, "h\n0.60% calls b\n0.50% calls c\n0.40% calls [unknown]\n0.30% calls e\n0.20% calls f\n#", true);
	t->how.kind = GUS_TREES_EACH; /* trees, of which there are none */
	says(t, " calls ", false);
	t->how.kind = GUS_TREES_ROWS;
	t->view.by = GUS_BY_MODULE;
	says(t, " calls ", false);
	t->view.by = GUS_BY_FUNCTION;
	t->r.graph = NULL;
	says(t, " calls ", false);
}

/* A row at the limit is shown, and with a graph what it calls counts. */
static void what_is_below_the_limit(void **state)
{
	struct made *t = *state;

	add_row(t, "large", 900);
	add_row(t, "at", 60);
	add_row(t, "below", 30)->total = 500;
	add_row(t, "far", 10);
	says(t, "left out", false);
	t->r.percent_limit = 6;
	prints(t, "# share 95% interval samples time module function\n90.00% 45.00 .. 95.00% 18 900 ns app large\n"
	       "6.00% 3.00 .. 53.00% 1 60 ns app at\n# 2 rows below the limit are left out, together 4.00%\n");
	t->r.graph = &t->how;
	says(t, "\n# 1 rows below the limit are left out, together 1.00%\n", true);
	says(t, "app below\n", true);
}

/* Why there are no rows; time counts also where nothing was sampled. */
static void nothing_to_show(void **state)
{
	struct made *t = *state;
	struct gus_profile *p = t->r.profile;

	p->samples = 0;
	says(t, "no samples", false);
	p->weight = 0;
	says(t, "# no samples were taken: the program was too short, or it did not run", true);
	says(t, "share", false);
	p->filtered = 7;
	says(t, "# no samples are left\n", true);
	p->filtered = 0;
	p->samples = 20;
	says(t, "no samples", false);
}

static void what_stands_before_the_rows(void **state)
{
	struct made *t = *state;
	struct gus_profile *p = t->r.profile;

	add_row(t, "work", 1000);
	says(t, "# 20 samples of cpu-clock, 1.0 us of CPU time", true);
	says(t, "left out by the options", false);
	says(t, "WARNING", false);
	p->filtered = 3;
	p->lost = 2;
	says(t, "\n# 3 more samples were left out by the options\n", true);
	says(t, "\n# WARNING: the kernel dropped 2 records", true);
	p->weighs = GUS_WEIGHS_WALL;
	says(t, "\n# 3 more samples and times off the CPU were left out by the options\n", true);
}

/* The column that rows stand by has their colour: red from 5 %, green from 0.5 %. */
static void what_is_coloured(void **state)
{
	struct made *t = *state;
	char *text;

	add_row(t, "work", 40)->total = 400;
	t->screen.colour = true;
	t->r.graph = &t->how;
	text = squeezed(t, false);
	assert_non_null(strstr(text, "\033[32m4.00%\033[0m"));
	assert_null(strstr(text, "\033[31m"));
	free(text);
	t->r.by_total = true;
	text = squeezed(t, false);
	assert_non_null(strstr(text, "\033[31m40.00%\033[0m"));
	assert_null(strstr(text, "\033[32m"));
	free(text);
	t->r.graph = NULL; /* no totals, so the share */
	says(t, "\033[32m4.00%\033[0m", true);
}

/* The narrower the screen, the fewer columns, in the order in which they leave; lines that were asked for stay. */
static void columns_leave_in_their_order(void **state)
{
	static const struct { enum gus_by by; const char *titles[8]; } cases[] = {
		{ GUS_BY_FUNCTION, { "share 95% interval total samples time module function",
			"share 95% interval total time module function", "share 95% interval total module function",
			"share total module function" } },
		{ GUS_BY_INSTRUCTION, { "share 95% interval total samples time module offset instruction line function",
			"share 95% interval total time module offset instruction line function",
			"share 95% interval total module offset instruction line function",
			"share 95% interval total module offset instruction function",
			"share total module offset instruction function" } },
		{ GUS_BY_LINE, { "share 95% interval total samples time module line function",
			"share 95% interval total time module line function",
			"share 95% interval total module line function", "share total module line function" } },
		{ GUS_BY_COMM, { "share total time on CPU off CPU for a CPU times name",
			"share total on CPU off CPU for a CPU times name", "share total on CPU off CPU for a CPU name",
			"share total on CPU off CPU name" } },
		{ GUS_BY_PROCESS, { "share total time for a CPU times mean longest name pid",
			"share total time for a CPU times longest name pid",
			"share total for a CPU times longest name pid", "share total for a CPU times name pid",
			"share total for a CPU name pid", "share total name pid" } },
	};
	struct made *t = *state;
	struct gus_row *row = add_row(t, "a_function_whose_name_is_much_longer_than_any_column", 500);

	row->file = "/src/a_file_whose_name_is_long.c";
	row->line = 12345;
	row->comm = "a_thread_whose_name_is_longer_than_the_kernel_has";
	t->r.graph = &t->how;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t left = 0;

		t->view.by = cases[i].by;
		t->r.profile->weighs = cases[i].by == GUS_BY_COMM ? GUS_WEIGHS_WALL :
			cases[i].by == GUS_BY_PROCESS ? GUS_WEIGHS_OFF_CPU : GUS_WEIGHS_EVENTS;
		for (t->screen.width = 140; t->screen.width >= GUS_SCREEN_LEAST; t->screen.width--) {
			char *text = squeezed(t, false);

			text[strcspn(text, "\n")] = '\0';
			if (strcmp(text + 2, cases[i].titles[left]) != 0 &&
			    (!cases[i].titles[++left] || strcmp(text + 2, cases[i].titles[left]) != 0))
				fail_msg("%zu cells: %s", t->screen.width, text);
			free(text);
		}
		assert_null(cases[i].titles[left + 1]);
	}
}

/* Before any column leaves, names shrink to what is comfortable: a function's the more there is to say beside it. */
static void names_shrink_first(void **state)
{
	static const struct { enum gus_by by; size_t cells; } cases[] = {
		{ GUS_BY_FUNCTION, 32 }, { GUS_BY_LINE, 24 }, { GUS_BY_INSTRUCTION, 16 },
	};
	struct made *t = *state;

	add_row(t, "a_function_whose_name_is_much_longer_than_any_column", 500);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t shown = 0;

		t->view.by = cases[i].by;
		for (size_t width = 140; width >= GUS_SCREEN_LEAST; width--) {
			char *text;

			t->screen.width = width;
			text = squeezed(t, false);
			text[strlen(text) - 1] = '\0';
			if (strstr(text, " samples ")) /* no column has left */
				shown = strlen(strrchr(text, ' ') + 1);
			free(text);
		}
		assert_int_equal(shown, cases[i].cells);
	}
}

/* Half a nanosecond for one of weight: what is rounded is the sum, so that rows add up to the whole. */
static void times_add_up(void **state)
{
	struct made *t = *state;

	t->r.units.time.factor = 0.5;
	add_row(t, "a", 3);
	add_row(t, "b", 3);
	says(t, " 2 ns app a\n", true);
	says(t, " 1 ns app b\n", true);
}

/* Without a limit columns stand below each other whatever rows there are: as wide as the most that they mostly have. */
static void columns_stand_below_each_other(void **state)
{
	static const struct { enum gus_weighs weighs; enum gus_by by; const char *prints; } cases[] = {
		{ GUS_WEIGHS_EVENTS, GUS_BY_INSTRUCTION,
		  "#  share     95% interval    total   samples       time  module                  offset  "
		  "instruction                               line              function\n"
		  "   4.00%   2.00 .. 52.00%    4.00%         0      40 ns  app                          0  "
		  "                                          f.c:9             f\n" },
		{ GUS_WEIGHS_WALL, GUS_BY_THREAD,
		  "#  share    total       time     on CPU    off CPU  for a CPU    times  name              pid/tid\n"
		  "   4.00%    4.00%      40 ns      33 ns       7 ns       0 ns        1  w                 3/4\n" },
		{ GUS_WEIGHS_OFF_CPU, GUS_BY_MODULE,
		  "#  share    total       time  for a CPU    times       mean    longest  module\n"
		  "   4.00%    4.00%      40 ns       0 ns        1       7 ns       7 ns  /opt/app\n" },
	};
	struct made *t = *state;
	struct gus_row *row = add_row(t, "f", 40);

	row->file = "f.c";
	row->line = 9;
	row->comm = "w";
	row->pid = 3;
	row->tid = 4;
	row->off = (struct gus_off){ .ns = 7, .longest = 7, .times = 1 };
	t->r.graph = &t->how;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text;

		t->r.profile->weighs = cases[i].weighs;
		t->view.by = cases[i].by;
		text = printed(print_text, &t->r);
		assert_string_equal(strstr(text, "#\n") + 2, cases[i].prints);
		free(text);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(by_function), CASE(by_module_line_and_instruction), CASE(by_task), CASE(of_time),
		CASE(who_calls_and_is_called), CASE(what_is_below_the_limit), CASE(nothing_to_show),
		CASE(what_stands_before_the_rows), CASE(what_is_coloured), CASE(columns_leave_in_their_order),
		CASE(names_shrink_first), CASE(times_add_up),
		CASE(columns_stand_below_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
