/* SPDX-License-Identifier: MIT */
#include "collector/stat/attach.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/events/pmu.h"
#include "collector/host/text.h"

#define ATTEMPTS 4      /* of attaching to a process that has new threads each time we look */
#define CPU_LIMIT 8192  /* beyond any kernel's */

struct places gus_vec(struct gus_tally_place);

static bool has(const struct places *p, pid_t tid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].pid == tid)
			return true;
	return false;
}

/* The threads that pid has now. */
static int add_threads(struct places *p, pid_t pid, struct gus_error *err)
{
	char *path = gus_format("/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	struct dirent *d;

	free(path);
	if (!folder)
		return errno == ENOENT ? gus_fail(err, GUS_E_NOT_FOUND, "there is no process %d", (int)pid) :
		       gus_fail_errno(err, errno, "cannot list the threads of process %d", (int)pid);
	while ((d = readdir(folder)))
		if (d->d_name[0] != '.')
			gus_vec_push(p, (struct gus_tally_place){ (pid_t)atoi(d->d_name), -1 });
	closedir(folder);
	return 0;
}

static int add_cpus(struct places *p, const char *wanted, struct gus_error *err)
{
	char online[4096];

	if (!gus_read_text("/sys/devices/system/cpu/online", online, sizeof(online)))
		snprintf(online, sizeof(online), "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	for (unsigned cpu = 0; cpu < CPU_LIMIT; cpu++) {
		bool is_online = gus_cpus_has(online, cpu);

		if (wanted && gus_cpus_has(wanted, cpu) && !is_online)
			return gus_fail(err, GUS_E_NOT_FOUND, "CPU %u is not there or not online; those that are: "
					"%s", cpu, online);
		if (is_online && (!wanted || gus_cpus_has(wanted, cpu)))
			gus_vec_push(p, (struct gus_tally_place){ -1, (int)cpu });
	}
	return 0;
}

static int find_places(struct places *p, const struct gus_stat_target *target, pid_t child, struct gus_error *err)
{
	p->n = 0;
	switch (target->kind) {
	case GUS_STAT_COMMAND:
		gus_vec_push(p, (struct gus_tally_place){ child, -1 });
		break;
	case GUS_STAT_PROCESSES:
		for (size_t i = 0; i < target->ids.n; i++)
			if (add_threads(p, target->ids.v[i], err) != 0)
				return -1;
		break;
	case GUS_STAT_THREADS:
		for (size_t i = 0; i < target->ids.n; i++)
			gus_vec_push(p, (struct gus_tally_place){ target->ids.v[i], -1 });
		break;
	case GUS_STAT_CPUS:
		return add_cpus(p, target->cpus, err);
	}
	return 0;
}

/* How many threads there are that were not when the places were listed. */
static size_t count_new(const struct places *before, const struct gus_stat_target *target)
{
	struct places now = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < target->ids.n; i++)
		add_threads(&now, target->ids.v[i], NULL);
	for (size_t i = 0; i < now.n; i++)
		n += !has(before, now.v[i].pid);
	gus_vec_free(&now);
	return n;
}

static bool leave_out_kernel(const struct gus_tally *t, struct gus_events *events)
{
	bool refused = false, changed = false;

	for (size_t i = 0; i < events->n; i++)
		refused |= t->states[i] == GUS_TALLY_REFUSED;
	for (size_t i = 0; refused && i < events->n; i++)
		changed |= gus_event_exclude_kernel(&events->v[i]);
	return changed;
}

/* Opens all at the places; a second time without the kernel where it must be. */
static int open_places(struct gus_tally *t, struct gus_events *events, const struct places *p, bool on_exec,
		       struct gus_attachment *how, struct gus_error *err)
{
	if (gus_tally_open(t, events, p->v, p->n, on_exec, err) != 0)
		return -1;
	if (!leave_out_kernel(t, events))
		return 0;
	gus_tally_close(t);
	how->user_only = true;
	return gus_tally_open(t, events, p->v, p->n, on_exec, err);
}

/* A thread that is born between our listing the threads and our opening its parent is counted by nobody; one that is
 * born later is counted with its parent. So if the list is the same afterwards, nothing was missed. Else it is all
 * done again, a few times; what then is still new may have been missed. */
static int open_target(struct gus_tally *t, struct gus_events *events, const struct gus_stat_target *target,
		       pid_t child, struct gus_attachment *how, struct gus_error *err)
{
	struct places p = { 0 };
	int rc = -1;

	for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
		if (attempt)
			gus_tally_close(t);
		rc = find_places(&p, target, child, err);
		if (rc == 0)
			rc = open_places(t, events, &p, target->kind == GUS_STAT_COMMAND, how, err);
		if (rc != 0)
			break;
		how->missed = target->kind == GUS_STAT_PROCESSES ? count_new(&p, target) : 0;
		if (!how->missed)
			break;
	}
	gus_vec_free(&p);
	return rc;
}

static const char *describe_ids(const struct gus_stat_target *target, char *text, size_t size)
{
	snprintf(text, size, "%s %d%s", target->kind == GUS_STAT_THREADS ? "thread" : "process",
		 target->ids.n ? (int)target->ids.v[0] : 0, target->ids.n > 1 ? " and the others" : "");
	return text;
}

/* Nothing of a process is shown to other users, unless they may watch all. */
static bool belongs_to_other(const struct gus_stat_target *target, struct gus_error *err)
{
	if (target->kind != GUS_STAT_PROCESSES && target->kind != GUS_STAT_THREADS)
		return false;
	for (size_t i = 0; i < target->ids.n; i++) {
		char *path = gus_format("/proc/%d", (int)target->ids.v[i]);
		struct stat st;
		bool other = stat(path, &st) == 0 && st.st_uid != geteuid();

		free(path);
		if (other) {
			gus_fail(err, GUS_E_PERMISSION, "cannot attach to %s %d: it belongs to uid %u, or does not "
				 "let itself be watched (not dumpable), and this is uid %u; CAP_PERFMON is needed, "
				 "or root",
				 target->kind == GUS_STAT_THREADS ? "thread" : "process", (int)target->ids.v[i],
				 (unsigned)st.st_uid, (unsigned)geteuid());
			return true;
		}
	}
	return false;
}

static int explain_refusal(const struct gus_stat_target *target, const struct gus_event *e, int sys,
			   struct gus_error *err)
{
	bool system = target->kind == GUS_STAT_CPUS;
	struct gus_facts rights;
	char why[400], command[200];

	if (sys != ENOSYS && belongs_to_other(target, err))
		return -1;
	gus_facts_rights(&rights);
	gus_doctor_refusal(&rights, sys, system ? GUS_WISH_SYSTEM : e->kernel ? GUS_WISH_KERNEL : GUS_WISH_USER, why,
			   sizeof(why), command, sizeof(command));
	return gus_fail(err, GUS_E_PERMISSION, "cannot count %s%s: %s%s%s; gusprof doctor says more", e->name,
			system ? " on whole CPUs" : "", why, *command ? ": " : "", command);
}

/* Nothing at all is counted: why event number i is not. */
static int explain_nothing(const struct gus_tally *t, size_t i, const struct gus_stat_target *target,
			   struct gus_error *err)
{
	const struct gus_event *e = &t->events->v[i];
	int sys = t->reasons[i];
	char who[64];

	switch (t->states[i]) {
	case GUS_TALLY_GONE:
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot attach to %s: there is no such task, or it has ended",
				describe_ids(target, who, sizeof(who)));
	case GUS_TALLY_BLIND:
		return gus_fail(err, GUS_E_PERMISSION, "cannot count %s: it happens in the kernel alone, and that is "
				"left out, by its modifiers or because this user may not watch it (see gusprof "
				"doctor)", e->name);
	case GUS_TALLY_REFUSED:
		return explain_refusal(target, e, sys, err);
	default:
		break;
	}
	if (sys == ENOSYS)
		return explain_refusal(target, e, sys, err);
	if (sys == ENOENT || sys == ENODEV || sys == ENXIO || sys == EOPNOTSUPP)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot count %s: this machine, or the hypervisor under it, "
				"has no such event; gusprof doctor says more", e->name);
	return gus_fail_errno(err, sys, "cannot count %s: the kernel refuses this event here", e->name);
}

int gus_stat_attach(struct gus_tally *t, struct gus_events *events, const struct gus_stat_target *target, pid_t child,
		     struct gus_attachment *how, struct gus_error *err)
{
	size_t refused = SIZE_MAX;
	bool usage = false;

	*how = (struct gus_attachment){ 0 };
	if (open_target(t, events, target, child, how, err) != 0)
		return -1;
	for (size_t i = 0; i < events->n; i++) {
		if (t->states[i] == GUS_TALLY_OPEN)
			return 0;
		if (refused == SIZE_MAX && (t->states[i] == GUS_TALLY_REFUSED || t->reasons[i] == ENOSYS))
			refused = i;
		usage |= t->states[i] == GUS_TALLY_BLIND && gus_stat_has_usage(target, &events->v[i]);
	}
	if (usage && refused == SIZE_MAX)
		return 0;
	explain_nothing(t, refused == SIZE_MAX ? 0 : refused, target, err);
	gus_tally_close(t);
	return -1;
}
