/* SPDX-License-Identifier: MIT */
/* Where samples of an event land on this machine beside the instruction that the CPU waits for: a self-test. */
#ifndef GUS_COLLECTOR_TRIAL_SKID_H
#define GUS_COLLECTOR_TRIAL_SKID_H

#include <stddef.h>
#include <stdint.h>

#include "proto/skid.h"

struct gus_event;

/* Samples lines of our own with the event, on this thread, for some 30 ms, and twice that where it is hard to come by
 * samples. What cannot be tried - other events than clocks and cycles, other ISAs, no rights, no samples - leaves no
 * counts. */
void gus_trial_skid(const struct gus_event *event, struct gus_skid *skid);

/* A line as it lies in memory: one slow instruction, `quick` quick ones of one size, and what ends the round. */
struct gus_trial_line {
	uint64_t slow, first, end;      /* addresses: of the slow one, of the first and behind the last quick one */
	uint64_t last;                  /* where the round's last instruction is, and those of the line end */
	unsigned quick;
};

/* Counts a sample at an address, where it is in the line. */
void gus_trial_land(struct gus_skid_counts *counts, const struct gus_trial_line *line, uint64_t ip);

#endif
