/* SPDX-License-Identifier: MIT */
/* Trees as text. A function that has all of its caller's time stands right below it, as far in and without figures;
 * only where the time parts the functions are one step further in, each with its share. So deep stacks stay narrow. */
#ifndef GUS_CLI_REPORT_TREE_TEXT_H
#define GUS_CLI_REPORT_TREE_TEXT_H

struct gus_report;
struct gus_table;
struct gus_tree;

/* What is below the root, as lines of a table of rows. */
void gus_trees_text_lines(struct gus_table *table, const struct gus_report *r, const struct gus_tree *tree);
/* The report's one tree, as a table of its own. */
void gus_trees_text_table(const struct gus_report *r);

#endif
