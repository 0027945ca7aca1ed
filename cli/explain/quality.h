/* SPDX-License-Identifier: MIT */
/* How good a recording is, and the model for it, before anything is told of it: facts, each only if it matters, always
 * in the same order. */
#ifndef GUS_CLI_EXPLAIN_QUALITY_H
#define GUS_CLI_EXPLAIN_QUALITY_H

#include <jansson.h>

#include "base/alloc.h"

struct gus_explain_view;
struct gus_screen;
struct gus_uarch;

struct gus_explain_fact {
	const char *what;       /* a word: "short", "few_samples", ... as the manual page has them */
	double value;           /* in the unit that the page says; NaN: there is none */
	char *text;             /* for people */
};
struct gus_explain_facts gus_vec(struct gus_explain_fact);

/* Adds what there is to say; of a view whose regions are in it. uarch: by which it was modelled; NULL: nothing was. */
void gus_explain_facts_find(struct gus_explain_facts *facts, const struct gus_explain_view *v,
			    const struct gus_uarch *uarch);
void gus_explain_facts_free(struct gus_explain_facts *facts);
void gus_explain_facts_text(const struct gus_explain_facts *facts, const struct gus_screen *screen);
json_t *gus_explain_facts_json(const struct gus_explain_facts *facts);

#endif
