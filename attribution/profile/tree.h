/* SPDX-License-Identifier: MIT */
/* A tree of calls as people look at it: out of all calling paths of a profile (attribution/profile/calls.h), in either
 * direction, the heaviest first, without what is too light.
 *
 *   down   from the outermost callers to where samples were. A node's own weight is of the samples in it itself.
 *   up     from where samples were to who called. A node's own weight is of the paths that begin there.
 *
 * Nodes stand in the order in which they are drawn, each before what is below it: the first of these is the next one,
 * and what follows them all is `end`. So who draws or adds up needs a loop and no recursion. */
#ifndef GUS_ATTRIBUTION_PROFILE_TREE_H
#define GUS_ATTRIBUTION_PROFILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_calls;

enum gus_tree_shares { GUS_TREE_OF_ALL, GUS_TREE_OF_PARENT };

/* Zero-initialised they leave nothing out. */
struct gus_tree_limits {
	double least;                /* share below which a node is left out */
	enum gus_tree_shares shares; /* of what: of the profile, or of the node above */
	uint32_t depth;              /* of the deepest nodes that are wanted; 0: all */
};

struct gus_tree_node {
	uint32_t callee;             /* number in the calls' callees; the root's is 0 */
	uint32_t depth;              /* 0 of the root */
	uint32_t parent;             /* the root's is itself */
	uint32_t end;                /* number of the node behind the last one below this */
	uint64_t weight, samples;    /* own, and of all below, whether left out or not: asserted */
	uint64_t own, own_samples;
	/* Nodes right below it that were left out, with all that is below them. */
	uint32_t left_out;
	uint64_t left_out_weight, left_out_samples;
};

struct gus_tree {
	struct gus_tree_nodes gus_vec(struct gus_tree_node) nodes; /* 0 is the root: all that was put in */
};

/* A call, and how much of what is in it is to be in the tree. */
struct gus_tree_seed { uint32_t call; uint64_t weight, samples; };

/* All of the profile, from the outermost callers down. */
void gus_tree_all(struct gus_tree *t, const struct gus_calls *c, const struct gus_tree_limits *limits);
/* What was called in these calls, put together: what is right below them stands right below the root. None may be below
 * another one. */
void gus_tree_below(struct gus_tree *t, const struct gus_calls *c, const uint32_t *calls, size_t n,
		    const struct gus_tree_limits *limits);
/* Up from the seeds, which themselves stand right below the root; of a seed that is the root of all calls nothing is
 * above, and its weight is the tree's root's own. */
void gus_tree_up_from(struct gus_tree *t, const struct gus_calls *c, const struct gus_tree_seed *seeds, size_t n,
		      const struct gus_tree_limits *limits);
void gus_tree_free(struct gus_tree *t);

/* Down from the root of all calls to the seeds, with no more than their weight. One part serves many trees, one at a
 * time. */
struct gus_tree_part;
struct gus_tree_part *gus_tree_part_new(const struct gus_calls *c);
void gus_tree_part_free(struct gus_tree_part *p);
void gus_tree_down_to(struct gus_tree *t, struct gus_tree_part *p, const struct gus_tree_seed *seeds, size_t n,
		      const struct gus_tree_limits *limits);

#endif
