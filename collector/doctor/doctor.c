/* SPDX-License-Identifier: MIT */
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/events/features.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define CAP_IPC_LOCK 14
#define CAP_SYS_ADMIN 21
#define CAP_SYSLOG 34
#define CAP_PERFMON 38
#define DEFAULT_HZ 1000 /* of record */

static const char *const cause_names[] = {
	[GUS_CAUSE_NONE] = "none", [GUS_CAUSE_PERMISSION] = "permission", [GUS_CAUSE_HARDWARE] = "hardware",
	[GUS_CAUSE_HYPERVISOR] = "hypervisor", [GUS_CAUSE_KERNEL] = "kernel", [GUS_CAUSE_BUSY] = "busy",
};
static const char *const mark_names[] = {
	[GUS_MARK_OK] = "ok", [GUS_MARK_LIMITED] = "limited", [GUS_MARK_NO] = "no", [GUS_MARK_INFO] = "info",
};

const char *gus_hindrance_name(enum gus_hindrance cause)
{
	return cause_names[cause];
}

const char *gus_mark_name(enum gus_mark mark)
{
	return mark_names[mark];
}

static struct gus_finding *add(struct gus_diagnosis *d, const char *group, const char *name, enum gus_mark mark,
			       enum gus_hindrance cause, const char *format, ...) __attribute__((format(printf, 6, 7)));
static struct gus_finding *add(struct gus_diagnosis *d, const char *group, const char *name, enum gus_mark mark,
			       enum gus_hindrance cause, const char *format, ...)
{
	struct gus_finding finding = { group, name, mark, cause, "", "" };
	va_list args;

	va_start(args, format);
	vsnprintf(finding.text, sizeof(finding.text), format, args);
	va_end(args);
	gus_vec_push(&d->findings, finding);
	return &d->findings.v[d->findings.n - 1];
}

static void set_command(struct gus_finding *finding, const char *command)
{
	snprintf(finding->command, sizeof(finding->command), "%s", command);
}

/* Rights. Capabilities of another user namespace than the first do not count for perf_event_open. */
static bool holds(const struct gus_facts *f, unsigned capability)
{
	return f->initial_userns && f->capabilities >> capability & 1;
}

static bool kernel_at_least(const struct gus_facts *f, int major, int minor)
{
	int a = 0, b = 0;

	if (sscanf(f->kernel, "%d.%d", &a, &b) < 1)
		return true; /* a release that is no number: not for us to call it old */
	return a > major || (a == major && b >= minor);
}

/* CAP_PERFMON came with 5.8; before it, and where a distribution has levels above 2, CAP_SYS_ADMIN is asked for. */
static bool may_perfmon(const struct gus_facts *f)
{
	return holds(f, CAP_SYS_ADMIN) || (kernel_at_least(f, 5, 8) && holds(f, CAP_PERFMON));
}

/* Levels above 2 are patches of distributions (Debian, Ubuntu, Android). */
static int highest_level(enum gus_wish wish)
{
	return wish == GUS_WISH_USER ? 2 : wish == GUS_WISH_KERNEL ? 1 : 0;
}

static bool paranoid_allows(const struct gus_facts *f, enum gus_wish wish)
{
	return !f->paranoid.known || f->paranoid.value <= highest_level(wish) || may_perfmon(f);
}

static const char *const wish_texts[] = {
	[GUS_WISH_USER] = "nothing at all", [GUS_WISH_KERNEL] = "only their own code outside the kernel",
	[GUS_WISH_SYSTEM] = "only programs of their own, not whole CPUs",
};

static void text_and_command(char *text, size_t text_size, char *command, size_t command_size, const char *command_text,
			     const char *format, ...) __attribute__((format(printf, 6, 7)));
static void text_and_command(char *text, size_t text_size, char *command, size_t command_size, const char *command_text,
			     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, text_size, format, args);
	va_end(args);
	snprintf(command, command_size, "%s", command_text);
}

static bool is_kind(const struct gus_facts *f, const char *word)
{
	return strncmp(f->container, word, strlen(word)) == 0;
}

/* What lets perf_event_open through the usual filters: they allow it to who has the capability. */
static const char *container_command(const struct gus_facts *f)
{
	if (is_kind(f, "Kubernetes") || is_kind(f, "kubepods"))
		return "securityContext: { capabilities: { add: [\"PERFMON\"] } "
			"}"; /* of the container, in its manifest */
	if (is_kind(f, "Docker") || is_kind(f, "docker"))
		return "docker run --cap-add PERFMON --security-opt seccomp=unconfined ...";
	if (is_kind(f, "Podman") || is_kind(f, "libpod"))
		return "podman run --cap-add PERFMON --security-opt seccomp=unconfined ...";
	return "";
}

enum gus_hindrance gus_doctor_refusal(const struct gus_facts *f, int sys, enum gus_wish wish, char *text,
				      size_t text_size,
				  char *command, size_t command_size)
{
	const char *host = *f->container ? " (in a container it is the host's setting)" : "";
	char sysctl[80];

	/* The kernel's own checks answer EACCES. EPERM is what filters answer, and ENOSYS those that play an old
	 * kernel. */
	if (f->seccomp == 2 && (sys == EPERM || sys == ENOSYS || paranoid_allows(f, wish))) {
		text_and_command(text, text_size, command, command_size, container_command(f),
				 "a seccomp filter around this process forbids perf_event_open; whoever started it "
					 "must allow the "
				 "call");
		return GUS_CAUSE_PERMISSION;
	}
	if (sys == ENOSYS || !f->paranoid.known) {
		text_and_command(text, text_size, command, command_size, "",
				 "this kernel was built without perf_event_open (CONFIG_PERF_EVENTS)");
		return GUS_CAUSE_KERNEL;
	}
	if (!paranoid_allows(f, wish)) {
		snprintf(sysctl, sizeof(sysctl), "sudo sysctl kernel.perf_event_paranoid=%d", wish == GUS_WISH_SYSTEM ?
			 0 : 1);
		text_and_command(text, text_size, command, command_size, sysctl,
				 "kernel.perf_event_paranoid is %" PRId64 ", which lets users without %s watch %s%s%s",
				 f->paranoid.value, kernel_at_least(f, 5, 8) && f->paranoid.value <= 2 ? "CAP_PERFMON" :
				 "CAP_SYS_ADMIN", wish_texts[wish], f->initial_userns ? "" :
					 "; rights held in a user namespace do "
				 "not count", host);
		return GUS_CAUSE_PERMISSION;
	}
	text_and_command(text, text_size, command, command_size, "",
			 "kernel.perf_event_paranoid (%" PRId64 ") would allow it and no seccomp filter is in the way; "
				 "a security "
			 "module (SELinux, AppArmor, Smack) may forbid it: its audit log says so", f->paranoid.value);
	return GUS_CAUSE_PERMISSION;
}

/* Events. */
static const struct {
	const char *name, *what;
} classes[] = {
	[GUS_CLASS_CLOCK] = { "software-clocks", "a timer of the kernel samples CPU time" },
	[GUS_CLASS_COUNTERS] = { "raw-counters", "cycles and instructions are counted" },
	[GUS_CLASS_CYCLES] = { "cycles", "cycles trigger samples" },
	[GUS_CLASS_PRECISE] = { "precise-cycles", "the hardware records the exact instruction of a sample" },
	[GUS_CLASS_IBS] = { "ibs", "AMD's instruction-based sampling" },
	[GUS_CLASS_SPE] = { "spe", "Arm's statistical profiling extension" },
	[GUS_CLASS_BRANCHES] = { "branch-stack", "the branches before a sample" },
	[GUS_CLASS_TOPDOWN] = { "topdown-slots", "what becomes of issue slots" },
};

/* Since when the kernel knows these of CPUs that have them; from the release notes, as remembered. */
static const struct { enum gus_class which; const char *uarch; int major, minor; } since[] = {
	{ GUS_CLASS_BRANCHES, "znver3", 5, 19 }, { GUS_CLASS_BRANCHES, "znver4", 6, 1 },
	{ GUS_CLASS_BRANCHES, "znver5", 6, 1 }, { GUS_CLASS_BRANCHES, "neoverse-v2", 6, 17 },
	{ GUS_CLASS_TOPDOWN, "icelake-client", 5, 10 }, { GUS_CLASS_TOPDOWN, "icelake-server", 5, 10 },
	{ GUS_CLASS_TOPDOWN, "sapphirerapids", 5, 12 }, { GUS_CLASS_TOPDOWN, "emeraldrapids", 5, 12 },
	{ GUS_CLASS_TOPDOWN, "alderlake", 5, 13 }, { GUS_CLASS_TOPDOWN, "raptorlake", 5, 18 },
	{ GUS_CLASS_TOPDOWN, "meteorlake", 6, 1 }, { GUS_CLASS_TOPDOWN, "lunarlake", 6, 10 },
	{ GUS_CLASS_SPE, NULL, 4, 16 },
};

static bool is_arm(const struct gus_facts *f)
{
	return strcmp(f->machine, "aarch64") == 0;
}

static bool is_amd(const struct gus_facts *f)
{
	return strcmp(f->vendor, "AuthenticAMD") == 0;
}

/* Why no CPU of this maker has such a thing, or NULL. */
static const char *foreign(const struct gus_facts *f, enum gus_class which)
{
	if (which == GUS_CLASS_IBS && !is_amd(f))
		return "only CPUs of AMD have it";
	if (which == GUS_CLASS_SPE && !is_arm(f))
		return "only CPUs of Arm's architecture have it";
	if (which == GUS_CLASS_PRECISE && is_arm(f))
		return "CPUs of Arm's architecture have SPE instead";
	return NULL;
}

/* Whether the kernel is too old for it; *major and *minor then say which is not. */
static bool too_old(const struct gus_facts *f, enum gus_class which, int *major, int *minor)
{
	for (size_t i = 0; i < COUNT(since); i++)
		if (since[i].which == which && !kernel_at_least(f, since[i].major, since[i].minor) &&
		    (!since[i].uarch || (f->uarch && strcmp(f->uarch, since[i].uarch) == 0))) {
			*major = since[i].major;
			*minor = since[i].minor;
			return true;
		}
	return false;
}

/* How the owner of the host passes counters on. */
static const char *hypervisor_advice(const struct gus_facts *f)
{
	static const struct { const char *word, *advice; } advices[] = {
		{ "Amazon EC2", ". Instances of a whole machine (.metal) or a whole socket have counters" },
		{ "Google", ". Its owner can give it counters (--performance-monitoring-unit)" },
		{ "VMware", ". Its owner can pass counters on (vpmc.enable = TRUE)" },
		{ "Firecracker", ". Firecracker has no counters to give" },
		{ "QEMU", ". Its owner can pass counters on (-cpu host,pmu=on)" },
		{ "KVM", ". Its owner can pass counters on if the monitor can (QEMU: -cpu host,pmu=on)" },
		{ "Hyper-V", ". Its owner can pass counters on (Set-VMProcessor -Perfmon)" },
		{ "VirtualBox", ". VirtualBox has no counters to give" },
	};

	for (size_t i = 0; i < COUNT(advices); i++)
		if (strstr(f->product, advices[i].word) || strstr(f->hypervisor, advices[i].word))
			return advices[i].advice;
	return "";
}

/* It did not open, and rights had no part in that. */
static void judge_absent(struct gus_diagnosis *d, const struct gus_facts *f, enum gus_class which)
{
	const char *name = classes[which].name, *reason = foreign(f, which);
	const struct gus_class_facts *c = &f->classes[which];
	int major, minor;

	if (reason)
		add(d, "events", name, GUS_MARK_INFO, GUS_CAUSE_HARDWARE, "%s", reason);
	else if (c->sys == EBUSY)
		add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_BUSY, "somebody else holds the counters that it needs");
	else if (too_old(f, which, &major, &minor) &&
		 (c->listed || f->classes[GUS_CLASS_COUNTERS].listed || !*f->hypervisor))
		add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_KERNEL,
		    "this CPU has it, but Linux only from %d.%d on; this is %s",
		    major, minor, f->kernel);
	else if (*f->hypervisor)
		add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_HYPERVISOR, "the hypervisor (%s) does not pass it on",
		    f->hypervisor);
	else if (which == GUS_CLASS_CLOCK)
		add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_KERNEL, "the kernel does not open it (%s)",
		    strerror(c->sys));
	else if (f->classes[GUS_CLASS_COUNTERS].listed)
		add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_HARDWARE,
		    "this CPU has none, or this kernel (%s) does not know it",
		    f->kernel);
	else
		add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_HARDWARE,
		    "this machine has no performance monitoring unit that "
		    "this kernel (%s) knows", f->kernel);
}

/* It opens; what it then does is not what it should. */
static void judge_broken(struct gus_diagnosis *d, const struct gus_facts *f, enum gus_class which)
{
	static const char *const troubles[] = {
		[GUS_PROBE_STILL] = "it opens, but the counter stands still",
		[GUS_PROBE_SILENT] = "it counts, but no samples arrive",
		[GUS_PROBE_INEXACT] = "samples arrive, but the hardware does not vouch for their addresses",
		[GUS_PROBE_UNTRIED] = "it could not be tried: too few descriptors, or too little memory",
	};
	const char *trouble = troubles[f->classes[which].verdict], *name = classes[which].name;

	if (*f->hypervisor)
		add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_HYPERVISOR,
		    "%s: the hypervisor (%s) only pretends to pass it on",
		    trouble, f->hypervisor);
	else if (f->classes[which].verdict == GUS_PROBE_STILL && f->nmi_watchdog.known && f->nmi_watchdog.value)
		set_command(add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_BUSY,
				"%s: the NMI watchdog or another user holds it",
				trouble), "sudo sysctl kernel.nmi_watchdog=0");
	else
		add(d, "events", name, GUS_MARK_NO, GUS_CAUSE_HARDWARE, "%s", trouble);
}

static void judge_works(struct gus_diagnosis *d, const struct gus_facts *f, enum gus_class which)
{
	const struct gus_class_facts *c = &f->classes[which];
	char level[48] = "", why[300] = "";
	struct gus_finding *finding;

	if (which == GUS_CLASS_PRECISE)
		snprintf(level, sizeof(level), " (up to cycles:%.*s)", (int)(c->level < 3 ? c->level : 3), "ppp");
	if (which == GUS_CLASS_BRANCHES)
		snprintf(level, sizeof(level), " (%u of them)", c->level);
	if (!c->user_only) {
		add(d, "events", classes[which].name, GUS_MARK_OK, GUS_CAUSE_NONE, "%s%s", classes[which].what, level);
		return;
	}
	finding = add(d, "events", classes[which].name, GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION, " ");
	gus_doctor_refusal(f, c->sys ? c->sys : EACCES, GUS_WISH_KERNEL, why, sizeof(why), finding->command,
			   sizeof(finding->command));
	snprintf(finding->text, sizeof(finding->text), "%s%s, but not in the kernel: %s", classes[which].what, level,
		 why);
}

static void judge_class(struct gus_diagnosis *d, const struct gus_facts *f, enum gus_class which)
{
	const struct gus_class_facts *c = &f->classes[which];
	struct gus_finding *finding;
	int sys = c->sys_user ? c->sys_user : c->sys;

	switch (c->verdict) {
	case GUS_PROBE_GOOD:
		judge_works(d, f, which);
		break;
	case GUS_PROBE_ABSENT:
		judge_absent(d, f, which);
		break;
	case GUS_PROBE_REFUSED:
		if (foreign(f, which)) {
			judge_absent(d, f, which);
			break;
		}
		finding = add(d, "events", classes[which].name, GUS_MARK_NO, GUS_CAUSE_PERMISSION, " ");
		finding->cause = gus_doctor_refusal(f, sys, GUS_WISH_USER, finding->text, sizeof(finding->text),
						    finding->command, sizeof(finding->command));
		break;
	default:
		judge_broken(d, f, which);
	}
}

/* What callers can be found by, where samples can be taken at all. */
static void judge_callers(struct gus_diagnosis *d, const struct gus_facts *f)
{
	if (!f->tier)
		return;
	if (f->stacks)
		add(d, "events", "call-graph", GUS_MARK_OK, GUS_CAUSE_NONE, "callers are found by unwind tables and by "
		    "frame pointers%s", f->calls ? ", and by the calls that the CPU keeps (lbr)" :
		    "; the CPU keeps no calls for it (lbr)");
	else
		add(d, "events", "call-graph", GUS_MARK_LIMITED, GUS_CAUSE_KERNEL, "callers are found by frame "
		    "pointers%s: samples bring neither registers nor pieces of the stack along here",
		    f->calls ? " and by the calls that the CPU keeps (lbr)" : " alone");
}

/* Where samples land. */
static void judge_skid(struct gus_diagnosis *d, const struct gus_facts *f)
{
	if (!f->tier || !*f->skid)
		return;
	if (f->late < 0)
		add(d, "events", "skid", GUS_MARK_LIMITED, GUS_CAUSE_HARDWARE, "samples of %s do not land at one "
		    "distance from a slow instruction: %s", f->event, f->skid);
	else if (f->late == 0)
		add(d, "events", "skid", GUS_MARK_OK, GUS_CAUSE_NONE, "samples of %s land on the instruction that "
		    "took the time: %s", f->event, f->skid);
	else
		add(d, "events", "skid", GUS_MARK_INFO, GUS_CAUSE_NONE, "samples of %s land %d instruction%s late: %s",
		    f->event, f->late, f->late == 1 ? "" : "s", f->skid);
}

/* Rights. */
static void judge_paranoid(struct gus_diagnosis *d, const struct gus_facts *f)
{
	/* levels above 2 mean something to some kernels */
	bool user_works = f->classes[GUS_CLASS_CLOCK].verdict == GUS_PROBE_GOOD;
	enum gus_wish wish = f->paranoid.value > 2 && !user_works ? GUS_WISH_USER : GUS_WISH_KERNEL;
	char text[300], command[200];

	if (!f->paranoid.known) {
		add(d, "rights", "perf_event_paranoid", GUS_MARK_NO, GUS_CAUSE_KERNEL,
		    "there is no such setting: this kernel was built "
		    "without perf events");
	} else if (paranoid_allows(f, GUS_WISH_SYSTEM)) {
		add(d, "rights", "perf_event_paranoid", GUS_MARK_OK, GUS_CAUSE_NONE,
		    "%" PRId64 "%s: programs, the kernel and whole "
		    "CPUs may be watched", f->paranoid.value, may_perfmon(f) && f->paranoid.value > 0 ?
			    ", over which this user's "
		    "rights prevail" : "");
	} else if (paranoid_allows(f, GUS_WISH_KERNEL)) {
		add(d, "rights", "perf_event_paranoid", GUS_MARK_OK, GUS_CAUSE_NONE,
		    "%" PRId64 ": own programs and what the kernel "
		    "does for them may be watched; whole CPUs (-a) may not", f->paranoid.value);
	} else {
		gus_doctor_refusal(f, EACCES, wish, text, sizeof(text), command, sizeof(command));
		/* A filter in the way is a finding of its own; this one is about the setting. */
		if (f->seccomp == 2)
			snprintf(text, sizeof(text),
				 "kernel.perf_event_paranoid is %" PRId64 ", which lets users watch %s",
				 f->paranoid.value, wish_texts[wish]);
		set_command(add(d, "rights", "perf_event_paranoid", wish == GUS_WISH_USER ? GUS_MARK_NO :
				GUS_MARK_LIMITED,
				GUS_CAUSE_PERMISSION, "%s", text), command);
	}
}

static void judge_capabilities(struct gus_diagnosis *d, const struct gus_facts *f)
{
	static const struct { unsigned number; const char *name; } wanted[] = {
		{ CAP_PERFMON, "CAP_PERFMON" }, { CAP_SYS_ADMIN, "CAP_SYS_ADMIN" }, { CAP_SYSLOG, "CAP_SYSLOG" },
		{ CAP_IPC_LOCK, "CAP_IPC_LOCK" },
	};
	char list[96] = "";

	for (size_t i = 0; i < COUNT(wanted); i++)
		if (f->capabilities >> wanted[i].number & 1)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " : "",
				 wanted[i].name);
	if (*list && !f->initial_userns)
		add(d, "rights", "capabilities", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION,
		    "uid %u has %s in a user namespace of its own, "
		    "where they do not count for perf_event_open", f->uid, list);
	else if (*list)
		add(d, "rights", "capabilities", GUS_MARK_OK, GUS_CAUSE_NONE, "uid %u has %s", f->uid, list);
	else
		add(d, "rights", "capabilities", GUS_MARK_INFO, GUS_CAUSE_NONE,
		    "uid %u has none that matter (CAP_PERFMON, "
		    "CAP_SYS_ADMIN, CAP_SYSLOG, CAP_IPC_LOCK)", f->uid);
}

static void judge_seccomp(struct gus_diagnosis *d, const struct gus_facts *f)
{
	const struct gus_class_facts *c = &f->classes[GUS_CLASS_CLOCK];
	int sys = c->sys_user ? c->sys_user : c->sys;
	char text[300], command[200];

	if (f->seccomp < 0)
		add(d, "rights", "seccomp", GUS_MARK_INFO, GUS_CAUSE_NONE, "this kernel does not tell");
	else if (f->seccomp == 0)
		add(d, "rights", "seccomp", GUS_MARK_OK, GUS_CAUSE_NONE, "no filter");
	else if (c->verdict == GUS_PROBE_REFUSED &&
		 (sys == EPERM || sys == ENOSYS || paranoid_allows(f, GUS_WISH_USER))) {
		gus_doctor_refusal(f, sys, GUS_WISH_USER, text, sizeof(text), command, sizeof(command));
		set_command(add(d, "rights", "seccomp", GUS_MARK_NO, GUS_CAUSE_PERMISSION, "%s", text), command);
	} else if (c->verdict == GUS_PROBE_REFUSED)
		add(d, "rights", "seccomp", GUS_MARK_INFO, GUS_CAUSE_NONE,
		    "there is a filter; whether it lets perf_event_open through "
		    "shows once kernel.perf_event_paranoid does");
	else
		add(d, "rights", "seccomp", GUS_MARK_OK, GUS_CAUSE_NONE,
		    "there is a filter, which lets perf_event_open through");
}

static void judge_lockdown(struct gus_diagnosis *d, const struct gus_facts *f)
{
	if (!*f->lockdown)
		add(d, "rights", "lockdown", GUS_MARK_OK, GUS_CAUSE_NONE, "this kernel has none");
	else if (strcmp(f->lockdown, "confidentiality") == 0)
		add(d, "rights", "lockdown", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION,
		    "confidentiality: samples may not carry the "
		    "registers of the kernel, and kernel probes are refused; all else works. Only the boot loader's "
			    "settings and "
		    "Secure Boot change that");
	else
		add(d, "rights", "lockdown", GUS_MARK_OK, GUS_CAUSE_NONE, "%s: nothing that gusprof wants is refused",
		    f->lockdown);
}

/* Settings. The kernel gives each user mlock_kb for each CPU, and then what the process may lock. */
static void judge_mlock(struct gus_diagnosis *d, const struct gus_facts *f)
{
	uint64_t need = f->ring_bytes * f->cpus, free_bytes = f->mlock_kb.known ? (uint64_t)f->mlock_kb.value << 10 : 0;
	uint64_t have = free_bytes * f->cpus;
	char command[200];

	have = f->memlock_bytes > UINT64_MAX - have ? UINT64_MAX : have + f->memlock_bytes;
	if (holds(f, CAP_IPC_LOCK) || (f->paranoid.known && f->paranoid.value < 0)) {
		add(d, "settings", "mlock", GUS_MARK_OK, GUS_CAUSE_NONE,
		    "rings need %" PRIu64 " KiB of locked memory on %u CPUs; this "
		    "user has no limit", need >> 10, f->cpus);
	} else if (have >= need) {
		add(d, "settings", "mlock", GUS_MARK_OK, GUS_CAUSE_NONE,
		    "rings need %" PRIu64 " KiB of locked memory on %u CPUs; "
		    "kernel.perf_event_mlock_kb (%" PRId64 ") and RLIMIT_MEMLOCK give enough for one recording at a "
			    "time",
		    need >> 10, f->cpus, f->mlock_kb.value);
	} else {
		snprintf(command, sizeof(command), "sudo sysctl kernel.perf_event_mlock_kb=%" PRIu64,
			 f->ring_bytes >> 10);
		set_command(add(d, "settings", "mlock", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION,
				"rings need %" PRIu64 " KiB of locked "
				"memory on %u CPUs, and kernel.perf_event_mlock_kb with RLIMIT_MEMLOCK gives "
					"%" PRIu64 ": they "
				"will be smaller, and more samples may be lost", need >> 10, f->cpus, have >> 10),
					command);
	}
}

static void judge_rate(struct gus_diagnosis *d, const struct gus_facts *f)
{
	if (!f->sample_rate.known)
		add(d, "settings", "perf_event_max_sample_rate", GUS_MARK_INFO, GUS_CAUSE_NONE,
		    "this kernel does not tell");
	else if (f->sample_rate.value < DEFAULT_HZ)
		set_command(add(d, "settings", "perf_event_max_sample_rate", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION,
				"%" PRId64
				" samples a second at most, less than record's %d; the kernel lowers it when samples "
					"take long",
				f->sample_rate.value, DEFAULT_HZ),
					"sudo sysctl kernel.perf_event_max_sample_rate=100000");
	else
		add(d, "settings", "perf_event_max_sample_rate", GUS_MARK_OK, GUS_CAUSE_NONE,
		    "%" PRId64 " samples a second at most",
		    f->sample_rate.value);
	if (!f->cpu_percent.known)
		return;
	if (f->cpu_percent.value == 0 || f->cpu_percent.value >= 100)
		add(d, "settings", "perf_cpu_time_max_percent", GUS_MARK_INFO, GUS_CAUSE_NONE,
		    "%" PRId64 ": the kernel does not lower "
		    "that rate by itself", f->cpu_percent.value);
	else
		add(d, "settings", "perf_cpu_time_max_percent", GUS_MARK_OK, GUS_CAUSE_NONE,
		    "%" PRId64 " %% of a CPU: if samples take "
		    "more, the kernel lowers that rate", f->cpu_percent.value);
}

static void judge_watchdog(struct gus_diagnosis *d, const struct gus_facts *f)
{
	bool counters = f->classes[GUS_CLASS_COUNTERS].verdict == GUS_PROBE_GOOD;

	if (!f->nmi_watchdog.known || !f->nmi_watchdog.value)
		add(d, "settings", "nmi_watchdog", GUS_MARK_OK, GUS_CAUSE_NONE, "off: it holds no counter");
	else if (!counters)
		add(d, "settings", "nmi_watchdog", GUS_MARK_INFO, GUS_CAUSE_NONE,
		    "on; it holds a counter where there are any");
	else
		set_command(add(d, "settings", "nmi_watchdog", GUS_MARK_LIMITED, GUS_CAUSE_BUSY,
				"on: it holds one counter of each core, "
				"so that large groups of events take turns or are never counted"),
					"sudo sysctl kernel.nmi_watchdog=0");
}

/* Names. */
static void judge_kallsyms(struct gus_diagnosis *d, const struct gus_facts *f)
{
	bool kptr = f->kptr_restrict.known && f->kptr_restrict.value > 0, paranoid = f->paranoid.known &&
		f->paranoid.value > 1;
	char command[200];

	snprintf(command, sizeof(command), "sudo sysctl%s%s", kptr ? " kernel.kptr_restrict=0" : "",
		 paranoid ? " kernel.perf_event_paranoid=1" : "");
	if (!kptr && !paranoid)
		*command = '\0';
	if (f->kallsyms == GUS_KALLSYMS_SHOWN)
		add(d, "names", "kallsyms", GUS_MARK_OK, GUS_CAUSE_NONE,
		    "/proc/kallsyms shows addresses: samples in the kernel get names");
	else if (f->kallsyms == GUS_KALLSYMS_ABSENT)
		add(d, "names", "kallsyms", GUS_MARK_NO, GUS_CAUSE_KERNEL,
		    "/proc/kallsyms cannot be read: samples in the kernel get no "
		    "names");
	else
		set_command(add(d, "names", "kallsyms", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION,
				"/proc/kallsyms hides its addresses from "
				"this user: samples in the kernel get no names"), command);
	if (!f->kptr_restrict.known)
		return;
	add(d, "names", "kptr_restrict", f->kptr_restrict.value > 0 && f->kallsyms == GUS_KALLSYMS_HIDDEN ?
	    GUS_MARK_LIMITED :
	    GUS_MARK_OK, f->kptr_restrict.value > 0 && f->kallsyms == GUS_KALLSYMS_HIDDEN ? GUS_CAUSE_PERMISSION :
		    GUS_CAUSE_NONE,
	    "%" PRId64 ": kernel addresses are shown to %s", f->kptr_restrict.value, f->kptr_restrict.value > 1 ?
		    "nobody" :
	    f->kptr_restrict.value == 1 ? "those with CAP_SYSLOG" :
		    "those with CAP_SYSLOG, and to all if perf_event_paranoid is at "
	    "most 1");
}

static void judge_vdso(struct gus_diagnosis *d, const struct gus_facts *f)
{
	if (!f->vdso)
		add(d, "names", "vdso", GUS_MARK_INFO, GUS_CAUSE_NONE, "there is none");
	else if (f->vdso_debug)
		add(d, "names", "vdso", GUS_MARK_OK, GUS_CAUSE_NONE, "its debug information is installed (build id %s)",
		    f->vdso_build_id);
	else
		add(d, "names", "vdso", GUS_MARK_INFO, GUS_CAUSE_NONE,
		    "functions get names, but no lines: its debug information is not "
		    "in /usr/lib/debug%s%s%s", *f->vdso_build_id ? " (build id " : "", f->vdso_build_id,
			    *f->vdso_build_id ? ")" : "");
}

/* The machine. */
static void judge_kernel(struct gus_diagnosis *d, const struct gus_facts *f)
{
	static const struct { unsigned feature; const char *text; } features[] = {
		{ GUS_ATTR_MMAP2, "inodes of mappings (3.16)" }, { GUS_ATTR_CLOCK, "a clock of choice (4.1)" },
		{ GUS_ATTR_SWITCH, "context switches (4.3)" }, { GUS_ATTR_KSYMBOL, "names of BPF programs (5.1)" },
		{ GUS_ATTR_BUILD_ID, "build ids of mappings (5.12)" }, { GUS_ATTR_LOST, "losses by event (6.0)" },
	};
	char missing[240] = "";

	if (!f->tracking) {
		add(d, "machine", "kernel", GUS_MARK_INFO, GUS_CAUSE_NONE, "%s; what it can record could not be tried",
		    f->kernel);
		return;
	}
	for (size_t i = 0; i < COUNT(features); i++)
		if (!(f->features & features[i].feature))
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), "%s%s", *missing ? ", " :
				 "",
				 features[i].text);
	if (*missing)
		add(d, "machine", "kernel", GUS_MARK_LIMITED, GUS_CAUSE_KERNEL,
		    "%s is too old for %s; a recording does without",
		    f->kernel, missing);
	else
		add(d, "machine", "kernel", GUS_MARK_OK, GUS_CAUSE_NONE, "%s: it can record all that gusprof asks for",
		    f->kernel);
}

static void judge_machine(struct gus_diagnosis *d, const struct gus_facts *f)
{
	add(d, "machine", "cpu", GUS_MARK_INFO, GUS_CAUSE_NONE, "%s, %u CPUs%s%s", *f->cpu ? f->cpu : f->machine,
	    f->cpus,
	    *f->product ? ", in " : "", f->product);
	if (f->uarch)
		add(d, "machine", "uarch", GUS_MARK_OK, GUS_CAUSE_NONE, "%s: there is a table for this CPU", f->uarch);
	else
		add(d, "machine", "uarch", GUS_MARK_LIMITED, GUS_CAUSE_NONE,
		    "there is no table for this CPU: nothing can be modelled on "
		    "it; see gusprof uarch list");
	add(d, "machine", "hypervisor", GUS_MARK_INFO, GUS_CAUSE_NONE, *f->hypervisor ?
	    "this is a virtual machine (%s)%s" :
	    "none is seen%s%s", f->hypervisor, *f->hypervisor &&
		    f->classes[GUS_CLASS_CYCLES].verdict != GUS_PROBE_GOOD ?
	    hypervisor_advice(f) : "");
	add(d, "machine", "container", GUS_MARK_INFO, GUS_CAUSE_NONE, *f->container ? "%s" : "none is seen%s",
	    f->container);
	judge_kernel(d, f);
}

/* The verdict. */
static const struct gus_finding *find(const struct gus_diagnosis *d, const char *name)
{
	for (size_t i = 0; i < d->findings.n; i++)
		if (strcmp(d->findings.v[i].name, name) == 0)
			return &d->findings.v[i];
	return NULL;
}

/* What stands between this machine and the next tier. */
static const struct gus_finding *obstacle(const struct gus_diagnosis *d, const struct gus_facts *f)
{
	if (!d->tier)
		return find(d, classes[GUS_CLASS_CLOCK].name);
	if (d->tier == 'C')
		return find(d, classes[GUS_CLASS_CYCLES].name);
	if (d->tier == 'B')
		return find(d, classes[is_arm(f) ? GUS_CLASS_SPE : GUS_CLASS_PRECISE].name);
	return NULL;
}

static void choose_command(struct gus_diagnosis *d, const struct gus_finding *first)
{
	static const char *const order[] = { "software-clocks", "cycles", "precise-cycles", "kallsyms", "mlock",
					     "perf_event_max_sample_rate", "nmi_watchdog" };

	if (first)
		snprintf(d->command, sizeof(d->command), "%s", first->command);
	/* Where nothing works, what would improve the names helps nobody. */
	for (size_t i = 0; i < COUNT(order) && d->tier && !*d->command; i++) {
		const struct gus_finding *finding = find(d, order[i]);

		if (finding && finding->mark != GUS_MARK_INFO)
			snprintf(d->command, sizeof(d->command), "%s", finding->command);
	}
}

static void conclude(struct gus_diagnosis *d, const struct gus_facts *f)
{
	static const char *const meanings[] = {
		"the hardware records exact instructions",
			"cycles trigger samples, whose addresses may be some instructions late",
		"a timer of the kernel samples CPU time, and addresses may be some instructions late",
	};
	const struct gus_finding *first = obstacle(d, f);

	d->cause = first ? first->cause : GUS_CAUSE_NONE;
	d->cost_percent = f->tier && f->cost_ns ? (double)f->cost_ns * DEFAULT_HZ / 1e7 : -1;
	if (!d->tier)
		snprintf(d->why, sizeof(d->why), "Nothing can be recorded: %s.", first && first->mark == GUS_MARK_NO ?
			 first->text :
			 "no event delivers samples");
	else if (!first)
		snprintf(d->why, sizeof(d->why), "%s: %s.", f->event, meanings[0]);
	else if (first->mark != GUS_MARK_NO)
		snprintf(d->why, sizeof(d->why),
			 "%s: %s. This machine could do better (%s), which record does not use yet.",
			 f->event, meanings[d->tier - 'A'], first->name);
	else
		snprintf(d->why, sizeof(d->why), "%s: %s. Nothing better, because %s.", f->event,
			 meanings[d->tier - 'A'],
			 first->text);
	choose_command(d, first);
}

void gus_doctor_judge(struct gus_diagnosis *d, const struct gus_facts *f)
{
	*d = (struct gus_diagnosis){ .tier = f->tier };
	for (unsigned i = 0; i < GUS_CLASSES; i++)
		judge_class(d, f, (enum gus_class)i);
	judge_callers(d, f);
	judge_skid(d, f);
	judge_paranoid(d, f);
	judge_capabilities(d, f);
	judge_seccomp(d, f);
	judge_lockdown(d, f);
	judge_mlock(d, f);
	judge_rate(d, f);
	judge_watchdog(d, f);
	judge_kallsyms(d, f);
	judge_vdso(d, f);
	judge_machine(d, f);
	conclude(d, f);
}

void gus_diagnosis_free(struct gus_diagnosis *d)
{
	gus_vec_free(&d->findings);
}
