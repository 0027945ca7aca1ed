/* SPDX-License-Identifier: MIT */
/* What code was executed, how often, and in which order: blocks, the branches between them, and routes, which are
 * sequences of blocks. From the branch stacks of a recording, or, where it has none, from its plain samples. Shares of
 * it are inferred.
 *
 * Branch stacks: a stack holds the last branches that were taken, so between the target of one and the address of the
 * next all was executed, in a straight line: a range. What hardware and kernel do to stacks shows in ranges that cannot
 * have been: they are dropped, with the reason counted.
 *  - A stack goes on across what is not recorded (the kernel under :u, another process, a filter): the range lies in
 *    two modules or runs backwards, or a branch within it that is always taken is missing.
 *  - Interrupts are entries like others: a range ends where there is no branch.
 *  - Some CPUs (errata of Haswell and later, LBR in guests) leave out branches now and then: likewise.
 *  - What was executed after the newest branch is not counted: the sample's address is too late by its skid.
 *  - Only taken branches are noted. A mispredicted one that falls through leaves no trace, so counts of mispredictions
 *    are those of taken branches, and too low for all.
 * The hardware prefers some places to others at either end of a stack; each end is one range in 16 or 32, and is not
 * corrected.
 *
 * Plain samples: a block's executions are its weight by its instructions, as if each took the same time; the branches
 * between them are what fits these counts best. */
#ifndef GUS_ATTRIBUTION_ROUTES_ROUTES_H
#define GUS_ATTRIBUTION_ROUTES_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/profile.h"
#include "base/index.h"
#include "symbolizer/insn/insn.h"

#define GUS_ROUTES_NONE UINT32_MAX

enum gus_routes_source { GUS_ROUTES_STACKS, GUS_ROUTES_SAMPLES };

/* What is thought of a range. */
enum gus_range_verdict {
	GUS_RANGE_GOOD,
	GUS_RANGE_APART,        /* it begins in one mapping and ends in another */
	GUS_RANGE_BACKWARDS,
	GUS_RANGE_LONG,         /* more than GUS_RANGE_MAX bytes */
	GUS_RANGE_NO_CODE,      /* the bytes are not at hand, or the file is not the one that was recorded */
	GUS_RANGE_NO_INSN,      /* its bytes are no instructions, or its end lies within one */
	GUS_RANGE_SKIPS,        /* in it is a jump, a call or a return, which cannot have been passed */
	GUS_RANGE_NO_BRANCH,    /* it does not end with a branch */
	GUS_RANGE_VERDICTS
};
#define GUS_RANGE_MAX 65536
const char *gus_range_verdict_name(enum gus_range_verdict verdict);

/* Instructions that are executed from the first to the last. The branch that ends it, if any, is its last
 * instruction. */
struct gus_route_block {
	uint32_t module;
	uint64_t offset;        /* in the module's file */
	uint32_t size, insns;   /* bytes, instructions */
	uint32_t code, lengths; /* where they begin in the routes' code and lengths */
	uint64_t address;       /* as the file has it: what it is aligned to */
	uint8_t class;          /* of the last instruction: enum gus_insn_class */
	uint32_t region;        /* the innermost one, or GUS_ROUTES_NONE */
	uint32_t behind;        /* the block that begins where this one ends, or GUS_ROUTES_NONE */
	double count;           /* executions; of stacks a whole number */
	double taken;           /* of these, how often the branch at its end was taken */
	uint64_t told, mispredicted; /* of those taken: how many the hardware judged, and found mispredicted; 0 of
				      * samples */
};

/* A branch from the end of one block to the beginning of another, taken or (of samples) not. Of stacks those from a
 * block add up to its `taken`. */
struct gus_route_edge {
	uint32_t from, to;      /* blocks; GUS_ROUTES_NONE: code that is no block here */
	double count;
	uint64_t told, mispredicted;
	bool taken;
};

/* A sequence of blocks, in the order of execution. */
struct gus_route {
	uint32_t step, steps_n; /* in steps */
	uint64_t count;
};

/* A function that is executed, or a loop in it. */
struct gus_route_region {
	const char *name;       /* of a loop its function's and where its head is: "f+0x12" */
	uint32_t module;
	uint64_t offset;        /* of the function or of the loop's head */
	bool loop;
	uint32_t outer;         /* the loop or function around it, or GUS_ROUTES_NONE */
	double instructions;    /* executed in it and in what is within */
	double share;           /* of all instructions */
};

struct gus_routes {
	enum gus_routes_source source;
	enum gus_isa isa;       /* of all code; modules of another one count as if they had none */
	struct gus_route_blocks gus_vec(struct gus_route_block) blocks;    /* by module, then offset; of samples by
									    * function first */
	struct gus_route_edges gus_vec(struct gus_route_edge) edges;       /* by from, then to */
	struct gus_route_list gus_vec(struct gus_route) routes;            /* none of samples */
	struct gus_route_steps gus_vec(uint32_t) steps;                    /* blocks */
	struct gus_route_regions gus_vec(struct gus_route_region) regions; /* by instructions, then name */
	struct gus_route_bytes gus_vec(uint8_t) code, lengths;
	double instructions;    /* executed in all blocks */
	uint64_t samples;       /* of the event */
	uint64_t stacks;        /* of these with two branches or more, which is one range */
	uint64_t ranges[GUS_RANGE_VERDICTS]; /* in these stacks; they add up to the pairs of neighbours */
	uint64_t crowded;       /* sequences that were cut short for want of room */
	struct gus_strings strings;
};

/* Of a loaded profile and the reader that it was loaded from. Takes the stacks if there are any, else the samples. -1
 * with err if there is nothing to tell it by: why. */
int gus_routes_load(struct gus_routes *r, struct gus_reader *reader, struct gus_profile *p, struct gus_error *err);
void gus_routes_free(struct gus_routes *r);

/* The block whose last instruction begins at a place, NULL if there is none: what is known of a branch there. */
const struct gus_route_block *gus_routes_ending_at(const struct gus_routes *r, uint32_t module, uint64_t offset);

#endif
