/* SPDX-License-Identifier: MIT */
/* What a level of the caches holds beside what the levels before it hold, as tables say it and model/oracles/cache.h explains
 * it. */
#ifndef GUS_MODEL_ORACLES_INCLUSION_H
#define GUS_MODEL_ORACLES_INCLUSION_H

#define GUS_INCLUSION_WORDS "none inclusive exclusive"
enum gus_inclusion { GUS_INCLUSION_NONE, GUS_INCLUSION_INCLUSIVE, GUS_INCLUSION_EXCLUSIVE, GUS_INCLUSIONS };

#endif
