/* SPDX-License-Identifier: MIT */
/* An op in the registers of AMD's IBS on a Zen 4, as PERF_SAMPLE_RAW has them. What is in which field follows from the
 * descriptions in the Processor Programming Reference of family 19h model 11h (MSRC001_1033 to MSRC001_103B); where
 * fields lie is tests/words' to know.
 *
 * Of an op that hit in L1 no latency of its data is told, of one whose page the first TLB had none of its translation;
 * counters stop at 65,535. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_IBS_H
#define GUS_TESTS_ACCURACY_GOLDEN_IBS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/words/words.h"

struct golden_sample;

enum { GOLDEN_IBS_FIELDS = 24 };

struct golden_ibs {
	uint64_t control;               /* of IbsOpCtl what all samples share */
	struct { uint8_t reg, shift; uint64_t mask; } at[GOLDEN_IBS_FIELDS];
};

/* counts_ops: what is counted until a sample are ops, and not cycles. */
void golden_ibs_init(struct golden_ibs *ibs, bool counts_ops);
/* Puts the capability word and the registers, in place of what was in b. */
void golden_ibs_put(const struct golden_ibs *ibs, const struct golden_sample *s, struct words_bytes *b);

#endif
