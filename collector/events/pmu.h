/* SPDX-License-Identifier: MIT */
/* The kernel's performance monitoring units as sysfs describes them: their numbers, the bits that their terms set,
 * their named events, the CPUs they exist on. Nothing is read before it is asked for: the usual recording on a machine
 * without a PMU needs none of it. */
#ifndef GUS_COLLECTOR_EVENTS_PMU_H
#define GUS_COLLECTOR_EVENTS_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_error;

/* A term of a PMU: `event`, `umask`, ... and the bits of a config word that its value goes to, lowest bit first. */
struct gus_pmu_term {
	char *name;
	unsigned word;   /* 0 .. 3: config, config1, config2, config3 */
	uint64_t bits;
};

/* A named event of a PMU and the terms that it stands for, e.g. "event=0x3c,umask=0x0". */
struct gus_pmu_alias {
	char *name, *terms;
};

struct gus_pmu {
	char *name;
	uint32_t type;       /* perf_event_attr.type */
	char *cpus;          /* of a core PMU on a machine with several kinds of cores, "0-7,16"; else NULL */
	bool whole_cpus;     /* it has a cpumask: it counts for whole CPUs or sockets, never for one task */
	bool loaded;         /* terms and aliases have been read */
	struct gus_vec(struct gus_pmu_term) terms;
	struct gus_vec(struct gus_pmu_alias) aliases; /* by name */
};

struct gus_pmus {
	char *root;          /* where sysfs is, "/sys" */
	bool listed;
	struct gus_vec(struct gus_pmu) list; /* by name */
};

/* root is "/sys", or a tree that looks like it. Touches no file. */
void gus_pmus_init(struct gus_pmus *pmus, const char *root);
void gus_pmus_free(struct gus_pmus *pmus);

/* Reads the names, numbers and CPUs of all PMUs, once. A machine without any has an empty list. */
void gus_pmus_list(struct gus_pmus *pmus);
/* The PMU of that name with its terms and aliases, or NULL. */
struct gus_pmu *gus_pmus_find(struct gus_pmus *pmus, const char *name);
/* Reads terms and aliases, once. */
void gus_pmu_load(const struct gus_pmus *pmus, struct gus_pmu *pmu);

const struct gus_pmu_term *gus_pmu_term(const struct gus_pmu *pmu, const char *name, size_t length);
const struct gus_pmu_alias *gus_pmu_alias(const struct gus_pmu *pmu, const char *name, size_t length);

/* Whether a CPU is in a list such as "0-3,8". */
bool gus_cpus_has(const char *cpus, unsigned cpu);

#endif
