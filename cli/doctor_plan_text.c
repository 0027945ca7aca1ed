/* SPDX-License-Identifier: MIT */
/* A plan for people: for each kind of cores a table of events, what would be known, and what has no place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/common/print.h"
#include "cli/doctor_plan.h"
#include "cli/screen/screen.h"
#include "cli/screen/table.h"
#include "collector/plan/plan.h"
#include "proto/psv.h"

/* "0-3 5 f1": general counters as ranges, of those that a thread has, and fixed ones with a letter. */
static char *counters_text(const struct gus_plan_part *part, const struct gus_plan_row *row)
{
	static const struct { size_t bits; const char *letter; } kinds[] = { { 16, "" }, { 8, "f" } };
	char *text = gus_strdup("");

	for (size_t k = 0; k < 2; k++) {
		unsigned mask = k ? row->fixed : row->counters & ((1u << part->general) - 1);

		for (unsigned i = 0, end; i < kinds[k].bits; i = end + 1) {
			char *longer;

			end = i;
			if (!(mask & 1u << i))
				continue;
			while (mask & 1u << (end + 1))
				end++;
			longer = end > i ? gus_format("%s%s%s%u-%u", text, *text ? " " : "", kinds[k].letter, i, end) :
				gus_format("%s%s%s%u", text, *text ? " " : "", kinds[k].letter, i);
			free(text);
			text = longer;
		}
	}
	return text;
}

/* "always", "turn 2", "turns 1,3". */
static char *turns_text(const struct gus_plan_part *part, const struct gus_plan_group *g)
{
	bool many = g->turns & (g->turns - 1);
	char *text = gus_strdup(g->always ? "always" : many ? "turns" : "turn");
	const char *between = " ";

	for (unsigned i = 0; !g->always && i < part->turns; i++)
		if (g->turns & UINT32_C(1) << i) {
			char *longer = gus_format("%s%s%u", text, between, i + 1);

			free(text);
			text = longer;
			between = ",";
		}
	return text;
}

/* What it is for: the role, and the events that it tells. */
static char *purpose_text(const struct gus_plan_row *row)
{
	char *text = gus_strdup(gus_plan_role_name(row->role));

	for (unsigned bit = 0; bit < GUS_PSV_EVENTS; bit++)
		if (row->tells & 1u << bit) {
			char *longer = gus_format("%s %s", text, gus_psv_name((enum gus_psv_event)(1u << bit)));

			free(text);
			text = longer;
		}
	return text;
}

enum { ON, FOR, COUNTERS, CONFIG, EVERY, SOURCE, EVENT, COLUMNS };
static const struct gus_table_column columns[COLUMNS] = {
	[ON] = { .title = "on", .pad = 9 },
	[FOR] = { .title = "for", .pad = 29, .how = GUS_SHORTEN_END, .comfort = 20, .least = 8 },
	[COUNTERS] = { .title = "counters", .pad = 7, .leaves = 3 },
	[CONFIG] = { .title = "config", .pad = 13 },
	[EVERY] = { .title = "every", .right = true, .pad = 7, .leaves = 2 },
	[SOURCE] = { .title = "source", .pad = 22, .leaves = 1, .how = GUS_SHORTEN_END, .comfort = 22, .least = 12 },
	[EVENT] = { .title = "event", .how = GUS_SHORTEN_MIDDLE, .comfort = 34, .least = 16 },
};

static void add_event(struct gus_table *t, const struct gus_plan_part *part, const struct gus_plan_group *g, size_t i)
{
	const struct gus_plan_event *e = &part->events.v[g->first + i];
	const struct gus_plan_row *row = e->row;
	char *on = i ? gus_strdup("") : turns_text(part, g), *purpose = purpose_text(row);
	char *counters = counters_text(part, row);
	char *config = row->config1 ? gus_format("0x%" PRIx64 ",0x%" PRIx64, row->config, row->config1) :
		gus_format("0x%" PRIx64, row->config);
	char *every = e->period ? gus_format("%" PRIu64, e->period) : gus_strdup(e->samples ? "rate" : "");
	char *event = gus_format("%s%s%.*s", row->name, row->precise ? ":" : "", row->precise, "ppp");
	const char *const cells[COLUMNS] = { [ON] = on, [FOR] = purpose, [COUNTERS] = counters, [CONFIG] = config,
		[EVERY] = every, [SOURCE] = row->source, [EVENT] = event };

	gus_table_row_indented(t, GUS_COLOUR_NONE, cells, i ? 2 : 0, "");
	free(on);
	free(purpose);
	free(counters);
	free(config);
	free(every);
	free(event);
}

static void print_events(const struct gus_screen *s, const struct gus_plan_part *part)
{
	struct gus_table t;

	gus_table_begin(&t, s, stdout, columns, COLUMNS);
	for (size_t i = 0; i < part->groups.n; i++)
		for (size_t k = 0; k < part->groups.v[i].n; k++)
			add_event(&t, part, &part->groups.v[i], k);
	gus_table_end(&t);
}

/* tells: the event, or 0 for heights, of which no limit speaks. */
static void print_verdict(const struct gus_screen *s, const char *name, unsigned tells,
			  const struct gus_plan_verdict *v)
{
	char *first = gus_format("  %-8s%-10s", name, gus_plan_evidence_name(v->evidence));
	char *text = gus_strdup(gus_plan_how_text(v->how));

	for (size_t i = 0; i < v->n; i++) {
		const struct gus_plan_row *row = v->rows[i];
		unsigned limit_of = row->limit_of ? row->limit_of : GUS_PSV_ALL;
		const char *limit = tells & limit_of ? row->limit : NULL;
		char *longer = gus_format("%s%s%s%s%s%s", text, i ? ", " : ": ", row->name, limit ? " (" : "",
					  limit ? limit : "", limit ? ")" : "");

		free(text);
		text = longer;
	}
	gus_screen_fold(s, stdout, first, s->width && s->width < 72 ? "      " : "                    ", text);
	free(first);
	free(text);
}

static void print_absences(const struct gus_screen *s, const struct gus_plan_part *part)
{
	if (part->absences.n)
		gus_print("\nWithout a place\n");
	for (size_t i = 0; i < part->absences.n; i++) {
		const struct gus_plan_absence *a = &part->absences.v[i];
		char *counters = counters_text(part, a->row);
		char *text = a->by ? gus_format("%s: what it needs (counters %s) is taken by %s, which is always on",
						a->row->name, counters, a->by->name) :
			gus_format("%s: no counter that could count it (%s) is free", a->row->name, counters);

		gus_screen_fold(s, stdout, "  ", "    ", text);
		free(text);
		free(counters);
	}
}

static const char *const slots_texts[] = {
	[false] = "Top-down takes turns: always on it would leave other events no counter.",
	[true] = "Top-down takes turns, and in pieces: beside heights there are not as many counters as it needs.",
};

/* What is counted of both threads of a core is counted of whoever else runs there. */
static void print_shared(const struct gus_screen *s, const struct gus_plan_part *part)
{
	char *names = gus_strdup("");
	char *text;

	for (size_t i = 0; i < part->events.n; i++)
		if (part->events.v[i].row->threads == GUS_PLAN_TWO_THREADS) {
			char *longer = gus_format("%s%s%s", names, *names ? " and " : "", part->events.v[i].row->name);

			free(names);
			names = longer;
		}
	text = gus_format("The slots of a core are shared by two threads: half of %s is this thread's. They count what "
			  "the other one does as well, so only who may watch whole CPUs can have them.", names);
	if (*names)
		gus_screen_fold(s, stdout, "", "  ", text);
	free(text);
	free(names);
}

static void print_core(const struct gus_screen *s, const struct gus_plan *plan, const struct gus_plan_part *part)
{
	const struct gus_plan_core *core = part->core;
	char *turns = part->turns ? gus_format("; %u turns", part->turns) : gus_strdup("; nothing takes turns");
	char *text = core ? gus_format("%s, PMU %s: %u general and %u fixed counters%s%s", core->title, part->pmu,
				       part->general, (unsigned)__builtin_popcount(core->fixed),
				       plan->wish.watchdog ? ", one of them the watchdog's" : "", turns) :
		gus_strdup("Any core, without a PMU");

	putchar('\n');
	gus_screen_colour(s, stdout, GUS_COLOUR_HEAD);
	gus_screen_fold(s, stdout, "", "  ", text);
	gus_screen_colour(s, stdout, GUS_COLOUR_NONE);
	if (part->slots_turn)
		gus_screen_fold(s, stdout, "", "  ", slots_texts[part->slots_split]);
	print_shared(s, part);
	free(turns);
	free(text);
}

static const char *smt_text(const struct gus_plan_wish *wish)
{
	return wish->cpu->kinds[0].core->threads < 2 ? "none" : wish->smt ? "on" : "off";
}

void gus_doctor_plan_text(const struct gus_screen *s, const struct gus_plan *plan, const char *why)
{
	const struct gus_plan_wish *wish = &plan->wish;
	const struct gus_plan_cpu *cpu = wish->cpu;
	const char *mode = gus_plan_mode_name(wish->mode), *watchdog = wish->watchdog ? "on" : "off";
	char *text = cpu ? gus_format("%s (%s), mode %s; SMT %s, NMI watchdog %s", cpu->title, cpu->name, mode,
				      smt_text(wish), watchdog) : gus_format("Mode %s", mode);

	if (*why)
		gus_screen_fold(s, stdout, "", "", why);
	gus_screen_fold(s, stdout, "", "  ", text);
	free(text);
	for (size_t i = 0; i < plan->n; i++) {
		const struct gus_plan_part *part = &plan->parts[i];

		print_core(s, plan, part);
		print_events(s, part);
		gus_print("\nWhat would be known\n");
		print_verdict(s, "heights", 0, &part->heights);
		for (unsigned bit = 0; bit < GUS_PSV_EVENTS; bit++)
			print_verdict(s, gus_psv_name((enum gus_psv_event)(1u << bit)), 1u << bit, &part->psv[bit]);
		print_absences(s, part);
	}
	putchar('\n');
	gus_screen_fold(s, stdout, "", "  ", "What is unknown by events is modelled where the windows that record "
			"takes (--trace auto) have executed the code: report --stacks marks it so.");
}
