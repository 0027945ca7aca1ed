/* SPDX-License-Identifier: MIT */
/* From the facts about a machine to findings: what works, what does not, whose doing that is, and what would change it.
 * Pure: the same facts give the same findings, whatever machine this runs on. */
#ifndef GUS_COLLECTOR_DOCTOR_DOCTOR_H
#define GUS_COLLECTOR_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

struct gus_facts;

enum gus_mark {
	GUS_MARK_OK,
	GUS_MARK_LIMITED,   /* works, but less well than it might */
	GUS_MARK_NO,
	GUS_MARK_INFO,      /* neither good nor bad */
};

/* Whose doing it is that something is not to be had. */
enum gus_hindrance {
	GUS_CAUSE_NONE,
	GUS_CAUSE_PERMISSION,
	GUS_CAUSE_HARDWARE,
	GUS_CAUSE_HYPERVISOR,
	GUS_CAUSE_KERNEL,   /* too old, or built without it */
	GUS_CAUSE_BUSY,     /* somebody else has it */
};

/* One check. Names are stable; they are what programs look for. */
struct gus_finding {
	const char *group;  /* "events", "rights", "settings", "names", "machine" */
	const char *name;
	enum gus_mark mark;
	enum gus_hindrance cause;
	char text[400];
	char command[200];  /* what would change it; "" if nothing on this machine would */
};

struct gus_diagnosis {
	char tier;          /* 'A', 'B', 'C'; 0 if nothing can be recorded */
	char why[600];      /* one or two sentences: what is sampled, and why nothing better */
	enum gus_hindrance cause; /* of there being nothing better */
	char command[200];  /* the one that would change most, or "" */
	double cost_percent; /* of a CPU at 1000 samples a second; negative if unknown */
	struct gus_vec(struct gus_finding) findings;
};

void gus_doctor_judge(struct gus_diagnosis *d, const struct gus_facts *f);
void gus_diagnosis_free(struct gus_diagnosis *d);

const char *gus_hindrance_name(enum gus_hindrance cause); /* "permission", ...; "none" */
const char *gus_mark_name(enum gus_mark mark);    /* "ok", "limited", "no", "info" */

/* What somebody wants to watch when the kernel refuses. */
enum gus_wish { GUS_WISH_USER, GUS_WISH_KERNEL, GUS_WISH_SYSTEM };

/* Why perf_event_open failed with EACCES, EPERM or ENOSYS although nothing was wrong with the event: the cause, a
 * sentence without a full stop, and the command that changes it ("" if there is none). Of the facts only those of
 * gus_facts_rights are looked at. */
enum gus_hindrance gus_doctor_refusal(const struct gus_facts *f, int sys, enum gus_wish wish, char *text,
				      size_t text_size,
				  char *command, size_t command_size);

#endif
