/* SPDX-License-Identifier: MIT */
/* A run of another simulator's core of which each micro-op's stages are known: a table of stages and one of static
 * micro-ops (see golden-stages, which says where they come from), told to a listener as the core engine tells of its
 * own. Each static micro-op is an instruction of one uop, at the address of the instruction that it is of; one that
 * branches is two, and the second of them was taken.
 *
 *	rob     it enters the ROB: issued
 *	iss     it goes to a unit: dispatched
 *	cmp     its result is there: completed
 *	ret     retired
 *
 * What is squashed is known by its number alone: behind the micro-op before it, each cycle's free slots, until that
 * one's result is there, are taken by so many of them at most. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_STAGES_H
#define GUS_TESTS_ACCURACY_GOLDEN_STAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/alloc.h"
#include "model/code/program.h"
#include "model/machine/options.h"

struct gus_error;

/* A micro-op that was committed; cycles. */
struct golden_stage {
	uint32_t did, squashed;         /* squashed: between the one before and this one */
	int64_t decoded, renamed, rob, issued, complete, retired;
	int64_t stored;                 /* a store's write is done; -1: it is none */
	uint64_t pc, address;
	uint32_t bytes;
	char cause[8], flags[8];
	uint8_t level;                  /* enum gus_hit */
	bool code_missed, waited;       /* waited: for an entry of the store queue */
	uint16_t psv;
};

struct golden_stages {
	struct gus_program program;     /* op and uop of a micro-op: its did, and dids_n more if it was taken */
	uint32_t dids_n;
	bool *last;                     /* by did: the last of its instruction; false: nothing says so */
	struct gus_vec(struct golden_stage) lines;
	int64_t cycles;
	uint32_t width;                 /* the most that enter the ROB in a cycle */
	uint32_t *entered, *wrong;      /* by cycle: of the right path, and of the wrong one */
};

/* dict: of static micro-ops; NULL: nothing is known of them. stores: entries of the store queue. -1 with err. */
int golden_stages_read(struct golden_stages *s, FILE *stages, FILE *dict, uint32_t stores, struct gus_error *err);
/* In a cycle in which commit is blocked although the oldest is complete, `stall` is GUS_CORE_ROB; and op is the oldest,
 * always. */
void golden_stages_tell(const struct golden_stages *s, const struct gus_core_listener *listener);
void golden_stages_free(struct golden_stages *s);

#endif
