/* SPDX-License-Identifier: MIT */
/* The loop as it would be with vectors: code that does not compute, but that takes the time that vectorised code takes,
 * as VP3 has it ("mock-up": Palomares, "Combining static and dynamic approaches to model loop performance in
 * HPC", 2015, chapter 6). Packed instructions work on all elements of a vector, and on several vectors where their
 * elements are larger than the smallest; control is as it was, once.
 *
 * Accesses that are not side by side make the difference between the modes. */
#ifndef GUS_ATTRIBUTION_WHATIF_MOCKUP_H
#define GUS_ATTRIBUTION_WHATIF_MOCKUP_H

#include "attribution/whatif/packing.h"
#include "attribution/whatif/vex.h"

enum gus_mockup_mode {
	GUS_MOCKUP_FULL,        /* as if all that is loaded and stored lay side by side: with data laid out anew */
	GUS_MOCKUP_PARTIAL,     /* arithmetic alone: elements are loaded and stored one by one */
	GUS_MOCKUP_GATHER,      /* elements are gathered, and stored one by one */
	GUS_MOCKUP_MODES
};
const char *gus_mockup_mode_name(enum gus_mockup_mode mode);

/* What an access of the mock-up stands for: one of the body's, of so many turns from the first on. */
struct gus_mockup_access { uint32_t access, turn, turns; };

struct gus_mockup {
	unsigned turns;                         /* of the loop, that it does at once */
	struct gus_code_bytes code, lengths;    /* of each instruction */
	struct gus_vec(struct gus_mockup_access) accesses;
	struct gus_vec(uint32_t) first;         /* by instruction: its first access; one more at the end */
	bool crowded;                           /* more values live at once than there are registers */
};

/* bytes: of a vector, 16 or 32. turns: as many as the smallest elements that one has. tail: NULL, or what comes behind
 * the last turn: the elements of sums are added up. Both freed with gus_mockup_free. */
void gus_mockup_make(struct gus_mockup *m, struct gus_mockup *tail, const struct gus_packing *p, unsigned bytes,
		     enum gus_mockup_mode mode);
void gus_mockup_free(struct gus_mockup *m);

#endif
