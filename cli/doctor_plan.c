/* SPDX-License-Identifier: MIT */
#include "cli/doctor_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cli/common/uarch_load.h"
#include "cli/need.h"
#include "collector/doctor/facts.h"
#include "collector/plan/make.h"
#include "collector/plan/plan.h"

bool gus_doctor_plan_is_here(const struct gus_doctor_plan_options *o)
{
	return !o->cpu;
}

static int unknown_cpu(const char *name, struct gus_error *err)
{
	const struct gus_plan_cpu *cpu;
	char *known = gus_strdup("");

	for (size_t i = 0; (cpu = gus_plan_cpu_at(i)); i++) {
		char *longer = gus_format("%s%s%s", known, i ? ", " : "", cpu->name);

		free(known);
		known = longer;
	}
	gus_fail(err, GUS_E_USAGE, "--cpu %s: no events are known of such a CPU; --cpu is one of %s", name, known);
	free(known);
	return -1;
}

/* Of another CPU it is as it usually is. */
static bool is_on(int option, const struct gus_setting *here, bool usual)
{
	bool auto_on = here && here->known ? here->value > 0 : usual;

	return option == GUS_DOCTOR_AS_IT_IS ? auto_on : option == GUS_DOCTOR_ON;
}

/* Of this machine: a table for its CPU, unless its PMU is not to be had. */
static const struct gus_plan_cpu *cpu_here(const struct gus_facts *facts, char *why, unsigned room)
{
	const char *name = gus_uarch_host_cpu();
	const struct gus_plan_cpu *cpu = name ? gus_plan_cpu_find(name) : NULL;

	*why = '\0';
	if (facts->tier != 'A' && facts->tier != 'B') {
		snprintf(why, room, "There is no PMU to be had here (tier %c), so the kernel's clock is all there is."
			 "%s%s%s", facts->tier ? facts->tier : '-', cpu ? " What such a CPU has otherwise says --cpu " :
			 "", cpu ? name : "", cpu ? "." : "");
		return NULL;
	}
	if (!cpu)
		snprintf(why, room, "No events are known of this machine's CPU%s%s, so the kernel's clock is all there "
			 "is.", name ? ", " : "", name ? name : "");
	else if (facts->tier == 'B')
		snprintf(why, room, "%s", "This machine gives no precise events; what follows is what its CPU can do. "
			 "gusprof doctor says why.");
	return cpu;
}

/* A mode that was asked for by its name, of this machine: that its CPU has it is not enough. */
static int check_mode_here(enum gus_plan_mode mode, const struct gus_facts *facts, struct gus_error *err)
{
	const char *name = gus_uarch_host_cpu(), *word = gus_plan_mode_name(mode);
	const struct gus_plan_cpu *cpu = name ? gus_plan_cpu_find(name) : NULL;
	const struct gus_need *need = gus_need_of(mode);
	char *why;

	if (!need || facts->classes[need->needs].verdict == GUS_PROBE_GOOD)
		return 0;
	if (!cpu)
		return gus_fail(err, GUS_E_UNSUPPORTED, "--mode %s: no events are known of this machine's CPU%s%s; "
				"--cpu NAME plans for another one, on any machine", word, name ? ", " : "",
				name ? name : "");
	if (!gus_plan_cpu_has(cpu, mode))
		return gus_fail(err, GUS_E_UNSUPPORTED, "--mode %s: this machine's CPU (%s) has no %s; --cpu NAME "
				"plans for another one, on any machine", word, cpu->title, word);
	why = gus_need_hindrance(need, facts);
	gus_fail(err, GUS_E_UNSUPPORTED, "--mode %s is not to be had here: %s; --cpu %s plans for such a CPU as it is "
		 "where nothing hinders it", word, why, cpu->name);
	free(why);
	return -1;
}

int gus_doctor_plan_make(struct gus_plan *plan, const struct gus_doctor_plan_options *o, const struct gus_facts *facts,
			 char *why, unsigned room, struct gus_error *err)
{
	struct gus_plan_wish wish = { .mode = (enum gus_plan_mode)o->mode };

	*why = '\0';
	if (!o->cpu && check_mode_here(wish.mode, facts, err) != 0)
		return -1;
	wish.cpu = o->cpu ? gus_plan_cpu_find(o->cpu) : cpu_here(facts, why, room);
	if (o->cpu && !wish.cpu)
		return unknown_cpu(o->cpu, err);
	wish.smt = is_on(o->smt, facts ? &facts->smt : NULL, true);
	wish.watchdog = is_on(o->watchdog, facts ? &facts->nmi_watchdog : NULL,
			      wish.cpu && wish.cpu->kinds[0].core->watchdog_usual);
	return gus_plan_make(plan, &wish, err);
}
