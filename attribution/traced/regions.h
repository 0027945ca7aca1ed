/* SPDX-License-Identifier: MIT */
/* The regions of a trace as a table: their order and what they are called. */
#ifndef GUS_ATTRIBUTION_TRACED_REGIONS_H
#define GUS_ATTRIBUTION_TRACED_REGIONS_H

#include <stddef.h>
#include <stdint.h>

struct gus_traced;

/* The numbers of those that were executed, by cycles, most first; of equal ones the lower number. The caller frees
 * it. */
uint32_t *gus_traced_order(const struct gus_traced *t, size_t *n);
/* "function", or "function, loop at +0x12". */
void gus_traced_region_name(const struct gus_traced *t, uint32_t region, char *out, size_t room);
/* The branch that ends a block: "file.c:12", else "function+0x34", else its address. */
void gus_traced_branch_name(const struct gus_traced *t, uint32_t block, char *out, size_t room);
/* Instructions of the longest thread, its warm-up included. */
uint64_t gus_traced_longest_thread(const struct gus_traced *t);

/* Half of the 95 % interval of what is told by stretches (stretches.h): of the nominal cycles, as a share of them; of
 * the speedup of any knob, the widest. 0 where all was timed. errors: by lane, as t and its regions have them. */
double gus_traced_cycles_error(double cycles, const double *errors);
double gus_traced_speedup_error(const struct gus_traced *t, const double *errors);

/* Executions of accesses and of branches, by what says where they hit, or whether they were mispredicted: what was
 * measured of them, caches and predictor, or nothing. */
struct gus_traced_rests { uint64_t measured, simulated, unknown; };
struct gus_traced_rests_of { struct gus_traced_rests accesses, branches; };
/* Of a region, or with GUS_TRACED_NONE of all. After the end. */
struct gus_traced_rests_of gus_traced_rests(const struct gus_traced *t, uint32_t region);

#endif
