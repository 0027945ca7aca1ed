/* SPDX-License-Identifier: MIT */
#include "collector/target/signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"

/* Those that end a process which does nothing about them, but for what says that it is broken, and SIGPIPE and SIGXFSZ.
 * The real-time ones do so, too. */
static const int ends[] = { SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR,
	SIGSTKFLT };

static void add_unless_ignored(sigset_t *set, int number)
{
	struct sigaction now;

	if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaddset(set, number);
}

/* SIGINT belongs to it also where it is ignored: shells without job control begin what is in the background so, and yet
 * a script asks for the end of its recorder by that. */
void gus_inbox_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		add_unless_ignored(set, ends[i]);
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		add_unless_ignored(set, i);
}

int gus_inbox_open(struct gus_inbox *inbox, struct gus_error *err)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN }, standard = { .sa_handler = SIG_DFL };
	sigset_t set;

	gus_inbox_signals(&set);
	gus_signals_note(&inbox->before);
	inbox->caught = true;
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGCHLD, &standard, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
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
	gus_signals_restore(&inbox->before);
	*inbox = (struct gus_inbox){ .fd = -1 };
}

/* The terminal sends them to all of its foreground's processes. What else comes from the kernel (an alarm, a limit) is
 * for one process. */
bool gus_inbox_from_terminal(const struct signalfd_siginfo *info)
{
	return info->ssi_code == SI_KERNEL &&
		(info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT || info->ssi_signo == SIGHUP);
}
