/* SPDX-License-Identifier: MIT */
/* Which capacity holds a piece of code up: the time of machines that have a little more of one thing each, by the
 * stream engine. Speedup is T/T' - 1 everywhere, as in the Gus papers. */
#ifndef GUS_MODEL_ANALYSIS_SENSITIVITY_H
#define GUS_MODEL_ANALYSIS_SENSITIVITY_H

#include "model/stream/stream.h"

struct gus_core_config;
struct gus_error;
struct gus_program;

struct gus_sensitivity {
	struct gus_knob knob;
	char name[64];          /* "ports p23", "latency fp_fma", "load latency", "reorder buffer" */
	double speedup;         /* T/T' - 1 */
};

/* "p23" of Intel's ports, "alu0+alu1" of others. */
void gus_sensitivity_group_name(const struct gus_program *p, uint64_t ports, char *out, size_t room);

/* All knobs that could matter to the program, in the order of the table, their speedups 0; with those of caches and
 * TLBs if memory, of mispredictions if branch; ports by the numbers in groups. Returns how many; the caller frees
 * *out. */
int gus_sensitivity_list(const struct gus_program *p, const struct gus_stream_resources *groups,
			 const struct gus_core_config *c,
			 bool memory, bool branch, double weight, struct gus_sensitivity **out);
/* By speedup, largest first; equal ones stay in their order. */
void gus_sensitivity_sort(struct gus_sensitivity *v, size_t n);

/* All knobs that could matter to the program, each turned to weight (1.15: 15 % more), by speedup, largest first; equal
 * ones in the order of the table. Returns how many, -1 with err. The caller frees *out. nominal: cycles an
 * iteration. */
int gus_sensitivity_run(const struct gus_program *p, const struct gus_core_config *c,
			const struct gus_stream_options *o,
			double weight, struct gus_sensitivity **out, double *nominal, struct gus_error *err);

/* Balanced code gains from nothing alone. A small set of the knobs of gus_sensitivity_run that still gives target (a
 * speedup; 0: nearly all that there is): all of them are turned, and then those are turned back, one after another,
 * that are missed least. Fills set with numbers of knobs in the order of the table, of which there is room for n, and
 * the set's own speedup and that of all. Returns how many; 0 if even all of them do not reach target; -1 with err. */
int gus_sensitivity_set(const struct gus_program *p, const struct gus_core_config *c,
			const struct gus_stream_options *o,
			const struct gus_sensitivity *knobs, int n, double target, int *set, double *speedup,
				double *all, struct gus_error *err);

#endif
