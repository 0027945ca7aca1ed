/* SPDX-License-Identifier: MIT */
#include "tracing/emulator/sweeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASSES 100              /* while they go on to fork */
#define QUIET 2                 /* passes that find nobody */
#define NAP_NS 5000000
#define HEAD 4096               /* of a command line: emulator, its options, the word */

#ifndef SYS_close_range
#define SYS_close_range 436     /* the same on all architectures; since Linux 5.9 */
#endif

/* Whether the word is one of those in the process's command line. Others' processes are not looked at. */
static bool has_word(int proc, const char *pid, const char *word)
{
	char path[300], head[HEAD + 1];
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (fstatat(proc, pid, &st, 0) != 0 || st.st_uid != geteuid())
		return false;
	snprintf(path, sizeof(path), "%s/cmdline", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, head, HEAD);
		close(fd);
	}
	head[n > 0 ? n : 0] = '\0';
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(head + at) + 1)
		if (strcmp(head + at, word) == 0)
			return true;
	return false;
}

static unsigned kill_all(DIR *proc, const char *word)
{
	unsigned n = 0;

	rewinddir(proc);
	for (struct dirent *e; (e = readdir(proc));) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid <= 0 || pid == getpid() || !has_word(dirfd(proc), e->d_name, word))
			continue;
		n++;
		kill(pid, SIGKILL);
	}
	return n;
}

static void sweep(const char *word)
{
	DIR *proc = opendir("/proc");

	for (int pass = 0, quiet = 0; proc && pass < PASSES && quiet < QUIET; pass++) {
		quiet = kill_all(proc, word) ? 0 : quiet + 1;
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
	}
}

/* Nothing of ours is kept open, no signal is heard, nobody's group is ours. */
static void __attribute__((noreturn)) become(int left, const char *word)
{
	sigset_t all;
	char byte;
	ssize_t n;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	dup2(left, 0);
	if (syscall(SYS_close_range, 1u, ~0u, 0) != 0)
		for (int fd = 1; fd < 1024; fd++)
			close(fd);
	if (chdir("/") != 0)
		_exit(1);
	do
		n = read(0, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		sweep(word);
	_exit(0);
}

void gus_sweeper_start(struct gus_sweeper *s, const char *word)
{
	int ends[2];

	*s = (struct gus_sweeper){ -1, -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	s->pid = fork();
	if (s->pid == 0)
		become(ends[0], word);
	close(ends[0]);
	if (s->pid > 0)
		s->leave = ends[1];
	else
		close(ends[1]);
}

void gus_sweeper_end(struct gus_sweeper *s)
{
	ssize_t n = 0;

	if (s->leave >= 0) {
		do
			n = send(s->leave, "", 1, MSG_NOSIGNAL); /* it may have been killed */
		while (n < 0 && errno == EINTR);
		close(s->leave);
	}
	while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*s = (struct gus_sweeper){ -1, -1 };
}
