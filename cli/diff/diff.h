/* SPDX-License-Identifier: MIT */
/* gusprof diff: what changed between recordings. Between the files that do so. */
#ifndef GUS_CLI_DIFF_DIFF_H
#define GUS_CLI_DIFF_DIFF_H

#include <stdbool.h>

#include "attribution/accounts/sum.h"
#include "attribution/differences/differences.h"
#include "base/index.h"

struct gus_error;
struct gus_stacks_view;
struct gus_screen_options;

/* One recording, or all that came before or after. */
struct gus_diff_side {
	const char *input;              /* the first of them */
	bool many;                      /* it will be one of three or more, by which it is known how runs differ */
	/* The first that was read, whose program is this one's; NULL: this is it. */
	const struct gus_diff_side *first;
	char *program;                  /* of the recorded command, without folders; NULL: not known. Owned */
	const char *called;             /* what it is called in place of that: as the first one's; NULL: as it is */
	struct gus_strings modules;     /* all that have samples, without folders */
	struct gus_difference_side rows;
	char *event;                    /* owned */
	bool ns;                        /* its unit is */
	bool shares;                    /* it will be scaled to itself, and how sure the whole is does not matter */
	uint64_t samples;               /* of all of them */
};

/* Copies what report --stacks would show, as `input`, `many`, `first` and `shares` ask for it. */
void gus_diff_take(struct gus_diff_side *side, const struct gus_stacks_view *v);
/* The mean of n recordings of the same, which are borrowed. */
void gus_diff_pool(struct gus_diff_side *into, const struct gus_diff_side *sides, size_t n);
void gus_diff_side_free(struct gus_diff_side *side);

/* A condition: "total>+2%", "parse<-10%". */
struct gus_diff_condition {
	const char *text;               /* as it was given; borrowed */
	char *target;                   /* "total" or a function. Owned */
	bool above;
	double share;                   /* of what it was on the first side */
};
int gus_diff_condition_parse(struct gus_diff_condition *c, const char *text, struct gus_error *err);
/* Whether it holds, by the interval of the change; *known: it is of something that is there. The change is told. */
bool gus_diff_condition_holds(const struct gus_diff_condition *c, const struct gus_differences *d,
			      struct gus_difference_row *of, bool *known);

struct gus_diff_view {
	const struct gus_diff_side *a, *b;
	size_t pairs;
	char *const *inputs;            /* 2 * pairs, before and after in turns */
	const struct gus_differences *differences;
	enum gus_sum_unit unit;
	const char *normalised;         /* "share", a function; NULL: as they are */
	bool all;                       /* also rows whose change may be chance */
	const struct gus_screen_options *screen;
};
void gus_diff_text(const struct gus_diff_view *v);
int gus_diff_json(const struct gus_diff_view *v);

#endif
