/* SPDX-License-Identifier: MIT */
/* What vectorising a loop would make of each of its instructions, or what is in the way of it.
 *
 *	control     counts turns, makes addresses, branches back: once for all turns of a vector
 *	packed      works on what is loaded or stored: one vector instruction for many turns
 *	index       makes nothing but addresses of accesses that lie anywhere
 *	nothing     is not needed: zeroes that break dependences, branches around what is done under a mask
 *
 * Accesses go by what they did in the passage: side by side, apart by a constant, the same in each turn, or anywhere. A
 * value that a turn has from the one before may be a sum or the like, which many turns can make in any order; anything
 * else is in the way, as is a load of what fewer turns before was stored than a vector has. */
#ifndef GUS_ATTRIBUTION_WHATIF_PACKING_H
#define GUS_ATTRIBUTION_WHATIF_PACKING_H

#include "attribution/whatif/turning.h"
#include "attribution/whatif/packs.h"

enum gus_packing_role { GUS_PACKING_CONTROL, GUS_PACKING_PACKED, GUS_PACKING_INDEX, GUS_PACKING_NOTHING };
enum gus_packing_way { GUS_PACKING_BESIDE, GUS_PACKING_APART, GUS_PACKING_SAME, GUS_PACKING_ANYWHERE,
	GUS_PACKING_WAYS };

enum { GUS_PACKING_SOURCES = 3 };

struct gus_packing_insn {
	enum gus_packing_role role;
	struct gus_pack pack;
	uint8_t to;                             /* the register that it writes; 0: none */
	uint8_t sources[GUS_PACKING_SOURCES], sources_n; /* registers that its operation reads */
	/* It accumulates into a register that is carried from turn to turn: which one that is, and which of its own
	 * sources has it; 0: it does not. */
	uint8_t sum, sum_source;
	uint32_t flags_of;                      /* who wrote the flags that it reads; UINT32_MAX: it reads none */
};

struct gus_packing_access {
	enum gus_packing_way way;
	int64_t stride;                         /* bytes from a turn to the next; of those that are apart or beside */
	uint32_t insn, bytes;                   /* of an element */
	bool store;
};

struct gus_packing {
	const struct gus_turning *body;
	struct gus_vec(struct gus_packing_insn) insns;
	struct gus_vec(struct gus_packing_access) accesses;
	unsigned least;                         /* bytes of the smallest element that is packed */
	unsigned packed;                        /* instructions */
	unsigned ways[GUS_PACKING_WAYS];           /* accesses by way */
	bool reduces_fp;                        /* sums of FP in another order: the compiler needs leave for it */
	bool arithmetic, memory;                /* something but moves is packed; some access is */
	bool masked;                            /* some of it is done under a mask */
};

/* Makes one for vectors of so many bytes. NULL, or what is in the way, to be freed; freed with gus_packing_free in
 * either case. */
char *gus_packing_make(struct gus_packing *p, const struct gus_turning *b, unsigned bytes);
void gus_packing_free(struct gus_packing *p);

#endif
