/* SPDX-License-Identifier: MIT */
/* Measured rates instead of simulation: how often each access of a program hits which level, and how often each branch
 * is mispredicted, as counters or precise samples say. The answers are spread evenly, without chance: of any n answers
 * each kind comes as often as told, to within one for each decision (L1 or not; of these L2 or not; ...), and after a
 * whole round of what was counted exactly as often. Each access begins elsewhere in its round, so that two with the
 * same rates do not miss together. */
#ifndef GUS_MODEL_ORACLES_RATES_H
#define GUS_MODEL_ORACLES_RATES_H

#include "model/machine/options.h"

struct gus_error;

/* Counted by a measurement; all zero: nothing is known. */
struct gus_rates_memory { uint64_t hits[GUS_HITS], tlb[GUS_TLB_WALK + 1]; };
struct gus_rates_branch { uint64_t executed, mispredicted; };

struct gus_rates;
/* For so many accesses (program->memories_n) and ops. Nothing is known of them yet. */
struct gus_rates *gus_rates_new(uint32_t memories, uint32_t ops);
void gus_rates_free(struct gus_rates *r);
/* Room for so many, of code that grows; nothing is known of those that are new. Never fewer. */
void gus_rates_grow(struct gus_rates *r, uint32_t memories, uint32_t ops);
/* -1 with err if there is no such access or op, more was mispredicted than executed, or the counts are beyond 2^62. */
int gus_rates_set_memory(struct gus_rates *r, uint32_t memory, const struct gus_rates_memory *m, struct gus_error *err);
int gus_rates_set_branch(struct gus_rates *r, uint32_t op, const struct gus_rates_branch *b, struct gus_error *err);

/* The next answer for an access, a branch. Of what nothing is known: L1, hit, predicted; and it is counted. */
void gus_rates_access(struct gus_rates *r, uint32_t memory, enum gus_hit *level, enum gus_tlb *tlb);
bool gus_rates_mispredicted(struct gus_rates *r, uint32_t op);

/* The same with somebody's guess of each answer: so often as told, and when the guess says so as far as that goes.
 * Kinds of answers are then ahead of their share or behind it, for each decision by no more than one in GUS_RATES_LOOSE
 * of those that there should have been so far of what is rarer, yes or no, and at most by GUS_RATES_AHEAD. So misses
 * that come in bursts are in bursts, and a guess that is wrong by how often is wrong by little, in the long run by
 * nothing; and of those that come once or twice as many come as without a guess. */
enum { GUS_RATES_LOOSE = 16, GUS_RATES_AHEAD = 1024 };
void gus_rates_access_like(struct gus_rates *r, uint32_t memory, enum gus_hit *level, enum gus_tlb *tlb);
bool gus_rates_mispredicted_like(struct gus_rates *r, uint32_t op, bool guess);

/* How many answers were asked for, and how many of them nothing was known about. */
struct gus_rates_asked { uint64_t accesses, unknown_accesses, branches, unknown_branches; };
const struct gus_rates_asked *gus_rates_asked(const struct gus_rates *r);

#endif
