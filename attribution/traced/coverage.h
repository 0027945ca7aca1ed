/* SPDX-License-Identifier: MIT */
/* How much of what was sampled a trace has executed: samples by region, and the functions that were sampled and never
 * traced; finder.h says which code is the same. The samples of a process say where its time goes, the trace only what
 * the windows met; the share that both have in common is what a model of the trace is about. */
#ifndef GUS_ATTRIBUTION_TRACED_COVERAGE_H
#define GUS_ATTRIBUTION_TRACED_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

struct gus_log;

struct gus_error;

struct gus_profile;
struct gus_reader;
struct gus_traced;

enum { GUS_COVERAGE_ELSEWHERE = 8 };

struct gus_coverage {
	uint64_t samples, covered;      /* all, and those at instructions that the trace has executed */
	uint64_t *by_region;            /* of them, by the trace's region; their sum is covered */
	uint64_t *by_insn;              /* and by instruction of the trace's program; likewise */
	uint64_t *weights;              /* by region, in the event's unit */
	uint64_t weight, covered_weight, kernel_weight; /* kernel: of what is not covered */
	uint64_t kernel;                /* samples of the kernel, in no region */
	double weight2;                 /* sum of squared periods of all samples */
	/* Functions with samples that no window has, the most samples first: code that an emulator's CPU would not
	 * take, for one, such as the AVX-512 variants of a libc. */
	struct gus_coverage_function {
		char name[128];         /* "function [module]" */
		uint64_t samples;
	} elsewhere[GUS_COVERAGE_ELSEWHERE];
	size_t elsewhere_n;
};

/* Nothing so far. The trace has ended (gus_traced_end), and lasts longer. Freed with gus_coverage_free. */
void gus_coverage_init(struct gus_coverage *c, const struct gus_traced *t);
/* Adds the samples of a profile. Of several recordings, elsewhere has what was among the first of each. */
void gus_coverage_add(struct gus_coverage *c, struct gus_traced *t, const struct gus_profile *profile);
/* Both, of all samples of a recording, which is read to its end. -1 with err if the recording cannot be read; freed
 * with gus_coverage_free in any case. */
int gus_coverage_load(struct gus_coverage *c, struct gus_traced *t, struct gus_reader *reader,
		      const struct gus_log *log, struct gus_error *err);
void gus_coverage_free(struct gus_coverage *c);

#endif
