/* SPDX-License-Identifier: MIT */
/* Samples as perf's files have them, on their way to samples as recordings of ours have them: registers of ours,
 * callers in the chain, words of hardware's in the columns that all vendors share, and of a sample with the counts of a
 * group one for each member. Everything else of them is what the kernel wrote (collector/records). */
#ifndef GUS_COLLECTOR_PERFDATA_SAMPLES_H
#define GUS_COLLECTOR_PERFDATA_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "base/limits.h"
#include "proto/gusprof.pb-c.h"
#include "proto/sample.h"

struct gus_perfdata_attr;

/* Whose words an event's samples bring along. */
enum gus_perfdata_words { GUS_PERFDATA_NO_WORDS, GUS_PERFDATA_DATA_SOURCE, GUS_PERFDATA_IBS_OP,
			  GUS_PERFDATA_IBS_FETCH };

/* What of the events' attributes each sample needs. */
struct gus_perfdata_event {
	uint64_t period;                /* of samples that do not say theirs */
	bool has_period;
	bool own_chain;                 /* its user's callers are in the chain, and are not to be found */
	bool calls;                     /* its branches are the calls that have not returned (LBR's call stack) */
	bool counts;                    /* its samples bring counts along: PERF_SAMPLE_READ */
	bool by_thread;                 /* which are each thread's own */
	uint64_t read_format;
	enum gus_perfdata_words words;
	uint8_t regs_n;                 /* ours; 0: not all of them are there */
	uint8_t regs[33];               /* where each stands among those that a sample has */
};

struct gus_perfdata_samples {
	const Gusprof__Host *host;      /* borrowed */
	struct gus_vec(struct gus_perfdata_event) events;
	bool grouped;                   /* of some samples there are more than records */
	uint64_t file_size;             /* bytes of the file, by which work is bounded */
	struct gus_budget members;      /* entries of samples that may be made of counts */
	uint64_t left_out;              /* of these, for want of that */
	struct gus_index counters;      /* by counter and thread ... */
	struct gus_vec(uint64_t) last;  /* ... what it was when it was read last */
	struct gus_vec(uint64_t) regs, chain; /* of the sample at hand */
	struct gus_extras extras;
};

/* host must outlive it. */
void gus_perfdata_samples_init(struct gus_perfdata_samples *t, const Gusprof__Host *host, uint64_t file_size);
void gus_perfdata_samples_free(struct gus_perfdata_samples *t);
/* The next event; pmu: the name of its type, "" if that is not known. */
void gus_perfdata_samples_event(struct gus_perfdata_samples *t, const struct gus_perfdata_attr *a, const char *pmu);
/* Before the first sample of a pass. */
void gus_perfdata_samples_rewind(struct gus_perfdata_samples *t);
/* Adds what the sample becomes to the rows: one, or none or several of a group. It is changed. */
void gus_perfdata_samples_take(struct gus_perfdata_samples *t, struct gus_sample *s, struct gus_columns *rows);

#endif
