/* SPDX-License-Identifier: MIT */
/* Traces that are written step by step, and what attribution/traced makes of them. */
#ifndef GUS_TESTS_UNIT_MADE_TRACE_H
#define GUS_TESTS_UNIT_MADE_TRACE_H

#include "attribution/traced/traced.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"
#include "proto/trace.h"

struct made_trace {
	int fd;
	struct gus_trace_writer *w;
	struct gus_vec(struct gus_trace_raw) steps;
	struct gus_vec(struct gus_trace_access) accesses;
};

void made_trace_begin(struct made_trace *m, const char *target);
/* Its number. */
uint32_t made_trace_block(struct made_trace *m, uint64_t address, const uint8_t *bytes, const uint8_t *lengths,
			  uint32_t size, uint32_t insns);
void made_trace_step(struct made_trace *m, uint32_t block, uint32_t accesses_n);
void made_trace_load(struct made_trace *m, uint64_t address, uint16_t insn);
/* What was added is of this stream. */
void made_trace_flush(struct made_trace *m, uint32_t stream);
struct gus_trace *made_trace_end(struct made_trace *m);

/* Skylake with caches whose answers are simple, least recently used and without prefetchers. */
struct made_model {
	struct gus_uarch *u;
	struct gus_core_config core;
	struct gus_cache_config caches;
	struct gus_branch_config predictor;
	struct gus_traced_options options;
	struct gus_traced t;
};

void made_model_begin(struct made_model *s);
void made_model_read(struct made_model *s, struct gus_trace *trace);
void made_model_end(struct made_model *s);
/* Of one trace, all of it. */
void made_model_run(struct made_model *s, struct made_trace *m);
void made_model_free(struct made_model *s);

#endif
