/* SPDX-License-Identifier: MIT */
#include "base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define STACK (1u << 20)
#define ORPHAN 126              /* status of a child whose parent ended before it could ask to be killed with it */

/* The signal is asked for first: if the parent has ended by then, that shows in who is the parent now. */
static void die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(ORPHAN);
}

static void forget_handlers(void)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	struct sigaction now;

	for (int i = 1; i <= SIGRTMAX; i++)
		if (sigaction(i, NULL, &now) == 0 && now.sa_handler != SIG_IGN && now.sa_handler != SIG_DFL)
			sigaction(i, &standard, NULL);
}

/* No signal comes in between, which a handler of ours would take in the child. */
pid_t gus_helper_fork(void)
{
	pid_t parent = getpid(), child;
	sigset_t all, before;
	int sys;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	child = fork();
	sys = errno;
	if (child == 0) {
		die_with(parent);
		forget_handlers();
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = sys;
	return child;
}

/* A process with our memory. */

struct call {
	void (*function)(void *context);
	void *context;
	pid_t parent;
	bool returned;
};

static int begin(void *context)
{
	struct call *c = context;

	die_with(c->parent);
	setsid();
	c->function(c->context);
	c->returned = true;
	return 0;
}

/* It may be stopped by nobody but one who names it; then it goes on at once. Nothing but these calls may be made
 * meanwhile: errno, too, is in the memory that both have, and neither call sets it, as all signals are blocked. */
static void wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, __WALL | WUNTRACED) == child && WIFSTOPPED(status))
		kill(child, SIGCONT);
}

/* As posix_spawn(3) does it, but that the child is not waited for in the kernel (CLONE_VFORK), where nobody would see
 * that it was stopped. Without a signal for its end, which whoever waits for SIGCHLD would take for another's. */
static int run(struct call *c)
{
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	sigset_t all, before;
	pid_t child;
	int sys = 0;

	if (stack == MAP_FAILED)
		return errno;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	child = clone(begin, (char *)stack + STACK, CLONE_VM, c);
	if (child < 0)
		sys = errno;
	else
		wait_for(child);
	sigprocmask(SIG_SETMASK, &before, NULL);
	munmap(stack, STACK);
	return sys;
}

int gus_helper_run(void (*function)(void *context), void *context, struct gus_error *err)
{
	struct call c = { function, context, getpid(), false };
	int sys = run(&c);

	if (sys)
		return gus_fail_errno(err, sys, "cannot begin a process of our own");
	if (!c.returned)
		return gus_fail(err, GUS_E_SYSTEM, "a process of our own was killed by somebody");
	return 0;
}

/* Signals. */

void gus_signals_note(struct gus_signals *s)
{
	sigprocmask(SIG_BLOCK, NULL, &s->mask);
	sigaction(SIGCHLD, NULL, &s->chld);
	sigaction(SIGPIPE, NULL, &s->pipe);
	sigaction(SIGXFSZ, NULL, &s->xfsz);
}

void gus_signals_restore(const struct gus_signals *s)
{
	sigaction(SIGCHLD, &s->chld, NULL);
	sigaction(SIGPIPE, &s->pipe, NULL);
	sigaction(SIGXFSZ, &s->xfsz, NULL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* Files. */

int gus_scratch_open(const char *what, struct gus_error *err)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0) /* no such folder, not ours, or a file system that has only files with names */
		fd = memfd_create("gusprof", MFD_CLOEXEC);
	if (fd < 0)
		return gus_fail_errno(err, errno, "cannot make a file for %s", what);
	return fd;
}
