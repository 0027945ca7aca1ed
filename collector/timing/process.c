/* SPDX-License-Identifier: MIT */
#include "collector/timing/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/helper.h"
#include "collector/timing/child.h"
#include "collector/timing/shared.h"

#define LOOK_MS 50
#define RUN_NS 2000000000ull    /* CPU time of one run, */
#define PASS_NS 1000            /* and so much for each pass of it that was asked for */
#define RUN_MOST_NS 60000000000ull
#define PREPARE_NS 120000000000ull
#define FILL_NS 100             /* for each byte that a job fills */
#define TIMES 16                /* what an order may take, by what it should */
#define ORDER_NS 4000000000ull  /* and so much more */
#define CPU_MOST 0.75           /* of a limit of CPU time: it is counted by ticks, and what a process has used is not */

/* Where children that end are forgotten at once, as some who start us leave it, nobody would know what of. */
static void remember_children(void)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	struct sigaction now;

	if (sigaction(SIGCHLD, NULL, &now) == 0 && (now.sa_handler == SIG_IGN || now.sa_flags & SA_NOCLDWAIT))
		sigaction(SIGCHLD, &standard, NULL);
}

/* What a system call failed with, and the limit of this process that it may come of. */
static int fail_by_limit(struct gus_error *err, int sys, const char *what)
{
	static const struct { int sys; __rlimit_resource_t resource; const char *text; } limits[] = {
		{ EAGAIN, RLIMIT_NPROC, "this user may have no more processes and threads (ulimit -u)" },
		{ ENOMEM, RLIMIT_AS, "a process may have no more memory (ulimit -v)" },
		{ EFBIG, RLIMIT_FSIZE, "a file may not be so large (ulimit -f)" },
	};
	struct gus_error plain = { 0 };
	struct rlimit most;

	gus_fail_errno(&plain, sys, "%s", what);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i].sys == sys && getrlimit(limits[i].resource, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
			return gus_fail(err, plain.code, "%s; %s", plain.text, limits[i].text);
	return gus_fail_errno(err, sys, "%s", what);
}

int gus_timing_process_open(struct gus_timing_process *p, struct gus_error *err)
{
	remember_children();
	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED) {
		p->shared = NULL;
		return fail_by_limit(err, errno, "cannot get memory for microbenchmarks");
	}
	p->code_fd = memfd_create("code", MFD_CLOEXEC);
	if (p->code_fd < 0 || ftruncate(p->code_fd, GUS_SHARED_CODE) != 0)
		return fail_by_limit(err, errno, "cannot get memory for the code of microbenchmarks");
	p->code = mmap(NULL, GUS_SHARED_CODE, PROT_READ | PROT_WRITE, MAP_SHARED, p->code_fd, 0);
	if (p->code == MAP_FAILED) {
		p->code = NULL;
		return fail_by_limit(err, errno, "cannot write the code of microbenchmarks");
	}
	return 0;
}

static void forget(struct gus_timing_process *p)
{
	close(p->channel);
	p->pid = 0;
	p->orders = 0;
}

/* How it ended. */
struct ending {
	int status;
	uint64_t cpu_limit;     /* it was for want of CPU time, of which processes here may have so many seconds */
};

/* At the soft limit SIGXCPU comes, at the hard one, which may be the same, SIGKILL, as from anybody else. */
static uint64_t cpu_limit_behind(int status, const struct rusage *used)
{
	struct rlimit most;
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	double seconds = (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
		(double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) * 1e-6;

	if ((number != SIGXCPU && number != SIGKILL) || getrlimit(RLIMIT_CPU, &most) != 0 ||
	    most.rlim_cur == RLIM_INFINITY)
		return 0;
	return number == SIGXCPU || seconds >= CPU_MOST * (double)most.rlim_cur ? (uint64_t)most.rlim_cur : 0;
}

/* Whoever waits for any child of ours may have taken its status. */
static struct ending end(struct gus_timing_process *p)
{
	struct ending e = { 0 };
	struct rusage used = { 0 };

	if (!p->pid)
		return e;
	kill(p->pid, SIGKILL);
	while (wait4(p->pid, &e.status, 0, &used) < 0)
		if (errno != EINTR) {
			e.status = SIGKILL;
			break;
		}
	forget(p);
	e.cpu_limit = cpu_limit_behind(e.status, &used);
	return e;
}

int gus_timing_process_blame_limit(uint64_t seconds, struct gus_error *err)
{
	return gus_fail(err, GUS_E_SYSTEM, "the process that executes microbenchmarks has had all the CPU time that "
			"one may have here, %llu s (ulimit -t)", (unsigned long long)seconds);
}

void gus_timing_process_end(struct gus_timing_process *p)
{
	end(p);
}

void gus_timing_process_close(struct gus_timing_process *p)
{
	end(p);
	if (p->code)
		munmap(p->code, GUS_SHARED_CODE);
	if (p->code_fd >= 0)
		close(p->code_fd);
	if (p->shared)
		munmap(p->shared, sizeof(*p->shared));
}

/* There is no page that is both written and executed: here it is the one, there the other. */
static void __attribute__((noreturn)) be_child(const struct gus_timing_process *p, int channel)
{
	const struct gus_timing_child how = { p->shared, p->code_fd, channel, p->cpu, p->ticks_hz, p->counter };

	munmap(p->code, GUS_SHARED_CODE);
	gus_timing_child(&how);
}

static int start(struct gus_timing_process *p, struct gus_error *err)
{
	int ends[2], sys;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return gus_fail_errno(err, errno, "cannot begin a process that executes microbenchmarks");
	p->pid = gus_helper_fork();
	sys = errno;
	if (p->pid == 0)
		be_child(p, ends[1]);
	close(ends[1]);
	p->channel = ends[0];
	if (p->pid > 0)
		return 0;
	forget(p);
	return fail_by_limit(err, sys, "cannot begin a process that executes microbenchmarks");
}

static uint64_t used_ns(const struct gus_timing_process *p)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(p->pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CPU time of it, so that one that has to wait for its turn is not blamed for that. Runs are told apart by what it says
 * itself, and foreign code may say that, too: so there is also an end of all that does not depend on it. */
struct watch { uint64_t step, since, end; };

static bool takes_too_long(const struct gus_timing_process *p, struct watch *w)
{
	const struct gus_shared *s = p->shared;
	uint64_t used = used_ns(p), step = s->step, passes = s->passes, most;

	if (used < w->since) /* it is gone, which poll tells of */
		return false;
	if (used > w->end)
		return true;
	if (step != w->step) {
		w->step = step;
		w->since = used;
	}
	if (s->phase == GUS_SHARED_PREPARES) {
		most = PREPARE_NS;
	} else {
		most = passes < RUN_MOST_NS / PASS_NS ? RUN_NS + passes * PASS_NS : RUN_MOST_NS;
		most = most < RUN_MOST_NS ? most : RUN_MOST_NS;
	}
	return used - w->since > most;
}

/* Until it reports, is gone (false), or takes too long (false, and *endless). most: CPU time of it. */
static bool reports(struct gus_timing_process *p, uint64_t most, bool *endless)
{
	struct pollfd ready = { .fd = p->channel, .events = POLLIN };
	uint64_t used = used_ns(p);
	struct watch w = { p->shared->step, used, used + most };
	char byte;

	*endless = false;
	for (;;) {
		int n = poll(&ready, 1, LOOK_MS);

		if (n > 0) {
			ssize_t got = read(p->channel, &byte, 1);

			if (got < 0 && errno == EINTR)
				continue;
			return got == 1;
		}
		if (n < 0 && errno != EINTR)
			return false;
		if (takes_too_long(p, &w)) {
			*endless = true;
			return false;
		}
	}
}

int gus_timing_process_begin(struct gus_timing_process *p, struct gus_error *err)
{
	struct ending e;
	bool endless;
	char *what;
	int sys;

	if (p->pid)
		return 0;
	p->shared->sys = 0;
	p->shared->failed = NULL;
	p->shared->phase = GUS_SHARED_PREPARES;
	if (start(p, err) != 0)
		return -1;
	if (!reports(p, PREPARE_NS, &endless)) {
		e = end(p);
		if (e.cpu_limit)
			return gus_timing_process_blame_limit(e.cpu_limit, err);
		return gus_fail(err, GUS_E_SYSTEM, "the process that executes microbenchmarks ended before it began");
	}
	sys = p->shared->sys;
	if (!sys)
		return 0;
	end(p);
	/* No foreign code has been executed yet, so what it says is its own. */
	what = gus_format("the process that executes microbenchmarks cannot %s", p->shared->failed);
	fail_by_limit(err, sys, what);
	free(what);
	return -1;
}

uint64_t gus_timing_process_ns(const struct gus_timing_job *job, uint64_t most_ns)
{
	uint64_t passes = job->warm > job->passes ? job->warm : job->passes;
	uint64_t run = passes < RUN_MOST_NS / PASS_NS ? passes * PASS_NS : RUN_MOST_NS;
	uint64_t fill = job->arena < PREPARE_NS / FILL_NS ? job->arena * FILL_NS : PREPARE_NS;

	most_ns = most_ns < RUN_MOST_NS ? most_ns : RUN_MOST_NS;
	return fill + TIMES * (run + most_ns);
}

/* Whether it waits for orders. Foreign code can write to the channel as well, and then goes on; what it cannot bring
 * about by chance is that all is as it is at the end. */
static bool has_done(const struct gus_shared *s, size_t jobs)
{
	if (s->phase != GUS_SHARED_RESTS)
		return false;
	for (size_t i = 0; i < jobs; i++) {
		uint32_t samples = s->job[i].samples;

		if (!s->job[i].small_pages && (!samples || samples > GUS_SHARED_SAMPLES))
			return false;
	}
	return true;
}

/* False also if it has said something that it was not asked: somebody may have killed it, and an earlier job may have
 * done anything to it. */
static bool give_order(struct gus_timing_process *p)
{
	char byte;

	if (recv(p->channel, &byte, 1, MSG_DONTWAIT) >= 0)
		return false;
	p->shared->phase = GUS_SHARED_PREPARES;
	return send(p->channel, "", 1, MSG_NOSIGNAL) == 1;
}

void gus_timing_process_order(struct gus_timing_process *p, size_t jobs, uint64_t most_ns,
			      struct gus_timing_death *death)
{
	bool endless = false, begun = give_order(p), reported = begun && reports(p, ORDER_NS + most_ns, &endless);
	struct ending e;

	*death = (struct gus_timing_death){ 0 };
	if (reported && has_done(p->shared, jobs)) {
		p->orders++;
		return;
	}
	death->at = p->shared->at;
	death->executed = p->shared->phase == GUS_SHARED_EXECUTES;
	death->innocent = !begun || p->orders;
	e = end(p);
	death->cpu_limit = e.cpu_limit;
	death->fault = endless || reported ? GUS_TIMING_ENDLESS : GUS_TIMING_SIGNAL;
	death->signal = WIFSIGNALED(e.status) ? WTERMSIG(e.status) : 0;
	if (p->counter && WIFEXITED(e.status) && WEXITSTATUS(e.status) == GUS_TIMING_COUNTER_LOST) {
		p->counter = false;
		death->innocent = true;
	}
}
