/* SPDX-License-Identifier: MIT */
/* Instructions of AVX, AVX2 and FMA as bytes (Intel's SDM, volume 2, section 2.3: the VEX prefix). What is encoded is
 * decoded again and looked up in the table like any code, so that nothing here has to know rows. */
#ifndef GUS_ATTRIBUTION_WHATIF_VEX_H
#define GUS_ATTRIBUTION_WHATIF_VEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_insn_memory;
struct gus_vex;

struct gus_code_bytes gus_vec(uint8_t);

enum { GUS_VEX_NO_INDEX = 0xff, GUS_VEX_NO_IMMEDIATE = -1 };

/* What ModRM's r/m is: a register, or memory of general registers, of which the index may be of vectors. */
struct gus_vex_place {
	const struct gus_insn_memory *memory;   /* NULL: a register */
	uint8_t reg;
	uint8_t vector_index;                   /* instead of the memory's index, or GUS_VEX_NO_INDEX */
	bool index_is_base;                     /* ... or instead of its base */
	int64_t offset;                         /* beyond the memory's own */
};

/* reg: ModRM's; vvvv: 0 also where there is none. */
void gus_vex_encode(struct gus_code_bytes *out, const struct gus_vex *v, bool wide, unsigned reg, unsigned vvvv,
		    const struct gus_vex_place *rm, int immediate);

#endif
