/* SPDX-License-Identifier: MIT */
/* How fast taken branches are foreseen, which is a pace of its own in front of all that fetches: the predictor finds so
 * many of them in a cycle (predicted_branches), and a call or a return, of which the first has to be put on the stack
 * of return addresses and the second to be read there, begins a cycle and takes some more (predicted_call).
 *
 *	call, ret, call, ret   2 + 2 + 2 + 2 cycles, where predicted_call is 1
 *	call, jmp, ret, jmp    2     + 2            the jumps are found with what is before them
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

/* Whether a branch that is taken begins a cycle; *found are those of the present one. */
static inline bool gus_prediction_begins(const struct gus_core_config *c, const struct gus_program *p,
					 const struct gus_op *op, unsigned *found)
{
	if (*found && *found < c->predicted_branches && !gus_prediction_is_call(p, op)) {
		++*found;
		return false;
	}
	*found = 1;
	return true;
}

#endif
