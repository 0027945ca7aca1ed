/* SPDX-License-Identifier: MIT */
/* What hardware says of a sample in words of its own, put into the columns that all vendors share: records that Arm's
 * SPE has written into an area, registers of AMD's IBS, the kernel's word of where data were. Pure, but for asking once
 * what the CPUs are. */
#ifndef GUS_COLLECTOR_SESSION_AREA_H
#define GUS_COLLECTOR_SESSION_AREA_H

#include <stddef.h>
#include <stdint.h>

#include "collector/records/ibs.h"
#include "collector/records/spe.h"
#include "proto/sample.h"

struct gus_aux_piece;
struct gus_event;
struct perf_event_mmap_page;

/* Of whom the words are. */
struct gus_area_cpus {
	struct gus_ibs_cpu ibs;
};
void gus_area_ask(struct gus_area_cpus *cpus);
/* MIDR_EL1 of that CPU, 0 where there is none. */
uint64_t gus_area_midr(unsigned cpu);

/* Takes apart what a sample of the event brings along. branch: room for one that it may get. The registers themselves
 * are left off then: the columns have them. */
void gus_area_decode(const struct gus_area_cpus *cpus, const struct gus_event *event, struct gus_sample *sample,
		     struct gus_branch *branch);

/* Where records of SPE are from. */
struct gus_area {
	const struct gus_aux_piece *piece; /* whose bytes they are */
	const struct perf_event_mmap_page *control; /* how ticks become time; NULL: all have the piece's time */
	uint64_t midr, period;
	/* The area belongs to a task. Else whose it is only a context says, which the kernel need not write. */
	bool task;
};

/* Gives each record that is whole as a sample, in their order. Returns how many. */
size_t gus_area_samples(const struct gus_area *area, const uint8_t *bytes, size_t size,
			void (*take)(struct gus_sample *sample, void *context), void *context,
			struct gus_spe_lost *lost);

#endif
