/* SPDX-License-Identifier: MIT */
/* collector/snapshot/stored: snapshots that are put aside are what they were, and what they have in common is there
 * once. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/snapshot/stored.h"
#include "tests/unit/made_snapshot.h"

#define PAGE 4096
#define AT 0x10000000ull
#define PAGES 8
#define TIMES 1

/* How disks write: all at once; in pieces, and interrupted before each; a page, and then no more; nothing. */
enum writes { WHOLE, IN_PIECES, FULL_SOON, NOTHING };
static enum writes writes;
static unsigned written;

ssize_t __real_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size);

ssize_t __wrap_write(int file, const void *bytes, size_t size)
{
	unsigned turn = written++;

	if (writes == WHOLE)
		return __real_write(file, bytes, size);
	if (writes == NOTHING)
		return 0;
	if (writes == FULL_SOON ? turn : turn % 2 == 0) {
		errno = writes == FULL_SOON ? ENOSPC : EINTR;
		return -1;
	}
	return __real_write(file, bytes, size < PAGE - 1 ? size : PAGE - 1);
}

/* Another disk than there is; NULL: that. It may be asked in vain. */
static const struct statvfs *disk;
static bool disk_is_mute;

int __real_fstatvfs(int file, struct statvfs *fs);
int __wrap_fstatvfs(int file, struct statvfs *fs);

int __wrap_fstatvfs(int file, struct statvfs *fs)
{
	if (!disk)
		return __real_fstatvfs(file, fs);
	*fs = *disk;
	return disk_is_mute ? -1 : 0;
}

static void write_so(enum writes how)
{
	writes = how;
	written = 0;
}

static unsigned open_files(void)
{
	DIR *all = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(all);
	while (readdir(all))
		n++;
	closedir(all);
	return n;
}

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
	assert_int_equal(v[0].snapshot.runs.n, 2); /* as it was put in two pieces */
	assert_int_equal(v[1].snapshot.runs.n, 5); /* ab, X, def, g, Y */
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

/* Half of its pages are what the base has: that is like it. Of one page more than half it is not (above). */
static void a_base_that_half_is_like_stays(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_stored v[3];

	(void)state;
	put(&shelf, "abcdefgh", &v[0]);
	put(&shelf, "abcdWXYZ", &v[1]);
	put(&shelf, "abcdefgZ", &v[2]);
	assert_int_equal(v[1].own_bytes, 4 * PAGE);
	assert_int_equal(v[2].own_bytes, PAGE);
	assert_int_equal(gus_stored_bytes(v, 3), (PAGES + 4 + 1) * PAGE);
	assert_is(&v[1], "abcdWXYZ");
	assert_is(&v[2], "abcdefgZ");
	for (int i = 0; i < 3; i++)
		gus_stored_free(&v[i]);
	gus_shelf_free(&shelf);
}

/* Whether it is the base, one beside it, or one that is given up half-way: no file of it stays open. */
static void nothing_stays_open(void **state)
{
	const unsigned before = open_files();
	struct gus_shelf shelf = { 0 };
	struct gus_stored v[3];
	struct gus_error err = { 0 };

	(void)state;
	gus_shelf_cancel(&shelf); /* there is nothing to be given up, so nothing is closed */
	assert_int_equal(open_files(), before);
	put(&shelf, "abcdefgh", &v[0]);
	assert_int_equal(open_files(), before + 1);
	put(&shelf, "aXcdefgh", &v[1]);
	put(&shelf, "abcVWXYZ", &v[2]); /* and the base is the store's no longer */
	assert_int_equal(open_files(), before + 3);
	assert_int_equal(gus_shelf_begin(&shelf, PAGE, TIMES, &err), 0);
	assert_int_equal(open_files(), before + 4);
	gus_shelf_cancel(&shelf);
	gus_shelf_cancel(&shelf);
	assert_int_equal(open_files(), before + 3);
	for (int i = 0; i < 3; i++)
		gus_stored_free(&v[i]);
	assert_int_equal(open_files(), before);
	put(&shelf, "abcdefgh", &v[0]);
	gus_stored_free(&v[0]);
	assert_int_equal(open_files(), before + 1); /* that of the base, for the next one */
	gus_shelf_forget(&shelf);
	assert_int_equal(open_files(), before);
	gus_shelf_free(&shelf);
}

/* Forgotten while one is put beside the base: neither is there any more. */
static void one_that_is_forgotten_half_way(void **state)
{
	const unsigned before = open_files();
	struct gus_shelf shelf = { 0 };
	struct gus_stored v;
	struct gus_error err = { 0 };

	(void)state;
	put(&shelf, "abcdefgh", &v);
	gus_stored_free(&v);
	assert_int_equal(gus_shelf_begin(&shelf, PAGE, TIMES, &err), 0);
	gus_shelf_forget(&shelf);
	assert_int_equal(open_files(), before);
	assert_false(gus_shelf_is_of(&shelf, 1));
	put(&shelf, "abcdefgh", &v);
	assert_int_equal(v.own_bytes, 0);
	gus_stored_free(&v);
	gus_shelf_free(&shelf);
}

static void writes_that_are_cut_short_go_on(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_stored v[2];

	(void)state;
	write_so(IN_PIECES);
	put(&shelf, "abcdefgh", &v[0]);
	assert_true(written > 2 * PAGES);
	put(&shelf, "abXdefYZ", &v[1]);
	write_so(WHOLE);
	assert_is(&v[0], "abcdefgh");
	assert_is(&v[1], "abXdefYZ");
	for (int i = 0; i < 2; i++)
		gus_stored_free(&v[i]);
	gus_shelf_free(&shelf);
}

/* A disk that is full, or takes nothing and does not say why: of a base, of the first pages that differ, and of the
 * last ones. */
static void a_full_disk_is_an_error(void **state)
{
	static const enum writes full[] = { FULL_SOON, NOTHING };
	uint8_t bytes[4 * PAGE];

	(void)state;
	for (int i = 0; i < 6; i++) {
		const unsigned before = open_files();
		struct gus_shelf shelf = { 0 };
		struct gus_stored base;
		struct gus_error err = { 0 };
		int differs = i / 2;    /* 0: there is no base; 1: the first page does; 2: the last one */

		if (differs) {
			put(&shelf, "abcdefgh", &base);
			gus_stored_free(&base);
		}
		for (int k = 0; k < 4; k++)
			memset(bytes + k * PAGE, "abcd"[k], PAGE);
		if (differs)
			memset(bytes + (differs == 1 ? 0 : 3) * PAGE, 'X', PAGE);
		assert_int_equal(gus_shelf_begin(&shelf, sizeof(bytes), TIMES, &err), 0);
		write_so(full[i % 2]);
		assert_int_equal(gus_shelf_pages(&shelf, AT, bytes, sizeof(bytes), &err), -1);
		write_so(WHOLE);
		assert_non_null(strstr(err.text, "TMPDIR"));
		gus_shelf_cancel(&shelf);
		assert_int_equal(open_files(), before + (differs ? 1 : 0));
		gus_shelf_free(&shelf);
		assert_int_equal(open_files(), before);
	}
}

/* One without a page, as the base and beside it. */
static void of_no_pages(void **state)
{
	const uint8_t page[PAGE] = { 0 };
	struct gus_shelf shelf = { 0 };
	struct gus_stored v[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct gus_snapshot s = made_snapshot(1);
		struct gus_error err = { 0 };

		assert_int_equal(gus_shelf_begin(&shelf, 0, TIMES, &err), 0);
		assert_int_equal(gus_shelf_end(&shelf, &s, &v[i], &err), 0);
		assert_int_equal(v[i].snapshot.about->bytes, 0);
		assert_int_equal(v[i].snapshot.runs.n, 0);
		assert_int_equal(gus_stored_open(&v[i], &err), 0);
		gus_stored_close(&v[i]);
		gus_stored_close(&v[i]);
		assert_false(gus_shelf_has(&shelf, AT, page));
		assert_false(gus_shelf_old(&shelf, AT, PAGE));
	}
	assert_int_equal(gus_stored_bytes(v, 2), 0);
	for (int i = 0; i < 2; i++)
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

/* What would fill the disk is not begun: here 12 pages are left, of which others want as much as it, or twice that. */
static void others_want_room_too(void **state)
{
	static const struct { uint64_t bytes; unsigned times; bool fits; } cases[] = {
		{ 12 * PAGE, 1, true }, { 12 * PAGE + 1, 1, false },
		{ 6 * PAGE, 2, true }, { 6 * PAGE + 1, 2, false },
		{ 4 * PAGE, 3, true }, { 4 * PAGE + 1, 3, false },
		{ UINT64_MAX / 2, 2, false },
	};
	static const struct statvfs small = { .f_blocks = 100, .f_bfree = 50, .f_bavail = 3, .f_frsize = 4 * PAGE,
		.f_bsize = 1 };
	const unsigned before = open_files();

	(void)state;
	disk = &small;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_shelf shelf = { 0 };
		struct gus_error err = { 0 };

		assert_int_equal(gus_shelf_begin(&shelf, cases[i].bytes, cases[i].times, &err), cases[i].fits ? 0 : -1);
		assert_int_equal(open_files(), before + cases[i].fits);
		assert_int_equal(err.code == GUS_E_FULL, !cases[i].fits);
		assert_int_equal(strstr(err.text, "TMPDIR") != NULL, !cases[i].fits);
		gus_shelf_cancel(&shelf);
		gus_shelf_free(&shelf);
	}
	disk = NULL;
	assert_int_equal(open_files(), before);
}

/* Of files in memory, which have no blocks, and where nobody knows, it is tried. */
static void where_room_is_not_known(void **state)
{
	static const struct statvfs none = { 0 }, small = { .f_blocks = 100 };

	(void)state;
	for (int mute = 0; mute < 2; mute++) {
		struct gus_shelf shelf = { 0 };
		struct gus_error err = { 0 };

		disk = mute ? &small : &none;
		disk_is_mute = mute;
		assert_int_equal(gus_shelf_begin(&shelf, 100 * PAGE, TIMES, &err), 0);
		gus_shelf_cancel(&shelf);
		gus_shelf_free(&shelf);
	}
	disk = NULL;
	disk_is_mute = false;
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

/* Pages of a base that is not whole yet are nobody's. */
static void a_base_that_is_made_has_nothing(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_error err = { 0 };
	uint8_t page[PAGE] = { 0 };

	(void)state;
	assert_false(gus_shelf_has(&shelf, AT, page));
	assert_false(gus_shelf_is_of(&shelf, 0));
	assert_int_equal(gus_shelf_begin(&shelf, PAGE, TIMES, &err), 0);
	assert_int_equal(gus_shelf_pages(&shelf, AT, page, PAGE, &err), 0);
	assert_false(gus_shelf_has(&shelf, AT, page));
	assert_false(gus_shelf_is_of(&shelf, 0));
	assert_false(gus_shelf_old(&shelf, AT, PAGE));
	gus_shelf_cancel(&shelf);
	gus_shelf_free(&shelf);
}

/* A gap is between the two runs of the base: what spans it is put by nobody, what ends before it is. */
static void what_is_old_has_no_gap(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_snapshot s = made_snapshot(1), next = made_snapshot(1);
	struct gus_stored v[2];
	struct gus_error err = { 0 };
	uint8_t bytes[3 * PAGE];

	(void)state;
	memset(bytes, 'a', PAGE);
	memset(bytes + PAGE, 'b', PAGE);
	memset(bytes + 2 * PAGE, 'c', PAGE);
	made_snapshot_map(&s, AT, 4, "");
	made_snapshot_map(&next, AT, 4, "");
	assert_int_equal(gus_shelf_begin(&shelf, sizeof(bytes), TIMES, &err), 0);
	assert_int_equal(gus_shelf_pages(&shelf, AT, bytes, 2 * PAGE, &err), 0);
	assert_int_equal(gus_shelf_pages(&shelf, AT + 3 * PAGE, bytes + 2 * PAGE, PAGE, &err), 0);
	assert_int_equal(gus_shelf_end(&shelf, &s, &v[0], &err), 0);
	assert_int_equal(v[0].snapshot.runs.n, 2);
	assert_int_equal(gus_shelf_begin(&shelf, sizeof(bytes), TIMES, &err), 0);
	assert_false(gus_shelf_has(&shelf, AT + 2 * PAGE, bytes));
	assert_false(gus_shelf_old(&shelf, AT, 4 * PAGE));
	assert_false(gus_shelf_old(&shelf, AT + PAGE, 2 * PAGE));
	assert_true(gus_shelf_old(&shelf, AT + PAGE, PAGE));
	assert_true(gus_shelf_old(&shelf, AT + 3 * PAGE, PAGE));
	assert_int_equal(gus_shelf_end(&shelf, &next, &v[1], &err), 0);
	assert_int_equal(v[1].snapshot.about->bytes, 2 * PAGE);
	assert_int_equal(v[1].snapshot.runs.n, 2);
	assert_int_equal(gus_stored_open(&v[1], &err), 0);
	assert_int_equal(v[1].snapshot.runs.v[0].address, AT + PAGE);
	assert_int_equal(v[1].snapshot.bytes[v[1].snapshot.runs.v[0].at], 'b');
	assert_int_equal(v[1].snapshot.bytes[v[1].snapshot.runs.v[1].at], 'c');
	for (int i = 0; i < 2; i++)
		gus_stored_free(&v[i]);
	gus_shelf_free(&shelf);
}

static void program_at(struct gus_snapshot *s, uint64_t start, uint64_t inode, uint32_t protection)
{
	made_snapshot_map(s, start, 1, inode ? "/nowhere/program" : "");
	s->about->mappings[s->about->n_mappings - 1]->inode = inode;
	s->about->mappings[s->about->n_mappings - 1]->protection = protection;
}

/* A program is the first code of a file; data of one before it, code of none, and what is behind are no matter. */
static void the_same_program_is_known(void **state)
{
	enum { DATA = PROT_READ | PROT_WRITE, CODE = PROT_READ | PROT_EXEC };
	static const struct { uint64_t data, anonymous, start, inode; uint32_t pid; bool known; } cases[] = {
		{ 5, 0x1000, 0x10000, 7, 1, true },
		{ 6, 0x2000, 0x10000, 7, 1, true },     /* other data, and other code of no file */
		{ 5, 0x1000, 0x20000, 7, 1, false },    /* executed anew, so it lies elsewhere */
		{ 5, 0x1000, 0x10000, 8, 1, false },    /* another file */
		{ 5, 0x1000, 0x10000, 7, 2, false },    /* another process */
	};
	struct gus_shelf shelf = { 0 };
	struct gus_stored base;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_snapshot s = made_snapshot(cases[i].pid);
		struct gus_error err = { 0 };

		program_at(&s, 0x800, cases[i].data, DATA);
		program_at(&s, cases[i].anonymous, 0, CODE);
		program_at(&s, cases[i].start, cases[i].inode, CODE);
		program_at(&s, 0x90000 + 0x1000 * i, 9 + i, CODE);
		if (!i) {
			assert_int_equal(gus_shelf_begin(&shelf, 0, TIMES, &err), 0);
			assert_int_equal(gus_shelf_end(&shelf, &s, &base, &err), 0);
			assert_true(gus_shelf_knows(&shelf, base.snapshot.about));
			continue;
		}
		assert_int_equal(gus_shelf_knows(&shelf, s.about), cases[i].known);
		gus_snapshot_free(&s);
	}
	gus_stored_free(&base);
	gus_shelf_free(&shelf);
}

/* Nothing lies before it. */
static void a_program_may_be_the_first(void **state)
{
	struct gus_shelf shelf = { 0 };
	struct gus_snapshot same = made_snapshot(1), other = made_snapshot(1), s = made_snapshot(1);
	struct gus_stored v;
	struct gus_error err = { 0 };

	(void)state;
	program_at(&s, 0x10000, 7, PROT_READ | PROT_EXEC);
	program_at(&same, 0x10000, 7, PROT_READ | PROT_EXEC);
	program_at(&other, 0x10000, 8, PROT_READ | PROT_EXEC);
	assert_int_equal(gus_shelf_begin(&shelf, 0, TIMES, &err), 0);
	assert_int_equal(gus_shelf_end(&shelf, &s, &v, &err), 0);
	assert_true(gus_shelf_knows(&shelf, same.about));
	assert_false(gus_shelf_knows(&shelf, other.about));
	gus_snapshot_free(&same);
	gus_snapshot_free(&other);
	gus_stored_free(&v);
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
		cmocka_unit_test(a_base_that_is_made_has_nothing),
		cmocka_unit_test(what_is_old_has_no_gap),
		cmocka_unit_test(the_same_program_is_known),
		cmocka_unit_test(a_program_may_be_the_first),
		cmocka_unit_test(another_program_is_not_known),
		cmocka_unit_test(what_is_the_same_is_kept_once),
		cmocka_unit_test(a_base_that_few_are_like_is_given_up),
		cmocka_unit_test(a_base_that_half_is_like_stays),
		cmocka_unit_test(nothing_stays_open),
		cmocka_unit_test(one_that_is_forgotten_half_way),
		cmocka_unit_test(writes_that_are_cut_short_go_on),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(of_no_pages),
		cmocka_unit_test(one_that_fails_is_forgotten),
		cmocka_unit_test(others_want_room_too),
		cmocka_unit_test(where_room_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
