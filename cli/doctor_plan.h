/* SPDX-License-Identifier: MIT */
/* gusprof doctor --plan: what would be opened on a CPU, this one or any other that is known, and what would be known
 * then. */
#ifndef GUS_CLI_DOCTOR_PLAN_H
#define GUS_CLI_DOCTOR_PLAN_H

#include <stdbool.h>

struct gus_error;
struct gus_facts;
struct gus_plan;
struct gus_screen;

/* As the options of the verb say it. */
struct gus_doctor_plan_options {
	const char *cpu;    /* NULL: this machine's */
	int mode;           /* enum gus_plan_mode, AUTO by default */
	int smt, watchdog;  /* GUS_DOCTOR_AS_IT_IS, or so */
};
enum { GUS_DOCTOR_AS_IT_IS, GUS_DOCTOR_ON, GUS_DOCTOR_OFF };

/* Whether facts of this machine are looked at, which takes a moment: not for another CPU. */
bool gus_doctor_plan_is_here(const struct gus_doctor_plan_options *o);

/* Makes the plan; facts may be NULL for another CPU. why gets a sentence about this machine, "" if there is nothing
 * to say. 0, or -1 with err: GUS_E_USAGE if there is no such CPU, GUS_E_UNSUPPORTED if it has no such mode, or this
 * machine does not give it. */
int gus_doctor_plan_make(struct gus_plan *plan, const struct gus_doctor_plan_options *o, const struct gus_facts *facts,
			 char *why, unsigned room, struct gus_error *err);

void gus_doctor_plan_text(const struct gus_screen *s, const struct gus_plan *plan, const char *why);
/* 0, or -1 if it could not be written. */
int gus_doctor_plan_json(const struct gus_plan *plan, const char *why);

#endif
