/* SPDX-License-Identifier: MIT */
/* attribution/differences and the conditions of gusprof diff: what changed, and whether that may be chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/differences/differences.h"
#include "base/error.h"
#include "cli/diff/diff.h"
#include "cli/stacks/stacks.h"

#define NEAR(x, y) assert_true((x) > (y) - 1e-9 && (x) < (y) + 1e-9)

/* Bounds 3 and 4 away make one 5 away; which are added is a matter of the side. */
static void intervals_are_as_lopsided_as_their_values(void **state)
{
	const struct gus_difference_value a = { 100, 97, 112 }, b = { 110, 94, 114 };
	struct gus_difference_value d = gus_difference_of(&a, &b), s = gus_difference_sum(&a, &b);

	(void)state;
	NEAR(d.value, 10);
	NEAR(d.low, 10 - 20); /* 16 and 12 */
	NEAR(d.high, 10 + 5); /* 4 and 3 */
	NEAR(s.value, 210);
	NEAR(s.low, 210 - 16.278820596099706);
	NEAR(s.high, 210 + 12.649110640673518);
	assert_false(gus_difference_is_sure(&d));
	assert_true(gus_difference_is_sure(&(struct gus_difference_value){ 3, 0.1, 9 }));
	assert_true(gus_difference_is_sure(&(struct gus_difference_value){ -3, -9, -0.1 }));
	assert_false(gus_difference_is_sure(&(struct gus_difference_value){ 3, 0, 9 }));
}

static void add(struct gus_difference_side *s, const char *function, double value, double off, unsigned events)
{
	struct gus_difference_item item = { .key = gus_strdup(function), .name = gus_strdup(function),
		.function = gus_strdup(function), .v = { value, value - off, value + off } };

	gus_difference_add_part(&item, &(struct gus_difference_part){ { .events = (uint16_t)events }, item.v });
	gus_difference_add(s, &item);
}

static void two_sides(struct gus_difference_side *a, struct gus_difference_side *b)
{
	gus_difference_side_init(a);
	gus_difference_side_init(b);
	a->unseen = b->unseen = 2;
	a->total = (struct gus_difference_value){ 160, 156, 164 };
	b->total = (struct gus_difference_value){ 170, 167, 173 };
	add(a, "same", 50, 3, 0);
	add(a, "slower", 100, 3, 0);
	add(a, "gone", 10, 3, 0);
	add(b, "slower", 70, 3, 0);
	add(b, "slower", 40, 4, 1); /* the same row once more, of another component */
	add(b, "same", 51, 4, 0);
	add(b, "new", 9, 3, 4);
}

/* Threads may have no name, and files one that ends with a slash. */
static void a_key_may_be_empty(void **state)
{
	struct gus_difference_side a, b;
	struct gus_differences d;

	(void)state;
	gus_difference_side_init(&a);
	gus_difference_side_init(&b);
	add(&a, "", 50, 3, 0);
	add(&a, "named", 10, 3, 0);
	add(&a, "", 20, 4, 0);
	add(&b, "named", 10, 3, 0);
	add(&b, "", 80, 3, 0);
	assert_int_equal(a.items.n, 2);
	assert_int_equal(b.items.n, 2);
	gus_differences_make(&d, &a, &b);
	assert_int_equal(d.rows.n, 2);
	assert_string_equal(d.rows.v[0].of[1]->key, "");
	NEAR(d.rows.v[0].a.value, 70);
	NEAR(d.rows.v[0].change.value, 10);
	gus_differences_free(&d);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
}

static void rows_are_matched_by_their_keys(void **state)
{
	struct gus_difference_side a, b;
	struct gus_differences d;

	(void)state;
	two_sides(&a, &b);
	gus_differences_make(&d, &a, &b);
	NEAR(d.total.change.value, 10);
	NEAR(d.total.change.low, 5);
	assert_true(d.total.sure);
	assert_int_equal(d.rows.n, 4);
	/* Sure ones first, the largest change first, then by their keys. */
	assert_string_equal(d.rows.v[0].of[0]->key, "gone");
	assert_null(d.rows.v[0].of[1]);
	NEAR(d.rows.v[0].change.value, -10);
	NEAR(d.rows.v[0].change.high, -10 + 3.605551275463989); /* 2 that are not seen, and 3 */
	assert_string_equal(d.rows.v[1].of[1]->key, "slower");
	NEAR(d.rows.v[1].change.value, 10);
	NEAR(d.rows.v[1].b.low, 105);
	assert_int_equal(d.rows.v[1].parts.n, 2); /* +40 of DR-L1, -30 of the base */
	assert_int_equal(d.rows.v[1].parts.v[0].what.events, 1);
	NEAR(d.rows.v[1].parts.v[0].change.value, 40);
	NEAR(d.rows.v[1].parts.v[0].a.high, 2);
	NEAR(d.rows.v[1].parts.v[1].change.value, -30);
	assert_string_equal(d.rows.v[2].of[1]->key, "new");
	assert_null(d.rows.v[2].of[0]);
	NEAR(d.rows.v[2].a.value, 0);
	NEAR(d.rows.v[2].a.low, 0);
	NEAR(d.rows.v[2].a.high, 2);
	assert_string_equal(d.rows.v[3].of[1]->key, "same");
	assert_false(d.rows.v[3].sure);
	gus_differences_free(&d);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
}

/* All that change by 20 are by their keys, whichever side has them; what changes by 19 is behind them, and by 30
 * before. */
static void rows_of_a_size_are_by_their_keys(void **state)
{
	static const char *const order[] = { "more", "a2", "b1", "c2", "d1", "less" };
	struct gus_difference_side a, b;
	struct gus_differences d;

	(void)state;
	gus_difference_side_init(&a);
	gus_difference_side_init(&b);
	add(&b, "less", 19, 1, 0);
	add(&a, "more", 10, 15, 0);
	add(&b, "more", 40, 20, 0); /* from +5 on */
	add(&a, "d1", 20, 1, 0);
	add(&b, "c2", 20, 1, 0);
	add(&a, "b1", 20, 1, 0);
	add(&b, "a2", 20, 1, 0);
	gus_differences_make(&d, &a, &b);
	assert_int_equal(d.rows.n, 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal((d.rows.v[i].of[0] ? d.rows.v[i].of[0] : d.rows.v[i].of[1])->key, order[i]);
	gus_differences_free(&d);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
}

/* Components are the same if all that is said of them is; those of a size are by their events. */
static void parts_are_matched_by_what_they_are(void **state)
{
	static const struct gus_difference_part parts[] = {
		{ { .events = 4 }, { 6, 6, 6 } }, { { .events = 1 }, { 5, 5, 5 } },
		{ { .events = 1, .served = 2 }, { 6, 6, 6 } }, { { .unknown = true }, { 7, 7, 7 } },
		{ { .events = 2 }, { 6, 6, 6 } }, { { 0 }, { 8, 8, 8 } },
		{ { .events = 1, .served = 2 }, { 3, 3, 3 } } };
	static const struct { struct gus_component what; double a, b; } changes[] = {
		{ { .events = 1, .served = 2 }, 9, 0 }, { { 0 }, 8, 0 }, { { .unknown = true }, 7, 0 },
		{ { .events = 1 }, 5, 0 }, { { .events = 2 }, 6, 1 }, { { .events = 4 }, 6, 1 } };
	struct gus_difference_side a, b;
	struct gus_differences d;

	(void)state;
	gus_difference_side_init(&a);
	gus_difference_side_init(&b);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct gus_difference_item item = { .key = gus_strdup("row"), .v = parts[i].v };

		gus_difference_add_part(&item, &parts[i]);
		assert_string_equal(gus_difference_add(&a, &item)->key, "row");
	}
	a.unseen = 3; /* all parts of a are there */
	b.unseen = 2;
	add(&b, "row", 1, 0, 4);
	add(&b, "row", 1, 0, 2);
	gus_differences_make(&d, &a, &b);
	assert_int_equal(d.rows.n, 1);
	NEAR(d.rows.v[0].a.value, 41);
	assert_int_equal(d.rows.v[0].parts.n, sizeof(changes) / sizeof(*changes));
	for (size_t i = 0; i < d.rows.v[0].parts.n; i++) {
		const struct gus_difference_change *c = &d.rows.v[0].parts.v[i];

		assert_int_equal(c->what.events, changes[i].what.events);
		assert_int_equal(c->what.served, changes[i].what.served);
		assert_int_equal(c->what.unknown, changes[i].what.unknown);
		NEAR(c->a.value, changes[i].a);
		NEAR(c->b.value, changes[i].b);
		NEAR(c->b.low, changes[i].b);
		NEAR(c->a.high, changes[i].a);
		NEAR(c->b.high, changes[i].b > 0 ? changes[i].b : 2);
	}
	gus_differences_free(&d);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
}

static void add_code(struct gus_difference_side *s, const char *within, uint64_t offset, bool stayed, double seen,
		     double value)
{
	struct gus_difference_item item = { .key = gus_format("%s+%d", within, (int)offset),
		.within = gus_strdup(within), .offset = offset, .stayed = stayed, .v = { value, value - 1, value + 1 },
		.seen = { seen, seen - 2, seen + 2 } };

	gus_difference_add_part(&item, &(struct gus_difference_part){ { .events = 1 }, item.v });
	gus_difference_add(s, &item);
}

/* A store at 4 has all the time, which is seen at 8. */
static void what_one_side_has_moved_is_compared_as_it_was_seen(void **state)
{
	static const struct { const char *within; uint64_t offset; double a, b; bool seen; } cases[] = {
		{ "half", 0, 1, 0, true },      /* a has executed it in a window, b has seen 8 */
		{ "half", 4, 2, 0, true },      /* it was 100 of a's */
		{ "half", 8, 98, 99, true },
		{ "half", 12, 5, 50, false },   /* both have */
		{ "half", 16, 7, 0, false },    /* at the end of it, so had b before */
		{ "other", 8, 3, 0, true },     /* b has nothing there at all */
		{ "told", 4, 100, 0, false },   /* b has executed what is behind it: it is other code */
		{ "told", 8, 1, 40, false },
	};
	struct gus_difference_side a, b;
	struct gus_differences d;
	size_t found = 0;

	(void)state;
	gus_difference_side_init(&a);
	gus_difference_side_init(&b);
	add_code(&a, "half", 16, false, 0, 7);
	add_code(&a, "half", 0, false, 1, 3);
	add_code(&a, "half", 4, false, 2, 100);
	add_code(&a, "half", 8, false, 98, 2);
	add_code(&a, "half", 12, false, 4, 5);
	add_code(&a, "other", 8, false, 3, 9);
	add_code(&a, "told", 4, false, 2, 100);
	add_code(&a, "told", 8, false, 98, 1);
	add_code(&b, "half", 8, true, 99, 99);
	add_code(&b, "half", 12, false, 60, 50);
	add_code(&b, "told", 8, false, 0, 40);
	gus_difference_level(&a, &b);
	gus_differences_make(&d, &a, &b);
	assert_int_equal(d.rows.n, sizeof(cases) / sizeof(*cases));
	for (size_t i = 0; i < d.rows.n; i++)
		for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
			const struct gus_difference_row *row = &d.rows.v[i];
			const struct gus_difference_item *item = row->of[0] ? row->of[0] : row->of[1];

			if (strcmp(item->within, cases[k].within) != 0 || item->offset != cases[k].offset)
				continue;
			print_message("%s\n", item->key);
			found++;
			NEAR(row->a.value, cases[k].a);
			NEAR(row->b.value, cases[k].b);
			NEAR(row->a.high, cases[k].a + (cases[k].seen ? 2 : 1));
			assert_int_equal(row->of[0]->parts.v[0].what.unknown, cases[k].seen);
			assert_int_equal(row->of[0]->parts.n, 1);
		}
	assert_int_equal(found, d.rows.n);
	gus_differences_free(&d);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
}

/* Three runs of a program with one row, and another that only the second run has. */
static void runs_of(struct gus_difference_side *pooled, double first, double second, double third)
{
	const double values[] = { first, second, third };
	struct gus_difference_side sides[3];

	for (int i = 0; i < 3; i++) {
		gus_difference_side_init(&sides[i]);
		sides[i].unseen = 3;
		sides[i].total = (struct gus_difference_value){ values[i], values[i] - 3, values[i] + 3 };
		add(&sides[i], "all", values[i], 3, 0);
	}
	add(&sides[1], "once", 6, 3, 1);
	gus_difference_pool(pooled, sides, 3);
	for (int i = 0; i < 3; i++)
		gus_difference_side_free(&sides[i]);
}

static void of_several_runs_there_is_the_mean(void **state)
{
	struct gus_difference_side s;

	(void)state;
	runs_of(&s, 90, 100, 140);
	NEAR(s.total.value, 110);
	NEAR(s.total.low, 110 - sqrt(3)); /* 3, 3 and 3, of three */
	NEAR(s.unseen, sqrt(3));
	assert_int_equal(s.items.n, 2);
	NEAR(s.items.v[0].v.value, 110);
	NEAR(s.items.v[0].v.high, 110 + sqrt(3));
	NEAR(s.items.v[0].each[2], 140);
	NEAR(s.items.v[0].parts.v[0].v.value, 110);
	assert_string_equal(s.items.v[1].key, "once");
	NEAR(s.items.v[1].v.value, 2);
	NEAR(s.items.v[1].v.low, 1);              /* it may only be less in the run that has it */
	NEAR(s.items.v[1].v.high, 2 + sqrt(3));   /* and as much as cannot be seen in the others */
	NEAR(s.items.v[1].each[0], 0);
	NEAR(s.items.v[1].parts.v[0].each[1], 6);
	gus_difference_side_free(&s);
}

/* All runs differ by far more than samples tell; what came after by 9, 10 and 11 from what was right before it. */
static void drift_is_in_both_of_a_pair(void **state)
{
	struct gus_difference_side a, b, c;
	struct gus_differences d;

	(void)state;
	runs_of(&a, 90, 100, 140);
	runs_of(&b, 99, 110, 151);
	runs_of(&c, 115, 80, 165); /* +25, -20, +25 */
	gus_differences_make(&d, &a, &b);
	NEAR(d.total.change.value, 10);
	NEAR(d.total.change.low, 10 - 4.30265 / sqrt(3)); /* a deviation of 1, and samples tell it to 2.45 */
	NEAR(d.total.a.low, 110 - 4.30265 * sqrt(700 / 3.0)); /* but not how long it takes */
	assert_true(d.total.sure);
	assert_true(d.rows.v[0].sure);
	assert_string_equal(d.rows.v[0].of[0]->key, "all");
	NEAR(d.rows.v[0].parts.v[0].change.high, 10 + 4.30265 / sqrt(3));
	gus_differences_free(&d);
	gus_differences_make(&d, &a, &c);
	NEAR(d.total.change.value, 10);
	NEAR(d.total.change.high, 10 + 4.30265 * 15); /* a deviation of sqrt(675) */
	assert_false(d.total.sure);
	assert_false(d.rows.v[0].sure);
	gus_differences_free(&d);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
	gus_difference_side_free(&c);
}

static void sides_are_normalised(void **state)
{
	struct gus_difference_side a, b;

	(void)state;
	two_sides(&a, &b);
	NEAR(gus_difference_function(&b, "slower"), 110);
	NEAR(gus_difference_function(&b, "nobody"), 0);
	gus_difference_scale(&b, 0.5);
	NEAR(b.total.high, 86.5);
	NEAR(b.unseen, 1);
	NEAR(gus_difference_function(&b, "slower"), 55);
	NEAR(b.items.v[0].parts.v[1].v.low, 18);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
}

static void conditions_hold_for_sure_or_not(void **state)
{
	static const struct { const char *text; bool holds, known; } cases[] = {
		{ "total>+3%", true, true },    /* +6.25 %, from +3.1 % on */
		{ "total>3.2%", false, true },
		{ "total<-1%", false, true },
		{ "total<+10%", true, true },
		{ "total>3.125%", false, true },        /* just so much, at least */
		{ "total>3.124%", true, true },
		{ "total<9.375%", false, true },        /* and at most */
		{ "total<9.376%", true, true },
		{ "slower>0%", true, true },
		{ "gone<-50%", true, true },
		{ "gone<-80%", false, true },   /* -100 %, up to -64 % */
		{ "same>-50%", true, true },
		{ "same>0%", false, true },
		{ "nobody>0%", false, false },
	};
	static const char *const bad[] = { "", "total", "total>", "total>x%", "total>2", "total>2%%", ">2%", "total>%",
		"  >2%", "total>-101%", "total>-100.1%", "total>100000100%" };
	struct gus_difference_side a, b;
	struct gus_differences d;

	(void)state;
	two_sides(&a, &b);
	gus_differences_make(&d, &a, &b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_diff_condition c;
		struct gus_difference_row of;
		bool known;

		print_message("%s\n", cases[i].text);
		assert_int_equal(gus_diff_condition_parse(&c, cases[i].text, NULL), 0);
		assert_int_equal(gus_diff_condition_holds(&c, &d, &of, &known), cases[i].holds);
		assert_int_equal(known, cases[i].known);
		free(c.target);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gus_diff_condition c;
		struct gus_error err = { 0 };

		print_message("%s\n", bad[i]);
		assert_int_equal(gus_diff_condition_parse(&c, bad[i], &err), -1);
		assert_int_equal(err.code, GUS_E_USAGE);
	}
	gus_differences_free(&d);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
}

/* The last sign is the condition's, as names may have some, and spaces about the name are none of it. */
static void conditions_are_read(void **state)
{
	static const struct { const char *text, *target; bool above; double share; } cases[] = {
		{ "total>+2%", "total", true, 0.02 }, { "total<-100%", "total", false, -1 },
		{ "f>100000000%", "f", true, 1e6 }, { "  total  > 50%", "total", true, 0.5 },
		{ "operator< <-5%", "operator<", false, -0.05 },
		{ "vector<int>::at>2%", "vector<int>::at", true, 0.02 },
		{ "f g>2%", "f g", true, 0.02 }, { " x <0%", "x", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_diff_condition c;

		assert_int_equal(gus_diff_condition_parse(&c, cases[i].text, NULL), 0);
		assert_string_equal(c.text, cases[i].text);
		assert_string_equal(c.target, cases[i].target);
		assert_int_equal(c.above, cases[i].above);
		NEAR(c.share, cases[i].share);
		free(c.target);
	}
}

static void add_row_of(struct gus_difference_side *s, const char *key, const char *function,
		       struct gus_difference_value v)
{
	struct gus_difference_item item = { .key = gus_strdup(key), .function = function ? gus_strdup(function) : NULL,
		.v = v };

	gus_difference_add(s, &item);
}

/* f is three rows, of 100, 0 and 10, which become 120, 5 and 0, from 3 less to 4 more; another row is of nothing. */
static void conditions_are_of_all_rows_of_a_function(void **state)
{
	struct gus_diff_condition c = { .target = gus_strdup("f"), .above = true, .share = 0.1 };
	struct gus_difference_side a, b;
	struct gus_differences d;
	struct gus_difference_row of;
	bool known;

	(void)state;
	gus_difference_side_init(&a);
	gus_difference_side_init(&b);
	add_row_of(&a, "1", "f", (struct gus_difference_value){ 100, 100, 100 });
	add_row_of(&b, "1", "f", (struct gus_difference_value){ 120, 117, 124 });
	add_row_of(&b, "2", "f", (struct gus_difference_value){ 5, 2, 9 });
	add_row_of(&a, "3", "f", (struct gus_difference_value){ 10, 10, 10 });
	add_row_of(&a, "4", NULL, (struct gus_difference_value){ 50, 50, 50 });
	gus_differences_make(&d, &a, &b);
	assert_int_equal(d.rows.n, 4);
	assert_false(gus_diff_condition_holds(&c, &d, &of, &known)); /* 15 of 110, from 10.8 on: 9.8 % */
	assert_true(known);
	NEAR(of.a.value, 110);
	NEAR(of.b.value, 125);
	NEAR(of.change.value, 15);
	NEAR(of.change.low, 15 - 4.242640687119285);
	NEAR(of.change.high, 15 + 5.656854249492381);
	c.share = 0.09;
	assert_true(gus_diff_condition_holds(&c, &d, &of, &known));
	d.rows.n = 0; /* and of no rows nothing is known */
	assert_false(gus_diff_condition_holds(&c, &d, &of, &known));
	assert_false(known);
	d.rows.n = 4;
	free(c.target);
	gus_differences_free(&d);
	gus_difference_side_free(&a);
	gus_difference_side_free(&b);
}

/* Names for people are another room's. */
char *gus_stacks_name(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	return v->how->unit == GUS_SUM_THREAD ? gus_strdup("thread") : gus_strdup(row->function);
}

/* A recording: samples of a millisecond each, by one thread in one function, or a row of the thread. */
struct recorded {
	unsigned samples;
	const char *program, *module;   /* that the command is, and that has the function */
	enum gus_sampler sampler;
	enum gus_sum_unit unit;
	char *target;
};

static void take(struct gus_diff_side *side, const struct recorded *r)
{
	const uint64_t weight = r->samples * UINT64_C(1000000);
	const struct gus_stacks_how how = { .unit = r->unit };
	struct gus_account account = { .weight = weight };
	struct gus_sums sums = { 0 };
	struct gus_sum_row row = { .module = r->module, .function = "work", .weight = weight, .seen = weight,
		.thread = r->unit == GUS_SUM_THREAD ? 0 : GUS_CLUE_NONE,
		.bounds = { weight - weight / 10, weight + weight / 10 } };
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	struct gus_clues clues = { .samples = r->samples, .sampler = r->sampler, .profile.header = &header };
	const struct gus_stacks_view v = { .how = &how, .clues = &clues, .account = &account, .sums = &sums,
		.program = r->program, .event = "cpu-clock" };

	header.events = events;
	header.n_events = 1;
	header.target = r->target;
	gus_vec_push(&clues.threads, (struct gus_clue_thread){ 7, 7, "worker" });
	gus_vec_push(&clues.places, (struct gus_clue_place){ .module = r->module });
	gus_vec_push(&clues.places, (struct gus_clue_place){ .module = "/lib/libc.so" });
	gus_vec_push(&sums.rows, row);
	gus_diff_take(side, &v);
	gus_vec_free(&clues.threads);
	gus_vec_free(&clues.places);
	gus_vec_free(&sums.rows);
}

/* The change in milliseconds of runs that took so many each, before and after in turns. */
static void change_of(struct gus_difference_value *total, struct gus_difference_value *row, struct recorded r,
		      const unsigned (*ms)[2], size_t pairs)
{
	struct gus_diff_side sides[2][3] = { 0 }, whole[2];
	struct gus_differences d;

	for (size_t i = 0; i < pairs; i++)
		for (int side = 0; side < 2; side++) {
			sides[side][i].many = pairs == 3;
			r.samples = ms[i][side];
			take(&sides[side][i], &r);
		}
	for (int side = 0; side < 2; side++) {
		gus_diff_pool(&whole[side], sides[side], pairs);
		gus_difference_scale(&whole[side].rows, 1e-6);
		for (size_t i = 0; whole[side].rows.each && i < pairs; i++) {
			whole[side].rows.each[i] *= 1e-6;
			whole[side].rows.items.v[0].each[i] *= 1e-6;
		}
	}
	gus_differences_make(&d, &whole[0].rows, &whole[1].rows);
	*total = d.total.change;
	*row = d.rows.v[0].change;
	gus_differences_free(&d);
	for (int side = 0; side < 2; side++) {
		gus_diff_side_free(&whole[side]);
		for (size_t i = 0; i < pairs; i++)
			gus_diff_side_free(&sides[side][i]);
	}
}

/* 29, 30 and 31 ms more of a second. As samples that come by chance they are known to 50 ms, but a clock has counted
 * them; so has it what a thread has, if it is the thread's own. A function's share of them is as it was sampled. */
static void three_pairs_know_what_a_clock_has_counted(void **state)
{
	static const unsigned more[3][2] = { { 1000, 1029 }, { 1100, 1130 }, { 900, 931 } };
	static const unsigned same[3][2] = { { 1000, 1000 }, { 1000, 1000 }, { 1000, 1000 } };
	static char command[] = "command", of_all[] = "system";
	const struct recorded thread = { .unit = GUS_SUM_THREAD, .sampler = GUS_SAMPLER_TIME, .target = command,
		.module = "" };
	const struct recorded function = { .unit = GUS_SUM_FUNCTION, .sampler = GUS_SAMPLER_DISPATCHED,
		.target = command, .module = "/home/app" };
	struct recorded other = thread;
	struct gus_difference_value total, row;
	const double t = 4.30265 / sqrt(3), grain = sqrt(2.0 / 3); /* a deviation of 1; a sample of each run */

	(void)state;
	change_of(&total, &row, thread, more, 3);
	NEAR(total.value, 30);
	NEAR(total.low, 30 - t);
	NEAR(total.high, 30 + t);
	NEAR(row.low, 30 - t);
	change_of(&total, &row, thread, same, 3);
	NEAR(total.low, -grain); /* no surer than the clock's own grain */
	NEAR(total.high, grain);
	NEAR(row.high, grain);
	change_of(&total, &row, function, more, 3);
	NEAR(total.low, 30 - t);
	assert_true(row.low < -40 && row.low > -100); /* a tenth of 1000 and of 1030, of three */
	change_of(&total, &row, thread, more, 2);
	assert_true(total.low < -30); /* nothing is known of how runs differ */
	assert_true(row.low < -30);
	other.target = of_all;
	change_of(&total, &row, other, more, 3);
	NEAR(total.low, 30 - t);
	assert_true(row.low < -30); /* it is each CPU's clock */
	other.sampler = GUS_SAMPLER_LOADS;
	change_of(&total, &row, other, more, 3);
	assert_true(total.low < -10);
}

static void programs_are_one_whatever_they_are_called(void **state)
{
	static char command[] = "command";
	static const struct { const char *before[2], *after[2], *called; } cases[] = {
		{ { "/x/old", "/x/old" }, { "/y/new", "/y/new" }, "old" },
		{ { "/x/app", "/x/app" }, { "/y/app", "/y/app" }, NULL },
		{ { NULL, "/x/old" }, { "/y/new", "/y/new" }, NULL },
		{ { "/x/old", "/x/old" }, { NULL, "/y/new" }, NULL },
		{ { "/bin/sh", "/x/app" }, { "/x/app", "/x/app" }, NULL },      /* by a shell, and by itself */
		{ { "/x/app", "/x/app" }, { "/bin/sh", "/x/app" }, NULL },
		{ { "/x/old", "/x/old" }, { "/y/new", "/lib/plugin.so" }, "old" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_diff_side a = { 0 }, b = { .first = &a };
		struct gus_differences d;
		bool own = cases[i].after[0] && strcmp(cases[i].after[0], cases[i].after[1]) == 0;

		take(&a, &(struct recorded){ 100, cases[i].before[0], cases[i].before[1], GUS_SAMPLER_TIME,
			GUS_SUM_INSTRUCTION, command });
		take(&b, &(struct recorded){ 100, cases[i].after[0], cases[i].after[1], GUS_SAMPLER_TIME,
			GUS_SUM_INSTRUCTION, command });
		assert_true(!b.called == !cases[i].called);
		if (b.called)
			assert_string_equal(b.called, cases[i].called);
		gus_difference_level(&a.rows, &b.rows);
		gus_differences_make(&d, &a.rows, &b.rows);
		assert_int_equal(d.rows.n, (b.called && own) || strstr(cases[i].after[1], "app") ? 1 : 2);
		if (d.rows.n == 1)
			assert_string_equal(d.rows.v[0].of[0]->within, d.rows.v[0].of[1]->within);
		gus_differences_free(&d);
		gus_diff_side_free(&b);
		gus_diff_side_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_as_lopsided_as_their_values),
		cmocka_unit_test(a_key_may_be_empty),
		cmocka_unit_test(rows_are_matched_by_their_keys),
		cmocka_unit_test(rows_of_a_size_are_by_their_keys),
		cmocka_unit_test(parts_are_matched_by_what_they_are),
		cmocka_unit_test(what_one_side_has_moved_is_compared_as_it_was_seen),
		cmocka_unit_test(of_several_runs_there_is_the_mean),
		cmocka_unit_test(drift_is_in_both_of_a_pair),
		cmocka_unit_test(three_pairs_know_what_a_clock_has_counted),
		cmocka_unit_test(programs_are_one_whatever_they_are_called),
		cmocka_unit_test(sides_are_normalised),
		cmocka_unit_test(conditions_hold_for_sure_or_not),
		cmocka_unit_test(conditions_are_read),
		cmocka_unit_test(conditions_are_of_all_rows_of_a_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
