/* SPDX-License-Identifier: MIT */
/* base/store: files that come back as they were, whole or not at all, and folders that are not used. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/store.h"

#define STRANGER 12345

static char folder[] = "/tmp/gusprof-store-XXXXXX";

static int enter(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	char *command = gus_format("rm -rf '%s'", folder);
	int status = chdir("/") == 0 ? system(command) : -1;

	(void)state;
	free(command);
	return status;
}

static struct gus_store *open_at(const char *path, uint64_t limit)
{
	struct gus_error err = { 0 };
	struct gus_store *s = gus_store_open(path, ".kept", limit, &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static void assert_refused(const char *path, const char *why)
{
	struct gus_error err = { 0 };

	assert_null(gus_store_open(path, ".kept", 1000, &err));
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void put(struct gus_store *s, const char *name, char letter, size_t size)
{
	char *bytes = gus_alloc(size + 1);
	struct gus_error err = { 0 };

	memset(bytes, letter, size);
	if (gus_store_write(s, name, bytes, size, &err) != 0)
		fail_msg("%s", err.text);
	free(bytes);
}

/* letter 0: there is none */
static void assert_holds(struct gus_store *s, const char *name, char letter, size_t expected)
{
	size_t size = 12345;
	uint8_t *bytes = gus_store_read(s, name, 500, &size);

	assert_int_equal(bytes != NULL, letter != 0);
	for (size_t i = 0; bytes && i < size; i++)
		assert_int_equal(bytes[i], letter);
	if (bytes)
		assert_int_equal(size, expected);
	free(bytes);
}

static void assert_not_read(struct gus_store *s, const char *name, int why)
{
	size_t size;

	errno = 0;
	assert_null(gus_store_read(s, name, 500, &size));
	assert_int_equal(errno, why);
}

static void assert_mode(const char *path, mode_t mode)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

/* As if it was last used so many seconds ago. */
static void age(const char *path, time_t seconds)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void files_come_back(void **state)
{
	struct gus_store *s = open_at("a/b/kept", 1000);
	struct gus_error err = { 0 };

	(void)state;
	assert_mode("a", 0700);
	assert_mode("a/b/kept", 0700);
	assert_holds(s, "one", 0, 0);
	put(s, "one", 'x', 10);
	put(s, "empty", 'x', 0);
	assert_mode("a/b/kept/one.kept", 0600);
	assert_holds(s, "one", 'x', 10);
	assert_holds(s, "empty", 'x', 0);
	put(s, "one", 'y', 500);
	gus_store_close(s);
	s = open_at("a/b/kept/", 1000);
	assert_holds(s, "one", 'y', 500);
	put(s, "one", 'z', 501);
	assert_holds(s, "one", 0, 0); /* more than may be read */
	assert_int_equal(mkdir("a/b/kept/taken.kept", 0700), 0);
	assert_int_equal(gus_store_write(s, "taken", "x", 1, &err), -1);
	assert_non_null(strstr(err.text, "a/b/kept"));
	assert_int_equal(system("test $(ls -A a/b/kept | wc -l) = 3"), 0); /* nothing unfinished is left */
	gus_store_close(s);
}

static void the_least_recently_used_go(void **state)
{
	struct gus_store *s = open_at("kept", 1000);

	(void)state;
	put(s, "old", 'a', 400);
	put(s, "older", 'b', 400);
	age("kept/old.kept", 1000);
	age("kept/older.kept", 2000);
	put(s, "new", 'c', 200); /* as much as there may be */
	assert_holds(s, "new", 'c', 200);
	assert_holds(s, "old", 'a', 400);
	age("kept/old.kept", 1000);
	assert_holds(s, "older", 'b', 400); /* and is the one used last, but for the new one */
	put(s, "more", 'd', 1);
	assert_holds(s, "old", 0, 0);
	assert_holds(s, "older", 'b', 400);
	assert_holds(s, "new", 'c', 200);
	assert_holds(s, "more", 'd', 1);
	gus_store_close(s);
}

/* Also within a second, whichever of them the folder lists first. */
static void uses_are_told_apart_within_a_second(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		static const char *const names[] = { "one", "two" };
		struct gus_store *s = open_at("kept", 1000);

		for (int i = 0; i < 2; i++) {
			struct timespec times[2] = { { 1000000, i == first ? 5 : 6 } };
			char *path = gus_format("kept/%s.kept", names[i]);

			put(s, names[i], (char)('a' + i), 400);
			times[1] = times[0];
			assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
			free(path);
		}
		put(s, "new", 'n', 300);
		assert_holds(s, names[first], 0, 0);
		assert_holds(s, names[!first], (char)('a' + !first), 400);
		gus_store_close(s);
		assert_int_equal(system("rm -r kept"), 0);
	}
}

static time_t used(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return time(NULL) - st.st_mtim.tv_sec;
}

/* A use is written down if the last one is a minute ago. */
static void reading_is_a_use(void **state)
{
	struct gus_store *s = open_at("kept", 1000);

	(void)state;
	put(s, "one", 'x', 10);
	age("kept/one.kept", 30);
	assert_holds(s, "one", 'x', 10);
	assert_true(used("kept/one.kept") >= 30);
	age("kept/one.kept", 60);
	assert_holds(s, "one", 'x', 10);
	assert_true(used("kept/one.kept") < 30);
	gus_store_close(s);
}

/* Of two that were used last at the same time the first by its name goes, and no more than have to. */
static void a_tie_goes_by_name(void **state)
{
	struct gus_store *s = open_at("kept", 1000);
	static const char *const names[] = { "b", "c", "a" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct timespec times[2] = { { 1000000, 5 }, { 1000000, 5 } };
		char *path = gus_format("kept/%s.kept", names[i]);

		put(s, names[i], 'x', 300);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		free(path);
	}
	put(s, "new", 'n', 400);
	assert_holds(s, "a", 0, 0);
	assert_holds(s, "b", 'x', 300);
	assert_holds(s, "c", 'x', 300);
	gus_store_close(s);
}

static void assert_names(struct gus_store *s, const char *expected)
{
	char **names = gus_store_names(s), *all = gus_strdup("");

	for (char **name = names; *name; name++) {
		char *more = gus_format("%s%s ", all, *name);

		free(all);
		all = more;
	}
	gus_store_names_free(names);
	assert_string_equal(all, expected);
	free(all);
}

static void names_come_in_order(void **state)
{
	struct gus_store *s = open_at("kept", 1000);
	struct gus_error err = { 0 };

	(void)state;
	assert_names(s, "");
	for (const char *name = "hbdfageic"; *name; name++)
		put(s, (char[]){ *name, '\0' }, 'x', 1);
	assert_int_equal(system("mkdir kept/folder.kept; touch kept/.kept kept/kept kept/.new-1.kept kept/z.kept~"), 0);
	assert_names(s, "a b c d e f g h i ");
	assert_int_equal(gus_store_remove(s, "c", &err), 1);
	assert_int_equal(gus_store_remove(s, "c", &err), 0);
	assert_int_equal(gus_store_remove(s, "folder", &err), -1);
	assert_true(err.code);
	assert_names(s, "a b d e f g h i ");
	gus_store_close(s);
}

static void what_is_not_ours_stays(void **state)
{
	struct gus_store *s = open_at("kept", 10);

	(void)state;
	assert_int_equal(system("head -c 999 /dev/zero >kept/letters; mkdir kept/folder.kept; "
				"echo x >kept/.new-1.kept; echo x >kept/.new-2.kept"), 0);
	age("kept/letters", 5000);
	age("kept/.new-1.kept", 3700);
	put(s, "one", 'x', 5);
	assert_mode("kept/letters", 0644);
	assert_int_equal(access("kept/.new-1.kept", F_OK), -1); /* nobody will finish it */
	assert_int_equal(access("kept/.new-2.kept", F_OK), 0);
	assert_holds(s, "one", 'x', 5);
	gus_store_close(s);
}

static void links_and_fifos_are_not_read(void **state)
{
	struct gus_store *s = open_at("kept", 1000);

	(void)state;
	put(s, "one", 'x', 5);
	assert_int_equal(symlink("one.kept", "kept/link.kept"), 0);
	assert_int_equal(mkfifo("kept/fifo.kept", 0600), 0);
	alarm(20);
	assert_holds(s, "link", 0, 0);
	assert_holds(s, "fifo", 0, 0);
	alarm(0);
	put(s, "link", 'y', 6); /* takes the place of the link, and not of what it leads to */
	assert_holds(s, "one", 'x', 5);
	assert_holds(s, "link", 'y', 6);
	gus_store_close(s);
}

static void files_that_are_not_read_say_why(void **state)
{
	struct gus_store *s = open_at("kept", 1000);

	(void)state;
	put(s, "long", 'x', 501);
	put(s, "open", 'x', 5);
	assert_int_equal(mkdir("kept/folder.kept", 0700), 0);
	assert_not_read(s, "none", ENOENT);
	assert_not_read(s, "long", EFBIG);
	assert_not_read(s, "folder", EPERM);
	assert_int_equal(chmod("kept/open.kept", 0620), 0);
	assert_not_read(s, "open", EPERM);
	assert_int_equal(chmod("kept/open.kept", 0602), 0);
	assert_not_read(s, "open", EPERM);
	assert_int_equal(chmod("kept/open.kept", 0644), 0);
	assert_holds(s, "open", 'x', 5);
	gus_store_close(s);
}

static void folders_that_others_can_write_to_are_not_used(void **state)
{
	(void)state;
	assert_refused("", "No such file");
	assert_int_equal(mkdir("open", 0700), 0);
	assert_int_equal(chmod("open", 0777), 0);
	assert_refused("open", "others may write");
	assert_int_equal(chmod("open", 0770), 0);
	assert_refused("open", "others may write");
	assert_int_equal(chmod("open", 0777), 0);
	assert_refused("open/new", "others may rename");
	assert_int_equal(access("open/new", F_OK), -1);
	assert_int_equal(mkdir("open/mine", 0700), 0);
	assert_refused("open/mine", "others may rename");
	assert_int_equal(chmod("open", 01777), 0); /* as /tmp is */
	gus_store_close(open_at("open/mine", 10));
	gus_store_close(open_at("open/new", 10));
}

static void what_is_no_folder_is_not_used(void **state)
{
	(void)state;
	assert_int_equal(symlink("nowhere", "link"), 0);
	assert_refused("link", "cannot make the folder link");
	assert_int_equal(system("touch file"), 0);
	assert_refused("file", "cannot keep files in file");
	assert_refused("file/kept", "cannot keep files in file/kept");
}

/* All that are above it are looked at, as long as they are fewer than 128. */
static void folders_are_not_too_deep(void **state)
{
	char here[200], path[300] = "";
	int depth = 0;

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	for (const char *c = here; *c; c++)
		depth += *c == '/';
	for (; depth < 127; depth++)
		strcat(path, "d/");
	gus_store_close(open_at(path, 10));
	strcat(path, "d");
	assert_refused(path, "others may rename");
}

/* As somebody who may not write there: what was there stays. */
static void a_folder_may_be_only_read(void **state)
{
	struct gus_store *s = open_at("kept", 1000);
	struct gus_error err = { 0 };
	uid_t user = geteuid();
	int checked, written;

	(void)state;
	put(s, "one", 'x', 5);
	assert_int_equal(gus_store_check(s, &err), 0);
	if ((user ? chmod("kept", 0500) : seteuid(STRANGER)) != 0) {
		print_message("skipped: root is the only user here\n");
		gus_store_close(s);
		skip();
	}
	checked = gus_store_check(s, &err);
	written = gus_store_write(s, "one", "y", 1, NULL);
	assert_int_equal(user ? chmod("kept", 0700) : seteuid(user), 0);
	assert_int_equal(checked, -1);
	assert_non_null(strstr(err.text, "cannot write a file to kept"));
	assert_int_equal(written, -1);
	assert_holds(s, "one", 'x', 5);
	gus_store_close(s);
}

static int lowest_free(void)
{
	int fd = open("/", O_RDONLY);

	close(fd);
	return fd;
}

static void descriptors_are_closed(void **state)
{
	int in = dup(STDIN_FILENO), before = lowest_free();
	struct gus_store *s = open_at("a/kept", 1000);
	struct gus_error err = { 0 };

	(void)state;
	close(STDIN_FILENO);
	put(s, "one", 'x', 5); /* in a file whose descriptor is 0 */
	assert_holds(s, "one", 'x', 5);
	assert_names(s, "one ");
	assert_int_equal(lowest_free(), STDIN_FILENO);
	dup2(in, STDIN_FILENO);
	assert_int_equal(symlink("one.kept", "a/kept/link.kept"), 0);
	assert_int_equal(mkdir("a/kept/taken.kept", 0700), 0);
	assert_int_equal(gus_store_write(s, "taken", "x", 1, &err), -1);
	assert_not_read(s, "link", ELOOP);
	assert_not_read(s, "taken", EPERM);
	gus_store_close(s);
	assert_int_equal(chmod("a", 0777), 0);
	assert_refused("a/kept", "others may rename");
	assert_refused("a/new", "others may rename");
	assert_int_equal(lowest_free(), before);
	close(in);
}

static void roots_is_not_in_the_home_of_another(void **state)
{
	struct gus_store *s;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can make what is another's\n");
		skip();
	}
	assert_int_equal(mkdir("home", 0755), 0);
	assert_int_equal(mkdir("home/kept", 0700), 0);
	assert_int_equal(chown("home", STRANGER, STRANGER), 0);
	assert_refused("home/kept", "others may rename");
	assert_refused("home/other/kept", "others may rename");
	assert_int_equal(access("home/other", F_OK), -1);
	assert_int_equal(symlink("home/kept", "link"), 0);
	assert_refused("link", "others may rename");
	assert_int_equal(chown("home/kept", STRANGER, STRANGER), 0);
	assert_refused("home/kept", "belongs to another user");
	assert_int_equal(chown("home", 0, 0), 0);
	assert_refused("home/kept", "belongs to another user");
	assert_int_equal(chown("home/kept", 0, 0), 0);
	s = open_at("home/kept", 100);
	put(s, "one", 'x', 5);
	assert_int_equal(chown("home/kept/one.kept", STRANGER, STRANGER), 0);
	assert_holds(s, "one", 0, 0);
	gus_store_close(s);
}

/* Which says nothing of who may rename the folder. */
static void no_descriptor_is_no_refusal(void **state)
{
	struct gus_error err = { 0 };
	struct rlimit before, few;
	int last = open("/", O_RDONLY);

	(void)state;
	assert_int_equal(mkdir("kept", 0700), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)last + 1; /* for the folder; none for those above it */
	close(last);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_null(gus_store_open("kept", ".kept", 1000, &err));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(gus_error_is_transient(&err));
}

/* Each file is one of those that were written, from its first byte to its last. */
static void two_write_at_once(void **state)
{
	struct gus_store *s;
	pid_t children[2];
	int status;

	(void)state;
	gus_store_close(open_at("kept", 3000));
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i])
			continue;
		s = open_at("kept", 3000);
		for (int k = 0; k < 300; k++) {
			put(s, "one", (char)('a' + i), (size_t)(200 + 100 * i));
			assert_holds(s, "other", 0, 0);
		}
		_exit(0);
	}
	s = open_at("kept", 3000);
	for (int k = 0; k < 300; k++) {
		size_t size;
		uint8_t *bytes = gus_store_read(s, "one", 500, &size);

		if (bytes) {
			assert_int_equal(size, bytes[0] == 'a' ? 200 : 300);
			assert_int_equal(bytes[size - 1], bytes[0]);
		}
		free(bytes);
	}
	gus_store_close(s);
	for (int i = 0; i < 2; i++)
		assert_true(waitpid(children[i], &status, 0) == children[i] && status == 0);
}

/* What is there and does not go is not said to be missing. */
static void what_cannot_be_removed(void **state)
{
	struct gus_store *s = open_at("kept", 1000);
	struct gus_error err = { 0 };

	(void)state;
	put(s, "one", 'a', 100);
	assert_int_equal(gus_store_remove(s, "one", &err), 1);
	assert_int_equal(gus_store_remove(s, "one", &err), 0);
	assert_int_equal(err.code, 0);
	assert_return_code(mkdir("kept/one.kept", 0700), errno);
	assert_int_equal(gus_store_remove(s, "one", &err), -1);
	assert_non_null(strstr(err.text, "cannot remove kept/one.kept: "));
	gus_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_come_back, enter, leave),
		cmocka_unit_test_setup_teardown(the_least_recently_used_go, enter, leave),
		cmocka_unit_test_setup_teardown(uses_are_told_apart_within_a_second, enter, leave),
		cmocka_unit_test_setup_teardown(reading_is_a_use, enter, leave),
		cmocka_unit_test_setup_teardown(a_tie_goes_by_name, enter, leave),
		cmocka_unit_test_setup_teardown(names_come_in_order, enter, leave),
		cmocka_unit_test_setup_teardown(what_is_not_ours_stays, enter, leave),
		cmocka_unit_test_setup_teardown(links_and_fifos_are_not_read, enter, leave),
		cmocka_unit_test_setup_teardown(files_that_are_not_read_say_why, enter, leave),
		cmocka_unit_test_setup_teardown(folders_that_others_can_write_to_are_not_used, enter, leave),
		cmocka_unit_test_setup_teardown(what_is_no_folder_is_not_used, enter, leave),
		cmocka_unit_test_setup_teardown(folders_are_not_too_deep, enter, leave),
		cmocka_unit_test_setup_teardown(a_folder_may_be_only_read, enter, leave),
		cmocka_unit_test_setup_teardown(descriptors_are_closed, enter, leave),
		cmocka_unit_test_setup_teardown(roots_is_not_in_the_home_of_another, enter, leave),
		cmocka_unit_test_setup_teardown(no_descriptor_is_no_refusal, enter, leave),
		cmocka_unit_test_setup_teardown(what_cannot_be_removed, enter, leave),
		cmocka_unit_test_setup_teardown(two_write_at_once, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
