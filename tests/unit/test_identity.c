/* SPDX-License-Identifier: MIT */
/* base/identity: what tells a file from others, and from what it was. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/identity.h"
#include "tests/unit/made_folder.h"

static bool are_same(struct gus_identity x, struct gus_identity y)
{
	return memcmp(&x, &y, sizeof(x)) == 0;
}

static void it_is_all_that_the_kernel_says(void **state)
{
	const struct stat st = { .st_dev = 1, .st_ino = 2, .st_size = 3, .st_mtim = { 4, 5 }, .st_ctim = { 6, 7 } };
	const struct gus_identity is = gus_identity_of(&st);

	(void)state;
	assert_true(is.device == 1 && is.inode == 2 && is.size == 3);
	assert_true(is.seconds == 4 && is.nanoseconds == 5);
	assert_true(is.changed_seconds == 6 && is.changed_nanoseconds == 7);
	assert_true(are_same(gus_identity_of(NULL), (struct gus_identity){ 0 }));
}

static void write_to(const char *path, const char *text)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* There is none, then one of three bytes, written at another moment, and behind a link that leads nowhere at last. */
static void a_file_that_was_changed_is_another(void **state)
{
	const struct timespec then[] = { { 1000, 1 }, { 1000, 1 } }, later[] = { { 1000, 1 }, { 1000, 2 } };
	struct gus_identity was, moved, changed;
	struct stat st;

	(void)state;
	assert_true(are_same(gus_identity_at("t"), (struct gus_identity){ 0 }));
	write_to("t", "abc");
	assert_int_equal(utimensat(AT_FDCWD, "t", then, 0), 0);
	was = gus_identity_at("t");
	assert_int_equal(stat("t", &st), 0);
	assert_true(are_same(was, gus_identity_of(&st)));
	assert_true(was.inode != 0 && was.size == 3 && was.seconds == 1000 && was.nanoseconds == 1);
	assert_true(are_same(was, gus_identity_at("t")));
	assert_int_equal(utimensat(AT_FDCWD, "t", later, 0), 0);
	changed = gus_identity_at("t");
	assert_true(changed.nanoseconds == 2 && changed.inode == was.inode);
	assert_int_equal(rename("t", "t.old"), 0);
	assert_int_equal(symlink("t.old", "t"), 0);
	moved = gus_identity_at("t");
	assert_true(moved.inode == was.inode && moved.size == 3);
	assert_int_equal(unlink("t.old"), 0);
	assert_true(are_same(gus_identity_at("t"), (struct gus_identity){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_all_that_the_kernel_says),
		cmocka_unit_test_setup_teardown(a_file_that_was_changed_is_another, made_folder_enter,
						made_folder_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
