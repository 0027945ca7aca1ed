/* SPDX-License-Identifier: MIT */
/* A pass over the records of a perf.data file, in its order: what is asked for of side band, samples, switches and data
 * beside comes as frames of a recording of ours; what nobody asked for is stepped over.
 *
 * What kernel and perf have written goes through the decoder of our own recorder (collector/records), with a layout for
 * each event, so that a field means the same wherever it comes from. On top of that stand here: which of the registers
 * are ours, times where records have none, build ids that stand in the header instead of the mappings.
 *
 * When a record is from that does not say so (written by a kernel before 2.6.36, or without sample_id_all): perf gives
 * it out at once, behind all samples of the rounds before, and so it is dated here. Where samples have no time either,
 * all are dated by their place in the file. */
#ifndef GUS_COLLECTOR_PERFDATA_PASSES_H
#define GUS_COLLECTOR_PERFDATA_PASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "collector/perfdata/auxtrace.h"
#include "collector/perfdata/describe.h"
#include "collector/perfdata/samples.h"
#include "collector/records/records.h"
#include "proto/reader.h"

struct gus_perfdata;

/* The first of them follow from the survey, and are set before the first pass. */
struct gus_perfdata_passes {
	const char *name;               /* of the file, for messages; borrowed */
	uint64_t size;                  /* of the file */
	struct gus_perfdata *file;
	struct gus_records records;     /* layouts and ids of the events */
	struct gus_perfdata_builds builds;
	struct gus_perfdata_aux aux;
	struct gus_perfdata_samples takes;
	const Gusprof__Header *header;  /* borrowed */
	const Gusprof__Footer *footer;  /* borrowed */
	bool timeless;                  /* no sample has a time */
	bool undated;                   /* there are records that do not say when they were written */
	/* Of the pass at hand. */
	int phase;
	struct gus_sideband sideband;
	struct gus_columns samples, switches;
	struct gus_vec(uint8_t) packed; /* the message of the frame that was given last */
	struct gus_columns *given;      /* what has to be emptied before the next record */
	bool beside;                    /* there is more of what stands beside the last record */
	uint64_t number;                /* of the record, from 1 */
	uint64_t latest, before, flushed; /* times: of any sample, up to the last round, and to the one before that */
	uint64_t offset, sequence;      /* of frames */
	uint64_t told_bad, told_skipped; /* damage */
};

/* The next frame of these types, as a reader gives them. */
enum gus_read gus_perfdata_passes_next(struct gus_perfdata_passes *p, uint32_t types, struct gus_frame *frame,
				       struct gus_error *err);
/* Another pass, from the beginning. */
void gus_perfdata_passes_rewind(struct gus_perfdata_passes *p);
/* Closes its file, too. */
void gus_perfdata_passes_free(struct gus_perfdata_passes *p);

#endif
