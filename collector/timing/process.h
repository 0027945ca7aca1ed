/* SPDX-License-Identifier: MIT */
/* The process that executes microbenchmarks, as seen by us: begun, given orders, watched, ended. */
#ifndef GUS_COLLECTOR_TIMING_PROCESS_H
#define GUS_COLLECTOR_TIMING_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/timing/job.h"

struct gus_error;
struct gus_shared;

struct gus_timing_process {
	struct gus_shared *shared;
	uint8_t *code;          /* where we write it; the other process may only execute it */
	int code_fd;
	pid_t pid;              /* 0: it is not there */
	int channel;
	unsigned orders;        /* that it has carried out */
	int cpu;
	bool counter;
	double ticks_hz;
};

/* Memory for both; no process yet. -1 with err. */
int gus_timing_process_open(struct gus_timing_process *p, struct gus_error *err);
void gus_timing_process_close(struct gus_timing_process *p);

/* Begins it, if it isn't there: -1 with err. */
int gus_timing_process_begin(struct gus_timing_process *p, struct gus_error *err);
/* Ends it, if it is there: what it said was no sense. */
void gus_timing_process_end(struct gus_timing_process *p);

/* CPU time that a job may take in an order, if most_ns are to be spent on it: far more than any takes. */
uint64_t gus_timing_process_ns(const struct gus_timing_job *job, uint64_t most_ns);

/* Has it do what is in shared. If it doesn't come back, it is not there any more, and why is here; at: the job that it
 * had in hand as it says itself, which may be any number. */
struct gus_timing_death {
	enum gus_timing_fault fault;
	int signal;
	bool innocent;          /* it may be nothing that a job of this order did: it was dead before, had carried out
				 * others, of which one may have broken it, or the PMU was taken from it */
	uint64_t cpu_limit;     /* it had all the CPU time that a process may have here, in seconds; 0: it had not */
	uint32_t at;
	bool executed;          /* it said that foreign code ran */
};
/* jobs: how many of shared; most_ns: of all of them, as gus_timing_process_ns says. */
void gus_timing_process_order(struct gus_timing_process *p, size_t jobs, uint64_t most_ns,
			      struct gus_timing_death *death);
/* Says so of a process that died of it; -1. */
int gus_timing_process_blame_limit(uint64_t seconds, struct gus_error *err);

#endif
