/* SPDX-License-Identifier: MIT */
/* From where samples were seen to whom the time belongs. What a model says is where each cell's cycles are seen
 * (joint.h); what was measured is how often each instruction was seen. Cells whose cycles would be seen so are sought
 * by expectation and maximisation, which for counts is the method of Richardson (1972) and Lucy (1974): from what the
 * model says of cells on, step by step nearer to what was measured. Early steps change what samples say much of; late
 * ones fit noise. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_SPREAD_H
#define GUS_TESTS_ACCURACY_GOLDEN_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct golden_joint;

/* Samples at an instruction. behind: those before which a mispredicted branch led there, where that is known. */
struct golden_spread_seen { uint64_t address; bool behind; double samples; };
/* Time of an instruction, in samples. known: the model has it, so that psv is said; else nothing is known of it but
 * that it was seen. */
struct golden_spread_cell { uint64_t address; uint16_t psv; bool known; double samples; };
struct golden_spread { struct gus_vec(struct golden_spread_cell) cells; double unseen; };

struct golden_spread_options {
	double skid[4];         /* share of samples at each, GOLDEN_JOINT_SKIDS; they add up to 1 */
	bool behind;            /* whether `behind` of what was seen is known */
	unsigned steps;         /* at least 1 */
};

/* The samples of all cells are those that were seen. */
void golden_spread(struct golden_spread *out, const struct golden_joint *joint, const struct golden_spread_seen *seen,
		   size_t n, const struct golden_spread_options *o);
/* Samples of executions, each as likely as any other: of IBS by ops, of SPE. What happened to them is said of the
 * events in `known`. */
struct golden_spread_execution { uint64_t address; uint16_t psv, known; double samples; };
/* Each execution is worth the time that executions of that instruction with these events have in the model; of one that
 * the model has not, the time of the instruction's, and nothing of one whose instruction it has not. What the samples
 * do not say of an event is as in the model. `samples` of what comes out are cycles an execution that was sampled. */
void golden_spread_executions(struct golden_spread *out, const struct golden_joint *joint,
			      const struct golden_spread_execution *seen, size_t n);
void golden_spread_free(struct golden_spread *s);

#endif
