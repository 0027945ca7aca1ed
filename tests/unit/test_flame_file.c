/* SPDX-License-Identifier: MIT */
/* cli/report/flame_file: where a page goes, and what is there when it did not become whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/report/flame_file.h"

/* In a folder of its own. */
static int setup(void **state)
{
	static char folder[32];

	strcpy(folder, "/tmp/flame_file_XXXXXX");
	*state = folder;
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = { "page", "page.old", "link", "page.html", "svg", "x.svg.html", ".svgz" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	return chdir("/") || rmdir(*state); /* nothing else is there */
}

/* holds(PATH, WANT): NULL if there is no such file. */
static void holds(const char *path, const char *want)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY);

	if (!want) {
		assert_true(fd < 0);
		return;
	}
	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	assert_string_equal(text, want);
}

/* Opens, writes a word, ends with rc. */
static int writes(const char *path, const char *word, int rc, struct gus_error *err)
{
	struct gus_flame_file f;

	assert_int_equal(gus_flame_file_open(&f, path, err), 0);
	fputs(word, f.out);
	holds(path, NULL); /* not before the end */
	rc = gus_flame_file_end(&f, rc, err);
	assert_true(!f.out || f.out == stdout);
	return rc;
}

static void a_whole_page_takes_its_name(void **state)
{
	struct stat st;

	(void)state;
	umask(027);
	assert_int_equal(writes("page", "new", 0, NULL), 0);
	holds("page", "new");
	assert_int_equal(stat("page", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(umask(022), 027); /* which stays */
	assert_int_equal(writes("page.html", "new", 0, NULL), 0);
	assert_int_equal(stat("page.html", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

static void what_is_not_whole_is_gone(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	gus_fail(&err, GUS_E_USAGE, "first");
	assert_int_equal(writes("page", "half", -1, &err), -1);
	assert_string_equal(err.text, "first");
	holds("page", NULL);
}

static void what_was_there_is_kept(void **state)
{
	struct gus_flame_file f;
	FILE *old = fopen("page", "w");

	(void)state;
	fputs("old", old);
	fclose(old);
	assert_int_equal(gus_flame_file_open(&f, "page", NULL), 0);
	holds("page", "old");
	assert_int_equal(gus_flame_file_end(&f, -1, NULL), -1);
	holds("page", "old");
	holds("page.old", NULL);
	assert_int_equal(gus_flame_file_open(&f, "page", NULL), 0);
	fputs("new", f.out);
	assert_int_equal(gus_flame_file_end(&f, 0, NULL), 0);
	holds("page", "new");
	holds("page.old", "old");
}

static void names_of_other_kinds_are_refused(void **state)
{
	static const char *const refused[] = { "x.svg", "x.SVG", ".svg", "a.png", "dir/a.json", "b.Json" };
	static const char *const taken[] = { "svg", "x.svg.html", ".svgz" };

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct gus_error err = { 0 };
		struct gus_flame_file f;

		assert_int_equal(gus_flame_file_open(&f, refused[i], &err), -1);
		assert_int_equal(err.code, GUS_E_USAGE);
		assert_non_null(strstr(err.text, "it is a page of HTML"));
		holds(refused[i], NULL);
	}
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		assert_int_equal(writes(taken[i], "x", 0, NULL), 0);
}

static void a_dash_is_standard_output(void **state)
{
	struct gus_flame_file f;

	(void)state;
	assert_int_equal(gus_flame_file_open(&f, "-", NULL), 0);
	assert_ptr_equal(f.out, stdout);
	assert_int_equal(gus_flame_file_end(&f, 0, NULL), 0);
	assert_int_equal(gus_flame_file_end(&f, -1, NULL), -1);
	assert_true(fcntl(1, F_GETFD) >= 0); /* still open */
	holds("-", NULL);
}

static void devices_are_written_as_they_are(void **state)
{
	struct gus_error err = { 0 };
	struct gus_flame_file f;
	struct stat st;

	(void)state;
	assert_int_equal(gus_flame_file_open(&f, "/dev/null", NULL), 0);
	fputs("x", f.out);
	assert_int_equal(gus_flame_file_end(&f, 0, NULL), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(gus_flame_file_open(&f, "/dev/full", NULL), 0);
	fputs("x", f.out);
	assert_int_equal(gus_flame_file_end(&f, 0, &err), -1);
	assert_non_null(strstr(err.text, "cannot write the flame graph to /dev/full"));
}

static void what_cannot_be_made_is_said(void **state)
{
	struct gus_error err = { 0 };
	struct gus_flame_file f;

	(void)state;
	assert_int_equal(gus_flame_file_open(&f, "none/page", &err), -1);
	assert_non_null(strstr(err.text, "flame graph none/page: No such file"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_page_takes_its_name),
		TEST(what_is_not_whole_is_gone),
		TEST(what_was_there_is_kept),
		TEST(names_of_other_kinds_are_refused),
		TEST(a_dash_is_standard_output),
		TEST(devices_are_written_as_they_are),
		TEST(what_cannot_be_made_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
