/* SPDX-License-Identifier: MIT */
/* base/output_file: what a stranger has put where we write. Only root can make what is a stranger's. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/output_file.h"

#define STRANGER 12345
#define ANOTHER 23456

/* Writes "new" to path; 0, or the code of why not. */
static int put(const char *path, struct gus_error *err)
{
	int fd = gus_output_open(path, "cannot put", err);

	if (fd < 0)
		return (int)err->code;
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "new", 3), 3);
	close(fd);
	return 0;
}

static void assert_puts(const char *path)
{
	struct gus_error err = { 0 };

	assert_int_equal(put(path, &err), 0);
}

static void assert_refused(const char *path, const char *why)
{
	struct gus_error err = { 0 };

	assert_int_equal(put(path, &err), GUS_E_PERMISSION);
	assert_non_null(strstr(err.text, why));
}

static void make(const char *path, uid_t owner)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, "older text", 10) == 10);
	assert_true(geteuid() != 0 || fchown(fd, owner, owner) == 0);
	close(fd);
}

static void assert_holds(const char *path, const char *expected)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	assert_string_equal(text, expected);
}

static void link_of(const char *target, const char *path, uid_t owner)
{
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(lchown(path, owner, owner), 0);
}

static void writes_what_is_ours(void **state)
{
	struct gus_error err = { 0 };
	struct stat st;

	(void)state;
	assert_puts("new");
	assert_holds("new", "new");
	make("old", geteuid());
	assert_puts("./old");
	assert_holds("old", "new");
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(symlink("folder/in", "link"), 0);
	assert_int_equal(symlink("link", "link-to-link"), 0);
	assert_puts("link-to-link");
	assert_holds("folder/in", "new");
	assert_int_equal(symlink("../folder", "folder/up"), 0);
	assert_puts("folder/up/up//../there");
	assert_holds("there", "new");
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_puts("/dev/null");
	assert_int_equal(put("folder", &err), GUS_E_SYSTEM);
	assert_string_equal(err.text, "cannot put folder: Is a directory");
}

static void says_what_is_wrong(void **state)
{
	static const struct { const char *path, *text; enum gus_code code; } cases[] = {
		{ "", "cannot put : No such file or directory", GUS_E_NOT_FOUND },
		{ "/", "cannot put /: Is a directory", GUS_E_SYSTEM },
		{ "none/x", "cannot put none/x: No such file or directory", GUS_E_NOT_FOUND },
		{ "none/", "cannot put none/: No such file or directory", GUS_E_NOT_FOUND },
		{ "file/x", "cannot put file/x: Not a directory", GUS_E_SYSTEM },
		{ "loop", "cannot put loop: Too many levels of symbolic links", GUS_E_SYSTEM },
		{ "loop/x", "cannot put loop/x: Too many levels of symbolic links", GUS_E_SYSTEM },
	};

	(void)state;
	make("file", geteuid());
	assert_int_equal(symlink("loop", "loop"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };

		assert_int_equal(put(cases[i].path, &err), cases[i].code);
		assert_string_equal(err.text, cases[i].text);
	}
}

/* What has no name of its own is written to as it is. */
static void writes_to_what_is_open(void **state)
{
	char path[32], text[8] = "";
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	assert_puts(path);
	assert_int_equal(read(ends[0], text, sizeof(text)), 3);
	close(ends[0]);
	close(ends[1]);
}

static void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("not tried: who is not root cannot make what is a stranger's\n");
	skip();
}

static void root_follows_no_stranger(void **state)
{
	struct stat st;

	(void)state;
	need_root();
	assert_int_equal(mkdir("ours", 0700), 0);
	make("ours/file", 0);
	link_of("ours/file", "last", STRANGER);
	link_of("ours", "on-the-way", STRANGER);
	link_of("on-the-way/file", "own", 0);
	assert_refused("last", "a symbolic link on the way belongs to user 12345");
	assert_refused("on-the-way/file", "belongs to user 12345");
	assert_refused("on-the-way/new", "belongs to user 12345");
	assert_refused("own", "belongs to user 12345");
	assert_holds("ours/file", "older text");
	make("theirs", STRANGER);
	assert_puts("theirs");
	assert_int_equal(stat("theirs", &st), 0);
	assert_int_equal(st.st_uid, 0); /* a new one, which they have not open */
	assert_int_equal(link("ours/file", "other-name"), 0);
	assert_puts("other-name");
	assert_holds("ours/file", "older text");
}

/* As another user, in a child: the code of opening, 0 if it went well. */
static int put_as(uid_t user, const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct gus_error err = { 0 };

		_exit(setgid(user) != 0 || setuid(user) != 0 ? 126 : put(path, &err));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Who is not root follows others in their own folders, but not in one of all. */
static void users_are_wary_in_sticky_folders(void **state)
{
	(void)state;
	need_root();
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(mkdir("open", 0777) | chmod("open", 0777), 0);
	assert_int_equal(mkdir("sticky", 0777) | chmod("sticky", 01777), 0);
	make("mine", ANOTHER);
	link_of("../mine", "open/link", STRANGER);
	link_of("../mine", "sticky/link", STRANGER);
	link_of("../mine", "sticky/own", ANOTHER);
	link_of("../mine", "sticky/roots", 0);
	assert_int_equal(put_as(ANOTHER, "sticky/link"), GUS_E_PERMISSION);
	assert_holds("mine", "older text");
	assert_int_equal(put_as(ANOTHER, "open/link"), 0);
	assert_holds("mine", "new");
	assert_int_equal(put_as(ANOTHER, "sticky/own"), 0);
	assert_int_equal(put_as(ANOTHER, "sticky/roots"), 0);
	make("sticky/theirs", STRANGER);
	assert_int_equal(chmod("sticky/theirs", 0666), 0);
	assert_int_equal(put_as(ANOTHER, "sticky/theirs"), GUS_E_PERMISSION);
	assert_holds("sticky/theirs", "older text");
}

static int open_fifo(const char *path, struct gus_error *err)
{
	int fd = gus_output_open_fifo(path, "cannot use", err);

	if (fd < 0)
		return (int)err->code;
	assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDWR | O_NONBLOCK);
	close(fd);
	return 0;
}

static void fifos(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(mkdir("sticky", 0777) | chmod("sticky", 01777), 0);
	assert_int_equal(mkfifo("own", 0600) | mkfifo("sticky/own", 0600), 0);
	make("file", geteuid());
	assert_int_equal(open_fifo("own", &err), 0);
	assert_int_equal(open_fifo("sticky/own", &err), 0);
	assert_int_equal(open_fifo("file", &err), GUS_E_USAGE);
	assert_string_equal(err.text, "file is no FIFO; mkfifo makes one");
	err = (struct gus_error){ 0 };
	assert_int_equal(open_fifo("none", &err), GUS_E_NOT_FOUND);
	assert_string_equal(err.text, "cannot use none: there is none; mkfifo makes one");
	need_root();
	assert_int_equal(chown("own", STRANGER, 0) | chown("sticky/own", STRANGER, 0), 0);
	assert_int_equal(open_fifo("own", &err), 0);
	err = (struct gus_error){ 0 };
	assert_int_equal(open_fifo("sticky/own", &err), GUS_E_PERMISSION);
	assert_string_equal(err.text, "cannot use sticky/own: this FIFO in a folder of all users belongs to user "
			    "12345; use one of your own");
	assert_refused("sticky/own", "this FIFO"); /* where a reader would be waited for */
}

static char room[64];

static int enter_folder(void **state)
{
	(void)state;
	snprintf(room, sizeof(room), "/tmp/test_output.XXXXXX");
	return mkdtemp(room) ? chdir(room) : -1;
}

static int leave_folder(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", room);
	return chdir("/") == 0 ? system(command) : -1;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(writes_what_is_ours), IN_FOLDER(says_what_is_wrong), IN_FOLDER(writes_to_what_is_open),
		IN_FOLDER(root_follows_no_stranger), IN_FOLDER(users_are_wary_in_sticky_folders), IN_FOLDER(fifos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
