/* SPDX-License-Identifier: MIT */
/* When it is worth a warning that tasks ended before they were sampled: the recorder and the report say it alike. */
#ifndef GUS_BASE_MISSED_H
#define GUS_BASE_MISSED_H

#include <stdbool.h>
#include <stdint.h>

#define GUS_MISSED_SAMPLES 16 /* there should have been: of fewer no share is known anyhow */
#define GUS_MISSED_MIN 0.02   /* of what was counted: less is within what people expect of a sampled share */

/* Whether what is missed is more of what was counted than chance moves a share anyhow, of as many samples as there
 * should have been: about one by their root. Of a single task that is never so, whose last part of a period is missed,
 * too. */
static inline bool gus_missed_matters(uint64_t missed, uint64_t counted, uint64_t period)
{
	double share = counted ? (double)missed / (double)counted : 0;
	double samples = period ? (double)counted / (double)period : 0;

	if (share < GUS_MISSED_MIN)
		return false;
	return !period || (samples >= GUS_MISSED_SAMPLES && share * share * samples > 1);
}

#endif
