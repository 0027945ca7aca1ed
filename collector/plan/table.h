/* SPDX-License-Identifier: MIT */
/* What the counters of known CPUs can tell: for each kind of core its events, each with its encoding, what it is for,
 * which counters may count it and what it holds meanwhile. CPUs of which nothing runs here are in it as well: libpfm4
 * 4.13 knows no Granite Rapids, Lunar Lake, Zen 5 or (built for x86) Neoverse, and a plan is made on any machine.
 *
 * Tables are constant; each row names its source, and one that could not be looked up says "remembered". Pure. */
#ifndef GUS_COLLECTOR_PLAN_TABLE_H
#define GUS_COLLECTOR_PLAN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an event is for. In the order in which a plan lists them. */
enum gus_plan_role {
	GUS_PLAN_HEIGHT, /* its samples come with time: how much of it each instruction takes */
	GUS_PLAN_COUNT,  /* counted always: what rates are of */
	GUS_PLAN_SLOTS,  /* top-down: what became of the slots of issue. All such rows of a core are one group */
	GUS_PLAN_STATES, /* cycles without a retirement, by the state of the reorder buffer; likewise one group */
	GUS_PLAN_OP,     /* records of sampled operations, which carry several events at once (IBS, SPE) */
	GUS_PLAN_FETCH,  /* records of sampled fetches, which are of no instruction in particular */
	GUS_PLAN_DATA,   /* samples of loads or stores with their weight, address and where the data were */
	GUS_PLAN_SPLIT,  /* samples of one of TEA's events, precise: they split an instruction's height */
	GUS_PLAN_RATE,   /* how often one of these occurs, or how long it lasts: of a region, not of an instruction */
	GUS_PLAN_LEADER, /* must lead the group of another; its own count is not used */
};

/* Which unit counts it. */
enum gus_plan_unit {
	GUS_PLAN_ON_CORE,   /* counters of the core */
	GUS_PLAN_ON_IBS_OP, /* one event at a time, each; the kernel has a PMU of its own for each */
	GUS_PLAN_ON_IBS_FETCH,
	GUS_PLAN_ON_SPE,
	GUS_PLAN_BY_KERNEL, /* it counts it itself: any number at a time */
};

/* What only one value of can be in force at a time on a core, beside counters. */
enum gus_plan_hold {
	GUS_PLAN_HOLDS_NOTHING,
	GUS_PLAN_HOLDS_FRONTEND, /* MSR 0x3f7: which miss FRONTEND_RETIRED is about; the value is config1 */
	GUS_PLAN_HOLDS_LATENCY,  /* MSR 0x3f6: from which latency on loads are sampled; likewise */
};

/* Of a core with two threads and of one with one, where that is not counted by the same event. */
enum gus_plan_threads { GUS_PLAN_ANY_THREADS, GUS_PLAN_ONE_THREAD, GUS_PLAN_TWO_THREADS };

/* How a CPU is watched, best first of those that a core has; gus_plan_mode_name. */
enum gus_plan_mode {
	GUS_PLAN_TPEBS, /* PEBS whose records say how long since the retirement before */
	GUS_PLAN_PEBS,
	GUS_PLAN_IBS,
	GUS_PLAN_SPE,
	GUS_PLAN_LBR,   /* cycles with branch stacks, and no more */
	GUS_PLAN_TIMER, /* the kernel's clock: no PMU is asked for */
	GUS_PLAN_AUTO,  /* the first that the core has */
};
#define GUS_PLAN_IN(mode) (1u << (mode))

struct gus_plan_row {
	const char *name;         /* as its maker writes it */
	uint64_t config, config1; /* of perf_event_attr */
	enum gus_plan_role role;
	uint16_t tells;           /* enum gus_psv_event: what it has to do with */
	uint16_t counters;        /* general counters that may count it, a bit each */
	uint8_t fixed;            /* likewise fixed ones. Of neither any: it takes no counter */
	uint8_t precise;          /* precise_ip that its samples want; counters are those for this */
	enum gus_plan_hold holds;
	uint64_t sample;          /* PERF_SAMPLE_* beyond what all samples have */
	uint32_t period;          /* events a sample; 0 of heights: the session's rate; of others: it only counts */
	const char *source;
	const char *led_by;       /* name of the row that must lead its group, or NULL */
	const char *limit;        /* what of it is all that it tells, or what else it tells besides, or NULL */
	uint16_t limit_of;        /* enum gus_psv_event: which of those that it tells that is about; 0: all */
	uint8_t modes;            /* GUS_PLAN_IN() of the modes that it is for; 0: all in which its role has a place */
	enum gus_plan_unit unit;
	enum gus_plan_threads threads; /* where two threads share what it counts, another row counts it */
	uint64_t config2;
};

/* What unites the cores of one design as far as counting goes. */
struct gus_plan_core {
	const char *name;         /* "golden-cove" */
	const char *title;        /* as people write it */
	uint8_t threads;          /* that it can run */
	uint8_t general_smt;      /* general counters of a thread whose core runs another one */
	uint8_t general;          /* and of one that has the core to itself */
	uint8_t fixed;            /* fixed ones, a bit each: there may be none of a number between others */
	uint8_t slots;            /* a cycle, of top-down */
	uint8_t modes;            /* GUS_PLAN_IN() of those that it has */
	bool large;               /* branch stacks fit into PEBS buffers without an interrupt a sample (format 4 on) */
	/* What the kernel's NMI watchdog counts is a cycle counter that nobody else gets: whether kernels have one by
	 * default, and where it may be. */
	bool watchdog_usual;
	uint16_t watchdog_counters;
	uint8_t watchdog_fixed;
	const struct gus_plan_row *rows;
	size_t n;
};

/* Cores of a CPU, and the PMU that the kernel has for each; of Arm as it is where firmware describes the machine by
 * ACPI, while a devicetree gives it the core's name. */
enum { GUS_PLAN_KINDS = 2 };
struct gus_plan_kind { const struct gus_plan_core *core; const char *pmu; };

struct gus_plan_cpu {
	const char *name;         /* LLVM's, as in gus_cpu_name() */
	const char *title;
	struct gus_plan_kind kinds[GUS_PLAN_KINDS]; /* core is NULL behind the last */
};

/* The CPU of that name, or that people call so for short ("spr", "n2"), or NULL; CPU number i, or NULL behind the
 * last. */
const struct gus_plan_cpu *gus_plan_cpu_find(const char *name);
const struct gus_plan_cpu *gus_plan_cpu_at(size_t i);

/* Whether each kind of its cores has that mode. */
bool gus_plan_cpu_has(const struct gus_plan_cpu *cpu, enum gus_plan_mode mode);

/* What the kernel itself counts, on every machine: i from 0, NULL behind the last. */
const struct gus_plan_row *gus_plan_software_at(size_t i);

extern const struct gus_plan_core gus_plan_skylake, gus_plan_sunny_cove, gus_plan_golden_cove, gus_plan_redwood_cove,
	gus_plan_lion_cove, gus_plan_gracemont, gus_plan_skymont;
extern const struct gus_plan_core gus_plan_zen2, gus_plan_zen3, gus_plan_zen4, gus_plan_zen5;
extern const struct gus_plan_core gus_plan_neoverse_n1, gus_plan_neoverse_n2, gus_plan_neoverse_v1,
	gus_plan_neoverse_v2, gus_plan_neoverse_n3, gus_plan_neoverse_v3;

#endif
