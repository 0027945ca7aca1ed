/* SPDX-License-Identifier: MIT */
/* L1 for instructions, as far as executed code says what is in it: what the decoders need is looked up, what the uop
 * cache delivers is not. A line that lies behind the one before was asked for ahead and costs nothing. */
#ifndef GUS_MODEL_ORACLES_CODE_FETCH_H
#define GUS_MODEL_ORACLES_CODE_FETCH_H

#include <stdint.h>

#include "model/oracles/sets.h"

struct gus_core_config;
struct gus_error;

/* Of one thread. Freed with gus_code_fetch_free; all zeros is one that has everything. */
struct gus_code_fetch {
	struct gus_sets lines;
	uint64_t ahead;                 /* the line behind the last one */
	uint32_t line_size;             /* 0: no limit */
};

/* Of l1i_size KiB in l1i_ways ways, the least recently used goes. -1 with err if that is no cache. */
int gus_code_fetch_init(struct gus_code_fetch *f, const struct gus_core_config *c, struct gus_error *err);
void gus_code_fetch_free(struct gus_code_fetch *f);
/* Lines that have to come from L2 first; in a set that was never full a line may have been there before the beginning,
 * and if it was these are fewer. */
struct gus_code_fetch_answer { unsigned missed, missed_if_warm; };
/* Code of so many bytes is decoded. */
struct gus_code_fetch_answer gus_code_fetch_run(struct gus_code_fetch *f, uint64_t address, uint64_t bytes);

#endif
