/* SPDX-License-Identifier: MIT */
/* Store sets: which stores a load has met, as a core remembers it (Chrysos and Emer, "Memory dependence prediction
 * using store sets", ISCA 1998). A load waits for the last store in flight of its set, and goes past all others.
 *
 *	address of the       +-----+              +------+
 *	instruction, hashed  | set | 7 ---------> | last | 7: store 4711 ---> a load of set 7 waits for it
 *	-------------------> +-----+              +------+
 *	load, or store                            written by each store of the set
 *
 * Both tables have as many entries, and are small: what has the same entry shares a set, and waits for what it never
 * meets. Sets are never forgotten, where the paper clears all now and then; and stores of a set do not wait for each
 * other, as the engine knows the store that a load reads from. */
#ifndef GUS_MODEL_CORE_STORESETS_H
#define GUS_MODEL_CORE_STORESETS_H

#include <stdbool.h>
#include <stdint.h>

struct gus_storesets {
	uint32_t entries;       /* 0: there are none, and nothing may be asked but the end */
	uint32_t *set;          /* by instruction: its set, plus 1; 0: it has none */
	uint64_t *last;         /* by set: the number of the store that entered last, plus 1 */
};

void gus_storesets_begin(struct gus_storesets *s, uint32_t entries);
void gus_storesets_end(struct gus_storesets *s);
/* A store of that number enters. Instructions are told by their addresses. */
void gus_storesets_enter(struct gus_storesets *s, uint64_t store, uint64_t number);
/* The number of the last store of the load's set, plus 1; 0: none. */
uint64_t gus_storesets_last(const struct gus_storesets *s, uint64_t load);
/* Whether they share one. */
bool gus_storesets_share(const struct gus_storesets *s, uint64_t load, uint64_t store);
/* They have met: they share one from now on, unless entries are taken from them. */
void gus_storesets_join(struct gus_storesets *s, uint64_t load, uint64_t store);

#endif
