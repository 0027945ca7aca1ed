/* SPDX-License-Identifier: MIT */
/* record -g and --call-graph: how callers are to be found, and what auto takes: frame pointers, which cost least, where
 * all code that can be looked at keeps them, else the files' unwind tables. */
#ifndef GUS_CLI_RECORD_CALL_GRAPH_H
#define GUS_CLI_RECORD_CALL_GRAPH_H

#include <stdbool.h>

struct gus_error;
struct gus_session_options;

/* Reads --call-graph (NULL: not given, and then -g says whether callers are wanted at all) into so; *automatic: the
 * mode is left to gus_record_call_graph_choose. */
int gus_record_call_graph_parse(const char *text, bool g, struct gus_session_options *so, bool *automatic,
				struct gus_error *err);

/* Takes a mode for so's target, which is checked. Returns why, in words that follow "callers "; the caller frees it. */
char *gus_record_call_graph_choose(struct gus_session_options *so);

#endif
