/* SPDX-License-Identifier: MIT */
/* An account of a recording's time: to which instructions it belongs, and why. Samples of time lie where their sampler
 * sees them; what the recording's traces, run by a model, say of what retires together moves them to those that the CPU
 * waited for, or that it retired (attribution/proportional). What no trace has executed stays where it was seen, and of
 * why nothing is known. Nothing is lost on the way: the rows add up to the samples, in integers. */
#ifndef GUS_ATTRIBUTION_ACCOUNTS_ACCOUNT_H
#define GUS_ATTRIBUTION_ACCOUNTS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/proportional/spread.h"
#include "attribution/stacks/stack.h"
#include "base/alloc.h"
#include "symbolizer/space/module.h"

struct gus_groups;
struct gus_profile;
struct gus_traced;

enum { GUS_ACCOUNT_NONE = UINT32_MAX };

struct gus_account_row {
	const char *module;             /* path of the file; "" of code of no file */
	uint64_t offset;                /* in it */
	/* In the traced program, and a block that has it, from so many bytes on; GUS_ACCOUNT_NONE: no trace has. */
	uint32_t insn, block, within;
	struct gus_place place;         /* in the profile's space, of rows that no trace has */
	uint64_t seen;                  /* weight of the samples that were seen there */
	uint64_t weight;                /* that belongs there */
	enum gus_evidence evidence;     /* of that */
	struct gus_stack stack;         /* its parts; they add up to it */
};

struct gus_account {
	struct gus_vec(struct gus_account_row) rows;    /* by weight, then module and offset */
	uint64_t weight;                /* of all rows, which is the profile's */
	uint64_t explained;             /* of it, of code that traces have executed */
	double divergence;              /* of what was seen of that from what the model has it, in nats */
};

struct gus_account_options {
	enum gus_spread_sight sight;    /* where samples see time */
	double early;                   /* of interrupts, those that land on what is waited for itself */
	unsigned width;                 /* ops that the CPU retires in a cycle */
};

/* groups: of the traces that t has run, and which has ended. Borrows from t and p. Freed with gus_account_free. */
void gus_account_make(struct gus_account *a, const struct gus_profile *p, struct gus_traced *t,
		      const struct gus_groups *groups, const struct gus_account_options *o);
void gus_account_free(struct gus_account *a);

#endif
