/* SPDX-License-Identifier: MIT */
/* Accesses to memory, as far as rows tell them apart: where the data were, who has them, in which page or line. What a
 * sample does not tell of that is zero, and one that tells nothing of what is asked is number 0.
 *
 * An address means something in one process only, but for the kernel's, and for memory of files that processes share:
 * that is known by the file and the offset in it, whatever addresses each has it at. */
#ifndef GUS_ATTRIBUTION_PROFILE_TOUCH_H
#define GUS_ATTRIBUTION_PROFILE_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/by.h"
#include "attribution/profile/latencies.h"
#include "base/index.h"
#include "proto/gusprof.pb-c.h"
#include "symbolizer/space/module.h"

struct gus_error;
struct gus_sample;
struct gus_space;
struct gus_symbols;

#define GUS_TOUCH_LINE 64    /* bytes of a line of caches where the recording does not say: x86, and most of Arm */
#define GUS_TOUCH_PAGE 4096  /* bytes of a page where neither the sample nor the recording does */

/* What makes two accesses the same. Compared byte by byte: no padding may be in it. */
struct gus_touch_key {
	uint64_t address;            /* of the page or line; an offset in the file where it is shared */
	uint64_t bytes;              /* of it; 0: no address is told, or no place is asked for */
	uint32_t pid;                /* whose address that is; 0: the kernel's, or it is shared */
	uint32_t module;             /* what is mapped there: number in the space */
	uint32_t symbol;             /* which variable of it: number in the strings; 0: not known, or not asked */
	uint8_t addressed;           /* there is an address, and place or owner are asked for */
	uint8_t shared;
	uint8_t beyond;              /* there were too many different ones: place and owner are left out */
	uint8_t missed, remote, hops, level; /* as struct gus_data_source */
	uint8_t does, snoop, tlb;
	uint8_t lock;                /* enum gus_touch_lock */
	uint8_t zero;
};

enum gus_touch_lock { GUS_TOUCH_LOCK_UNKNOWN, GUS_TOUCH_NOT_LOCKED, GUS_TOUCH_LOCKED };

struct gus_touch {
	struct gus_touch_key key;
	uint64_t lowest;             /* of the addresses of it that were seen, and where that is */
	struct gus_place place;
};

struct gus_touches {
	unsigned by;                 /* enum gus_by: those of data that are asked for */
	struct gus_index index;
	struct gus_vec(struct gus_touch) list; /* 0 is of those that tell nothing */
	struct gus_strings symbols;
	struct gus_latency_list loads; /* by number of the cell */
	uint64_t line, page;         /* bytes */
	const Gusprof__Header *header; /* borrowed; NULL: not known */
	bool closed;                 /* whoever asks sets it: what is not known by now is number 0 */
	uint64_t beyond;             /* samples of accesses that are no longer told apart */
};

/* The header may be NULL, else it must be there as long as these are. */
void gus_touches_init(struct gus_touches *t, unsigned by, const Gusprof__Header *header);
void gus_touches_free(struct gus_touches *t);

/* The number of a sample's access. Space must be ready. */
uint32_t gus_touch_of(struct gus_touches *t, struct gus_space *space, struct gus_symbols *symbols,
		      const struct gus_sample *sample);
/* Whether a sample tells anything of what is asked: a source of data, or, if rows are of places, their address. */
bool gus_touch_told(const struct gus_touches *t, const struct gus_sample *sample);
/* The address of the data that a sample asked for; false if it does not tell one. What is no access to memory may have
 * some other address, or what was left in the register: unless the event itself is one of accesses (faults,
 * breakpoints), the address counts only where the sample's source of data says that there was one, or it has no word
 * of a source at all. */
bool gus_touch_address(const struct gus_touches *t, const struct gus_sample *sample, uint64_t *address);
/* How long the load took, in cycles; false if that is not told, or it is none. */
bool gus_touch_latency(const struct gus_sample *sample, uint64_t *cycles);

/* Says that no sample tells of accesses to memory, and which ones would. */
int gus_touch_untold(struct gus_error *err);

/* A fixed order of accesses, by what they are: negative, 0 or positive. */
int gus_touch_order(const struct gus_touches *t, uint32_t a, uint32_t b);

#endif
