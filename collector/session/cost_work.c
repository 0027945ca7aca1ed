/* SPDX-License-Identifier: MIT */
#include "collector/session/cost_work.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/helper.h"

#define BIRTHS 2
#define SWITCHES 20
#define MAPS 8
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void give_birth(void *context)
{
	(void)context;
	for (unsigned i = 0; i < BIRTHS; i++) {
		int status;
		pid_t pid = vfork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, &status, 0);
	}
}

struct gus_work gus_work_births(void)
{
	return (struct gus_work){ give_birth, NULL, BIRTHS };
}

/* As the loader does it: the whole file, then its code, constants and data over their parts of that. The kernel
 * looks at the name and the build id of each of them, though it tells of the code alone. */
static void map_code(void *context)
{
	static const int over[] = { PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * (1 + COUNT(over));
	int fd = *(int *)context;

	for (unsigned i = 0; i < MAPS; i++) {
		char *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (at == MAP_FAILED)
			return;
		for (size_t k = 0; k < COUNT(over); k++)
			mmap(at + page * (k + 1), page, over[k], MAP_PRIVATE | MAP_FIXED, fd, (off_t)(page * (k + 1)));
		munmap(at, size);
	}
}

struct gus_work gus_work_mappings(int *fd)
{
	return (struct gus_work){ map_code, fd, MAPS };
}

/* Switches. */

void gus_partner_answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
}

static void ask(void *context)
{
	const struct gus_partner *p = context;
	char byte = 0;

	for (unsigned i = 0; i < SWITCHES; i++)
		if (write(p->to, &byte, 1) != 1 || read(p->from, &byte, 1) != 1)
			break;
}

struct gus_work gus_work_switches(struct gus_partner *p)
{
	return (struct gus_work){ ask, p, SWITCHES };
}

/* The two ends of each pipe that the other one has. */
static bool open_pipes(int there[2], int back[2])
{
	if (pipe2(there, O_CLOEXEC) != 0)
		return false;
	if (pipe2(back, O_CLOEXEC) == 0)
		return true;
	close(there[0]);
	close(there[1]);
	return false;
}

bool gus_partner_start(struct gus_partner *p)
{
	int there[2], back[2];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(p->before), &p->before) != 0 || !open_pipes(there, back))
		return false;
	sched_setaffinity(0, sizeof(one), &one);
	p->to = there[1];
	p->from = back[0];
	p->pid = gus_helper_fork();
	if (p->pid == 0) {
		close(there[1]); /* else it would wait for itself to ask */
		gus_partner_answer(there[0], back[1]);
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	if (p->pid > 0)
		return true;
	gus_partner_stop(p);
	return false;
}

void gus_partner_stop(struct gus_partner *p)
{
	close(p->to); /* that is how it hears of the end */
	close(p->from);
	if (p->pid > 0)
		waitpid(p->pid, NULL, 0);
	sched_setaffinity(0, sizeof(p->before), &p->before);
}

pid_t gus_sleeper_start(void)
{
	pid_t pid = gus_helper_fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	_exit(0);
}

void gus_sleeper_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	if (kill(pid, SIGKILL) == 0)
		waitpid(pid, NULL, 0);
}
