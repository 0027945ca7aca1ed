/* SPDX-License-Identifier: MIT */
/* attribution/accounts/kept: an account as bytes, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/accounts/kept.h"
#include "attribution/accounts/sum.h"
#include "base/cursor.h"
#include "made_account.h"

/* Two threads wait for a product in a loop; of a library's code nothing is known. */
static void make(struct made *m)
{
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 300, (struct gus_sample){ .ip = app_at + TEXT + ADD, .tid = 11 });
	made_samples(m, 50, (struct gus_sample){ .ip = lib_at + TEXT + 5 });
	made_account(m, true);
}

static void expect_same_place(const struct gus_account_place *x, const struct gus_account_place *y)
{
	assert_int_equal(x->place.module, y->place.module);
	assert_int_equal(x->place.offset, y->place.offset);
	assert_string_equal(x->module, y->module);
	assert_int_equal(x->offset, y->offset);
	assert_int_equal(x->executed, y->executed);
	assert_int_equal(x->block, y->block);
	assert_int_equal(x->function != NULL, y->function != NULL);
	if (x->function)
		assert_string_equal(x->function, y->function);
	assert_int_equal(x->start, y->start);
	assert_int_equal(x->in_loop, y->in_loop);
	assert_int_equal(x->head, y->head);
	assert_int_equal(x->address, y->address);
	assert_int_equal(x->size, y->size);
	assert_memory_equal(x->code, y->code, sizeof(x->code));
	assert_int_equal(x->causes.base, y->causes.base);
	assert_int_equal(x->causes.exception, y->causes.exception);
	assert_int_equal(x->causes.unknown, y->causes.unknown);
}

static void expect_same_rows(const struct gus_account *a, const struct gus_account *b, enum gus_sum_unit unit)
{
	struct gus_sums x, y;

	gus_sums_make(&x, a, unit);
	gus_sums_make(&y, b, unit);
	assert_int_equal(x.rows.n, y.rows.n);
	for (size_t i = 0; i < x.rows.n; i++) {
		const struct gus_sum_row *r = &x.rows.v[i], *s = &y.rows.v[i];

		assert_int_equal(r->weight, s->weight);
		assert_int_equal(r->seen, s->seen);
		assert_int_equal(r->offset, s->offset);
		assert_int_equal(r->fact, s->fact);
		assert_int_equal(r->evidence, s->evidence);
		assert_memory_equal(&r->bounds, &s->bounds, sizeof(r->bounds));
		assert_int_equal(r->stack.n, s->stack.n);
		for (size_t k = 0; k < r->stack.n; k++) {
			assert_int_equal(r->stack.v[k].weight, s->stack.v[k].weight);
			assert_int_equal(r->stack.v[k].evidence, s->stack.v[k].evidence);
			assert_int_equal(r->stack.v[k].what.events, s->stack.v[k].what.events);
			assert_int_equal(r->stack.v[k].what.unknown, s->stack.v[k].what.unknown);
			assert_memory_equal(&r->parts.v[k], &s->parts.v[k], sizeof(r->parts.v[k]));
		}
	}
	gus_sums_free(&x);
	gus_sums_free(&y);
}

static void comes_back(void **state)
{
	struct made *m = *state;
	struct gus_bytes bytes = { 0 }, again = { 0 };
	struct gus_account back;
	struct gus_cursor from;

	make(m);
	m->account.places.v[0].function = "work";
	m->account.places.v[0].in_loop = true;
	m->account.places.v[0].head = TEXT;
	m->account.places.v[0].causes = (struct gus_account_causes){ GUS_CAUSE_PORT, GUS_CAUSE_SERIALISATION,
		GUS_CAUSE_STREAMS };
	gus_account_put(&bytes, &m->account);
	from = gus_cursor(bytes.v, bytes.n);
	assert_true(gus_account_take(&back, &m->clues, m->clues.weight, &from));
	assert_int_equal(gus_cursor_left(&from), 0);
	assert_int_equal(back.explained, 1000000);
	assert_int_equal(back.isa, GUS_ISA_X86_64);
	assert_int_equal(back.solution.width, m->account.solution.width);
	assert_int_equal(back.places.n, m->account.places.n);
	for (size_t i = 0; i < back.places.n; i++)
		expect_same_place(&back.places.v[i], &m->account.places.v[i]);
	for (int unit = 0; unit < GUS_SUM_UNITS; unit++)
		expect_same_rows(&m->account, &back, (enum gus_sum_unit)unit);
	gus_account_put(&again, &back);
	assert_int_equal(again.n, bytes.n);
	assert_memory_equal(again.v, bytes.v, bytes.n);
	gus_account_free(&back);
	gus_vec_free(&bytes);
	gus_vec_free(&again);
}

static bool is_taken(const struct made *m, const uint8_t *bytes, size_t n, uint64_t weight)
{
	struct gus_cursor from = gus_cursor(bytes, n);
	struct gus_account back;
	bool taken = gus_account_take(&back, &m->clues, weight, &from);

	assert_int_equal(taken, !from.bad);
	if (taken)
		gus_account_free(&back);
	return taken;
}

/* Wherever it is cut, and if it does not come to what the recording has. */
static void a_part_is_none(void **state)
{
	struct made *m = *state;
	struct gus_bytes bytes = { 0 };

	make(m);
	gus_account_put(&bytes, &m->account);
	assert_true(is_taken(m, bytes.v, bytes.n, 1050000));
	assert_false(is_taken(m, bytes.v, bytes.n, 1050001));
	for (size_t n = 0; n < bytes.n; n++)
		assert_false(is_taken(m, bytes.v, n, 1050000));
	gus_vec_free(&bytes);
}

enum wrong { PLACE_OF_SEEN, PLACE_OF_CELL, THREAD_OF_SEEN, THREAD_OF_CELL, TOLD, LESS_SEEN, LESS_IN_CELLS,
	EVENTS_OF_UNKNOWN, MORE_EXPLAINED, NO_NUMBER, NEGATIVE, OTHER_MODULE, NO_MODULE, NO_SAMPLES, WRONGS };

static void spoil(struct gus_account *a, enum wrong wrong)
{
	struct gus_account_cell *moved = &a->cells.v[0];

	while (!moved->moved)
		moved++;
	switch (wrong) {
	case PLACE_OF_SEEN:
		a->seen.v[0].place = (uint32_t)a->places.n;
		break;
	case PLACE_OF_CELL:
		a->cells.v[0].place = (uint32_t)a->places.n;
		break;
	case THREAD_OF_SEEN:
		a->seen.v[0].thread = 2;
		break;
	case THREAD_OF_CELL:
		a->cells.v[0].thread = 2;
		break;
	case TOLD:
		moved->told = (uint32_t)a->solution.replicates.cells.n;
		break;
	case LESS_SEEN:
		a->seen.v[0].weight--;
		break;
	case LESS_IN_CELLS:
		a->cells.v[0].weight--;
		break;
	case EVENTS_OF_UNKNOWN:
		moved->what = (struct gus_component){ .events = 1, .unknown = true };
		break;
	case MORE_EXPLAINED:
		a->explained = a->weight + 1;
		break;
	case NO_NUMBER:
		a->solution.replicates.shares[1] = __builtin_nan("");
		break;
	case NEGATIVE:
		a->solution.replicates.cells.v[0].share = -.5;
		break;
	case OTHER_MODULE:
		a->places.v[0].module = LIB;
		break;
	case NO_MODULE:
		a->places.v[0].place.module = 1000;
		break;
	case NO_SAMPLES:
		a->solution.replicates.o.samples = -1;
		break;
	case WRONGS:
		break;
	}
}

/* What sums and names rely on. */
static void what_is_wrong_is_none(void **state)
{
	struct made *m = *state;
	struct gus_bytes bytes = { 0 };

	make(m);
	gus_account_put(&bytes, &m->account);
	for (int wrong = 0; wrong < WRONGS; wrong++) {
		struct gus_cursor from = gus_cursor(bytes.v, bytes.n);
		struct gus_bytes spoilt = { 0 };
		struct gus_account a;

		assert_true(gus_account_take(&a, &m->clues, 1050000, &from));
		spoil(&a, (enum wrong)wrong);
		gus_account_put(&spoilt, &a);
		print_message("%d\n", wrong);
		assert_false(is_taken(m, spoilt.v, spoilt.n, 1050000));
		gus_account_free(&a);
		gus_vec_free(&spoilt);
	}
	gus_vec_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comes_back, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(a_part_is_none, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_none, made_account_setup, made_account_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
