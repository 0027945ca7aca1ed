/* SPDX-License-Identifier: MIT */
/* Two measurements of the same, each with its interval: what changed between them, and whether that is more than
 * chance.
 *
 * The interval of a difference of two values that were measured apart is made of the distances of their own bounds
 * (MOVER: Zou and Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27, 2008,
 * section 2), which keeps it as lopsided as they are. How much runs differ for other reasons than sampling, one
 * measurement of each cannot tell. Of several pairs, made in turns, the change is the mean of each pair's, and its
 * interval is no narrower than Student's t has it of these: what drifts with time is in both of a pair. What was
 * counted, and not sampled, has bounds of its own that are as close as the counting was, and Student's t remains. */
#ifndef GUS_ATTRIBUTION_DIFFERENCES_DIFFERENCES_H
#define GUS_ATTRIBUTION_DIFFERENCES_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/stacks/component.h"
#include "base/alloc.h"
#include "base/index.h"

/* 95 % of the time the truth is from low to high. */
struct gus_difference_value { double value, low, high; };

/* b - a. */
struct gus_difference_value gus_difference_of(const struct gus_difference_value *a,
					      const struct gus_difference_value *b);
/* a + b, whose errors are taken to be apart. */
struct gus_difference_value gus_difference_sum(const struct gus_difference_value *a,
					       const struct gus_difference_value *b);
/* Whether there is one at all, by the interval. */
bool gus_difference_is_sure(const struct gus_difference_value *d);

struct gus_difference_part {
	struct gus_component what;
	struct gus_difference_value v;
	double *each;                   /* of a mean: a value for each of the side's runs; else NULL. Owned */
};

/* One side's row. */
struct gus_difference_item {
	char *key;                      /* what it is, to the other side as well: equal ones are the same. Owned */
	char *name;                     /* for people. Owned */
	char *function;                 /* that it is, or is in; NULL: not known. Owned */
	struct gus_difference_value v;
	double *each;                   /* as of its parts */
	struct gus_vec(struct gus_difference_part) parts;
	/* Of an instruction: its code, in which offsets are comparable, owned; NULL: it is of something else. */
	char *within;
	uint64_t offset;
	bool stayed;                    /* all that it has is where it was seen: nothing told where else it belongs */
	struct gus_difference_value seen;       /* there, before anything was moved */
};
struct gus_difference_side {
	struct gus_vec(struct gus_difference_item) items;
	struct gus_strings keys;        /* of the items, in their order, from 1 */
	struct gus_difference_value total;
	double *each;                   /* as of its items */
	size_t runs;                    /* of which it is the mean; 0: it is one */
	double unseen;                  /* of what has no sample there may be so much */
};

void gus_difference_side_init(struct gus_difference_side *s);
/* Adds one, or to the one of this key; the strings are the side's from now on. Valid until the next one. */
struct gus_difference_item *gus_difference_add(struct gus_difference_side *s, struct gus_difference_item *item);
void gus_difference_add_part(struct gus_difference_item *item, const struct gus_difference_part *part);
/* Instructions that one side has moved time to or from, and of which the other had nothing that told where it belongs,
 * are compared as both have seen them, with nothing said of components: a sample that stayed is at the instruction
 * behind the one that it is of, and would be a change of both. For both sides, before they are scaled. */
void gus_difference_level(struct gus_difference_side *a, struct gus_difference_side *b);
/* All of it times so much. */
void gus_difference_scale(struct gus_difference_side *s, double by);
/* The mean of n sides, of runs of the same program, with a row for each of theirs: bounds are those of a mean of values
 * that were sampled apart. What a side has no sample of is 0 there, or as much as it may be. The sides are borrowed; of
 * two lists of as many the k-th are a pair. Freed with gus_difference_side_free. */
void gus_difference_pool(struct gus_difference_side *into, const struct gus_difference_side *sides, size_t n);
/* The value of a function on one side, all of its items together; 0 if it has none. */
double gus_difference_function(const struct gus_difference_side *s, const char *function);
void gus_difference_side_free(struct gus_difference_side *s);

struct gus_difference_change { struct gus_component what; struct gus_difference_value a, b, change; };
struct gus_difference_row {
	const struct gus_difference_item *of[2];        /* NULL: it is not there */
	struct gus_difference_value a, b, change;
	bool sure;
	struct gus_vec(struct gus_difference_change) parts; /* largest change first */
};
struct gus_differences {
	struct gus_vec(struct gus_difference_row) rows; /* sure ones first, then by the size of the change, and key */
	struct gus_difference_row total;
};

/* The sides are borrowed, and as many items as they have are in rows. Freed with gus_differences_free. */
void gus_differences_make(struct gus_differences *d, const struct gus_difference_side *a,
			  const struct gus_difference_side *b);
void gus_differences_free(struct gus_differences *d);

#endif
