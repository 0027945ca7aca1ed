/* SPDX-License-Identifier: MIT */
/* base/foreign_file: only regular files, never waited for; with the rights of whoever chose the name. What needs root
 * is skipped by name without it. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/foreign_file.h"

#define STRANGER 12345
#define TEAM 23456

static const struct gus_rights stranger = { .limited = true, .uid = STRANGER, .gid = STRANGER, .groups = { TEAM },
					    .groups_n = 1, .whose = "the recording's owner" };

/* A file with "x" in it. */
static void make(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, "x", 1) == 1);
	assert_int_equal(fchmod(fd, mode), 0);
	if (geteuid() == 0)
		assert_int_equal(fchown(fd, uid, gid), 0);
	close(fd);
}

/* 0, or errno of opening it so. */
static int open_as(const char *path, const struct gus_rights *rights)
{
	int fd = gus_foreign_open(path, rights, NULL, NULL), why = errno;

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : why;
}

static void opens_regular_files(void **state)
{
	struct stat st;
	struct gus_error err = { 0 };
	char c;
	int fd;

	(void)state;
	make("file", 0, 0, 0600);
	assert_int_equal(symlink("file", "link"), 0);
	fd = gus_foreign_open("link", NULL, &st, &err);
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 1);
	assert_int_equal(read(fd, &c, 1), 1);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_RDONLY | O_NONBLOCK);
	close(fd);
	assert_int_equal(gus_foreign_open("none", NULL, NULL, &err), -1);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(err.text, "cannot open none: No such file or directory");
}

static void make_socket(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(name.sun_path, path, strlen(path));
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	close(fd);
}

/* To open some devices is to do something (a watchdog starts, a tape is wound), so what is no regular file is not even
 * opened; inotify tells if it was. */
static void opens_nothing_else(void **state)
{
	static const char *const others[] = { "fifo", "folder", "socket", "/dev/null" };
	int watch = inotify_init1(IN_NONBLOCK);
	char event[512];

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	make_socket("socket");
	assert_true(inotify_add_watch(watch, "fifo", IN_OPEN) >= 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct gus_error err = { 0 };
		char text[100];

		assert_int_equal(gus_foreign_open(others[i], NULL, NULL, &err), -1);
		assert_int_equal(errno, EINVAL);
		snprintf(text, sizeof(text), "cannot open %s: it is no regular file", others[i]);
		assert_string_equal(err.text, text);
	}
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	close(watch);
}

/* 0, or errno of opening it below "root". */
static int open_below(const char *path, const struct gus_rights *rights)
{
	int fd = gus_foreign_open_below("root", path, rights, NULL, NULL), why = errno;

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : why;
}

/* A symbolic link below another root means a file there; we would follow it to one of ours. */
static void stays_below_a_root(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	make("outside", 0, 0, 0600);
	assert_int_equal(mkdir("root", 0755), 0);
	assert_int_equal(mkdir("root/tmp", 0755), 0);
	make("root/tmp/file", 0, 0, 0600);
	assert_int_equal(symlink("file", "root/tmp/link"), 0);
	assert_int_equal(symlink("/etc/passwd", "root/tmp/away"), 0);
	assert_int_equal(symlink("tmp", "root/folder"), 0);
	assert_int_equal(mkfifo("root/tmp/fifo", 0600), 0);
	fd = gus_foreign_open_below("root", "/tmp//file", NULL, &st, NULL);
	assert_true(fd >= 0 && st.st_size == 1);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
	assert_int_equal(open_below("tmp/file", NULL), 0);
	assert_int_equal(open_below("/tmp/none", NULL), ENOENT);
	assert_int_equal(open_below("/tmp/link", NULL), EINVAL);
	assert_int_equal(open_below("/tmp/away", NULL), EINVAL);
	assert_int_equal(open_below("/tmp/fifo", NULL), EINVAL);
	assert_int_equal(open_below("/tmp", NULL), EINVAL);
	assert_int_equal(open_below("/folder/file", NULL), ENOTDIR);
	assert_int_equal(open_below("/tmp/file/x", NULL), ENOTDIR);
	assert_int_equal(open_below("/../outside", NULL), EINVAL);
	assert_int_equal(open_below("/tmp/../tmp/file", NULL), EINVAL);
	if (geteuid() == 0)
		assert_int_equal(open_below("/tmp/file", &stranger), EACCES);
}

static void knows_a_file_by_its_mapping(void **state)
{
	struct gus_file_identity identity;
	struct stat st;
	int fd;

	(void)state;
	make("file", 0, 0, 0600);
	fd = gus_foreign_open("file", NULL, &st, NULL);
	identity = (struct gus_file_identity){ st.st_ino, major(st.st_dev), minor(st.st_dev), 0 };
	assert_true(gus_foreign_is(fd, &st, &identity));
	identity.inode++;
	assert_false(gus_foreign_is(fd, &st, &identity));
	identity.inode--;
	st.st_dev += makedev(7, 0); /* as btrfs has it: what mappings show counts */
	assert_true(gus_foreign_is(fd, &st, &identity));
	identity.inode++;
	assert_false(gus_foreign_is(fd, &st, &identity));
	identity.inode--;
	identity.minor++;
	assert_false(gus_foreign_is(fd, &st, &identity));
	identity.minor--;
	identity.major++;
	assert_false(gus_foreign_is(fd, &st, &identity));
	close(fd);
}

static void asks_the_user_database(void **state)
{
	struct gus_rights r;

	(void)state;
	gus_rights_of_user(&r, geteuid(), "nobody");
	assert_false(r.limited);
	gus_rights_of_user(&r, 3999999999u, "the recording's owner");
	assert_true(r.limited && r.uid == 3999999999u && r.gid == 65534 && r.groups_n == 0 && r.groups[0] == 0);
	assert_string_equal(r.whose, "the recording's owner");
	if (geteuid() == 0) {
		gus_rights_of_user(&r, 1, "daemon");
		assert_true(r.limited && r.uid == 1 && r.gid == 1 && r.groups_n >= 1 && r.groups_n <= 32);
		assert_int_equal(r.groups[0], 1);
	} else {
		gus_rights_of_user(&r, 0, "root");
		assert_true(r.limited && r.uid == 0 && r.gid == 0 && r.groups_n >= 1 && r.groups[0] == 0);
	}
}

/* Of two others that differ there is nothing but what everybody may. */
static void has_in_common(void **state)
{
	const struct gus_rights ours = { 0 }, other = { .limited = true, .uid = TEAM, .gid = TEAM, .whose = "another" };
	struct gus_rights r;

	(void)state;
	r = gus_rights_common(NULL, &ours);
	assert_false(r.limited);
	r = gus_rights_common(&ours, &ours);
	assert_false(r.limited);
	r = gus_rights_common(NULL, &other);
	assert_true(r.limited && r.uid == TEAM);
	r = gus_rights_common(&ours, &other);
	assert_true(r.limited && r.uid == TEAM);
	r = gus_rights_common(&stranger, &ours);
	assert_true(r.limited && r.uid == STRANGER && r.groups_n == 1);
	r = gus_rights_common(&stranger, &stranger);
	assert_true(r.limited && r.uid == STRANGER && r.groups_n == 1);
	r = gus_rights_common(&stranger, &other);
	assert_true(r.limited && r.uid == 65534 && r.gid == 65534 && !r.groups_n);
	assert_string_equal(r.whose, "everybody");
}

static void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("not tried: who is not root cannot take another's rights\n");
	skip();
}

static void takes_the_rights_of_others(void **state)
{
	struct gus_error err = { 0 };
	char *real;

	(void)state;
	need_root();
	make("secret", 0, 0, 0600);
	make("theirs", STRANGER, 0, 0600);
	make("their-group's", 0, STRANGER, 0640);
	make("their-team's", 0, TEAM, 0640);
	make("root-group's", 0, 0, 0640);
	assert_int_equal(mkdir("closed", 0700), 0);
	make("closed/open", 0, 0, 0644);
	assert_int_equal(symlink("closed/open", "into"), 0);
	assert_int_equal(open_as("theirs", &stranger), 0);
	assert_int_equal(open_as("their-group's", &stranger), 0);
	assert_int_equal(open_as("their-team's", &stranger), 0);
	assert_int_equal(open_as("secret", &stranger), EACCES);
	assert_int_equal(open_as("root-group's", &stranger), EACCES);
	assert_int_equal(open_as("closed/open", &stranger), EACCES);
	assert_int_equal(open_as("into", &stranger), EACCES);
	assert_int_equal(open_as("secret", NULL), 0);
	assert_int_equal(open_as("into", NULL), 0);
	gus_foreign_open("secret", &stranger, NULL, &err);
	assert_int_equal(err.code, GUS_E_PERMISSION);
	assert_string_equal(err.text, "cannot open secret: not readable by the recording's owner, user 12345, whose "
			    "rights count here");
	err = (struct gus_error){ 0 };
	gus_foreign_open("none", &stranger, NULL, &err);
	assert_string_equal(err.text, "cannot open none: No such file or directory");
	assert_null(gus_foreign_realpath("into", &stranger));
	assert_int_equal(errno, EACCES);
	real = gus_foreign_realpath("into", NULL);
	assert_non_null(real);
	assert_string_equal(real + strlen(real) - strlen("/closed/open"), "/closed/open");
	free(real);
}

/* Addresses of root's processes are no file's text, though everybody may open that file as far as permissions go. */
static void processes_stay_closed(void **state)
{
	int ours, theirs;
	char maps[32];
	pid_t child;

	(void)state;
	need_root();
	make("theirs", STRANGER, 0, 0600);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)child);
	ours = open_as(maps, NULL);
	theirs = open_as(maps, &stranger);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(ours, 0);
	assert_int_equal(theirs, EACCES);
	assert_int_equal(open_as("/proc/self/cwd/theirs", &stranger), 0);
}

static void capabilities(uint32_t *effective)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	effective[0] = data[0].effective;
	effective[1] = data[1].effective;
}

static void gives_ours_back(void **state)
{
	static const gid_t groups[] = { 11, 22 };
	uint32_t before[2], after[2];
	gid_t now[3];
	int signal;

	(void)state;
	need_root();
	make("secret", 0, 0, 0600);
	assert_int_equal(setgroups(2, groups), 0);
	setfsgid(33);
	assert_int_equal(prctl(PR_SET_PDEATHSIG, SIGUSR2), 0);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
	capabilities(before);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(open_as(i ? "none" : "secret", &stranger), i ? ENOENT : EACCES);
		capabilities(after);
		assert_memory_equal(before, after, sizeof(before));
		assert_int_equal(setfsuid((uid_t)-1), 0);
		assert_int_equal(setfsgid((gid_t)-1), 33);
		assert_int_equal(getgroups(3, now), 2);
		assert_memory_equal(now, groups, sizeof(groups));
		assert_int_equal(prctl(PR_GET_PDEATHSIG, &signal), 0);
		assert_int_equal(signal, SIGUSR2);
		assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
	}
	assert_int_equal(prctl(PR_SET_PDEATHSIG, 0), 0);
	assert_int_equal(setgroups(0, NULL), 0);
	setfsgid(0);
}

static void *open_secret(void *done)
{
	intptr_t failed = 0;

	while (!atomic_load((atomic_bool *)done))
		failed += open_as("secret", NULL) != 0;
	return (void *)failed;
}

static void leaves_other_threads_theirs(void **state)
{
	atomic_bool done = false;
	pthread_t thread;
	void *failed;

	(void)state;
	need_root();
	make("secret", 0, 0, 0600);
	assert_int_equal(pthread_create(&thread, NULL, open_secret, &done), 0);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(open_as("secret", &stranger), EACCES);
	atomic_store(&done, true);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
}

/* What a child of ours with fewer capabilities gets from opening it: errno, or 0. */
static int open_without(uint32_t taken, uid_t uid, const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
		struct __user_cap_data_struct data[2];

		if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setgid(uid) != 0 || setuid(uid) != 0 ||
		    syscall(SYS_capget, &header, data) != 0)
			_exit(126);
		data[0].effective = data[0].permitted &= ~taken;
		if (syscall(SYS_capset, &header, data) != 0)
			_exit(127);
		_exit(open_as(path, &stranger));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void does_what_its_capabilities_allow(void **state)
{
	(void)state;
	need_root();
	make("secret", 0, 0, 0600);
	make("public", 0, 0, 0644);
	make("theirs", STRANGER, STRANGER, 0600);
	make("ours", 777, 777, 0600);
	assert_int_equal(chmod(".", 0755), 0);
	/* A root that cannot become another opens nothing. */
	assert_int_equal(open_without(1u << CAP_SETUID, 0, "public"), EPERM);
	assert_int_equal(open_without(1u << CAP_SETGID, 0, "public"), EPERM);
	/* One who is not root and may pass by all permissions does not use that. */
	assert_int_equal(open_without(0, 777, "theirs"), 0);
	assert_int_equal(open_without(0, 777, "secret"), EACCES);
	assert_int_equal(open_without(0, 777, "ours"), EACCES);
	/* And one who cannot become another has their own rights, no more. */
	assert_int_equal(open_without(1u << CAP_SETUID, 777, "theirs"), EACCES);
	assert_int_equal(open_without(1u << CAP_SETUID, 777, "secret"), EACCES);
	assert_int_equal(open_without(1u << CAP_SETUID, 777, "ours"), 0);
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* In a user namespace that knows root alone there is nobody to become; what was changed until that showed is changed
 * back. */
static void refuses_whom_the_namespace_lacks(void **state)
{
	const struct gus_rights lonely = { .limited = true, .uid = STRANGER, .gid = 0, .whose = "nobody here" };
	const gid_t root = 0;
	int status, ready[2], go[2];
	char c = 0;
	pid_t pid;

	(void)state;
	need_root();
	make("public", 0, 0, 0644);
	assert_int_equal(pipe(ready) | pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		int why;

		if (setgroups(1, &root) != 0 || unshare(CLONE_NEWUSER) != 0 || write(ready[1], "x", 1) != 1 ||
		    read(go[0], &c, 1) != 1)
			_exit(77);
		why = open_as("public", &lonely);
		_exit(getgroups(0, NULL) != 1 || open_as("public", NULL) != 0 ? 99 : why);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) == 1) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
		assert_true(put(path, "0 0 1"));
		snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)pid);
		assert_true(put(path, "0 0 1"));
		assert_int_equal(write(go[1], "x", 1), 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 77 << 8) {
		print_message("not tried: this machine has no user namespaces\n");
		skip();
	}
	assert_int_equal(status, EPERM << 8);
}

/* Where there is no /proc, by which a file that was found is opened, it is opened by its name. */
static void needs_no_proc(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	need_root();
	make("file", 0, 0, 0600);
	make("theirs", STRANGER, 0, 0600);
	pid = fork();
	if (pid == 0) {
		if (chmod(".", 0755) != 0 || chroot(".") != 0)
			_exit(1);
		_exit(open_as("/file", NULL) != 0 ? 2 : open_as("/theirs", &stranger) != 0 ? 3 :
		      open_as("/file", &stranger) != EACCES ? 4 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Each test in a folder of its own. */
static char room[64];

static int enter_folder(void **state)
{
	(void)state;
	snprintf(room, sizeof(room), "/tmp/test_foreign.XXXXXX");
	return mkdtemp(room) && chmod(room, 0755) == 0 ? chdir(room) : -1;
}

static int leave_folder(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", room);
	return chdir("/") == 0 ? system(command) : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_regular_files, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(opens_nothing_else, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(stays_below_a_root, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(knows_a_file_by_its_mapping, enter_folder, leave_folder),
		cmocka_unit_test(has_in_common),
		cmocka_unit_test(asks_the_user_database),
		cmocka_unit_test_setup_teardown(takes_the_rights_of_others, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(processes_stay_closed, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(gives_ours_back, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(leaves_other_threads_theirs, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(refuses_whom_the_namespace_lacks, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(needs_no_proc, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(does_what_its_capabilities_allow, enter_folder, leave_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
