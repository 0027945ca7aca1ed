/* SPDX-License-Identifier: MIT */
/* What becomes another program in ways that no shell has: `model-execs HOW PROGRAM [WORD...]` executes PROGRAM with
 * these words and a variable, GUS_TEST=passed, in the way HOW, which is one of those below. Status 9: it could not. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static char *environment[] = { (char *)"GUS_TEST=passed", (char *)"PATH=/usr/bin:/bin", NULL };

/* After everything but the standard streams was closed. */
static void closed(char **argv)
{
	syscall(SYS_close_range, 3u, ~0u, 0);
	for (int fd = 3; fd < 2000; fd++)
		close(fd);
	execve(argv[0], argv, environment);
}

/* By a descriptor that is closed by it. */
static void by_fd(char **argv)
{
	int fd = open(argv[0], O_PATH | O_CLOEXEC);

	syscall(SYS_execveat, fd, "", argv, environment, AT_EMPTY_PATH);
}

/* Under another name than the file's. */
static void renamed(char **argv)
{
	char *path = argv[0];

	argv[0] = (char *)"-other";
	execve(path, argv, environment);
}

/* Itself, by the kernel's name for it, from another folder. */
static void itself(char **argv)
{
	argv--;
	argv[0] = (char *)"model-execs";
	argv[1] = (char *)"print";
	if (chdir("/") == 0)
		execve("/proc/self/exe", argv, environment);
}

static void *spin(void *unused)
{
	for (volatile unsigned i = 0;; i++)
		;
	return unused;
}

/* While other threads run. */
static void threads(char **argv)
{
	pthread_t one, two;

	if (pthread_create(&one, NULL, spin, NULL) == 0 && pthread_create(&two, NULL, spin, NULL) == 0)
		execve(argv[0], argv, environment);
}

/* With signals ignored and another one blocked: what comes behind two programs can tell. */
static void signals(char **argv)
{
	sigset_t set;

	signal(SIGUSR1, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	execve(argv[0], argv, environment);
}

/* What does not succeed, with the error that the kernel has for it. */
static void refused(char **argv)
{
	static char *const none[] = { NULL };
	char *const *volatile nowhere = (char *const *)8;

	errno = 0;
	execve("/nonexistent", argv, environment);
	printf("none %s\n", strerrorname_np(errno));
	execve("/tmp", none, environment);
	printf("folder %s\n", strerrorname_np(errno));
	execve("/etc/passwd", argv, environment);
	printf("mode %s\n", strerrorname_np(errno));
	execve(argv[0], nowhere, environment);
	printf("words %s\n", strerrorname_np(errno));
	fflush(stdout);
	_exit(0);
}

/* What of the signals is as it was told to be. */
static void told(char **argv)
{
	struct sigaction usr1, hup, term;
	sigset_t set;

	sigaction(SIGUSR1, NULL, &usr1);
	sigaction(SIGHUP, NULL, &hup);
	sigaction(SIGTERM, NULL, &term);
	sigprocmask(SIG_SETMASK, NULL, &set);
	raise(SIGUSR1);
	printf("%d %d %d %d\n", usr1.sa_handler == SIG_IGN, hup.sa_handler == SIG_IGN, term.sa_handler == SIG_IGN,
	       sigismember(&set, SIGUSR2));
	fflush(stdout);
	_exit(argv[0] != NULL);
}

/* Ignores one no more, and executes. */
static void heeds(char **argv)
{
	signal(SIGHUP, SIG_DFL);
	execve(argv[0], argv, environment);
}

static void print(char **argv)
{
	printf("%s %s\n", getenv("GUS_TEST"), argv[0] ? argv[0] : "");
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*call)(char **argv); } hows[] = {
		{ "closed", closed }, { "by-fd", by_fd }, { "renamed", renamed }, { "itself", itself },
		{ "threads", threads }, { "signals", signals }, { "refused", refused }, { "print", print },
		{ "told", told }, { "heeds", heeds },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(hows) / sizeof(*hows); i++)
		if (strcmp(argv[1], hows[i].name) == 0)
			hows[i].call(argv + 2);
	return 9;
}
