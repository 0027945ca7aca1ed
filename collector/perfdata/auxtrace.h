/* SPDX-License-Identifier: MIT */
/* What a perf.data file holds beside its records: the buffers that SPE, Intel PT, CoreSight and others have filled.
 * SPE's become samples; of all others it is known what they are and how much of them there is. */
#ifndef GUS_COLLECTOR_PERFDATA_AUXTRACE_H
#define GUS_COLLECTOR_PERFDATA_AUXTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "collector/records/spe.h"
#include "proto/gusprof.pb-c.h"

struct gus_error;
struct gus_perfdata;
struct gus_perfdata_record;
struct gus_sample;

/* A CPU of a machine that has several kinds of them. */
struct gus_perfdata_core { uint32_t cpu; uint64_t midr; };

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
	/* Of SPE. */
	uint64_t samples;               /* that came of it */
	struct gus_spe_lost lost;
	/* The piece at hand. */
	Gusprof__Aux piece;
	uint64_t at, left;              /* in the file */
	struct gus_vec(uint8_t) window;
	size_t used;
};

/* Takes in what AUXTRACE_INFO and TIME_CONV say, and counts pieces. */
void gus_perfdata_aux_note(struct gus_perfdata_aux *a, const struct gus_perfdata_record *r);
/* "intel-pt": of what kind the file's is. */
const char *gus_perfdata_aux_kind(const struct gus_perfdata_aux *a);
bool gus_perfdata_aux_is_spe(const struct gus_perfdata_aux *a);

/* MIDR_EL1 of the CPU whose piece is at hand; `otherwise` if the file does not tell those of each. */
uint64_t gus_perfdata_aux_midr(const struct gus_perfdata_aux *a, uint64_t otherwise);

/* Begins with a piece: what stands beside an AUXTRACE record. */
void gus_perfdata_aux_begin(struct gus_perfdata_aux *a, const struct gus_perfdata_record *r);
/* Some more of it as a message, whose bytes live until the next call. 1; 0: there is none left; -1: err. */
int gus_perfdata_aux_next(struct gus_perfdata_aux *a, struct gus_perfdata *file, Gusprof__Aux *out,
			  struct gus_error *err);
/* The next record of SPE in it, whole. 1, 0, -1 likewise. */
int gus_perfdata_aux_record(struct gus_perfdata_aux *a, struct gus_perfdata *file, struct gus_spe_record *out,
			    struct gus_error *err);
/* Nanoseconds of the recording's clock; 0 if the file does not say how to come to them. */
uint64_t gus_perfdata_aux_time(const struct gus_perfdata_aux *a, uint64_t ticks);
void gus_perfdata_aux_free(struct gus_perfdata_aux *a);

#endif
