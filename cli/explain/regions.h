/* SPDX-License-Identifier: MIT */
/* What both engines find out of a trace for gusprof explain, and the regions that it is told of. */
#ifndef GUS_CLI_EXPLAIN_REGIONS_H
#define GUS_CLI_EXPLAIN_REGIONS_H

#include "attribution/traced/traced.h"
#include "attribution/verdicts/heard.h"
#include "attribution/verdicts/pathology.h"
#include "attribution/verdicts/slots.h"
#include "cli/explain/whatif.h"

struct gus_explain_view;
struct gus_uarch;

/* The core engine tells slots and heard, the stream engine runs a lane for each set. */
struct gus_explain_engines {
	const struct gus_uarch *uarch;
	struct gus_slotted slots;
	struct gus_heard heard;
	struct gus_explain_whatif whatif;
	struct gus_traced_set sets[GUS_STREAM_LANES]; /* those of nodes, twice, of pathologies, then of what-ifs */
	int nodes_n;                    /* of nodes there are so many, that differ */
	int of[GUS_NODES];              /* the set of each node; -1: it has none */
	struct gus_pathology_seen *seen; /* by region of the trace */
};

/* Fills sets, nodes_n and of. Nodes with the same knobs are one machine. Each has two: with as much more as the options
 * of the trace say, which is GUS_CAUSAL_MORE times, and, behind all these, with GUS_CAUSAL_TWICE. Then come the sets of
 * pathologies. Returns how many sets there are. */
int gus_explain_sets(struct gus_explain_engines *e);
/* Those that matter, most samples first, and where the model contradicts what was measured of the whole. */
void gus_explain_regions_find(const struct gus_explain_engines *e, struct gus_explain_view *v);

#endif
