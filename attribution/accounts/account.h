/* SPDX-License-Identifier: MIT */
/* An account of a recording's time: to which instructions it belongs, and why. Samples of time lie where their sampler
 * sees them; what the recording's traces, run by a model, say of what retires together, and what other samples say of
 * executions, moves them to those that the CPU waited for, or that it retired (attribution/proportional). What no trace
 * has executed stays where it was seen, and of why nothing is known but what its record says. Nothing is lost on the
 * way: the cells of a thread add up to its samples, and all cells to the recording's, in integers. */
#ifndef GUS_ATTRIBUTION_ACCOUNTS_ACCOUNT_H
#define GUS_ATTRIBUTION_ACCOUNTS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/accounts/cause.h"
#include "attribution/accounts/clues.h"
#include "attribution/proportional/solution.h"
#include "attribution/stacks/stack.h"
#include "base/alloc.h"
#include "base/index.h"

struct gus_groups;

/* An instruction, with all that its traces say of it: whoever has an account needs none of them. */
enum { GUS_ACCOUNT_CODE = 15 };
struct gus_account_place {
	struct gus_place place;         /* as of the clues */
	const char *module;             /* likewise; borrowed, as `function` is */
	uint64_t offset;                /* in it, like all others here but `address` */
	bool executed;                  /* by a trace, which tells the rest */
	uint64_t block;                 /* where its block begins */
	const char *function;           /* that has it; NULL: it has no name */
	uint64_t start;                 /* where that begins */
	bool in_loop;
	uint64_t head;                  /* of the innermost */
	uint64_t address;               /* where the trace had it */
	uint8_t size, code[GUS_ACCOUNT_CODE]; /* its bytes; 0: the trace has none */
	struct gus_account_causes causes;
};

/* Time of a thread at an instruction, of one component. Weights are in the unit of the event of time. */
struct gus_account_cell {
	uint32_t place, thread;         /* of the account's, and of the clues' */
	struct gus_component what;
	enum gus_evidence evidence;     /* of the component */
	bool moved;                     /* that it is of this instruction is inferred; else it was seen there */
	uint64_t weight;
	uint32_t told;                  /* of the solution's cells, if moved */
};
/* As it was seen. */
struct gus_account_seen { uint32_t place, thread; uint64_t weight; };

struct gus_account {
	const struct gus_clues *clues;
	/* The clues', and behind them those that time belongs to and no sample was seen at. */
	struct gus_vec(struct gus_account_place) places;
	struct gus_account_cells gus_vec(struct gus_account_cell) cells; /* by place, thread, component; none is 0 */
	struct gus_vec(struct gus_account_seen) seen;           /* by place and thread */
	uint64_t weight;                /* of all cells, and of all that was seen */
	uint64_t explained;             /* of it, what could be moved, whether it was or not */
	struct gus_solution solution; /* of that; its shares are of all time */
	enum gus_isa isa;               /* of the code of places */
	struct gus_strings texts;       /* of one that was kept (kept.h): modules and functions */
};

/* Of code about lines that threads share it is not known how long it takes. For gus_account_make, before it. */
void gus_account_doubt(struct gus_groups *groups, const struct gus_traced *traced);
/* groups: of what the clues' traces made a model do, which is over; NULL: nothing, and all stays. width: ops that the
 * CPU retires in a cycle. The clues are borrowed. Freed with gus_account_free. */
void gus_account_make(struct gus_account *a, const struct gus_clues *clues, const struct gus_groups *groups,
		      unsigned width);
/* The clues of an account of what the model alone has: the same, but by no chance. */
struct gus_clues gus_clues_of_model(const struct gus_clues *clues);
/* Of as much time as was explained in a, what the model alone has of it: nothing was sampled, and its cells stay where
 * they are. clues: of this account, made here (gus_clues_of_model); borrowed as long. Freed with gus_account_free. */
void gus_account_of_model(struct gus_account *m, struct gus_clues *clues, const struct gus_account *a,
			  const struct gus_groups *groups);
void gus_account_free(struct gus_account *a);

#endif
