/* SPDX-License-Identifier: MIT */
#include "collector/doctor/refusal.h"

#include <errno.h>

#include "base/error.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/host/text.h"

/* A filter around this process, which lowering perf_event_paranoid would not move. The kernel itself says EACCES. */
static bool explain_filter(struct gus_error *err, const struct gus_event *e, int sys)
{
	char why[400], command[200];
	struct gus_facts rights;

	if (sys != EPERM && sys != ENOSYS)
		return false;
	gus_facts_rights(&rights);
	if (rights.seccomp != 2)
		return false;
	gus_doctor_refusal(&rights, sys, GUS_WISH_USER, why, sizeof(why), command, sizeof(command));
	gus_fail(err, GUS_E_PERMISSION, "cannot open %s: %s%s%s; gusprof doctor says more", e->name, why,
		 *command ? ": " : "", command);
	return true;
}

int gus_refusal_explain(struct gus_error *err, const struct gus_event *e, int cpu, int sys)
{
	char paranoid[32] = "unknown";
	const char *precise = e->precise || e->precise_best ? "; a lower precision (fewer p) may work" : "";

	if (explain_filter(err, e, sys))
		return -1;
	gus_read_text("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	switch (sys) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot sample %s: this machine, or the hypervisor under it, "
				"has no such event; -e auto takes the best that there is, cpu-clock works "
				"everywhere", e->name);
	case EACCES:
	case EPERM:
		return gus_fail(err, GUS_E_PERMISSION, "cannot open %s on cpu %d: permission denied; "
				"kernel.perf_event_paranoid is %s: lower it to %d, get CAP_PERFMON, or, in a "
				"container, allow perf_event_open", e->name, cpu, paranoid, e->kernel ? 1 : 2);
	case E2BIG:
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot open %s on cpu %d: this kernel is too old for what the "
				"event asks of it (config3 is taken from 6.3 on)", e->name, cpu);
	case EOPNOTSUPP:
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot sample %s: the hardware does not sample this event%s",
				e->name, *precise ? precise : ", it only counts it");
	case EBUSY:
		return gus_fail_errno(err, sys, "cannot open %s on cpu %d: somebody else holds the counters it needs",
				      e->name, cpu);
	case EMFILE:
	case ENFILE:
		return gus_fail_errno(err, sys, "cannot open %s on cpu %d; one descriptor an event and CPU is needed: "
				      "raise the limit (ulimit -Hn)", e->name, cpu);
	case ENOSYS:
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot open %s: this kernel, or the container around this "
				"program, has no perf_event_open", e->name);
	case EINVAL:
		if (!e->period && e->frequency > gus_read_rate_limit())
			return gus_fail(err, GUS_E_UNSUPPORTED, "cannot sample %s on cpu %d: %llu samples a second are "
					"more than this kernel allows now, %llu (kernel.perf_event_max_sample_rate, "
					"which it lowers by itself); take less (-F)", e->name, cpu,
					(unsigned long long)e->frequency,
					(unsigned long long)gus_read_rate_limit());
		return gus_fail_errno(err, sys, "cannot sample %s on cpu %d: the kernel refuses this combination of "
				      "event, modifiers and rate%s", e->name, cpu, precise);
	default:
		return gus_fail_errno(err, sys, "cannot open %s on cpu %d", e->name, cpu);
	}
}
