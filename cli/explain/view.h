/* SPDX-License-Identifier: MIT */
/* What gusprof explain shows, and its renderers. */
#ifndef GUS_CLI_EXPLAIN_VIEW_H
#define GUS_CLI_EXPLAIN_VIEW_H

#include "attribution/compared/compared.h"
#include "attribution/compared/measured.h"
#include "attribution/verdicts/pathology.h"
#include "attribution/verdicts/verdict.h"
#include "cli/explain/measured.h"
#include "cli/explain/whatif.h"
#include "cli/model/view.h"
#include "cli/screen/screen.h"

struct gus_explain_facts;

enum { GUS_EXPLAIN_INSNS = 3 };
/* Regions are told until so much of the time has them, but none with less than the second. */
static const double GUS_EXPLAIN_MATTERS = 0.8, GUS_EXPLAIN_LEAST = 0.02;

/* An instruction that holds the region up: where it is in the function, and the part of the region's time that is
 * charged to it. */
struct gus_explain_insn { uint64_t offset; double charged; char text[96]; };

struct gus_explain_region {
	char *name;                     /* "function, loop at +0x12  [module]" */
	const char *function, *module;  /* NULL: not known; a path, "" if there is none */
	uint64_t samples;
	double share;                   /* of all samples */
	double modelled;                /* of the model's time */
	struct gus_causal verdict;      /* against its function's measured tree, if there is one */
	struct gus_explain_tree tree;   /* that one; without readings there is none, and the tree is the model's */
	/* Where the model's own says something else, of the samples of the function. */
	struct gus_causal_dispute disputes[GUS_NODES_OF_TREE];
	size_t disputes_n;
	char *withheld;                 /* why nothing is told; NULL: it is */
	const struct gus_compared_row *compared; /* NULL: it was not sampled, or not executed */
	struct gus_explain_insn insns[GUS_EXPLAIN_INSNS];
	size_t insns_n;
	struct gus_explain_answers answers; /* to what-ifs */
	struct gus_pathologies pathologies; /* the most expensive first */
};

struct gus_explain_view {
	const struct gus_model_view *model; /* NULL: there are no windows, and regions are functions of the samples; */
	const char *without;            /* why not */
	const struct gus_compared *compared; /* likewise */
	const struct gus_measured *measured;
	const struct gus_screen *screen;
	const char *table;              /* by which it is modelled */
	bool calibrated;                /* to a machine */
	double told;                    /* how far the model is off in general; 0: nobody knows */
	struct gus_vec(struct gus_explain_region) regions; /* those that matter, most samples first */
	const struct gus_explain_whatif *whatif;
	double explained;               /* their share of all samples */
	struct gus_explain_counts *counts;
	struct gus_explain_facts *facts; /* how good all that is */
	/* Where the model's own tree of all that windows executed says something else than the measured one. */
	struct gus_causal_dispute disputes[GUS_NODES_OF_TREE];
	size_t disputes_n;
};

void gus_explain_text(const struct gus_explain_view *v);
void gus_explain_json(const struct gus_explain_view *v);

#endif
