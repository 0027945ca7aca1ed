/* SPDX-License-Identifier: MIT */
/* Trees as JSON: a list of nodes in the order in which they are drawn, each with its depth, so that a parser need not
 * nest as deep as stacks do. */
#ifndef GUS_CLI_REPORT_TREE_JSON_H
#define GUS_CLI_REPORT_TREE_JSON_H

#include <jansson.h>
#include <stddef.h>

struct gus_report;
struct gus_tree;

json_t *gus_trees_json(const struct gus_report *r, const struct gus_tree *tree);
json_t *gus_trees_json_row(const struct gus_report *r, size_t row);

#endif
