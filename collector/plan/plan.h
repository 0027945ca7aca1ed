/* SPDX-License-Identifier: MIT */
/* A plan: what is opened on a CPU to explain where its time goes, as groups of events of which some are always on and
 * the others take turns, and what would be known of TEA's events then. A session walks it: parts, groups, events.
 * collector/plan/make.h makes one. */
#ifndef GUS_COLLECTOR_PLAN_PLAN_H
#define GUS_COLLECTOR_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "collector/plan/table.h"
#include "proto/psv.h"

/* What is asked. */
struct gus_plan_wish {
	const struct gus_plan_cpu *cpu; /* NULL: no table knows it, or its PMU is not to be had: the timer */
	enum gus_plan_mode mode;
	bool smt;                       /* another thread may run on the same core */
	bool watchdog;                  /* the NMI watchdog is on */
};

/* An event to be opened: what goes into its perf_event_attr beside what all events of a session have. Its type is
 * that of its part's PMU, or of the row's unit. */
struct gus_plan_event {
	const struct gus_plan_row *row;
	bool samples;            /* else it counts */
	uint64_t sample_type;    /* PERF_SAMPLE_* more than all samples have */
	uint64_t period;         /* 0 of what samples: at the session's rate */
	/* PEBS may write its records by the buffer rather than with an interrupt each: if the period is fixed, the
	 * clock the kernel's own (no use_clockid) and nothing else is in its samples, callers among it. */
	bool large;
};

enum { GUS_PLAN_TURNS = 32 };

/* Events that are opened as one group of the kernel's, or an event alone; the first leads. */
struct gus_plan_group {
	size_t first, n;         /* among its part's events */
	uint32_t turns;          /* bit i: it is on in turn i. Of what is always on all bits up to the part's turns */
	bool always;
};

/* What has no place. */
struct gus_plan_absence {
	const struct gus_plan_row *row;
	const struct gus_plan_row *by; /* what is always on has its counter; NULL: nothing of this core counts it now */
};

enum gus_plan_evidence { GUS_PLAN_UNKNOWN, GUS_PLAN_INFERRED, GUS_PLAN_OBSERVED };

/* By what it is known. */
enum gus_plan_how {
	GUS_PLAN_BY_NOTHING,
	GUS_PLAN_BY_PRECISE,   /* heights: precise samples of cycles */
	GUS_PLAN_BY_WEIGHT,    /* heights: records of operations, scaled to samples of cycles */
	GUS_PLAN_BY_SKID,      /* heights: samples that land behind */
	GUS_PLAN_BY_BRANCHES,  /* the branches before a precise sample */
	GUS_PLAN_BY_RECORD,    /* the record of an operation says several events at once */
	GUS_PLAN_BY_TIMED,     /* samples of the event with the time since the retirement before */
	GUS_PLAN_BY_SAMPLED,   /* samples of the event */
	GUS_PLAN_BY_LATENCY,   /* samples of loads with their latency and where the data were */
	GUS_PLAN_BY_FETCH,     /* records of fetches */
	GUS_PLAN_BY_COUNT,     /* counts of regions */
	GUS_PLAN_BY_STACKS,    /* branch stacks of samples that land behind */
};

/* What would be known of one thing, and the rows that say it, the best evidence first. */
enum { GUS_PLAN_WITNESSES = 8 };
struct gus_plan_verdict {
	enum gus_plan_evidence evidence;
	enum gus_plan_how how;
	const struct gus_plan_row *rows[GUS_PLAN_WITNESSES];
	size_t n;
};

/* One kind of cores. */
struct gus_plan_part {
	const struct gus_plan_core *core; /* NULL: any, by the kernel's own events alone */
	const char *pmu;                  /* NULL likewise */
	unsigned general;                 /* general counters that a thread has: 0 to general - 1 */
	struct gus_vec(struct gus_plan_event) events;
	struct gus_plan_groups gus_vec(struct gus_plan_group) groups;
	unsigned turns;                   /* 0: all is always on */
	bool slots_turn, slots_split;     /* top-down takes turns; and not as a whole */
	struct gus_plan_absences gus_vec(struct gus_plan_absence) absences;
	struct gus_plan_verdict heights;
	struct gus_plan_verdict psv[GUS_PSV_EVENTS]; /* by the event's bit */
};

struct gus_plan {
	struct gus_plan_wish wish;        /* with the mode that AUTO came to, and SMT off where there is none */
	struct gus_plan_part parts[GUS_PLAN_KINDS];
	size_t n;
};

void gus_plan_free(struct gus_plan *plan);

/* "tpebs"; "heights"; "observed"; what stands behind that, a clause. */
const char *gus_plan_mode_name(enum gus_plan_mode mode);
const char *gus_plan_role_name(enum gus_plan_role role);
const char *gus_plan_evidence_name(enum gus_plan_evidence evidence);
const char *gus_plan_how_text(enum gus_plan_how how);

#endif
