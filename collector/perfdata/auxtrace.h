/* SPDX-License-Identifier: MIT */
/* What a perf.data file holds beside its records: the buffers that SPE, Intel PT, CoreSight and others have filled.
 * SPE's become samples; of all others it is known what they are and how much of them there is. */
#ifndef GUS_COLLECTOR_PERFDATA_AUXTRACE_H
#define GUS_COLLECTOR_PERFDATA_AUXTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "collector/records/spe.h"
#include "proto/gusprof.pb-c.h"

struct gus_error;
struct gus_perfdata;
struct gus_perfdata_record;
struct gus_columns;

/* A CPU of a machine that has several kinds of them. */
struct gus_perfdata_core { uint32_t cpu; uint64_t midr; };

/* The event of data that are no event's. */
#define GUS_PERFDATA_AUX_NOBODY UINT32_MAX

struct gus_perfdata_aux {
	bool big_endian;
	uint32_t kind;                  /* PERF_AUXTRACE_* of perf's AUXTRACE_INFO; 0: not told */
	/* perf_event_attr.type of the events that have filled them, if it is told; 0: not */
	uint32_t pmu;
	struct gus_vec(struct gus_perfdata_core) cores; /* which of them have which CPU's numbers */
	uint64_t pieces, bytes;
	/* From ticks of the counter to ns, as the file says it (perf_event_mmap_page, time_*). */
	bool timed;
	uint16_t shift;
	uint32_t mult;
	uint64_t zero;
	/* Of SPE: what its samples are of, which is set before the first pass, ... */
	uint32_t event;
	uint64_t period, midr;          /* midr: of all CPUs, if `cores` has none; 0: not known */
	struct gus_index threads;       /* ... which threads are ... */
	struct gus_vec(uint32_t) processes; /* ... of which process, by slot, ... */
	uint64_t samples;               /* ... how many of them came in this pass, and what did not */
	struct gus_spe_lost lost;
	/* The piece at hand. */
	Gusprof__Aux piece;
	uint64_t at, left;              /* in the file */
	struct gus_vec(uint8_t) window;
	size_t used;
};

void gus_perfdata_aux_init(struct gus_perfdata_aux *a, bool big_endian);
/* Takes in what AUXTRACE_INFO and TIME_CONV say, and counts pieces. */
void gus_perfdata_aux_note(struct gus_perfdata_aux *a, const struct gus_perfdata_record *r);
/* Takes in which process a thread is of, which only samples of SPE have to be told: they bring along a number. */
void gus_perfdata_aux_hear(struct gus_perfdata_aux *a, const struct gus_perfdata_record *r);
/* "intel-pt": of what kind the file's is. */
const char *gus_perfdata_aux_kind(const struct gus_perfdata_aux *a);
bool gus_perfdata_aux_is_spe(const struct gus_perfdata_aux *a);

/* Begins with a piece: what stands beside an AUXTRACE record. */
void gus_perfdata_aux_begin(struct gus_perfdata_aux *a, const struct gus_perfdata_record *r);
/* Some more of it as a message, whose bytes live until the next call. 1; 0: there is none left; -1: err. */
int gus_perfdata_aux_next(struct gus_perfdata_aux *a, struct gus_perfdata *file, Gusprof__Aux *out,
			  struct gus_error *err);
/* The same for what is of SPE: its records as samples, until there are `most` rows, or none are left. number: what
 * stands for their time in a recording without times; 0: it has such. 1 if there may be more, 0, -1 likewise. Without
 * an event there are none. */
int gus_perfdata_aux_samples(struct gus_perfdata_aux *a, struct gus_perfdata *file, uint64_t number, size_t most,
			     struct gus_columns *rows, struct gus_error *err);
/* Before the first piece of a pass. */
void gus_perfdata_aux_rewind(struct gus_perfdata_aux *a);
void gus_perfdata_aux_free(struct gus_perfdata_aux *a);

#endif
