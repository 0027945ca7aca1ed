/* SPDX-License-Identifier: MIT */
/* A top-down tree that counters have measured, as nodes of verdicts. Makers cut the tree in ways of their own: the
 * nodes that are the same thing are matched by a table, and what a CPU's counters do not tell is not measured, which is
 * another thing than 0. */
#ifndef GUS_ATTRIBUTION_VERDICTS_MEASURED_H
#define GUS_ATTRIBUTION_VERDICTS_MEASURED_H

#include <stdbool.h>
#include <stddef.h>

#include "attribution/verdicts/nodes.h"

struct gus_topdown;
struct gus_topdown_tree;

/* What counters say of a node. */
struct gus_causal_share {
	bool known;             /* else all is 0 */
	bool cycles;            /* it is of cycles, and not of slots: no part of the node above it */
	bool bounded;           /* it cannot be outside of low and high; else these have it in 95 of 100 cases */
	double value, low, high; /* low and high are value where it is sure */
};

struct gus_causal_measured {
	struct gus_causal_share nodes[GUS_NODES_OF_TREE];
	/* Of the slots, what nodes of the first level have that are none of ours: those that the other thread of a core
	 * had, as AMD counts them. */
	double beside;
};

/* The tree of that table. False: none of its nodes of the first level is both known and one of ours. */
bool gus_causal_measured_make(struct gus_causal_measured *m, const struct gus_topdown *table,
			      const struct gus_topdown_tree *tree);
/* Which node one of a table is; GUS_NODE_NONE: one that verdicts have not. False: nobody has said which. */
bool gus_causal_measured_node(const char *name, enum gus_node *node);

/* A node of the first level of which a model's own tree says something else than the measured one. */
struct gus_causal_dispute {
	enum gus_node node;
	double modelled, low, high; /* low, high: what is measured, of what was modelled; see below */
};
/* Nodes of the first level differ by so much, in shares of the slots, before it is said: definitions of counters are
 * not those of engines, and a tree of windows is not that of the whole. */
static const double GUS_CAUSAL_DISPUTED = 0.1;
/* Finds them; modelled: shares of all slots, by node. covered: how much of what was measured the model's tree is about;
 * the rest may have been anything, so that with share m of all, a part c of it has between (m - (1 - c)) / c and m / c.
 * Returns how many. */
size_t gus_causal_disputes(const struct gus_causal_measured *m, const double *modelled, double covered,
			   struct gus_causal_dispute out[GUS_NODES_OF_TREE]);

#endif
