/* SPDX-License-Identifier: MIT */
/* attribution/accounts/kept: an account as bytes, and back. */
#include <math.h>
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
#include "base/limits.h"
#include "made_account.h"
#include "proto/psv.h"

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
	EVENTS_OF_UNKNOWN, MORE_EXPLAINED, LESS_EXPLAINED, NO_NUMBER, NEGATIVE, OTHER_MODULE, NO_MODULE, NO_SAMPLES,
	WRONGS };

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
		a->explained++;
		break;
	case LESS_EXPLAINED:
		a->explained--;
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

/* Numbers that have bounds. */
enum field { EVENTS_OF_CELL, EVIDENCE, CAUSE_OF_BASE, CAUSE_OF_EXCEPTION, CAUSE_OF_UNKNOWN, ISA, WIDTH, TOLD_UNMOVED,
	WHO, SITE, EXPLAINED, EVIDENCE_OF_ALL };

static void set(struct gus_account *a, enum field field, uint64_t to)
{
	struct gus_account_cell *unmoved = &a->cells.v[0];

	while (unmoved->moved)
		unmoved++;
	switch (field) {
	case EVENTS_OF_CELL:
		unmoved->what = (struct gus_component){ .events = (uint16_t)to };
		break;
	case EVIDENCE:
		unmoved->evidence = (enum gus_evidence)to;
		break;
	case CAUSE_OF_BASE:
		a->places.v[0].causes.base = (enum gus_account_cause)to;
		break;
	case CAUSE_OF_EXCEPTION:
		a->places.v[0].causes.exception = (enum gus_account_cause)to;
		break;
	case CAUSE_OF_UNKNOWN:
		a->places.v[0].causes.unknown = (enum gus_account_cause)to;
		break;
	case ISA:
		a->isa = (enum gus_isa)to;
		break;
	case WIDTH:
		a->solution.width = (unsigned)to;
		break;
	case TOLD_UNMOVED:
		unmoved->told = (uint32_t)to;
		break;
	case WHO:
		a->solution.replicates.cells.v[0].who = (uint32_t)to;
		break;
	case SITE:
		a->solution.replicates.cells.v[0].site = (uint32_t)to;
		break;
	case EXPLAINED:
		a->explained = to;
		break;
	case EVIDENCE_OF_ALL:
		a->solution.replicates.o.evidence = (enum gus_replicates_evidence)to;
		break;
	}
}

/* What is put of it as it is now. */
static bool comes_back_so(const struct made *m, const struct gus_account *a)
{
	struct gus_bytes bytes = { 0 };
	bool taken;

	gus_account_put(&bytes, a);
	taken = is_taken(m, bytes.v, bytes.n, a->weight);
	gus_vec_free(&bytes);
	return taken;
}

/* The last that there is, and the one behind it. */
static void numbers_have_bounds(void **state)
{
	static const struct { enum field field; uint64_t last; } cases[] = {
		{ EVENTS_OF_CELL, GUS_PSV_ALL }, { EVIDENCE, GUS_UNKNOWN }, { CAUSE_OF_BASE, GUS_CAUSES - 1 },
		{ CAUSE_OF_EXCEPTION, GUS_CAUSES - 1 }, { CAUSE_OF_UNKNOWN, GUS_CAUSES - 1 }, { ISA, GUS_ISA_ARM64 },
		{ WIDTH, UINT32_MAX - 1 }, { TOLD_UNMOVED, UINT32_MAX - 1 }, { WHO, UINT32_MAX - 1 },
		{ SITE, UINT32_MAX - 1 }, { EXPLAINED, 1000000 }, { EVIDENCE_OF_ALL, GUS_REPLICATES_EVIDENCES - 1 },
	};
	struct made *m = *state;
	struct gus_bytes bytes = { 0 };

	make(m);
	gus_account_put(&bytes, &m->account);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int beyond = 0; beyond < 2; beyond++) {
			struct gus_cursor from = gus_cursor(bytes.v, bytes.n);
			struct gus_account a;

			print_message("%zu%s\n", i, beyond ? ", one more" : "");
			assert_true(gus_account_take(&a, &m->clues, 1050000, &from));
			set(&a, cases[i].field, cases[i].last + beyond);
			assert_int_equal(comes_back_so(m, &a), !beyond);
			gus_account_free(&a);
		}
	gus_vec_free(&bytes);
}

/* A share may be nothing, but not less, and no infinity; wherever it is. */
static void shares_have_bounds(void **state)
{
	static const struct { double share; bool taken; } cases[] = { { 0, true }, { 1e300, true }, { -1e-300, false },
		{ INFINITY, false }, { -INFINITY, false }, { NAN, false } };
	struct made *m = *state;
	struct gus_replicates *r = &m->account.solution.replicates;

	make(m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double *const all[] = { &r->o.samples, &r->all, &r->cells.v[0].share, &r->cells.v[r->cells.n - 1].share,
			&r->shares[0], &r->shares[r->cells.n * GUS_REPLICATES - 1] };

		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++) {
			double before = *all[k];

			print_message("%zu of %zu\n", k, i);
			*all[k] = cases[i].share;
			assert_int_equal(comes_back_so(m, &m->account), cases[i].taken);
			*all[k] = before;
		}
	}
}

/* Names are as long as names may be. */
static void names_have_bounds(void **state)
{
	struct made *m = *state;
	char *name = gus_zalloc(GUS_LIMIT_NAME + 1);

	make(m);
	memset(name, 'n', GUS_LIMIT_NAME - 1);
	m->account.places.v[0].function = name;
	assert_true(comes_back_so(m, &m->account));
	name[GUS_LIMIT_NAME - 1] = 'n';
	assert_false(comes_back_so(m, &m->account));
	m->account.places.v[0].function = NULL;
	free(name);
}

/* These bytes, which are there once, replaced by as many others, or more. */
static bool is_taken_with(const struct made *m, const struct gus_bytes *bytes, const uint8_t *what, size_t size,
			  const uint8_t *by, size_t by_size)
{
	const uint8_t *there = memmem(bytes->v, bytes->n, what, size);
	struct gus_bytes changed = { 0 };
	bool taken;

	assert_non_null(there);
	gus_vec_append(&changed, bytes->v, (size_t)(there - bytes->v));
	gus_vec_append(&changed, by, by_size);
	gus_vec_append(&changed, there + size, bytes->n - (size_t)(there - bytes->v) - size);
	taken = is_taken(m, changed.v, changed.n, 1050000);
	gus_vec_free(&changed);
	return taken;
}
#define WITH(what, by) is_taken_with(m, &bytes, (const uint8_t *)(what), sizeof(what) - 1, (const uint8_t *)(by), \
				     sizeof(by) - 1)

/* What no account is put as: a truth that is 2, flags that there are not, 16 bytes of an instruction; names with a NUL,
 * or that are there twice. */
static void bytes_that_nobody_puts(void **state)
{
	static const char code[] = "\x0c\x48\x0f\xaf\xc3\x48\x01\xd1\x48\xff\xce\x75\xf4";
	struct made *m = *state;
	struct gus_bytes bytes = { 0 };

	make(m);
	for (size_t i = 0; i < m->account.places.n; i++)
		if (m->account.places.v[i].offset == TEXT + IMUL)
			m->account.places.v[i].function = "/nowhere/apq";
	gus_account_put(&bytes, &m->account);
	assert_true(is_taken(m, bytes.v, bytes.n, 1050000));
	/* offset, executed, block; function, start, in_loop, head */
	assert_true(WITH("\x80\x20\x01\x80\x20", "\x80\x20\x01\x80\x20"));
	assert_false(WITH("\x80\x20\x01\x80\x20", "\x80\x20\x02\x80\x20"));
	assert_true(WITH("\x84\x20\x01\x80\x20\0\0\0\0", "\x84\x20\x01\x80\x20\0\0\1\0"));
	assert_false(WITH("\x84\x20\x01\x80\x20\0\0\0\0", "\x84\x20\x01\x80\x20\0\0\2\0"));
	/* events, flags, evidence, weight of the library's */
	assert_int_equal(GUS_UNKNOWN, 3);
	assert_true(WITH("\0\2\3\xd0\x86\3", "\0\0\3\xd0\x86\3"));
	assert_false(WITH("\0\2\3\xd0\x86\3", "\0\4\3\xd0\x86\3"));
	assert_true(is_taken_with(m, &bytes, (const uint8_t *)code, 13, (const uint8_t *)
				  "\x0f\x48\x0f\xaf\xc3\x48\x01\xd1\x48\xff\xce\x75\xf4\0\0\0", 16));
	assert_false(is_taken_with(m, &bytes, (const uint8_t *)code, 13, (const uint8_t *)
				   "\x10\x48\x0f\xaf\xc3\x48\x01\xd1\x48\xff\xce\x75\xf4\0\0\0\0", 17));
	assert_true(WITH("/nowhere/apq", "/nowhere/apr"));
	assert_false(WITH("/nowhere/apq", "/nowhere/app"));
	assert_false(WITH("/nowhere/apq", "/nowhere/ap\0"));
	gus_vec_free(&bytes);
}

/* More cells of the solution than there are bytes for: they are not even made room for. */
static void of_more_than_there_is(void **state)
{
	static const uint8_t many[] = { 0x80, 0x80, 0x80, 0x80, 8 };
	struct made *m = *state;
	struct gus_account a = { .isa = GUS_ISA_X86_64 };
	struct gus_bytes bytes = { 0 };

	make(m);
	gus_account_put(&bytes, &a);
	assert_true(is_taken(m, bytes.v, bytes.n, 0));
	assert_int_equal(bytes.v[--bytes.n], 0);
	gus_vec_append(&bytes, many, sizeof(many));
	assert_false(is_taken(m, bytes.v, bytes.n, 0));
	gus_vec_free(&bytes);
}

/* Many rows of as few bytes as they can have, and nothing of the model: how many there are is believed. */
static void of_little_each(void **state)
{
	enum { MANY = 120, MORE = 3000 };
	struct made *m = *state;
	const struct gus_account_place place = { .place.module = GUS_CLUE_NONE, .module = LIB };
	struct gus_account a = { .isa = GUS_ISA_X86_64 };

	make(m);
	for (int kind = 0; kind < 3; kind++) {
		size_t places = kind == 0 ? MORE : 1, seen = kind == 1 ? MORE : 1, cells = kind == 2 ? MANY : 1;

		a.weight = seen > cells ? seen : cells;
		a.places.n = a.seen.n = a.cells.n = 0;
		for (size_t i = 0; i < places; i++)
			gus_vec_push(&a.places, place);
		for (size_t i = 0; i < seen; i++)
			gus_vec_push(&a.seen, (struct gus_account_seen){ .weight = a.weight / seen });
		for (size_t i = 0; i < cells; i++)
			gus_vec_push(&a.cells, (struct gus_account_cell){ .weight = a.weight / cells });
		assert_true(comes_back_so(m, &a));
	}
	gus_vec_free(&a.places);
	gus_vec_free(&a.seen);
	gus_vec_free(&a.cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comes_back, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(a_part_is_none, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_none, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(numbers_have_bounds, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(shares_have_bounds, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(names_have_bounds, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(bytes_that_nobody_puts, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_more_than_there_is, made_account_setup, made_account_teardown),
		cmocka_unit_test_setup_teardown(of_little_each, made_account_setup, made_account_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
