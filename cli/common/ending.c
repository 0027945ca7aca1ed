/* SPDX-License-Identifier: MIT */
#include "cli/common/ending.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

int gus_die_by(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	fflush(NULL);
	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return 128 + sig;
}
