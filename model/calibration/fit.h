/* SPDX-License-Identifier: MIT */
/* The fits: each makes microbenchmarks, has them run by the host, and puts what it finds into a struct gus_fit. They
 * start from the nearest table and correct it; none looks at anything of the host but times. */
#ifndef GUS_MODEL_CALIBRATION_FIT_H
#define GUS_MODEL_CALIBRATION_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_calibration_host;
struct gus_error;
struct gus_fit;
struct gus_uarch;

/* How much of it: quick has what most figures rest on, in less than 30 s on a real machine; full all, under 5 min. */
enum gus_calibration_depth { GUS_CALIBRATION_QUICK, GUS_CALIBRATION_FULL };

/* An instruction of somebody's program, whose form is to be measured. */
struct gus_calibration_insn {
	const uint8_t *bytes;
	uint32_t size;
	double weight;                  /* how much it matters; the heaviest are measured first */
};

struct gus_calibration {
	const struct gus_calibration_host *host;
	const struct gus_uarch *nearest;
	enum gus_calibration_depth depth;
	const struct gus_calibration_insn *insns;       /* the forms of a recording; n 0: the classes of our own list */
	size_t insns_n;
	/* Told now and then: what is being measured, and how much of this fit is done, 0 to 1. May be NULL. */
	void (*progress)(void *context, const char *what, double done);
	void *progress_context;
};

/* -1 with err: the host could not run something. What can't be told is a figure without confidence, and no error. */
/* Latency, throughput and ports of instructions. */
int gus_fit_forms(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err);
/* Issue, retirement, decoders, uop cache, loop buffer. */
int gus_fit_front(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err);
/* Reorder buffer, schedulers, load and store buffers, register files. */
int gus_fit_window(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err);
/* Mispredictions, forwarding, aliases, split lines and pages. */
int gus_fit_penalties(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err);
/* Caches and TLBs: sizes, latencies, bandwidths, misses in flight, prefetching. */
int gus_fit_memory(const struct gus_calibration *c, struct gus_fit *f, struct gus_error *err);

#endif
