/* SPDX-License-Identifier: MIT */
/* What recordings say of the regions of a trace: of one recording, or of several of the same command, which are added
 * up.
 *
 * Time that samples tell has what taking them cost in it: a clock goes on while the kernel takes one, which is 12 us in
 * some VMs. It is so much of any time, wherever it is spent, and the recording knows how much, so it is taken off here;
 * as what a sample costs was found out before the run, a quarter of it more or less is in the bounds. */
#ifndef GUS_ATTRIBUTION_COMPARED_MEASURED_H
#define GUS_ATTRIBUTION_COMPARED_MEASURED_H

#include "attribution/compared/trust.h"
#include "attribution/profile/units.h"
#include "attribution/statistics/series.h"
#include "attribution/traced/coverage.h"
#include "proto/gusprof.pb-c.h"

struct gus_error;
struct gus_log;
struct gus_reader;
struct gus_traced;

struct gus_measured {
	unsigned runs;
	struct gus_coverage coverage;   /* of all runs together */
	/* Of its weight, without what the samples cost. Of several runs bounds are the medians of theirs: where a clock
	 * was timed while something else had the core it looks slower than it was. */
	struct gus_scale time, cycles;
	struct gus_series lows, highs;  /* cycles of a unit of weight, by run */
	struct gus_interval clock;      /* their medians, as they were recorded */
	double cost;                    /* share of the time that was taken off, the mean of the runs */
	/* Cycles of a round of a loop with nothing in it, before and behind each run of a command, where it was
	 * timed. */
	struct gus_series rounds;
	struct gus_series covered;      /* weight in the trace's regions, by run */
	double unsampled;               /* weight for which no sample stands */
	/* Instructions by region, where the recordings have counted them, too; else NULL. */
	double *instructions;
	/* Of the first: its event, its machine ... */
	char *event;
	bool skids;                     /* samples of it stand behind the instruction that they are about */
	Gusprof__Host *host;            /* NULL: it does not say */
	Gusprof__Frequency *frequency;  /* likewise; the rule by which cycles follow from time is its */
	/* A file that is another one than was traced, by build ids: its path; NULL: none is. */
	char *other;
};

/* The trace has ended, and lasts longer. Freed with gus_measured_free. */
void gus_measured_init(struct gus_measured *m, const struct gus_traced *t);
/* Adds a recording, which is read to its end. -1 with err. */
int gus_measured_add(struct gus_measured *m, struct gus_traced *t, struct gus_reader *reader, const struct gus_log *log,
		     struct gus_error *err);
/* At which of these the core was not ours alone. least: what a round takes then; if they took less, it is that. */
struct gus_looks gus_measured_looks(const struct gus_measured *m, double least);
void gus_measured_free(struct gus_measured *m);

#endif
