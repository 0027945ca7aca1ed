/* SPDX-License-Identifier: MIT */
#include "collector/timing/sharing.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper.h"
#include "collector/host/priority.h"
#include "collector/host/procfs.h"
#include "collector/host/text.h"
#include "collector/timing/timing.h"

#define SLOWER 0.15             /* from here on it is one core; threads of one take 30 to 100 % from each other */
#define ALWAYS_SLOWER 0.03      /* and at its quickest, too: what other tasks slow down is as quick as ever at times */
#define MOST_TRIED 64
#define TRIES 3                 /* as often it has to be seen */
#define BUSY_MS 100
#define BUSY 0.2                /* a part of the time */

/* Sums in seven registers, each three times a pass: more a cycle than any core that is known adds. */
#if defined(__x86_64__)
/* add %rax, %rax; and rcx, rdx, r8 to r11 */
#define SUMS 0x48, 0x01, 0xc0, 0x48, 0x01, 0xc9, 0x48, 0x01, 0xd2, \
	0x4d, 0x01, 0xc0, 0x4d, 0x01, 0xc9, 0x4d, 0x01, 0xd2, 0x4d, 0x01, 0xdb
static const uint8_t wide_loop[] = {
	SUMS, SUMS, SUMS,
	0x48, 0xff, 0xcf,       /* dec %rdi */
	0x75, 0xbc,             /* jnz, 68 bytes back */
	0xc3,                   /* ret */
};
#else
#define WORD(w) (w) & 0xff, (w) >> 8 & 0xff, (w) >> 16 & 0xff, (uint32_t)(w) >> 24
#define SUM(r) WORD(0x8b000000u | (r) << 16 | (r) << 5 | (r)) /* add xr, xr, xr */
#define SUMS SUM(9), SUM(10), SUM(11), SUM(12), SUM(13), SUM(14), SUM(15)
static const uint8_t wide_loop[] = {
	SUMS, SUMS, SUMS,
	WORD(0xf1000400u),      /* subs x0, x0, #1 */
	WORD(0x54fffd41u),      /* b.ne, 22 instructions back */
	WORD(0xd65f03c0u),      /* ret */
};
#endif

/* What the other CPU is kept at: the same sums, or waiting, of which a thread leaves the core to others. Each returns
 * after some microseconds. */
enum work { WAIT, ADD };

static void do_work(enum work work)
{
	for (unsigned i = 0; i < 200; i++)
		if (work == ADD)
#if defined(__x86_64__)
			__asm__ volatile("add %%rax, %%rax\n\tadd %%rcx, %%rcx\n\tadd %%rdx, %%rdx\n\t"
					 "add %%r8, %%r8\n\tadd %%r9, %%r9\n\tadd %%r10, %%r10\n\t"
					 "add %%r11, %%r11\n\tadd %%rax, %%rax\n\tadd %%rcx, %%rcx\n\t"
					 "add %%rdx, %%rdx\n\tadd %%r8, %%r8\n\tadd %%r9, %%r9\n\t"
					 "add %%r10, %%r10\n\tadd %%r11, %%r11"
					 : : : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc");
		else
			__asm__ volatile("pause");
#else
			__asm__ volatile("add x9, x9, x9\n\tadd x10, x10, x10\n\tadd x11, x11, x11\n\t"
					 "add x12, x12, x12\n\tadd x13, x13, x13\n\tadd x14, x14, x14"
					 : : : "x9", "x10", "x11", "x12", "x13", "x14");
		else
			__asm__ volatile("yield");
#endif
}

int gus_timing_sibling_in(const char *list, int cpu)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		long from = strtol(list, &end, 10), to = from;

		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (from != cpu && from <= to)
			return (int)from;
		if (from < to)
			return (int)from + 1;
		list = end + (*end == ',');
	}
	return -1;
}

static int sibling_told(int cpu)
{
	char path[96], list[256];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	return gus_read_text(path, list, sizeof(list)) ? gus_timing_sibling_in(list, cpu) : -1;
}

/* A process on another CPU, which keeps others from it as far as we have the right to. */
struct companion { pid_t pid; atomic_int *work, *begun; };

static void __attribute__((noreturn)) accompany(const struct companion *c, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		_exit(1);
	gus_priority_raise();
	atomic_store(c->begun, 1);
	for (;;)
		do_work((enum work)atomic_load_explicit(c->work, memory_order_relaxed));
}

static void dismiss(struct companion *c)
{
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(c->work, 2 * sizeof(*c->work));
}

/* False if there is none: the CPU is not there any more, or nobody may begin processes. */
static bool invite(struct companion *c, int cpu)
{
	c->work = mmap(NULL, 2 * sizeof(*c->work), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->work == MAP_FAILED)
		return false;
	c->begun = c->work + 1;
	c->pid = gus_helper_fork();
	if (c->pid == 0)
		accompany(c, cpu);
	if (c->pid < 0) {
		munmap(c->work, 2 * sizeof(*c->work));
		return false;
	}
	while (!atomic_load(c->begun)) {
		if (waitpid(c->pid, NULL, WNOHANG) != 0) {
			munmap(c->work, 2 * sizeof(*c->work));
			return false;
		}
		nanosleep(&(const struct timespec){ .tv_nsec = 100000 }, NULL);
	}
	return true;
}

static int time_loop(struct gus_timing *t, struct gus_timing_result *r, struct gus_error *err)
{
	const struct gus_timing_job job = { .code = wide_loop, .size = sizeof(wide_loop), .shared = true };

	if (gus_timing_run(t, &job, 1, r, err) != 0)
		return -1;
	return r->fault == GUS_TIMING_RETURNED ? 0 :
		gus_fail(err, GUS_E_SYSTEM, "a loop of additions could not be timed");
}

/* By how much the loop is slower beside sums. Of sums the median, as the companion may have to share its CPU; of
 * waiting the least, as who takes its place meanwhile may do anything. Where we have to share ours the median says
 * nothing, but then some runs are as quick as ever. */
static double slower_by(const struct gus_timing_sum *sums, const struct gus_timing_sum *waiting)
{
	double least = sums->cycles / waiting->cycles - 1, median = sums->median / waiting->cycles - 1;

	return least < ALWAYS_SLOWER ? fmin(least, median) : median;
}

/* The loop beside sums and beside waiting; again where both are unlike, which may be chance. */
static int try(struct gus_timing *t, int cpu, struct gus_timing_sharing *s, struct gus_error *err)
{
	struct gus_timing_result beside[2];
	struct companion c;
	double slower = INFINITY;
	int rc = 0;

	if (!invite(&c, cpu))
		return 0;
	for (unsigned i = 0; i < TRIES && rc == 0 && slower > SLOWER; i++) {
		for (int work = WAIT; work <= ADD && rc == 0; work++) {
			atomic_store(c.work, work);
			rc = time_loop(t, &beside[work], err);
		}
		if (rc == 0)
			slower = fmin(slower, slower_by(&beside[ADD].sum, &beside[WAIT].sum));
	}
	dismiss(&c);
	if (rc != 0)
		return -1;
	s->tried++;
	if (s->slowed_by < 0 || slower > s->slower) {
		s->slower = slower;
		s->slowed_by = cpu;
	}
	return 0;
}

/* The ticks of a CPU in the text of /proc/stat: all, and those with nothing to do. */
static bool ticks_of(const char *stat, int cpu, unsigned long long *all, unsigned long long *idle)
{
	unsigned long long v[8] = { 0 };
	char name[32];
	const char *line;

	snprintf(name, sizeof(name), "\ncpu%d ", cpu);
	line = strstr(stat, name);
	if (!line || sscanf(line + strlen(name), "%llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
			    &v[4], &v[5], &v[6], &v[7]) < 5)
		return false;
	*idle = v[3] + v[4];
	*all = 0;
	for (int i = 0; i < 8; i++)
		*all += v[i];
	return true;
}

static bool is_busy(int cpu)
{
	unsigned long long all[2] = { 0 }, idle[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		size_t size;
		char *stat = gus_procfs_read("/proc/stat", &size);
		bool known = stat && ticks_of(stat, cpu, &all[i], &idle[i]);

		free(stat);
		if (!known)
			return false;
		if (!i)
			nanosleep(&(const struct timespec){ .tv_nsec = BUSY_MS * 1000000L }, NULL);
	}
	return (double)(idle[1] - idle[0]) < (1 - BUSY) * (double)(all[1] - all[0]);
}

int gus_timing_find_sharing(struct gus_timing *t, struct gus_timing_sharing *s, struct gus_error *err)
{
	struct gus_timing_facts facts;
	cpu_set_t set;
	int told;

	gus_timing_facts(t, &facts);
	told = sibling_told(facts.cpu);
	*s = (struct gus_timing_sharing){ .with = told, .told = told >= 0, .slowed_by = -1 };
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (int cpu = 0; cpu < CPU_SETSIZE && s->tried < MOST_TRIED; cpu++)
			if (cpu != facts.cpu && CPU_ISSET((size_t)cpu, &set) && try(t, cpu, s, err) != 0)
				return -1;
	s->measured = s->slower > SLOWER;
	if (s->measured)
		s->with = s->slowed_by;
	s->busy = s->with >= 0 && is_busy(s->with);
	return 0;
}
