/* SPDX-License-Identifier: MIT */
/* Which period a run resonates with: that in which it is at the same instruction again most often. A sampler whose
 * period is that one, without jitter, sees the same few places of a loop again and again, however many samples it
 * takes: what a profiler has to be judged by that trusts the rate of its samples.
 *
 * It is heard of a listener's run, of which the last instructions are kept, by cycle, by slot and by instruction: now
 * and then each possible period is asked whether what was there so long ago is what is there now. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_RESONANCE_H
#define GUS_TESTS_ACCURACY_GOLDEN_RESONANCE_H

#include <stdint.h>

#include "model/machine/options.h"
#include "tests/accuracy/golden/samplers.h"

struct golden_resonance;
/* Of periods from 1 - 1/8 to 1 + 1/8 of the given one in cycles, and of twice it in slots and instructions. */
struct golden_resonance *golden_resonance_new(const struct gus_program *p, uint64_t period);
const struct gus_core_listener *golden_resonance_listener(struct golden_resonance *r);
/* Those that were heard most; of equals the shortest. share: how often it was at the same instruction, in cycles. */
struct golden_periods golden_resonance_periods(const struct golden_resonance *r, double *share);
void golden_resonance_free(struct golden_resonance *r);

#endif
