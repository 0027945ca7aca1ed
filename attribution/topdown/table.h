/* SPDX-License-Identifier: MIT */
/* The top-down method on one kind of cores: which events count what becomes of its slots, which of them are counted
 * together, and the tree of shares that follows. Each kind of cores has a table, a text (tables/README.md
 * has the statements); reading it for a machine gives one of these, which never changes.
 *
 * A. Yasin, A Top-Down Method for Performance Analysis and Counters Architecture, ISPASS 2014: each slot in which the
 * core could begin an operation either got one, which retired or did not, or got none, for want of the front end or of
 * the back end. The parts of a level add up to their parent. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_TABLE_H
#define GUS_ATTRIBUTION_TOPDOWN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/topdown/formula.h"

struct gus_cpu_id;
struct gus_error;

/* A PMU of the machine, as far as tables ask: its name, the events that the kernel names, and what it says of slots. */
struct gus_topdown_pmu {
	const char *name;
	const char *const *aliases; /* of which there are so many */
	size_t aliases_n;
	double slots;               /* a cycle, of caps/slots; 0 where it does not say */
};

/* The machine that is asked about. */
struct gus_topdown_host {
	const struct gus_cpu_id *cpu; /* may be NULL for tables that are about any */
	bool smt;                   /* cores have two threads, of which either may run */
	bool watchdog;              /* the NMI watchdog holds a counter */
	const struct gus_topdown_pmu *pmus;
	size_t pmus_n;
};

struct gus_topdown_event {
	const char *name;
	char *terms;            /* of the PMU, as in PMU/TERMS/ */
	uint32_t counters;      /* those that can count it, a bit each; 0: one of its own, which nothing else wants */
	uint32_t group, value;
	uint8_t level;          /* from which on it is counted */
	bool grouped;           /* it stands in a group: what does not is never counted */
};

enum gus_topdown_unit { GUS_TOPDOWN_SLOTS, GUS_TOPDOWN_CYCLES, GUS_TOPDOWN_UNITS };

#define GUS_TOPDOWN_ROOT UINT32_MAX /* the parent of the first level: all slots, or all cycles */

struct gus_topdown_node {
	const char *name;
	char *title;            /* what its slots went to, in words */
	uint32_t parent;        /* a node, or GUS_TOPDOWN_ROOT */
	uint8_t level;
	enum gus_topdown_unit unit; /* parts add up to a parent of the same unit */
	bool beside;            /* it overlaps others, and is none of the parts that add up */
	struct gus_formula formula, correction;
	char *correction_why;   /* NULL: there is none */
	bool floored;           /* the method sets what is below 0 to 0 */
	double above;           /* worth looking at from there on; NaN: never by itself */
	double within;          /* how far its parts may be from adding up, as a share of all, and why */
	char *within_why;       /* NULL: not at all */
	const char *source;     /* who says so */
	uint32_t value, groups; /* groups: on which it depends, a bit each */
};

struct gus_topdown {
	char *name, *title;
	char *pmu;              /* of this machine; NULL: it has none that the table is about */
	char *lacks;            /* why it cannot be counted here, or NULL */
	bool smt, watchdog;     /* of the machine that it was read for, as the next: what its PMU says */
	double pmu_slots;       /* a cycle; 0: nothing */
	bool by_default;        /* its first level may be counted where nobody asked for it */
	unsigned counters;      /* that a thread has for any event */
	struct gus_vec(struct gus_topdown_event) events;
	struct gus_vec(char *) groups;
	struct gus_vec(struct gus_topdown_node) nodes;
	struct gus_vec(struct gus_topdown_value) values; /* all that has a name, in the order of definition */
	struct gus_vec(struct gus_topdown_source) sources;
	double root_within;     /* of slots, as `within` of a node */
	char *root_within_why;
	unsigned levels;        /* the deepest */
};

enum gus_topdown_value_kind { GUS_TOPDOWN_EVENT, GUS_TOPDOWN_CONST, GUS_TOPDOWN_LET, GUS_TOPDOWN_NODE };

struct gus_topdown_value {
	char *name;
	enum gus_topdown_value_kind kind;
	uint32_t index;         /* of the event or node */
	double number;          /* of a constant */
	struct gus_formula formula; /* of a let */
	uint32_t groups;
	uint8_t level;          /* the highest of the events in it */
};

struct gus_topdown_source { char *name, *text; };

/* Reads a table for a machine. 0, and *table is the caller's (gus_topdown_free), or NULL if it is not about this CPU;
 * -1 if the text is no table (GUS_E_CORRUPT: where, and what is wrong), or asks for more counters than there are. A
 * table without lines of CPUs is about any. name: what errors call it. */
int gus_topdown_parse(struct gus_topdown **table, const char *name, const char *text, size_t size,
		      const struct gus_topdown_host *host, struct gus_error *err);
void gus_topdown_free(struct gus_topdown *table);

/* The events that levels up to this one need, in the order in which groups are counted: numbers of them into list,
 * which has room for all. Returns how many. */
size_t gus_topdown_events(const struct gus_topdown *table, unsigned level, uint32_t *list);

/* The same as a list of events that collector/events/event.h reads, groups in braces; the caller frees it. The table
 * has a PMU. */
char *gus_topdown_spec(const struct gus_topdown *table, unsigned level);

#endif
