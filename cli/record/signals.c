/* SPDX-License-Identifier: MIT */
#include "cli/record/signals.h"

#include "collector/target/signals.h"

void gus_record_signals_begin(struct gus_record_signals *m, void (*meet)(int number))
{
	const struct sigaction action = { .sa_handler = meet, .sa_flags = SA_RESTART };

	gus_inbox_signals(&m->set);
	sigdelset(&m->set, SIGCHLD);
	for (int i = 1; i <= SIGRTMAX; i++)
		if (sigismember(&m->set, i) == 1)
			sigaction(i, &action, &m->before[i]);
	sigprocmask(SIG_UNBLOCK, &m->set, NULL);
}

void gus_record_signals_end(const struct gus_record_signals *m)
{
	sigprocmask(SIG_BLOCK, &m->set, NULL);
	for (int i = 1; i <= SIGRTMAX; i++)
		if (sigismember(&m->set, i) == 1)
			sigaction(i, &m->before[i], NULL);
}
