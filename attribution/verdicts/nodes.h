/* SPDX-License-Identifier: MIT */
/* The nodes of a top-down tree (A. Yasin, "A Top-Down Method for Performance Analysis and Counters Architecture",
 * ISPASS 2014) down to level 3, and what each of them stands for: knobs of the model, which turned together tell
 * what the machine would gain if the node cost less. Not all of what limits a machine has a node: those that have
 * none, which are windows and chains of results, are in the parent's set, and have rows of their own beside the
 * tree. */
#ifndef GUS_ATTRIBUTION_VERDICTS_NODES_H
#define GUS_ATTRIBUTION_VERDICTS_NODES_H

#include <stdbool.h>
#include <stdint.h>

struct gus_sensitivity;

enum gus_node {
	GUS_NODE_FRONTEND, GUS_NODE_FETCH_LATENCY, GUS_NODE_FETCH_BANDWIDTH,
	GUS_NODE_SPECULATION, GUS_NODE_MISPREDICTS, GUS_NODE_CLEARS,
	GUS_NODE_BACKEND,
	GUS_NODE_MEMORY, GUS_NODE_L1, GUS_NODE_L2, GUS_NODE_L3, GUS_NODE_DRAM, GUS_NODE_STORES,
	GUS_NODE_CORE, GUS_NODE_DIVIDER, GUS_NODE_SERIALISING, GUS_NODE_PORTS,
	GUS_NODE_RETIRING,
	GUS_NODES_OF_TREE,
	/* Beside the tree, without slots of their own. */
	GUS_NODE_CHAINS = GUS_NODES_OF_TREE,    /* latencies of results */
	GUS_NODE_LOAD_CHAINS,                   /* of loads that hit L1 */
	GUS_NODE_ROB, GUS_NODE_RS, GUS_NODE_LOAD_BUFFER, GUS_NODE_STORE_BUFFER, GUS_NODE_MISS_BUFFERS,
	GUS_NODE_REGISTERS,
	GUS_NODE_TLB, GUS_NODE_FORWARDING, GUS_NODE_ALIASES, GUS_NODE_LOCKS,
	GUS_NODES, GUS_NODE_NONE = GUS_NODES
};

struct gus_node_kind {
	const char *name;               /* "l1_bound", as tables of top-down call it */
	const char *title;              /* for people: "loads that hit L1, or are held up there" */
	unsigned level;                 /* 0: beside the tree */
	enum gus_node parent;           /* GUS_NODE_NONE: none */
	uint64_t knobs;                 /* a bit each, see nodes.c; 0: none stands for it */
	const char *silent;             /* why none does; NULL: some do */
	const char *next;               /* what usually cures it, as an order; NULL: its parts say so */
};
extern const struct gus_node_kind gus_nodes[GUS_NODES];

/* Whether a knob is among those that the node stands for. node: a struct gus_node_kind. */
bool gus_node_has(const void *node, const struct gus_sensitivity *knob);

#endif
