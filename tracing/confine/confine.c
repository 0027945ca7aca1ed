/* SPDX-License-Identifier: MIT */
/* The order matters: namespaces while there is the right to make them, then the user, which clears the parent-death
 * signal, then capabilities. Linux manuals: namespaces(7), user_namespaces(7), capabilities(7), prctl(2). */
#include "tracing/confine/confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

#define APART (CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

/* -1 with errno. */
static int folder_under(const char *under)
{
	char *path = gus_format("%s/gusprof-XXXXXX", under);
	int fd = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1, sys;

	if (fd >= 0 && fchmod(fd, 0555) != 0) { /* nobody is to enter it */
		close(fd);
		fd = -1;
	}
	sys = errno;
	rmdir(path);
	free(path);
	errno = sys;
	return fd;
}

int gus_confine_folder(struct gus_error *err)
{
	const char *under = getenv("TMPDIR");
	int fd = folder_under(under && *under ? under : "/tmp");

	if (fd < 0)
		fd = folder_under("/dev/shm");
	return fd >= 0 ? fd : gus_fail_errno(err, errno, "cannot make an empty folder in $TMPDIR, /tmp or /dev/shm, "
					     "to confine what is replayed to");
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* As oneself in a user namespace, which gives the right to leave the network. */
static void enter_user_namespace(uid_t uid, gid_t gid)
{
	char map[64];

	if (unshare(CLONE_NEWUSER | APART) != 0)
		return;
	snprintf(map, sizeof(map), "%u %u 1\n", (unsigned)uid, (unsigned)uid);
	write_text("/proc/self/uid_map", map);
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1\n", (unsigned)gid, (unsigned)gid);
	write_text("/proc/self/gid_map", map);
}

/* 1: it is nobody; 0: there is no nobody here, as in a namespace with one user; -1 with errno. */
static int become_nobody(void)
{
	gid_t group = GUS_CONFINE_GROUP;

	if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0)
		return errno == EINVAL || errno == EPERM ? 0 : -1;
	if (prctl(PR_SET_KEEPCAPS, 1) != 0 ||
	    setresuid(GUS_CONFINE_NOBODY, GUS_CONFINE_NOBODY, GUS_CONFINE_NOBODY) != 0)
		return errno == EINVAL || errno == EPERM ? 0 : -1;
	return 1;
}

/* All capabilities go but, if it is wanted and there, that to change the root folder, which then lasts through exec. */
static int drop_capabilities(bool keep_chroot)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct have[2] = { { 0 } }, want[2] = { { 0 } };

	if (syscall(SYS_capget, &head, have) != 0)
		return -1;
	if (keep_chroot)
		want[0].effective = want[0].permitted = want[0].inheritable =
			have[0].permitted & (1u << CAP_SYS_CHROOT);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* before Linux 4.3 there were none */
	if (syscall(SYS_capset, &head, want) != 0)
		return -1;
	if (want[0].permitted && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_CHROOT, 0, 0) != 0)
		return -1;
	return 0;
}

static int leave_rights(const struct gus_confinement *c)
{
	int nobody = 0;

	if (geteuid() == 0) {
		unshare(APART); /* not allowed in most containers: the filter forbids sockets, too */
		nobody = become_nobody();
	}
	if (nobody < 0)
		return -1;
	if (nobody == 0)
		enter_user_namespace(geteuid(), getegid());
	if (drop_capabilities(true) != 0) /* which also makes it effective again */
		return -1;
	if (!c->enter_root)
		return 0;
	if ((fchdir(c->root) != 0 || chroot(".") != 0) && errno != EPERM)
		return -1;
	return drop_capabilities(false);
}

static int limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(what, &now) != 0)
		return -1;
	if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most)
		most = now.rlim_max;
	return setrlimit(what, &(struct rlimit){ most, most });
}

static int set_limits(const struct gus_confinement *c)
{
	write_text("/proc/self/oom_score_adj", "1000");
	return limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_DATA, c->memory) != 0 || limit(RLIMIT_FSIZE, c->file) != 0 ||
			limit(RLIMIT_CPU, c->seconds) != 0 ? -1 : 0;
}

/* All but the first three and those that go along are closed on exec. */
static int keep_only(const struct gus_confinement *c)
{
	DIR *d = opendir("/proc/self/fd");

	if (!d)
		return -1;
	for (const struct dirent *e; (e = readdir(d));) {
		int fd = atoi(e->d_name); /* "." is 0 */

		if (fd > STDERR_FILENO)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	closedir(d);
	for (size_t i = 0; i < c->keep_n; i++)
		if (fcntl(c->keep[i], F_SETFD, 0) != 0)
			return -1;
	return 0;
}

int gus_confine(const struct gus_confinement *c)
{
	setsid(); /* a group's leader stays where it is */
	if (keep_only(c) != 0 || set_limits(c) != 0 || leave_rights(c) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return -1;
	if (getppid() != c->parent)
		raise(SIGKILL); /* who forked is gone already */
	return 0;
}
