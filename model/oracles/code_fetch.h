/* SPDX-License-Identifier: MIT */
/* How code comes to the decoders, as far as executed code says what is where: L1 for instructions and its TLB, and
 * behind them the levels and the second TLB that code shares with data. What the decoders need is looked up, what the
 * uop cache delivers is not. A line that lies behind the one before was asked for ahead and costs nothing. Lines that
 * go out of an inclusive level stay in L1 for instructions, and walks for code wait for no others. */
#ifndef GUS_MODEL_ORACLES_CODE_FETCH_H
#define GUS_MODEL_ORACLES_CODE_FETCH_H

#include <stdint.h>

#include "model/oracles/sets.h"

struct gus_cache;
struct gus_core_config;
struct gus_core_hooks;
struct gus_error;

/* Of one thread. Freed with gus_code_fetch_free; all zeros is one that has everything. */
struct gus_code_fetch {
	const struct gus_core_config *config;
	const struct gus_core_hooks *hooks;
	struct gus_cache *cache;
	struct gus_sets lines, pages;
	uint64_t ahead;                 /* the line behind the last one */
	uint64_t page;                  /* the last one, plus 1 */
	uint32_t line_size, page_size;  /* 0: no limit */
};

/* Of l1i_size KiB in l1i_ways ways, the least recently used goes; its TLB of itlb_size likewise. Both are borrowed: the
 * cache that data have (NULL: all comes from L2 and the second TLB) and hooks (NULL: none). -1 with err if that is no
 * cache. */
int gus_code_fetch_init(struct gus_code_fetch *f, const struct gus_core_config *c, struct gus_cache *cache,
			const struct gus_core_hooks *hooks, struct gus_error *err);
void gus_code_fetch_free(struct gus_code_fetch *f);

/* Code of so many bytes is decoded. */
struct gus_code_fetched {
	uint64_t address, bytes;
	uint64_t now;
	bool surprising;                /* the branch before it was mispredicted: nobody ran ahead */
};
/* What came late, as it is, and as it might be if what the beginning cannot tell had been there. */
struct gus_code_fetch_late {
	unsigned missed;                /* lines that have to come to L1 first */
	uint16_t cycles;                /* that the decoders wait */
	uint8_t level, tlb;             /* enum gus_hit, of the farthest line; enum gus_tlb, of the farthest page */
};
struct gus_code_fetch_answer { struct gus_code_fetch_late told, if_warm; };
struct gus_code_fetch_answer gus_code_fetch_run(struct gus_code_fetch *f, const struct gus_code_fetched *code);

#endif
