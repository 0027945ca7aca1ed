/* SPDX-License-Identifier: MIT */
/* The stacks of a profile as a tree of functions, in the order of their names: what a flame graph draws. */
#ifndef GUS_CLI_REPORT_FLAME_TREE_H
#define GUS_CLI_REPORT_FLAME_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/rows.h"

/* What a frame's code is. The page's script has them in the same order. */
enum gus_flame_kind {
	GUS_FLAME_PROGRAM, GUS_FLAME_LIBRARY, GUS_FLAME_KERNEL, GUS_FLAME_JIT, GUS_FLAME_INLINED, GUS_FLAME_UNKNOWN,
	GUS_FLAME_TASK, /* no code, but who executed what is above it */
};

struct gus_flame_frame {
	uint32_t name, module;  /* numbers of strings; the module's path, "" of tasks */
	uint32_t kind;
};

/* A function called by those below it. Callees stand behind their callers, each with all that it calls before the
 * next one. */
struct gus_flame_node {
	uint32_t frame;
	uint32_t depth;         /* 1: nothing called it */
	uint64_t weight, samples; /* its own */
};

struct gus_flame_tree {
	struct gus_strings strings;
	struct gus_flame_frames gus_vec(struct gus_flame_frame) frames; /* ordered by name, module and kind */
	struct gus_flame_nodes gus_vec(struct gus_flame_node) nodes;
};

/* by: with a task's, the outermost frame is the thread, the process or the name. Weights and samples of all nodes are
 * those of the profile, which is asserted. */
void gus_flame_tree_make(struct gus_flame_tree *t, struct gus_profile *p, enum gus_by by, bool inlines);
void gus_flame_tree_free(struct gus_flame_tree *t);

#endif
