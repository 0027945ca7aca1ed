/* SPDX-License-Identifier: MIT */
#include "collector/target/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/helper.h"

/* 0 if path could be executed, else an errno. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EACCES;
	return access(path, X_OK) == 0 ? 0 : errno;
}

/* What execvp would do with the name, without doing it: a missing command is found before a file is created. *where is
 * the file, if it is not NULL and there is one. */
static int search_path(const char *command, char **where)
{
	const char *path = getenv("PATH");
	int found = ENOENT;

	for (path = path ? path : "/bin:/usr/bin"; found;) {
		size_t n = strcspn(path, ":");
		char *candidate = gus_format("%.*s%s%s", (int)n, path, n ? "/" : "", command);
		int sys = executable(candidate);

		if (sys == 0 && where)
			*where = candidate;
		else
			free(candidate);
		if (sys == 0 || sys == EACCES)
			found = sys;
		if (sys == 0 || !path[n])
			break;
		path += n + 1;
	}
	return found;
}

int gus_child_find(const char *command, struct gus_error *err)
{
	int sys = strchr(command, '/') ? executable(command) : *command ? search_path(command, NULL) : ENOENT;

	if (sys == ENOENT && !strchr(command, '/'))
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot start '%s': no such command in PATH", command);
	return sys ? gus_fail_errno(err, sys, "cannot start '%s'", command) : 0;
}

char *gus_child_path(const char *command)
{
	char *path = NULL;

	if (strchr(command, '/'))
		return gus_strdup(command);
	search_path(command, &path);
	return path;
}

static _Noreturn void become(char *const *argv, const struct gus_signals *signals, int go, int failed)
{
	int sys;
	char byte;
	ssize_t n;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0); /* nobody wants us any more */
	gus_signals_restore(signals);
	execvp(argv[0], argv);
	sys = errno;
	n = write(failed, &sys, sizeof(sys));
	_exit(n == sizeof(sys) ? 127 : 126);
}

int gus_child_fork(struct gus_child *child, char *const *argv, const struct gus_signals *signals, bool traceable,
		   struct gus_error *err)
{
	int go[2], failed[2];
	pid_t parent = getpid();
	int sys;

	if (pipe2(go, O_CLOEXEC) != 0)
		return gus_fail_errno(err, errno, "cannot create a pipe to '%s'", argv[0]);
	if (pipe2(failed, O_CLOEXEC) != 0) {
		sys = errno;
		close(go[0]);
		close(go[1]);
		return gus_fail_errno(err, sys, "cannot create a pipe to '%s'", argv[0]);
	}
	*child = (struct gus_child){ .pid = fork(), .go = go[1], .failed = failed[0] };
	sys = errno;
	if (child->pid == 0) {
		close(go[1]);
		close(failed[0]);
		if (traceable) /* for Yama's ptrace_scope 1; where there is no Yama it is refused, and not needed */
			prctl(PR_SET_PTRACER, (unsigned long)parent);
		become(argv, signals, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	child->running = child->pid > 0;
	if (child->running)
		return 0;
	gus_child_close(child);
	return gus_fail_errno(err, sys, "cannot create a process for '%s'", argv[0]);
}

int gus_child_start(struct gus_child *child, const char *command, struct gus_error *err)
{
	int sys = 0;
	ssize_t n;

	do
		n = write(child->go, "", 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return gus_fail_errno(err, errno, "cannot start '%s'", command);
	close(child->go);
	child->go = -1;
	do
		n = read(child->failed, &sys, sizeof(sys)); /* its end closes when it becomes the command */
	while (n < 0 && errno == EINTR);
	if (n != sizeof(sys))
		return 0;
	gus_child_reap(child, true);
	return gus_fail_errno(err, sys, "cannot start '%s'", command);
}

bool gus_child_reap(struct gus_child *child, bool wait)
{
	pid_t got;

	if (!child->running)
		return true;
	do
		got = waitpid(child->pid, &child->status, wait ? 0 : WNOHANG);
	while (got < 0 && errno == EINTR);
	if (got != 0)
		child->running = false;
	return !child->running;
}

void gus_child_ask_to_end(const struct gus_child *child)
{
	if (!child->running)
		return;
	kill(child->pid, SIGTERM);
	kill(child->pid, SIGCONT);
}

void gus_child_close(struct gus_child *child)
{
	bool waiting = child->go >= 0;

	if (child->go >= 0)
		close(child->go);
	if (child->failed >= 0)
		close(child->failed);
	child->go = child->failed = -1;
	if (waiting)
		gus_child_reap(child, true);
}
