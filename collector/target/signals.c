/* SPDX-License-Identifier: MIT */
#include "collector/target/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"

int gus_inbox_open(struct gus_inbox *inbox, bool snapshots, struct gus_error *err)
{
	struct sigaction hup, ignore = { .sa_handler = SIG_IGN }, standard = { .sa_handler = SIG_DFL };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	if (snapshots)
		sigaddset(&set, SIGUSR2);
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	inbox->caught = true;
	sigprocmask(SIG_BLOCK, &set, &inbox->before.mask);
	sigaction(SIGCHLD, &standard, &inbox->before.chld);
	sigaction(SIGPIPE, &ignore, &inbox->before.pipe);
	inbox->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (inbox->fd < 0)
		return gus_fail_errno(err, errno, "cannot receive signals through a descriptor");
	return 0;
}

void gus_inbox_close(struct gus_inbox *inbox)
{
	if (!inbox->caught)
		return;
	if (inbox->fd >= 0)
		close(inbox->fd);
	sigaction(SIGCHLD, &inbox->before.chld, NULL);
	sigaction(SIGPIPE, &inbox->before.pipe, NULL);
	sigprocmask(SIG_SETMASK, &inbox->before.mask, NULL);
	*inbox = (struct gus_inbox){ .fd = -1 };
}
