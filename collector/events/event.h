/* SPDX-License-Identifier: MIT */
/* Events as people write them, and what they mean to the kernel. The grammar is perf's:
 *
 *   list   = item { "," item }
 *   item   = event | "{" event { "," event } "}" [ ":" modifiers ]
 *   event  = name [ ":" modifiers ]             generic and cache names, sysfs aliases, libpfm4 names, tracepoints
 *          | "r" hex [ ":" modifiers ]          a raw code of the core PMU
 *          | pmu "/" [ term { "," term } ] "/" [ [":"] modifiers ] */
#ifndef GUS_COLLECTOR_EVENTS_EVENT_H
#define GUS_COLLECTOR_EVENTS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "collector/events/pmu.h"

struct gus_error;

#define GUS_PRECISE_MAX 3

/* What hardware says in an event's samples beside where they are, and who takes it apart (collector/records). */
enum gus_event_words {
	GUS_WORDS_NONE,
	GUS_WORDS_DATA,      /* the kernel's word of where data were, and weights: Intel's PEBS */
	GUS_WORDS_IBS_OP,    /* registers of AMD's IBS, as PERF_SAMPLE_RAW */
	GUS_WORDS_IBS_FETCH,
	GUS_WORDS_SPE,       /* Arm's: it has no samples in the ring, but writes records into an AUX area */
};

struct gus_event {
	char *asked;            /* as the user wrote it */
	char *base;             /* canonical, without modifiers */
	char *name;             /* base and the modifiers in force: what the report prints */
	const char *unit;       /* what a period counts: "ns", "cycles", "events" */
	uint32_t type;          /* these go into perf_event_attr as they are */
	uint64_t config, config1, config2, config3;
	uint64_t period;        /* 0 when the kernel adapts it to a frequency */
	uint64_t frequency;     /* samples a second asked for, 0 when a period was */
	bool jitter;            /* the period is re-drawn around its value while recording */
	bool governed;          /* its rate may be changed while recording: nobody asked for a certain one */
	bool at_switch;         /* it samples where tasks leave their CPU, beside what they do on it (--off-cpu) */
	uint8_t precise;        /* precise_ip asked for */
	bool precise_best;      /* P: as much as the hardware gives */
	bool user, kernel, hv;  /* privilege levels named by modifiers; none named: all */
	bool guest, host;       /* likewise */
	bool no_idle, pinned, exclusive;
	uint32_t group;         /* events of one group share a number; 0 stands alone */
	char *cpus;             /* where it can be opened, as in struct gus_pmu; NULL: everywhere */
	/* Of an event of a plan (collector/events/planned.h); all else has nothing here. */
	char *pmu;              /* its name; else NULL */
	bool cycles;            /* its periods are of cycles, whatever its name is */
	uint64_t planned;       /* its period by the plan: none in force is shorter. 0: its rate is the session's */
	bool counts;            /* it counts and takes no samples */
	bool leads;             /* its group is opened with it first, wherever it stands; else the first one leads */
	bool bare;              /* its samples bring along what is in `extra` alone, no callers and branches */
	uint64_t extra;         /* PERF_SAMPLE_*: what they bring along beyond what all samples have */
	enum gus_event_words words;
	uint32_t turns, turns_n; /* bit i: it is on in turn i of so many; 0: always */
};

struct gus_events gus_vec(struct gus_event);

/* Appends what text means to events. Returns 0, or -1: GUS_E_USAGE if an event does not exist or the text is malformed
 * (what and where is in err), GUS_E_UNSUPPORTED if it exists, but not for this. */
int gus_events_parse(struct gus_events *events, const char *text, struct gus_pmus *pmus, struct gus_error *err);
/* The same, also of PMUs that count for whole CPUs or sockets and never for one task. */
int gus_events_parse_whole(struct gus_events *events, const char *text, struct gus_pmus *pmus, struct gus_error *err);
void gus_events_free(struct gus_events *events);
void gus_event_free(struct gus_event *event);

/* Whether the event is a clock that a timer of the kernel runs: any period is possible, in nanoseconds. */
bool gus_event_is_clock(const struct gus_event *event);
/* Whether it counts in hardware: the only ones for which precise means anything. */
bool gus_event_is_hardware(const struct gus_event *event);

/* What a period of the event counts: "ns", "cycles" or "events". */
const char *gus_event_unit(const struct gus_event *event);

/* Sets how often the event samples, unless its own terms did: exactly every period counts, or about frequency times a
 * second; period wins. A clock at a frequency gets a fixed prime period, which will be jittered. */
void gus_event_set_rate(struct gus_event *event, uint64_t frequency, uint64_t period);

/* Whether its samples bring the counts of its group along (PERF_SAMPLE_READ). */
void gus_event_bring_counts(struct gus_event *event, bool bring);

/* Another frequency for an event that has one. */
void gus_event_change_rate(struct gus_event *event, uint64_t frequency);

/* Takes kernel and hypervisor out of what the event counts; false if its modifiers had already settled that. */
bool gus_event_exclude_kernel(struct gus_event *event);

/* Whether it is on in turn number `turn`, counted from when recording began. */
static inline bool gus_event_is_on(const struct gus_event *event, unsigned turn)
{
	return !event->turns_n || (event->turns >> turn % event->turns_n & 1);
}

/* Makes name follow the fields again, after one was changed. */
void gus_event_rename(struct gus_event *event);

#endif
