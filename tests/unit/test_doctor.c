/* SPDX-License-Identifier: MIT */
/* Facts about machines that nobody here has, and what the doctor makes of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/events/attr.h"

#define CAPS_NONE 0
#define CAPS_PERFMON (1ULL << 38)
#define CAPS_ADMIN (1ULL << 21)
#define CAPS_ROOT 0x1ffffffffffULL

static const struct gus_class_facts works = { .listed = true, .verdict = GUS_PROBE_GOOD, .level = 3 };
static const struct gus_class_facts absent = { .sys = ENOENT, .verdict = GUS_PROBE_ABSENT };
static const struct gus_class_facts user_only = { .listed = true, .sys = EACCES, .user_only = true,
	.verdict = GUS_PROBE_GOOD };

static struct gus_class_facts refused(int sys)
{
	return (struct gus_class_facts){ .listed = true, .sys = sys, .sys_user = sys, .verdict = GUS_PROBE_REFUSED };
}

/* Every class the same. */
static void fill(struct gus_facts *f, struct gus_class_facts c)
{
	for (unsigned i = 0; i < GUS_CLASSES; i++)
		f->classes[i] = c;
}

/* A workstation of root's on which all works. */
static struct gus_facts metal(void)
{
	struct gus_facts f = {
		.machine = "x86_64", .kernel = "6.12.9", .vendor = "GenuineIntel", .cpu = "Some Xeon",
			.uarch = "sapphirerapids",
		.cpus = 8, .capabilities = CAPS_ROOT, .initial_userns = true, .seccomp = 0, .lockdown = "none",
		.paranoid = { true, 2 }, .kptr_restrict = { true, 1 }, .mlock_kb = { true, 516 },
			.sample_rate = { true, 100000 },
		.cpu_percent = { true, 25 }, .nmi_watchdog = { true, 0 }, .memlock_bytes = 8u << 20,
			.ring_bytes = 516u << 10,
		.tracking = true, .features = GUS_ATTR_ALL, .tier = 'A', .event = "cycles:ppp", .cost_ns = 1500,
		.kallsyms = GUS_KALLSYMS_SHOWN, .vdso = true,
	};

	fill(&f, works);
	f.classes[GUS_CLASS_IBS] = absent;
	f.classes[GUS_CLASS_SPE] = absent;
	return f;
}

/* A virtual machine without counters. */
static struct gus_facts vm(void)
{
	struct gus_facts f = metal();

	fill(&f, absent);
	f.classes[GUS_CLASS_CLOCK] = works;
	snprintf(f.hypervisor, sizeof(f.hypervisor), "KVM");
	f.tier = 'C';
	snprintf(f.event, sizeof(f.event), "cpu-clock");
	return f;
}

/* An ordinary user of either. */
static void demote(struct gus_facts *f, int64_t paranoid)
{
	f->uid = 1000;
	f->capabilities = CAPS_NONE;
	f->paranoid.value = paranoid;
	f->kallsyms = GUS_KALLSYMS_HIDDEN;
	for (unsigned i = 0; i < GUS_CLASSES; i++)
		if (f->classes[i].verdict == GUS_PROBE_GOOD)
			f->classes[i] = paranoid > 2 ? refused(EACCES) : paranoid == 2 ? user_only : works;
	if (paranoid > 2) {
		f->tier = 0;
		f->tracking = false;
	}
}

static struct gus_diagnosis judge(const struct gus_facts *f)
{
	struct gus_diagnosis d;

	gus_doctor_judge(&d, f);
	return d;
}

static const struct gus_finding *finding(const struct gus_diagnosis *d, const char *name)
{
	for (size_t i = 0; i < d->findings.n; i++)
		if (strcmp(d->findings.v[i].name, name) == 0)
			return &d->findings.v[i];
	fail_msg("there is no finding '%s'", name);
	return NULL;
}

static void expect(const struct gus_diagnosis *d, const char *name, enum gus_mark mark, enum gus_hindrance cause,
		   const char *says)
{
	const struct gus_finding *f = finding(d, name);

	if (f->mark != mark || f->cause != cause || !strstr(f->text, says))
		fail_msg("%s is %s by %s: '%s'; expected %s by %s: '%s'", name, gus_mark_name(f->mark),
			 gus_hindrance_name(f->cause),
			 f->text, gus_mark_name(mark), gus_hindrance_name(cause), says);
}

static void all_is_well(void **state)
{
	struct gus_facts f = metal();
	struct gus_diagnosis d = judge(&f);

	(void)state;
	assert_int_equal(d.tier, 'A');
	assert_int_equal(d.cause, GUS_CAUSE_NONE);
	assert_string_equal(d.command, "");
	assert_true(d.cost_percent > 0.149 && d.cost_percent < 0.151);
	expect(&d, "precise-cycles", GUS_MARK_OK, GUS_CAUSE_NONE, "cycles:ppp");
	expect(&d, "ibs", GUS_MARK_INFO, GUS_CAUSE_HARDWARE, "AMD");
	expect(&d, "spe", GUS_MARK_INFO, GUS_CAUSE_HARDWARE, "Arm");
	expect(&d, "perf_event_paranoid", GUS_MARK_OK, GUS_CAUSE_NONE, "prevail");
	expect(&d, "mlock", GUS_MARK_OK, GUS_CAUSE_NONE, "no limit");
	for (size_t i = 0; i < d.findings.n; i++)
		assert_true(d.findings.v[i].mark != GUS_MARK_NO && strlen(d.findings.v[i].text) > 3);
	gus_diagnosis_free(&d);
}

/* What callers are found by is told where there are samples, of which they are. */
static void callers_of_samples(void **state)
{
	static const struct {
		bool stacks, calls;
		enum gus_mark mark;
		enum gus_hindrance cause;
		const char *says;
	} cases[] = {
		{ true, true, GUS_MARK_OK, GUS_CAUSE_NONE, "frame pointers, and by the calls" },
		{ true, false, GUS_MARK_OK, GUS_CAUSE_NONE, "unwind tables and by frame pointers; the CPU keeps no" },
		{ false, true, GUS_MARK_LIMITED, GUS_CAUSE_KERNEL, "frame pointers and by the calls" },
		{ false, false, GUS_MARK_LIMITED, GUS_CAUSE_KERNEL, "frame pointers alone" },
	};
	struct gus_facts f = metal();
	struct gus_diagnosis d;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		f.stacks = cases[i].stacks;
		f.calls = cases[i].calls;
		d = judge(&f);
		expect(&d, "call-graph", cases[i].mark, cases[i].cause, cases[i].says);
		gus_diagnosis_free(&d);
	}
	f.tier = 0;
	d = judge(&f);
	for (size_t i = 0; i < d.findings.n; i++)
		assert_string_not_equal(d.findings.v[i].name, "call-graph");
	gus_diagnosis_free(&d);
}

/* Where nothing is known of it, nothing is said. */
static void samples_land_somewhere(void **state)
{
	static const struct {
		int late;
		enum gus_mark mark;
		enum gus_hindrance cause;
		const char *says;
	} cases[] = {
		{ 0, GUS_MARK_OK, GUS_CAUSE_NONE, "land on the instruction that took the time: these" },
		{ 1, GUS_MARK_INFO, GUS_CAUSE_NONE, "land 1 instruction late: these" },
		{ 2, GUS_MARK_INFO, GUS_CAUSE_NONE, "land 2 instructions late: these" },
		{ -1, GUS_MARK_LIMITED, GUS_CAUSE_HARDWARE, "do not land at one distance from a slow "
		  "instruction: these" },
	};
	struct gus_facts f = metal();
	struct gus_diagnosis d;

	(void)state;
	snprintf(f.skid, sizeof(f.skid), "these");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		f.late = cases[i].late;
		d = judge(&f);
		expect(&d, "skid", cases[i].mark, cases[i].cause, cases[i].says);
		gus_diagnosis_free(&d);
	}
	f.skid[0] = '\0';
	d = judge(&f);
	for (size_t i = 0; i < d.findings.n; i++)
		assert_string_not_equal(d.findings.v[i].name, "skid");
	gus_diagnosis_free(&d);
}

/* perf_event_paranoid of an ordinary user, on a kernel with the distributions' levels above 2. */
static void paranoid_levels(void **state)
{
	static const struct {
		int64_t level;
		bool usable;
		enum gus_mark mark, clock;
		const char *says, *command;
	} cases[] = {
		{ -1, true, GUS_MARK_OK, GUS_MARK_OK, "whole CPUs may be watched", "" },
		{ 0, true, GUS_MARK_OK, GUS_MARK_OK, "whole CPUs may be watched", "" },
		{ 1, true, GUS_MARK_OK, GUS_MARK_OK, "whole CPUs (-a) may not", "" },
		{ 2, true, GUS_MARK_LIMITED, GUS_MARK_LIMITED, "outside the kernel",
			"sudo sysctl kernel.perf_event_paranoid=1" },
		{ 3, false, GUS_MARK_NO, GUS_MARK_NO, "nothing at all", "sudo sysctl kernel.perf_event_paranoid=1" },
		{ 4, false, GUS_MARK_NO, GUS_MARK_NO, "nothing at all", "sudo sysctl kernel.perf_event_paranoid=1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = metal();
		struct gus_diagnosis d;
		enum gus_hindrance cause = cases[i].mark == GUS_MARK_OK ? GUS_CAUSE_NONE : GUS_CAUSE_PERMISSION;

		demote(&f, cases[i].level);
		f.kallsyms = GUS_KALLSYMS_SHOWN; /* another matter */
		d = judge(&f);
		assert_int_equal(d.tier != 0, cases[i].usable);
		expect(&d, "perf_event_paranoid", cases[i].mark, cause, cases[i].says);
		expect(&d, "software-clocks", cases[i].clock, cause, "");
		expect(&d, "precise-cycles", cases[i].clock, cause, "");
		assert_string_equal(finding(&d, "software-clocks")->command, cases[i].command);
		assert_string_equal(d.command, cases[i].command);
		if (!cases[i].usable)
			assert_non_null(strstr(d.why, "Nothing can be recorded: kernel.perf_event_paranoid is"));
		gus_diagnosis_free(&d);
	}
}

/* Kernels without that patch take 3 for 2: what was seen counts, not what the number means elsewhere. */
static void level_3_of_a_plain_kernel(void **state)
{
	struct gus_facts f = vm();
	struct gus_diagnosis d;

	(void)state;
	demote(&f, 2);
	f.paranoid.value = 3;
	d = judge(&f);
	assert_int_equal(d.tier, 'C');
	expect(&d, "perf_event_paranoid", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION, "outside the kernel");
	expect(&d, "software-clocks", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION, "not in the kernel");
	gus_diagnosis_free(&d);
}

static void rights_that_prevail(void **state)
{
	static const struct { const char *kernel; uint64_t capabilities; bool initial; bool prevail; } cases[] = {
		{ "6.1.0", CAPS_PERFMON, true, true },
		{ "5.8.0", CAPS_PERFMON, true, true },
		{ "5.7.19", CAPS_PERFMON, true, false }, /* the bit had no meaning yet */
		{ "5.7.19", CAPS_ADMIN, true, true },
		{ "6.1.0", CAPS_ROOT, false, false },    /* root of a user namespace */
		{ "6.1.0", CAPS_NONE, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = metal();
		char text[300], command[200];
		enum gus_hindrance cause;

		snprintf(f.kernel, sizeof(f.kernel), "%s", cases[i].kernel);
		f.capabilities = cases[i].capabilities;
		f.initial_userns = cases[i].initial;
		cause = gus_doctor_refusal(&f, EACCES, GUS_WISH_SYSTEM, text, sizeof(text), command, sizeof(command));
		assert_int_equal(cause, GUS_CAUSE_PERMISSION);
		/* Who has the right and is refused all the same is not told to lower the level. */
		assert_int_equal(strstr(text, "security module") != NULL, cases[i].prevail);
		assert_int_equal(*command == '\0', cases[i].prevail);
		if (!cases[i].initial)
			assert_non_null(strstr(text, "user namespace"));
	}
}

/* A filter answers EPERM or ENOSYS, or refuses what the level allows; EACCES beyond that is the kernel's own word. */
static void seccomp(void **state)
{
	static const struct {
		int mode, sys;
		int64_t paranoid;
		bool filter;
		enum gus_hindrance cause;
		const char *says;
	} cases[] = {
		{ 2, EPERM, 2, true, GUS_CAUSE_PERMISSION, "seccomp filter" },
		{ 2, ENOSYS, 2, true, GUS_CAUSE_PERMISSION, "seccomp filter" },
		{ 2, EPERM, 4, true, GUS_CAUSE_PERMISSION, "seccomp filter" },
		{ 2, EACCES, 1, true, GUS_CAUSE_PERMISSION, "seccomp filter" },
		{ 2, EACCES, 4, false, GUS_CAUSE_PERMISSION, "perf_event_paranoid is 4" },
		{ 0, EACCES, 4, false, GUS_CAUSE_PERMISSION, "perf_event_paranoid is 4" },
		{ 0, ENOSYS, 2, false, GUS_CAUSE_KERNEL, "built without perf_event_open" },
		{ 0, EACCES, 1, false, GUS_CAUSE_PERMISSION, "security module" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = metal();
		struct gus_diagnosis d;

		demote(&f, cases[i].paranoid);
		fill(&f, refused(cases[i].sys));
		f.tier = 0;
		f.tracking = false;
		f.seccomp = cases[i].mode;
		d = judge(&f);
		assert_int_equal(d.tier, 0);
		assert_int_equal(d.cause, cases[i].cause);
		assert_non_null(strstr(d.why, "Nothing can be recorded"));
		expect(&d, "software-clocks", GUS_MARK_NO, cases[i].cause, cases[i].says);
		if (cases[i].filter)
			expect(&d, "seccomp", GUS_MARK_NO, GUS_CAUSE_PERMISSION, "forbids perf_event_open");
		else
			expect(&d, "seccomp", cases[i].mode ? GUS_MARK_INFO : GUS_MARK_OK, GUS_CAUSE_NONE, "filter");
		gus_diagnosis_free(&d);
	}
}

static void seccomp_of_containers(void **state)
{
	static const struct { const char *container, *command; } cases[] = {
		{ "Docker (/.dockerenv)", "docker run" }, { "Podman (/run/.containerenv)", "podman run" },
		{ "kubepods (/proc/self/cgroup)", "securityContext" }, { "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = metal();
		struct gus_diagnosis d;

		demote(&f, 2);
		fill(&f, refused(EPERM));
		f.tier = 0;
		f.seccomp = 2;
		snprintf(f.container, sizeof(f.container), "%s", cases[i].container);
		d = judge(&f);
		assert_non_null(strstr(d.command, cases[i].command));
		assert_int_equal(*d.command == '\0', *cases[i].command == '\0');
		gus_diagnosis_free(&d);
	}
}

/* A filter that lets the call through is no finding. */
static void harmless_seccomp(void **state)
{
	struct gus_facts f = vm();
	struct gus_diagnosis d;

	(void)state;
	f.seccomp = 2;
	d = judge(&f);
	expect(&d, "seccomp", GUS_MARK_OK, GUS_CAUSE_NONE, "lets perf_event_open through");
	gus_diagnosis_free(&d);
}

static void virtual_machine(void **state)
{
	struct gus_facts f = vm();
	struct gus_diagnosis d = judge(&f);

	(void)state;
	assert_int_equal(d.tier, 'C');
	assert_int_equal(d.cause, GUS_CAUSE_HYPERVISOR);
	assert_string_equal(d.command, "");
	assert_non_null(strstr(d.why, "the hypervisor (KVM) does not pass it on"));
	expect(&d, "cycles", GUS_MARK_NO, GUS_CAUSE_HYPERVISOR, "KVM");
	expect(&d, "topdown-slots", GUS_MARK_NO, GUS_CAUSE_HYPERVISOR, "KVM");
	expect(&d, "software-clocks", GUS_MARK_OK, GUS_CAUSE_NONE, "");
	expect(&d, "hypervisor", GUS_MARK_INFO, GUS_CAUSE_NONE, "pmu=on");
	gus_diagnosis_free(&d);
	snprintf(f.product, sizeof(f.product), "Amazon EC2 m7i.large");
	d = judge(&f);
	expect(&d, "hypervisor", GUS_MARK_INFO, GUS_CAUSE_NONE, ".metal");
	gus_diagnosis_free(&d);
}

/* Counters that a hypervisor shows, and that stand still or never interrupt. */
static void dead_counters(void **state)
{
	static const struct { enum gus_verdict verdict; bool vm, watchdog; enum gus_hindrance cause; const char *says,
		*command; } cases[] = {
		{ GUS_PROBE_STILL, true, false, GUS_CAUSE_HYPERVISOR, "only pretends", "" },
		{ GUS_PROBE_SILENT, true, false, GUS_CAUSE_HYPERVISOR, "no samples arrive", "" },
		{ GUS_PROBE_STILL, false, true, GUS_CAUSE_BUSY, "watchdog", "sudo sysctl kernel.nmi_watchdog=0" },
		{ GUS_PROBE_STILL, false, false, GUS_CAUSE_HARDWARE, "stands still", "" },
		{ GUS_PROBE_INEXACT, false, false, GUS_CAUSE_HARDWARE, "vouch", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = cases[i].vm ? vm() : metal();
		struct gus_diagnosis d;

		f.classes[GUS_CLASS_CYCLES] = (struct gus_class_facts){ .listed = true, .verdict = cases[i].verdict };
		f.nmi_watchdog.value = cases[i].watchdog;
		f.tier = 'C';
		d = judge(&f);
		expect(&d, "cycles", GUS_MARK_NO, cases[i].cause, cases[i].says);
		assert_string_equal(finding(&d, "cycles")->command, cases[i].command);
		assert_int_equal(d.cause, cases[i].cause);
		gus_diagnosis_free(&d);
	}
}

static void bare_metal_without(void **state)
{
	struct gus_facts f = metal();
	struct gus_diagnosis d;

	(void)state;
	f.classes[GUS_CLASS_BRANCHES] = (struct gus_class_facts){ .listed = true, .sys = EOPNOTSUPP,
		.verdict = GUS_PROBE_ABSENT };
	f.classes[GUS_CLASS_TOPDOWN] = (struct gus_class_facts){ .listed = true, .sys = EBUSY,
		.verdict = GUS_PROBE_ABSENT };
	d = judge(&f);
	expect(&d, "branch-stack", GUS_MARK_NO, GUS_CAUSE_HARDWARE, "this CPU has none");
	expect(&d, "topdown-slots", GUS_MARK_NO, GUS_CAUSE_BUSY, "somebody else");
	gus_diagnosis_free(&d);
}

/* The CPU has it, the kernel does not know that yet. */
static void old_kernels(void **state)
{
	static const struct { const char *vendor, *uarch, *kernel, *name; enum gus_class which; bool old;
		const char *since; } cases[] = {
		{ "AuthenticAMD", "znver4", "5.15.0-91-generic", "branch-stack", GUS_CLASS_BRANCHES, true, "6.1" },
		{ "AuthenticAMD", "znver4", "6.1.0", "branch-stack", GUS_CLASS_BRANCHES, false, "" },
		{ "GenuineIntel", "icelake-server", "4.18.0-553.el8", "topdown-slots", GUS_CLASS_TOPDOWN, true,
			"5.10" },
		{ "GenuineIntel", "icelake-server", "5.10.1", "topdown-slots", GUS_CLASS_TOPDOWN, false, "" },
		{ "GenuineIntel", "skylake", "4.18.0", "topdown-slots", GUS_CLASS_TOPDOWN, false, "" },
		{ "ARM", "neoverse-n1", "4.14.300", "spe", GUS_CLASS_SPE, true, "4.16" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = metal();
		struct gus_diagnosis d;

		snprintf(f.vendor, sizeof(f.vendor), "%s", cases[i].vendor);
		snprintf(f.kernel, sizeof(f.kernel), "%s", cases[i].kernel);
		if (strcmp(cases[i].vendor, "ARM") == 0)
			snprintf(f.machine, sizeof(f.machine), "aarch64");
		f.uarch = cases[i].uarch;
		f.classes[cases[i].which] = absent;
		d = judge(&f);
		expect(&d, cases[i].name, GUS_MARK_NO, cases[i].old ? GUS_CAUSE_KERNEL : GUS_CAUSE_HARDWARE,
		       cases[i].since);
		gus_diagnosis_free(&d);
	}
}

static void old_side_band(void **state)
{
	struct gus_facts f = vm();
	struct gus_diagnosis d;

	(void)state;
	snprintf(f.kernel, sizeof(f.kernel), "5.4.0");
	f.features = GUS_ATTR_ALL & ~(unsigned)(GUS_ATTR_LOST | GUS_ATTR_BUILD_ID);
	d = judge(&f);
	expect(&d, "kernel", GUS_MARK_LIMITED, GUS_CAUSE_KERNEL, "build ids of mappings (5.12), losses by event (6.0)");
	gus_diagnosis_free(&d);
}

static void lockdown(void **state)
{
	static const struct { const char *mode; enum gus_mark mark; const char *says; } cases[] = {
		{ "", GUS_MARK_OK, "this kernel has none" }, { "none", GUS_MARK_OK, "none" },
		{ "integrity", GUS_MARK_OK, "integrity" }, { "confidentiality", GUS_MARK_LIMITED, "registers" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = metal();
		struct gus_diagnosis d;

		snprintf(f.lockdown, sizeof(f.lockdown), "%s", cases[i].mode);
		d = judge(&f);
		expect(&d, "lockdown", cases[i].mark, cases[i].mark == GUS_MARK_OK ? GUS_CAUSE_NONE :
		       GUS_CAUSE_PERMISSION, cases[i].says);
		gus_diagnosis_free(&d);
	}
}

static void locked_memory(void **state)
{
	static const struct { int64_t mlock_kb; uint64_t memlock; unsigned cpus; uint64_t capabilities;
		enum gus_mark mark; } cases[] = {
		{ 516, 0, 8, CAPS_NONE, GUS_MARK_OK },
		{ 128, 64 << 10, 8, CAPS_NONE, GUS_MARK_LIMITED },
		{ 128, 64 << 20, 8, CAPS_NONE, GUS_MARK_OK },        /* what the process may lock makes up for it */
		{ 128, 64 << 20, 256, CAPS_NONE, GUS_MARK_LIMITED }, /* but not for so many CPUs */
		{ 0, UINT64_MAX, 256, CAPS_NONE, GUS_MARK_OK },
		{ 0, 0, 256, CAPS_ROOT, GUS_MARK_OK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = metal();
		struct gus_diagnosis d;

		f.mlock_kb.value = cases[i].mlock_kb;
		f.memlock_bytes = cases[i].memlock;
		f.cpus = cases[i].cpus;
		f.capabilities = cases[i].capabilities;
		d = judge(&f);
		expect(&d, "mlock", cases[i].mark, cases[i].mark == GUS_MARK_OK ? GUS_CAUSE_NONE : GUS_CAUSE_PERMISSION,
		       "rings need");
		assert_int_equal(*finding(&d, "mlock")->command != '\0', cases[i].mark != GUS_MARK_OK);
		gus_diagnosis_free(&d);
	}
}

static void settings(void **state)
{
	struct gus_facts f = metal();
	struct gus_diagnosis d;

	(void)state;
	f.sample_rate.value = 500;
	f.cpu_percent.value = 0;
	f.nmi_watchdog.value = 1;
	d = judge(&f);
	expect(&d, "perf_event_max_sample_rate", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION, "500 samples");
	expect(&d, "perf_cpu_time_max_percent", GUS_MARK_INFO, GUS_CAUSE_NONE, "does not lower");
	expect(&d, "nmi_watchdog", GUS_MARK_LIMITED, GUS_CAUSE_BUSY, "holds one counter");
	gus_diagnosis_free(&d);
	f = vm();
	f.nmi_watchdog.value = 1;
	d = judge(&f);
	expect(&d, "nmi_watchdog", GUS_MARK_INFO, GUS_CAUSE_NONE, "where there are any");
	gus_diagnosis_free(&d);
}

static void kernel_names(void **state)
{
	static const struct { int64_t kptr, paranoid; const char *command; } cases[] = {
		{ 0, 2, "sudo sysctl kernel.perf_event_paranoid=1" },
		{ 1, 1, "sudo sysctl kernel.kptr_restrict=0" },
		{ 2, 2, "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_facts f = metal();
		struct gus_diagnosis d;

		demote(&f, cases[i].paranoid);
		f.kptr_restrict.value = cases[i].kptr;
		d = judge(&f);
		expect(&d, "kallsyms", GUS_MARK_LIMITED, GUS_CAUSE_PERMISSION, "hides");
		assert_string_equal(finding(&d, "kallsyms")->command, cases[i].command);
		gus_diagnosis_free(&d);
	}
}

static void no_table(void **state)
{
	struct gus_facts f = metal();
	struct gus_diagnosis d;

	(void)state;
	f.uarch = NULL;
	d = judge(&f);
	expect(&d, "uarch", GUS_MARK_LIMITED, GUS_CAUSE_NONE, "no table");
	gus_diagnosis_free(&d);
}

/* A kernel without perf events: no setting, no system call. */
static void no_perf_events(void **state)
{
	struct gus_facts f = metal();
	struct gus_diagnosis d;

	(void)state;
	fill(&f, refused(ENOSYS));
	f.tier = 0;
	f.tracking = false;
	f.paranoid = f.mlock_kb = f.sample_rate = f.cpu_percent = (struct gus_setting){ 0 };
	d = judge(&f);
	assert_int_equal(d.tier, 0);
	assert_int_equal(d.cause, GUS_CAUSE_KERNEL);
	assert_string_equal(d.command, "");
	assert_non_null(strstr(d.why, "CONFIG_PERF_EVENTS"));
	expect(&d, "perf_event_paranoid", GUS_MARK_NO, GUS_CAUSE_KERNEL, "built without");
	gus_diagnosis_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(callers_of_samples),
		cmocka_unit_test(samples_land_somewhere),
		cmocka_unit_test(paranoid_levels),
		cmocka_unit_test(level_3_of_a_plain_kernel),
		cmocka_unit_test(rights_that_prevail),
		cmocka_unit_test(seccomp),
		cmocka_unit_test(seccomp_of_containers),
		cmocka_unit_test(harmless_seccomp),
		cmocka_unit_test(virtual_machine),
		cmocka_unit_test(dead_counters),
		cmocka_unit_test(bare_metal_without),
		cmocka_unit_test(old_kernels),
		cmocka_unit_test(old_side_band),
		cmocka_unit_test(lockdown),
		cmocka_unit_test(locked_memory),
		cmocka_unit_test(settings),
		cmocka_unit_test(kernel_names),
		cmocka_unit_test(no_table),
		cmocka_unit_test(no_perf_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
