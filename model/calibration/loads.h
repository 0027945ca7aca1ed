/* SPDX-License-Identifier: MIT */
/* Chains through memory: loops of links that wait for each other, each a load or a store and a load, alone or with
 * something in its way. Which code each is, and nothing of what its time says. */
#ifndef GUS_MODEL_CALIBRATION_LOADS_H
#define GUS_MODEL_CALIBRATION_LOADS_H

#include <stdbool.h>

#include "symbolizer/insn/insn.h"

struct gus_micro;

enum gus_loads {
	GUS_LOADS_PLAIN, GUS_LOADS_ADDED, GUS_LOADS_INDEXED, GUS_LOADS_VECTOR, GUS_LOADS_TRANSFERS, GUS_LOADS_LINE,
	GUS_LOADS_PAGE, GUS_LOADS_APART, GUS_LOADS_ALIAS, GUS_LOADS_FORWARD, GUS_LOADS_FORWARD_OTHER,
	GUS_LOADS_FORWARD_ADD, GUS_LOADS_FORWARD_BYTE, GUS_LOADS_FORWARD_SHORT, GUS_LOADS_FORWARD_COMPUTED,
	GUS_LOADS_FORWARD_WORD, GUS_LOADS_FORWARD_VECTOR, GUS_LOADS_FORWARD_PART, GUS_LOADS_FORWARD_WIDE,
	GUS_LOADS_FORWARD_ADDRESS, GUS_LOADS_WIDER, GUS_LOADS_BLOCKED, GUS_LOADS_BLOCKED_PAIR,
	GUS_LOADS_BLOCKED_VECTOR, GUS_LOADS_STORES, GUS_LOADS_STORES_VECTOR, GUS_LOADS
};

enum { GUS_LOADS_LINKS = 12 };  /* of a chain in a pass */

const char *gus_loads_name(enum gus_loads chain);
/* Whether figures rest on it that a quick calibration has. */
bool gus_loads_are_quick(enum gus_loads chain);
/* WIDE needs vectors of 32 bytes. Freed with gus_micro_free. */
struct gus_micro *gus_loads_micro(enum gus_isa isa, enum gus_loads chain);

#endif
