/* SPDX-License-Identifier: MIT */
/* How fast taken branches are foreseen, which is a pace of its own in front of all that fetches: the predictor finds so
 * many of them in a cycle (predicted_branches), and a call or a return, of which the first has to be put on the stack
 * of return addresses and the second to be read there, begins a cycle and takes some more (predicted_call).
 *
 *	call, ret, call, ret   2 + 2 + 2 + 2 cycles, where predicted_call is 1
 *	call, jmp, ret, jmp    2     + 2            the jumps are found with what is before them
 *
 * With predicted_behind_call nothing but a call or a return has others beside it: of Zen 4 call, ret, jmp take 4 cycles
 * as call, ret do, and each further jmp, taken jz or pair of them a cycle more, as timed.
 *
 * What is foreseen at once of a conditional branch may be set right by tables that take longer (branch_override), which
 * is time of the predictor, too: it shows where it is the slowest, and is hidden where fetched code waits for issue.
 *
 * AMD's software optimization guides to Zen 3 and 4 have it so: direct branches in the first buffer of targets cost no
 * cycle, calls and returns one, and Zen 4 finds two taken branches in a cycle. What they say of indirect branches,
 * which take the same as calls, is left out: it is not so of those with a single target. */
#ifndef GUS_MODEL_CODE_PREDICTION_H
#define GUS_MODEL_CODE_PREDICTION_H

#include "model/code/program.h"
#include "model/machine/config.h"

static inline bool gus_prediction_is_call(const struct gus_program *p, const struct gus_op *op)
{
	enum gus_insn_class class = p->insns[op->insn + op->insns_n - 1u].info.class;

	return class == GUS_INSN_CALL || class == GUS_INSN_CALL_INDIRECT || class == GUS_INSN_RET;
}

/* Cycles that the predictor takes for a branch which begins one; 0: the machine has no such limit, or it is none. */
static inline unsigned gus_prediction_cycles(const struct gus_core_config *c, const struct gus_program *p,
					     const struct gus_op *op)
{
	if (!c->predicted_branches || !(op->flags & GUS_OP_BRANCH))
		return 0;
	return 1 + (gus_prediction_is_call(p, op) ? c->predicted_call : 0);
}

/* Whether a branch that is taken begins a cycle; *found are those of the present one, and 0 if it has no room. */
static inline bool gus_prediction_begins(const struct gus_core_config *c, const struct gus_program *p,
					 const struct gus_op *op, unsigned *found)
{
	bool call = gus_prediction_is_call(p, op);

	if (*found && *found < c->predicted_branches && !call) {
		++*found;
		return false;
	}
	*found = call || !c->predicted_behind_call;
	return true;
}

#endif
