/* SPDX-License-Identifier: MIT */
/* gusprof record: which events are sampled, and at what rates. */
#ifndef GUS_CLI_RECORD_EVENTS_H
#define GUS_CLI_RECORD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct gus_choice;
struct gus_error;
struct gus_events;
struct gus_log;
struct gus_pmus;
struct gus_session_options;

struct gus_record_events_how {
	const char *asked;      /* all of -e, joined by commas; NULL: auto */
	/* Why there can be one kind of samples only, which is so in a flight recorder, of whole CPUs and for who reads
	 * them at once; NULL: there can be more. */
	const char *single;
	/* Tasks that live already, of which there may be many: a plan has some thirty events, more than can be opened
	 * for each. */
	bool living;
};

/* Appends what was asked for: the best that there is here, a plan, or events by name; choice says what they are. -1
 * with err if that cannot be had, or is no events. */
int gus_record_events_choose(struct gus_events *events, const struct gus_record_events_how *how, struct gus_pmus *pmus,
			     struct gus_choice *choice, const struct gus_log *log, struct gus_error *err);

/* --off-cpu: an event more, unless this user may not have it, which is told. */
int gus_record_events_add_off_cpu(struct gus_events *events, struct gus_pmus *pmus, const struct gus_log *log,
				  struct gus_error *err);

/* The rates of all events that did not bring one along: samples a second, or a period, as asked; or as the governor
 * says. Measures what samples cost. */
void gus_record_events_set_rates(struct gus_session_options *so, uint64_t frequency, uint64_t period);

#endif
