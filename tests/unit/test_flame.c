/* SPDX-License-Identifier: MIT */
/* cli/report/flame_tree and flame: the stacks of a made profile as nodes in the order of names, and the page's data as
 * a parser of JSON reads them. Trees are compared as text: a line a node, indented by its depth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "cli/report/flame.h"
#include "cli/report/flame_tree.h"
#include "made_calls.h"

static int setup(void **state)
{
	*state = made_calls_new();
	return 0;
}

static int teardown(void **state)
{
	made_calls_free(*state);
	return 0;
}

/* main works and sorts; of weights and samples each node has what is in itself. */
static void fill(struct made_calls *m)
{
	uint32_t in_main = made_path(m, 0, MAIN), in_sort = made_path(m, in_main, SORT);

	made_sample(m, in_main, WORK, 1);
	made_sample(m, 0, MAIN + 4, 2);
	made_sample(m, in_sort, COMPARE, 4);
	made_sample(m, in_main, WORK + 8, 8)->samples = 3;
	m->profile.samples += 2;
	made_sample(m, in_main, SORT, 16);
}

static void tree_reads(struct made_calls *m, enum gus_by by, bool inlines, const char *want)
{
	static const char kinds[] = "PLKJIUT"; /* by enum gus_flame_kind */
	struct gus_flame_tree t;
	char text[2048] = "";
	size_t used = 0;

	gus_flame_tree_make(&t, &m->profile, by, inlines);
	for (size_t i = 0; i < t.nodes.n; i++) {
		const struct gus_flame_node *n = &t.nodes.v[i];
		const struct gus_flame_frame *f = &t.frames.v[n->frame];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%*s%s %c %u %u\n", (int)n->depth - 1, "",
					 gus_strings_get(&t.strings, f->name), kinds[f->kind], (unsigned)n->weight,
					 (unsigned)n->samples);
	}
	for (size_t i = 1; i < t.frames.n; i++) /* by name, module, kind: no two are equal */
		assert_true(strcmp(gus_strings_get(&t.strings, t.frames.v[i - 1].name),
				   gus_strings_get(&t.strings, t.frames.v[i].name)) < 0 ||
			    t.frames.v[i - 1].module != t.frames.v[i].module ||
			    t.frames.v[i - 1].kind < t.frames.v[i].kind);
	gus_flame_tree_free(&t);
	assert_string_equal(text, want);
}

static void nothing_has_no_nodes(void **state)
{
	tree_reads(*state, GUS_BY_FUNCTION, true, "");
}

static void callees_stand_behind_callers_by_name(void **state)
{
	fill(*state);
	tree_reads(*state, GUS_BY_FUNCTION, true, "main P 2 1\n qsort L 16 1\n  cmp;are L 4 1\n work P 9 4\n");
}

/* By how they come, names are the other way round. */
static void the_order_is_not_that_of_samples(void **state)
{
	struct made_calls *m = *state;

	made_sample(m, 0, WORK, 1);
	made_sample(m, made_path(m, 0, WORK), WORK, 2);
	made_sample(m, 0, MAIN, 4);
	made_sample(m, 0, HELP, 8);
	tree_reads(m, GUS_BY_FUNCTION, true, "help P 8 1\nmain P 4 1\nwork P 1 1\n work P 2 1\n");
}

/* The same function below itself, below another one, and alone are three nodes of one frame. */
static void a_function_has_a_node_below_each_caller(void **state)
{
	struct made_calls *m = *state;
	uint32_t in_work = made_path(m, 0, WORK), again = made_path(m, in_work, WORK + 1);

	made_sample(m, in_work, WORK, 1);
	made_sample(m, again, WORK, 2);
	made_sample(m, made_path(m, 0, MAIN), WORK, 4);
	tree_reads(m, GUS_BY_FUNCTION, true, "main P 0 0\n work P 4 1\nwork P 0 0\n work P 1 1\n  work P 2 1\n");
}

static void kinds_are_those_of_modules(void **state)
{
	struct made_calls *m = *state;

	made_sample(m, 0, MAIN, 1);
	made_sample(m, 0, SORT, 2);
	made_sample(m, 0, KERNEL, 4);
	made_sample(m, 0, NOWHERE, 8);
	made_sample(m, 0, VDSO, 16);
	made_sample(m, 0, NAMELESS, 32);
	tree_reads(m, GUS_BY_FUNCTION, true, "[app] P 32 1\n[unknown] U 8 1\n[vdso] L 16 1\n"
		   "do_syscall_64 K 4 1\nmain P 1 1\nqsort L 2 1\n");
}

/* Of one name in two files the file decides; what ends in a slash has no other name. */
static void files_decide_between_equal_names(void **state)
{
	struct made_calls *m = *state;

	made_sample(m, 0, SORT, 1);
	made_sample(m, 0, OTHER_SORT, 2);
	made_sample(m, 0, ODD, 4);
	tree_reads(m, GUS_BY_FUNCTION, true, "[/opt/odd/] P 4 1\nqsort L 2 1\nqsort L 1 1\n");
}

static void inlined_functions_are_frames_if_wanted(void **state)
{
	struct made_calls *m = *state;

	made_sample(m, 0, NEST, 1);
	tree_reads(m, GUS_BY_FUNCTION, true, "nest P 0 0\n middle I 0 0\n  inner I 1 1\n");
	tree_reads(m, GUS_BY_FUNCTION, false, "nest P 1 1\n");
}

static void stacks_without_an_end_stand_on_one(void **state)
{
	struct made_calls *m = *state;
	uint32_t in_main = made_path(m, 0, MAIN);

	made_sample(m, in_main, WORK, 1);
	made_sample(m, in_main, WORK, 2)->end = GUS_CALLERS_STACK;
	tree_reads(m, GUS_BY_FUNCTION, true, "[truncated] U 0 0\n main P 0 0\n  work P 2 1\nmain P 0 0\n work P 1 1\n");
}

/* Of a thread its last name, of a process that of its first thread, of a name that of then. */
static void tasks_stand_below_their_stacks(void **state)
{
	struct made_calls *m = *state;
	uint32_t in_main = made_path(m, 0, MAIN);
	struct gus_cell *c;

	made_sample(m, in_main, WORK, 1);
	c = made_sample(m, in_main, WORK, 2);
	c->thread = c->comm = 1;
	c = made_sample(m, in_main, HELP, 4);
	c->thread = 1; /* which was called "app" then */
	tree_reads(m, GUS_BY_THREAD, true, "app 10/10 T 0 0\n main P 0 0\n  work P 1 1\n"
		   "worker 10/11 T 0 0\n main P 0 0\n  help P 4 1\n  work P 2 1\n");
	tree_reads(m, GUS_BY_PROCESS, true, "app 10 T 0 0\n main P 0 0\n  help P 4 1\n  work P 3 2\n");
	m->profile.threads.v[0].comm = m->profile.threads.v[1].comm = "later";
	tree_reads(m, GUS_BY_COMM, true, "app T 0 0\n main P 0 0\n  help P 4 1\n  work P 1 1\n"
		   "worker T 0 0\n main P 0 0\n  work P 2 1\n");
	m->profile.threads.v[0].comm = "";
	tree_reads(m, GUS_BY_PROCESS, true, "[unnamed] 10 T 0 0\n main P 0 0\n  help P 4 1\n  work P 3 2\n");
	m->profile.threads.v[0].tid = 9; /* the first thread had no sample, and the recording does not name it either */
	m->profile.threads.v[0].comm = "app";
	tree_reads(m, GUS_BY_PROCESS, true, "[unnamed] 10 T 0 0\n main P 0 0\n  help P 4 1\n  work P 3 2\n");
}

/* The page's data; the caller frees them. */
static json_t *page(struct made_calls *m)
{
	struct gus_report r = { .path = "gusprof.data", .profile = &m->profile, .units = gus_units_of(&m->profile),
				.length_ns = 5000 };
	const char *begin, *end;
	json_t *data;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	gus_flame_print(&r, GUS_BY_FUNCTION, true, out);
	fclose(out);
	assert_memory_equal(text, "<!DOCTYPE html>", 15);
	assert_string_equal(text + size - 8, "</html>\n");
	begin = strstr(text, "id=\"data\">");
	assert_non_null(begin);
	begin += 10;
	end = strstr(begin, "</script>");
	data = json_loadb(begin, (size_t)(end - begin), 0, NULL);
	assert_non_null(data);
	free(text);
	return data;
}

static const char *fact(json_t *data, const char *what)
{
	json_t *facts = json_object_get(data, "facts");

	for (size_t i = 0; i < json_array_size(facts); i++)
		if (strcmp(json_string_value(json_array_get(json_array_get(facts, i), 0)), what) == 0)
			return json_string_value(json_array_get(json_array_get(facts, i), 1));
	return "none";
}

static const char *at(json_t *data, const char *list, size_t i)
{
	const char *value = json_string_value(json_array_get(json_object_get(data, list), i));

	return value ? value : "none";
}

static void the_page_has_all_nodes(void **state)
{
	/* frame, levels up from the node before, own weight and samples; frames are cmp;are, main, qsort, work */
	static const int want[] = { 1, 0, 2, 1, 2, 0, 16, 1, 0, 0, 4, 1, 3, 2, 9, 4 };
	struct made_calls *m = *state;
	json_t *data, *nodes, *frames;

	fill(m);
	data = page(m);
	nodes = json_object_get(data, "nodes");
	frames = json_object_get(data, "frames");
	assert_int_equal(json_array_size(nodes), 16);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(json_integer_value(json_array_get(nodes, i)), want[i]);
	assert_int_equal(json_array_size(frames), 12);
	assert_string_equal(at(data, "strings", (size_t)json_integer_value(json_array_get(frames, 3))), "main");
	assert_string_equal(at(data, "strings", (size_t)json_integer_value(json_array_get(frames, 4))), "/opt/app");
	assert_int_equal(json_integer_value(json_array_get(frames, 5)), GUS_FLAME_PROGRAM);
	json_decref(data);
}

static void facts_are_told(void **state)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Overhead cost = GUSPROF__OVERHEAD__INIT;
	struct made_calls *m = *state;
	json_t *data;

	fill(m);
	m->profile.lost = 7;
	data = page(m);
	assert_string_equal(fact(data, "samples"), "7");
	assert_string_equal(fact(data, "time of samples"), "31 ns");
	assert_string_equal(fact(data, "recorded for"), "5.0 us");
	assert_string_equal(fact(data, "event"), "cpu-clock");
	assert_string_equal(fact(data, "lost"), "7");
	assert_string_equal(fact(data, "left out by options"), "none");
	assert_string_equal(fact(data, "host"), "none");
	assert_string_equal(fact(data, "recording"), "gusprof.data");
	assert_string_equal(json_string_value(json_object_get(data, "unit")), "ns");
	assert_true(json_number_value(json_object_get(data, "nsPerWeight")) > 0.999);
	assert_string_equal(at(data, "counted", 0), "sample");
	assert_string_equal(at(data, "counted", 1), "samples");
	assert_string_equal(json_string_value(json_object_get(data, "whole")), "");
	assert_string_equal(fact(data, "cost, percent"), "none");
	json_decref(data);
	m->profile.filtered = 3;
	footer.overhead = &cost;
	cost.got_ppm = 12345;
	cost.target_ns = 1000;
	m->profile.footer = &footer;
	data = page(m);
	assert_string_equal(fact(data, "cost, percent"), "1.23");
	json_decref(data);
	cost.got_ppm = 1000000;
	data = page(m);
	assert_string_equal(fact(data, "cost, percent"), "100.00");
	json_decref(data);
	cost.got_ppm = 1000001; /* more than all is no share */
	data = page(m);
	assert_string_equal(fact(data, "cost, percent"), "none");
	assert_string_equal(fact(data, "left out by options"), "3");
	json_decref(data);
}

/* An event that is no time has its own unit. */
static void a_count_is_no_time(void **state)
{
	struct made_calls *m = *state;
	json_t *data;

	fill(m);
	m->event.name = (char *)"instructions";
	m->event.unit = (char *)"instructions";
	data = page(m);
	assert_string_equal(json_string_value(json_object_get(data, "unit")), "instructions");
	assert_true(json_is_null(json_object_get(data, "nsPerWeight")));
	assert_string_equal(fact(data, "time of samples"), "none");
	json_decref(data);
}

/* Of an event that the recording does not describe nothing is known. */
static void an_unknown_event_has_no_unit(void **state)
{
	struct made_calls *m = *state;
	json_t *data;

	fill(m);
	m->profile.event = 1;
	data = page(m);
	assert_string_equal(json_string_value(json_object_get(data, "unit")), "");
	assert_string_equal(fact(data, "event"), "none");
	json_decref(data);
}

/* What is counted off the CPU are no samples, and whatever the event's unit is, a weight is time. */
static void time_is_counted_in_times(void **state)
{
	static const struct { enum gus_weighs weighs; const char *one, *many, *weight, *nothing; } of[] = {
		{ GUS_WEIGHS_OFF_CPU, "time off the CPU", "times off the CPU", "all time off the CPU",
		  "There is no time off the CPU to show." },
		{ GUS_WEIGHS_WALL, "sample or time off the CPU", "samples and times off the CPU", "all time",
		  "There is no time to show." },
	};
	struct made_calls *m = *state;
	json_t *data;

	m->event.unit = (char *)"cycles";
	for (size_t i = 0; i < 2; i++) {
		m->profile.weighs = of[i].weighs;
		data = page(m);
		assert_string_equal(at(data, "notices", 0), of[i].nothing);
		json_decref(data);
	}
	made_sample(m, made_path(m, 0, MAIN), WORK, 1)->samples = 0; /* weighs something, and was not counted */
	m->profile.samples = 0;
	data = page(m);
	assert_int_equal(json_array_size(json_object_get(data, "notices")), 1); /* that there are no switches */
	json_decref(data);
	m->profile.weight = m->profile.cells.n = 0;
	fill(m);
	for (size_t i = 0; i < 2; i++) {
		m->profile.weighs = of[i].weighs;
		data = page(m);
		assert_string_equal(at(data, "counted", 0), of[i].one);
		assert_string_equal(at(data, "counted", 1), of[i].many);
		assert_string_equal(fact(data, of[i].many), "7");
		assert_string_equal(fact(data, of[i].weight), "31 ns");
		assert_string_equal(fact(data, "samples"), "none");
		assert_string_equal(json_string_value(json_object_get(data, "unit")), "ns");
		assert_true(json_number_value(json_object_get(data, "nsPerWeight")) > 0.999);
		json_decref(data);
	}
}

/* Of the weight of which it is known. */
static void what_is_whole_is_told(void **state)
{
	struct made_calls *m = *state;
	uint32_t in_main = made_path(m, 0, MAIN);
	json_t *data;

	made_sample(m, in_main, WORK, 4)->end = GUS_CALLERS_STACK;
	made_sample(m, in_main, WORK, 5);
	made_sample(m, in_main, WORK, 30)->end = GUS_CALLERS_WHOLE;
	made_sample(m, in_main, WORK, 6)->end = GUS_CALLERS_BAD;
	data = page(m);
	assert_string_equal(json_string_value(json_object_get(data, "whole")), "75.00 %");
	assert_int_equal(json_array_size(json_object_get(data, "notices")), 0);
	json_decref(data);
}

static void what_is_missing_is_told(void **state)
{
	struct made_calls *m = *state;
	json_t *data = page(m);

	assert_string_equal(at(data, "notices", 0), "There are no samples to show.");
	assert_int_equal(json_array_size(json_object_get(data, "notices")), 1);
	json_decref(data);
	made_sample(m, 0, MAIN, 1);
	data = page(m);
	assert_non_null(strstr(at(data, "notices", 0), "has no call chains"));
	json_decref(data);
	m->profile.damage.cut = true;
	made_path(m, 0, MAIN);
	data = page(m);
	assert_non_null(strstr(at(data, "notices", 0), "was cut"));
	assert_int_equal(json_array_size(json_object_get(data, "notices")), 1);
	json_decref(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_has_no_nodes),
		TEST(callees_stand_behind_callers_by_name),
		TEST(the_order_is_not_that_of_samples),
		TEST(a_function_has_a_node_below_each_caller),
		TEST(kinds_are_those_of_modules),
		TEST(files_decide_between_equal_names),
		TEST(inlined_functions_are_frames_if_wanted),
		TEST(stacks_without_an_end_stand_on_one),
		TEST(tasks_stand_below_their_stacks),
		TEST(the_page_has_all_nodes),
		TEST(facts_are_told),
		TEST(a_count_is_no_time),
		TEST(an_unknown_event_has_no_unit),
		TEST(time_is_counted_in_times),
		TEST(what_is_whole_is_told),
		TEST(what_is_missing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
