/* SPDX-License-Identifier: MIT */
/* The libraries that a program asks for, and where they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "symbolizer/elf/elffile.h"
#include "symbolizer/elf/needed.h"

/* This very program asks for cmocka and for the C library. */
static void test_of_a_program(void **state)
{
	char path[4096] = "";
	struct gus_elf *e = readlink("/proc/self/exe", path, sizeof(path) - 1) > 0 ? gus_elf_open(path, NULL) : NULL;
	struct gus_needed needed;
	unsigned found = 0;

	(void)state;
	assert_non_null(e);
	gus_elf_needed(e, &needed);
	for (size_t i = 0; i < needed.n; i++) {
		char *found_at = gus_needed_find(needed.library[i], "/bin/x", NULL, NULL);

		if (strncmp(needed.library[i], "libcmocka.so", 12) == 0 ||
		    strcmp(needed.library[i], "libc.so.6") == 0) {
			assert_non_null(found_at);
			assert_int_equal(access(found_at, R_OK), 0);
			found++;
		}
		free(found_at);
	}
	assert_int_equal(found, 2);
	gus_elf_close(e);
}

static char folder[] = "/tmp/gus-needed-XXXXXX";

static char *make(const char *below, const char *name)
{
	char *path = gus_format("%s/%s", folder, below);
	FILE *f;

	mkdir(path, 0700);
	free(path);
	path = gus_format("%s/%s/%s", folder, below, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	return path;
}

static void is(char *found, const char *want)
{
	if (want)
		assert_string_equal(found, want);
	else
		assert_null(found);
	free(found);
}

/* The runpath comes first, then LD_LIBRARY_PATH, then the system's; $ORIGIN is the program's own folder. */
static void test_where(void **state)
{
	char *one = make("one", "libgus-x.so"), *two = make("two", "libgus-x.so"), *bin = make("bin", "program");
	char *runpath = gus_format("relative:%s/none:%s/one", folder, folder);
	char *both = gus_format("%s/two:%s/one", folder, folder), *dirs = gus_format("%s/two", folder);

	(void)state;
	is(gus_needed_find("libgus-x.so", bin, runpath, dirs), one);
	is(gus_needed_find("libgus-x.so", bin, NULL, dirs), two);
	is(gus_needed_find("libgus-x.so", bin, both, NULL), two);
	is(gus_needed_find("libgus-x.so", bin, NULL, NULL), NULL);
	is(gus_needed_find("libgus-x.so", bin, "", ""), NULL);
	is(gus_needed_find(one, bin, NULL, NULL), one);
	is(gus_needed_find("one/libgus-x.so", bin, dirs, dirs), NULL);
	free(one);
	free(two);
	free(bin);
	free(runpath);
	free(both);
	free(dirs);
}

static void test_origin(void **state)
{
	char *one = make("one", "libgus-x.so"), *bin = make("bin", "program");
	char *want = gus_format("%s/bin/../one/libgus-x.so", folder);

	(void)state;
	is(gus_needed_find("libgus-x.so", bin, "$ORIGIN/../one", NULL), want);
	is(gus_needed_find("libgus-x.so", bin, "/none:${ORIGIN}/../one", NULL), want);
	is(gus_needed_find("libgus-x.so", bin, "$ORIGINAL/../one", NULL), NULL);
	free(one);
	free(bin);
	free(want);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const files[] = { "one/libgus-x.so", "two/libgus-x.so", "bin/program", "one", "two", "bin",
					     "" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *path = gus_format("%s/%s", folder, files[i]);

		remove(path);
		free(path);
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_a_program), cmocka_unit_test(test_where), cmocka_unit_test(test_origin),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
