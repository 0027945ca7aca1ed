/* SPDX-License-Identifier: MIT */
/* What would bring time back. A top-down tree says where slots are lost; whether they come back if that which they
 * were lost to were cheaper is another question, which the sensitivity of a model answers ("Performance bottlenecks
 * detection through microarchitectural sensitivity", section 3.2): all that a node stands for is turned up, and what
 * the region gains is held against what the node's slots promise.
 *
 * The node with share s of the slots promises s / (1 - s). Of a speedup c the logarithm of 1 + c is off by the error
 * of the sample that was timed, by a part of itself that the model's gains are off by in general, and by a part that
 * the calibration's figures for that node are off by. */
#ifndef GUS_ATTRIBUTION_VERDICTS_VERDICT_H
#define GUS_ATTRIBUTION_VERDICTS_VERDICT_H

#include <stdbool.h>

#include "attribution/verdicts/nodes.h"

struct gus_causal_measured;

/* How many times as much of a set there is: nearly no limit any more, and windows that still fit into memory; and
 * twice as much, by which causes are told apart. Of all at once 16 times as much makes a machine on which nothing takes
 * time, and what is the cause here is a small part of what it gains. */
enum { GUS_CAUSAL_MORE = 16, GUS_CAUSAL_TWICE = 2 };
/* Less than the first is not worth a change; what has fewer slots than the second nobody looks at; and a set that, if
 * there is twice as much of it, brings back as large a part of what another does is enough to look at. */
static const double GUS_CAUSAL_WORTH = 0.05, GUS_CAUSAL_NOTICED = 0.05, GUS_CAUSAL_SAME = 0.5;

/* Within which part of its logarithm a gain is taken to be right, and where nobody has held the table against a CPU.
 * How many are: docs/accuracy.md, Gains. */
static const double GUS_CAUSAL_MODEL = 0.3, GUS_CAUSAL_UNTOLD = 0.4;

enum gus_label {
	GUS_LABEL_NONE,         /* neither slots nor gain */
	GUS_LABEL_CONFIRMED,    /* it gains at least half of what its slots promise; beside the tree: it is worth it */
	GUS_LABEL_PARTLY,       /* less */
	GUS_LABEL_RULED_OUT,    /* it has slots, and gains less than is worth it, surely */
	GUS_LABEL_UNSEEN,       /* it gains what is worth it, and has hardly any slots */
	GUS_LABEL_OPEN,         /* errors are too large, or no knob stands for it */
	GUS_LABELS
};
/* "", "confirmed", "partly", "ruled out", "unseen", "not resolvable". */
const char *gus_label_name(enum gus_label label);

struct gus_causal_node {
	bool known;             /* its share: a CPU's counters do not tell of each node; else both are 0 */
	double share;           /* of the slots, measured or modelled; some that are measured are of cycles */
	double modelled;        /* the share as the model's own slots have it */
	double promise;         /* infinite of all */
	double twice;           /* T/T' - 1 of twice as much */
	double speedup, low, high; /* T/T' - 1, and its 95 % interval; not meaningful where no knob stands for it */
	enum gus_label label;
};

struct gus_causal {
	struct gus_causal_node nodes[GUS_NODES];
	/* Of what brings at least half of that back which anything does, if there is twice as much of it, that which
	 * holds no other such, and is the narrowest, and brings most. GUS_NODE_NONE: nothing is worth a change. */
	enum gus_node cause;
	bool together;          /* of the cause's resources none alone is worth it */
	bool gains;             /* what nodes gain is known; else no cause is, and nodes are not resolvable */
};

struct gus_causal_given {
	const double *slots;    /* GUS_NODES_OF_TREE of them, each with its parts; NULL: nothing was modelled */
	const double *speedups; /* GUS_NODES, of sets GUS_CAUSAL_MORE times as large; NULL: nothing was turned up */
	const double *twice;    /* of sets GUS_CAUSAL_TWICE times as large; likewise */
	const double *errors;   /* their standard errors */
	const double *residuals; /* of the calibration: gus_node_residual of each */
	double model;           /* GUS_CAUSAL_MODEL, or where nobody has held the table against a CPU _UNTOLD */
	/* What counters have measured of the same, which shares and labels are of then; NULL: the model's own. */
	const struct gus_causal_measured *measured;
};
void gus_causal_make(struct gus_causal *v, const struct gus_causal_given *g);

#endif
