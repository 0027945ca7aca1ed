/* SPDX-License-Identifier: MIT */
/* attribution/accounts/sum: an account's rows by unit, and how sure they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/accounts/sum.h"
#include "made_account.h"

static void sum(const struct made *m, enum gus_sum_unit unit, size_t rows, struct gus_sums *s)
{
	uint64_t weight = 0, seen = 0;

	gus_sums_make(s, &m->account, unit);
	assert_int_equal(s->rows.n, rows);
	for (size_t i = 0; i < s->rows.n; i++) {
		gus_stack_check(&s->rows.v[i].stack, s->rows.v[i].weight);
		assert_true(!i || s->rows.v[i].weight <= s->rows.v[i - 1].weight);
		weight += s->rows.v[i].weight;
		seen += s->rows.v[i].seen;
	}
	assert_int_equal(weight, m->account.weight);
	assert_int_equal(seen, m->account.weight);
}

static void by_units(void **state)
{
	struct made *m = *state;
	struct gus_sums s;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 300, (struct gus_sample){ .ip = app_at + TEXT + ADD, .tid = 11 });
	made_samples(m, 7, (struct gus_sample){ .ip = lib_at + TEXT + 5, .tid = 11 });
	made_samples(m, 5, (struct gus_sample){ .ip = lib_at + TEXT + 9, .tid = 11 });
	made_account(m, true);
	sum(m, GUS_SUM_INSTRUCTION, 5, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT + IMUL);
	assert_int_equal(s.rows.v[0].seen, 0);
	assert_int_equal(s.rows.v[0].evidence, GUS_INFERRED);
	assert_int_equal(s.rows.v[3].offset + s.rows.v[4].offset, 2 * TEXT + 14);
	assert_int_equal(s.rows.v[4].evidence, GUS_OBSERVED);
	gus_sums_free(&s);
	sum(m, GUS_SUM_BLOCK, 3, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT);
	assert_int_equal(s.rows.v[0].weight, 1000000);
	assert_int_equal(s.rows.v[1].weight, 7000);
	gus_sums_free(&s);
	sum(m, GUS_SUM_MODULE, 2, &s);
	assert_string_equal(s.rows.v[1].module, LIB);
	assert_int_equal(s.rows.v[1].weight, 12000);
	assert_null(s.rows.v[1].function);
	gus_sums_free(&s);
	sum(m, GUS_SUM_THREAD, 2, &s);
	assert_int_equal(m->clues.threads.v[s.rows.v[0].thread].tid, 10);
	assert_int_equal(s.rows.v[0].weight, 700000);
	assert_int_equal(s.rows.v[0].seen, 700000);
	assert_int_equal(s.rows.v[1].evidence, GUS_OBSERVED);
	gus_sums_free(&s);
	sum(m, GUS_SUM_LOOP, 3, &s);
	gus_sums_free(&s);
	sum(m, GUS_SUM_FUNCTION, 3, &s);
	gus_sums_free(&s);
}

static const struct gus_sum_row *row_at(const struct gus_sums *s, uint64_t offset)
{
	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.v[i].offset == TEXT + offset)
			return &s->rows.v[i];
	return NULL;
}

/* What no trace has executed is as sure as so many samples are: 250 of 1000 are a quarter, give or take 2.7 % (Wilson's
 * interval of it is 22.4 to 27.8 %), and four of them are no fact. What is of all code of a file is in its samples,
 * whatever its instructions are. A component of few samples is not told. */
static void how_sure(void **state)
{
	struct made *m = *state;
	const struct gus_sum_row *row;
	struct gus_sums s;

	made_event(m, "cpu-clock", "ns");
	for (unsigned i = 0; i < 186; i++) {
		made_samples(m, 3, (struct gus_sample){ .ip = app_at + TEXT + ADD });
		made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT + IMUL });
		made_samples(m, 1, (struct gus_sample){ .ip = lib_at + TEXT + 0x20 });
	}
	made_samples(m, 2, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 64, (struct gus_sample){ .ip = lib_at + TEXT + 0x20 });
	made_samples(m, 4, (struct gus_sample){ .ip = lib_at + TEXT + 0x30 });
	made_account(m, true);
	gus_sums_make(&s, &m->account, GUS_SUM_INSTRUCTION);
	row = row_at(&s, 0x20);
	assert_true(row && row->weight == 250000 && row->fact);
	assert_in_range(row->bounds.low, 223500, 224500);
	assert_in_range(row->bounds.high, 277000, 278500);
	assert_int_equal(row->parts.n, 1);
	assert_true(row->parts.v[0].low == row->bounds.low && row->parts.v[0].high == row->bounds.high);
	assert_false(row_at(&s, 0x30)->fact);
	row = row_at(&s, IMUL);
	assert_true(row && row->fact && row->bounds.low < row->weight && row->bounds.high > row->weight);
	assert_true(row->bounds.high - row->bounds.low > 2 * 53000);
	for (size_t i = 0; i < row->stack.n; i++)
		assert_true(row->parts.v[i].low <= row->stack.v[i].weight &&
			    row->parts.v[i].high >= row->stack.v[i].weight);
	gus_sums_free(&s);
	gus_sums_make(&s, &m->account, GUS_SUM_MODULE);
	assert_int_equal(s.rows.v[0].weight, 746000);
	assert_in_range(s.rows.v[0].bounds.low, 717000, 719500);
	assert_in_range(s.rows.v[0].bounds.high, 771500, 773500);
	gus_sums_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_units, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(how_sure, made_account_setup, made_account_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
