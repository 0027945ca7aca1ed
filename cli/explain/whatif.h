/* SPDX-License-Identifier: MIT */
/* gusprof explain --what-if: questions that a user asks beside the tree, of each region: what they are made of in the
 * model, and how their answers are shown. */
#ifndef GUS_CLI_EXPLAIN_WHATIF_H
#define GUS_CLI_EXPLAIN_WHATIF_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "attribution/traced/traced.h"
#include "attribution/whatif/contention.h"
#include "attribution/whatif/squash.h"
#include "attribution/whatif/vectorised.h"

struct gus_causal_node;
struct gus_core_config;
struct gus_error;
struct gus_explain_region;
struct gus_list;
struct gus_screen;

/* As many machines as there are lanes beside those of the tree. */
enum { GUS_EXPLAIN_CONTENTIONS = GUS_STREAM_LANES };

struct gus_explain_whatif {
	bool contention, squash, vectorise;
	/* With the machine of each; those whose level has no bandwidth in the table are there, and nothing can be said
	 * of them. */
	struct gus_explain_contention {
		struct gus_contention of;
		char name[40];
		int set;                /* its number among all sets; -1: there is none, as nothing can be said */
	} contentions[GUS_EXPLAIN_CONTENTIONS];
	size_t contentions_n;
	struct gus_squashes squashes;
	struct gus_traced_timed timed;
};

/* What of it is of one region. */
struct gus_explain_answers {
	struct gus_contention_loss losses[GUS_EXPLAIN_CONTENTIONS]; /* by contention */
	struct gus_explain_squash {
		struct gus_squash of;
		double cycles;          /* of all that was executed of the region, not of what was timed alone */
		double share, low, high; /* of the region's cycles */
		double speedup, speedup_low, speedup_high; /* if nothing were mispredicted */
	} squash;
	struct gus_vectorised vectorised;
};
void gus_explain_answers_free(struct gus_explain_answers *a);

/* Questions out of words such as contention=50@l3. -1 with err, which says what a question looks like. */
int gus_explain_whatif_parse(struct gus_explain_whatif *w, const struct gus_list *words, struct gus_error *err);
/* The machines of the table, as sets behind the n that are there already, and how many there are then; -1 with err if
 * there is no room for all of them. Sets point into w. */
int gus_explain_whatif_sets(struct gus_explain_whatif *w, const struct gus_core_config *config,
			    struct gus_traced_set sets[GUS_STREAM_LANES], int n, struct gus_error *err);
/* Who wants to know times; NULL: nobody does. It lives as long as w. */
const struct gus_traced_timed *gus_explain_whatif_timed(struct gus_explain_whatif *w);
void gus_explain_whatif_free(struct gus_explain_whatif *w);

/* mispredicts: the tree's node. model: how far the model is off in general. */
void gus_explain_whatif_answer(const struct gus_explain_whatif *w, const struct gus_traced *t, uint32_t region,
			       const struct gus_causal_node *mispredicts, double model,
			       struct gus_explain_answers *out);
void gus_explain_whatif_text(const struct gus_explain_whatif *w, const struct gus_explain_answers *a,
			     const struct gus_screen *screen);
/* Null where nothing was asked. */
json_t *gus_explain_whatif_json(const struct gus_explain_whatif *w, const struct gus_explain_answers *a);

#endif
