/* SPDX-License-Identifier: MIT */
/* All calling paths of a profile by function: a tree that is grown from the outermost callers down, in which a path
 * that several cells have in common stands once. Views of it, in either direction, with thresholds and sorted, are made
 * by attribution/profile/tree.h.
 *
 * Inlined functions are calls of their own. What is known of a stack only from somewhere on (enum gus_callers) hangs
 * below a call [truncated] instead of below the root, so it is not taken for what a thread began with. */
#ifndef GUS_ATTRIBUTION_PROFILE_CALLS_H
#define GUS_ATTRIBUTION_PROFILE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"

struct gus_profile;

enum gus_callee_kind {
	GUS_CALLEE_ROOT,      /* all of it */
	GUS_CALLEE_TRUNCATED, /* whatever called the outermost function that is known */
	GUS_CALLEE_USER,
	GUS_CALLEE_KERNEL,
};

/* What is called: a function, inlined or not. */
struct gus_callee {
	enum gus_callee_kind kind;
	bool inlined;
	uint32_t module;      /* number in the profile's space; GUS_INDEX_NONE of what is no code */
	const char *function; /* NULL if not known: then it is all such code of the module */
	uint64_t start;       /* without inlines: where the symbol begins, as an offset in the module; else 0 */
	uint32_t same;        /* number of the same function, inlined or not */
};

/* A callee in its place: below a caller. Weights are in the profile's unit. */
struct gus_called {
	uint32_t caller;      /* number of the call that it is in; of the root, itself. Always smaller */
	uint32_t callee;
	uint64_t weight, samples; /* with all below it */
	uint64_t own, own_samples; /* of the samples in it itself */
	uint32_t first, next;     /* a call in it, and another one in the same caller; 0: none */
};

struct gus_calls {
	struct gus_profile *profile;
	bool inlines;            /* as was asked for */
	bool collapsed;          /* likewise: functions between two calls of the same one are in no way */
	struct gus_callees gus_vec(struct gus_callee) callees; /* 0 is the root's */
	struct gus_call_list gus_vec(struct gus_called) calls; /* 0 is the root; callers are before what they call */
	uint32_t *of_cell;    /* by cell: the call that its samples are in */
	struct gus_strings strings;
};

struct gus_calls_options {
	bool inlines;         /* as in gus_view_make */
	/* A function that is called by itself, directly or through others, is one call: the path goes on from where
	 * the function stood already. main > f > g > f > h becomes main > f > h, with g's own weight in main > f > g.
	 * Each function is on a path once, and whatever is shown below a function was called by it. */
	bool collapse;
};

/* How many calls up that is looked for. */
#define GUS_CALLS_REACH 4096

/* Asserts that the parts of each call are its weight, and that all are the profile's. */
void gus_calls_make(struct gus_calls *c, struct gus_profile *p, const struct gus_calls_options *options);
void gus_calls_free(struct gus_calls *c);

/* Of a call of which all that it calls has been added up: adds its own weight to it, and all of it to its caller. */
void gus_calls_add_up(struct gus_called *calls, uint32_t number);

/* Each call that is not below another one of the same function: *calls, ordered by that function (gus_callee.same), and
 * n of them, which the caller frees. Their weights are what a function takes with all that it calls, each sample
 * counted once. */
uint32_t *gus_calls_outermost(const struct gus_calls *c, size_t *n);

/* Whether an end of a stack (enum gus_callers) means that callers are missing. */
bool gus_calls_missing(uint64_t callers);

/* A fixed order of callees, by what they read like: negative, 0 or positive. */
int gus_callee_order(const struct gus_calls *c, uint32_t a, uint32_t b);

#endif
