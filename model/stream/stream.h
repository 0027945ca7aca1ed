/* SPDX-License-Identifier: MIT */
/* The stream engine: Gus (section 3.1 and Algorithm 1 of "Performance bottlenecks detection through
 * microarchitectural sensitivity"). It takes instructions one by one and keeps for each resource, register and recent
 * memory word the earliest time at which it is available; each instruction raises some of them. There are no cycles,
 * so it is quick, and times are additive, so that many machines that differ in capacities alone can be run in one
 * pass: a time is a vector, one lane a machine.
 *
 * What memory and branches do (the two oracles of the core engine) is the same for all lanes, only the times are not.
 *
 * Ports are conjunctive resources: a uop on p01 uses p01, p015, p0156 and each other group that holds its ports, a
 * group of n ports for 1/n of a cycle; the buses between the levels of the caches and the page walkers are resources
 * alike. The windows (reorder buffer, load and store buffers, reservation station, miss buffers) are rings of the
 * times at which their entries are given back.
 *
 * Times are ticks of 1/5040 cycle in 32 bits, taken down together before they overflow, so that a run of any length
 * is exact; 5040 has all divisors that groups of ports need up to ten. */
#ifndef GUS_MODEL_STREAM_STREAM_H
#define GUS_MODEL_STREAM_STREAM_H

#include "model/stream/types.h"

struct gus_op_steps;
struct gus_core_config;
struct gus_error;
struct gus_program;

/* The groups of ports of a program. */
void gus_stream_resources_of(const struct gus_program *p, struct gus_stream_resources *r);
/* And those of its uops from first_uop on; what is there keeps its number. */
void gus_stream_resources_add(const struct gus_program *p, uint32_t first_uop, struct gus_stream_resources *r);

/* -1 with err if it cannot be run. Deterministic, and lane k of many is the same to the tick as lane 0 of a run of its
 * own. */
int gus_stream_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		   struct gus_stream_result *r, struct gus_error *err);

/* Fed. */

struct gus_stream_engine;
/* The options' lanes, groups and log count, nothing else. The program (model/code/growing.h), configuration and all
 * that the options point to are borrowed. NULL with err. */
struct gus_stream_engine *gus_stream_open(const struct gus_program *p, const struct gus_core_config *c,
					  const struct gus_stream_options *o, struct gus_error *err);
void gus_stream_close(struct gus_stream_engine *e);
/* Runs all lanes through the steps; times, of as many, may be NULL. */
void gus_stream_feed(struct gus_stream_engine *e, const struct gus_op_steps *feed, struct gus_stream_times *times);
/* Cycles so far, by lane; of a region: cycles from the retirement of what was before to that of its own. All regions
 * add up to the whole, to the tick. */
void gus_stream_cycles(const struct gus_stream_engine *e, double cycles[GUS_STREAM_LANES]);
void gus_stream_region_cycles(const struct gus_stream_engine *e, uint32_t region, double cycles[GUS_STREAM_LANES]);
/* Likewise of an op, on the nominal machine: as a sampler that waits for what retires next would see it. */
double gus_stream_op_cycles(const struct gus_stream_engine *e, uint32_t op);
/* Knobs of the lanes that turn ports, units or latencies are others from here on: what they point to was changed. */
void gus_stream_turn_again(struct gus_stream_engine *e);

/* The same in doubles, one machine at a time and written plainly: what the engine is held against. Without a source and
 * without oracles. */
int gus_stream_reference(const struct gus_program *p, const struct gus_core_config *c,
			 const struct gus_stream_options *o, struct gus_stream_result *r, struct gus_error *err);

#endif
