/* SPDX-License-Identifier: MIT */
/* Trees of the top-down method as people and programs see them: of what was counted just now, and of a recording. */
#ifndef GUS_CLI_SLOTS_SLOTS_H
#define GUS_CLI_SLOTS_SLOTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct gus_screen;
struct gus_topdown;
struct gus_topdown_recorded;
struct gus_topdown_share;
struct gus_topdown_tree;

/* Calls visit for each node that is known, parents before their parts; depth: nodes above it. */
typedef void gus_slots_visit(void *context, const struct gus_topdown *table, const struct gus_topdown_tree *tree,
			     size_t node, unsigned depth);
void gus_slots_walk(const struct gus_topdown *table, const struct gus_topdown_tree *tree, gus_slots_visit *visit,
		    void *context);

/* Of a share, as a percentage without its sign; what is below 0 keeps its own. */
void gus_slots_percent(char *text, size_t room, double share, int digits);
/* How many slots a tree is of, and in how much time, as ", 12.346 G in 1.23 s"; "" if it does not know. */
void gus_slots_amount(const struct gus_topdown_tree *tree, char text[96]);

/* A line for each node; before: stands before each of them, or NULL. With notes what the method has changed, and what
 * does not add up, follows in lines that begin with '#'. */
void gus_slots_text(FILE *out, const struct gus_screen *screen, const char *before, bool notes,
		    const struct gus_topdown *table, const struct gus_topdown_tree *tree);
/* In lines that begin with '#': of which cores, how many slots, the tree, its notes. */
void gus_slots_text_headed(FILE *out, const struct gus_screen *screen, const struct gus_topdown *table,
			   const char *pmu, const struct gus_topdown_tree *tree);
/* An object: table, cores, pmu, level, sums of all slots and cycles, nodes. */
json_t *gus_slots_json(const struct gus_topdown *table, const struct gus_topdown_tree *tree);

/* Of a recording: in lines that begin with '#', above its rows; and as a list of objects. recorded: NULL has none, and
 * is nothing, and null. */
void gus_slots_recorded_text(FILE *out, const struct gus_screen *screen, const struct gus_topdown_recorded *recorded);
json_t *gus_slots_recorded_json(const struct gus_topdown_recorded *recorded);

#endif
