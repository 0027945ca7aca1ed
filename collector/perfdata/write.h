/* SPDX-License-Identifier: MIT */
/* Records of a perf.data file, out of values: the inverse of collector/records. Little-endian, whatever machine this
 * is. Pure: bytes are appended to what the caller has.
 *
 * All events of a file that is written have PERF_SAMPLE_IDENTIFIER, so that each may bring along something else: whose
 * a record is stands at the same place of all. Ids are given anew, as the kernel's were of its open files. */
#ifndef GUS_COLLECTOR_PERFDATA_WRITE_H
#define GUS_COLLECTOR_PERFDATA_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/gusprof.pb-c.h"

struct gus_bytes;
struct gus_records_layout;
struct gus_sample;
struct gus_switch;

/* What a sample has for which perf's records have no place, by kinds: each counts samples. */
enum gus_perfdata_unfit {
	GUS_PERFDATA_UNFIT_CALLERS,     /* how its callers were found, and where they end */
	GUS_PERFDATA_UNFIT_PSV,         /* TEA's events, which whoever reads it has to work out again */
	GUS_PERFDATA_UNFIT_LATENCIES,   /* cycles to issue, for translation, and from completion to retirement */
	GUS_PERFDATA_UNFIT_LARGE,       /* cycles that stop at what its field holds */
	GUS_PERFDATA_UNFIT_TOLD,        /* that an address or a latency of 0 was, or was not, told */
	GUS_PERFDATA_UNFIT_STACK,       /* the end of its copy of the stack, beyond a record's 64 KiB */
	GUS_PERFDATA_UNFIT_CHAIN,       /* its outermost callers likewise */
	GUS_PERFDATA_UNFIT_BRANCHES,    /* its oldest branches likewise */
	GUS_PERFDATA_UNFIT_EXTRAS,      /* what it brought along likewise, or because it is not as its event says */
	GUS_PERFDATA_UNFITS,
};

/* The id of an event in a file that is written. There are several of an event's where its samples bring counts along:
 * one for each counter that the kernel had for it (proto/sample.h, GUS_EXTRA_COUNTS). */
uint64_t gus_perfdata_id(uint32_t event, uint32_t which);

/* How an event's records look: begun with what all have, fitted to each of its samples, and settled in the end, as some
 * fields exclude each other. Other records than samples look as the first event says, which is fitted to the CPU of
 * each of them; UINT32_MAX is one that was not told. */
struct gus_records_layout gus_perfdata_layout(const Gusprof__Header *header, uint32_t event);
void gus_perfdata_fit(struct gus_records_layout *layout, const struct gus_sample *s, const char *machine);
void gus_perfdata_fit_cpu(struct gus_records_layout *layout, uint32_t cpu);
void gus_perfdata_settle(struct gus_records_layout *layout);

/* Calls take for each counter that is named in the counts that the sample brought along, as they stand there. */
void gus_perfdata_counters(const struct gus_sample *s, uint64_t read_format,
			   void (*take)(void *context, uint64_t counter), void *context);

/* Each appends one record. What of the sample does not fit is left out, and counted by its kind in unfit. */
void gus_perfdata_put_sample(struct gus_bytes *out, const struct gus_records_layout *layout, const struct gus_sample *s,
			     uint64_t unfit[GUS_PERFDATA_UNFITS]);
void gus_perfdata_put_switch(struct gus_bytes *out, const struct gus_records_layout *layout,
			     const struct gus_switch *sw);
/* False, and nothing: perf has no record of that kind, or its text is longer than a record. What was kept of another
 * file (Gusprof__Kept) has to be of one whose bytes stand in this order. */
bool gus_perfdata_put_record(struct gus_bytes *out, const struct gus_records_layout *layout,
			     const Gusprof__Record *record, uint32_t events);
/* Nothing that is earlier than what was written before comes behind this. */
void gus_perfdata_put_round(struct gus_bytes *out);

#endif
