/* SPDX-License-Identifier: MIT */
/* What the ways to routes share: code that is read once, cut into blocks. */
#ifndef GUS_ATTRIBUTION_ROUTES_PRIVATE_H
#define GUS_ATTRIBUTION_ROUTES_PRIVATE_H

#include "attribution/profile/profile.h"
#include "attribution/routes/routes.h"
#include "base/index.h"

/* An instruction that was executed. */
struct route_insn {
	uint8_t length, class;
	bool leads, ends;       /* a block begins here; a line ends here */
	uint64_t before;        /* offset of the one that it was reached from without a branch; UINT64_MAX: of none
				 * yet */
	uint32_t code;          /* its bytes in the cutter's */
};
struct route_place { uint64_t offset; uint32_t module, zero; };

/* Cuts code into blocks: first all straight lines, then the blocks. */
struct route_cutter {
	struct gus_routes *r;
	struct gus_profile *p;
	struct gus_index places;                /* struct route_place: the instructions, by number */
	struct gus_vec(struct route_insn) insns;
	struct gus_vec(uint8_t) bytes;          /* theirs */
	struct gus_vec(struct route_insn) line; /* scratch: of the line that is being added */
	struct gus_vec(uint32_t) block_of;      /* by instruction that leads */
};

void gus_routes_cutter_init(struct route_cutter *c, struct gus_routes *r, struct gus_profile *p);
void gus_routes_cutter_free(struct route_cutter *c);
/* Adds the line from one instruction to another, which must not lie before it, if it can have been executed. */
enum gus_range_verdict gus_routes_cutter_line(struct route_cutter *c, uint32_t module, uint64_t from, uint64_t to);
/* Makes the blocks of the instructions so far. */
void gus_routes_cutter_blocks(struct route_cutter *c);
/* The block that begins at a place, or GUS_ROUTES_NONE. */
uint32_t gus_routes_block_at(const struct route_cutter *c, uint32_t module, uint64_t offset);

/* Puts edges in their order; those with the same ends become one. */
void gus_routes_sort_edges(struct gus_routes *r);

/* Whether such an instruction always goes elsewhere; a call does. */
bool gus_routes_leaves(unsigned class);
bool gus_routes_branches(unsigned class);

int gus_routes_of_stacks(struct gus_routes *r, struct gus_reader *reader, struct gus_profile *p, struct gus_error *err);
int gus_routes_of_samples(struct gus_routes *r, struct gus_profile *p, struct gus_error *err);
/* Finds the functions and loops of the blocks, and what is executed in them. */
void gus_routes_find_regions(struct gus_routes *r, struct gus_profile *p);

#endif
