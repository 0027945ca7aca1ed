/* SPDX-License-Identifier: MIT */
/* Operations in the packets of Arm's SPE on a Neoverse N1, and the records of a perf.data file that say what they are.
 * Which packets a record has, and what is in them: Arm Architecture Reference Manual, DDI 0487, chapter D17; events and
 * data sources: Neoverse N1 Technical Reference Manual, 100616. How packets look is tests/words' to know.
 *
 * Counters stop at 4,095. A TLB is told of by the walk alone, a data source of loads alone. Of a branch it is told
 * whether it is conditional and indirect, which a golden machine does not say: calls and returns are not conditional,
 * and returns are indirect. What reads and writes in one is an atomic operation, which is told as a load. A branch that
 * is fused with a load, which no Arm core has, is told as a load with the branch's events. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_SPE_H
#define GUS_TESTS_ACCURACY_GOLDEN_SPE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/varint.h"
#include "tests/words/words.h"

struct golden_file;
struct golden_sample;

struct golden_spe {
	struct gus_bytes bytes;         /* of the buffer, that are in no file yet */
	struct words_bytes record;      /* scratch */
	uint64_t offset;                /* in the buffer: where these begin */
	uint32_t pid;
};

/* Says that the file's data beside records are SPE's, and that its ticks are nanoseconds. */
void golden_spe_begin(struct golden_spe *spe, uint32_t pid, struct golden_file *f);
void golden_spe_put(struct golden_spe *spe, const struct golden_sample *s, uint64_t time, struct golden_file *f);
/* collided: operations were lost since the other was sampled still. */
void golden_spe_end(struct golden_spe *spe, uint64_t time, bool collided, struct golden_file *f);

#endif
