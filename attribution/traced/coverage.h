/* SPDX-License-Identifier: MIT */
/* How much of what was sampled a trace has executed: samples by region, and the functions that were sampled and never
 * traced. Code of files is the same if its file and offset are. Code that a process made for itself is where the
 * recording says that it was at the time of the trace: at an address that has other code by then, a sample is of that.
 * The samples of a process say where its time goes, the trace only what the windows met; the share that both
 * have in common is what a model of the trace is about. */
#ifndef GUS_ATTRIBUTION_TRACED_COVERAGE_H
#define GUS_ATTRIBUTION_TRACED_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

struct gus_log;

struct gus_error;

struct gus_reader;
struct gus_traced;

enum { GUS_COVERAGE_ELSEWHERE = 8 };

struct gus_coverage {
	uint64_t samples, covered;      /* all, and those at instructions that the trace has executed */
	uint64_t *by_region;            /* of them, by the trace's region; their sum is covered */
	/* Functions with samples that no window has, the most samples first: code that an emulator's CPU would not
	 * take, for one, such as the AVX-512 variants of a libc. */
	struct gus_coverage_function {
		char name[128];         /* "function [module]" */
		uint64_t samples;
	} elsewhere[GUS_COVERAGE_ELSEWHERE];
	size_t elsewhere_n;
};

/* Of all samples of a recording, which is read to its end. The trace has ended (gus_traced_end). -1 with err if the
 * recording cannot be read; freed with gus_coverage_free in any case. */
int gus_coverage_load(struct gus_coverage *c, struct gus_traced *t, struct gus_reader *reader,
		      const struct gus_log *log, struct gus_error *err);
void gus_coverage_free(struct gus_coverage *c);

#endif
