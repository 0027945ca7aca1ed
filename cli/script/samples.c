/* SPDX-License-Identifier: MIT */
#include "cli/script/samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "attribution/profile/calls.h"
#include "cli/script/columns.h"
#include "cli/script/fields.h"
#include "proto/sample.h"

#define FLUSH_BYTES (64u << 10)
#define COMM_WIDTH 16

void gus_script_begin(void *context, struct gus_profile *p)
{
	struct gus_script *s = context;

	gus_script_names_init(&s->names, p, s->fields, s->inlines);
	gus_folded_init(&s->folded);
	for (size_t i = 0; i < p->header->n_events; i++) {
		int width = (int)strlen(p->header->events[i]->name);

		s->event_width = width > s->event_width ? width : s->event_width;
	}
}

void gus_script_free(struct gus_script *s)
{
	if (!s->names.profile)
		return;
	gus_script_names_free(&s->names);
	gus_folded_free(&s->folded);
	gus_vec_free(&s->lines);
	gus_vec_free(&s->comm);
}

/* Samples of a thread come one after the other, and their names are interned. As perf: of one without a name its number
 * is shown. */
static void find_comm(struct gus_script *s, const struct gus_sighting *g)
{
	if (s->comm_of == g->comm && *g->comm)
		return;
	s->comm_of = g->comm;
	s->comm.n = 0;
	if (*g->comm) {
		gus_lines_text(&s->comm, g->comm, 0);
	} else {
		gus_lines_word(&s->comm, ":");
		gus_lines_number(&s->comm, g->sample->tid, 0, ' ');
	}
}

/* One part of a line each; which of them stand in it, and in which order, the table says. */

static void put_comm(struct gus_script *s, const struct gus_sighting *g)
{
	find_comm(s, g);
	for (size_t n = s->comm.n; !s->chains && n < COMM_WIDTH; n++)
		gus_lines_word(&s->lines, " ");
	gus_lines_bytes(&s->lines, s->comm.v, s->comm.n);
	gus_lines_word(&s->lines, " ");
}

static void put_id(struct gus_script *s, uint32_t id, int width)
{
	if (id == GUS_TASK_UNKNOWN)
		gus_lines_word(&s->lines, width > 0 ? "   -1" : "-1   ");
	else
		gus_lines_padded(&s->lines, id, width);
}

static void put_ids(struct gus_script *s, const struct gus_sighting *g)
{
	bool both = s->fields & GUS_FIELD_PID && s->fields & GUS_FIELD_TID;

	put_id(s, s->fields & GUS_FIELD_PID ? g->sample->pid : g->sample->tid, 5);
	if (both) {
		gus_lines_word(&s->lines, "/");
		put_id(s, g->sample->tid, -5);
	}
	gus_lines_word(&s->lines, " ");
}

static void put_cpu(struct gus_script *s, const struct gus_sighting *g)
{
	if (g->sample->cpu == GUS_CPU_UNKNOWN)
		return;
	gus_lines_word(&s->lines, "[");
	gus_lines_number(&s->lines, g->sample->cpu, 3, '0');
	gus_lines_word(&s->lines, "] ");
}

/* Whose code it was: as perf, a letter in six columns. */
static void put_misc(struct gus_script *s, const struct gus_sighting *g)
{
	static const char *const letters[] = { "      ", "K     ", "U     ", "H     ", "G     ", "g     " };
	unsigned mode = g->sample->mode;

	gus_lines_word(&s->lines, letters[mode < sizeof(letters) / sizeof(*letters) ? mode : GUS_MODE_UNKNOWN]);
}

static void put_time(struct gus_script *s, const struct gus_sighting *g)
{
	const Gusprof__Clock *clock = s->names.profile->header->clock;
	uint64_t start = s->relative && clock ? clock->start_ns : 0, time = g->sample->time;
	uint64_t ns = time > start ? time - start : 0;

	if (clock && strcmp(clock->name, "records") == 0) /* numbers of records, which are no time */
		return;
	gus_lines_number(&s->lines, ns / 1000000000, 5, ' ');
	gus_lines_word(&s->lines, ".");
	if (s->nanoseconds)
		gus_lines_number(&s->lines, ns % 1000000000, 9, '0');
	else
		gus_lines_number(&s->lines, ns % 1000000000 / 1000, 6, '0');
	gus_lines_word(&s->lines, ": ");
}

static void put_period(struct gus_script *s, const struct gus_sighting *g)
{
	gus_lines_number(&s->lines, g->sample->period, 10, ' ');
	gus_lines_word(&s->lines, " ");
}

static void put_event(struct gus_script *s, const struct gus_sighting *g)
{
	const Gusprof__Header *header = s->names.profile->header;
	bool known = g->sample->event < header->n_events;

	gus_lines_text(&s->lines, known ? header->events[g->sample->event]->name : "[unknown]",
		       (size_t)s->event_width);
	gus_lines_word(&s->lines, ": ");
}

static const struct { unsigned fields; void (*put)(struct gus_script *s, const struct gus_sighting *g); } parts[] = {
	{ GUS_FIELD_COMM, put_comm }, { GUS_FIELD_PID | GUS_FIELD_TID, put_ids }, { GUS_FIELD_CPU, put_cpu },
	{ GUS_FIELD_MISC, put_misc }, { GUS_FIELD_TIME, put_time }, { GUS_FIELD_PERIOD, put_period },
	{ GUS_FIELD_EVENT, put_event },
};

static size_t frames_of(struct gus_script *s, const struct gus_sighting *g)
{
	if (!s->max_stack || g->callers_n + 1 <= s->max_stack)
		return g->callers_n;
	s->cut++;
	return (size_t)s->max_stack - 1;
}

static void put_chain(struct gus_script *s, const struct gus_sighting *g)
{
	struct gus_string_ text = gus_script_names_frame(&s->names, g->place, false);
	size_t n = frames_of(s, g);

	gus_lines_word(&s->lines, "\n");
	gus_lines_bytes(&s->lines, text.text, text.length);
	for (size_t i = 0; i < n; i++) {
		text = gus_script_names_frame(&s->names, g->callers[i].place, g->callers[i].returns);
		gus_lines_bytes(&s->lines, text.text, text.length);
	}
}

static void put_place(struct gus_script *s, const struct gus_sighting *g)
{
	struct gus_string_ tail = gus_script_names_tail(&s->names, g->place);

	if (s->fields & GUS_FIELD_IP) {
		gus_lines_word(&s->lines, " ");
		gus_lines_hex(&s->lines, g->sample->ip, 16);
	}
	gus_lines_bytes(&s->lines, tail.text, tail.length);
}

/* A branch's end: an address, what it is called, or where in its module it is, as the module's own address. */
static void put_end(struct gus_script *s, const struct gus_sighting *g, uint64_t address, unsigned field)
{
	unsigned mode = address >> 63 ? GUS_MODE_KERNEL : GUS_MODE_USER;
	struct gus_profile *p = s->names.profile;
	struct gus_place place;

	if (field == GUS_FIELD_BRSTACK) {
		gus_lines_word(&s->lines, "0x");
		gus_lines_hex(&s->lines, address, 0);
		return;
	}
	place = gus_space_find(p->space, g->sample->pid, g->sample->time, address, mode);
	gus_script_names_end(&s->names, &s->lines, place, field == GUS_FIELD_BRSTACKSYM);
}

/* Newest first: FROM/TO/M or P or -/X or -/A or -/CYCLES. */
static void put_branches(struct gus_script *s, const struct gus_sighting *g, unsigned field)
{
	s->told |= g->sample->branches_n ? field : 0;
	for (uint32_t i = 0; i < g->sample->branches_n; i++) {
		const struct gus_branch *b = &g->sample->branches[i];

		gus_lines_word(&s->lines, i ? "  " : " ");
		put_end(s, g, b->from, field);
		gus_lines_word(&s->lines, "/");
		put_end(s, g, b->to, field);
		gus_lines_word(&s->lines, b->flags & GUS_BRANCH_MISPREDICTED ? "/M" :
			       b->flags & GUS_BRANCH_PREDICTED ? "/P" : "/-");
		gus_lines_word(&s->lines, b->flags & GUS_BRANCH_IN_TX ? "/X" : "/-");
		gus_lines_word(&s->lines, b->flags & GUS_BRANCH_ABORT ? "/A/" : "/-/");
		gus_lines_number(&s->lines, b->cycles, 0, ' ');
	}
}

void gus_script_line(void *context, const struct gus_sighting *g)
{
	static const unsigned branches[] = { GUS_FIELD_BRSTACK, GUS_FIELD_BRSTACKSYM, GUS_FIELD_BRSTACKOFF };
	struct gus_script *s = context;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (s->fields & parts[i].fields)
			parts[i].put(s, g);
	s->told |= gus_script_columns_before(&s->lines, s->fields, g->sample);
	if (s->chains)
		put_chain(s, g);
	else if (s->fields & GUS_FIELDS_PLACE)
		put_place(s, g);
	for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++)
		if (s->fields & branches[i])
			put_branches(s, g, branches[i]);
	s->told |= gus_script_columns_behind(&s->lines, s->fields, g->sample, s->names.profile->header);
	gus_lines_word(&s->lines, "\n");
	if (s->lines.n >= FLUSH_BYTES)
		gus_lines_flush(&s->lines);
}

void gus_script_fold(void *context, const struct gus_sighting *g)
{
	struct gus_script *s = context;
	size_t n = frames_of(s, g);
	struct gus_string_ text;

	s->lines.n = 0;
	gus_folded_comm(&s->lines, g->comm, g->sample->tid);
	if (s->chains_kept && gus_calls_missing(g->sample->callers))
		gus_lines_word(&s->lines, ";" GUS_FOLDED_TRUNCATED);
	while (n--) {
		text = gus_script_names_folded(&s->names, g->callers[n].place);
		gus_lines_word(&s->lines, ";");
		gus_lines_bytes(&s->lines, text.text, text.length);
	}
	text = gus_script_names_folded(&s->names, g->place);
	gus_lines_word(&s->lines, ";");
	gus_lines_bytes(&s->lines, text.text, text.length);
	gus_folded_add(&s->folded, &s->lines, s->count_samples ? 1 : g->sample->period);
	s->lines.n = 0;
}

void gus_script_end(struct gus_script *s)
{
	gus_lines_flush(&s->lines);
	gus_folded_print(&s->folded);
}
