/* SPDX-License-Identifier: MIT */
/* collector/snapshot/stored: snapshots that are put aside are what they were, and what they have in common is there
 * once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/snapshot/stored.h"
#include "tests/unit/made_snapshot.h"

#define PAGE 4096
#define AT 0x10000000ull
#define PAGES 8
#define TIMES 1

/* Eight pages in a row, each full of its letter. */
static void put(struct gus_shelf *shelf, const char letters[PAGES + 1], struct gus_stored *to)
{
	struct gus_snapshot s = made_snapshot(1);
	uint8_t bytes[PAGES * PAGE];
	struct gus_error err = { 0 };

	made_snapshot_map(&s, AT, PAGES, "");
	for (int i = 0; i < PAGES; i++)
		memset(bytes + i * PAGE, letters[i], PAGE);
	assert_int_equal(gus_shelf_begin(shelf, sizeof(bytes), TIMES, &err), 0);
	/* In two pieces, the later one first, as copying may have it. */
	assert_int_equal(gus_shelf_pages(shelf, AT + 6 * PAGE, bytes + 6 * PAGE, 2 * PAGE, &err), 0);
	assert_int_equal(gus_shelf_pages(shelf, AT, bytes, 6 * PAGE, &err), 0);
	assert_int_equal(gus_shelf_end(shelf, &s, to, &err), 0);
}

static void assert_is(struct gus_stored *stored, const char letters[PAGES + 1])
{
	const struct gus_snapshot *s = &stored->snapshot;
	struct gus_error err = { 0 };
	uint64_t next = AT;

	assert_int_equal(gus_stored_open(stored, &err), 0);
	assert_int_equal(gus_snapshot_check(s, &err), 0);
	assert_int_equal(s->about->bytes, PAGES * PAGE);
	for (size_t i = 0; i < s->runs.n; i++) {
		const struct gus_snapshot_run *run = &s->runs.v[i];
		const struct gus_snapshot_file *f = &s->file[run->at >= s->file[1].from];

		assert_int_equal(run->address, next);
		for (uint64_t k = 0; k < run->size; k++)
			assert_int_equal(s->bytes[run->at + k], letters[(run->address + k - AT) / PAGE]);
		assert_true(run->at >= f->from && run->at + run->size <= f->from + f->size); /* of one file alone */
		next += run->size;
	}
	assert_int_equal(next, AT + PAGES * PAGE);
	gus_stored_close(stored);
}

/* Of the second one only the pages that changed are kept, and both are what they were. */
static void what_is_the_same_is_kept_once(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_stored v[2];

	(void)state;
	put(&shelf, "abcdefgh", &v[0]);
	put(&shelf, "abXdefgY", &v[1]);
	assert_int_equal(v[0].own_bytes, 0);
	assert_int_equal(v[1].own_bytes, 2 * PAGE);
	assert_int_equal(gus_stored_bytes(v, 2), (PAGES + 2) * PAGE);
	assert_is(&v[1], "abXdefgY");
	assert_is(&v[0], "abcdefgh");
	gus_stored_free(&v[0]); /* the second one still needs the pages of the first */
	gus_shelf_free(&shelf);
	assert_is(&v[1], "abXdefgY");
	gus_stored_free(&v[1]);
}

/* After one that is another altogether, the next one is compared with nothing: it is kept whole, as the new base. */
static void a_base_that_few_are_like_is_given_up(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_stored v[4];

	(void)state;
	put(&shelf, "abcdefgh", &v[0]);
	put(&shelf, "abcVWXYZ", &v[1]);
	put(&shelf, "abcVWXYZ", &v[2]);
	put(&shelf, "aQcVWXYZ", &v[3]);
	assert_int_equal(v[1].own_bytes, 5 * PAGE);
	assert_int_equal(v[2].own_bytes, 0);
	assert_int_equal(v[3].own_bytes, PAGE);
	assert_int_equal(gus_stored_bytes(v, 4), (PAGES + 5 + PAGES + 1) * PAGE);
	assert_is(&v[0], "abcdefgh");
	assert_is(&v[1], "abcVWXYZ");
	assert_is(&v[2], "abcVWXYZ");
	assert_is(&v[3], "aQcVWXYZ");
	for (int i = 0; i < 4; i++)
		gus_stored_free(&v[i]);
	gus_shelf_free(&shelf);
}

/* One that fails in the middle leaves nothing that the next would be compared with. */
static void one_that_fails_is_forgotten(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_stored after;
	uint8_t page[PAGE] = { 0 };
	struct gus_error err = { 0 };

	(void)state;
	gus_shelf_cancel(&shelf);
	assert_int_equal(gus_shelf_begin(&shelf, PAGE, TIMES, &err), 0);
	assert_int_equal(gus_shelf_pages(&shelf, AT, page, PAGE, &err), 0);
	gus_shelf_cancel(&shelf);
	put(&shelf, "abcdefgh", &after);
	assert_int_equal(after.own_bytes, 0);
	assert_is(&after, "abcdefgh");
	gus_stored_free(&after);
	gus_shelf_free(&shelf);
}

/* What would fill the disk is not begun. */
static void others_want_room_too(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_error err = { 0 };

	(void)state;
	if (gus_shelf_begin(&shelf, UINT64_MAX / 2, 2, &err) == 0) {
		gus_shelf_cancel(&shelf);
		skip(); /* files are in memory here */
	}
	assert_int_equal(err.code, GUS_E_FULL);
	assert_non_null(strstr(err.text, "TMPDIR"));
	gus_shelf_free(&shelf);
}

/* Pages that are not copied again are as they were at the first look; only of the same process, all of them or none,
 * and not while that look lasts. */
static void what_is_old_is_of_the_base(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_snapshot s = made_snapshot(1);
	struct gus_stored v[2];
	struct gus_error err = { 0 };
	uint8_t page[PAGE];

	(void)state;
	assert_false(gus_shelf_old(&shelf, AT, PAGE));
	put(&shelf, "abcdefgh", &v[0]);
	made_snapshot_map(&s, AT, PAGES, "");
	assert_true(gus_shelf_knows(&shelf, s.about));
	assert_true(gus_shelf_is_of(&shelf, s.about->pid));
	assert_false(gus_shelf_is_of(&shelf, s.about->pid + 1));
	memset(page, 'X', PAGE);
	assert_int_equal(gus_shelf_begin(&shelf, PAGE, TIMES, &err), 0);
	assert_int_equal(gus_shelf_pages(&shelf, AT + 2 * PAGE, page, PAGE, &err), 0);
	assert_false(gus_shelf_has(&shelf, AT + 2 * PAGE, page));
	assert_false(gus_shelf_has(&shelf, AT + 8 * PAGE, page));
	memset(page, 'c', PAGE);
	assert_true(gus_shelf_has(&shelf, AT + 2 * PAGE, page));
	assert_false(gus_shelf_old(&shelf, AT + 7 * PAGE, 2 * PAGE));
	assert_false(gus_shelf_old(&shelf, AT - PAGE, 2 * PAGE));
	assert_true(gus_shelf_old(&shelf, AT + 3 * PAGE, 5 * PAGE));
	assert_true(gus_shelf_old(&shelf, AT, 2 * PAGE));
	assert_int_equal(gus_shelf_end(&shelf, &s, &v[1], &err), 0);
	assert_int_equal(v[1].own_bytes, PAGE);
	assert_is(&v[1], "abXdefgh");
	for (int i = 0; i < 2; i++)
		gus_stored_free(&v[i]);
	gus_shelf_free(&shelf);
}

static void another_program_is_not_known(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_snapshot s = made_snapshot(1);
	struct gus_stored v;

	(void)state;
	put(&shelf, "abcdefgh", &v);
	made_snapshot_map(&s, AT, PAGES, "");
	made_snapshot_map(&s, AT + 16 * PAGE, 1, "/nowhere/program");
	s.about->mappings[s.about->n_mappings - 1]->inode = 7;
	s.about->mappings[s.about->n_mappings - 1]->protection = PROT_READ | PROT_EXEC;
	assert_false(gus_shelf_knows(&shelf, s.about));
	gus_snapshot_free(&s);
	gus_stored_free(&v);
	gus_shelf_free(&shelf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_old_is_of_the_base),
		cmocka_unit_test(another_program_is_not_known),
		cmocka_unit_test(what_is_the_same_is_kept_once),
		cmocka_unit_test(a_base_that_few_are_like_is_given_up),
		cmocka_unit_test(one_that_fails_is_forgotten),
		cmocka_unit_test(others_want_room_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
