/* SPDX-License-Identifier: MIT */
/* What is so on this machine, for `gusprof doctor`: settings, rights, and what each class of events does when it is
 * tried. Only facts; what they mean is collector/doctor/doctor.h, which therefore can be asked about machines that
 * nobody has. */
#ifndef GUS_COLLECTOR_DOCTOR_FACTS_H
#define GUS_COLLECTOR_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/doctor/verdict.h"

/* A ring of a recording: what an ordinary user may lock a CPU by default (perf_event_mlock_kb is 516, a control page
 * included). */
#define GUS_RING_BYTES (512u << 10)

/* Classes of events, from what works anywhere to what explains most. */
enum gus_class {
	GUS_CLASS_CLOCK,    /* a timer of the kernel that samples */
	GUS_CLASS_COUNTERS, /* cycles and instructions, counted */
	GUS_CLASS_CYCLES,   /* samples by cycles */
	GUS_CLASS_PRECISE,  /* the same with exact addresses */
	GUS_CLASS_IBS,
	GUS_CLASS_SPE,
	GUS_CLASS_BRANCHES, /* the branches before a sample */
	GUS_CLASS_TOPDOWN,  /* what becomes of issue slots */
	GUS_CLASSES,
};

struct gus_class_facts {
	bool listed;        /* sysfs has the unit that does it */
	/* errno of opening it with and without the kernel; the second 0 if there was no need to try */
	int sys, sys_user;
	bool user_only;     /* it opened without the kernel only */
	enum gus_verdict verdict; /* what it then did; ABSENT or REFUSED if it did not open */
	unsigned level;     /* of precision, or how many branches */
};

/* A number in /proc/sys; absent where the kernel has no such setting. */
struct gus_setting { bool known; int64_t value; };

enum gus_kallsyms_state { GUS_KALLSYMS_ABSENT, GUS_KALLSYMS_HIDDEN, GUS_KALLSYMS_SHOWN };

struct gus_facts {
	/* The machine. */
	char machine[32], kernel[96], vendor[32], cpu[96];
	char hypervisor[48]; /* "" on bare metal */
	char product[160];    /* maker and product as firmware names them */
	char container[64];  /* what kind and how it shows; "" if it does not */
	const char *uarch;   /* the table for this CPU, NULL if there is none; the caller knows */
	unsigned cpus;

	/* Whose rights. */
	uint32_t uid;
	uint64_t capabilities; /* in effect */
	bool initial_userns;   /* else they do not count for perf_event_open */
	int seccomp;           /* 0 none, 1 strict, 2 filters; -1 unknown */
	char lockdown[24];     /* "none", "integrity", "confidentiality"; "" where the kernel has none */

	/* Settings. */
	struct gus_setting paranoid, kptr_restrict, mlock_kb, sample_rate, cpu_percent, nmi_watchdog, smt;
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK, UINT64_MAX for none */
	uint64_t ring_bytes;    /* what record wants to lock a CPU */

	/* Trials. */
	struct gus_class_facts classes[GUS_CLASSES];
	bool tracking;          /* the side band could be opened */
	bool stacks, calls;     /* samples bring registers and stacks along; the calls that the CPU keeps */
	unsigned features;      /* of it, enum gus_attr_feature */
	char tier;              /* what -e auto takes; 0 if nothing can be recorded */
	char event[64];         /* its name */
	uint64_t cost_ns;       /* of a sample of it, 0 if unknown */
	/* Where samples of it land beside slow instructions: in words, "" if that is not known; and how many
	 * instructions behind, -1 if not at one distance. */
	char skid[300];
	int late;

	/* Names. */
	enum gus_kallsyms_state kallsyms;
	bool vdso, vdso_debug;  /* there is one; its debug information was found */
	char vdso_build_id[64];
};

/* All that can be read; what shows only by trying is left at zero, and collector/trial/survey.h fills it in. uarch: of
 * this CPU, or NULL. */
void gus_facts_read(struct gus_facts *facts, const char *uarch);

/* Only what is needed to say why the kernel refused to open something; no event is tried. */
void gus_facts_rights(struct gus_facts *facts);

#endif
