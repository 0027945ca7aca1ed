/* SPDX-License-Identifier: MIT */
#include "collector/target/target.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/doctor/refusal.h"
#include "collector/events/pmu.h"
#include "collector/host/procfs.h"
#include "collector/host/text.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* the same on all architectures; since Linux 5.3 */
#endif

static const char *const kind_names[] = {
	[GUS_TARGET_COMMAND] = "command", [GUS_TARGET_PROCESSES] = "process", [GUS_TARGET_THREADS] = "thread",
	[GUS_TARGET_SYSTEM] = "system", [GUS_TARGET_CGROUP] = "cgroup",
};

const char *gus_target_kind_name(enum gus_target_kind kind)
{
	return kind_names[kind];
}

void gus_target_init(struct gus_target *t)
{
	*t = (struct gus_target){ .kind = GUS_TARGET_COMMAND, .cgroup_fd = -1 };
}

void gus_target_free(struct gus_target *t)
{
	for (size_t i = 0; i < t->watches.n; i++)
		if (t->watches.v[i].pidfd >= 0)
			close(t->watches.v[i].pidfd);
	gus_vec_free(&t->watches);
	if (t->cgroup_fd >= 0)
		close(t->cgroup_fd);
	free(t->cpus);
	free(t->cgroup);
	free(t->cgroup_path);
	gus_target_init(t);
}

int gus_target_add(struct gus_target *t, enum gus_target_kind kind, const char *text, struct gus_error *err)
{
	const char *what = kind_names[kind], *at = text;

	if (t->watches.n && t->kind != kind)
		return gus_fail(err, GUS_E_USAGE, "-p and -t exclude each other: one names processes, the other "
				"threads");
	t->kind = kind;
	do {
		char *end;
		long id;
		size_t known = 0;

		errno = 0;
		id = strtol(at, &end, 10);
		if (!isdigit((unsigned char)*at) || errno || id < 1 || id > INT32_MAX || (*end && *end != ','))
			return gus_fail(err, GUS_E_USAGE, "%s takes numbers of %s separated by commas, not '%s'",
					kind == GUS_TARGET_THREADS ? "-t" : "-p",
					kind == GUS_TARGET_THREADS ? "threads" : "processes", text);
		while (known < t->watches.n && t->watches.v[known].id != id)
			known++;
		if (known == t->watches.n)
			gus_vec_push(&t->watches, (struct gus_watch){ .id = (pid_t)id, .pidfd = -1 });
		at = *end ? end + 1 : end;
		if (*end && !*at)
			return gus_fail(err, GUS_E_USAGE, "a number of a %s is missing behind the last comma of "
					"'%s'", what, text);
	} while (*at);
	return 0;
}

/* Whether the list is one, "N[-M][,...]", and all its CPUs are in online; else the first one that is not. */
static bool check_cpus(const char *list, const char *online, long *missing)
{
	*missing = -1;
	for (const char *at = list; *at;) {
		char *end;
		unsigned long first, last;

		if (!isdigit((unsigned char)*at))
			return false;
		first = last = strtoul(at, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if (last < first || last > 65535 || (*end && (*end != ',' || !end[1])))
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			if (!gus_cpus_has(online, (unsigned)cpu)) {
				*missing = (long)cpu;
				return false;
			}
		at = end + (*end == ',');
	}
	return *list != '\0';
}

int gus_target_set_cpus(struct gus_target *t, const char *text, struct gus_error *err)
{
	char online[4096];
	long missing;

	if (!gus_read_text("/sys/devices/system/cpu/online", online, sizeof(online)))
		snprintf(online, sizeof(online), "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	if (!check_cpus(text, online, &missing))
		return missing >= 0 ? gus_fail(err, GUS_E_USAGE, "-C %s: cpu %ld is not online; %s are",
					       text, missing, online)
				    : gus_fail(err, GUS_E_USAGE, "-C takes a list of CPUs such as 0-2,4, not '%s'",
					       text);
	free(t->cpus);
	t->cpus = gus_strdup(text);
	return 0;
}

/* The directory of the hierarchy that perf_event is in: one of its own (version 1), else the unified one. */
static char *cgroup_root(void)
{
	size_t size;
	char *mounts = gus_procfs_read("/proc/self/mounts", &size), *unified = NULL, *own = NULL, *line, *next;

	for (line = mounts; line && *line; line = next) {
		char device[256], where[4096], type[64], options[1024];

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (sscanf(line, "%255s %4095s %63s %1023s", device, where, type, options) != 4)
			continue;
		if (strcmp(type, "cgroup2") == 0 && !unified)
			unified = gus_strdup(where);
		if (strcmp(type, "cgroup") == 0 && strstr(options, "perf_event") && !own)
			own = gus_strdup(where);
	}
	free(mounts);
	if (!own)
		return unified;
	free(unified);
	return own;
}

int gus_target_set_cgroup(struct gus_target *t, const char *name, struct gus_error *err)
{
	char *root = cgroup_root(), *path, *members;
	struct stat st;
	int rc = 0;

	if (!root)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot watch the cgroup %s: no cgroup hierarchy that "
				"perf_event belongs to is mounted here", name);
	path = strncmp(name, root, strlen(root)) == 0 ? gus_strdup(name) : gus_format("%s/%s", root,
		name + (*name == '/'));
	members = gus_format("%s/cgroup.procs", path);
	if (stat(path, &st) != 0)
		rc = gus_fail_errno(err, errno, "there is no cgroup %s (looked for %s)", name, path);
	else if (stat(members, &st) != 0)
		rc = gus_fail(err, GUS_E_NOT_FOUND, "%s is no cgroup", path);
	else if ((t->cgroup_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		rc = gus_fail_errno(err, errno, "cannot open the cgroup %s", path);
	free(members);
	free(root);
	if (rc != 0) {
		free(path);
		return rc;
	}
	t->kind = GUS_TARGET_CGROUP;
	t->cgroup = gus_strdup(name);
	t->cgroup_path = path;
	return 0;
}

/* From now on the process is known by a descriptor, and not by its number, which may be given to another. */
static int hold_number(struct gus_watch *w, const struct gus_task *task, struct gus_error *err)
{
	struct gus_task now;

	w->pidfd = (int)syscall(SYS_pidfd_open, w->id, 0);
	if (gus_task_read(w->id, &now) && now.start == task->start)
		return 0;
	return gus_fail(err, GUS_E_NOT_FOUND, "process %d (%s) has just ended", (int)w->id, task->comm);
}

static int check_process(struct gus_watch *w, const struct gus_task *task, const struct gus_log *log,
			 struct gus_error *err)
{
	if (task->tgid != task->tid)
		return gus_fail(err, GUS_E_USAGE, "%d is a thread of process %d: -t %d watches that thread, -p %d "
				"all of them", (int)task->tid, (int)task->tgid, (int)task->tid, (int)task->tgid);
	if (hold_number(w, task, err) != 0)
		return -1;
	if (task->state == 'T')
		gus_log(log, GUS_NOTE, "process %d (%s) is stopped: there will be samples when somebody lets it go on "
			"(SIGCONT)", (int)w->id, task->comm);
	return 0;
}

static int check_watch(struct gus_target *t, struct gus_watch *w, const struct gus_log *log, struct gus_error *err)
{
	const char *what = kind_names[t->kind];
	struct gus_task task;

	if (!gus_task_read(w->id, &task))
		return gus_fail(err, GUS_E_NOT_FOUND, "there is no %s %d (or /proc hides it from this user)",
				what, (int)w->id);
	if (gus_task_ended(&task))
		return gus_fail(err, GUS_E_NOT_FOUND, "%s %d (%s) has ended already: it is a zombie that its parent, "
				"%d, has not asked for its status", what, (int)w->id, task.comm, (int)task.ppid);
	if (task.tgid == getpid())
		return gus_fail(err, GUS_E_USAGE, "%s %d is this gusprof itself", what, (int)w->id);
	w->start = task.start;
	return t->kind == GUS_TARGET_PROCESSES ? check_process(w, &task, log, err) : 0;
}

int gus_target_check(struct gus_target *t, const struct gus_log *log, struct gus_error *err)
{
	for (size_t i = 0; i < t->watches.n; i++)
		if (check_watch(t, &t->watches.v[i], log, err) != 0)
			return -1;
	return 0;
}

static int explain_user(struct gus_error *err, const struct gus_target *t, pid_t id, const struct gus_task *task)
{
	const struct passwd *user = getpwuid(task->uid);
	char number[32];

	snprintf(number, sizeof(number), "uid %u", task->uid);
	return gus_fail(err, GUS_E_PERMISSION, "cannot watch %s %d (%s): it belongs to %s, and only its owner or "
			"somebody with CAP_PERFMON may; run gusprof as that user or as root",
			kind_names[t->kind], (int)id, task->comm, user ? user->pw_name : number);
}

int gus_target_explain(struct gus_error *err, const struct gus_target *t, pid_t id, const struct gus_event *event,
		       int cpu, int sys)
{
	bool refused = sys == EACCES || sys == EPERM, wide = t->kind == GUS_TARGET_SYSTEM ||
		t->kind == GUS_TARGET_CGROUP;
	char paranoid[32] = "unknown";
	struct gus_task task;

	if (refused && wide) {
		gus_read_text("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
		return gus_fail(err, GUS_E_PERMISSION, "cannot watch %s: permission denied; "
				"kernel.perf_event_paranoid is %s: lower it to 0, get CAP_PERFMON, or watch "
				"processes of your own (-p)",
				t->kind == GUS_TARGET_CGROUP ? "a cgroup" : "all that runs on a CPU", paranoid);
	}
	if (refused && id > 0 && t->kind != GUS_TARGET_COMMAND && gus_task_read(id, &task)) {
		if (task.uid != getuid())
			return explain_user(err, t, id, &task);
		if (event->user) /* the kernel has been left out already: it is not about that */
			return gus_fail(err, GUS_E_PERMISSION, "cannot watch %s %d (%s): permission denied, though "
					"it is yours; it may have forbidden it (prctl PR_SET_DUMPABLE, a set-uid "
					"program), or the container does", kind_names[t->kind], (int)id, task.comm);
	}
	if (sys == EINVAL && t->kind == GUS_TARGET_CGROUP)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot watch the cgroup %s: this kernel does not sample "
				"cgroups (CONFIG_CGROUP_PERF), or not with %s", t->cgroup, event->name);
	return gus_refusal_explain(err, event, cpu, sys);
}

static bool watch_ended(struct gus_watch *w)
{
	struct pollfd p = { .fd = w->pidfd, .events = POLLIN };
	struct gus_task task;

	if (!w->ended && w->pidfd >= 0)
		w->ended = poll(&p, 1, 0) > 0;
	else if (!w->ended)
		w->ended = !gus_task_read(w->id, &task) || gus_task_ended(&task) || task.start != w->start;
	return w->ended;
}

bool gus_target_ended(struct gus_target *t)
{
	bool all = t->watches.n != 0;

	for (size_t i = 0; i < t->watches.n; i++)
		all &= watch_ended(&t->watches.v[i]);
	return all;
}

static char *describe_watches(const struct gus_target *t)
{
	char *text = gus_strdup("");

	for (size_t i = 0; i < t->watches.n; i++) {
		char *longer = gus_format("%s%s%s %d", text, i ? ", " : "", kind_names[t->kind],
					  (int)t->watches.v[i].id);

		free(text);
		text = longer;
	}
	return text;
}

char *gus_target_describe(const struct gus_target *t)
{
	char *what, *text;

	switch (t->kind) {
	case GUS_TARGET_COMMAND:
		what = gus_strdup("the command");
		break;
	case GUS_TARGET_SYSTEM:
		return t->cpus ? gus_format("all that runs on cpu %s", t->cpus) : gus_strdup("all CPUs");
	case GUS_TARGET_CGROUP:
		what = gus_format("the cgroup %s", t->cgroup);
		break;
	default:
		what = describe_watches(t);
	}
	text = t->cpus ? gus_format("%s on cpu %s", what, t->cpus) : gus_strdup(what);
	free(what);
	return text;
}
