/* SPDX-License-Identifier: MIT */
/* An account's cells added up to rows, by instruction, block, loop, line, function, module or thread. The rows of each
 * unit add up to the account. How far a row and its components may be off is known (95 % of the time; of what was
 * sampled), and what of a row cannot be told as a fact (attribution/proportional/replicates.h) is unknown. */
#ifndef GUS_ATTRIBUTION_ACCOUNTS_SUM_H
#define GUS_ATTRIBUTION_ACCOUNTS_SUM_H

#include <stdint.h>

#include "attribution/accounts/account.h"
#include "base/index.h"

/* Of code that no trace has executed neither blocks nor loops are known: it is with its instruction, and with its
 * function's code outside of loops. */
enum gus_sum_unit {
	GUS_SUM_INSTRUCTION, GUS_SUM_BLOCK, GUS_SUM_LOOP, GUS_SUM_LINE, GUS_SUM_FUNCTION, GUS_SUM_MODULE,
	GUS_SUM_THREAD,
	GUS_SUM_ALL,                    /* one row */
	GUS_SUM_UNITS
};

/* "instruction" ... */
const char *gus_sum_unit_name(enum gus_sum_unit unit);

/* 95 % of the time the truth is there. */
struct gus_sum_bounds { uint64_t low, high; };

struct gus_sum_row {
	const char *module;             /* path; "" of code of no file, and of threads */
	const char *function;           /* NULL: not known, or not asked */
	uint64_t start;                 /* of the function; in the module's file */
	uint64_t offset;                /* where the unit begins: an instruction, a block, a loop's head, a function */
	bool loop;                      /* it is one, whose head that is */
	const char *file;               /* of a line; NULL: not known, or not asked, and then it is a function */
	uint32_t line;
	uint32_t place;                 /* of the account's, the first in it; of threads and of all GUS_CLUE_NONE */
	uint32_t thread;                /* of the clues', of threads only */
	uint64_t seen, weight;          /* as it was seen, and as it is accounted for */
	enum gus_evidence evidence;     /* of the weight: threads, and all, keep what they were seen to take */
	struct gus_sum_bounds bounds;   /* of the weight */
	bool fact;                      /* the weight can be told as one */
	struct gus_stack stack;         /* of it */
	struct gus_vec(struct gus_sum_bounds) parts;    /* of the stack's, in its order */
};

struct gus_sums {
	struct gus_vec(struct gus_sum_row) rows;        /* by weight, then what was seen, module, offset, thread */
	struct gus_strings strings;
	struct gus_index keys;          /* what tells rows apart, in their order */
};

/* Freed with gus_sums_free. */
void gus_sums_make(struct gus_sums *s, const struct gus_account *a, enum gus_sum_unit unit);
void gus_sums_free(struct gus_sums *s);
/* The row that is the same instruction, block, ... as one of other sums of the same unit and recording; NULL: there is
 * none. A line is the same wherever it begins. */
const struct gus_sum_row *gus_sums_find(const struct gus_sums *s, const struct gus_sum_row *as);

#endif
