/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "collector/host/procfs.h"
#include "collector/host/text.h"
#include "collector/snapshot/denial.h"
#include "collector/snapshot/snapshot.h"

#define NAP_NS 500000

/* CPU time of a thread; 0 if it is not there, or the kernel does not count it. */
static uint64_t cpu_ns(pid_t pid, pid_t tid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	return gus_read_text(path, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

static struct gus_turn *turn_of(struct gus_turns *t, pid_t tid)
{
	for (size_t i = 0; i < t->had.n; i++)
		if (t->had.v[i].tid == tid)
			return &t->had.v[i];
	gus_vec_push(&t->had, (struct gus_turn){ tid, 0 });
	return &t->had.v[t->had.n - 1];
}

/* What it has used since. */
static uint64_t used_of(struct gus_turns *t, pid_t pid, pid_t tid)
{
	uint64_t used = cpu_ns(pid, tid), had = turn_of(t, tid)->cpu_ns;

	return used > had ? used - had : 0;
}

pid_t gus_turns_busiest(struct gus_turns *t, const struct gus_tids *tids)
{
	uint64_t most = 0;
	pid_t best = 0;

	for (size_t i = 0; i < tids->n; i++) {
		uint64_t used;

		if (gus_thread_state(tids->v[i], tids->v[i]) != 'R')
			continue;
		used = used_of(t, tids->v[i], tids->v[i]);
		if (best && used <= most)
			continue;
		most = used;
		best = tids->v[i];
	}
	return best;
}

/* The best of those that run now; 0: none does. *ended is a state that no thread comes back from by itself, if all
 * are in such. */
static pid_t choose(struct gus_turns *t, pid_t pid, size_t *threads, char *ended)
{
	struct gus_tids tids = { 0 };
	uint64_t most = 0;
	pid_t best = 0;

	gus_tids_of(pid, &tids);
	*threads = tids.n;
	*ended = tids.n ? 'Z' : '\0';
	for (size_t i = 0; i < tids.n; i++) {
		char state = gus_thread_state(pid, tids.v[i]);
		uint64_t used, had;

		if (!*ended || !strchr("TZXx", state))
			*ended = '\0';
		else if (state == 'T')
			*ended = 'T';
		if (state != 'R')
			continue;
		used = cpu_ns(pid, tids.v[i]);
		had = turn_of(t, tids.v[i])->cpu_ns;
		used = used > had ? used - had : 0;
		if (!best || used > most) {
			best = tids.v[i];
			most = used;
		}
	}
	gus_vec_free(&tids);
	if (best)
		turn_of(t, best)->cpu_ns = cpu_ns(pid, best);
	return best;
}

/* Memory is opened by whom ptrace would let at it. Who may not is told so at once, and not after a while that nothing
 * computes. A process that has ended has its own error. */
static int check_rights(pid_t pid, struct gus_error *err)
{
	struct gus_task task;
	char path[64], why[256];
	int fd;

	if (gus_task_read(pid, &task) && task.kernel_thread)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of %d (%s): it is a thread of the kernel",
				(int)pid, task.comm);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || (errno != EACCES && errno != EPERM))
		return 0;
	gus_denial_of(pid, why, sizeof(why));
	return gus_fail(err, GUS_E_PERMISSION, "cannot take a snapshot of process %d: %s", (int)pid, why);
}

int gus_turns_next(struct gus_turns *t, pid_t pid, unsigned patience_ms, pid_t *tid, struct gus_error *err)
{
	uint64_t naps = patience_ms * (1000000ull / NAP_NS);
	size_t threads;
	char ended;

	if (check_rights(pid, err) != 0)
		return -1;
	do {
		*tid = choose(t, pid, &threads, &ended);
		if (*tid)
			return 0;
		if (ended == 'T')
			return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: it is stopped "
					"and does not compute; continue it (kill -CONT) first", (int)pid);
		if (ended)
			return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of process %d: it has ended, "
					"and only waits for its parent (a zombie)", (int)pid);
		if (!threads)
			return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of process %d: it does not "
					"exist, or has ended", (int)pid);
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
	} while (naps--);
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: none of its %zu threads "
			"computed within %u ms; they sleep or wait in the kernel", (int)pid, threads, patience_ms);
}

void gus_turns_free(struct gus_turns *t)
{
	gus_vec_free(&t->had);
}
