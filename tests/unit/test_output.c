/* SPDX-License-Identifier: MIT */
/* base/output: what a file that is named for output does to what has its name already. Everything happens in a folder
 * of its own, and what is in that at the end is part of what is expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/output.h"

static int enter_folder(void **state)
{
	static char folder[32];

	strcpy(folder, "/tmp/test_output.XXXXXX");
	*state = folder;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
	DIR *d = opendir(".");

	for (struct dirent *e; d && (e = readdir(d));)
		remove(e->d_name);
	closedir(d);
	return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

static unsigned entries(void)
{
	DIR *d = opendir(".");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2; /* . and .. */
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_holds(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_true(fgets(got, sizeof(got), f) || !*text);
	fclose(f);
	assert_string_equal(got, text);
}

/* Writes "new" under that name. */
static void write_new(const char *path)
{
	struct gus_error err = { 0 };
	struct gus_output o;

	assert_int_equal(gus_output_create(&o, path, "thing", &err), 0);
	assert_int_equal(write(o.fd, "new", 3), 3);
	assert_int_equal(gus_output_name(&o, &err), 0);
	assert_int_equal(close(o.fd), 0);
	assert_int_equal(err.code, GUS_OK);
	assert_holds(path, "new");
}

static void a_name_that_is_free(void **state)
{
	(void)state;
	write_new("a");
	assert_int_equal(entries(), 1);
}

static void nothing_has_the_name_before_it_is_given(void **state)
{
	struct gus_output o;
	struct stat st;

	(void)state;
	put("a", "old");
	assert_int_equal(gus_output_create(&o, "a", "thing", NULL), 0);
	assert_int_equal(fstat(o.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(fcntl(o.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_holds("a", "old");
	assert_int_equal(entries(), o.hidden ? 2 : 1);
	close(o.fd);
	gus_output_drop(&o);
	assert_holds("a", "old");
	assert_int_equal(entries(), 1);
}

/* Of several runs the last but one is kept. */
static void a_file_becomes_old(void **state)
{
	(void)state;
	put("a", "first");
	put("a.old", "older");
	write_new("a");
	assert_holds("a.old", "first");
	assert_int_equal(entries(), 2);
}

static void a_link_is_not_written_through(void **state)
{
	static const char *const targets[] = { "victim", "nowhere" };
	char link[16];

	(void)state;
	put("victim", "precious");
	for (int i = 0; i < 2; i++) {
		memset(link, 0, sizeof(link));
		assert_int_equal(symlink(targets[i], "a"), 0);
		write_new("a");
		assert_true(readlink("a.old", link, sizeof(link) - 1) > 0);
		assert_string_equal(link, targets[i]);
		assert_int_equal(remove("a"), 0);
	}
	assert_holds("victim", "precious");
	assert_int_equal(entries(), 2); /* victim, a.old */
}

/* Renaming one away would take it from others; so would renaming a link that stands for one, such as /dev/stdout. */
static void what_is_no_file_is_refused(void **state)
{
	static const char *const names[] = { "fifo", "link", "stdout", "." };

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(symlink("fifo", "link"), 0);
	assert_int_equal(symlink("/proc/self/exe", "stdout"), 0); /* a file as long as one is open there */
	for (int i = 0; i < 4; i++) {
		struct gus_error err = { 0 };
		struct gus_output o;

		assert_int_equal(gus_output_create(&o, names[i], "thing", &err), -1);
		assert_int_equal(err.code, GUS_E_USAGE);
		assert_non_null(strstr(err.text, "cannot write the thing"));
		assert_non_null(strstr(err.text, "is not a regular file"));
		assert_int_equal(entries(), 3);
	}
}

/* What was free when the file was made may have been taken meanwhile. */
/* A link of /proc, by whatever way, is not renamed away: /dev/stdout is one. */
static void what_is_open_is_refused(void **state)
{
	struct gus_error err = { 0 };
	struct gus_output o;
	char path[32];
	int fd;

	(void)state;
	put("a", "old");
	fd = open("a", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(symlink(path, "link"), 0);
	assert_int_equal(gus_output_create(&o, "link", "thing", &err), -1);
	assert_int_equal(err.code, GUS_E_USAGE);
	assert_non_null(strstr(err.text, "open already"));
	close(fd);
	assert_int_equal(entries(), 2); /* the file and the link, as they were */
}

static void refused_when_it_is_named(void **state)
{
	struct gus_error err = { 0 };
	struct gus_output o;

	(void)state;
	assert_int_equal(gus_output_create(&o, "a", "thing", &err), 0);
	close(o.fd);
	assert_int_equal(mkfifo("a", 0600), 0);
	assert_int_equal(gus_output_name(&o, &err), -1);
	assert_int_equal(err.code, GUS_E_USAGE);
	assert_int_equal(entries(), 1); /* the FIFO */
}

static void a_folder_that_is_not_there(void **state)
{
	struct gus_error err = { 0 };
	struct gus_output o;

	(void)state;
	assert_int_equal(gus_output_create(&o, "nowhere/a", "thing", &err), -1);
	assert_int_equal(err.code, GUS_E_NOT_FOUND);
	assert_string_equal(err.text, "cannot create the thing nowhere/a: No such file or directory");
	assert_int_equal(entries(), 0);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_name_that_is_free),
		IN_FOLDER(nothing_has_the_name_before_it_is_given),
		IN_FOLDER(a_file_becomes_old),
		IN_FOLDER(a_link_is_not_written_through),
		IN_FOLDER(what_is_no_file_is_refused),
		IN_FOLDER(what_is_open_is_refused),
		IN_FOLDER(refused_when_it_is_named),
		IN_FOLDER(a_folder_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
