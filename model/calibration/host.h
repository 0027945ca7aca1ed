/* SPDX-License-Identifier: MIT */
/* Who runs microbenchmarks: this machine, or one that is simulated. The fits ask it and know nothing else of it. */
#ifndef GUS_MODEL_CALIBRATION_HOST_H
#define GUS_MODEL_CALIBRATION_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/insn/insn.h"

struct gus_error;
struct gus_micro;

/* What is wrong with a time. */
enum gus_micro_trouble {
	GUS_MICRO_NOISY = 1,           /* fewer than a quarter of its samples are within 1 % of the least */
	GUS_MICRO_BISTABLE = 2,        /* samples gather at two times that are more than 2 % apart */
	GUS_MICRO_MOVED = 4,           /* the thread changed its CPU, or the clock its pace, and no sample was left */
	GUS_MICRO_FAULT = 8,           /* it did not come back: killed by a signal, or stopped; there is no time */
	GUS_MICRO_BESIDE = 16,         /* another thread of the core was busy beside all of its samples */
};

/* Cycles of the core, a pass: of all passes but the warm ones. */
struct gus_micro_time {
	double cycles;                  /* the least that was seen undisturbed, which is the figure */
	double median, high;            /* of the samples; high: three quarters are below */
	uint32_t samples, kept;         /* kept: those that were not disturbed */
	uint32_t trouble;               /* enum gus_micro_trouble */
	const char *fault;              /* with GUS_MICRO_FAULT: what it did, a constant phrase */
};

struct gus_calibration_host {
	void *context;
	enum gus_isa isa;
	uint64_t arena_most;            /* bytes of memory that a microbenchmark may ask for */
	uint64_t arena_most_huge;       /* the same of 2 MiB pages; 0: there are none */
	/* Features of the CPU beyond the ISA's base. */
	bool avx2, fma, avx512;
	/* Whether it can be waited for: cycles that it runs a second, about. A simulated one is slow. */
	double cycles_a_second;
	/* Runs microbenchmarks, in turns if there are several, so that what disturbs one disturbs all. -1 with err. */
	int (*run)(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
		   struct gus_error *err);
};

/* No CPU that runs programs is as slow. Nothing disturbs it, and a cycle costs more than a measurement. */
static inline bool gus_calibration_host_is_simulated(const struct gus_calibration_host *host)
{
	return host->cycles_a_second < 1e8;
}

#endif
