/* SPDX-License-Identifier: MIT */
/* What the samples of a recording say of instructions, added up: how often each was seen when time was sampled; how
 * often it was executed, as branch stacks or samples of executions have it; what these executions met, and how long
 * they took to retire. Addresses are those of the traces that a model ran (groups.h): whoever adds samples finds out
 * which these are. */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_SEEN_H
#define GUS_ATTRIBUTION_PROPORTIONAL_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/proportional/groups.h"
#include "base/alloc.h"
#include "base/index.h"

struct gus_sample;

/* Of time. behind: the branch before it was mispredicted and led there. */
struct gus_seen_place { uint64_t address; bool behind; uint64_t samples; double weight; };
/* What was executed from `from` to the branch at `to`: so often in each cycle of all samples' time, added up. */
struct gus_seen_range { uint64_t from, to; double rate; };
/* Executions that met psv, of the events in `known` (proto/psv.h). */
struct gus_seen_execution { uint64_t address; uint16_t psv, known; uint64_t samples; };
/* Executions whose retire latency is told: those that were the first to retire in their cycle, and the cycles that had
 * gone by without any before. */
struct gus_seen_retired { uint64_t address; uint64_t samples, heads, waited; };

struct gus_seen {
	struct gus_index by_place, by_range, by_execution, by_retired;
	struct gus_vec(struct gus_seen_place) places;
	struct gus_vec(struct gus_seen_range) ranges;
	struct gus_vec(struct gus_seen_execution) executions;
	struct gus_vec(struct gus_seen_retired) retired;
	uint64_t time, stacks, executed, told;  /* samples of each */
	double weight;                          /* of those of time */
};

/* As addresses of the traces; 0: not known. */
typedef uint64_t gus_seen_map(void *context, const struct gus_sample *s, uint64_t address);

void gus_seen_init(struct gus_seen *s);
void gus_seen_free(struct gus_seen *s);
/* A sample of time at an address; and the branches that it brought along, if these tell cycles. */
void gus_seen_time(struct gus_seen *s, const struct gus_sample *sample, uint64_t address, gus_seen_map *map,
		   void *context);
/* A sample of an execution, each being as likely as any other. */
void gus_seen_execution(struct gus_seen *s, const struct gus_sample *sample, uint64_t address);

/* As shares of what was seen, by site of a model; appended. Of what has no site the share is returned. */
struct gus_seen_counts gus_vec(struct gus_site_count);
/* Executions by branch stacks: a cycle. */
void gus_seen_ranges(const struct gus_seen *s, const struct gus_groups *g, struct gus_seen_counts *out);
/* Executions by samples of them: of so many instructions a cycle. Each op is as likely as any other, of which an
 * instruction may have several, or (ops false) each instruction, of which two may be one op. */
double gus_seen_executions(const struct gus_seen *s, const struct gus_groups *g, bool ops, double ipc,
			   struct gus_seen_counts *out);
/* Heads of groups, and cycles waited before them, a cycle, where so many instructions are executed in one. */
void gus_seen_retired(const struct gus_seen *s, const struct gus_groups *g, double ipc, struct gus_seen_counts *heads,
		      struct gus_seen_counts *waited);

#endif
