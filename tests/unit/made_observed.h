/* SPDX-License-Identifier: MIT */
/* Recordings of a process that has one file mapped, with any events, for what samples say of single instructions. */
#ifndef GUS_TESTS_UNIT_MADE_OBSERVED_H
#define GUS_TESTS_UNIT_MADE_OBSERVED_H

#include "attribution/observed/observed.h"
#include "proto/gusprof.pb-c.h"
#include "proto/sample.h"

#define MADE_OBSERVED_FILE "/nowhere/app"
enum { MADE_OBSERVED_EVENTS = 8 };

struct made_event { const char *pmu; uint32_t type; uint64_t config, config1, config2, config3; uint32_t precise; };
extern const struct made_event made_ibs_ops;

struct made_observed {
	Gusprof__Event events[MADE_OBSERVED_EVENTS], *pointers[MADE_OBSERVED_EVENTS];
	uint64_t on_ns[MADE_OBSERVED_EVENTS]; /* for the footer, if any is not 0 */
	size_t events_n;
	struct gus_columns batch;
};

Gusprof__Event made_event_message(const struct made_event *e);
void made_observed_event(struct made_observed *m, const struct made_event *e);
/* So many of a sample; ip and branches are offsets in the file. */
void made_observed_add(struct made_observed *m, unsigned n, struct gus_sample s);
/* The word of the kernel's for where data were. */
uint64_t made_observed_source(uint8_t does, uint8_t level, uint8_t tlb);
/* What all of it says. */
struct gus_observed *made_observed_end(struct made_observed *m);

#endif
